//! The formats of the crate, families of systems, the models in the documentation, the imports
//! between its rooms, and a rule for all libraries.

mod documentation;
mod families;
mod formats;
mod no_options;
mod rooms;
