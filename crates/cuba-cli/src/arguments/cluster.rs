//! Many processes as one: `--hosts`, `--process` and `--processes`.

use crate::arguments::heading;
use crate::arguments::values::jobs;
use crate::running::answer::{Answer, Stopped};
use crate::running::checkpoint::SharesFolder;
use crate::running::cluster::{JoinRequest, Joined, Others, Where};
use crate::running::machine;
use crate::running::run::Run;
use clap::Args;
use cuba::Tuning;
use cuba::distributed::{Place, Share, Store};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

/// The processes that work together.
#[derive(Args, Debug)]
pub(crate) struct ClusterArgs {
    /// Work together with the processes listed here
    ///
    /// One host:port a line: the first is process 0, which prints the answer. Give all of them the
    /// same command but for --process.
    #[arg(long, value_name = "FILE", requires = "process", conflicts_with = "processes", help_heading = heading::CLUSTER)]
    hosts: Option<PathBuf>,
    /// Which of the processes listed in --hosts this is
    #[arg(long, value_name = "I", requires = "hosts", help_heading = heading::CLUSTER)]
    process: Option<usize>,
    /// Which of --processes this is, if it is not the one that started them; and how much memory it
    /// may have.
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

/// What each process of a run does.
pub(crate) struct ShareOptions {
    pub(crate) symmetry: bool,
    /// How many bytes the states of this process may take.
    pub(crate) memory: usize,
    pub(crate) jobs: Option<usize>,
    pub(crate) quiet: bool,
}

/// The name of the program that has a transport.
const PROGRAM: &str = "cuba-cluster";

impl ClusterArgs {
    /// Whether there are other processes.
    pub(crate) fn is_wanted(&self) -> bool {
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

    /// Takes the command line of the run that is resumed.
    pub(crate) fn resume(&mut self, arguments: &[String]) {
        self.arguments = Some(arguments.to_vec());
    }

    /// If this program has no transport, another program takes over, and this does not return.
    pub(crate) fn hand_over(&self, run: &Run) -> Result<(), Stopped> {
        if !self.is_wanted() || run.cluster.transport.is_some() {
            return Ok(());
        }
        let name = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
        let beside = std::env::current_exe().ok().map(|this| this.with_file_name(&name)).filter(|path| path.is_file());
        let mut command = std::process::Command::new(beside.unwrap_or_else(|| name.into()));
        command.args(run.arguments.iter().skip(1));
        let error = take_over(command);
        Err(Stopped::Usage(format!(
            "many processes are for `{PROGRAM}`, which is neither beside this program nor on the PATH ({error}); install it with \
             `cargo install --locked --path crates/cluster`"
        )))
    }

    /// Whether another process has started this one, and prints what there is to print.
    pub(crate) fn is_started(&self) -> bool {
        self.started.is_some()
    }

    /// How much memory it may then have.
    pub(crate) fn memory(&self) -> Option<usize> {
        self.started.map(|(_, bytes)| bytes)
    }

    /// How many processes there are on this machine, as far as this one knows.
    pub(crate) fn here(&self) -> usize {
        self.processes.unwrap_or(1)
    }

    /// How many shares each process has.
    fn jobs(&self, jobs: Option<usize>) -> usize {
        jobs.unwrap_or_else(|| (machine::cores() / self.here()).max(1))
    }

    /// Brings the processes together. For process 0, gives all of them; for others, returns when
    /// everything is over.
    ///
    /// # Errors
    /// If they do not come together: why; or if this is another process, what it ends with.
    pub(crate) fn join(
        &self,
        run: &Arc<Run>,
        problem: &cpds::Problem,
        options: &ShareOptions,
        folder: Option<Arc<SharesFolder>>,
    ) -> Result<Arc<dyn Others>, Box<Answer>> {
        let refused = |why: String| Box::new(Answer::refused(&why));
        let transport = run.cluster.transport.ok_or_else(|| refused(format!("many processes are for `{PROGRAM}`")))?;
        let r#where = match (&self.hosts, self.started) {
            (Some(file), _) => {
                Where::Listed { file: run.files.resolve(file).into_owned(), process: self.process.unwrap_or(0) }
            }
            (None, Some((process, _))) => Where::Started { process },
            (None, None) => Where::Here {
                arguments: (1..self.here()).map(|process| self.arguments_for(run, process)).collect(),
                folder: run.files.folder().map(PathBuf::from),
            },
        };
        let jobs = self.jobs(options.jobs);
        let (symmetry, seed, memory) = (options.symmetry, self.partition, options.memory / jobs);
        // A share borrows its system, and the threads of the transport may outlive this call. They
        // end with the process, and there is one system for each run of it.
        let system: &'static cpds::Cpds = Box::leak(Box::new(problem.system().clone()));
        let store = folder.clone().map(|folder| folder as Arc<dyn Store>);
        let share = move |part: usize, parts: usize| {
            Share::new(system, symmetry, Place { part, parts, seed }, Tuning::SHIPPED).within(memory, store.clone())
        };
        let question = vec![
            ("another model".to_owned(), short(&problem.fingerprint())),
            ("other interchangeable threads (--no-symmetry)".to_owned(), symmetry.into()),
            ("another partition".to_owned(), seed),
        ];
        let (quiet, run_of_threads) = (options.quiet, Arc::clone(run));
        let request = JoinRequest { r#where, jobs, question, share: Box::new(share), quiet, run: run_of_threads };
        match transport.join(request) {
            Ok(Joined::First(others)) => {
                run.cluster.join(others.clone(), folder);
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

    /// The command line of this run, for another process, which may have as much memory as this
    /// one.
    fn arguments_for(&self, run: &Run, process: usize) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = match &self.arguments {
            Some(arguments) => arguments.iter().skip(1).map(OsString::from).collect(),
            None => run.arguments.iter().skip(1).cloned().collect(),
        };
        // Right after the verb: at the end there may be nothing but names of files.
        let verb = arguments.iter().position(|word| word == "reach" || word == "verify").map_or(0, |verb| verb + 1);
        arguments.insert(verb, format!("--started={process}:{}", run.memory().bytes).into());
        arguments
    }
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
        Ok(status) => std::process::exit(status.code().unwrap_or(crate::running::answer::exit::INTERNAL.into())),
        Err(error) => error,
    }
}
