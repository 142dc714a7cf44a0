//! What a search took, as JSON.

use cuba::Statistics;
use serde::Serialize;

/// What an exploration took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Statistics"))]
#[serde(untagged)]
pub enum StatisticsJson {
    /// If the engine is `explicit`.
    Explicit {
        /// States kept in the table: with symmetry, one for all that differ by permuting
        /// interchangeable threads.
        states_kept: usize,
        /// Visible states kept in the table.
        visible_states_kept: usize,
        /// Successors looked up.
        expansions: u64,
        /// Stacks kept, ε included. If the states are in several processes, each counts its own.
        stacks: usize,
        /// The height of the highest stack.
        highest_stack: u32,
        /// The bytes that the tables have at the end, in all processes together.
        table_bytes: usize,
        /// The bytes of the tables for each state kept, all in, rounded up.
        bytes_per_state: usize,
    },
    /// If the engine is `symbolic`.
    Symbolic {
        /// Tuples kept in the table, those that others cover included; of four or more unlike
        /// threads, nodes of diagrams.
        tuples_kept: usize,
        /// Visible states kept in the table.
        visible_states_kept: usize,
        /// Successors looked up.
        expansions: u64,
        /// Languages kept, the empty one included.
        languages: usize,
        /// For how many shared states and languages post* was computed.
        posts: usize,
        /// How many transitions the store automata had, all together.
        transitions: u64,
        /// The bytes that the tables have at the end.
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
