//! The effort of a search, in numbers that are the same on every machine.

use serde::{Deserialize, Serialize};

/// The engine of the lower search: the kind of its levels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Engine {
    /// States, one by one: R_k.
    Explicit,
    /// Tuples of languages: S_k.
    Symbolic,
}

/// The effort of an exploration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Statistics {
    /// The effort of the explicit engine.
    Explicit {
        /// The number of stored states. With symmetry, one state stands for its orbit.
        states_kept: usize,
        /// The number of stored visible states.
        visible_states_kept: usize,
        /// The number of successors looked up.
        expansions: u64,
        /// The number of stored stacks, with ε. If the states are in several processes, each
        /// process counts its own stacks.
        stacks: usize,
        /// The height of the highest stack.
        highest_stack: u32,
        /// The bytes of the tables at the end, in all processes together.
        table_bytes: usize,
        /// The bytes of all tables for each stored state, rounded up.
        bytes_per_state: usize,
    },
    /// The effort of the symbolic engine.
    Symbolic {
        /// The number of stored tuples, with covered ones. If diagrams store the tuples, the number
        /// of nodes.
        tuples_kept: usize,
        /// The number of stored visible states.
        visible_states_kept: usize,
        /// The number of successors looked up.
        expansions: u64,
        /// The number of stored languages, with the empty one.
        languages: usize,
        /// The number of computations of post*.
        posts: usize,
        /// The number of transitions of all store automata.
        transitions: u64,
        /// The bytes of the tables at the end.
        table_bytes: usize,
    },
}

impl Statistics {
    /// Returns all numbers without their names, for a checkpoint.
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

    /// Returns the statistics with these numbers, the inverse of [`numbers`](Self::numbers).
    #[expect(clippy::cast_possible_truncation, reason = "they were numbers of this size")]
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

    /// Returns the bytes of the tables at the end.
    pub fn table_bytes(&self) -> usize {
        match *self {
            Statistics::Explicit { table_bytes, .. } | Statistics::Symbolic { table_bytes, .. } => table_bytes,
        }
    }

    /// Returns the number of stored visible states.
    pub(crate) fn visible_kept(&self) -> usize {
        match *self {
            Statistics::Explicit { visible_states_kept, .. } | Statistics::Symbolic { visible_states_kept, .. } => {
                visible_states_kept
            }
        }
    }
}
