//! The settings of a run: its processes, the values on which they must agree, and time limits.

use std::time::Duration;

use crate::hosts::Hosts;

/// The default time limit for connecting all processes.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(60);
/// The default time without a heartbeat after which a process counts as lost.
pub const SILENCE_TIMEOUT: Duration = Duration::from_secs(15);

/// The processes of a run, and the values on which they must agree.
#[derive(Debug, Clone)]
pub struct Settings {
    /// All processes.
    pub hosts: Hosts,
    /// The number of this process.
    pub process: usize,
    /// The number of parts in each process; the same in all processes.
    pub jobs: usize,
    /// The values on which all processes must agree. Each has a few short words for the message
    /// about a mismatch (`another model`), and a hash.
    pub question: Vec<(String, u64)>,
    /// The time limit for connecting all processes.
    pub connect_timeout: Duration,
    /// The time without a heartbeat after which a process counts as lost.
    pub silence: Duration,
}

impl Settings {
    /// Returns settings with the default time limits.
    pub fn new(hosts: Hosts, process: usize, jobs: usize, question: Vec<(String, u64)>) -> Self {
        Self { hosts, process, jobs, question, connect_timeout: CONNECT_TIMEOUT, silence: SILENCE_TIMEOUT }
    }

    /// Returns the number of parts in all processes.
    pub fn parts(&self) -> usize {
        self.hosts.processes() * self.jobs
    }
}
