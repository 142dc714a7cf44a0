//! Graphs and charts.

pub(crate) mod automaton;
pub(crate) mod chart;
pub(crate) mod layout;
pub(crate) mod picture;
pub(crate) mod pumping_loop;
pub(crate) mod svg;
pub(crate) mod visible_graph;
