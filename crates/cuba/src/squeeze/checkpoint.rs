//! Keeping what both ends have, so that another run can go on from there.
//!
//! Each end writes down its own tables, at a time of its own. What it finds from there on depends on nothing but these; and which of
//! two answers was first is decided from times that are work (`squeeze/race.rs`). So it does not matter that the two are not kept at once,
//! and a run that goes on comes to the answer, with all its numbers, to which the first one would have come.
//!
//! Tables are written without what can be made anew from the rest: hash tables, and whatever follows from the system.

use crate::certificate::tuples::{SavedTuples, Tuples};
use crate::distributed::coordinator::Elsewhere;
use crate::distributed::worker::Failure;
use crate::encoding::{NotKept, read, write};
use crate::overapproximation::remaining::Ceiling;
use crate::overapproximation::z::{CutOffStates, Growing, SavedGrowing, SavedStates};
use crate::squeeze::analysis::{Level, Reason};
use crate::squeeze::levels::{Lower, SavedLower, Tables};
use crate::squeeze::lower_search::{LowerEnd, LowerOutcome, Squeeze, Timed};
use crate::squeeze::race::End;
use crate::squeeze::upper_search::{Begun, Climb, Climbed, Invariant, Step, UpperEnd};
use crate::statistics::{Engine, Statistics};
use crate::symbolic::levels::{SavedSymbolic, Symbolic};
use crate::tables::packed_rows::PackedSet;
use crate::visible::symmetry::Symmetry;
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};
use std::sync::Arc;
use std::time::Duration;

/// Somebody who keeps what the ends have.
pub trait Keeper: Sync {
    /// An end begins its work, in the thread that calls this.
    fn begins(&self, _end: End) {}

    /// Whether it is time to keep what an end has.
    fn is_due(&self, end: End) -> bool;

    /// Keeps what is written to where it says, and says whether it is kept.
    fn keep(&self, end: End, write: &dyn Fn(&mut dyn Write) -> Result<(), NotKept>) -> bool;
}

/// What the ends start with: what another run has kept, or nothing.
#[derive(Default)]
pub struct Start {
    pub(crate) lower: Option<SavedLowerEnd>,
    pub(crate) upper: Option<SavedUpperEnd>,
    /// Where states are, if not here.
    pub elsewhere: Option<Elsewhere>,
}

impl Start {
    /// Reads what an end has kept. The problem must be that of the run that kept it, and so must the options; what limits it may be
    /// other.
    pub fn read(&mut self, end: End, input: &mut dyn Read) -> Result<(), NotKept> {
        match end {
            End::Lower => self.lower = Some(read(input)?),
            End::Upper => self.upper = Some(read(input)?),
        }
        Ok(())
    }
}

impl Squeeze<'_, '_> {
    /// An end begins its work in this thread.
    pub(crate) fn begins(&self, end: End) {
        if let Some(keeper) = self.keeper {
            keeper.begins(end);
        }
    }

    /// Keeps what an end has, if it is time. Says whether it did.
    pub(crate) fn keep_if_due(&self, end: End, write: &dyn Fn(&mut dyn Write) -> Result<(), NotKept>) -> bool {
        self.keeper.is_some_and(|keeper| keeper.is_due(end) && keeper.keep(end, write))
    }

    /// An end is over. If the other one is not before it is time, keeps what this one has, once.
    pub(crate) fn keep_when_over(&self, end: End, write: &dyn Fn(&mut dyn Write) -> Result<(), NotKept>) {
        let Some(keeper) = self.keeper else { return };
        self.race.leaves(end);
        while self.race.is_at_work(end.other()) {
            if keeper.is_due(end) {
                keeper.keep(end, write);
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// What is kept of the lower end in the middle of a level.
pub(crate) struct Kept<'e> {
    pub(crate) levels: &'e [Timed<(Level, Statistics)>],
    pub(crate) lower: Tables<'e>,
    pub(crate) states: Option<&'e Lower<'e>>,
    pub(crate) before: u64,
    pub(crate) looked_at: usize,
}

/// What is kept of a level.
type SavedLevel = (u64, Level, (Engine, [u64; 7]));

/// What is kept of the lower end.
pub(crate) type SavedLowerEnd = (Vec<SavedLevel>, SavedLower, Option<SavedLower>, u64, usize, Option<SavedOutcome>);

/// What the lower end came to, if there is something left to do for the other one.
#[derive(Serialize, Deserialize)]
pub(crate) enum SavedOutcome {
    Collapsed(u64),
    Unknown(Reason),
}

impl Kept<'_> {
    pub(crate) fn write(&self, out: &mut dyn Write) -> Result<(), NotKept> {
        let Kept { levels, lower, states, before, looked_at } = self;
        write(&(saved_levels(levels), lower, states, before, looked_at, None::<SavedOutcome>), out)
    }
}

fn saved_levels(levels: &[Timed<(Level, Statistics)>]) -> Vec<SavedLevel> {
    levels.iter().map(|Timed { time, what: (level, statistics) }| (*time, *level, statistics.numbers())).collect()
}

impl LowerOutcome {
    /// What is kept of it, unless there is nothing left to do for anybody; or unless what was kept before is better to go on from: with more
    /// memory there is more.
    pub(crate) fn kept(&self) -> Option<SavedOutcome> {
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

impl LowerEnd<'_> {
    /// Writes down what is kept between two levels, or of an end that is over.
    pub(crate) fn write(&self, outcome: Option<&SavedOutcome>, out: &mut dyn Write) -> Result<(), NotKept> {
        let LowerEnd { levels, lower, states, before, looked_at, .. } = self;
        // First all shares, then what says of which level they are.
        lower.keep_shares()?;
        write(&(saved_levels(levels), lower, states, before, looked_at, outcome), out)
    }
}

impl<'a> Squeeze<'a, '_> {
    /// The lower end, as it was when it was kept.
    ///
    /// # Errors
    /// If it is in other processes, which do not have it.
    pub(crate) fn restored_lower(&self, saved: SavedLowerEnd) -> Result<LowerEnd<'a>, Failure> {
        let (levels, lower, states, before, looked_at, outcome) = saved;
        let (symmetry, memory) = (self.options.symmetry, self.lower_memory(states.is_some()));
        let elsewhere = self.elsewhere.as_ref();
        let restored = |lower| Lower::restored(self.system(), symmetry, memory, elsewhere, lower);
        let level = |(time, level, numbers)| Timed { time, what: (level, Statistics::of(numbers)) };
        let is_over = outcome.is_some();
        let outcome = match outcome {
            Some(SavedOutcome::Collapsed(time)) => LowerOutcome::Collapsed(time),
            Some(SavedOutcome::Unknown(reason)) => LowerOutcome::Unknown(reason),
            None => LowerOutcome::Unknown(Reason::ContextBound),
        };
        Ok(LowerEnd {
            levels: levels.into_iter().map(level).collect(),
            lower: restored(lower)?,
            states: states.map(restored).transpose()?,
            before,
            looked_at,
            is_over,
            outcome,
            enough: None,
        })
    }
}

/// The tables of a rung that has been begun, as they are kept.
#[derive(Clone, Copy, Serialize)]
pub(crate) enum BegunTables<'e> {
    CutOff(&'e Growing<'e>),
    Widened(&'e Symbolic<'e>),
}

#[derive(Deserialize)]
pub(crate) enum SavedBegun {
    CutOff(Box<SavedGrowing>),
    Widened(Box<SavedSymbolic>),
}

#[derive(Deserialize)]
pub(crate) enum SavedInvariant {
    CutOff(SavedStates),
    Widened(SavedTuples),
}

/// The states of the ceiling: those of the invariant with this number, or others.
#[derive(Serialize)]
enum CeilingSet<'e> {
    Of(usize),
    Own(&'e PackedSet),
}

#[derive(Deserialize)]
pub(crate) enum SavedCeilingSet {
    Of(usize),
    Own(PackedSet),
}

/// What is kept of the upper end.
pub(crate) type SavedUpperEnd = (
    (Vec<Timed<Climbed>>, Vec<Option<SavedInvariant>>, Option<SavedCeilingSet>, Vec<u32>),
    (Option<usize>, Climb, Option<(Step, SavedBegun)>, bool),
);

impl UpperEnd<'_> {
    /// Writes down what is kept, with a rung that has been begun.
    pub(crate) fn write(&self, begun: Option<(Step, BegunTables<'_>)>, out: &mut dyn Write) -> Result<(), NotKept> {
        let UpperEnd { rungs, invariants, ceiling, safe, climb, is_over, .. } = self;
        let set = ceiling.set().map(|set| {
            let same = |invariant: &Option<Invariant<'_>>| match invariant {
                Some(Invariant::CutOff(states)) => Arc::ptr_eq(states.set(), set),
                _ => false,
            };
            invariants.iter().position(same).map_or(CeilingSet::Own(set), CeilingSet::Of)
        });
        write(&((rungs, invariants, set, ceiling.marks()), (safe, climb, begun, is_over)), out)
    }
}

impl<'a> Squeeze<'a, '_> {
    /// The upper end, as it was when it was kept.
    pub(crate) fn restored_upper(&self, saved: SavedUpperEnd, symmetry: &Symmetry) -> UpperEnd<'a> {
        let ((rungs, invariants, set, marks), (safe, climb, begun, is_over)) = saved;
        let system = self.system();
        let cut = |step: Option<&Timed<Climbed>>| step.and_then(|step| step.what.rung.cut());
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
        let begun = begun.and_then(|(step, begun)| {
            let begun = match begun {
                SavedBegun::CutOff(saved) => {
                    Begun::CutOff(Box::new(Growing::restored(system, symmetry.clone(), step.rung.cut()?, *saved)))
                }
                SavedBegun::Widened(saved) => Begun::Widened(saved),
            };
            Some((step, begun))
        });
        let ceiling = Ceiling::restored(symmetry.clone(), set, marks);
        UpperEnd { rungs, invariants, ceiling, safe, halted: None, climb, begun, is_over }
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
    use cpds::Problem;
    use cpds_testing::random::{Shape, problem};
    use proptest::prelude::*;
    use std::cell::Cell;
    use std::collections::BTreeSet;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Keeps what there is, first after so many looks of an end, then after twice as many, and so on.
    struct Often {
        first: usize,
        asked: [AtomicUsize; 2],
        kept: Mutex<[Vec<Vec<u8>>; 2]>,
    }

    impl Often {
        fn new(first: usize) -> Self {
            Often { first, asked: Default::default(), kept: Mutex::default() }
        }
    }

    impl Keeper for Often {
        fn is_due(&self, end: End) -> bool {
            let asked = 1 + self.asked[end as usize].fetch_add(1, Ordering::Relaxed);
            asked.is_multiple_of(self.first) && (asked / self.first).is_power_of_two()
        }

        fn keep(&self, end: End, write: &dyn Fn(&mut dyn Write) -> Result<(), NotKept>) -> bool {
            let mut content = Vec::new();
            write(&mut content).unwrap();
            self.kept.lock().unwrap()[end as usize].push(content);
            true
        }
    }

    fn watched(keeper: &Often) -> Control<'_> {
        Control { keeper: Some(keeper), ..Control::default() }
    }

    /// Everything that is told, and the proof.
    fn told(found: &Analysis<'_>) -> String {
        let proof = match &found.conclusion {
            Conclusion::Safe(proof @ Proof::Bounded(_)) | Conclusion::Converged(proof @ Proof::Bounded(_)) => {
                format!("{:?}", found.certificate(proof, usize::MAX, &Cancel::default()).unwrap())
            }
            _ => String::new(),
        };
        let engine = found.lower.engine();
        let Analysis { levels, statistics, rungs, visible_sequence, collapse_of_states, between, conclusion, .. } =
            found;
        let sequences = (visible_sequence, collapse_of_states);
        format!("{conclusion:?}\n{engine:?} {levels:?}\n{statistics:?}\n{rungs:?}\n{sequences:?}\n{between:?}\n{proof}")
    }

    /// Goes on from what was kept, at whatever time by each end, and gives how often.
    fn the_same_from_everywhere(problem: &Problem, question: Question, options: &Options, first: usize) -> usize {
        let keeper = Often::new(first);
        let whole = told(&search_with(watched(&keeper), problem, question, options, |_| ()));
        assert_eq!(whole, told(&search(problem, question, options, |_| ())), "keeping changes nothing");
        let [upper, lower] = keeper.kept.into_inner().unwrap();
        let picked = |kept: &[Vec<u8>]| -> Vec<Option<Vec<u8>>> {
            let few = kept.iter().step_by(kept.len().div_ceil(3).max(1)).chain(kept.last());
            std::iter::once(None).chain(few.cloned().map(Some)).collect()
        };
        let mut runs = 0;
        for lower in picked(&lower) {
            for upper in picked(&upper) {
                let mut start = Start::default();
                for (end, kept) in [(End::Lower, &lower), (End::Upper, &upper)] {
                    if let Some(kept) = kept {
                        start.read(end, &mut &**kept).unwrap();
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
                        Event::Climbed(climbed) => ladder.push(climbed),
                        _ => {}
                    },
                );
                assert_eq!(told(&resumed), whole, "{question:?} {options:?}");
                assert!(resumed.levels.iter().all(|level| levels.contains(&level.k)), "what was kept is told again");
                assert!(ladder.starts_with(&resumed.rungs), "what was kept is told again");
                runs += usize::from(lower.is_some() || upper.is_some());
            }
        }
        runs
    }

    #[test]
    fn a_run_that_goes_on_comes_to_the_same() {
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
            let options = Options {
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
                runs.set(runs.get() + the_same_from_everywhere(&problem, question, &options, first));
            }
        });
        assert!(runs.get() > 500, "only {} runs went on from something", runs.get());
    }

    /// What is cut short is noticed.
    #[test]
    fn half_of_it_is_not_read() {
        let problem: Problem = include_str!("../../../../models/squeeze/journal.cpds").parse().unwrap();
        let keeper = Often::new(1);
        let _ = search_with(watched(&keeper), &problem, Question::Visible, &Options::default(), |_| ());
        for (end, kept) in [End::Upper, End::Lower].into_iter().zip(keeper.kept.into_inner().unwrap()) {
            let kept = kept.last().expect("something was kept");
            assert!(Start::default().read(end, &mut &kept[..kept.len() / 2]).is_err());
            Start::default().read(end, &mut &kept[..]).unwrap();
        }
    }
}
