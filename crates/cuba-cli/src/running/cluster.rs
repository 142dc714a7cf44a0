//! Many processes as one: `--hosts`, `--process` and `--processes`.
//!
//! What brings processes together is a program of its own, `cuba-cluster`: this one again, with a [`Transport`]. So nobody else has to have
//! that. Process 0 asks the question, and answers it. All of them, it included, have shares of the states (`distributed/worker.rs`), and all end as
//! it does.

use crate::running::checkpoint::Folder;
use crate::running::panic_hook::lock;
use crate::running::{limits, machine, progress};
use crate::verbs::command_line::{Answer, Stopped, exit, heading, remark};
use crate::verbs::exploration::jobs;
use clap::Args;
use cuba::Halt;
use cuba::distributed::{Place, Share, Store, Supersteps};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::Duration;

/// With whom to work together.
#[derive(Args, Debug)]
pub(crate) struct ClusterArgs {
    /// Work together with the processes listed here
    ///
    /// One host:port a line: the first is process 0, which prints the answer. Give all of them the same command but for --process.
    #[arg(long, value_name = "FILE", requires = "process", conflicts_with = "processes", help_heading = heading::CLUSTER)]
    hosts: Option<PathBuf>,
    /// Which of the processes listed in --hosts this is
    #[arg(long, value_name = "I", requires = "hosts", help_heading = heading::CLUSTER)]
    process: Option<usize>,
    /// Which of --processes this is, if it is not the one that started them; and how much memory it may have.
    #[arg(long, value_name = "I:BYTES", value_parser = started, requires = "processes", hide = true)]
    started: Option<(usize, usize)>,
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
        /// The command line for each of the others. The list of processes goes to its standard input, and a blank line after it; which is then
        /// left open as long as this process is there.
        arguments: Vec<Vec<OsString>>,
    },
    /// On this machine, and another one has started this one.
    Started {
        /// Which of them this is.
        process: usize,
    },
}

/// What brings processes together.
pub trait Transport: Sync {
    /// Brings them together. If one is lost later, process 0 calls [`lost`], and any other one [`other_lost`].
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
    /// Whether not to say whom it waits for.
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

/// A process was lost, or cannot go on, and so there is no answer: process 0 says so, with what is known by now, and ends.
pub fn lost(what: &str) -> ! {
    let _ = LOST.set(what.to_owned());
    limits::stop().stop(Halt::Lost);
    // Whoever has the word speaks: the guard, or whoever was about to tell an answer.
    loop {
        if let Some(&code) = FINISHED.get() {
            limits::leave(code);
        }
        thread::sleep(Duration::from_millis(10));
    }
}

/// The same for any other process. If another one has started it, that one speaks.
pub fn other_lost(what: Option<&str>) -> ! {
    limits::take_the_word();
    let _nothing_is_drawn = progress::clear();
    if let Some(what) = what {
        remark(&format!("unknown: {what}\n"));
    }
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
        if LOST.get().is_some() {
            return;
        }
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

    /// The list of the processes, if it is a file.
    pub(crate) fn hosts(&self) -> Option<&PathBuf> {
        self.hosts.as_ref()
    }

    /// Whether this process only has shares of the states, and another one answers.
    pub(crate) fn is_other(&self) -> bool {
        self.is_started() || self.process.is_some_and(|process| process > 0)
    }

    /// As this command line says, which another run had.
    pub(crate) fn go_on(&mut self, arguments: &[String]) {
        self.arguments = Some(arguments.to_vec());
    }

    /// If this program cannot do it, another one takes over, and this does not return.
    pub(crate) fn hand_over(&self) -> Result<(), Stopped> {
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
        self.started.is_some()
    }

    /// How much memory it may then have.
    pub(crate) fn memory(&self) -> Option<usize> {
        self.started.map(|(_, bytes)| bytes)
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
        let r#where = match (&self.hosts, self.started) {
            (Some(file), _) => Where::Listed { file: file.clone(), process: self.process.unwrap_or(0) },
            (None, Some((process, _))) => Where::Started { process },
            (None, None) => {
                Where::Here { arguments: (1..self.here()).map(|process| self.arguments_for(process)).collect() }
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

    /// The command line of this run, for another process, which may have as much memory as this one.
    fn arguments_for(&self, process: usize) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = match &self.arguments {
            Some(arguments) => arguments.iter().skip(1).map(OsString::from).collect(),
            None => std::env::args_os().skip(1).collect(),
        };
        // Right after the verb: at the end there may be nothing but names of files.
        let verb = arguments.iter().position(|word| word == "reach" || word == "verify").map_or(0, |verb| verb + 1);
        arguments.insert(verb, format!("--started={process}:{}", limits::memory().bytes).into());
        arguments
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

/// `1:8589934592`.
fn started(text: &str) -> Result<(usize, usize), String> {
    let parsed = text.split_once(':').and_then(|(process, bytes)| Some((process.parse().ok()?, bytes.parse().ok()?)));
    parsed.ok_or_else(|| "this is for cuba itself".to_owned())
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
