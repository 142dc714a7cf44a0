//! Expansion of the pairs of a wave by several workers, with the result of one worker.
//!
//! In: the pairs of a round and the tables of the exploration. Out: the new states in these tables,
//! with the same numbers as from one worker.
//!
//! `explicit/parallel_exploration.rs` has the phases of a round. A *piece* (`piece.rs`) is a part
//! of the pairs; a *group of shards* (`shard_group.rs`) is some shards of the index. `marks.rs`
//! numbers the new states. `rounds.rs` keeps the buffers, and `busy_workers.rs` keeps worker
//! threads busy between phases.

pub(in crate::explicit) mod busy_workers;
pub(in crate::explicit) mod marks;
pub(in crate::explicit) mod piece;
pub(in crate::explicit) mod rounds;
pub(in crate::explicit) mod shard_group;
