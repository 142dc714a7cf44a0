//! Ctrl-C, and the signals that ask a process to end: the first one stops the run, the second one
//! ends the process at once.

use crate::running::run::Run;
use cuba::Halt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The signals that a run got.
#[derive(Default)]
pub(crate) struct Signals {
    is_interrupted: AtomicBool,
    is_listening: AtomicBool,
    /// Ends the thread that waits for signals.
    #[cfg(unix)]
    handle: std::sync::OnceLock<signal_hook::iterator::Handle>,
}

impl Signals {
    /// Notes an interrupt; says whether there was one before.
    pub(crate) fn note(&self) -> bool {
        self.is_interrupted.swap(true, Ordering::SeqCst)
    }

    /// Whether the user does not want to wait any longer.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.is_interrupted.load(Ordering::SeqCst)
    }

    /// Listens no more.
    pub(crate) fn close(&self) {
        #[cfg(unix)]
        if let Some(handle) = self.handle.get() {
            handle.close();
        }
    }
}

/// From now on, signals stop the run.
pub(crate) fn listen(run: &Arc<Run>) {
    if !run.signals.is_listening.swap(true, Ordering::SeqCst) {
        let interrupted = Arc::clone(run);
        on_each_signal(run, move || interrupted.interrupt());
    }
}

impl Run {
    fn interrupt(self: &Arc<Self>) {
        self.cancel.stop(Halt::Interrupted);
        if self.signals.note() {
            self.leave_at_once();
        }
    }
}

/// With `nohup`, the end of the terminal is no reason to stop. (What a script starts in the
/// background ignores Ctrl-C, too, by custom; but then there is no way to ask it for what it
/// knows.)
#[cfg(unix)]
fn on_each_signal(run: &Run, interrupt: impl Fn() + Send + 'static) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let hang_up = (!crate::running::machine::is_ignored(SIGHUP)).then_some(SIGHUP);
    let signals = [SIGINT, SIGTERM].into_iter().chain(hang_up);
    if let Ok(mut signals) = signal_hook::iterator::Signals::new(signals) {
        let _ = run.signals.handle.set(signals.handle());
        // Without a thread, signals end the process as they end others.
        let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for _ in signals.forever() {
                interrupt();
            }
        });
    }
}

#[cfg(not(unix))]
fn on_each_signal(_: &Run, interrupt: impl Fn() + Send + 'static) {
    // Where there are no signals, there are no interrupts.
    let _ = ctrlc::set_handler(interrupt);
}
