//! A model, its analysis, and the limits of the run, as data.
//!
//! In: results of the library. Out: data for all other folders. The code here makes no texts, reads
//! no files, and prints nothing.

pub(crate) mod exploration;
pub(crate) mod fcr_answer;
pub(crate) mod finding;
pub(crate) mod limits;
pub(crate) mod model;
pub(crate) mod phase;
pub(crate) mod summary;
