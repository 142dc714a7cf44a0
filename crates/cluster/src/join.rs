//! cuba's [`Transport`]: in each process some shares of the states, as parts of supersteps.

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use cuba::distributed::{Command as ToShares, Failure, Reply, Share, Supersteps};
use cuba_cli::running::cluster::{End, JoinRequest, Joined, Others, Transport, Where};
use cuba_cli::running::run::Run as CubaRun;
use serde::{Deserialize, Serialize};

use crate::pulse::lock;
use crate::supersteps::{coordinate, run};
use crate::{Bytes, Coordinator, Hosts, Loss, Part, Settings, connect};

/// What process 0 says to all.
#[derive(Clone, Serialize, Deserialize)]
pub enum Order {
    /// To all shares.
    Do(ToShares),
    /// Everything is over: the exit code, and whether nobody will go on.
    End(u8, bool),
}

/// One share of the states.
struct Shared(Share<'static>);

impl Part for Shared {
    type Command = Order;
    type Block = Bytes;
    type Reply = Reply;

    fn step(&mut self, order: Order, received: Vec<(usize, Bytes)>, send: &mut dyn FnMut(usize, Bytes)) -> Reply {
        let Order::Do(command) = order else { return Reply::Failed(Failure::Command) };
        let received = received.into_iter().map(|(from, Bytes(block))| (from, block)).collect();
        self.0.step(command, received, &mut |to, block| send(to, Bytes(block)))
    }
}

/// Connections between processes.
pub struct Network;

impl Transport for Network {
    fn join(&self, request: JoinRequest) -> Result<Joined, String> {
        let JoinRequest { r#where, jobs, question, share, quiet, run: this } = request;
        let (hosts, process) = match &r#where {
            Where::Listed { file, process } => (Hosts::read(file).map_err(|error| error.to_string())?, *process),
            Where::Here { arguments, .. } => (Hosts::local(1 + arguments.len()).map_err(|error| error.to_string())?, 0),
            Where::Started { process } => (from_stdin(&this)?, *process),
        };
        // The process that started this one prints what became of others.
        let is_silent = matches!(r#where, Where::Started { .. });
        let children = match r#where {
            Where::Here { arguments, folder } => Children::start(&this, &hosts, &arguments, folder.as_deref())?,
            _ => Children::default(),
        };
        let mut note = |note: &crate::Note| {
            if !quiet {
                this.remark(&format!("note: {note}\n"));
            }
        };
        let connected = connect::connect(Settings::new(hosts, process, jobs, question), &mut note);
        let network = connected.map_err(|error| error.to_string())?;
        children.have_joined();
        let make = move |part, parts| Shared(share(part, parts));
        let of_lost = Arc::clone(&this);
        let lost = move |loss: &Loss| -> i32 {
            let what = loss.to_string();
            if process == 0 { of_lost.lost(&what) } else { of_lost.other_lost(Some(&*what).filter(|_| !is_silent)) }
        };
        if process > 0 {
            let last = run::<Shared>(network, make, lost).map_err(|error| error.to_string())?;
            let Order::End(code, is_done) = last else { unreachable!("the last order is the end") };
            return Ok(Joined::Over(End { code, is_done }));
        }
        let coordinator = coordinate::<Shared>(network, make, lost).map_err(|error| error.to_string())?;
        let parts = coordinator.parts();
        let coordinator = Mutex::new(Some(coordinator));
        Ok(Joined::First(Arc::new(Everyone { run: this, coordinator, parts, here: jobs, children })))
    }
}

/// All processes, as process 0 sees them.
struct Everyone {
    run: Arc<CubaRun>,
    coordinator: Mutex<Option<Coordinator<Shared>>>,
    parts: usize,
    here: usize,
    children: Children,
}

impl Supersteps for Everyone {
    fn parts(&self) -> usize {
        self.parts
    }

    fn here(&self) -> usize {
        self.here
    }

    fn superstep(&self, command: ToShares) -> Vec<Reply> {
        match &mut *lock(&self.coordinator) {
            Some(coordinator) => coordinator.superstep(Order::Do(command)),
            None => vec![Reply::Failed(Failure::Command)],
        }
    }

    fn give_up(&self, why: &Failure) {
        // The others hear that this process is gone.
        drop(lock(&self.coordinator).take());
        self.run.lost(&why.to_string())
    }
}

impl Others for Everyone {
    fn finish(&self, End { code, is_done }: End) {
        if let Some(coordinator) = lock(&self.coordinator).take() {
            coordinator.finish(Order::End(code, is_done));
        }
        self.children.wait();
    }
}

/// The processes, as the one that has started this one lists them. If it ends, so does this one.
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

/// Processes that this one has started. Their standard input stays open as long as this one is
/// there.
#[derive(Default)]
struct Children {
    all: Arc<Mutex<Vec<Child>>>,
    /// Whether all are connected. From then on, who ends is lost.
    joined: Arc<AtomicBool>,
}

impl Children {
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
            // Ctrl-C is for process 0, which tells the others.
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

    fn have_joined(&self) {
        self.joined.store(true, Ordering::Relaxed);
    }

    fn wait(&self) {
        for child in lock(&self.all).iter_mut() {
            // `wait` would close its standard input.
            while let Ok(None) = child.try_wait() {
                thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

/// Whether one ends before it was connected: then there is no need to wait for it.
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
