//! Regular languages of stacks: store automata, post*, and minimal automata (paper App. C).
//!
//! In: the thread states of one thread (a finite set, or ⟨q|L⟩ for a language L), and the program
//! of the thread. Out: post* of these states as a store automaton (PSA), and from it one language
//! of stacks for each shared state. A language has a number, and equal languages have equal
//! numbers.
//!
//! The folder also decides inclusion of languages, computes unions, tops (Alg. 4) and widenings,
//! and rebuilds a run of the thread to an accepted state.

pub(crate) mod acceptance;
pub(crate) mod action_index;
pub(crate) mod canonical_language;
pub(crate) mod inclusion;
pub(crate) mod language_table;
pub(crate) mod minimal_dfa;
pub(crate) mod post_star;
pub(crate) mod store_automaton;
pub(crate) mod thread_run;
pub(crate) mod widening;
