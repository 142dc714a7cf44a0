//! The commands of the coordinator to all shares, and their replies.
//!
//! Messages name a stack by its symbols, because each share has its own stack numbers. No message
//! depends on the numbers of states or stacks.
//!
//! # Wire format
//! The order of the variants and of the fields is the wire format. All processes of a run have the
//! same version, so the format may change between versions.

use crate::explicit::partition::wire_format::{Malformed, Sent};
use crate::visible::count::Count;
use cpds::{Stack, Symbol};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};

/// A command to all shares.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Command {
    /// Take about so many steps of the wave.
    Expand {
        /// The level or wave to begin before the steps.
        begin: Begin,
        /// The number of steps. It also bounds the number of sent states.
        steps: u64,
    },
    /// End the level. The first command of a run ends level 0.
    EndLevel,
    /// Find the best end of a trace among the states with this visible state.
    FindTraceEnd {
        /// The visible state, as a row.
        visible: Vec<u64>,
    },
    /// Find the thread states of some threads in those states of a level in which all other threads
    /// have the given stacks.
    FindContextStarts {
        /// The level.
        level: usize,
        /// The stacks, by thread.
        stacks: Vec<Word>,
        /// The threads.
        threads: Vec<u32>,
    },
    /// Find the thread states of all threads in the states of a level.
    FindThreadStates {
        /// The level.
        level: usize,
        /// A share that finds more than this number may omit some of them. Its reply then still has
        /// more than this number.
        most: usize,
    },
    /// Find the states of a level in which one of these last contexts can start.
    FindLastContextStarts {
        /// The level.
        level: usize,
        /// The last contexts.
        contexts: Vec<LastContextMessage>,
        /// A share that finds more than this number may omit some of them. Its reply then still has
        /// more than this number.
        most: usize,
    },
    /// Find the levels of states.
    FindLevels {
        /// The states, with their stacks by position.
        states: Vec<(u32, Vec<Word>)>,
    },
    /// Return the next blocks with the states of levels.
    ReadStates {
        /// The first level.
        from: usize,
        /// The last level.
        k: usize,
        /// Whether to start with the first block.
        is_first: bool,
    },
    /// Save the share after level k, which is the last one.
    Save {
        /// k.
        k: usize,
        /// The level of the last complete checkpoint, if there is one. It must stay.
        complete: Option<usize>,
    },
    /// Restore the share that was saved after level k.
    Restore {
        /// k.
        k: usize,
    },
}

/// The level or wave that a superstep begins before it takes steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Begin {
    /// The next level, and its first wave.
    Level,
    /// The next wave.
    Wave,
    /// Nothing: the current wave continues.
    Nothing,
}

/// A stack, top first.
pub type Word = Vec<u32>;

/// The contexts of one thread that make a state bad, for the same tops of the other threads.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LastContextMessage {
    /// The first position in the group of the moving thread.
    pub group: usize,
    /// The tops that the other threads need: the first position of a group, a top, and how many
    /// threads of the group have this top at least.
    pub others: Vec<(usize, u32, usize)>,
    /// The thread states in which the context may start, with the number of its steps.
    pub steps: Vec<((u32, Word), usize)>,
}

/// The reply of one share to a command.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Reply {
    /// The reply to [`Command::Expand`].
    Expanded {
        /// Whether the wave has more pairs.
        has_more: bool,
        /// Whether the next wave has pairs.
        has_next: bool,
        /// The number of sent blocks.
        blocks: u64,
        /// The progress of the share.
        progress: ShareProgress,
    },
    /// The reply to [`Command::EndLevel`].
    LevelEnded {
        /// The number of new states of this level.
        new_states: Count,
        /// Whether this number is positive.
        has_new_states: bool,
        /// The progress of the share.
        progress: ShareProgress,
    },
    /// The reply to [`Command::FindTraceEnd`]: the level of the state, and its stacks by position.
    /// `None` if this share has no such state.
    TraceEnd(Option<(usize, Vec<Word>)>),
    /// The reply to [`Command::FindContextStarts`]: for each thread, its thread states, sorted.
    ContextStarts(Vec<Vec<(u32, Word)>>),
    /// The reply to [`Command::FindThreadStates`]: for each group, its thread states.
    ThreadStates(Vec<Vec<(u32, Word)>>),
    /// The reply to [`Command::FindLastContextStarts`]: for each state, the number of steps, the
    /// shared state, and the stacks by position.
    LastContextStarts(Vec<(usize, u32, Vec<Word>)>),
    /// The reply to [`Command::FindLevels`]: the level of each state, or `None` if this share does
    /// not have the state.
    Levels(Vec<Option<usize>>),
    /// The reply to [`Command::ReadStates`].
    States {
        /// Blocks with states and their stacks.
        blocks: Vec<Vec<u8>>,
        /// Whether there are more blocks.
        has_more: bool,
    },
    /// The reply to [`Command::Save`] and [`Command::Restore`]. An error says why it failed.
    Storage(Result<(), String>),
    /// The share failed. The run cannot continue.
    Failed(Failure),
}

/// The progress of a share that it reports after each superstep of a level.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ShareProgress {
    /// The visible states that this share has not reported before, as rows.
    pub visible: Vec<u64>,
    /// The counters of the share.
    pub counters: Counters,
    /// Whether the next superstep may exceed the memory limit of the share.
    pub is_full: bool,
}

/// The counters of one share, or the sum of all shares.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counters {
    /// The number of stored states.
    pub kept: usize,
    /// The number of successors looked up.
    pub expansions: u64,
    /// The number of stored stacks, including ε. Several shares may store the same stack.
    pub stacks: usize,
    /// The height of the highest stack.
    pub highest: u32,
    /// The memory in use, in bytes.
    pub bytes: usize,
    /// The counters of sent states and blocks.
    pub sent: Sent,
}

impl std::ops::AddAssign for Counters {
    fn add_assign(&mut self, other: Counters) {
        self.kept += other.kept;
        self.expansions += other.expansions;
        self.stacks += other.stacks;
        self.highest = self.highest.max(other.highest);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.sent += other.sent;
    }
}

/// Why the run cannot continue.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Failure {
    /// A share received a malformed block.
    Block {
        /// The part that sent the block.
        from: usize,
        /// The mistake in the block.
        why: Malformed,
    },
    /// A share received a command that is invalid, or invalid at this time.
    Command,
    /// A reply does not fit its command.
    Reply,
    /// A share cannot be restored.
    Restore {
        /// The part that stores the share.
        part: usize,
        /// The cause, as text.
        why: String,
    },
}

impl Display for Failure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Block { from, why } => write!(f, "part {from} sent {why}"),
            Failure::Command => f.write_str("a part received a command that it cannot run now"),
            Failure::Reply => f.write_str("the reply of a part does not fit the command"),
            Failure::Restore { part, why } => write!(f, "part {part} cannot go on: {why}"),
        }
    }
}

impl std::error::Error for Failure {}

/// Returns the symbols of a stack, top first.
pub(crate) fn word(stack: &Stack) -> Word {
    stack.iter().map(|symbol| symbol.0).collect()
}

/// Returns the stack with these symbols, top first.
pub(crate) fn stack(word: Word) -> Stack {
    Stack::from_top(word.into_iter().map(Symbol))
}
