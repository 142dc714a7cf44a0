//! overapproximation

pub mod abstraction;
pub mod cut_off_stacks;
pub mod ladder;
pub mod remaining;
pub mod returns;
pub mod z;
