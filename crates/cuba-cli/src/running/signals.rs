//! Ctrl-C and the other signals that end a process. The first one stops the run, the second one
//! ends the process immediately.

use crate::running::run::Run;
use cuba::Halt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The signals that a run has received.
#[derive(Default)]
pub(crate) struct Signals {
    is_interrupted: AtomicBool,
    is_listening: AtomicBool,
    /// Ends the thread that waits for signals.
    #[cfg(unix)]
    handle: std::sync::OnceLock<signal_hook::iterator::Handle>,
}

impl Signals {
    /// Records an interrupt. Returns whether there was one before.
    pub(crate) fn record_interrupt(&self) -> bool {
        self.is_interrupted.swap(true, Ordering::SeqCst)
    }

    /// Returns whether there was an interrupt.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.is_interrupted.load(Ordering::SeqCst)
    }

    /// Ends the thread that waits for signals.
    pub(crate) fn close(&self) {
        #[cfg(unix)]
        if let Some(handle) = self.handle.get() {
            handle.close();
        }
    }
}

/// Installs the signal handler. After that, signals stop the run.
pub(crate) fn listen(run: &Arc<Run>) {
    if !run.signals.is_listening.swap(true, Ordering::SeqCst) {
        let interrupted = Arc::clone(run);
        on_each_signal(run, move || interrupted.interrupt());
    }
}

impl Run {
    fn interrupt(self: &Arc<Self>) {
        self.cancel.stop(Halt::Interrupted);
        if self.signals.record_interrupt() {
            self.exit_without_answer();
        }
    }
}

/// Calls `interrupt` for each signal. With `nohup`, the process ignores SIGHUP, the signal for the
/// end of the terminal. (Scripts start background processes with Ctrl-C ignored, too. This function
/// listens to Ctrl-C anyway, so that the user can stop the run and see its results.)
#[cfg(unix)]
fn on_each_signal(run: &Run, interrupt: impl Fn() + Send + 'static) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let hang_up = (!crate::running::machine::is_ignored(SIGHUP)).then_some(SIGHUP);
    let signals = [SIGINT, SIGTERM].into_iter().chain(hang_up);
    if let Ok(mut signals) = signal_hook::iterator::Signals::new(signals) {
        let _ = run.signals.handle.set(signals.handle());
        // If no thread can be started, signals end the process as usual.
        let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for _ in signals.forever() {
                interrupt();
            }
        });
    }
}

#[cfg(not(unix))]
fn on_each_signal(_: &Run, interrupt: impl Fn() + Send + 'static) {
    // If no handler can be set, there are no interrupts.
    let _ = ctrlc::set_handler(interrupt);
}
