//! Certificates: tuples of stack languages that prove which states are unreachable.
//!
//! In: the result of a search, as tuples: R_k, S_k, an overapproximation, or an intersection of
//! these. Out: a certificate for `cpds-check` with few tuples and a minimal automaton.

mod intersection;
mod merging;
mod numbering;
pub(crate) mod revealed_symbols;
pub(crate) mod room;
pub(crate) mod tuples;
