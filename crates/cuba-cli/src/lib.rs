//! Context-unbounded analysis of concurrent pushdown systems: the command line and what is behind it.
//!
//! Data flows one way: text → [`cpds::Problem`] → [`engine`] → report. `load` reads files, the verbs write them, and [`cli`]
//! prints and chooses the exit code. Engines know no report: they answer with data, and send events while they work.

mod automaton;
mod bench;
mod bundle;
mod chart;
mod checkpoint;
pub mod cli;
pub mod cluster;
mod convert;
mod evidence;
mod explore;
mod fault;
mod fcr;
mod found;
mod generate;
mod graph;
mod interrupt;
pub mod json;
mod known;
mod limits;
mod load;
pub mod machine;
mod numbers;
mod outline;
mod output;
pub mod panics;
mod picture;
mod progress;
mod reach;
pub mod render;
mod report;
mod resume;
mod show;
mod source;
mod style;
mod terminal;
mod trace;
mod verify;
mod words;
