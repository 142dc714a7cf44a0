//! Ctrl-C, and being told to end: the first time asks for what is known so far, the second time ends everything.

use crate::running::limits;
use cuba::Halt;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// A flag that is set when the user does not want to wait any longer.
pub(crate) fn flag() -> &'static AtomicBool {
    &INTERRUPTED
}

/// From now on, an interrupt stops everything ([`limits::stop`]).
pub(crate) fn listen() {
    static LISTEN: Once = Once::new();
    LISTEN.call_once(|| {
        on_each(|| {
            limits::stop().stop(Halt::Interrupted);
            if INTERRUPTED.swap(true, Ordering::SeqCst) {
                limits::leave_at_once();
            }
        });
    });
}

/// Whoever starts us with `nohup` does not want us to hear that the terminal is gone. (What a script starts in the background does not hear Ctrl-C
/// either, by custom; but then nobody could ask it for what it knows.)
#[cfg(unix)]
fn on_each(heard: impl Fn() + Send + 'static) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let hang_up = (!crate::running::machine::is_ignored(SIGHUP)).then_some(SIGHUP);
    let signals = [SIGINT, SIGTERM].into_iter().chain(hang_up);
    if let Ok(mut signals) = signal_hook::iterator::Signals::new(signals) {
        // Without a thread, they end us as they end others.
        let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for _ in signals.forever() {
                heard();
            }
        });
    }
}

#[cfg(not(unix))]
fn on_each(heard: impl Fn() + Send + 'static) {
    // Where there is nothing to listen to, nobody interrupts.
    let _ = ctrlc::set_handler(heard);
}
