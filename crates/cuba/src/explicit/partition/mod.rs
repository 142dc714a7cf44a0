//! The states of R_k in shares, each stored and explored by one part.
//!
//! In: states, and the number of a part. Out: which part owns a state (`owner.rs`), the
//! states for the owners of other parts (`outbox.rs`), as blocks of bytes (`wire_format.rs`).
//! `part_exploration.rs` explores one part; `distributed/` runs all parts.

pub(crate) mod outbox;
pub(crate) mod owner;
pub(crate) mod wire_format;
