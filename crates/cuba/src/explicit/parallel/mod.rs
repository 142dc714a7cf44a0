//! Expansion of the pairs of a wave by several workers, with the result of one worker.
//!
//! `rounds.rs` has the phases of a round. A *piece* (`piece.rs`) is a part of the pairs; a *group*
//! (`group.rs`) is some shards of the index. `marks.rs` numbers the new states. `busy_workers.rs`
//! keeps worker threads busy between phases.

mod busy_workers;
mod group;
mod marks;
mod piece;
pub(crate) mod rounds;
