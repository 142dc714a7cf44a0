//! R_k and T(R_k), state by state.
//!
//! In: a system. Out: levels of states and of visible states (`reachable.rs`). One core explores
//! wave by wave (`exploration.rs`, `wave.rs`), several cores in rounds (`parallel/`), and several
//! processes have one part of the states each (`partition/`). States and stacks are numbers in
//! tables (`state_table.rs`, `stack_table.rs`).

mod exploration;
pub(crate) mod parallel;
pub(crate) mod partition;
pub(crate) mod reachable;
pub(crate) mod stack_table;
mod state_index;
mod state_table;
pub(crate) mod system_ref;
mod wave;
