//! Many processes as one: `--hosts`, `--process` and `--processes`.
//!
//! What brings processes together is a program of its own, `cuba-cluster`: this one again, with a [`Transport`]. So nobody else has to have
//! that. Process 0 asks the question, and answers it. All of them, it included, have shares of the states (`engine/share.rs`), and all end as
//! it does.

use crate::checkpoint::Folder;
use crate::cli::{Answer, Stopped, exit, heading, remark};
use crate::engine::{Halt, Place, Share, Store, Supersteps};
use crate::explore::jobs;
use crate::panics::lock;
use crate::{limits, machine, progress};
use clap::Args;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

/// With whom to work together.
#[derive(Args, Debug)]
pub(crate) struct ClusterArgs {
    /// Work together with the processes listed here
    ///
    /// One host:port a line: the first is process 0, which prints the answer. Give all of them the same command but for --process.
    #[arg(long, value_name = "FILE", requires = "process", conflicts_with = "processes", help_heading = heading::CLUSTER)]
    hosts: Option<PathBuf>,
    /// Which of the processes listed in --hosts this is
    #[arg(long, value_name = "I", help_heading = heading::CLUSTER)]
    process: Option<usize>,
    /// Start N processes on this machine that work together
    #[arg(long, value_name = "N", value_parser = jobs, help_heading = heading::CLUSTER)]
    processes: Option<usize>,
    /// Another number is another partition of the states. The answers are the same.
    #[arg(long, value_name = "SEED", default_value_t, hide = true)]
    partition: u64,
    /// The command line, if it is not that of this process.
    #[arg(skip)]
    arguments: Option<Vec<String>>,
}

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
        /// How many there are.
        processes: usize,
        /// The command line for the others, but for `--process`. The list of processes goes to their standard input.
        arguments: Vec<OsString>,
    },
    /// On this machine, and another one has started this one.
    Started {
        /// Which of them this is.
        process: usize,
    },
}

/// What brings processes together.
pub trait Transport: Sync {
    /// Brings them together. Whoever is lost later is told to [`lost`].
    fn join(&self, asked: Asked) -> Result<Joined, String>;
}

/// Who is to work together, and on what.
pub struct Asked {
    /// Where they are.
    pub r#where: Where,
    /// How many shares each process has.
    pub jobs: usize,
    /// What all have to agree on: what to say if it differs, and a hash.
    pub question: Vec<(String, u64)>,
    /// Makes the share of a part, if there are so many of them.
    pub share: Box<dyn Fn(usize, usize) -> Share<'static> + Send + Sync>,
    /// Whether to say what there is to wait for.
    pub quiet: bool,
}

/// What became of it.
pub enum Joined {
    /// This is process 0.
    First(Arc<dyn Others>),
    /// It was another one, and everything is over.
    Over(End),
}

/// How everything ends.
#[derive(Clone, Copy, Debug)]
pub struct End {
    /// With this exit code.
    pub code: u8,
    /// Whether nobody will go on from what was kept.
    pub is_done: bool,
}

/// All processes, as process 0 sees them.
pub trait Others: Supersteps + Send + Sync {
    /// Ends all of them. Returns when they know it.
    fn finish(&self, end: End);
}

/// All processes, and where this one keeps its shares.
type Everyone = (Arc<dyn Others>, Option<Arc<Folder>>);

static TRANSPORT: OnceLock<&'static dyn Transport> = OnceLock::new();
static OTHERS: Mutex<Option<Everyone>> = Mutex::new(None);
static LOST: OnceLock<String> = OnceLock::new();
/// The answer was told, and this is the exit code.
static FINISHED: OnceLock<u8> = OnceLock::new();

/// From now on, this program can work together with others.
pub fn can_join(transport: &'static dyn Transport) {
    let _ = TRANSPORT.set(transport);
}

/// A process was lost, or cannot go on, and so there is no answer: says so, and ends this one.
pub fn lost(process: usize, what: &str) -> ! {
    let _ = LOST.set(what.to_owned());
    if let Some(&code) = FINISHED.get() {
        limits::leave(code);
    }
    if process == 0 {
        // The guard says what is known by now.
        let _ = limits::stop().set(Halt::Lost);
        loop {
            thread::park();
        }
    }
    limits::take_the_word();
    let _nothing_is_drawn = progress::clear();
    remark(&format!("unknown: {what}\n"));
    limits::leave(exit::UNKNOWN)
}

/// Which process was lost.
pub(crate) fn loss() -> &'static str {
    LOST.get().map_or("another process is gone", String::as_str)
}

/// Ends all processes as this one ends.
pub(crate) fn finish(end: End) {
    if let Some((others, folder)) = lock(&OTHERS).take() {
        let _ = FINISHED.set(end.code);
        others.finish(end);
        if let Some(folder) = folder.filter(|_| end.is_done) {
            folder.remove();
        }
    }
}

/// The name of the program that has a transport.
const PROGRAM: &str = "cuba-cluster";

impl ClusterArgs {
    /// Whether there is anybody to work together with.
    pub(crate) fn is_asked(&self) -> bool {
        self.hosts.is_some() || self.processes.is_some()
    }

    /// Whether this process only has shares of the states, and another one answers.
    pub(crate) fn is_other(&self) -> bool {
        self.process.is_some_and(|process| process > 0)
    }

    /// As this command line says, which another run had.
    pub(crate) fn go_on(&mut self, arguments: &[String]) {
        self.arguments = Some(arguments.to_vec());
    }

    /// If this program cannot do it, another one takes over, and this does not return.
    pub(crate) fn hand_over(&self) -> Result<(), Stopped> {
        if self.process.is_some() && !self.is_asked() {
            return Err(Stopped::Usage("--process says which line of --hosts this is; give --hosts, too".to_owned()));
        }
        if !self.is_asked() || TRANSPORT.get().is_some() {
            return Ok(());
        }
        let name = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
        let beside = std::env::current_exe().ok().map(|this| this.with_file_name(&name)).filter(|path| path.is_file());
        let mut command = std::process::Command::new(beside.unwrap_or_else(|| name.into()));
        command.args(std::env::args_os().skip(1));
        let error = take_over(command);
        Err(Stopped::Usage(format!(
            "many processes are for `{PROGRAM}`, which is neither beside this program nor on the PATH ({error}); install it with \
             `cargo install --locked --path crates/cluster`"
        )))
    }

    /// Whether another process has started this one, and says what there is to say.
    pub(crate) fn is_started(&self) -> bool {
        self.hosts.is_none() && self.process.is_some()
    }

    /// How many processes there are on this machine, as far as we know.
    pub(crate) fn here(&self) -> usize {
        self.processes.unwrap_or(1)
    }

    /// How many shares each process has.
    fn jobs(&self, jobs: Option<usize>) -> usize {
        jobs.unwrap_or_else(|| (machine::cores() / self.here()).max(1))
    }

    /// Brings the processes together. For process 0, gives all of them; for others, returns when everything is over.
    ///
    /// # Errors
    /// If they do not come together: why; or if this is another process, what it ends with.
    pub(crate) fn join(
        &self,
        problem: &cpds::Problem,
        run: &Run,
        folder: Option<Arc<Folder>>,
    ) -> Result<Arc<dyn Others>, Box<Answer>> {
        let refused = |why: String| Box::new(Answer::refused(&why));
        let transport = TRANSPORT.get().ok_or_else(|| refused(format!("many processes are for `{PROGRAM}`")))?;
        let r#where = match (&self.hosts, self.processes, self.process) {
            (Some(file), _, process) => Where::Listed { file: file.clone(), process: process.unwrap_or(0) },
            (None, _, Some(process)) => Where::Started { process },
            (None, processes, None) => {
                Where::Here { processes: processes.unwrap_or(1), arguments: self.arguments_for_others() }
            }
        };
        let jobs = self.jobs(run.jobs);
        let (symmetry, seed, room) = (run.symmetry, self.partition, run.room / jobs);
        // Threads that may outlive whoever started them have shares of it.
        let system: &'static cpds::Cpds = Box::leak(Box::new(problem.system().clone()));
        let store = folder.clone().map(|folder| folder as Arc<dyn Store>);
        let share = move |part: usize, parts: usize| {
            Share::new(system, symmetry, Place { part, parts, seed }).within(room, store.clone())
        };
        let question = vec![
            ("another model".to_owned(), short(&problem.fingerprint())),
            ("other interchangeable threads (--no-symmetry)".to_owned(), symmetry.into()),
            ("another partition".to_owned(), seed),
        ];
        match transport.join(Asked { r#where, jobs, question, share: Box::new(share), quiet: run.quiet }) {
            Ok(Joined::First(others)) => {
                *lock(&OTHERS) = Some((others.clone(), folder));
                Ok(others)
            }
            Ok(Joined::Over(end)) => {
                if let Some(folder) = folder.filter(|_| end.is_done) {
                    folder.remove();
                }
                let [stdout, remarks, errors] = [const { String::new() }; 3];
                Err(Box::new(Answer { stdout, remarks, errors, code: end.code }))
            }
            Err(why) => Err(refused(why)),
        }
    }

    /// The command line of this run.
    fn arguments_for_others(&self) -> Vec<OsString> {
        match &self.arguments {
            Some(arguments) => arguments.iter().skip(1).map(OsString::from).collect(),
            None => std::env::args_os().skip(1).collect(),
        }
    }
}

/// What a run is like.
pub(crate) struct Run {
    pub(crate) symmetry: bool,
    /// How many bytes the states may take that this process has.
    pub(crate) room: usize,
    pub(crate) jobs: Option<usize>,
    pub(crate) quiet: bool,
}

/// The first digits of a hash.
fn short(fingerprint: &str) -> u64 {
    let digits = fingerprint.rsplit(':').next().and_then(|digits| digits.get(..16)).unwrap_or_default();
    u64::from_str_radix(digits, 16).unwrap_or_default()
}

/// Becomes another program; or says why not.
#[cfg(unix)]
fn take_over(mut command: std::process::Command) -> std::io::Error {
    use std::os::unix::process::CommandExt as _;
    command.exec()
}

/// Runs another program, and ends as it does; or says why not.
#[cfg(not(unix))]
fn take_over(mut command: std::process::Command) -> std::io::Error {
    match command.status() {
        Ok(status) => std::process::exit(status.code().unwrap_or(exit::INTERNAL.into())),
        Err(error) => error,
    }
}
