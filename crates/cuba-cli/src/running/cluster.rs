//! Many processes as one: the interface to the transport between them.
//!
//! Another program, `cuba-cluster`, is this command line with a [`Transport`]. So `cuba` itself
//! does not depend on a transport. Process 0 runs the analysis and answers. All processes store
//! shares of the states (`distributed/share.rs` of `cuba`), and all end with the exit code of
//! process 0.

use crate::running::answer::exit;
use crate::running::lock::lock;
use crate::running::run::Run;
use cuba::Halt;
use cuba::distributed::{Share, Supersteps};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

/// Where the processes of a run are.
#[derive(Debug)]
pub enum ProcessLocation {
    /// In a list of hosts.
    Listed {
        /// The file with the list.
        file: PathBuf,
        /// The number of this process.
        process: usize,
    },
    /// On this machine. This process has to start the others.
    Here {
        /// The command line of each other process. Its standard input gets the list of processes
        /// and a blank line, and stays open as long as this process exists.
        arguments: Vec<Vec<OsString>>,
        /// The folder in which to start them, if it is not the current one.
        folder: Option<PathBuf>,
    },
    /// On this machine. Process 0 has started this process.
    Started {
        /// The number of this process.
        process: usize,
    },
}

/// Connects processes.
pub trait Transport: Sync {
    /// Connects the processes. If a process is lost later, process 0 calls [`Run::lost`], and every
    /// other one calls [`Run::other_lost`].
    fn join(&self, request: JoinRequest) -> Result<JoinOutcome, String>;
}

/// The processes to connect, and their task.
pub struct JoinRequest {
    /// Where the processes are.
    pub location: ProcessLocation,
    /// The number of shares of each process.
    pub jobs: usize,
    /// Values that must be equal in all processes: the message for a difference, and a hash.
    pub question: Vec<(String, u64)>,
    /// Makes the share of a part, from its number and the number of parts.
    pub share: Box<dyn Fn(usize, usize) -> Share<'static> + Send + Sync>,
    /// Whether notes are suppressed.
    pub quiet: bool,
    /// The run of this process.
    pub run: Arc<Run>,
}

/// The result of connecting the processes.
pub enum JoinOutcome {
    /// This process is process 0.
    Coordinator(Arc<dyn ClusterProcesses>),
    /// This process is another one, and the run is over.
    Ended(ClusterEnd),
}

/// How a run with many processes ends.
#[derive(Clone, Copy, Debug)]
pub struct ClusterEnd {
    /// The exit code of all processes.
    pub code: u8,
    /// Whether the checkpoints can be removed.
    pub is_done: bool,
}

/// All processes, as process 0 sees them.
pub trait ClusterProcesses: Supersteps + Send + Sync {
    /// Ends all processes. Returns when all of them have confirmed it.
    fn finish(&self, end: ClusterEnd);
}

/// All processes, and a function that removes the shares that this process has saved.
type Connection = (Arc<dyn ClusterProcesses>, Box<dyn FnOnce() + Send>);

/// The state of a run in many processes.
pub(crate) struct Cluster {
    pub(crate) transport: Option<&'static dyn Transport>,
    connection: Mutex<Option<Connection>>,
    lost: OnceLock<String>,
    /// The exit code, once the answer is printed.
    finished: OnceLock<u8>,
}

impl Cluster {
    pub(crate) fn new(transport: Option<&'static dyn Transport>) -> Self {
        Cluster { transport, connection: Mutex::default(), lost: OnceLock::new(), finished: OnceLock::new() }
    }

    /// Stores the connection to the processes. `remove_shares` removes the shares that this process
    /// has saved.
    pub(crate) fn join(&self, others: Arc<dyn ClusterProcesses>, remove_shares: impl FnOnce() + Send + 'static) {
        *lock(&self.connection) = Some((others, Box::new(remove_shares)));
    }

    /// Returns the process that was lost, if any.
    pub(crate) fn loss(&self) -> Option<String> {
        self.lost.get().cloned()
    }

    /// Ends all processes with the exit code of this one.
    pub(crate) fn finish(&self, end: ClusterEnd) {
        if let Some((others, remove_shares)) = lock(&self.connection).take() {
            let _ = self.finished.set(end.code);
            if self.lost.get().is_some() {
                return;
            }
            others.finish(end);
            if end.is_done {
                remove_shares();
            }
        }
    }
}

impl Run {
    /// Ends the run without an answer because a process was lost or cannot continue. Process 0
    /// prints what is known so far and ends.
    pub fn lost(&self, what: &str) -> ! {
        let _ = self.cluster.lost.set(what.to_owned());
        self.cancel.stop(Halt::Lost);
        // Either the guard or the thread with the answer prints: the first one that claims the
        // right.
        loop {
            if let Some(&code) = self.cluster.finished.get() {
                self.exit_process(code);
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Ends another process than process 0 because a process was lost. Prints `what`, if there is
    /// such a text.
    pub fn other_lost(&self, what: Option<&str>) -> ! {
        self.claim_output();
        let _drawing_lock = self.console.erase();
        if let Some(what) = what {
            self.remark(&format!("unknown: {what}\n"));
        }
        self.exit_process(exit::UNKNOWN)
    }

    /// Prints to standard error.
    pub fn remark(&self, text: &str) {
        self.console.remark(text);
    }
}
