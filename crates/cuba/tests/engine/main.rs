//! The engines against the oracle, the model collection, and each other.

mod artifact;
mod corpus;
mod laws;
mod limits;
