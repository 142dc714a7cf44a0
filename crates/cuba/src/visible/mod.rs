//! visible

pub mod bad_patterns;
pub mod count;
pub mod levels;
pub mod matching;
pub mod symmetry;
