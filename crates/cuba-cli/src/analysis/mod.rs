//! What is known of a model and of its analysis, as data.

pub(crate) mod finding;
pub(crate) mod summary;
