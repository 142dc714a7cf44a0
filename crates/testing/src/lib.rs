//! For tests only: what every engine is measured against.
//!
//! - [`oracle`] computes R_k and T(R_k) straight from their definitions.
//! - [`random`] generates systems that shrink.
//! - [`corpus`] reads `models/`: each model with its expected answers.

pub mod corpus;
pub mod oracle;
pub mod random;
