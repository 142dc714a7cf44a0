//! Shows progress on a terminal.
//!
//! The lines are drawn repeatedly, so that the elapsed time is right between events. The cursor
//! stays at the beginning of the lines, so that the next drawing overwrites the characters that the
//! user has typed.

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

/// The time before the first line is drawn. Most runs are over by then.
const PATIENCE: Duration = Duration::from_millis(500);

/// The lines on standard error. They are erased when this value is dropped.
pub(crate) struct Progress {
    start: Instant,
    lines: Arc<Mutex<ProgressLines>>,
    /// The thread that draws the lines until the sender is dropped.
    drawing: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Starts to show progress, unless `quiet` is set or standard error is not a terminal. `memory`
    /// is the limit for the tables.
    pub(crate) fn start_unless(quiet: bool, run: &Arc<Run>, activity: &str, memory: usize) -> Option<Self> {
        if quiet || !run.console.can_draw() {
            return None;
        }
        // On Windows, this enables escape sequences.
        let _ = AutoStream::always_ansi(io::stderr());
        let (start, lines) = (Instant::now(), Arc::new(Mutex::new(ProgressLines::new(activity, memory))));
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
        // If no thread can be started, there is no progress.
        let drawing = thread::Builder::new().spawn(draw).ok().map(|thread| (sender, thread));
        Some(Progress { start, lines, drawing })
    }

    /// Adds an event of an analysis.
    pub(crate) fn add_event(&self, event: &Event) {
        lock(&self.lines).add_event(event, self.start.elapsed());
    }

    /// Shows this activity instead of the events.
    pub(crate) fn show(&self, activity: &str) {
        lock(&self.lines).activity = Some(activity.to_owned());
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
