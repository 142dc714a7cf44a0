//! Context-unbounded analysis of concurrent pushdown systems: the command line and what is behind it.
//!
//! Data flows one way: text → [`cpds::Problem`] → (engines, to come) → report. Only [`cli`] reads files, prints or
//! decides about exit codes.

pub mod cli;
mod convert;
pub mod json;
mod load;
mod render;
mod show;
