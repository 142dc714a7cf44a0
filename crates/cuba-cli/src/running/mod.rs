//! A run: what it may take, what ends it, and what it leaves behind.

pub mod cluster;
pub mod machine;
pub mod panic_hook;

pub(crate) mod checkpoint;
pub(crate) mod crash_report;
pub(crate) mod faults;
pub(crate) mod interim_results;
pub(crate) mod limits;
pub(crate) mod output_files;
pub(crate) mod progress;
pub(crate) mod signals;
