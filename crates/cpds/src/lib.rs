//! Concurrent pushdown systems: the vocabulary of context-unbounded analysis.
//!
//! Threads with recursion that share memory are modelled as pushdown systems with a common set of
//! shared states (§2 of *CUBA: Interprocedural Context-UnBounded Analysis of Concurrent Programs*,
//! Liu and Wahl, PLDI 2018). This crate has the model, its step relation and its file formats, in
//! the paper's words. It has no analysis: engines and checkers are built on it, and cannot disagree
//! about what a system is.
//!
//! This page works through the paper's first example.
//!
//! # Writing a system down
//!
//! Fig. 1 has four shared states, 0 to 3, and two threads. Thread 1 has the stack symbols 1 and 2,
//! thread 2 the symbols 4, 5 and 6. An **action** (q,σ) → (q',w) says: if the shared state is q and
//! σ is on top of my stack, make the shared state q' and put w in place of σ. If w is empty that is
//! a **pop**, a procedure that returns; if it is one symbol, an **overwrite**, a local step; if it
//! is two, a **push**, a call: the callee on top, the point to return to below. In our text format,
//! with `-` for the empty word ε, the system reads almost as in the paper:
//!
//! ```
//! use cpds::Problem;
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
//! let system = fig1.system();
//! assert_eq!(system.shared_names().len(), 4);
//! assert_eq!(system.thread_count(), 2);
//! # Ok::<(), cpds::ReadError>(())
//! ```
//!
//! A [`Problem`] is a system and a property. The [`Cpds`] inside is known to be well-formed: a
//! mistake in the text, say a symbol that the thread does not declare, is reported with its place,
//! and there is no system.
//!
//! ```
//! let error = "shared 0\n init 0|a\n thread P { symbols b }".parse::<cpds::Problem>().unwrap_err();
//! assert_eq!(error.to_string(), "text:2:9: error: unknown stack symbol `a`");
//! ```
//!
//! # Taking steps
//!
//! A state ⟨q|w₁,…,wₙ⟩ is a shared state and a stack for each thread, written top first. From the
//! initial state each thread has one step:
//!
//! ```
//! # let text = "shared 0..3; init 0|1,4; bad 0|1,6
//! # thread P1 { symbols 1 2; f1: (0,1) -> (1,2); f2: (3,2) -> (0,1) }
//! # thread P2 { symbols 4..6; b1: (0,4) -> (0,-); b2: (1,4) -> (2,5); b3: (2,5) -> (3,4 6) }";
//! # let fig1: cpds::Problem = text.parse()?;
//! # let system = fig1.system();
//! let start = &system.initial()[0];
//! assert_eq!(system.paper(start).to_string(), "⟨0|1,4⟩");
//!
//! let mut steps = system.steps(start);
//! let first = steps.next().expect("P1 can move");
//! assert_eq!(system.thread_name(first.thread), "P1");
//! assert_eq!(system.paper(&first.rule.action).to_string(), "(0,1) → (1,2)");
//! assert_eq!(system.paper(&first.state).to_string(), "⟨1|2,4⟩");
//!
//! let second = steps.next().expect("so can P2");
//! assert_eq!(system.paper(&second.rule.action).to_string(), "(0,4) → (0,ε)");
//! assert_eq!(system.paper(&second.state).to_string(), "⟨0|1,ε⟩");
//! # assert!(steps.next().is_none());
//! # Ok::<(), cpds::ReadError>(())
//! ```
//!
//! # What is visible
//!
//! Consecutive steps of one thread are a **context**. In three contexts, P1, then P2 twice, then P1
//! again, the system returns to where it was, but for one thing: P2's stack has grown. The other
//! thread cannot see that. What can be seen of a state s is its **visible state** T(s), the shared
//! state and the top of each stack, and that is the same as at the start:
//!
//! ```
//! # let text = "shared 0..3; init 0|1,4; bad 0|1,6
//! # thread P1 { symbols 1 2; f1: (0,1) -> (1,2); f2: (3,2) -> (0,1) }
//! # thread P2 { symbols 4..6; b1: (0,4) -> (0,-); b2: (1,4) -> (2,5); b3: (2,5) -> (3,4 6) }";
//! # let fig1: cpds::Problem = text.parse()?;
//! # let system = fig1.system();
//! # let start = &system.initial()[0];
//! use cpds::ThreadId;
//!
//! let (p1, p2) = (ThreadId(0), ThreadId(1));
//! let mut state = start.clone();
//! for thread in [p1, p2, p2, p1] {
//!     let step = system.steps_of(thread, &state).next().expect("it has one");
//!     state = step.state;
//! }
//! assert_eq!(system.paper(&state).to_string(), "⟨0|1,4 6⟩");
//! assert_ne!(&state, start);
//! assert_eq!(state.visible(), start.visible());
//!
//! // A fourth context pops the 4. The 6 below it emerges, and that is the bad state.
//! let last = system.steps_of(p2, &state).next().expect("b1").state;
//! assert_eq!(system.paper(&last.visible()).to_string(), "⟨0|1,6⟩");
//! assert!(fig1.is_bad(&last));
//! # assert!(!fig1.is_bad(start) && !fig1.is_bad(&state));
//! # Ok::<(), cpds::ReadError>(())
//! ```
//!
//! This is the difficulty that the paper is about. Between the second and the fourth context
//! nothing new is visible, and yet the stacks have changed, and something new will be. When can
//! nothing new appear any more? That is for the engines.
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
//! | evidence that a state is reachable, or that none else is | [`Trace`], [`Certificate`] |
//!
//! Two departures: a system may have several initial states, each with stacks of any height, where
//! the paper has one with empty stacks; and an action that is not enabled is no step, where the
//! paper has a step that changes nothing. The second makes no difference to what is reachable, and
//! nothing in the paper depends on the first.

mod action;
mod certificate;
pub mod diagnostic;
mod format;
mod names;
mod notation;
mod property;
mod state;
mod step;
mod symmetry;
mod system;
mod trace;

pub use action::{Action, ActionKind, NotAnAction};
pub use certificate::{Automaton, Certificate};
pub use diagnostic::{ReadError, Source};
pub use format::{Format, FromFile, PdsText, Reader, Reading, is_program, print_cpds, print_pds, read_file, read_text};
pub use names::{MAX_NAME, Names, is_name};
pub use notation::Notation;
pub use property::{Pattern, Problem, Property, Wild};
pub use state::{GlobalState, SharedState, Stack, Symbol, ThreadId, VisibleState};
pub use step::Step;
pub use system::{Alphabet, Cpds, ModelError, Program, Rule, limits};
pub use trace::{Context, NotATrace, Trace, TraceStep};
