//! The squeeze: T(R_k) grows from below, overapproximations shrink from above (paper, Alg. 3).
//!
//! In: a problem, a question, options. Out: an [`Analysis`](analysis::Analysis) with a conclusion.
//! Two searches work side by side, and the work that each has done decides which was first, so that
//! every run with the same input reports the same. The lower search computes levels, the upper one
//! rungs of the ladder; either may answer alone, or both together.

pub(crate) mod analysis;
pub mod checkpoint;
mod conclude;
mod context;
pub(crate) mod event;
pub(crate) mod level_store;
mod lower_search;
pub(crate) mod observation_sequence;
mod proof;
pub(crate) mod question;
mod race;
mod rung_computation;
mod rung_order;
pub(crate) mod rung_outcome;
pub(crate) mod search;
mod upper_search;
mod work_clock;

pub use race::Side;
