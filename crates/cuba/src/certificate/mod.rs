//! certificate

pub mod tuples;
