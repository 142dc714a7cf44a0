//! What an analysis tells while it is at work.

use crate::overapproximation::ladder::Rung;
use crate::squeeze::analysis::Level;
use crate::squeeze::levels::Glimpse;
use crate::squeeze::upper_search::Climbed;
use crate::statistics::Engine;

/// What happened, for whoever shows it. Events of the two ends come in any order.
#[derive(Clone, Debug)]
pub enum Event {
    /// Whether finite context reachability holds, and how that is known, if it is known at once.
    Fcr(Option<(bool, String)>),
    /// A rung is being computed, and has so many states or tuples by now.
    Overapproximating {
        /// Which one.
        rung: Rung,
        /// How many.
        states: usize,
        /// The memory in use, that of the rungs before included.
        bytes: usize,
    },
    /// A rung is done with.
    Climbed(Climbed),
    /// A level is being computed.
    Exploring(LevelProgress),
    /// A level is finished.
    Level(Level),
}

/// What can be seen of a level while it is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LevelProgress {
    /// What it is made of.
    pub engine: Engine,
    /// The last level that is finished.
    pub k: usize,
    /// States or tuples kept.
    pub kept: usize,
    /// Successors looked up.
    pub expansions: u64,
    /// The memory in use.
    pub bytes: usize,
}

impl LevelProgress {
    pub(crate) fn of(&Glimpse { engine, k, kept, expansions, bytes, .. }: &Glimpse<'_>) -> Self {
        LevelProgress { engine, k, kept, expansions, bytes }
    }
}
