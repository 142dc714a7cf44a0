//! The engines: what is reachable, what cannot be ruled out, and what follows from both.
//!
//! [`analysis`] is the way in. ARCHITECTURE.md says which file has which idea.

pub mod analysis;
mod bad;
mod count;
mod moves;
mod overapproximation;
mod packed;
mod reachable;
mod sequence;
mod stacks;
mod symmetry;
mod visible;
mod witness;

pub use count::Count;
pub use overapproximation::{Growing, Overapproximation, Progress};
pub use reachable::{Reachable, Unfinished};
pub use sequence::{ObservationSequence, Pause};
