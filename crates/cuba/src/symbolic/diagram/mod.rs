//! Sets of tuples of numbers as decision diagrams: tuples share what they have in common.
//!
//! A node stands for a set of tuples of the same length. It has an edge for each number with which a
//! tuple of the set begins, and the edge leads to the node of the rests behind this number. Two
//! nodes have no edges: the empty set, and the set with only the empty tuple. Nodes are stored once,
//! so equal sets are equal nodes, and the result of an operation on two nodes is computed once.
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
