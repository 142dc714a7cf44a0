//! Many processes as one.
//!
//! A program of its own, `cuba-cluster`, brings processes together: this program again, with a
//! [`Transport`]. So no other program depends on that. Process 0 asks the question, and answers it.
//! All processes have shares of the states (`distributed/worker.rs`), and all end as process 0
//! does.

use crate::running::answer::exit;
use crate::running::checkpoint::SharesFolder;
use crate::running::lock::lock;
use crate::running::run::Run;
use cuba::Halt;
use cuba::distributed::{Share, Supersteps};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

/// Where the processes are.
#[derive(Debug)]
pub enum Where {
    /// They are listed in a file.
    Listed {
        /// The file.
        file: PathBuf,
        /// Which of them this is.
        process: usize,
    },
    /// On this machine. The others have to be started.
    Here {
        /// The command line for each of the others. The list of processes goes to its standard
        /// input, and a blank line after it; which is then left open as long as this process
        /// exists.
        arguments: Vec<Vec<OsString>>,
        /// The folder in which to start them, if it is not the current one.
        folder: Option<PathBuf>,
    },
    /// On this machine, and another one has started this one.
    Started {
        /// Which of them this is.
        process: usize,
    },
}

/// What brings processes together.
pub trait Transport: Sync {
    /// Brings them together. If one is lost later, process 0 calls [`Run::lost`], and any other one
    /// [`Run::other_lost`].
    fn join(&self, request: JoinRequest) -> Result<Joined, String>;
}

/// Which processes are to work together, and on what.
pub struct JoinRequest {
    /// Where they are.
    pub r#where: Where,
    /// How many shares each process has.
    pub jobs: usize,
    /// What all have to agree on: what to say if it differs, and a hash.
    pub question: Vec<(String, u64)>,
    /// Makes the share of a part, if there are so many of them.
    pub share: Box<dyn Fn(usize, usize) -> Share<'static> + Send + Sync>,
    /// Whether to print no notes.
    pub quiet: bool,
    /// The run of this process.
    pub run: Arc<Run>,
}

/// How processes came together.
pub enum Joined {
    /// This is process 0.
    First(Arc<dyn Others>),
    /// This was another one, and everything is over.
    Over(End),
}

/// How everything ends.
#[derive(Clone, Copy, Debug)]
pub struct End {
    /// With this exit code.
    pub code: u8,
    /// Whether nothing that was saved will be resumed.
    pub is_done: bool,
}

/// All processes, as process 0 sees them.
pub trait Others: Supersteps + Send + Sync {
    /// Ends all of them. Returns when they know it.
    fn finish(&self, end: End);
}

/// All processes, and where this one saves its shares.
type Joint = (Arc<dyn Others>, Option<Arc<SharesFolder>>);

/// The part of a run in many processes.
pub(crate) struct Cluster {
    pub(crate) transport: Option<&'static dyn Transport>,
    joint: Mutex<Option<Joint>>,
    lost: OnceLock<String>,
    /// The exit code, once the answer is printed.
    finished: OnceLock<u8>,
}

impl Cluster {
    pub(crate) fn new(transport: Option<&'static dyn Transport>) -> Self {
        Cluster { transport, joint: Mutex::default(), lost: OnceLock::new(), finished: OnceLock::new() }
    }

    /// The processes have come together.
    pub(crate) fn join(&self, others: Arc<dyn Others>, folder: Option<Arc<SharesFolder>>) {
        *lock(&self.joint) = Some((others, folder));
    }

    /// Which process was lost, if one was.
    pub(crate) fn loss(&self) -> Option<String> {
        self.lost.get().cloned()
    }

    /// Ends all processes as this one ends.
    pub(crate) fn finish(&self, end: End) {
        if let Some((others, folder)) = lock(&self.joint).take() {
            let _ = self.finished.set(end.code);
            if self.lost.get().is_some() {
                return;
            }
            others.finish(end);
            if let Some(folder) = folder.filter(|_| end.is_done) {
                folder.remove();
            }
        }
    }
}

impl Run {
    /// A process was lost, or cannot continue, and so there is no answer: process 0 prints that,
    /// with what is known by now, and ends.
    pub fn lost(&self, what: &str) -> ! {
        let _ = self.cluster.lost.set(what.to_owned());
        self.cancel.stop(Halt::Lost);
        // The first to claim the right prints: the guard, or the thread that has an answer.
        loop {
            if let Some(&code) = self.cluster.finished.get() {
                self.leave(code);
            }
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// The same for any other process. If another one has started it, that one prints it.
    pub fn other_lost(&self, what: Option<&str>) -> ! {
        self.claim_output();
        let _nothing_is_drawn = self.console.erase();
        if let Some(what) = what {
            self.remark(&format!("unknown: {what}\n"));
        }
        self.leave(exit::UNKNOWN)
    }

    /// Prints to standard error.
    pub fn remark(&self, text: &str) {
        self.console.remark(text);
    }
}
