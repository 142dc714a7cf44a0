//! Visible states: T, the projection of a state to its shared state and the tops of its stacks
//! (§2.2).
//!
//! T(R_k) level by level; the bad patterns of a property; interchangeable threads, where one sorted
//! state stands for all that differ from it by permuting these threads; and exact numbers of
//! states.

pub mod bad_patterns;
pub mod count;
pub mod levels;
pub mod matching;
pub mod symmetry;
