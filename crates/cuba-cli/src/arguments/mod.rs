//! The words of a command, and the values that they stand for.

pub(crate) mod evidence;
pub(crate) mod model;
