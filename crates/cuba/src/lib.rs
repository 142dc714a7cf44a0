//! Context-unbounded analysis of concurrent pushdown systems: the command line and what is behind it.
//!
//! Data flows one way: text → [`cpds::Problem`] → (engines, to come) → report. `load` reads files, the verbs write
//! them, and [`cli`] prints and chooses the exit code.

pub mod cli;
mod convert;
pub mod engine;
pub mod json;
mod load;
mod render;
mod show;
