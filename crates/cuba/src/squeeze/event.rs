//! Events: the reports of a running search, as data.

use crate::overapproximation::ladder::Rung;
use crate::squeeze::analysis::Level;
use crate::squeeze::level_store::LevelSnapshot;
use crate::squeeze::rung_outcome::RungResult;
use crate::statistics::Engine;
#[cfg(test)]
use std::sync::mpsc::{SyncSender, sync_channel};

/// An event of a search. Events of the two searches come in any order.
#[derive(Clone, Debug)]
pub enum Event {
    /// Whether finite context reachability holds, with the reason; `None` if this is not decided
    /// before the search.
    Fcr(Option<(bool, String)>),
    /// The progress of a rung.
    Overapproximating {
        /// The rung.
        rung: Rung,
        /// The number of its states or tuples so far.
        states: usize,
        /// The memory in use, with that of the rungs before.
        bytes: usize,
    },
    /// The result of a rung that is computed or given up.
    Rung(RungResult),
    /// The progress of a level.
    Exploring(LevelProgress),
    /// A complete level.
    Level(Level),
}

/// The progress of a level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LevelProgress {
    /// The engine that computes it.
    pub engine: Engine,
    /// The last complete level.
    pub k: usize,
    /// The number of stored states or tuples.
    pub kept: usize,
    /// The number of successors looked up.
    pub expansions: u64,
    /// The memory in use.
    pub bytes: usize,
}

impl LevelProgress {
    /// Returns the progress in a view of the levels.
    pub(crate) fn of(&LevelSnapshot { engine, k, kept, expansions, bytes, .. }: &LevelSnapshot<'_>) -> Self {
        LevelProgress { engine, k, kept, expansions, bytes }
    }
}

/// Returns a sender without a receiver: a test that runs one search alone drops its events.
#[cfg(test)]
pub(crate) fn dropped_events() -> SyncSender<Event> {
    // With a receiver that takes nothing, a search would wait for it as soon as the channel is
    // full.
    let (events, receiver) = sync_channel(0);
    drop(receiver);
    events
}
