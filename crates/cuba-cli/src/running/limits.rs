//! What the process may take: `--timeout`, `--memory`, the user's patience, and the guard that sees to all of them.
//!
//! What can stop by itself is told to ([`stop`]), and then says what it has found. Not everything can: lowering a program, say, or a
//! table that grows. So if there is no answer a moment later, or if the memory goes on growing, the guard itself says what is known by
//! then, and ends the process. Only one of them speaks: who takes the word first ([`take_the_word`]).

use crate::running::{cluster, faults, machine, output_files, progress, signals};
use crate::text::{diagnostics, numbers};
use crate::verbs::bench;
use crate::verbs::command_line::{Answer, Stopped, exit, heading, remark, say};
use crate::verbs::exploration::{duration, size};
use clap::Args;
use cuba::{Cancel, EvidencePhase, Halt};
use std::fmt::{self, Display, Formatter};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, OnceLock, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// What a run may take: the same for every verb.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct LimitArgs {
    /// Stop when the process would take more
    ///
    /// E.g. 512M or 16G, in powers of 1024 [default: three quarters of what the machine lets it have].
    /// Less than 64M is for tables alone: the process takes some memory anyway.
    #[arg(long, value_name = "SIZE", value_parser = size, help_heading = heading::LIMITS)]
    memory: Option<usize>,
    /// Stop after this time, and print what is known
    ///
    /// E.g. 500ms, 90s, 30m or 2h.
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = heading::LIMITS)]
    timeout: Option<Duration>,
}

/// How long what can stop by itself may take for that. The user should not wait for half a second, the end of the process included; except
/// for the files that the user has asked for.
fn patience(why: Halt) -> Duration {
    let files = if phase() == Phase::Writing && output_files::is_incomplete() { WRITING } else { Duration::ZERO };
    files + Duration::from_millis(if why == Halt::TimeOut { 1000 } else { 200 })
}

/// How much longer the outputs may take. A report is made in less than two seconds.
const WRITING: Duration = Duration::from_secs(4);

/// How often the guard looks; and how often when there is not much memory left.
const LOOK: Duration = Duration::from_millis(10);
const CLOSE_LOOK: Duration = Duration::from_millis(3);

/// The process alone takes some memory. Less than this is a limit for its tables, and for nothing else.
const LEAST: usize = 64 << 20;

/// What may be taken where the system does not say what there is.
const USUAL: usize = 4 << 30;

impl LimitArgs {
    /// From now on the limits hold. At a limit, `tell` says what is known by then.
    pub(crate) fn watch(self, quiet: bool, tell: impl FnOnce(Ended) -> Result<Answer, Stopped> + Send + 'static) {
        self.watch_one_of(1, quiet, tell);
    }

    /// The same for one of so many processes that share this machine.
    pub(crate) fn watch_one_of(
        self,
        processes: usize,
        quiet: bool,
        tell: impl FnOnce(Ended) -> Result<Answer, Stopped> + Send + 'static,
    ) {
        let there_is = machine::memory_bytes().map(|bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        let memory = *MEMORY.get_or_init(|| Memory::new(self.memory, there_is, processes));
        if let (Some(there_is), false) = (there_is.filter(|&there_is| there_is < memory.bytes), quiet) {
            let (asked, there_is) = (numbers::bytes(memory.bytes), numbers::bytes(there_is));
            let more = format!("--memory: {asked} is more than the {there_is} that this machine lets us have");
            remark(&diagnostics::plain_warning(&more));
        }
        signals::listen();
        let until = self.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        if self.timeout == Some(Duration::ZERO) {
            stop().stop(Halt::TimeOut);
        }
        // Without a thread, what can stop by itself still does.
        let _ = thread::Builder::new().name("guard".to_owned()).spawn(move || guard(until, memory, quiet, tell));
    }

    /// These limits, and the other ones where these do not say.
    pub(crate) fn or(self, others: Self) -> Self {
        LimitArgs { memory: self.memory.or(others.memory), timeout: self.timeout.or(others.timeout) }
    }

    /// The same for a process that another one tells when to stop, and perhaps how much memory it may have.
    pub(crate) fn of_another(self, memory: Option<usize>) -> Self {
        LimitArgs { timeout: None, memory: memory.or(self.memory) }
    }

    /// How long it may take.
    pub(crate) fn timeout(self) -> Option<Duration> {
        self.timeout
    }
}

/// How much memory the process may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Memory {
    pub(crate) bytes: usize,
    /// If nobody asked for so much, what it is of.
    of: Option<&'static str>,
}

static MEMORY: OnceLock<Memory> = OnceLock::new();

/// How much memory the process may take.
pub(crate) fn memory() -> Memory {
    *MEMORY.get_or_init(|| Memory { bytes: USUAL, of: None })
}

impl Memory {
    /// What was asked for, or what each of so many processes may have of what there is.
    fn new(asked: Option<usize>, there_is: Option<usize>, processes: usize) -> Self {
        match (asked, there_is) {
            (Some(bytes), _) => Memory { bytes, of: None },
            (None, Some(all)) if processes > 1 => {
                let of = "for each process, and three quarters of what this machine has for all";
                Memory { bytes: (all - all / 4) / processes, of: Some(of) }
            }
            (None, Some(all)) => Memory { bytes: all - all / 4, of: Some("three quarters of what this machine has") },
            (None, None) => Memory { bytes: USUAL, of: Some("as this machine does not say what it has") },
        }
    }

    /// For whoever does not know how to have more.
    pub(crate) fn hint(self) -> String {
        format!("{self}{} see --memory", if self.of.is_some() { ";" } else { "," })
    }

    /// What the tables of an analysis may take of it. The rest is for the model, the evidence, and what the system takes for itself.
    pub(crate) fn for_tables(self) -> usize {
        const SMALL: usize = LEAST / 2;
        if self.bytes <= SMALL { self.bytes } else { SMALL.max(self.bytes / 4 * 3) }
    }
}

impl Display for Memory {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", numbers::bytes(self.bytes))?;
        self.of.map_or(Ok(()), |of| write!(f, ", {of}"))
    }
}

/// Says to everything that can stop by itself that it has to.
pub(crate) fn stop() -> &'static Cancel {
    static STOP: LazyLock<Cancel> = LazyLock::new(Cancel::new);
    &STOP
}

/// What can take long.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    Starting,
    Reading,
    Lowering,
    Restoring,
    Joining,
    Searching,
    MakingEvidence,
    CheckingEvidence,
    Writing,
}

impl Phase {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Phase::Starting => "starting",
            Phase::Reading => "reading the model",
            Phase::Lowering => "making a system of the program",
            Phase::Restoring => "reading the checkpoint",
            Phase::Joining => "working together with other processes",
            Phase::Searching => "searching",
            Phase::MakingEvidence => "making the evidence",
            Phase::CheckingEvidence => "checking the evidence",
            Phase::Writing => "writing it down",
        }
    }
}

impl From<EvidencePhase> for Phase {
    fn from(phase: EvidencePhase) -> Self {
        match phase {
            EvidencePhase::Making => Phase::MakingEvidence,
            EvidencePhase::Checking => Phase::CheckingEvidence,
        }
    }
}

static PHASE: Mutex<Phase> = Mutex::new(Phase::Starting);

/// What is being done.
pub(crate) fn phase() -> Phase {
    *PHASE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is being done from now on.
pub(crate) fn enter(phase: Phase) {
    *PHASE.lock().unwrap_or_else(PoisonError::into_inner) = phase;
    if phase != Phase::Searching {
        faults::here(&format!("{phase:?}"));
    }
}

/// Whether nothing has stopped the search so far. What was stopped in the middle is no answer.
pub(crate) fn check() -> Result<(), Stopped> {
    match stop().why() {
        Some(why) => Err(Stopped::Limit(Ended { why, phase: Phase::Searching }.to_string())),
        None => Ok(()),
    }
}

/// Why the guard ends the process, and what was being done.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ended {
    pub(crate) why: Halt,
    pub(crate) phase: Phase,
}

impl Display for Ended {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let doing = self.phase.words();
        match self.why {
            Halt::Interrupted | Halt::Beaten => write!(f, "it was interrupted while {doing}"),
            Halt::TimeOut => write!(f, "--timeout ends it while {doing}"),
            Halt::Memory => write!(f, "{doing} does not fit into the memory of {}", memory().hint()),
            Halt::Lost => f.write_str(cluster::loss()),
        }
    }
}

static WORD: Mutex<()> = Mutex::new(());

/// Whether somebody has the word whom nobody had interrupted by then.
static UNHURRIED: AtomicBool = AtomicBool::new(false);

/// Who has the word speaks, and then the process ends. If another one has it, this does not return.
pub(crate) fn take_the_word() {
    let word: MutexGuard<'_, ()> = WORD.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::forget(word);
    UNHURRIED.store(!signals::flag().load(Ordering::SeqCst), Ordering::SeqCst);
}

/// Ends the process, whatever else is going on. Nothing but this and `main` does.
pub(crate) fn leave(code: u8) -> ! {
    bench::abandon();
    output_files::abandon();
    std::process::exit(code.into())
}

/// Ends the process for a user who does not want to wait for an answer: names the outputs that are missing, and nothing else.
pub(crate) fn leave_at_once() -> ! {
    output_files::abandon();
    let missing = output_files::missing();
    // Standard error may be a pipe that is full.
    let (said, is_said) = mpsc::channel();
    let say = move || {
        let _nothing_is_drawn = progress::clear();
        remark(&missing);
        let _ = said.send(());
    };
    let _ = thread::Builder::new().spawn(say);
    let _ = is_said.recv_timeout(Duration::from_secs(1));
    leave(exit::UNKNOWN)
}

/// Waits until a limit is reached, and then sees to it that the process ends.
fn guard(until: Option<Instant>, memory: Memory, quiet: bool, tell: impl FnOnce(Ended) -> Result<Answer, Stopped>) {
    let most = memory.bytes.max(LEAST) as u64;
    // Since when everything is to stop, and what was being done; and since when the user does not want to wait for an answer that is told.
    let (mut stopped, mut hurried) = (None, None);
    loop {
        let resident = machine::resident_bytes().unwrap_or(0);
        // An answer that is being told is told to its end, unless the user says so.
        let is_told = WORD.try_lock().is_err();
        if until.is_some_and(|until| Instant::now() >= until) && !is_told {
            stop().stop(Halt::TimeOut);
        }
        if resident > most && !is_told {
            stop().stop(Halt::Memory);
        }
        if let Some(why) = stop().why() {
            let (since, phase) = *stopped.get_or_insert_with(|| (Instant::now(), phase()));
            let is_late = since.elapsed() >= patience(why) || resident > most + most / 20;
            if is_late && let Ok(_word) = WORD.try_lock() {
                let answer = tell(Ended { why, phase });
                let _nothing_is_drawn = progress::clear();
                output_files::abandon();
                leave(say(answer, quiet));
            }
        }
        // An answer that comes after Ctrl-C may take its time; there is another Ctrl-C for that.
        if signals::flag().load(Ordering::SeqCst) && UNHURRIED.load(Ordering::SeqCst) {
            let since: Instant = *hurried.get_or_insert_with(Instant::now);
            if since.elapsed() >= patience(Halt::Interrupted) {
                leave_at_once();
            }
        }
        thread::sleep(if resident > most / 4 * 3 { CLOSE_LOOK } else { LOOK });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_much_memory() {
        assert_eq!(Memory::new(Some(500 << 20), Some(1 << 40), 2).hint(), "500.00 MiB, see --memory");
        assert_eq!(Memory::new(None, Some(24 << 30), 4).bytes, 9 << 29);
        let share = Memory::new(None, Some(24 << 30), 1);
        assert_eq!(share.hint(), "18.00 GiB, three quarters of what this machine has; see --memory");
        assert_eq!(Memory::new(None, None, 1).bytes, 4 << 30);
        assert_eq!(Memory::new(Some(0), None, 1).for_tables(), 0);
        let tables = |bytes| Memory::new(Some(bytes), None, 1).for_tables();
        assert_eq!([1 << 20, 32 << 20, 64 << 20].map(tables), [1 << 20, 32 << 20, 48 << 20]);
        let sizes: Vec<usize> = (0..200).map(|mib| tables(mib << 20)).collect();
        assert!(sizes.is_sorted(), "more memory is never less");
    }
}
