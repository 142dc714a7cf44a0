//! distributed

pub mod coordinator;
pub mod worker;

pub use crate::explicit::partition::owner::Place;
pub use crate::explicit::partition::wire_format::{Malformed, Sent};
pub use coordinator::{Elsewhere, Interrupted, Shares, Supersteps, Together};
pub use worker::{Begin, Command, Counters, Failure, Reply, Seen, Share, Store, Word, WrittenWay};
