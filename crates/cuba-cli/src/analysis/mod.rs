//! A model, its analysis, and the limits of the run, as data.
//!
//! All other folders read this data. It has no words, reads no files, and prints nothing.

pub(crate) mod exploration;
pub(crate) mod fcr_answer;
pub(crate) mod finding;
pub(crate) mod limits;
pub(crate) mod model;
pub(crate) mod phase;
pub(crate) mod summary;
