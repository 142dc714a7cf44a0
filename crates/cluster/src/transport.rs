//! The [`Transport`] of cuba for many processes.
//!
//! Each process runs some parts, and each part stores one share of the states. In: a request to
//! join a run. Out: in process 0, access to the shares of all processes; in the others, the end of
//! the run.

use std::convert::Infallible;
use std::io;
use std::sync::{Arc, Mutex};
use std::thread;

use cuba::distributed::{Command, Failure, Reply, Share, Supersteps};
use cuba_cli::running::cluster::{ClusterEnd, ClusterProcesses, JoinOutcome, JoinRequest, ProcessLocation, Transport};
use cuba_cli::running::run::Run;
use serde::{Deserialize, Serialize};

use crate::child_processes::ChildProcesses;
use crate::connect_error::Note;
use crate::heartbeat::lock;
use crate::supersteps::{coordinate, run};
use crate::{Bytes, Coordinator, Hosts, Loss, Part, Settings, connect};

/// A command from process 0 to all parts.
#[derive(Clone, Serialize, Deserialize)]
pub enum ClusterCommand {
    /// Run this command in all shares.
    Run(Command),
    /// End the run: the exit code, and whether no later run continues this one.
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
        command: ClusterCommand,
        received: Vec<(usize, Bytes)>,
        send: &mut dyn FnMut(usize, Bytes),
    ) -> Reply {
        let ClusterCommand::Run(command) = command else { return Reply::Failed(Failure::Command) };
        let received = received.into_iter().map(|(from, Bytes(block))| (from, block)).collect();
        self.0.step(command, received, &mut |to, block| send(to, Bytes(block)))
    }
}

/// Runs cuba in many processes.
pub struct ClusterTransport;

impl Transport for ClusterTransport {
    fn join(&self, request: JoinRequest) -> Result<JoinOutcome, String> {
        let JoinRequest { location, jobs, question, share, quiet, run: this_run } = request;
        let (hosts, process) = match &location {
            ProcessLocation::Listed { file, process } => {
                (Hosts::read(file).map_err(|error| error.to_string())?, *process)
            }
            ProcessLocation::Here { arguments, .. } => {
                (Hosts::local(1 + arguments.len()).map_err(|error| error.to_string())?, 0)
            }
            ProcessLocation::Started { process } => (hosts_from_stdin(&this_run)?, *process),
        };
        // The process that has started this one reports the loss of other processes.
        let is_silent = matches!(location, ProcessLocation::Started { .. });
        let children = match location {
            ProcessLocation::Here { arguments, folder } => {
                ChildProcesses::start(&this_run, &hosts, &arguments, folder.as_deref())?
            }
            _ => ChildProcesses::default(),
        };
        let mut note = |note: &Note| {
            if !quiet {
                this_run.remark(&format!("note: {note}\n"));
            }
        };
        let connected = connect::connect(Settings::new(hosts, process, jobs, question), &mut note);
        let network = connected.map_err(|error| error.to_string())?;
        children.set_joined();
        let make = move |part, parts| SharePart(share(part, parts));
        let reporter = Arc::clone(&this_run);
        let lost = move |loss: &Loss| -> Infallible {
            let text = loss.to_string();
            if process == 0 { reporter.lost(&text) } else { reporter.other_lost(Some(&*text).filter(|_| !is_silent)) }
        };
        if process > 0 {
            let command = run::<SharePart>(network, make, lost).map_err(|error| error.to_string())?;
            let ClusterCommand::End(code, is_done) = command else { unreachable!("the last command is `End`") };
            return Ok(JoinOutcome::Ended(ClusterEnd { code, is_done }));
        }
        let coordinator = coordinate::<SharePart>(network, make, lost).map_err(|error| error.to_string())?;
        let parts = coordinator.parts();
        let coordinator = Mutex::new(Some(coordinator));
        Ok(JoinOutcome::Coordinator(Arc::new(AllProcesses {
            run: this_run,
            coordinator,
            parts,
            local_parts: jobs,
            children,
        })))
    }
}

/// The shares of all processes, controlled by process 0.
struct AllProcesses {
    run: Arc<Run>,
    coordinator: Mutex<Option<Coordinator<SharePart>>>,
    parts: usize,
    local_parts: usize,
    children: ChildProcesses,
}

impl Supersteps for AllProcesses {
    fn parts(&self) -> usize {
        self.parts
    }

    fn local_parts(&self) -> usize {
        self.local_parts
    }

    fn superstep(&self, command: Command) -> Vec<Reply> {
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

/// Reads the list of processes from standard input. The process that has started this one writes
/// it. When that process ends, standard input ends, and this process ends too.
fn hosts_from_stdin(run: &Arc<Run>) -> Result<Hosts, String> {
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
