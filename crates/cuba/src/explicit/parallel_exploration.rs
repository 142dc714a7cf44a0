//! Exploration of R_k by several cores, in rounds.
//!
//! A round takes pairs of the wave, in order, at most until the next check. Its phases:
//! 1. For each piece of the pairs, a worker takes the steps. Their targets are *candidates*; each
//!    waits for the group of shards of the index to which its hash belongs.
//! 2. Steps that are not in the cache are computed, pair by pair, in order. Then the pieces that
//!    lack them take their steps again.
//! 3. For each group of shards, a worker looks up its candidates, in order. New states get
//!    preliminary numbers in the group of shards.
//! 4. For each piece, a worker writes the new states as rows, in the order of the candidates, and
//!    computes their tops. At the same time, for each group of shards, a worker writes their final
//!    numbers into the index, and adds room for the next round.
//!
//! Between rounds, the new visible states are inserted.
//!
//! The result is that of one worker (`explicit/exploration.rs`): each state gets the same number.
//! No phase needs a lock: a worker writes only its own data, and reads shared data. (The masks of
//! threads that reached a state are shared, but only the worker for the group of shards of the
//! state writes its mask.)

use crate::explicit::parallel::busy_workers::with_busy_workers;
use crate::explicit::parallel::marks::Marks;
use crate::explicit::parallel::piece::{NewStates, Piece, StepTables, candidates_for};
use crate::explicit::parallel::rounds::{STEPS, cut};
use crate::explicit::parallel::shard_group::{LookUpTables, ShardGroup};
use crate::explicit::projection::new_visible;
use crate::explicit::reachable::Reachable;
use crate::explicit::tables::frontier::Pair;
use crate::explicit::tables::state_index::{SHARDS, Shard};
use crate::explicit::tables::state_table::States;
use rayon::prelude::*;
use std::ops::Range;

impl Reachable<'_> {
    /// Expands pairs in rounds, while there are enough of them and no check is due. Returns whether
    /// there was any round.
    pub(super) fn expand_in_rounds(&mut self) -> bool {
        if self.rounds.workers.count() == 1 || self.next_round().is_none() {
            return false;
        }
        let Some(pool) = self.rounds.workers.pool() else { return false };
        self.project();
        let (mut pieces, mut groups) = self.rounds.take();
        pool.install(|| {
            with_busy_workers(|| {
                while let Some(pairs) = self.next_round() {
                    let cuts = cut(pairs, pieces.len());
                    pieces.iter_mut().zip(cuts).for_each(|(piece, cut)| piece.pairs = cut);
                    self.round(&mut pieces, &mut groups);
                }
            });
        });
        self.rounds.put_back(pieces, groups);
        true
    }

    /// The pairs of the next round, among those that are ready.
    fn next_round(&mut self) -> Option<Range<usize>> {
        let left = usize::try_from(self.expansions.left()).unwrap_or(usize::MAX);
        let many = self.rounds.pairs_for(left.min(STEPS));
        self.frontier.take(many);
        let pairs = 0..self.frontier.ready().len().min(many);
        (left > 0 && pairs.len() >= self.rounds.fewest_pairs).then_some(pairs)
    }

    fn round(&mut self, pieces: &mut [Piece], groups: &mut [ShardGroup]) {
        let tables = self.step_tables();
        pieces.par_iter_mut().with_max_len(1).for_each(|piece| piece.take_steps(&tables, self.frontier.ready()));
        if self.compute_missing_steps(pieces) {
            let tables = self.step_tables();
            let stale = pieces.par_iter_mut().filter(|piece| piece.is_stale);
            stale.for_each(|piece| piece.take_steps(&tables, self.frontier.ready()));
        }
        let mut first = 0;
        for piece in &mut *pieces {
            piece.first = first;
            first += piece.candidates.next_multiple_of(64);
        }
        let pairs = pieces.iter().map(|piece| piece.pairs.len()).sum::<usize>();
        self.rounds.last = (pairs, pieces.iter().map(|piece| piece.candidates).sum());
        self.frontier.finish(pairs);
        let (level_start, wave_end) = (self.levels.last_start(), self.frontier.end());
        let States { rows, index } = &mut self.states;
        let tables = LookUpTables { rows, reached_by: &self.reached_by, level_start, wave_end };
        let shards = index.par_chunks_mut(SHARDS / groups.len()).zip(&mut *groups).enumerate().with_max_len(1);
        shards.for_each(|(number, (shards, group))| group.look_up(&tables, pieces, number, shards, first / 64));
        self.add_new_states(pieces, groups);
    }

    fn step_tables(&self) -> StepTables<'_> {
        let Reachable { states, steps, symmetry, .. } = self;
        StepTables { states, steps, symmetry }
    }

    /// Computes the steps that are not in the cache, up to the next check. The pieces end there.
    /// Returns whether any piece must take its steps again.
    fn compute_missing_steps(&mut self, pieces: &mut [Piece]) -> bool {
        let layout = self.states.layout().clone();
        for piece in &mut *pieces {
            if !piece.is_stale && (piece.candidates as u64) < self.expansions.left() {
                self.expansions.add(piece.candidates);
                continue;
            }
            piece.is_stale = true;
            for index in piece.pairs.clone() {
                if self.expansions.is_check_due() {
                    piece.pairs.end = index;
                    break;
                }
                let (program, state) = self.step_tables().thread_state(self.frontier.ready()[index]);
                let steps = match self.steps.get(program, state) {
                    Some(steps) => steps,
                    None => self.compute_steps(program, state),
                };
                self.expansions.add(steps.len());
            }
        }
        if *self.states.layout() != layout {
            for piece in &mut *pieces {
                piece.is_stale = true;
            }
        }
        pieces.iter().any(|piece| piece.is_stale)
    }

    /// Numbers the new states, in the order of the candidates, and adds them to the tables. At the
    /// same time, takes pairs for the next round.
    fn add_new_states(&mut self, pieces: &[Piece], groups: &[ShardGroup]) {
        let new = Marks::union(groups.iter().map(|group| &*group.is_new));
        let reopened = Marks::union(groups.iter().map(|group| &*group.is_reopened));
        let States { rows, index } = &mut self.states;
        let (layout, words, first) = (rows.layout().clone(), rows.layout().words(), rows.len());
        let mut targets = Vec::with_capacity(pieces.len());
        let stride = self.reached_by.stride();
        let (mut rows, mut reached_by) = (rows.extend(new.len()), self.reached_by.extend(new.len()));
        let before = self.reopened.len();
        // Zeroed in parallel, as the rows are.
        self.reopened.par_extend(rayon::iter::repeat_n(Pair::default(), reopened.len()));
        let mut pairs = &mut self.reopened[before..];
        for (number, piece) in pieces.iter().enumerate() {
            let end = pieces.get(number + 1).map(|next| next.first);
            let count = |marks: &Marks| {
                end.map_or(marks.len(), |end| marks.count_before(end)) - marks.count_before(piece.first)
            };
            targets.push(NewStates {
                words,
                stride,
                rows: rows.split_off_mut(..count(&new) * words).expect("for all"),
                reached_by: reached_by.split_off_mut(..count(&new) * stride).expect("for all"),
                reopened: pairs.split_off_mut(..count(&reopened)).expect("for all"),
            });
        }
        // Adds room for as many candidates as this round had. Here any core may take a shard. In
        // the look-up each core has its own shards, and all would wait for the core whose shards
        // grow.
        let each = SHARDS / groups.len();
        let settle = |(number, (shards, group)): (usize, (&mut [Shard], &ShardGroup))| {
            group.settle(shards, words, first, &new);
            let grow = |(shard, at)| Shard::make_room(shard, candidates_for(pieces, at));
            shards.par_iter_mut().zip(number * each..(number + 1) * each).with_max_len(1).for_each(grow);
        };
        let shards = index.par_chunks_mut(each).zip(groups).enumerate().with_max_len(1);
        let written = pieces.par_iter().zip(targets).enumerate().with_max_len(1);
        let (frontier, many) = (&mut self.frontier, self.rounds.pairs_for(STEPS));
        let (stacks, visible) = (self.steps.stacks(), self.projection.visible());
        let write = |(number, (piece, mut to)): (usize, (&Piece, NewStates<'_>))| {
            piece.write(number, groups, (&new, &reopened), &mut to);
            new_visible(stacks, (&layout, to.rows), visible)
        };
        let others = || rayon::join(|| written.map(write).collect::<Vec<_>>(), || frontier.take(many));
        let ((), (new_sets, _)) = rayon::join(|| shards.for_each(settle), others);
        self.projection.add(new_sets.iter().flatten(), self.states.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explicit::parallel::rounds::Rounds;
    use crate::tuning::Tuning;
    use cpds::Problem;
    use cpds_testing::random::{Shape, problem};
    use proptest::prelude::*;
    use std::cell::Cell;
    use std::ops::ControlFlow;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// All contents of an exploration, in a form that does not depend on which pairs were taken out
    /// of the wave.
    fn contents(reachable: &Reachable<'_>) -> Vec<u8> {
        let Reachable { states, levels, reached_by, reopened, projection, expansions, steps, .. } = reachable;
        let bytes = (reachable.bytes(), reachable.bytes_at_next_look());
        let tables = (steps.saved(), states, levels, reached_by, reopened);
        let (visible, projected, _) = projection.saved();
        postcard::to_stdvec(&(tables, reachable.frontier.left(), visible, projected, expansions.saved(), bytes))
            .unwrap()
    }

    /// The contents at each check. The number of workers becomes `workers` after the first pairs if
    /// `fewest_pairs` is 1, and otherwise at a later check.
    fn contents_at_checks(problem: &Problem, symmetry: bool, workers: usize, fewest_pairs: usize) -> Vec<Vec<u8>> {
        let mut checks = Vec::new();
        let mut reachable = Reachable::new(problem.system(), symmetry, Tuning::SMALL);
        let number = Arc::new(AtomicUsize::new(1));
        reachable.rounds = Rounds::new(Arc::clone(&number));
        reachable.rounds.fewest_pairs = fewest_pairs;
        reachable.start_level();
        reachable.frontier.take(1);
        reachable.expand_pairs();
        number.store(if fewest_pairs == 1 { workers } else { 1 }, Ordering::Relaxed);
        for _ in 0..4 {
            let more = reachable.advance(&mut |reachable: &Reachable<'_>| {
                if checks.len() >= fewest_pairs {
                    number.store(workers, Ordering::Relaxed);
                }
                checks.push(contents(reachable));
                if checks.len() < 40 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            if more.is_break() {
                break;
            }
            checks.push(contents(&reachable));
        }
        checks
    }

    #[test]
    fn more_workers_change_nothing() {
        more_workers_change_nothing_in(100);
    }

    #[test]
    #[ignore = "a long version: `just long`"]
    fn more_workers_change_nothing_long() {
        more_workers_change_nothing_in(500);
    }

    /// Several workers give the same contents at each check, down to the numbers of states and
    /// stacks.
    fn more_workers_change_nothing_in(cases: u32) {
        let (checks, some) = (Cell::new(0), Shape { initial: 1..=5, ..Shape::default() });
        proptest!(ProptestConfig::with_cases(cases), |(problem in prop_oneof![9 => problem(&some), 1 => problem(&Shape::crowd())], symmetry: bool)| {
            let alone = contents_at_checks(&problem, symmetry, 1, 1);
            for (workers, fewest_pairs) in [(2, 1), (3, 1), (2, 8)] {
                let together = contents_at_checks(&problem, symmetry, workers, fewest_pairs);
                prop_assert!(alone == together, "{workers} workers give other contents");
            }
            checks.set(checks.get() + alone.len());
        });
        assert!(checks.get() > 6 * cases as usize, "only {} checks", checks.get());
    }
}
