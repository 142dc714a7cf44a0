//! Runs one analysis in many processes, in supersteps on Timely Dataflow.
//!
//! Only [`transport`] depends on the analysis. In each process:
//!
//! 1. [`Hosts`] lists the addresses of all processes;
//! 2. [`connect`](connect::connect) connects the processes, and checks that all have the same
//!    question;
//! 3. [`coordinate`](supersteps::coordinate) in process 0, and [`run`](supersteps::run) in all
//!    others, run supersteps with one [`Part`] for each worker.
//!
//! If one process is lost, the run ends in all others, without an answer.
//! Connections are neither encrypted nor authenticated: use trusted networks only.

pub mod bytes;
mod child_processes;
pub mod connect;
pub mod connect_error;
mod data_connection;
mod dataflow;
mod envelope;
mod handshake;
pub mod heartbeat;
pub mod hosts;
mod part;
pub mod settings;
mod start_barrier;
pub mod supersteps;
pub mod transport;

pub use bytes::Bytes;
pub use connect::Network;
pub use connect_error::{ConnectError, Note};
pub use heartbeat::{Loss, LossReason};
pub use hosts::{Hosts, HostsError};
pub use part::Part;
pub use settings::Settings;
pub use supersteps::Coordinator;
