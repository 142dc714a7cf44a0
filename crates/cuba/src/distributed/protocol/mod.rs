//! The protocol between the coordinator and the shares.
//!
//! In: a command of the coordinator (`messages.rs`). Out: the replies of all shares, after one
//! superstep (`supersteps.rs`).

pub mod messages;
pub mod supersteps;
