//! The formats of the crate, the models in the documentation, and a rule for all libraries.

mod documentation;
mod formats;
mod no_options;
