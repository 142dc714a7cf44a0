//! Visible states: T, the projection of a state to its shared state and the tops of its stacks
//! (§2.2).
//!
//! In: visible states, as a search reaches them. Out: the levels of (T(R_k)), with exact numbers of
//! states; and the states that fit a bad pattern. With interchangeable threads, one sorted state
//! stands for its orbit.

pub(crate) mod bad_patterns;
pub(crate) mod count;
pub(crate) mod levels;
pub(crate) mod matching;
pub(crate) mod symmetry;
