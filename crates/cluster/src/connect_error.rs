//! The notes and the errors while the processes connect.

use std::fmt;
use std::io;
use std::time::Duration;

/// A message for the user while the processes connect.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Note {
    /// A process has not connected yet.
    Waiting {
        /// Its number.
        process: usize,
        /// Its address in the list.
        address: String,
    },
    /// A connection does not come from a process of this run.
    Dropped {
        /// Its address.
        from: String,
        /// The reason, as text.
        why: String,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Waiting { process, address } => write!(f, "waiting for process {process} at {address}"),
            Self::Dropped { from, why } => write!(f, "dropped a connection from {from}: {why}"),
        }
    }
}

/// Why the processes could not connect.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The settings are invalid.
    #[error("{0}")]
    Settings(String),
    /// This process cannot listen at its address.
    #[error(
        "cannot listen at {address}: {error}; check that this is the machine of process {process} and that the port is free"
    )]
    Listen {
        /// The address.
        address: String,
        /// The number of this process.
        process: usize,
        /// The error of the operating system.
        error: io::Error,
    },
    /// Two processes do not belong to the same run. The text names the difference.
    #[error("{0}")]
    Mismatch(String),
    /// A connected process has ended before the start.
    #[error("process {process} ({address}) has left before the start; see its own error message")]
    Left {
        /// Its number.
        process: usize,
        /// Its address in the list.
        address: String,
    },
    /// Some processes have not connected in time.
    #[error("{}", missing_processes(.0, *.1))]
    Missing(Vec<Missing>, Duration),
    /// An error of the operating system.
    #[error("cannot set up connections: {0}")]
    System(#[from] io::Error),
}

/// A process that has not connected.
#[derive(Debug)]
pub struct Missing {
    /// Its number.
    pub process: usize,
    /// Its address in the list.
    pub address: String,
    /// Its last known status, as text.
    pub status: String,
}

/// Returns the message about these processes.
fn missing_processes(missing: &[Missing], waited: Duration) -> String {
    let one = |missing: &Missing| format!("process {} at {} ({})", missing.process, missing.address, missing.status);
    let all = missing.iter().map(one).collect::<Vec<_>>().join(", ");
    format!("waited {} s for {all}", waited.as_secs())
}
