//! Text for users: numbers, states, traces, tables, verdicts, diagnostics, progress.
//!
//! In: data about a model or an analysis. Out: strings with colours, which `anstream` removes when
//! a run prints them to a file. The code here prints nothing.

pub mod diagnostics;
pub mod table;

pub(crate) mod file_names;
pub(crate) mod finding;
pub(crate) mod labels;
pub(crate) mod levels;
pub(crate) mod limits;
pub(crate) mod model_summary;
pub(crate) mod numbers;
pub(crate) mod overapproximations;
pub(crate) mod program_trace;
pub(crate) mod progress;
pub(crate) mod pumping_loop;
pub(crate) mod state_notation;
pub(crate) mod statistics;
pub(crate) mod style;
pub(crate) mod system_trace;
pub(crate) mod terminal;
pub(crate) mod verdict;
