//! Sets of tuples of numbers as decision diagrams, in which tuples share common parts.
//!
//! A node stands for a set of tuples of the same length. It has an edge for each number with which
//! a tuple of the set begins. The edge leads to the node of the *rests*: the parts of these tuples
//! behind the number. Two nodes have no edges: the empty set, and the set with only the empty
//! tuple. Each node is stored once, so equal sets are equal nodes. The result of an operation on
//! two nodes is computed once.
//!
//! In: tuples, and sets of edges. Out: nodes; union, difference and coverage (`operations.rs`);
//! counts, lists and searches (`queries.rs`).
//!
//! (Multi-valued decision diagrams, without skipped levels: Srinivasan, Kam, Malik and Brayton,
//! 1990.)

pub(crate) mod nodes;
pub(crate) mod operations;
mod queries;

#[cfg(test)]
mod tests;
