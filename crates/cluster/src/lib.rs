//! Many processes as one: supersteps on Timely Dataflow, between processes that find each other,
//! and notice when one is gone.
//!
//! The transport of a distributed run, which knows nothing of what is computed. In each process:
//!
//! 1. [`Hosts`] says where all processes are;
//! 2. [`connect`](connect::connect) brings them together, if they have the same question;
//! 3. [`coordinate`](supersteps::coordinate) in process 0, and [`run`](supersteps::run) in all
//!    others, do supersteps with a [`Part`] for each job.
//!
//! A process that is lost ends the run on all others: there is no answer from a part of them.
//! Nothing is encrypted, and nobody proves who they are: this is for networks that are trusted.

pub mod bytes;
pub mod connect;
mod hello;
pub mod hosts;
pub mod join;
mod parcel;
pub mod pulse;
pub mod supersteps;

pub use bytes::Bytes;
pub use connect::{ConnectError, Network, Note, Settings};
pub use hosts::{Hosts, HostsError};
pub use pulse::{Loss, Why};
pub use supersteps::{Coordinator, Part};
