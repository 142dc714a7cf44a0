//! The verbs: one file for each command.
//!
//! In: the options of the verb and a [`Run`](crate::running::run::Run). Out: an `Answer`
//! (`running/answer.rs`), which `command_line` prints.

pub mod command_line;

pub(crate) mod bench;
pub(crate) mod convert;
pub(crate) mod evidence_files;
pub(crate) mod exploration;
pub(crate) mod fcr;
pub(crate) mod generate;
pub(crate) mod interim_results;
pub(crate) mod reach;
pub(crate) mod resume;
pub(crate) mod show;
pub(crate) mod verify;
