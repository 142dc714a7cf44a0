//! The guard: ends a run at its limits if the run does not end by itself.
//!
//! At a limit, the guard first stops the run's [`Cancel`](cuba::Cancel), so that the search ends
//! and the run prints its results. Not everything can be stopped in this way: not, for example, the
//! lowering of a program. So if there is no answer a moment later, or if the memory continues to
//! grow, the guard prints what is known so far and ends the process. Only one thread prints: the
//! first one that claims the right ([`Run::claim_output`]).

use crate::analysis::limits::{LEAST_FOR_PROCESS, MemoryLimit};
use crate::analysis::phase::{Phase, RunEnd};
use crate::running::answer::{self, Answer, VerbError};
use crate::running::run::Run;
use crate::running::{machine, signals};
use crate::text::{diagnostics, numbers};
use cuba::Halt;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

/// The limits that a user gives.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) memory: Option<usize>,
    pub(crate) timeout: Option<Duration>,
    /// The number of processes that share this machine.
    pub(crate) processes: usize,
}

/// The additional time for writing outputs. A report takes less than two seconds.
const WRITING: Duration = Duration::from_secs(4);

/// The interval of the checks, and the one when little memory is left.
const INTERVAL: Duration = Duration::from_millis(10);
const SHORT_INTERVAL: Duration = Duration::from_millis(3);

/// Returns the time that the run has to end by itself. Without files to write, the process should
/// end within half a second after Ctrl-C.
fn patience(run: &Run, why: Halt) -> Duration {
    let is_writing = run.phase() == Phase::Writing && run.files.is_incomplete();
    let files = if is_writing { WRITING } else { Duration::ZERO };
    files + Duration::from_millis(if why == Halt::TimeOut { 1000 } else { 200 })
}

/// Starts the guard. `answer` gives the results so far when a limit ends the run.
pub(crate) fn start(
    run: &Arc<Run>,
    limits: Limits,
    quiet: bool,
    answer: impl FnOnce(RunEnd) -> Result<Answer, VerbError> + Send + 'static,
) {
    let machine = machine::memory_bytes().map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
    let memory = run.limit_memory(MemoryLimit::new(limits.memory, machine, limits.processes));
    if let (Some(machine), false) = (machine.filter(|&machine| machine < memory.bytes), quiet) {
        let (wanted, machine) = (numbers::bytes(memory.bytes), numbers::bytes(machine));
        let more = format!("--memory: {wanted} is more than the {machine} that this machine allows");
        run.console.remark(&diagnostics::plain_warning(&more));
    }
    signals::listen(run);
    let until = limits.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    if limits.timeout == Some(Duration::ZERO) {
        run.cancel.stop(Halt::TimeOut);
    }
    let run = Arc::clone(run);
    // If no thread can be started, the cancel token still works.
    let _ = thread::Builder::new().name("guard".to_owned()).spawn(move || guard(&run, until, memory, quiet, answer));
}

/// Waits until a limit is reached. Then ends the process if the run does not end by itself.
fn guard(
    run: &Arc<Run>,
    until: Option<Instant>,
    memory: MemoryLimit,
    quiet: bool,
    answer: impl FnOnce(RunEnd) -> Result<Answer, VerbError>,
) {
    let most = memory.bytes.max(LEAST_FOR_PROCESS) as u64;
    // The time and the phase in which the run was stopped, and the time of an interrupt while the
    // run prints its answer.
    let (mut stopped, mut hurried) = (None, None);
    while !run.is_over() {
        let resident = machine::resident_bytes().unwrap_or(0);
        // Limits do not end the printing of an answer. Only the user can.
        let is_claimed = run.is_claimed();
        if until.is_some_and(|until| Instant::now() >= until) && !is_claimed {
            run.cancel.stop(Halt::TimeOut);
        }
        if resident > most && !is_claimed {
            run.cancel.stop(Halt::Memory);
        }
        if let Some(why) = run.cancel.why() {
            let (since, phase) = *stopped.get_or_insert_with(|| (Instant::now(), run.phase()));
            let is_late = since.elapsed() >= patience(run, why) || resident > most + most / 20;
            if is_late && run.try_claim_output() {
                let answer = answer(run.ended(why, phase));
                let _drawing_lock = run.console.erase();
                run.files.abandon();
                run.exit_process(answer::print(run, answer, quiet));
            }
        }
        // An answer after Ctrl-C is printed to its end. Another Ctrl-C ends the process.
        if run.is_interrupted_while_printing() {
            let since: Instant = *hurried.get_or_insert_with(Instant::now);
            if since.elapsed() >= patience(run, Halt::Interrupted) {
                run.exit_without_answer();
            }
        }
        thread::sleep(if resident > most / 4 * 3 { SHORT_INTERVAL } else { INTERVAL });
    }
}
