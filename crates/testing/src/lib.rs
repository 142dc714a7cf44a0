//! For tests only: naive computations, generators and collections with which tests compare the
//! engines.
//!
//! Naive computations, each directly from the definition:
//!
//! - [`oracle`] computes R_k and T(R_k).
//! - [`bounded`] computes R_k and T(R_k) within limits, for many systems.
//! - [`overapproximation`] computes Z, Z_z and the generators.
//! - [`contexts`] computes for which k R_k is finite.
//! - [`shortest`] computes the length of a shortest path to a bad state.
//! - [`certificates`] tests the conditions on a certificate, and changes evidence.
//! - [`interpreter`] computes the reachable states of a Boolean program.
//! - [`lowering`] compares a Boolean program with its system.
//!
//! Generators:
//!
//! - [`random`] generates systems, and [`programs`] generates Boolean programs. Both shrink.
//! - [`renaming`] gives other numbers to the threads, shared states and symbols of a system.
//! - [`families`] and [`unlike`] make systems of any size with known results. In those of
//!   [`unlike`], no two threads are interchangeable.
//!
//! Collections:
//!
//! - [`corpus`] reads `models/`: each model with its expected answers.
//! - [`artifact`] reads the paper's benchmark systems, if the machine has them.
//!
//! For all tests:
//!
//! - [`skipped`] lists the tests that cannot run.
//! - [`rooms`] finds cycles of imports between the folders of a crate, at any depth.

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
