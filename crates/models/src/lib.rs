//! Collections of models: finds the models in a folder, and reads their expected answers.
//!
//! The expected answers are in a TOML file next to the model, with the same name. Only the
//! `verdict` is required:
//!
//! ```toml
//! verdict = "unsafe"
//! contexts = 5
//! ```
//!
//! A Boolean program may have several runs, which start it in different ways. Each is a `[[run]]`
//! with its threads and its answers. Keys before the first `[[run]]` hold for all runs.

mod expected;
mod find;
mod read;

pub use expected::{Collapse, Expected, Published, Run, Verdict};
pub use find::{below, find};
pub use read::{read, runs};
