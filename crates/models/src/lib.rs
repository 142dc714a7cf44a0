//! Collections of models: which there are below a folder, and what is expected of each.
//!
//! The expected answers stand in a TOML file beside the model, of the same name. Nothing but the
//! `verdict` is needed:
//!
//! ```toml
//! verdict = "unsafe"
//! contexts = 5
//! ```
//!
//! A Boolean program may be started in several ways; each is a `[[run]]`, with what it is started
//! with and the answers then. What stands before the runs is said of all.

mod expected;
mod find;
mod read;

pub use expected::{Collapse, Expected, Published, Run, Verdict};
pub use find::{below, find};
pub use read::{read, runs};
