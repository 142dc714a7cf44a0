//! explicit

pub(crate) mod frontier;
pub(crate) mod outbox;
pub(crate) mod parallel;
pub(crate) mod reachable;
pub(crate) mod stack_table;
pub(crate) mod state_table;
