//! Certificates: tuples of stack languages that prove which states are unreachable.
//!
//! In: the result of a search, as tuples: R_k, S_k, an overapproximation, or an intersection of
//! these. Out: a certificate for `cpds-check`, with few tuples and a minimal automaton; and the
//! symbols that a pop may reveal in the states of a certificate.

mod intersection;
pub(crate) mod limits;
mod merging;
mod numbering;
pub(crate) mod revealed_symbols;
pub(crate) mod tuples;
