//! The squeeze: T(R_k) grows from below, overapproximations shrink from above (paper, Alg. 3).
//!
//! In: a problem, a question, options. Out: an [`Analysis`](analysis::Analysis) with a conclusion.
//! Two searches work side by side, and the work that each has done decides which was first, so that
//! every run with the same input reports the same. The lower search computes levels, the upper one
//! rungs of the ladder; either may answer alone, or both together.

pub mod analysis;
pub mod checkpoint;
mod conclude;
mod context;
pub mod event;
pub mod level_store;
mod lower_search;
pub mod observation_sequence;
mod proof;
pub mod question;
mod race;
mod rung_order;
pub mod rung_outcome;
pub mod search;
mod upper_search;
mod work_clock;

pub use race::Side;
