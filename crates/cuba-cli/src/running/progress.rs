//! Progress on a terminal, for work that takes a while.
//!
//! The lines are drawn over and over, so that the time goes on between events. The cursor stays at
//! their beginning: what the user types, Ctrl-C above all, moves nothing, and the lines are written
//! over it.

use crate::running::lock::lock;
use crate::running::run::Run;
use crate::text::progress::{ProgressLines, TICK};
use anstream::AutoStream;
use cuba::Event;
use std::io;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long nothing is shown: most runs are over before a line could be read.
const PATIENCE: Duration = Duration::from_millis(500);

/// The lines, on standard error. They are erased when this is dropped.
pub(crate) struct Progress {
    start: Instant,
    lines: Arc<Mutex<ProgressLines>>,
    /// The thread that draws them, until the sender is dropped.
    drawing: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Nothing, if the user wants none, or where standard error is no terminal. The tables may take
    /// so much memory.
    pub(crate) fn unless(quiet: bool, run: &Arc<Run>, doing: &str, memory: usize) -> Option<Self> {
        if quiet || !run.console.can_draw() {
            return None;
        }
        // On Windows a terminal has to be told what escapes mean.
        let _ = AutoStream::always_ansi(io::stderr());
        let (start, lines) = (Instant::now(), Arc::new(Mutex::new(ProgressLines::new(doing, memory))));
        let (sender, end) = channel();
        let (run, drawn) = (Arc::clone(run), Arc::clone(&lines));
        let draw = move || {
            let mut patience = PATIENCE;
            while end.recv_timeout(patience) == Err(RecvTimeoutError::Timeout) {
                let lines = lock(&drawn).lines(start.elapsed());
                run.console.draw(&lines);
                run.fault("progress");
                patience = TICK;
            }
            drop(run.console.erase());
        };
        // Without a thread, there is nothing to see.
        let drawing = thread::Builder::new().spawn(draw).ok().map(|thread| (sender, thread));
        Some(Progress { start, lines, drawing })
    }

    /// An event of an analysis.
    pub(crate) fn hear(&self, event: &Event) {
        lock(&self.lines).hear(event, self.start.elapsed());
    }

    /// Shows this instead of what the events said.
    pub(crate) fn show(&self, doing: &str) {
        lock(&self.lines).doing = Some(doing.to_owned());
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((sender, thread)) = self.drawing.take() {
            drop(sender);
            let _ = thread.join();
        }
    }
}
