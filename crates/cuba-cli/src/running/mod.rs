//! A run of a command: where it prints, what it may take, what ends it, and what it leaves behind.
//!
//! In: the words of a command and its streams. Out: a [`run::Run`], which every verb gets and
//! passes on. There is no state outside of it; only the panic hook is global (`panic_hook.rs`).

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
pub(crate) mod interim_results;
pub(crate) mod lock;
pub(crate) mod output_files;
pub(crate) mod output_paths;
pub(crate) mod panic_hook;
pub(crate) mod progress;
pub(crate) mod signals;
