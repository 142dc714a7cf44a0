//! Events: what a search reports while it works, as data.

use crate::overapproximation::ladder::Rung;
use crate::squeeze::analysis::Level;
use crate::squeeze::level_store::LevelSnapshot;
use crate::squeeze::rung_outcome::RungResult;
use crate::statistics::Engine;

/// What happened. Events of the two searches come in any order.
#[derive(Clone, Debug)]
pub enum Event {
    /// Whether finite context reachability holds and how that is known, if it is known from the
    /// start.
    Fcr(Option<(bool, String)>),
    /// A rung is being computed, and has so many states or tuples by now.
    Overapproximating {
        /// Which one.
        rung: Rung,
        /// How many.
        states: usize,
        /// The memory in use, including that of the rungs before.
        bytes: usize,
    },
    /// A rung is computed, or given up.
    Rung(RungResult),
    /// A level is being computed.
    Exploring(LevelProgress),
    /// A level is complete.
    Level(Level),
}

/// How far a level is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LevelProgress {
    /// What it is made of.
    pub engine: Engine,
    /// The last complete level.
    pub k: usize,
    /// How many states or tuples are stored.
    pub kept: usize,
    /// How many successors were looked up.
    pub expansions: u64,
    /// The memory in use.
    pub bytes: usize,
}

impl LevelProgress {
    pub(crate) fn of(&LevelSnapshot { engine, k, kept, expansions, bytes, .. }: &LevelSnapshot<'_>) -> Self {
        LevelProgress { engine, k, kept, expansions, bytes }
    }
}
