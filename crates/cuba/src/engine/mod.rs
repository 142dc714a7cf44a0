//! The engines: what is reachable, what cannot be ruled out, and what follows from both.
//!
//! [`analysis`] is the way in. ARCHITECTURE.md says which file has which idea.

mod acceptance;
pub mod analysis;
mod bad;
mod count;
mod covering;
mod fcr;
mod heads;
mod language;
mod languages;
mod lower;
mod matching;
mod minimal;
mod moves;
mod overapproximation;
mod packed;
mod psa;
mod reachable;
mod reached_by;
mod run;
mod sequence;
mod stacks;
mod symbolic;
mod symbolic_witness;
mod symmetry;
mod tops;
mod union;
mod visible;
mod witness;

pub use count::Count;
pub use fcr::{Fcr, Loop};
pub use heads::Heads;
pub use languages::{LanguageId, Languages};
pub use lower::{Engine, Glimpse, Lower};
pub use overapproximation::{Growing, Overapproximation, Progress};
pub use psa::{Inner, Made, Psa, PsaState, TooLarge};
pub use reachable::Reachable;
pub use run::Run;
pub use sequence::{ObservationSequence, Pause};
pub use symbolic::{Symbolic, SymbolicOptions, Unfinished};
pub use visible::VisibleLevels;
