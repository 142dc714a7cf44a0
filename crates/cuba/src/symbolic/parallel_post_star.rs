//! post\* for several starts at a time, on several cores.
//!
//! The starts of the contexts of a level are given in advance. So post\* is computed for several of
//! them in parallel. When the exploration needs a result, it takes it, numbers its languages, and
//! checks whether the memory suffices. So the outcome does not depend on what was computed in
//! parallel, or on the number of cores.

use crate::automata::action_index::ActionIndex;
use crate::automata::language_table::Languages;
use crate::cancel::Cancel;
use crate::symbolic::thread_contexts::PostStar;
use crate::tables::step_cache::ThreadState;
use crate::tables::workers::WorkerPool;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

/// A program, a shared state and a language.
pub(crate) type ProgramStart = (usize, ThreadState);

/// The results that the exploration has not taken yet.
#[derive(Default)]
pub(crate) struct ParallelPostStar {
    workers: WorkerPool,
    results: FxHashMap<ProgramStart, PostStar>,
    /// The number of results that the exploration has taken.
    used: usize,
}

/// The number of computations for each worker in a batch.
const RESULTS_PER_WORKER: usize = 8;

impl ParallelPostStar {
    /// Creates the table without results.
    pub(crate) fn new(workers: WorkerPool) -> Self {
        ParallelPostStar { workers, ..ParallelPostStar::default() }
    }

    /// Returns the largest number of computations at a time; 0 if there is only one worker.
    pub(crate) fn batch(&self) -> usize {
        let workers = self.workers.count();
        if workers > 1 { workers * RESULTS_PER_WORKER } else { 0 }
    }

    /// Whether there is a result for a start.
    pub(crate) fn has(&self, start: ProgramStart) -> bool {
        self.results.contains_key(&start)
    }

    /// Takes the result for a start, if there is one.
    pub(crate) fn take(&mut self, start: ProgramStart) -> Option<PostStar> {
        let result = self.results.remove(&start);
        self.used += usize::from(result.is_some());
        result
    }

    /// Replaces the results by those of other starts. Each computation may take an equal part of
    /// `room` bytes; those that need more have no result.
    pub(crate) fn compute(
        &mut self,
        starts: &[ProgramStart],
        languages: &Languages,
        action_indexes: &[ActionIndex],
        room: usize,
        cancel: &Cancel,
    ) {
        self.results.clear();
        let room = room / starts.len().max(1);
        let result = |&(program, start): &ProgramStart| {
            let post_star = PostStar::new(languages, &action_indexes[program], start, room, cancel).ok()?;
            Some(((program, start), post_star))
        };
        if let Some(pool) = self.workers.pool() {
            let results: Vec<_> = pool.install(|| starts.par_iter().map(result).collect());
            self.results.extend(results.into_iter().flatten());
        }
    }

    /// Returns the number of results that the exploration has taken.
    #[cfg(test)]
    pub(crate) fn used(&self) -> usize {
        self.used
    }
}

#[cfg(test)]
mod tests {
    use crate::cancel::Cancel;
    use crate::symbolic::levels::{Symbolic, SymbolicOptions};
    use crate::tuning::Tuning;
    use cpds::Problem;
    use cpds_testing::random::{Shape, problem};
    use proptest::prelude::*;
    use std::cell::Cell;
    use std::ops::ControlFlow;
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    /// Returns all tables at each check, and the number of results that were computed in parallel
    /// and used.
    fn snapshots(problem: &Problem, options: SymbolicOptions, workers: usize) -> (Vec<Vec<u8>>, usize) {
        let mut snapshots = Vec::new();
        let mut tuples = Symbolic::new(problem.system(), options);
        tuples.use_workers(&Cancel::default(), Arc::new(AtomicUsize::new(workers)));
        for _ in 0..4 {
            let more = tuples.advance(&mut |tuples: &Symbolic<'_>| {
                snapshots.push(postcard::to_stdvec(tuples).unwrap());
                if snapshots.len() < 30 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            snapshots.push(postcard::to_stdvec(&tuples).unwrap());
            if more.is_err() {
                break;
            }
        }
        (snapshots, tuples.contexts().used_in_parallel())
    }

    /// At each check, all tables are the same with one and with several workers, even if the memory
    /// does not suffice.
    #[test]
    fn several_workers_change_nothing() {
        let used = Cell::new(0);
        let variants = (
            any::<bool>(),
            any::<bool>(),
            prop_oneof![Just(None), Just(Some(1))],
            prop_oneof![Just(1 << 24), 1_usize << 12..1 << 18],
        );
        proptest!(ProptestConfig::with_cases(150), |(problem in problem(&Shape { initial: 1..=5, ..Shape::default() }), (symmetry, diagrams, widening, memory) in variants)| {
            let tuning = Tuning { diagram_groups: if diagrams { 1 } else { usize::MAX }, ..Tuning::SMALL };
            let options = SymbolicOptions { widening, ..SymbolicOptions::exact(symmetry, memory, tuning) };
            let (alone, _) = snapshots(&problem, options, 1);
            let (together, in_parallel) = snapshots(&problem, options, 3);
            prop_assert!(alone == together, "three workers do not agree with one");
            used.set(used.get() + in_parallel);
        });
        assert!(used.get() > 500, "only {} results were computed in parallel", used.get());
    }
}
