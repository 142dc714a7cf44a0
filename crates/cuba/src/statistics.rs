//! What a search took, in numbers that depend on no machine.

use serde::{Deserialize, Serialize};

/// What the levels are made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Engine {
    /// States, one by one: R_k.
    Explicit,
    /// Tuples of languages: S_k.
    Symbolic,
}

/// What an exploration took.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Statistics {
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

impl Statistics {
    /// All numbers, without their names.
    pub(crate) fn numbers(&self) -> (Engine, [u64; 7]) {
        match *self {
            Statistics::Explicit {
                states_kept,
                visible_states_kept,
                expansions,
                stacks,
                highest_stack,
                table_bytes,
                ..
            } => {
                let [kept, visible, stacks, bytes] =
                    [states_kept, visible_states_kept, stacks, table_bytes].map(|n| n as u64);
                (Engine::Explicit, [kept, visible, expansions, stacks, highest_stack.into(), 0, bytes])
            }
            Statistics::Symbolic {
                tuples_kept,
                visible_states_kept,
                expansions,
                languages,
                posts,
                transitions,
                table_bytes,
            } => {
                let [kept, visible, languages, posts, bytes] =
                    [tuples_kept, visible_states_kept, languages, posts, table_bytes].map(|n| n as u64);
                (Engine::Symbolic, [kept, visible, expansions, languages, posts, transitions, bytes])
            }
        }
    }

    /// The statistics with these numbers.
    #[expect(clippy::cast_possible_truncation, reason = "they have been numbers of this size")]
    pub(crate) fn of((engine, [kept, visible, expansions, a, b, transitions, bytes]): (Engine, [u64; 7])) -> Self {
        let [kept, visible, table_bytes] = [kept, visible, bytes].map(|n| n as usize);
        match engine {
            Engine::Explicit => Statistics::Explicit {
                states_kept: kept,
                visible_states_kept: visible,
                expansions,
                stacks: a as usize,
                highest_stack: b as u32,
                table_bytes,
                bytes_per_state: table_bytes.div_ceil(kept.max(1)),
            },
            Engine::Symbolic => Statistics::Symbolic {
                tuples_kept: kept,
                visible_states_kept: visible,
                expansions,
                languages: a as usize,
                posts: b as usize,
                transitions,
                table_bytes,
            },
        }
    }

    /// The bytes that the tables have at the end.
    pub fn table_bytes(&self) -> usize {
        match *self {
            Statistics::Explicit { table_bytes, .. } | Statistics::Symbolic { table_bytes, .. } => table_bytes,
        }
    }

    /// How many visible states are kept.
    pub(crate) fn visible_kept(&self) -> usize {
        match *self {
            Statistics::Explicit { visible_states_kept, .. } | Statistics::Symbolic { visible_states_kept, .. } => {
                visible_states_kept
            }
        }
    }
}
