//! certificate

pub(crate) mod tuples;
