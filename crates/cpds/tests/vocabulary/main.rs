//! The formats of the crate, the models in the documentation, the imports between its rooms, and a
//! rule for all libraries.

mod documentation;
mod formats;
mod no_options;
mod rooms;
