//! R_k with its states in shares, one for each part of a run in many processes.
//!
//! All parts work in *supersteps*: each part runs the same command on its share, and the blocks
//! that it sends arrive before the next superstep. One coordinator in process 0 decides the
//! commands.
//!
//! In: a system, and an implementation of [`Supersteps`] that runs the parts. Out: levels, visible
//! states and traces, equal to those of one exploration in one process.
//!
//! | file | content |
//! |---|---|
//! | `coordinator` | the levels and waves of R_k; traces and states from all shares |
//! | `share` | one share of the states; the replies to the commands |
//! | `protocol` | the commands and the replies; the interface that runs one superstep of all shares |
//! | `single_process` | an implementation of this interface without other processes |

pub mod coordinator;
pub mod protocol;
pub mod share;
pub mod single_process;
#[cfg(test)]
mod tests;

pub use crate::explicit::partition::owner::PartId;
pub use crate::explicit::partition::wire_format::{Malformed, Sent};
pub use crate::explicit::tables::system_ref::SystemRef;
pub use coordinator::{Interrupted, Shares};
pub use protocol::messages::{Begin, Command, Counters, Failure, LastContextMessage, Reply, ShareProgress, Word};
pub use protocol::supersteps::{Elsewhere, Supersteps};
pub use share::Share;
pub use share::checkpoint::ShareStore;
pub use single_process::SingleProcess;
