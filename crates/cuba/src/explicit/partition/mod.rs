//! The states of R_k in several parts, each explored by a worker in another process.
//!
//! In: an exploration, and the place of a part. Out: which part owns a state (`owner.rs`), the
//! states for the owners of other parts (`outbox.rs`), as blocks of bytes (`wire_format.rs`).
//! `distributed/` runs the workers.

pub(crate) mod outbox;
pub(crate) mod owner;
pub(crate) mod wire_format;
