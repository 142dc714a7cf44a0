//! The engines: what is reachable, what cannot be ruled out, and what follows from both.
//!
//! | file | idea |
//! |---|---|
//! | `sequence.rs` | observation sequences: plateau, stutter, collapse (§3) |
//! | `reachable.rs` | R_k and T(R_k), level by level |
//! | `overapproximation.rs` | E, M^n, Z, G (§4.1) |
//! | `analysis.rs` | Scheme 1 and Alg. 3 as two observers of one exploration |
//! | `witness.rs` | a trace to a state of a level |
//! | `symmetry.rs`, `bad.rs` | states up to permuting interchangeable threads; bad patterns on them |
//! | `packed.rs`, `stacks.rs`, `moves.rs` | packed states, stacks kept once, steps computed once |
//! | `count.rs` | numbers of states |

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
mod witness;

pub use count::Count;
pub use overapproximation::{Growing, Overapproximation, Progress};
pub use reachable::{Reachable, Unfinished};
pub use sequence::{ObservationSequence, Pause};
