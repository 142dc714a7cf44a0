//! The child processes of a run.

use crate::running::lock::lock;
use std::io;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};

/// The processes that are running.
#[derive(Default)]
pub(crate) struct ChildProcesses(Mutex<Vec<Arc<Mutex<Child>>>>);

impl ChildProcesses {
    /// Starts a process.
    pub(crate) fn start(&self, command: &mut Command) -> io::Result<Arc<Mutex<Child>>> {
        // The lock is taken before the start, so that no process starts while another thread ends
        // all processes.
        let mut running = lock(&self.0);
        let child = Arc::new(Mutex::new(command.spawn()?));
        running.push(Arc::clone(&child));
        Ok(child)
    }

    /// Removes a process that has ended.
    pub(crate) fn forget(&self, child: &Arc<Mutex<Child>>) {
        lock(&self.0).retain(|running| !Arc::ptr_eq(running, child));
    }

    /// Ends all child processes before this process ends. After that, no child process can start.
    pub(crate) fn abandon(&self) {
        let running = lock(&self.0);
        for child in &*running {
            end(&mut lock(child));
        }
        std::mem::forget(running);
    }
}

/// Ends a process and waits until it has ended.
pub(crate) fn end(child: &mut Child) {
    let _ = child.kill(); // it may have ended already
    let _ = child.wait();
}
