//! Ctrl-C: the first one asks for what is known so far, the second one ends everything.

use crate::cli::exit;
use crate::{output, progress};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// A flag that is set when the user does not want to wait any longer.
pub(crate) fn flag() -> &'static AtomicBool {
    static LISTEN: Once = Once::new();
    LISTEN.call_once(|| {
        // Where there are no signals, there is nothing to listen to.
        let _ = ctrlc::set_handler(|| {
            if INTERRUPTED.swap(true, Ordering::Relaxed) {
                let _lock = progress::clear();
                output::abandon();
                std::process::exit(exit::UNKNOWN.into());
            }
        });
    });
    &INTERRUPTED
}
