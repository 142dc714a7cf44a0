//! trace

pub mod backwards;
pub mod fewest_steps;
pub mod last_context;
pub mod thread_numbering;
