//! Context-unbounded analysis of concurrent programs with recursion and shared memory.
//!
//! Threads are pushdown systems with common shared states ([`cpds`]). Is a bad state reachable,
//! under *any* number of context switches? The question is undecidable; *CUBA: Interprocedural
//! Context-UnBounded Analysis of Concurrent Programs* (Liu and Wahl, PLDI 2018) often answers it,
//! both ways, and this library goes past that paper. Each answer carries evidence that the
//! independent checker `cpds-check` has accepted.
//!
//! ```
//! use cuba::{Options, Verdict, verify};
//!
//! let problem: cpds::Problem = "
//!     shared free taken;  init free|a,a;  bad *|c,c
//!     thread P * 2 { symbols a b c;  (free,a) -> (taken,c b);  (taken,c) -> (taken,-);  (taken,b) -> (free,a) }
//! ".parse()?;
//! let answer = verify(&problem, &Options::default()).map_err(|mistake| mistake.to_string())?;
//! let Verdict::Safe { certificate: Some(certificate), .. } = answer.verdict() else { panic!("it is safe") };
//! assert!(certificate.tuples().len() > 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`verify`] asks for a bad state, [`reach`] for the visible states that are reachable, and
//! [`answer`] does either under a caller's [`Control`]: a [`Cancel`] token, checkpoints, and events
//! as data. No state is process-wide, nothing is printed, and no file is written.
//!
//! # Rooms
//!
//! | folder | the paper's words |
//! |---|---|
//! | [`visible`] | T: visible states, in levels; bad patterns; interchangeable threads |
//! | [`automata`] | store automata and post* (App. C), languages of stacks |
//! | [`explicit`] | R_k and T(R_k), state by state (Scheme 1) |
//! | [`symbolic`] | S_k and T(S_k), as tuples of stack languages (§6, App. E) |
//! | [`overapproximation`] | Z and G (§4.1), Z_z, A_d, and the ladder of all of them |
//! | [`fcr`] | finite context reachability (§5), pumping heads |
//! | [`squeeze`] | both searches at work, which is first, and the conclusion (Alg. 3) |
//! | [`certificate`] | from what a search has found to a certificate |
//! | `trace` | from a bad state back to a trace with the fewest contexts |
//! | [`distributed`] | R_k with its states in many processes |
//! | `tables` | hash tables and caches that the searches share |

pub mod answer;
pub mod automata;
pub mod certificate;
pub mod distributed;
pub mod encoding;
pub mod explicit;
pub mod fcr;
pub mod limits;
pub mod overapproximation;
pub mod squeeze;
pub mod statistics;
pub mod symbolic;
pub mod tables;
pub mod trace;
pub mod tuning;
pub mod visible;

pub use answer::{
    Answer, AnswerEvent, EvidencePhase, Mistake, MistakeKind, TimedEvidence, Unconfirmed, Verdict, answer, reach,
    verify,
};
pub use automata::action_index::ActionIndex;
pub use automata::language_table::LanguageId;
pub use automata::language_table::Languages;
pub use automata::store_automaton::InnerRole;
pub use automata::store_automaton::InnerState;
pub use automata::store_automaton::Psa;
pub use automata::store_automaton::PsaState;
pub use automata::thread_run::ThreadRun;
pub use cpds;
pub use encoding::StorageError;
pub use explicit::reachable::Reachable;
pub use fcr::contexts::ContextFiniteness;
pub use fcr::contexts::Fcr;
pub use fcr::contexts::FinitenessProof;
pub use fcr::pumping_heads::Head;
pub use fcr::pumping_heads::PumpingHeads;
pub use fcr::pumping_loop::PumpingLoop;
pub use limits::Cancel;
pub use limits::Halt;
pub use limits::TooLarge;
pub use limits::Unfinished;
pub use overapproximation::abstraction::Abstraction;
pub use overapproximation::abstraction::AbstractionError;
pub use overapproximation::abstraction::AbstractionLimits;
pub use overapproximation::ceiling::Between;
pub use overapproximation::emerging_symbols::EmergingSymbols;
pub use overapproximation::emerging_symbols::Returns;
pub use overapproximation::ladder::Ladder;
pub use overapproximation::ladder::ParseRungError;
pub use overapproximation::ladder::Rung;
pub use overapproximation::ladder::rung_names;
pub use overapproximation::z::Cut;
pub use overapproximation::z::Overapproximation;
pub use squeeze::Side;
pub use squeeze::analysis::{Analysis, Conclusion, Contradiction, Level, Proof, Reason};
pub use squeeze::checkpoint;
pub use squeeze::event::{Event, LevelProgress};
pub use squeeze::level_store::LevelSnapshot;
pub use squeeze::level_store::LevelStore;
pub use squeeze::observation_sequence::ObservationSequence;
pub use squeeze::observation_sequence::Pause;
pub use squeeze::question::{Control, EvidencePolicy, Options, Question};
pub use squeeze::rung_outcome::Bound;
pub use squeeze::rung_outcome::Outcome;
pub use squeeze::rung_outcome::RungResult;
pub use squeeze::search::{search, search_with};
pub use statistics::Engine;
pub use statistics::Statistics;
pub use symbolic::below::Below;
pub use symbolic::below::below;
pub use symbolic::levels::Symbolic;
pub use symbolic::levels::SymbolicOptions;
pub use tuning::Tuning;
pub use visible::count::Count;
pub use visible::levels::VisibleLevels;
