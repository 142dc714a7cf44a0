//! Context-unbounded analysis of concurrent programs with recursion and shared memory.
//!
//! A system has threads with common shared states, and each thread is a pushdown system ([`cpds`]).
//! Is a bad state reachable, with *any* number of context switches? This question is undecidable.
//! The paper *CUBA: Interprocedural Context-UnBounded Analysis of Concurrent Programs* (Liu and
//! Wahl, PLDI 2018) has methods that often answer it, with yes or with no. This library implements
//! these methods, and further ones. Each answer has evidence: a trace or a certificate. The
//! independent checker `cpds-check` has accepted the evidence.
//!
//! ```
//! use cuba::{Options, Verdict, verify};
//!
//! // Two threads take a lock, and c is the critical section. Bad: both threads are in it.
//! let problem: cuba::cpds::Problem = "
//!     shared free taken;  init free|a,a;  bad *|c,c
//!     thread P * 2 {
//!       symbols a b c
//!       (free,a) -> (taken,c b);  (taken,c) -> (taken,-);  (taken,b) -> (free,a)
//!     }
//! ".parse()?;
//! let answer = verify(&problem, &Options::default())?;
//! match answer.verdict() {
//!     Verdict::Safe { certificate: Some(proof), .. } => assert!(proof.tuples().len() > 0),
//!     Verdict::Unsafe { trace, .. } => panic!("a bug with {} contexts", trace.contexts.len()),
//!     other => panic!("no answer: {other:?}"),
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where to start
//!
//! | task | items |
//! |---|---|
//! | decide whether a bad state is reachable | [`verify`], [`Options`], [`Verdict`] |
//! | verify a Boolean program | crate `boolprog`, and `examples/program.rs` |
//! | compute the reachable visible states | [`reach`], [`VisibleLevels::up_to`] |
//! | use the evidence | [`Answer`], [`TimedEvidence`], [`Unconfirmed`] |
//! | stop, observe or resume an analysis | [`answer()`], [`Control`], [`Cancel`], [`AnswerEvent`] |
//! | read levels, rungs and statistics | [`Analysis`] in [`Answer::analysis`] |
//!
//! The library has no process-wide state, prints nothing, and writes no file. Several analyses may
//! run in one process at the same time.
//!
//! # Folders
//!
//! | folder | terms of the paper and of the glossary |
//! |---|---|
//! | `visible` | T: visible states, in levels; bad patterns; symmetry |
//! | `automata` | store automata and post* (App. C); languages of stacks |
//! | `explicit` | R_k and T(R_k), state by state (Scheme 1) |
//! | `symbolic` | S_k and T(S_k), as tuples of stack languages (§6, App. E) |
//! | `overapproximation` | Z and G (§4.1), matched-Z, Z_z, A_d; the ladder and the ceiling |
//! | `fcr` | FCR, finite context reachability (§5); pumping heads |
//! | `squeeze` | the lower and the upper search, their race, and the conclusion (Alg. 3) |
//! | `trace` | a trace with the fewest contexts to a bad state |
//! | `certificate` | proofs as tuples of stack languages; the symbols that a pop may reveal |
//! | `distributed` | R_k with its states in several processes |
//! | `tables` | hash tables and caches that the searches share |

mod answer;
mod automata;
mod cancel;
mod certificate;
pub mod distributed;
mod encoding;
mod explicit;
mod fcr;
mod limits;
mod overapproximation;
mod squeeze;
mod statistics;
mod symbolic;
mod tables;
mod trace;
mod tuning;
mod visible;

// Systems, properties, traces and certificates.
pub use cpds;
// The checker, and evidence as it reads it.
pub use cpds_check;

// Questions: what to analyse, and within which limits.
pub use answer::{answer, reach, verify};
pub use overapproximation::ladder::{Ladder, ParseRungError, Rung, rung_names};
pub use squeeze::question::{EvidencePolicy, Options, Question};
pub use statistics::Engine;
pub use tuning::Tuning;

// Answers with their evidence.
pub use answer::{Answer, EvidencePhase, Mistake, MistakeKind, TimedEvidence, Unconfirmed, Verdict};

// Control of an analysis: cancellation, checkpoints and events.
pub use answer::AnswerEvent;
pub use cancel::{Cancel, Halt};
pub use encoding::StorageError;
pub use limits::{TooLarge, Unfinished};
pub use squeeze::checkpoint;
pub use squeeze::event::{Event, LevelProgress};
pub use squeeze::question::Control;

// Findings of the searches: levels, rungs, and the conclusion.
pub use overapproximation::ceiling::Between;
pub use squeeze::Side;
pub use squeeze::analysis::{Analysis, Conclusion, Contradiction, Level, Proof, Reason};
pub use squeeze::level_store::{LevelSnapshot, LevelStore};
pub use squeeze::observation_sequence::{ObservationSequence, Pause};
pub use squeeze::rung_outcome::{Bound, Outcome, RungResult};
pub use squeeze::search::{search_unchecked, search_unchecked_with};
pub use statistics::Statistics;
pub use visible::count::Count;
pub use visible::levels::VisibleLevels;

// Finite context reachability.
pub use fcr::finite_context_reachability::{ContextFiniteness, Fcr, FinitenessProof};
pub use fcr::pumping_heads::{Head, PumpingHeads};
pub use fcr::pumping_loop::PumpingLoop;

// The symbols that a pop may reveal.
pub use certificate::revealed_symbols::{RevealedSymbols, revealed_symbols};

// The engines and the overapproximations one by one, for tests and measurements.
pub use explicit::reachable::Reachable;
pub use overapproximation::a_d::{Abstraction, AbstractionError, AbstractionLimits};
pub use overapproximation::emerging_symbols::Returns;
pub use overapproximation::z::{Cut, Overapproximation};
pub use symbolic::levels::{Symbolic, SymbolicOptions};

// Store automata, languages of stacks, and runs of one thread.
pub use automata::action_index::ActionIndex;
pub use automata::language_table::{LanguageId, Languages};
pub use automata::store_automaton::{InnerRole, InnerState, Psa, PsaState};
pub use automata::thread_run::ThreadRun;
