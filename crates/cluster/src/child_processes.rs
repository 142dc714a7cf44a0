//! The processes that process 0 starts on this machine.
//!
//! Each child reads the list of processes from its standard input. Its standard input stays open
//! until this process ends, so the child notices the end of this process.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use cuba_cli::running::run::Run;

use crate::Hosts;
use crate::heartbeat::lock;

/// The child processes of this process.
#[derive(Default)]
pub(crate) struct ChildProcesses {
    all: Arc<Mutex<Vec<Child>>>,
    /// Whether all are connected. From then on, heartbeats notice when a child ends.
    joined: Arc<AtomicBool>,
}

impl ChildProcesses {
    /// Starts all processes except process 0.
    pub(crate) fn start(
        run: &Arc<Run>,
        hosts: &Hosts,
        arguments: &[Vec<OsString>],
        folder: Option<&Path>,
    ) -> Result<Self, String> {
        let children = Self::default();
        let this_program = std::env::current_exe().map_err(|error| error.to_string())?;
        for (arguments, process) in arguments.iter().zip(1..) {
            let mut command = Command::new(&this_program);
            command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null());
            if let Some(folder) = folder {
                command.current_dir(folder);
            }
            // Only process 0 receives Ctrl-C. It ends the others.
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

    /// Records that all children are connected.
    pub(crate) fn set_joined(&self) {
        self.joined.store(true, Ordering::Relaxed);
    }

    /// Waits until all children have ended.
    pub(crate) fn wait(&self) {
        for child in lock(&self.all).iter_mut() {
            // `Child::wait` would close the standard input.
            while let Ok(None) = child.try_wait() {
                thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

/// Ends the run if a child process ends before it is connected.
fn watch(run: &Run, all: &Mutex<Vec<Child>>, joined: &AtomicBool) {
    while !joined.load(Ordering::Relaxed) {
        let ended = |(number, child): (usize, &mut Child)| Some((number, child.try_wait().ok().flatten()?));
        let ended = lock(all).iter_mut().enumerate().find_map(ended);
        if let Some((number, status)) = ended.filter(|_| !joined.load(Ordering::Relaxed)) {
            run.lost(&format!("process {} ended before the start ({status})", number + 1));
        }
        thread::sleep(Duration::from_millis(20));
    }
}
