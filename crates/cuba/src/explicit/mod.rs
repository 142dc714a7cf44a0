//! R_k and T(R_k), state by state.
//!
//! In: a system. Out: levels of states and of visible states (`reachable.rs`, `projection.rs`). One
//! core explores wave by wave (`exploration.rs`). Several cores explore in rounds
//! (`parallel_exploration.rs`, with the work of one worker in `parallel/`). Several processes store
//! one share of the states each (`part_exploration.rs`, with owners and blocks in `partition/`).
//! States, stacks and steps are numbers in tables (`tables/`).

mod expansion_counter;
mod exploration;
mod parallel;
mod parallel_exploration;
mod part_exploration;
pub(crate) mod partition;
pub(crate) mod projection;
pub(crate) mod reachable;
pub(crate) mod tables;
