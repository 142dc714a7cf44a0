//! The panic hook. A panic in any thread is a mistake in cuba itself: it writes a report and ends
//! the process with exit code 6.
//!
//! The standard library has only one panic hook for the process. Only `main` installs it, for its
//! only run.

use crate::running::answer::exit;
use crate::running::crash_report::{self, Panic};
use crate::running::lock::lock;
use crate::running::run::Run;
use cpds::diagnostic::printable;
use std::backtrace::Backtrace;
use std::panic::{PanicHookInfo, set_hook};
use std::sync::Arc;
use std::thread;

/// Installs the hook. After that, a panic ends this run and the process.
pub(crate) fn install(run: &Arc<Run>) {
    let run = Arc::clone(run);
    set_hook(Box::new(move |info| {
        let _never_released = lock(&run.panicking);
        let _drawing_lock = run.console.erase();
        let panic = Panic::new(info);
        let message = panic.message.lines().next().unwrap_or_default();
        let what = format!("{} ({})", printable(message), panic.location);
        run.console
            .remark(&format!("error: this is a mistake in cuba itself, not in your input: {what}; please report it\n"));
        run.console.remark(&crash_report::panic(&run, &panic));
        run.files.abandon();
        run.console.remark(&run.files.missing());
        run.exit_process(exit::INTERNAL);
    }));
}

/// Waits until a panic is reported, because the process must not end before.
pub(crate) fn wait(run: &Run) {
    drop(lock(&run.panicking));
}

impl Panic {
    fn new(info: &PanicHookInfo<'_>) -> Self {
        let payload = info.payload();
        let text = payload.downcast_ref::<&str>().copied().or(payload.downcast_ref::<String>().map(String::as_str));
        Panic {
            message: text.unwrap_or("no message").to_owned(),
            location: info.location().map_or("nowhere".to_owned(), ToString::to_string),
            thread: thread::current().name().unwrap_or("without a name").to_owned(),
            backtrace: Backtrace::force_capture().to_string().lines().map(str::to_owned).collect(),
        }
    }
}
