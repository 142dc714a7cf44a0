//! What is written for people to read.

pub mod diagnostics;

pub(crate) mod numbers;
pub(crate) mod program_trace;
pub(crate) mod state_notation;
pub(crate) mod style;
pub(crate) mod system_trace;
pub(crate) mod terminal;
