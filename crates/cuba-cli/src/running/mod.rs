//! A run of a command: its console, limits, signals, checkpoints, crash reports and files.
//!
//! In: the words of a command and its streams. Out: a [`run::Run`], which every verb gets and
//! passes on. It has all state of a run; only the panic hook (`panic_hook.rs`) and the signal
//! handler (`signals.rs`) are global.

pub mod cluster;
pub mod console;
pub mod machine;
pub mod run;

pub(crate) mod answer;
pub(crate) mod checkpoint;
pub(crate) mod child_processes;
pub(crate) mod crash_report;
pub(crate) mod faults;
pub(crate) mod guard;
pub(crate) mod lock;
pub(crate) mod output_files;
pub(crate) mod output_paths;
pub(crate) mod panic_hook;
pub(crate) mod progress;
pub(crate) mod signals;
