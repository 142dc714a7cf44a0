//! The options `--hosts`, `--process` and `--processes`, for many processes as one.

use crate::arguments::heading;
use crate::arguments::values::positive;
use crate::running::answer::{Answer, VerbError};
use crate::running::checkpoint::SharesFolder;
use crate::running::cluster::{ClusterProcesses, JoinOutcome, JoinRequest, ProcessLocation};
use crate::running::machine;
use crate::running::run::Run;
use clap::Args;
use cuba::Tuning;
use cuba::distributed::{Place, Share, ShareStore};
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

/// The options for a run in several processes.
#[derive(Args, Debug)]
pub(crate) struct ClusterArgs {
    /// Distribute the states over the processes listed in this file
    ///
    /// Each line has one host:port. The first process is number 0 and prints the answer. Start all
    /// processes with the same command except for --process.
    #[arg(long, value_name = "FILE", requires = "process", conflicts_with = "processes", help_heading = heading::CLUSTER)]
    hosts: Option<PathBuf>,
    /// Set the number of this process in --hosts, counted from 0
    #[arg(long, value_name = "I", requires = "hosts", help_heading = heading::CLUSTER)]
    process: Option<usize>,
    /// Set the number of this process of --processes, and its memory limit. Only process 0 passes
    /// this option.
    #[arg(long, value_name = "I:BYTES", value_parser = parse_started, requires = "processes", hide = true)]
    started: Option<(usize, usize)>,
    /// Start N processes on this machine and distribute the states over them
    #[arg(long, value_name = "N", value_parser = positive, help_heading = heading::CLUSTER)]
    processes: Option<usize>,
    /// Choose another partition of the states. The answers are the same.
    #[arg(long, value_name = "SEED", default_value_t, hide = true)]
    partition: u64,
    /// The command line of a run that continues, instead of that of this process.
    #[arg(skip)]
    arguments: Option<Vec<String>>,
}

/// The options of each process of a run.
pub(crate) struct ShareOptions {
    pub(crate) symmetry: bool,
    /// The memory limit for the states of this process, in bytes.
    pub(crate) memory: usize,
    pub(crate) jobs: Option<usize>,
    pub(crate) quiet: bool,
}

/// The name of the program with a transport.
const PROGRAM: &str = "cuba-cluster";

impl ClusterArgs {
    /// Returns whether the run has several processes.
    pub(crate) fn is_wanted(&self) -> bool {
        self.hosts.is_some() || self.processes.is_some()
    }

    /// Returns the file of `--hosts`.
    pub(crate) fn hosts(&self) -> Option<&PathBuf> {
        self.hosts.as_ref()
    }

    /// Returns whether this is not process 0. Then it only stores shares of the states, and process
    /// 0 answers.
    pub(crate) fn is_other_process(&self) -> bool {
        self.is_started() || self.process.is_some_and(|process| process > 0)
    }

    /// Takes the command line of the run that is resumed.
    pub(crate) fn resume(&mut self, arguments: &[String]) {
        self.arguments = Some(arguments.to_vec());
    }

    /// Runs `cuba-cluster` instead of this program, if the run has several processes and this
    /// program has no transport. Returns the exit code of `cuba-cluster` as the answer, unless this
    /// process has been replaced.
    pub(crate) fn run_cluster_program(&self, run: &Run) -> Result<Option<Answer>, VerbError> {
        if !self.is_wanted() || run.cluster.transport.is_some() {
            return Ok(None);
        }
        let name = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
        let beside = std::env::current_exe().ok().map(|this| this.with_file_name(&name)).filter(|path| path.is_file());
        let mut command = std::process::Command::new(beside.unwrap_or_else(|| name.into()));
        command.args(run.arguments.iter().skip(1));
        let code = run_instead(command).map_err(|error| {
            VerbError::Usage(format!(
                "many processes need `{PROGRAM}`, which is neither beside this program nor on the PATH ({error}); install it with \
                 `cargo install --locked --path crates/cluster`"
            ))
        })?;
        Ok(Some(Answer::silent(code)))
    }

    /// Returns whether process 0 on this machine has started this process.
    pub(crate) fn is_started(&self) -> bool {
        self.started.is_some()
    }

    /// Returns the memory limit that process 0 has set for this process.
    pub(crate) fn memory(&self) -> Option<usize> {
        self.started.map(|(_, bytes)| bytes)
    }

    /// Returns the number of processes of the run on this machine, as far as the options determine
    /// it.
    pub(crate) fn local_processes(&self) -> usize {
        self.processes.unwrap_or(1)
    }

    /// Returns the number of shares of each process.
    fn jobs(&self, jobs: Option<usize>) -> usize {
        jobs.unwrap_or_else(|| (machine::cores() / self.local_processes()).max(1))
    }

    /// Connects the processes. Process 0 gets access to all of them; the others return when the run
    /// is over.
    ///
    /// # Errors
    /// In process 0: the answer that says why the processes cannot connect. In the others: the
    /// answer at the end of the run.
    pub(crate) fn join(
        &self,
        run: &Arc<Run>,
        problem: &cpds::Problem,
        options: &ShareOptions,
        folder: Option<Arc<SharesFolder>>,
    ) -> Result<Arc<dyn ClusterProcesses>, Box<Answer>> {
        let refused = |why: String| Box::new(Answer::refused(&why));
        let transport = run.cluster.transport.ok_or_else(|| refused(format!("many processes need `{PROGRAM}`")))?;
        let location = match (&self.hosts, self.started) {
            (Some(file), _) => ProcessLocation::Listed {
                file: run.files.resolve(file).into_owned(),
                process: self.process.unwrap_or(0),
            },
            (None, Some((process, _))) => ProcessLocation::Started { process },
            (None, None) => ProcessLocation::Here {
                arguments: (1..self.local_processes()).map(|process| self.arguments_for(run, process)).collect(),
                folder: run.files.folder().map(PathBuf::from),
            },
        };
        let jobs = self.jobs(options.jobs);
        let (symmetry, seed, memory) = (options.symmetry, self.partition, options.memory / jobs);
        // The threads of the transport may outlive this call.
        let system = Arc::new(problem.system().clone());
        let store = folder.clone().map(|folder| folder as Arc<dyn ShareStore>);
        let share = move |part: usize, parts: usize| {
            let place = Place { part, parts, seed };
            Share::new(Arc::clone(&system), symmetry, place, Tuning::SHIPPED)
                .with_limit_and_store(memory, store.clone())
        };
        let question = vec![
            ("another model".to_owned(), first_64_bits(&problem.fingerprint())),
            ("other interchangeable threads (--no-symmetry)".to_owned(), symmetry.into()),
            ("another partition".to_owned(), seed),
        ];
        let (quiet, run_of_threads) = (options.quiet, Arc::clone(run));
        let request = JoinRequest { location, jobs, question, share: Box::new(share), quiet, run: run_of_threads };
        let remove_shares = move || {
            if let Some(folder) = folder {
                folder.remove();
            }
        };
        match transport.join(request) {
            Ok(JoinOutcome::Coordinator(others)) => {
                run.cluster.join(others.clone(), remove_shares);
                Ok(others)
            }
            Ok(JoinOutcome::Ended(end)) => {
                if end.is_done {
                    remove_shares();
                }
                Err(Box::new(Answer::silent(end.code)))
            }
            Err(why) => Err(refused(why)),
        }
    }

    /// Builds the command line of this run for another process, which gets the same memory limit.
    fn arguments_for(&self, run: &Run, process: usize) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = match &self.arguments {
            Some(arguments) => arguments.iter().skip(1).map(OsString::from).collect(),
            None => run.arguments.iter().skip(1).cloned().collect(),
        };
        // The option comes directly after the verb, because all words after `--` are names of
        // files.
        let verb = arguments.iter().position(|word| word == "reach" || word == "verify").map_or(0, |verb| verb + 1);
        arguments.insert(verb, format!("--started={process}:{}", run.memory().bytes).into());
        arguments
    }
}

/// Reads a process and its memory: `1:8589934592`.
fn parse_started(text: &str) -> Result<(usize, usize), String> {
    let parsed = text.split_once(':').and_then(|(process, bytes)| Some((process.parse().ok()?, bytes.parse().ok()?)));
    parsed.ok_or_else(|| "only cuba itself passes this option".to_owned())
}

/// Returns the first 64 bits of a fingerprint.
fn first_64_bits(fingerprint: &str) -> u64 {
    let digits = fingerprint.rsplit(':').next().and_then(|digits| digits.get(..16)).unwrap_or_default();
    u64::from_str_radix(digits, 16).unwrap_or_default()
}

/// Replaces this process by another program. Returns only if that fails.
#[cfg(unix)]
fn run_instead(mut command: std::process::Command) -> std::io::Result<u8> {
    use std::os::unix::process::CommandExt as _;
    Err(command.exec())
}

/// Runs another program, and returns its exit code.
#[cfg(not(unix))]
fn run_instead(mut command: std::process::Command) -> std::io::Result<u8> {
    let code = command.status()?.code();
    Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(crate::running::answer::exit::INTERNAL))
}
