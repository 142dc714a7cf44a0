//! The saved form of both searches: what a checkpoint has, and how a search is restored from it.
//!
//! Data that can be computed from the rest is not saved, such as hash tables and tables of the
//! system.

use crate::certificate::tuples::{SavedTuples, Tuples};
use crate::distributed::protocol::messages::Failure;
use crate::encoding::{StorageError, write};
use crate::overapproximation::ceiling::Ceiling;
use crate::overapproximation::cut_off_exploration::{CutOffExploration, SavedExploration};
use crate::overapproximation::cut_off_states::{CutOffStates, SavedCutOffStates};
use crate::squeeze::analysis::{Level, Reason};
use crate::squeeze::both_searches::{Squeeze, Timestamped};
use crate::squeeze::level_store::{LevelStore, LevelTables, SavedLevelStore};
use crate::squeeze::lower_search::{LowerOutcome, LowerSearch};
use crate::squeeze::rung_computation::{Invariant, UnfinishedRung};
use crate::squeeze::rung_order::{RungOrder, RungStep};
use crate::squeeze::rung_outcome::RungResult;
use crate::squeeze::upper_search::UpperSearch;
use crate::statistics::{Engine, Statistics};
use crate::symbolic::levels::{SavedSymbolic, Symbolic};
use crate::tables::packed_rows::PackedSet;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::sync::Arc;

/// The lower search in the middle of a level, for a checkpoint.
pub(super) struct LevelInProgress<'e> {
    pub(super) levels: &'e [Timestamped<(Level, Statistics)>],
    pub(super) lower: LevelTables<'e>,
    pub(super) states: Option<&'e LevelStore<'e>>,
    pub(super) start_time: u64,
    pub(super) compared: usize,
}

/// A level in a checkpoint: its time, its numbers, and the statistics.
type SavedLevel = (u64, Level, (Engine, [u64; 7]));

/// The lower search, read from a checkpoint.
pub(super) type SavedLowerSearch =
    (Vec<SavedLevel>, SavedLevelStore, Option<SavedLevelStore>, u64, usize, Option<SavedOutcome>);

/// The outcome of a lower search that has ended before the upper search.
#[derive(Serialize, Deserialize)]
pub(super) enum SavedOutcome {
    Collapsed(u64),
    Unknown(Reason),
}

impl LevelInProgress<'_> {
    /// Writes the search in the middle of a level.
    pub(super) fn write(&self, out: &mut dyn Write) -> Result<(), StorageError> {
        let LevelInProgress { levels, lower, states, start_time, compared } = self;
        write(&(saved_levels(levels), lower, states, start_time, compared, None::<SavedOutcome>), out)
    }
}

/// Returns the levels in their saved form.
fn saved_levels(levels: &[Timestamped<(Level, Statistics)>]) -> Vec<SavedLevel> {
    levels
        .iter()
        .map(|Timestamped { time, value: (level, statistics) }| (*time, *level, statistics.numbers()))
        .collect()
}

impl LowerOutcome {
    /// Returns the outcome in its saved form. `None` if the outcome ends the upper search, too; and
    /// if the memory was too small, so that a run with more memory continues from an earlier
    /// checkpoint.
    pub(super) fn saved(&self) -> Option<SavedOutcome> {
        match *self {
            LowerOutcome::Unknown(Reason::Memory)
            | LowerOutcome::Unsafe { .. }
            | LowerOutcome::Halted(_)
            | LowerOutcome::Disagree(_) => None,
            LowerOutcome::Collapsed(time) => Some(SavedOutcome::Collapsed(time)),
            LowerOutcome::Unknown(reason) => Some(SavedOutcome::Unknown(reason)),
        }
    }
}

impl LowerSearch<'_> {
    /// Writes the search between two levels, or at its end.
    pub(super) fn write(&self, outcome: Option<&SavedOutcome>, out: &mut dyn Write) -> Result<(), StorageError> {
        let LowerSearch { levels, level_store, states, start_time, compared, .. } = self;
        // First the shares of other processes, then the level to which they belong.
        level_store.save_shares()?;
        write(&(saved_levels(levels), level_store, states, start_time, compared, outcome), out)
    }
}

impl<'a> Squeeze<'a, '_> {
    /// Restores the lower search.
    ///
    /// # Errors
    /// If the states are in other processes, and one of these has no such checkpoint.
    pub(super) fn restored_lower(&self, saved: SavedLowerSearch) -> Result<LowerSearch<'a>, Failure> {
        let (levels, lower, states, start_time, compared, outcome) = saved;
        let (options, memory) = (&self.options, self.lower_memory(states.is_some()));
        let elsewhere = self.elsewhere.as_ref();
        let restored = |lower| LevelStore::restored(self.system(), options, memory, elsewhere, lower);
        let level = |(time, level, numbers)| Timestamped { time, value: (level, Statistics::of(numbers)) };
        let is_over = outcome.is_some();
        let outcome = match outcome {
            Some(SavedOutcome::Collapsed(time)) => LowerOutcome::Collapsed(time),
            Some(SavedOutcome::Unknown(reason)) => LowerOutcome::Unknown(reason),
            None => LowerOutcome::Unknown(Reason::ContextBound),
        };
        Ok(LowerSearch {
            levels: levels.into_iter().map(level).collect(),
            level_store: restored(lower)?,
            states: states.map(restored).transpose()?,
            start_time,
            compared,
            is_over,
            outcome,
            upper_deadline: None,
        })
    }
}

/// The tables of an unfinished rung, for a checkpoint.
#[derive(Clone, Copy, Serialize)]
pub(super) enum UnfinishedRungTables<'e> {
    CutOff(&'e CutOffExploration<'e>),
    Widened(&'e Symbolic<'e>),
}

#[derive(Deserialize)]
pub(super) enum SavedUnfinishedRung {
    CutOff(Box<SavedExploration>),
    Widened(Box<SavedSymbolic>),
}

#[derive(Deserialize)]
pub(super) enum SavedInvariant {
    CutOff(SavedCutOffStates),
    Widened(SavedTuples),
}

/// The states of the ceiling.
#[derive(Serialize)]
enum CeilingSet<'e> {
    /// The set of the invariant with this number.
    Of(usize),
    /// A separate set.
    Own(&'e PackedSet),
}

#[derive(Deserialize)]
pub(super) enum SavedCeilingSet {
    Of(usize),
    Own(PackedSet),
}

/// The upper search, read from a checkpoint.
pub(super) type SavedUpperSearch = (
    (Vec<Timestamped<RungResult>>, Vec<Option<SavedInvariant>>, Option<SavedCeilingSet>, Vec<u32>),
    (Option<usize>, RungOrder, Option<(RungStep, SavedUnfinishedRung)>, bool),
);

impl UpperSearch<'_> {
    /// Writes the search, with the unfinished rung, if there is one.
    pub(super) fn write(
        &self,
        unfinished: Option<(RungStep, UnfinishedRungTables<'_>)>,
        out: &mut dyn Write,
    ) -> Result<(), StorageError> {
        let UpperSearch { rungs, invariants, ceiling, safe_after, order, is_over, .. } = self;
        let set = ceiling.set().map(|set| {
            let same = |invariant: &Option<Invariant<'_>>| match invariant {
                Some(Invariant::CutOff(states)) => Arc::ptr_eq(states.set(), set),
                _ => false,
            };
            invariants.iter().position(same).map_or(CeilingSet::Own(set), CeilingSet::Of)
        });
        write(&((rungs, invariants, set, ceiling.marks()), (safe_after, order, unfinished, is_over)), out)
    }
}

impl<'a> Squeeze<'a, '_> {
    /// Restores the upper search.
    pub(super) fn restored_upper(&self, saved: SavedUpperSearch) -> UpperSearch<'a> {
        let symmetry = &self.symmetry;
        let ((rungs, invariants, set, marks), (safe_after, order, unfinished, is_over)) = saved;
        let system = self.system();
        let cut = |step: Option<&Timestamped<RungResult>>| step.and_then(|step| step.value.rung.cut());
        let invariant = |(number, invariant): (usize, Option<SavedInvariant>)| match invariant? {
            SavedInvariant::CutOff(states) => {
                Some(Invariant::CutOff(CutOffStates::restored(system, symmetry, cut(rungs.get(number))?, states)))
            }
            SavedInvariant::Widened(tuples) => Some(Invariant::Widened(Tuples::restored(symmetry, tuples))),
        };
        let invariants: Vec<_> = invariants.into_iter().enumerate().map(invariant).collect();
        let set = set.and_then(|set| match (set, &invariants) {
            (SavedCeilingSet::Own(set), _) => Some(Arc::new(set)),
            (SavedCeilingSet::Of(number), all) => match all.get(number) {
                Some(Some(Invariant::CutOff(states))) => Some(states.set().clone()),
                _ => None,
            },
        });
        let unfinished = unfinished.and_then(|(step, rung)| {
            let rung = match rung {
                SavedUnfinishedRung::CutOff(saved) => UnfinishedRung::CutOff(Box::new(CutOffExploration::restored(
                    system,
                    symmetry.clone(),
                    step.rung.cut()?,
                    *saved,
                    self.options.tuning,
                ))),
                SavedUnfinishedRung::Widened(saved) => UnfinishedRung::Widened(saved),
            };
            Some((step, rung))
        });
        let ceiling = Ceiling::restored(symmetry.clone(), set, marks);
        UpperSearch { rungs, invariants, ceiling, safe_after, halted: None, order, unfinished, is_over }
    }
}
