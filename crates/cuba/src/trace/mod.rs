//! Finds traces: shortest paths to a bad state, split into contexts (paper §2.3).

pub mod backwards;
pub mod fewest_steps;
pub mod last_context;
pub mod thread_numbering;
