//! explicit

pub mod frontier;
pub mod outbox;
pub mod parallel;
pub mod reachable;
pub mod stack_table;
pub mod state_table;
