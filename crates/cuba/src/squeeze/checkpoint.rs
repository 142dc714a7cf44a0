//! Checkpoints: saves and restores both searches, so that another run can continue.
//!
//! Each search saves its own tables, independently of the other one. Its further results depend only
//! on these tables. Time is work (`squeeze/race.rs`), so the two checkpoints may be of different
//! times: a run that continues from them has the same answer, with the same numbers, as the first
//! run would have had.
//!
//! Data that can be computed from the rest is not saved, such as hash tables and tables of the
//! system.

use crate::certificate::tuples::{SavedTuples, Tuples};
use crate::distributed::coordinator::Elsewhere;
use crate::distributed::worker::Failure;
use crate::encoding::{StorageError, read, write};
use crate::overapproximation::ceiling::Ceiling;
use crate::overapproximation::cut_off_exploration::{CutOffExploration, SavedExploration};
use crate::overapproximation::cut_off_states::{CutOffStates, SavedCutOffStates};
use crate::squeeze::analysis::{Level, Reason};
use crate::squeeze::context::{Squeeze, Timestamped};
use crate::squeeze::level_store::{LevelStore, LevelTables, SavedLevelStore};
use crate::squeeze::lower_search::{LowerOutcome, LowerSearch};
use crate::squeeze::race::Side;
use crate::squeeze::rung_computation::{Invariant, UnfinishedRung};
use crate::squeeze::rung_order::{RungOrder, RungStep};
use crate::squeeze::rung_outcome::RungResult;
use crate::squeeze::upper_search::UpperSearch;
use crate::statistics::{Engine, Statistics};
use crate::symbolic::levels::{SavedSymbolic, Symbolic};
use crate::tables::packed_rows::PackedSet;
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Duration;

/// Where the caller stores checkpoints, and how often.
pub trait CheckpointWriter: Sync {
    /// A search begins, in the thread that calls this.
    fn begins(&self, _side: Side) {}

    /// Whether a checkpoint of this search is due.
    fn is_due(&self, side: Side) -> bool;

    /// Stores the output of `write` as the checkpoint of a search. Returns whether it is stored.
    fn save(&self, side: Side, write: &dyn Fn(&mut dyn Write) -> Result<(), StorageError>) -> bool;
}

/// The start of both searches: the checkpoints of another run, or the initial states.
#[derive(Default)]
pub struct StartPoint {
    pub(super) lower: Option<SavedLowerSearch>,
    pub(super) upper: Option<SavedUpperSearch>,
    /// The processes that store the states, if this one does not store all of them.
    pub elsewhere: Option<Elsewhere>,
}

impl StartPoint {
    /// Reads the checkpoint of a search. The problem and the options must be those of the run that
    /// saved it; only limits may differ.
    pub fn read(&mut self, side: Side, input: &mut dyn Read) -> Result<(), StorageError> {
        match side {
            Side::Lower => self.lower = Some(read(input)?),
            Side::Upper => self.upper = Some(read(input)?),
        }
        Ok(())
    }
}

impl Squeeze<'_, '_> {
    /// A search begins in this thread.
    pub(super) fn begins(&self, side: Side) {
        if let Some(writer) = self.checkpoint_writer {
            writer.begins(side);
        }
    }

    /// Saves a search if a checkpoint is due. Returns whether it was saved.
    pub(super) fn save_if_due(&self, side: Side, write: &dyn Fn(&mut dyn Write) -> Result<(), StorageError>) -> bool {
        self.checkpoint_writer.is_some_and(|writer| writer.is_due(side) && writer.save(side, write))
    }

    /// A search is over. If the other one still works when a checkpoint is due, saves this one once.
    pub(super) fn save_when_over(&self, side: Side, write: &dyn Fn(&mut dyn Write) -> Result<(), StorageError>) {
        let Some(writer) = self.checkpoint_writer else { return };
        self.race.leaves(side);
        while self.race.is_at_work(side.other()) {
            if writer.is_due(side) {
                writer.save(side, write);
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// The lower search in the middle of a level, for a checkpoint.
pub(super) struct LevelInProgress<'e> {
    pub(super) levels: &'e [Timestamped<(Level, Statistics)>],
    pub(super) lower: LevelTables<'e>,
    pub(super) states: Option<&'e LevelStore<'e>>,
    pub(super) before: u64,
    pub(super) compared: usize,
}

/// A level in a checkpoint: its time, its numbers, and the statistics.
type SavedLevel = (u64, Level, (Engine, [u64; 7]));

/// The lower search, as read from a checkpoint.
pub(super) type SavedLowerSearch =
    (Vec<SavedLevel>, SavedLevelStore, Option<SavedLevelStore>, u64, usize, Option<SavedOutcome>);

/// The outcome of the lower search, in a checkpoint that the upper search still needs.
#[derive(Serialize, Deserialize)]
pub(super) enum SavedOutcome {
    Collapsed(u64),
    Unknown(Reason),
}

impl LevelInProgress<'_> {
    pub(super) fn write(&self, out: &mut dyn Write) -> Result<(), StorageError> {
        let LevelInProgress { levels, lower, states, before, compared } = self;
        write(&(saved_levels(levels), lower, states, before, compared, None::<SavedOutcome>), out)
    }
}

fn saved_levels(levels: &[Timestamped<(Level, Statistics)>]) -> Vec<SavedLevel> {
    levels.iter().map(|Timestamped { time, what: (level, statistics) }| (*time, *level, statistics.numbers())).collect()
}

impl LowerOutcome {
    /// The outcome as it is saved. `None` if the other search is over, too, and none if the memory was
    /// too small: a run with more memory continues from an earlier checkpoint.
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
        let LowerSearch { levels, level_store, states, before, compared, .. } = self;
        // The shares of other processes come first, then the level that they belong to.
        level_store.save_shares()?;
        write(&(saved_levels(levels), level_store, states, before, compared, outcome), out)
    }
}

impl<'a> Squeeze<'a, '_> {
    /// Restores the lower search.
    ///
    /// # Errors
    /// If the states are in other processes, and one of these has no such checkpoint.
    pub(super) fn restored_lower(&self, saved: SavedLowerSearch) -> Result<LowerSearch<'a>, Failure> {
        let (levels, lower, states, before, compared, outcome) = saved;
        let (options, memory) = (&self.options, self.lower_memory(states.is_some()));
        let elsewhere = self.elsewhere.as_ref();
        let restored = |lower| LevelStore::restored(self.system(), options, memory, elsewhere, lower);
        let level = |(time, level, numbers)| Timestamped { time, what: (level, Statistics::of(numbers)) };
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
            before,
            compared,
            is_over,
            outcome,
            enough: None,
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

/// The states of the ceiling: those of the invariant with this number, or a set of its own.
#[derive(Serialize)]
enum CeilingSet<'e> {
    Of(usize),
    Own(&'e PackedSet),
}

#[derive(Deserialize)]
pub(super) enum SavedCeilingSet {
    Of(usize),
    Own(PackedSet),
}

/// The upper search, as read from a checkpoint.
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
        let UpperSearch { rungs, invariants, ceiling, safe, order, is_over, .. } = self;
        let set = ceiling.set().map(|set| {
            let same = |invariant: &Option<Invariant<'_>>| match invariant {
                Some(Invariant::CutOff(states)) => Arc::ptr_eq(states.set(), set),
                _ => false,
            };
            invariants.iter().position(same).map_or(CeilingSet::Own(set), CeilingSet::Of)
        });
        write(&((rungs, invariants, set, ceiling.marks()), (safe, order, unfinished, is_over)), out)
    }
}

impl<'a> Squeeze<'a, '_> {
    /// Restores the upper search.
    pub(super) fn restored_upper(&self, saved: SavedUpperSearch) -> UpperSearch<'a> {
        let symmetry = &self.symmetry;
        let ((rungs, invariants, set, marks), (safe, order, unfinished, is_over)) = saved;
        let system = self.system();
        let cut = |step: Option<&Timestamped<RungResult>>| step.and_then(|step| step.what.rung.cut());
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
        UpperSearch { rungs, invariants, ceiling, safe, halted: None, order, unfinished, is_over }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Cancel;
    use crate::squeeze::analysis::{Analysis, Conclusion, Proof};
    use crate::squeeze::event::Event;
    use crate::squeeze::question::{Control, Options, Question};
    use crate::squeeze::search::{search, search_with};
    use crate::tuning::Tuning;
    use cpds::Problem;
    use cpds_testing::random::{Shape, problem};
    use proptest::prelude::*;
    use std::cell::Cell;
    use std::collections::BTreeSet;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// A writer that saves after `first` checks of a search, then after twice as many, and so on.
    struct DoublingWriter {
        first: usize,
        checks: [AtomicUsize; 2],
        saved: Mutex<[Vec<Vec<u8>>; 2]>,
    }

    impl DoublingWriter {
        fn new(first: usize) -> Self {
            DoublingWriter { first, checks: Default::default(), saved: Mutex::default() }
        }
    }

    impl CheckpointWriter for DoublingWriter {
        fn is_due(&self, side: Side) -> bool {
            let checks = 1 + self.checks[side as usize].fetch_add(1, Ordering::Relaxed);
            checks.is_multiple_of(self.first) && (checks / self.first).is_power_of_two()
        }

        fn save(&self, side: Side, write: &dyn Fn(&mut dyn Write) -> Result<(), StorageError>) -> bool {
            let mut content = Vec::new();
            write(&mut content).unwrap();
            self.saved.lock().unwrap()[side as usize].push(content);
            true
        }
    }

    fn with_writer(writer: &DoublingWriter) -> Control<'_> {
        Control { checkpoint_writer: Some(writer), ..Control::default() }
    }

    /// Everything that is reported, and the proof, as text.
    fn report(found: &Analysis<'_>) -> String {
        let proof = match &found.conclusion {
            Conclusion::Safe(proof @ Proof::Bounded(_)) | Conclusion::Converged(proof @ Proof::Bounded(_)) => {
                format!("{:?}", found.certificate(proof, usize::MAX, &Cancel::default()).unwrap())
            }
            _ => String::new(),
        };
        let engine = found.level_store.engine();
        let Analysis { levels, statistics, rungs, visible_sequence, collapse_of_states, between, conclusion, .. } =
            found;
        let sequences = (visible_sequence, collapse_of_states);
        format!("{conclusion:?}\n{engine:?} {levels:?}\n{statistics:?}\n{rungs:?}\n{sequences:?}\n{between:?}\n{proof}")
    }

    /// Continues from checkpoints of both searches, taken at several times, and compares the reports.
    /// Returns the number of runs.
    fn resume_from_everywhere(problem: &Problem, question: Question, options: &Options, first: usize) -> usize {
        let writer = DoublingWriter::new(first);
        let whole = report(&search_with(with_writer(&writer), problem, question, options, |_| ()));
        assert_eq!(whole, report(&search(problem, question, options, |_| ())), "saving changes nothing");
        let [upper, lower] = writer.saved.into_inner().unwrap();
        let sample = |saved: &[Vec<u8>]| -> Vec<Option<Vec<u8>>> {
            let few = saved.iter().step_by(saved.len().div_ceil(3).max(1)).chain(saved.last());
            std::iter::once(None).chain(few.cloned().map(Some)).collect()
        };
        let mut runs = 0;
        for lower in sample(&lower) {
            for upper in sample(&upper) {
                let mut start = StartPoint::default();
                for (side, saved) in [(Side::Lower, &lower), (Side::Upper, &upper)] {
                    if let Some(saved) = saved {
                        start.read(side, &mut &**saved).unwrap();
                    }
                }
                let (mut levels, mut ladder) = (BTreeSet::new(), Vec::new());
                let resumed = search_with(
                    Control { start, ..Control::default() },
                    problem,
                    question,
                    options,
                    |event| match event {
                        Event::Level(level) => _ = levels.insert(level.k),
                        Event::Rung(result) => ladder.push(result),
                        _ => {}
                    },
                );
                assert_eq!(report(&resumed), whole, "{question:?} {options:?}");
                assert!(
                    resumed.levels.iter().all(|level| levels.contains(&level.k)),
                    "restored results are reported again"
                );
                assert!(ladder.starts_with(&resumed.rungs), "restored results are reported again");
                runs += usize::from(lower.is_some() || upper.is_some());
            }
        }
        runs
    }

    #[test]
    fn a_resumed_run_reports_the_same() {
        let runs = Cell::new(0);
        let options = (
            0_usize..6,
            prop_oneof![Just(1_usize << 20), 1_usize << 10..1 << 17],
            prop_oneof![Just(None), Just(Some(1))],
            prop_oneof![Just(100), 0_usize..6],
            prop_oneof![Just(None), Just(Some(Engine::Explicit)), Just(Some(Engine::Symbolic))],
            (any::<bool>(), 1_usize..=2, 1_usize..4),
        );
        let shape = Shape { initial: 1..=5, bad: 1..=2, ..Shape::default() };
        let cases = ProptestConfig::with_cases(50);
        proptest!(cases, |(problem in problem(&shape), (contexts, memory, depth, tuples, engine, (symmetry, jobs, first)) in options)| {
            let Tuning { upper_grace, z_head_start, .. } = Tuning::SHIPPED;
            let shipped_race = Tuning { upper_grace, z_head_start, ..Tuning::SMALL };
            let options = Options {
                tuning: if symmetry { Tuning::SMALL } else { shipped_race },
                engine,
                symmetry,
                max_contexts: Some(contexts),
                max_depth: depth,
                max_tuples: Some(tuples),
                memory,
                jobs,
                ..Options::default()
            };
            for question in [Question::Verify, Question::Visible, Question::Reachable] {
                runs.set(runs.get() + resume_from_everywhere(&problem, question, &options, first));
            }
        });
        assert!(runs.get() > 500, "only {} runs continued from a checkpoint", runs.get());
    }

    /// A truncated checkpoint is an error.
    #[test]
    fn a_truncated_checkpoint_is_refused() {
        let problem: Problem = include_str!("../../../../models/squeeze/journal.cpds").parse().unwrap();
        let writer = DoublingWriter::new(1);
        let options = Options { tuning: Tuning::SMALL, ..Options::default() };
        let _ = search_with(with_writer(&writer), &problem, Question::Visible, &options, |_| ());
        for (side, saved) in [Side::Upper, Side::Lower].into_iter().zip(writer.saved.into_inner().unwrap()) {
            let saved = saved.last().expect("a checkpoint was saved");
            assert!(StartPoint::default().read(side, &mut &saved[..saved.len() / 2]).is_err());
            StartPoint::default().read(side, &mut &saved[..]).unwrap();
        }
    }
}
