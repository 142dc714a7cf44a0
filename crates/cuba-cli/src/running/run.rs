//! One run of a command as a value: its console, cancel token, signals, files and limits.
//!
//! Every verb gets a [`Run`] and passes it on. One process can have several runs at the same time.
//! Only `main` makes a run with the arguments, the streams and the environment of the process.

use crate::analysis::limits::{MemoryLimit, RunLimits};
use crate::analysis::phase::{Phase, RunEnd};
use crate::json::Usage;
use crate::running::answer::{VerbError, exit};
use crate::running::child_processes::ChildProcesses;
use crate::running::cluster::{Cluster, Transport};
use crate::running::console::Console;
use crate::running::crash_report::ReportContext;
use crate::running::faults::Faults;
use crate::running::lock::lock;
use crate::running::machine;
use crate::running::output_files::OutputFiles;
use crate::running::signals::Signals;
use cuba::{Cancel, Halt};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::thread;
use std::time::Duration;

/// One run of a command.
pub struct Run {
    /// The words of the command; the first one is the name of the program.
    pub(crate) arguments: Vec<OsString>,
    pub(crate) console: Console,
    /// Stops the analysis.
    pub(crate) cancel: Cancel,
    pub(crate) signals: Signals,
    pub(crate) files: OutputFiles,
    pub(crate) children: ChildProcesses,
    pub(crate) cluster: Cluster,
    pub(crate) report: ReportContext,
    /// The checkpoint to remove after the answer is printed.
    pub(crate) finished_checkpoint: Mutex<Option<PathBuf>>,
    /// The first thread that panics takes this lock and never releases it. All other threads that
    /// panic wait for it.
    pub(crate) panicking: Mutex<()>,
    pub(crate) faults: Faults,
    memory: OnceLock<MemoryLimit>,
    phase: Mutex<Phase>,
    /// Whether a thread has the right to print the answer.
    is_claimed: AtomicBool,
    /// Whether the thread got that right before the first Ctrl-C.
    was_claimed_before_interrupt: AtomicBool,
    is_over: AtomicBool,
}

impl Run {
    /// Creates a run of the command with these words. The transport connects many processes.
    pub fn new(arguments: Vec<OsString>, console: Console, transport: Option<&'static dyn Transport>) -> Arc<Self> {
        Self::with_faults(arguments, console, transport, Faults::default())
    }

    pub(crate) fn with_faults(
        arguments: Vec<OsString>,
        console: Console,
        transport: Option<&'static dyn Transport>,
        faults: Faults,
    ) -> Arc<Self> {
        Arc::new(Run {
            arguments,
            console,
            cancel: Cancel::new(),
            signals: Signals::default(),
            files: OutputFiles::default(),
            children: ChildProcesses::default(),
            cluster: Cluster::new(transport),
            report: ReportContext::default(),
            finished_checkpoint: Mutex::default(),
            panicking: Mutex::default(),
            faults,
            memory: OnceLock::new(),
            phase: Mutex::new(Phase::Starting),
            is_claimed: AtomicBool::new(false),
            was_claimed_before_interrupt: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
        })
    }

    /// Returns the memory limit.
    pub(crate) fn memory(&self) -> MemoryLimit {
        *self.memory.get_or_init(MemoryLimit::default)
    }

    /// Sets the memory limit, unless it is already set. Returns the limit in force.
    pub(crate) fn limit_memory(&self, limit: MemoryLimit) -> MemoryLimit {
        *self.memory.get_or_init(|| limit)
    }

    /// Returns the current limits of the run.
    pub(crate) fn limits(&self) -> RunLimits {
        RunLimits { memory: self.memory(), loss: self.cluster.loss() }
    }

    /// Reports the memory of the run so far, together with this time.
    pub(crate) fn usage(&self, time: Duration) -> Usage {
        let (peak_memory_bytes, memory_limit_bytes) = (machine::peak_memory_bytes(), self.memory().bytes);
        Usage { time, peak_memory_bytes, memory_limit_bytes }
    }

    /// Returns the current phase.
    pub(crate) fn phase(&self) -> Phase {
        *lock(&self.phase)
    }

    /// Begins a phase.
    pub(crate) fn enter(&self, phase: Phase) {
        *lock(&self.phase) = phase;
        if phase != Phase::Searching {
            self.fault(&format!("{phase:?}"));
        }
    }

    /// Injects a fault at this place, if a test wants one.
    pub(crate) fn fault(&self, place: &str) {
        self.faults.at(place, &self.console);
    }

    /// Combines the reason and the phase in which a limit ends the run with the current limits.
    pub(crate) fn ended(&self, why: Halt, phase: Phase) -> RunEnd {
        RunEnd { why, phase, limits: self.limits() }
    }

    /// Fails if the search was stopped, because an incomplete search is no answer.
    pub(crate) fn check_not_stopped(&self) -> Result<(), VerbError> {
        match self.cancel.why() {
            Some(why) => Err(VerbError::Limit(self.ended(why, Phase::Searching).to_string())),
            None => Ok(()),
        }
    }

    /// Claims the right to print the answer. Returns whether that succeeds.
    pub(crate) fn try_claim_output(&self) -> bool {
        !self.is_claimed.swap(true, Ordering::SeqCst)
    }

    /// Claims the right to print the answer. If another thread has it, this never returns, because
    /// that thread ends the process.
    pub(crate) fn claim_output(&self) {
        while !self.try_claim_output() {
            thread::park();
        }
        self.was_claimed_before_interrupt.store(!self.signals.is_interrupted(), Ordering::SeqCst);
    }

    /// Returns whether a thread has the right to print the answer.
    pub(crate) fn is_claimed(&self) -> bool {
        self.is_claimed.load(Ordering::SeqCst)
    }

    /// Returns whether the user has pressed Ctrl-C while the run prints an answer that is older
    /// than this Ctrl-C.
    pub(crate) fn is_interrupted_while_printing(&self) -> bool {
        self.signals.is_interrupted() && self.was_claimed_before_interrupt.load(Ordering::SeqCst)
    }

    /// Ends the guard and the thread for signals after the run.
    pub(crate) fn finish(&self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.signals.close();
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    /// Ends the process, in whatever state other threads are. Only this function and `main` end the
    /// process.
    pub(crate) fn exit_process(&self, code: u8) -> ! {
        self.children.abandon();
        self.files.abandon();
        std::process::exit(code.into())
    }

    /// Ends the process without an answer. Only names the missing outputs.
    pub(crate) fn exit_without_answer(self: &Arc<Self>) -> ! {
        self.files.abandon();
        let missing = self.files.missing();
        // Standard error may be a full pipe, which would block this thread.
        let (sender, printed) = mpsc::channel();
        let run = Arc::clone(self);
        let print = move || {
            let _drawing_lock = run.console.erase();
            run.console.remark(&missing);
            let _ = sender.send(());
        };
        let _ = thread::Builder::new().spawn(print);
        let _ = printed.recv_timeout(Duration::from_secs(1));
        self.exit_process(exit::UNKNOWN)
    }

    /// Removes the checkpoint after the answer is printed and the outputs are written. Returns
    /// whether there was one.
    pub(crate) fn remove_checkpoint(&self) -> bool {
        let finished = lock(&self.finished_checkpoint).take();
        finished.is_some_and(|path| std::fs::remove_file(path).is_ok())
    }
}
