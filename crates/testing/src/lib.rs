//! For tests only: what every engine is measured against.
//!
//! - [`oracle`] computes R_k and T(R_k) straight from their definitions, [`bounded`] as far as
//!   there is room, [`overapproximation`] Z and G.
//! - [`contexts`] says for which k R_k is finite.
//! - [`shortest`] computes how few steps lead to a bad state.
//! - [`random`] generates systems that shrink; [`renaming`] puts a system under other numbers.
//! - [`interpreter`] computes what a Boolean program does, straight from its description;
//!   [`programs`] generates programs, [`lowering`] compares a program with its system.
//! - [`corpus`] reads `models/`: each model with its expected answers.
//! - [`families`] grow, with known sizes; [`unlike`] in threads of which no two are
//!   interchangeable.
//! - [`skipped`] lists the tests that cannot run.
//! - [`rooms`] finds cycles of imports between the folders of a crate.
//! - [`artifact`] knows the paper's benchmark systems, where they are at hand.

pub mod artifact;
pub mod bounded;
pub mod certificates;
pub mod contexts;
pub mod corpus;
pub mod families;
pub mod interpreter;
pub mod lowering;
pub mod oracle;
pub mod overapproximation;
pub mod programs;
pub mod random;
pub mod renaming;
pub mod rooms;
pub mod shortest;
pub mod skipped;
pub mod unlike;
