//! Regular languages of stacks: store automata, post*, and minimal automata (paper App. C).
//!
//! In: the thread states of one thread (a finite set, or ⟨q|L⟩ for a language L), and the program of
//! the thread. Out: post* of these states as a store automaton (PSA), and from it one language of
//! stacks for each shared state. A language has a number, and equal languages have equal numbers.
//! For languages, the room answers inclusion and computes unions, tops (Alg. 4) and widenings. For
//! an accepted state, it rebuilds a run of the thread.

pub mod acceptance;
pub mod action_index;
pub mod canonical_language;
pub mod inclusion;
pub mod language_table;
pub mod minimal_dfa;
pub mod post_star;
pub mod store_automaton;
pub mod thread_run;
pub mod widening;
