//! Checkpoints: saves and restores both searches, so that another run can continue.
//!
//! Each search saves its own tables, independently of the other one. Its further results depend
//! only on these tables. The race compares work, not clocks (`squeeze/race.rs`). So the two
//! checkpoints may be of different times: a run that continues from them has the same answer, with
//! the same numbers, as the first run would have had.
//!
//! This file has the interface for callers, and decides when a search is saved. The saved form of
//! the searches is in `squeeze/saved_search.rs`.

use crate::distributed::protocol::supersteps::Elsewhere;
use crate::encoding::{StorageError, read};
use crate::squeeze::both_searches::Squeeze;
use crate::squeeze::race::Side;
use crate::squeeze::saved_search::{SavedLowerSearch, SavedUpperSearch};
use std::io::{Read, Write};
use std::time::Duration;

/// Where the caller stores checkpoints, and how often.
pub trait CheckpointWriter: Sync {
    /// Reports that a search begins, in the thread that calls this.
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
    /// Reports that a search begins in this thread.
    pub(super) fn report_start(&self, side: Side) {
        if let Some(writer) = self.checkpoint_writer {
            writer.begins(side);
        }
    }

    /// Saves a search if a checkpoint is due. Returns whether it was saved.
    pub(super) fn save_if_due(&self, side: Side, write: &dyn Fn(&mut dyn Write) -> Result<(), StorageError>) -> bool {
        self.checkpoint_writer.is_some_and(|writer| writer.is_due(side) && writer.save(side, write))
    }

    /// Saves a search that has ended, once, if a checkpoint is due while the other search still
    /// works.
    pub(super) fn save_when_over(&self, side: Side, write: &dyn Fn(&mut dyn Write) -> Result<(), StorageError>) {
        let Some(writer) = self.checkpoint_writer else { return };
        self.race.finish(side);
        while self.race.is_running(side.other()) {
            if writer.is_due(side) {
                writer.save(side, write);
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cancel::Cancel;
    use crate::squeeze::analysis::{Analysis, Conclusion, Proof};
    use crate::squeeze::event::Event;
    use crate::squeeze::question::{Control, Options, Question};
    use crate::squeeze::search::{search_unchecked, search_unchecked_with};
    use crate::statistics::Engine;
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

    /// Returns the report with the proof, as text.
    fn report(analysis: &Analysis<'_>) -> String {
        let proof = match &analysis.conclusion {
            Conclusion::Safe(proof @ Proof::Bounded(_)) | Conclusion::Converged(proof @ Proof::Bounded(_)) => {
                format!("{:?}", analysis.certificate(proof, usize::MAX, &Cancel::default()).unwrap())
            }
            _ => String::new(),
        };
        let engine = analysis.level_store.engine();
        let Analysis { levels, statistics, rungs, visible_sequence, collapse_of_states, between, conclusion, .. } =
            analysis;
        let sequences = (visible_sequence, collapse_of_states);
        format!("{conclusion:?}\n{engine:?} {levels:?}\n{statistics:?}\n{rungs:?}\n{sequences:?}\n{between:?}\n{proof}")
    }

    /// Continues from checkpoints of both searches, saved at several times, and compares the
    /// reports. Returns the number of runs.
    fn resume_from_samples(problem: &Problem, question: Question, options: &Options, first: usize) -> usize {
        let writer = DoublingWriter::new(first);
        let expected = report(&search_unchecked_with(with_writer(&writer), problem, question, options, |_| ()));
        assert_eq!(
            expected,
            report(&search_unchecked(problem, question, options, |_| ())),
            "checkpoints do not change the report"
        );
        let [upper, lower] = writer.saved.into_inner().unwrap();
        let sample = |saved: &[Vec<u8>]| -> Vec<Option<Vec<u8>>> {
            let samples = saved.iter().step_by(saved.len().div_ceil(3).max(1)).chain(saved.last());
            std::iter::once(None).chain(samples.cloned().map(Some)).collect()
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
                let resumed = search_unchecked_with(
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
                assert_eq!(report(&resumed), expected, "{question:?} {options:?}");
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
                runs.set(runs.get() + resume_from_samples(&problem, question, &options, first));
            }
        });
        assert!(runs.get() > 500, "only {} runs continued from a checkpoint", runs.get());
    }

    #[test]
    fn a_truncated_checkpoint_is_refused() {
        let problem: Problem = include_str!("../../../../models/squeeze/journal.cpds").parse().unwrap();
        let writer = DoublingWriter::new(1);
        let options = Options { tuning: Tuning::SMALL, ..Options::default() };
        let _ = search_unchecked_with(with_writer(&writer), &problem, Question::Visible, &options, |_| ());
        for (side, saved) in [Side::Upper, Side::Lower].into_iter().zip(writer.saved.into_inner().unwrap()) {
            let saved = saved.last().expect("a checkpoint was saved");
            assert!(StartPoint::default().read(side, &mut &saved[..saved.len() / 2]).is_err());
            StartPoint::default().read(side, &mut &saved[..]).unwrap();
        }
    }
}
