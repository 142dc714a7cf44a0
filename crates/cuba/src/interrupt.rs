//! Ctrl-C, and being told to end: the first time asks for what is known so far, the second time ends everything.

use crate::cli::exit;
use crate::engine::Halt;
use crate::{limits, progress};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// A flag that is set when the user does not want to wait any longer.
pub(crate) fn flag() -> &'static AtomicBool {
    listen();
    &INTERRUPTED
}

/// From now on, an interrupt stops everything ([`limits::stop`]).
pub(crate) fn listen() {
    static LISTEN: Once = Once::new();
    LISTEN.call_once(|| {
        // Where there are no signals, there is nothing to listen to.
        let _ = ctrlc::set_handler(|| {
            let _ = limits::stop().set(Halt::Interrupted);
            if INTERRUPTED.swap(true, Ordering::Relaxed) {
                let _nothing_is_drawn = progress::clear();
                limits::leave(exit::UNKNOWN);
            }
        });
    });
}
