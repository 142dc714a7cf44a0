//! Concurrent pushdown systems: the vocabulary of context-unbounded analysis.
//!
//! Threads with recursion that share memory are modelled as pushdown systems with a common set of shared states
//! (§2 of *CUBA: Interprocedural Context-UnBounded Analysis of Concurrent Programs*, Liu and Wahl, PLDI 2018).
//! This crate has the model, its step relation and its file formats, in the paper's words. It has no analysis:
//! engines and checkers are built on it and cannot disagree about what a system is.
//!
//! # The paper's Fig. 1, step by step
//!
//! The system has four shared states and two threads. In our text format it reads almost as in the paper:
//!
//! ```
//! use cpds::{Problem, ThreadId};
//!
//! let text = "
//!     shared 0..3
//!     init 0|1,4
//!     bad  0|1,6
//!
//!     thread P1 {
//!       symbols 1 2
//!       f1: (0,1) -> (1,2)
//!       f2: (3,2) -> (0,1)
//!     }
//!
//!     thread P2 {
//!       symbols 4..6
//!       b1: (0,4) -> (0,-)      # pop
//!       b2: (1,4) -> (2,5)      # overwrite
//!       b3: (2,5) -> (3,4 6)    # push: 4 on top of 6
//!     }
//! ";
//! let fig1: Problem = text.parse()?;
//! let system = &fig1.system;
//! assert_eq!((system.shared_names().len(), system.thread_count()), (4, 2));
//!
//! // From the initial state each thread has one step.
//! let start = &system.initial()[0];
//! assert_eq!(system.paper(start).to_string(), "⟨0|1,4⟩");
//! let steps: Vec<String> = system
//!     .steps(start)
//!     .map(|s| format!("{}: {} gives {}", system.thread_name(s.thread), system.paper(&s.rule.action), system.paper(&s.state)))
//!     .collect();
//! assert_eq!(steps, ["P1: (0,1) → (1,2) gives ⟨1|2,4⟩", "P2: (0,4) → (0,ε) gives ⟨0|1,ε⟩"]);
//!
//! // Three contexts: P1 moves, then P2 twice, then P1 again. P2's stack has grown.
//! let mut state = start.clone();
//! for thread in [0, 1, 1, 0] {
//!     let next = system.steps_of(ThreadId(thread), &state).next().expect("one step");
//!     state = next.state;
//! }
//! assert_eq!(system.paper(&state).to_string(), "⟨0|1,4 6⟩");
//!
//! // What the other thread sees of it is the top only: the visible state T(s), which looks like the start.
//! assert_eq!(state.visible(), start.visible());
//!
//! // One more context pops the 4, and the 6 emerges: the bad pattern, after four contexts.
//! let last = system.steps_of(ThreadId(1), &state).next().expect("one step").state;
//! assert_eq!(system.paper(&last).to_string(), "⟨0|1,6⟩");
//! assert!(fig1.is_bad(&last) && !fig1.is_bad(start));
//! # Ok::<(), cpds::ReadError>(())
//! ```
//!
//! # Where the paper's definitions are
//!
//! | paper | here |
//! |---|---|
//! | Q, q | [`SharedState`], named by [`Cpds::shared_names`] |
//! | Σ_i, σ, w | [`Alphabet`], [`Symbol`], [`Stack`] |
//! | Δ_i, actions and their effect (§2.1) | [`Program::rules`], [`Action`], [`Action::apply`] |
//! | ⟨q\|w₁,…,wₙ⟩, T (§2.2, Eq. 1) | [`GlobalState`], [`VisibleState`], [`GlobalState::visible`] |
//! | 𝒫ⁿ and its steps (§2.2) | [`Cpds`], [`Cpds::steps`] |
//! | property C over visible states | [`Property`], [`Pattern`] |
//!
//! Two departures: a system may have several initial states, each with stacks of any height, where the paper has
//! one with empty stacks; and an action that is not enabled is no step, where the paper has a step that changes
//! nothing. Neither changes what is reachable.

mod action;
pub mod diagnostic;
mod format;
mod names;
mod notation;
mod property;
mod state;
mod step;
mod symmetry;
mod system;

pub use action::{Action, ActionKind, NotAnAction};
pub use diagnostic::{ReadError, Source};
pub use format::{PdsText, Reader, Reading, print_cpds, print_pds};
pub use names::{MAX_NAME, Names, is_name};
pub use notation::Notation;
pub use property::{Pattern, Problem, Property, Wild};
pub use state::{GlobalState, SharedState, Stack, Symbol, ThreadId, VisibleState};
pub use step::Step;
pub use system::{Alphabet, Cpds, ModelError, Program, Rule, limits};
