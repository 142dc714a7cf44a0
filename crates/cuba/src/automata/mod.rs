//! automata

pub mod acceptance;
pub mod action_index;
pub mod canonical_language;
pub mod inclusion;
pub mod language_table;
pub mod minimal_dfa;
pub mod store_automaton;
pub mod thread_run;
pub mod widening;
