//! For tests only: what every engine is measured against.
//!
//! - [`oracle`] computes R_k and T(R_k) straight from their definitions, [`overapproximation`] Z and G.
//! - [`random`] generates systems that shrink; [`renaming`] puts a system under other numbers.
//! - [`interpreter`] computes what a Boolean program does, straight from its description; [`programs`] generates programs.
//! - [`corpus`] reads `models/`: each model with its expected answers.
//! - [`families`] grow, with known sizes.
//! - [`artifact`] knows the paper's benchmark systems, where they are at hand.

pub mod artifact;
pub mod certificates;
pub mod corpus;
pub mod families;
pub mod interpreter;
pub mod oracle;
pub mod overapproximation;
pub mod programs;
pub mod random;
pub mod renaming;
