//! The console of a run: the streams of the process, or buffers.

use crate::running::lock::lock;
use crate::text::terminal;
use anstream::adapter::strip_str;
use anstream::{AutoStream, ColorChoice};
use std::fmt::Write as _;
use std::io::{self, StderrLock, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// Standard output and standard error of a run.
pub struct Console {
    colors: OnceLock<ColorChoice>,
    /// Whether lines of progress are on the terminal.
    is_drawn: AtomicBool,
    /// The buffers, if the streams are not those of the process.
    captured: Option<Arc<CapturedOutput>>,
}

/// The output of a run, without colours.
#[derive(Default)]
pub struct CapturedOutput {
    stdout: Mutex<Vec<u8>>,
    stderr: Mutex<Vec<u8>>,
}

impl CapturedOutput {
    /// Returns standard output so far.
    pub fn stdout(&self) -> String {
        String::from_utf8_lossy(&lock(&self.stdout)).into_owned()
    }

    /// Returns standard error so far.
    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&lock(&self.stderr)).into_owned()
    }
}

/// Erases everything from the cursor on.
const ERASE: &str = "\r\x1b[J";

impl Console {
    fn new(captured: Option<Arc<CapturedOutput>>) -> Self {
        Console { colors: OnceLock::new(), is_drawn: AtomicBool::new(false), captured }
    }

    /// Creates a console that writes to the streams of the process.
    pub fn process() -> Self {
        Self::new(None)
    }

    /// Creates a console that writes to buffers. Returns it with the buffers.
    pub fn captured() -> (Self, Arc<CapturedOutput>) {
        let captured = Arc::<CapturedOutput>::default();
        (Self::new(Some(captured.clone())), captured)
    }

    /// Sets the choice of colours. Only the first call has an effect.
    pub(crate) fn use_colors(&self, choice: ColorChoice) {
        let _ = self.colors.set(choice);
    }

    fn colors(&self) -> ColorChoice {
        self.colors.get().copied().unwrap_or(ColorChoice::Auto)
    }

    /// Prints to standard error. Ignores a closed stream, because the exit code is enough.
    pub(crate) fn remark(&self, text: &str) {
        let _ = match &self.captured {
            Some(captured) => write!(lock(&captured.stderr), "{}", strip_str(text)),
            None => AutoStream::new(io::stderr().lock(), self.colors()).write_all(text.as_bytes()),
        };
    }

    /// Prints to standard output.
    pub(crate) fn print(&self, text: &str) -> io::Result<()> {
        let Some(captured) = &self.captured else {
            let mut stdout = AutoStream::new(io::stdout().lock(), self.colors());
            stdout.write_all(text.as_bytes())?;
            return stdout.flush();
        };
        write!(lock(&captured.stdout), "{}", strip_str(text))
    }

    /// Writes the content of a file to standard output.
    pub(crate) fn write_stdout(&self, put: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        match &self.captured {
            Some(captured) => put(&mut *lock(&captured.stdout)),
            None => put(&mut io::stdout().lock()),
        }
    }

    /// Writes the content of a file to standard error.
    pub(crate) fn write_stderr(&self, put: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        match &self.captured {
            Some(captured) => put(&mut *lock(&captured.stderr)),
            None => put(&mut io::stderr().lock()),
        }
    }

    /// Returns the width of standard output, if it is a terminal.
    pub(crate) fn width(&self) -> Option<usize> {
        terminal::width().filter(|_| self.captured.is_none())
    }

    /// Returns whether progress can be shown on standard error.
    pub(crate) fn can_draw(&self) -> bool {
        self.captured.is_none() && terminal::progress_width().is_some()
    }

    /// Draws lines of progress over the previous ones. The cursor stays at their beginning.
    pub(crate) fn draw(&self, lines: &[String]) {
        let width = terminal::progress_width().unwrap_or(0);
        // Some terminals continue in the next line after the last column.
        let lines: Vec<String> = lines.iter().map(|line| terminal::cut(line, width.saturating_sub(1))).collect();
        let mut text = ERASE.to_owned() + &lines.join("\n") + "\r";
        if lines.len() > 1 {
            let _ = write!(text, "\x1b[{}A", lines.len() - 1);
        }
        let mut stderr = io::stderr().lock();
        self.is_drawn.store(true, Ordering::Relaxed);
        let _ = stderr.write_all(text.as_bytes());
    }

    /// Erases the lines of progress. As long as the lock is held, no line is drawn.
    pub(crate) fn erase(&self) -> StderrLock<'static> {
        let mut stderr = io::stderr().lock();
        if self.is_drawn.swap(false, Ordering::Relaxed) {
            let _ = stderr.write_all(ERASE.as_bytes());
        }
        stderr
    }
}
