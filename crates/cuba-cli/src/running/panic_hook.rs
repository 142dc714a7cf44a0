//! Panics: a mistake in cuba itself. In whichever thread it happens, it ends everything with exit code 6, and with a file to report.

use crate::running::crash_report::{self, Panic};
use crate::running::{limits, output_files, progress};
use crate::verbs::command_line::{exit, remark};
use cpds::diagnostic::printable;
use std::backtrace::Backtrace;
use std::panic::{PanicHookInfo, set_hook};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// Held by the first one that panics, and never released: all others wait here for the end.
static END: Mutex<()> = Mutex::new(());

/// From now on, panics are reported.
pub fn report() {
    set_hook(Box::new(|info| {
        let _end = lock(&END);
        let _lock = progress::clear();
        let panic = Panic::new(info);
        let message = panic.message.lines().next().unwrap_or_default();
        let what = format!("{} ({})", printable(message), panic.location);
        remark(&format!("error: this is a mistake in cuba itself, not in your input: {what}; please report it\n"));
        remark(&crash_report::panic(&panic));
        output_files::abandon();
        remark(&output_files::missing());
        limits::leave(exit::INTERNAL);
    }));
}

/// Locks it, whatever became of whoever had it before: a panic ends everything.
pub(crate) fn lock<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Nobody leaves while a panic is being reported.
pub fn wait() {
    drop(END.lock());
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
