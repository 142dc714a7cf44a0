//! Visible states: T, the projection of a state to its shared state and the tops of its stacks
//! (§2.2).
//!
//! T(R_k) level by level; the bad patterns of a property; interchangeable threads, where one sorted
//! state stands for all that differ from it by permuting these threads; and exact numbers of
//! states.

pub(crate) mod bad_patterns;
pub(crate) mod count;
pub(crate) mod levels;
pub(crate) mod matching;
pub(crate) mod symmetry;
