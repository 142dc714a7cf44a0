//! Symbolic exploration: S_k and T(S_k), the levels of R_k as tuples of stack languages (paper §6,
//! App. E).
//!
//! In: a system. Out: for each k, the tuples ⟨q|L₁,…,Lₙ⟩ that stand for R_k, and their visible
//! states; and a trace to a bad state. `levels.rs` has the exploration. It uses the contexts of one
//! thread, computed by post\* (`thread_contexts.rs`), and a store for the tuples
//! (`tuple_store.rs`): a list or, for many unlike threads, decision diagrams.
//!
//! With widened languages, the same exploration computes A_d (`overapproximation/a_d.rs`).

pub(crate) mod diagram;
pub(crate) mod largest_tuples;
pub(crate) mod levels;
pub(crate) mod parallel_post_star;
pub(crate) mod projection;
pub(crate) mod state_growth;
pub(crate) mod thread_contexts;
pub(crate) mod trace_to_bad;
pub(crate) mod tuple_diagrams;
pub(crate) mod tuple_list;
pub(crate) mod tuple_store;
