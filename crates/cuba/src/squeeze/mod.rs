//! The squeeze: T(R_k) grows from below, overapproximations shrink from above (paper, Alg. 3).
//!
//! In: a problem, a question, options. Out: an [`Analysis`](analysis::Analysis) with a conclusion.
//! The lower search computes levels, and the upper search computes rungs of the ladder. Either
//! search may answer alone, or both together. They run side by side. Their amounts of work decide
//! which search was first, so each run with the same input reports the same.

pub(crate) mod analysis;
mod both_searches;
pub mod checkpoint;
mod conclude;
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
mod saved_search;
pub(crate) mod search;
mod upper_search;
mod work_clock;

pub use race::Side;
