//! Runs one analysis in many processes, in supersteps on Timely Dataflow.
//!
//! Except for [`transport`], this crate does not depend on what is computed. In each process:
//!
//! 1. [`Hosts`] lists the addresses of all processes;
//! 2. [`connect`](connect::connect) connects the processes, if all have the same question;
//! 3. [`coordinate`](supersteps::coordinate) in process 0, and [`run`](supersteps::run) in all
//!    others, run supersteps with one [`Part`] for each job.
//!
//! The loss of one process ends the run in all others: there is no answer from some of them.
//! Connections are neither encrypted nor authenticated: use trusted networks only.

pub mod bytes;
pub mod connect;
mod data_connection;
mod envelope;
mod gathering;
mod handshake;
pub mod heartbeat;
pub mod hosts;
pub mod supersteps;
pub mod transport;

pub use bytes::Bytes;
pub use connect::{ConnectError, Network, Note, Settings};
pub use heartbeat::{Loss, LossReason};
pub use hosts::{Hosts, HostsError};
pub use supersteps::{Coordinator, Part};
