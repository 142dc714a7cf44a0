//! The options `--timeout` and `--memory`.

use crate::analysis::phase::RunEnd;
use crate::arguments::heading;
use crate::arguments::values::{duration, size};
use crate::running::answer::{Answer, VerbError};
use crate::running::guard::{self, Limits};
use crate::running::run::Run;
use clap::Args;
use std::sync::Arc;
use std::time::Duration;

/// The limits of a run, the same for every verb.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct LimitArgs {
    /// Stop when the process needs more memory than this
    ///
    /// E.g. 512M or 16G, in powers of 1024 [default: three quarters of the memory that the machine
    /// allows]. A limit below 64M holds for the tables only, because the process itself needs some
    /// memory.
    #[arg(long, value_name = "SIZE", value_parser = size, help_heading = heading::LIMITS)]
    memory: Option<usize>,
    /// Stop after this time and print the results so far
    ///
    /// E.g. 500ms, 90s, 30m or 2h.
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = heading::LIMITS)]
    timeout: Option<Duration>,
}

impl LimitArgs {
    /// Starts the guard, which enforces the limits. At a limit, `answer` gives what is known so
    /// far.
    pub(crate) fn enforce(
        self,
        run: &Arc<Run>,
        quiet: bool,
        answer: impl FnOnce(RunEnd) -> Result<Answer, VerbError> + Send + 'static,
    ) {
        self.enforce_for(1, run, quiet, answer);
    }

    /// Starts the guard for one of `processes` that share this machine.
    pub(crate) fn enforce_for(
        self,
        processes: usize,
        run: &Arc<Run>,
        quiet: bool,
        answer: impl FnOnce(RunEnd) -> Result<Answer, VerbError> + Send + 'static,
    ) {
        guard::start(run, Limits { memory: self.memory, timeout: self.timeout, processes }, quiet, answer);
    }

    /// Combines these limits with `others`, which replace missing limits.
    pub(crate) fn or(self, others: Self) -> Self {
        LimitArgs { memory: self.memory.or(others.memory), timeout: self.timeout.or(others.timeout) }
    }

    /// Returns the limits of a process that process 0 stops: no timeout, and perhaps another memory
    /// limit.
    pub(crate) fn for_other_process(self, memory: Option<usize>) -> Self {
        LimitArgs { timeout: None, memory: memory.or(self.memory) }
    }

    /// Returns the timeout of the run.
    pub(crate) fn timeout(self) -> Option<Duration> {
        self.timeout
    }
}
