//! The HTML report of `--report`.
//!
//! In: an analysis, its model, and its chart as SVG. Out: one HTML file that needs no other.

pub(crate) mod data;
pub(crate) mod page;
