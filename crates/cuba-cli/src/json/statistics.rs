//! The statistics of a search as JSON.

use cuba::Statistics;
use serde::Serialize;

/// The statistics of the lower search.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Statistics"))]
#[serde(untagged)]
pub enum StatisticsJson {
    /// If the engine is `explicit`.
    Explicit {
        /// The stored states. With symmetry, one state stands for all that differ by a permutation
        /// of interchangeable threads.
        states_kept: usize,
        /// The stored visible states.
        visible_states_kept: usize,
        /// The successors that were looked up.
        expansions: u64,
        /// The stored stacks, including ε. If the states are distributed, each process counts its
        /// own.
        stacks: usize,
        /// The height of the highest stack.
        highest_stack: u32,
        /// The bytes of the tables at the end, in all processes together.
        table_bytes: usize,
        /// The bytes of all tables for each stored state, rounded up.
        bytes_per_state: usize,
    },
    /// If the engine is `symbolic`.
    Symbolic {
        /// The stored tuples, including those that others cover. With four or more unlike threads,
        /// the nodes of diagrams.
        tuples_kept: usize,
        /// The stored visible states.
        visible_states_kept: usize,
        /// The successors that were looked up.
        expansions: u64,
        /// The stored languages, including the empty one.
        languages: usize,
        /// The number of pairs of a shared state and a language for which post* was computed.
        posts: usize,
        /// The total number of transitions of the store automata.
        transitions: u64,
        /// The bytes of the tables at the end.
        table_bytes: usize,
    },
}

impl From<Statistics> for StatisticsJson {
    fn from(statistics: Statistics) -> Self {
        match statistics {
            Statistics::Explicit {
                states_kept,
                visible_states_kept,
                expansions,
                stacks,
                highest_stack,
                table_bytes,
                bytes_per_state,
            } => StatisticsJson::Explicit {
                states_kept,
                visible_states_kept,
                expansions,
                stacks,
                highest_stack,
                table_bytes,
                bytes_per_state,
            },
            Statistics::Symbolic {
                tuples_kept,
                visible_states_kept,
                expansions,
                languages,
                posts,
                transitions,
                table_bytes,
            } => StatisticsJson::Symbolic {
                tuples_kept,
                visible_states_kept,
                expansions,
                languages,
                posts,
                transitions,
                table_bytes,
            },
        }
    }
}
