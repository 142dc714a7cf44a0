//! Concurrent pushdown systems: the vocabulary of context-unbounded analysis.
//!
//! Threads with recursion that share memory are modelled as pushdown systems with a common set of
//! shared states (§2 of *CUBA: Interprocedural Context-UnBounded Analysis of Concurrent Programs*,
//! Liu and Wahl, PLDI 2018). This crate has the model, its step relation and its file formats, in
//! the paper's words. It has no analysis. Engines and checkers use it, so they have the same
//! definition of a system.
//!
//! This page uses the paper's first example.
//!
//! # Writing a system
//!
//! Fig. 1 has four shared states, 0 to 3, and two threads. Thread 1 has the stack symbols 1 and 2,
//! thread 2 the symbols 4, 5 and 6. An **action** (q,σ) → (q',w) is enabled if the shared state is
//! q and σ is on top of the thread's stack. It changes the shared state to q' and replaces σ by w.
//! If w is empty, the action is a **pop**: a procedure returns. If w is a single symbol, it is an
//! **overwrite**: a local step. If w has two symbols, it is a **push**: a call, with the callee on
//! top and the return point below. In our text format, `-` is the empty word ε:
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
//! A [`Problem`] is a system and a property. Its [`Cpds`] is well-formed. A mistake in the text,
//! such as a symbol that the thread does not declare, is reported with its position, and there is
//! no system.
//!
//! ```
//! let text = "shared 0\n init 0|a\n thread P { symbols b }";
//! let error = text.parse::<cpds::Problem>().unwrap_err();
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
//! let first = steps.next().expect("P1 has a step");
//! assert_eq!(system.thread_name(first.thread), "P1");
//! assert_eq!(system.paper(&first.rule.action).to_string(), "(0,1) → (1,2)");
//! assert_eq!(system.paper(&first.state).to_string(), "⟨1|2,4⟩");
//!
//! let second = steps.next().expect("P2 has a step");
//! assert_eq!(system.paper(&second.rule.action).to_string(), "(0,4) → (0,ε)");
//! assert_eq!(system.paper(&second.state).to_string(), "⟨0|1,ε⟩");
//! # assert!(steps.next().is_none());
//! # Ok::<(), cpds::ReadError>(())
//! ```
//!
//! # Visible states
//!
//! Consecutive steps of one thread are a **context**. After three contexts, P1, then P2 twice, then
//! P1 again, the system is in its initial state again, except that P2's stack has grown. The
//! **visible state** T(s) of a state s is the shared state and the top of each stack. Here it is
//! the same as at the start:
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
//!     let step = system.steps_of(thread, &state).next().expect("the thread has a step");
//!     state = step.state;
//! }
//! assert_eq!(system.paper(&state).to_string(), "⟨0|1,4 6⟩");
//! assert_ne!(&state, start);
//! assert_eq!(state.visible(), start.visible());
//!
//! // A fourth context pops the 4. This reveals the 6 below it, which is the bad state.
//! let last = system.steps_of(p2, &state).next().expect("b1").state;
//! assert_eq!(system.paper(&last.visible()).to_string(), "⟨0|1,6⟩");
//! assert!(fig1.is_bad(&last));
//! # assert!(!fig1.is_bad(start) && !fig1.is_bad(&state));
//! # Ok::<(), cpds::ReadError>(())
//! ```
//!
//! This is the difficulty that the paper solves. Between the second and the fourth context no new
//! visible state is reached, but the stacks change, and a new visible state follows later. The
//! engines find out when no further visible state can follow.
//!
//! # The paper's definitions in this crate
//!
//! | paper | here |
//! |---|---|
//! | Q, q | [`SharedState`], named by [`Cpds::shared_names`] |
//! | Σ_i, σ, w | [`Alphabet`], [`Symbol`], [`Stack`] |
//! | Δ_i, actions and their effect (§2.1) | [`Program::rules`], [`Action`], [`Action::apply`] |
//! | ⟨q\|w₁,…,wₙ⟩, T (§2.2, Eq. 1) | [`GlobalState`], [`VisibleState`], [`GlobalState::visible`] |
//! | 𝒫ⁿ and its steps (§2.2) | [`Cpds`], [`Cpds::steps`] |
//! | property C over visible states | [`Property`], [`Pattern`] |
//! | a system for each number of threads (ours) | [`Family`] |
//! | evidence that a state is reachable, or that no others are | [`Trace`], [`Certificate`] |
//!
//! The crate departs from the paper in two ways. First, a system may have several initial states,
//! each with stacks of any height; the paper has one, with empty stacks. No result of the paper
//! depends on this. Second, an action that is not enabled gives no step; in the paper, it gives a
//! step that changes nothing. The reachable states are the same.

mod action;
mod certificate;
pub mod diagnostic;
mod family;
mod format;
mod message_text;
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
pub use family::{Family, FamilyPattern, FamilyState, GroupStacks, Replicated};
pub use format::{Format, FromFile, PdsText, Reader, Reading, is_program, print_cpds, print_pds, read_file, read_text};
pub use names::{MAX_NAME, Names, is_name};
pub use notation::Notation;
pub use property::{Pattern, Problem, Property, Wild};
pub use state::{GlobalState, SharedState, Stack, Symbol, ThreadId, VisibleState};
pub use step::Step;
pub use system::{Alphabet, Cpds, ModelError, Program, Rule, limits};
pub use trace::{Context, NotATrace, Trace, TraceStep};
