//! Pictures: store automata, loops, the graph of visible states, and the chart of the squeeze.
//!
//! In: an analysis or an automaton. Out: text for Graphviz, or SVG.

pub(crate) mod automaton;
pub(crate) mod chart;
pub(crate) mod layout;
pub(crate) mod picture;
pub(crate) mod pumping_loop;
pub(crate) mod svg;
pub(crate) mod visible_graph;
