//! The command line of cuba.
//!
//! In: the words of a command, and the files that they name. Out: text, JSON, HTML pages and
//! pictures. Data flows one way through the folders: `verbs` read `arguments`, call the library,
//! and pass its results as `analysis` to `text`, `json`, `html` and `pictures`. `running` has the
//! state of a run.

pub mod json;
pub mod running;
pub mod text;
pub mod verbs;

mod analysis;
mod arguments;
mod html;
mod pictures;
