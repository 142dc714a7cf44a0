//! The tables of R_k: states, stacks, steps of threads, and the pairs that are not expanded yet.
//!
//! In: numbers of shared states, symbols and programs. Out: each stack and each state stored once
//! (`stack_table.rs`, `state_table.rs` with its index `state_index.rs`), each step computed once
//! (`step_table.rs`), and the pairs of a wave in order (`frontier.rs`). No file here explores.

pub(crate) mod frontier;
pub(crate) mod stack_table;
pub(in crate::explicit) mod state_index;
pub(crate) mod state_table;
pub(in crate::explicit) mod step_table;
pub(crate) mod system_ref;
