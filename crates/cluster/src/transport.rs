//! Implements cuba's [`Transport`] for many processes: each process has some shares of the states,
//! and each share is a part in the supersteps.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use cuba::distributed::{Command as ShareCommand, Failure, Reply, Share, Supersteps};
use cuba_cli::running::cluster::{ClusterEnd, ClusterProcesses, JoinOutcome, JoinRequest, ProcessLocation, Transport};
use cuba_cli::running::run::Run as CubaRun;
use serde::{Deserialize, Serialize};

use crate::heartbeat::lock;
use crate::supersteps::{coordinate, run};
use crate::{Bytes, Coordinator, Hosts, Loss, Part, Settings, connect};

/// A command from process 0 to all parts.
#[derive(Clone, Serialize, Deserialize)]
pub enum ClusterCommand {
    /// A command to all shares.
    Run(ShareCommand),
    /// The end of the run: the exit code, and whether no later run continues this one.
    End(u8, bool),
}

/// A share of the states as a part.
struct SharePart(Share<'static>);

impl Part for SharePart {
    type Command = ClusterCommand;
    type Block = Bytes;
    type Reply = Reply;

    fn step(
        &mut self,
        order: ClusterCommand,
        received: Vec<(usize, Bytes)>,
        send: &mut dyn FnMut(usize, Bytes),
    ) -> Reply {
        let ClusterCommand::Run(command) = order else { return Reply::Failed(Failure::Command) };
        let received = received.into_iter().map(|(from, Bytes(block))| (from, block)).collect();
        self.0.step(command, received, &mut |to, block| send(to, Bytes(block)))
    }
}

/// Runs cuba in many processes.
pub struct ClusterTransport;

impl Transport for ClusterTransport {
    fn join(&self, request: JoinRequest) -> Result<JoinOutcome, String> {
        let JoinRequest { location, jobs, question, share, quiet, run: this } = request;
        let (hosts, process) = match &location {
            ProcessLocation::Listed { file, process } => {
                (Hosts::read(file).map_err(|error| error.to_string())?, *process)
            }
            ProcessLocation::Here { arguments, .. } => {
                (Hosts::local(1 + arguments.len()).map_err(|error| error.to_string())?, 0)
            }
            ProcessLocation::Started { process } => (from_stdin(&this)?, *process),
        };
        // The process that started this one reports the loss of other processes.
        let is_silent = matches!(location, ProcessLocation::Started { .. });
        let children = match location {
            ProcessLocation::Here { arguments, folder } => {
                ChildProcesses::start(&this, &hosts, &arguments, folder.as_deref())?
            }
            _ => ChildProcesses::default(),
        };
        let mut note = |note: &crate::Note| {
            if !quiet {
                this.remark(&format!("note: {note}\n"));
            }
        };
        let connected = connect::connect(Settings::new(hosts, process, jobs, question), &mut note);
        let network = connected.map_err(|error| error.to_string())?;
        children.set_joined();
        let make = move |part, parts| SharePart(share(part, parts));
        let reporter = Arc::clone(&this);
        let lost = move |loss: &Loss| -> i32 {
            let what = loss.to_string();
            if process == 0 { reporter.lost(&what) } else { reporter.other_lost(Some(&*what).filter(|_| !is_silent)) }
        };
        if process > 0 {
            let last = run::<SharePart>(network, make, lost).map_err(|error| error.to_string())?;
            let ClusterCommand::End(code, is_done) = last else { unreachable!("the last order is the end") };
            return Ok(JoinOutcome::Ended(ClusterEnd { code, is_done }));
        }
        let coordinator = coordinate::<SharePart>(network, make, lost).map_err(|error| error.to_string())?;
        let parts = coordinator.parts();
        let coordinator = Mutex::new(Some(coordinator));
        Ok(JoinOutcome::Coordinator(Arc::new(AllProcesses { run: this, coordinator, parts, here: jobs, children })))
    }
}

/// All processes, controlled by process 0.
struct AllProcesses {
    run: Arc<CubaRun>,
    coordinator: Mutex<Option<Coordinator<SharePart>>>,
    parts: usize,
    here: usize,
    children: ChildProcesses,
}

impl Supersteps for AllProcesses {
    fn parts(&self) -> usize {
        self.parts
    }

    fn local_parts(&self) -> usize {
        self.here
    }

    fn superstep(&self, command: ShareCommand) -> Vec<Reply> {
        match &mut *lock(&self.coordinator) {
            Some(coordinator) => coordinator.superstep(ClusterCommand::Run(command)),
            None => vec![Reply::Failed(Failure::Command)],
        }
    }

    fn give_up(&self, why: &Failure) {
        // The other processes report this one as lost.
        drop(lock(&self.coordinator).take());
        self.run.lost(&why.to_string())
    }
}

impl ClusterProcesses for AllProcesses {
    fn finish(&self, ClusterEnd { code, is_done }: ClusterEnd) {
        if let Some(coordinator) = lock(&self.coordinator).take() {
            coordinator.finish(ClusterCommand::End(code, is_done));
        }
        self.children.wait();
    }
}

/// Reads the list of processes from the process that has started this one. When that process ends,
/// this one ends too.
fn from_stdin(run: &Arc<CubaRun>) -> Result<Hosts, String> {
    let mut text = String::new();
    loop {
        let length = io::stdin().read_line(&mut text).map_err(|error| error.to_string())?;
        if length == 0 || text.ends_with("\n\n") {
            break;
        }
    }
    let run = Arc::clone(run);
    thread::spawn(move || {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        run.other_lost(None)
    });
    Hosts::parse("standard input", &text).map_err(|error| error.to_string())
}

/// The processes that this one has started. Their standard input stays open until this process
/// ends.
#[derive(Default)]
struct ChildProcesses {
    all: Arc<Mutex<Vec<Child>>>,
    /// Whether all are connected. From then on, heartbeats notice when one ends.
    joined: Arc<AtomicBool>,
}

impl ChildProcesses {
    /// Starts all processes but process 0.
    fn start(
        run: &Arc<CubaRun>,
        hosts: &Hosts,
        arguments: &[Vec<OsString>],
        folder: Option<&Path>,
    ) -> Result<Self, String> {
        let children = Self::default();
        let this = std::env::current_exe().map_err(|error| error.to_string())?;
        for (arguments, process) in arguments.iter().zip(1..) {
            let mut command = Command::new(&this);
            command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null());
            if let Some(folder) = folder {
                command.current_dir(folder);
            }
            // Only process 0 receives Ctrl-C; it informs the others.
            #[cfg(unix)]
            std::os::unix::process::CommandExt::process_group(&mut command, 0);
            let started = command.spawn().and_then(|mut child| {
                let list = format!("{hosts}\n");
                child.stdin.as_mut().map_or(Ok(()), |stdin| stdin.write_all(list.as_bytes()))?;
                Ok(child)
            });
            lock(&children.all).push(started.map_err(|error| format!("cannot start process {process}: {error}"))?);
        }
        let (all, joined, run) = (children.all.clone(), children.joined.clone(), Arc::clone(run));
        thread::spawn(move || watch(&run, &all, &joined));
        Ok(children)
    }

    fn set_joined(&self) {
        self.joined.store(true, Ordering::Relaxed);
    }

    fn wait(&self) {
        for child in lock(&self.all).iter_mut() {
            // `Child::wait` would close the standard input.
            while let Ok(None) = child.try_wait() {
                thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

/// Ends the run if a child process ends before it is connected.
fn watch(run: &CubaRun, all: &Mutex<Vec<Child>>, joined: &AtomicBool) {
    while !joined.load(Ordering::Relaxed) {
        let ended = |(number, child): (usize, &mut Child)| Some((number, child.try_wait().ok().flatten()?));
        let ended = lock(all).iter_mut().enumerate().find_map(ended);
        if let Some((number, status)) = ended.filter(|_| !joined.load(Ordering::Relaxed)) {
            run.lost(&format!("process {} ended before the start ({status})", number + 1));
        }
        thread::sleep(Duration::from_millis(20));
    }
}
