//! Overapproximations of T(R), the visible states that are reachable with any number of contexts:
//! Z, matched-Z, Z_z and A_d (paper §4.1, and beyond it).
//!
//! In: a system, and limits. Out: sets of visible states that contain T(R), each with tuples of
//! stack languages for a certificate. The *ladder* orders the overapproximations. The *ceiling* is
//! the intersection of the computed ones.
//!
//! Z, matched-Z and Z_z cut off each stack at a height, and explore the resulting finite system.
//! A_d explores tuples of languages, and widens each language.

pub(crate) mod a_d;
pub(crate) mod ceiling;
pub(crate) mod cut_off_exploration;
pub(crate) mod cut_off_stacks;
pub(crate) mod cut_off_states;
pub(crate) mod emerging_symbols;
mod generators;
pub(crate) mod ladder;
pub(crate) mod z;
