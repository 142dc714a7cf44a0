//! Rounds: the expansion of pairs by several workers.
//!
//! A round takes pairs of the wave, in order, at most until the next check. Its phases:
//! 1. For each piece of the pairs, a worker takes the steps. Their targets are *candidates*; each
//!    waits for the group of shards of the index to which its hash belongs.
//! 2. Steps that are not in the cache are computed, pair by pair, in order. Then the pieces that
//!    lack them take their steps again.
//! 3. For each group, a worker looks up its candidates, in order. New states get preliminary
//!    numbers in the group.
//! 4. For each piece, a worker writes the new states as rows, in the order of the candidates, and
//!    computes their tops. At the same time, for each group, a worker writes their final numbers
//!    into the index, and adds room for the next round.
//!
//! Between rounds, the new visible states are inserted.
//!
//! The result is that of one worker (`explicit/exploration.rs`): each state gets the same number.
//! No phase needs a lock: a worker writes only its own data, and reads shared data. (The masks of
//! threads that reached a state are shared, but only the group of the state writes its mask.)

use crate::explicit::parallel::busy_workers::with_busy_workers;
use crate::explicit::parallel::group::{Group, LookUpTables};
use crate::explicit::parallel::marks::Marks;
use crate::explicit::parallel::piece::{NewStates, Piece, StepTables, candidates_for};
use crate::explicit::reachable::{Reachable, tops_of};
use crate::explicit::stack_table::Stacks;
use crate::explicit::state_index::{SHARDS, Shard};
use crate::explicit::state_table::States;
use crate::explicit::wave::Pair;
use crate::tables::packed_rows::{Layout, PackedSet};
use crate::tables::thread_masks::{ThreadMasks, complement};
use crate::tables::workers::WorkerPool;
use crate::visible::levels::VisibleLevels;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

/// The workers of an exploration, and the buffers of their rounds.
pub(crate) struct Rounds {
    workers: WorkerPool,
    /// Fewer pairs or states than this are left to one worker.
    fewest_pairs: usize,
    pieces: Vec<Piece>,
    groups: Vec<Group>,
    /// The numbers of pairs and of candidates of the last round.
    last: (usize, usize),
}

/// The approximate number of steps of a round. With more steps, workers wait less often for each
/// other.
const STEPS: usize = 1 << 18;

/// The number of pieces for each worker. If a core is slow, other workers take more pieces.
const PIECES: usize = 32;

impl Default for Rounds {
    /// One worker, and no rounds.
    fn default() -> Self {
        Rounds::new(Arc::default())
    }
}

impl Rounds {
    /// This number of workers. It may grow.
    pub(crate) fn new(workers: Arc<AtomicUsize>) -> Self {
        Rounds {
            workers: WorkerPool::new(workers),
            fewest_pairs: 1 << 12,
            pieces: Vec::new(),
            groups: Vec::new(),
            last: (1, 1),
        }
    }

    /// Takes the pieces and the groups.
    fn take(&mut self) -> (Vec<Piece>, Vec<Group>) {
        // One group for each worker: neighbouring rows are looked up in all groups, and the fewer
        // cores have them in their caches at the same time, the better. If the number of workers is
        // no power of two, more groups give all workers about as much to do.
        let workers = self.workers.count();
        let groups = if workers.is_power_of_two() { workers } else { SHARDS.min((4 * workers).next_power_of_two()) };
        if self.groups.len() != groups {
            self.groups.resize_with(groups, Group::default);
            self.pieces.clear();
        }
        self.pieces.resize_with(PIECES * workers, || Piece::new(groups));
        (std::mem::take(&mut self.pieces), std::mem::take(&mut self.groups))
    }

    /// Replaces the mask of each state by its complement, restricted to the wanted positions.
    pub(in crate::explicit) fn complement(
        &mut self,
        open: &mut ThreadMasks,
        threads: usize,
        is_wanted: impl Fn(usize, usize) -> bool + Sync,
    ) {
        let bytes = open.bytes_mut();
        let pool = (bytes.len() >= self.fewest_pairs).then(|| self.workers.pool()).flatten();
        let Some(pool) = pool else {
            return complement(bytes, 0, threads, &is_wanted);
        };
        let chunks = bytes.par_chunks_mut(self.fewest_pairs * threads.div_ceil(8)).enumerate();
        let work =
            |(number, chunk): (usize, &mut [_])| complement(chunk, number * self.fewest_pairs, threads, &is_wanted);
        pool.install(|| chunks.for_each(work));
    }

    /// Estimates the number of pairs with this number of steps from the last round, and adds a
    /// little: then the round that takes all steps until the next check is the last one before it.
    fn pairs_for(&self, steps: usize) -> usize {
        let (steps, (pairs, candidates)) = (steps + steps / 64, self.last);
        (steps * pairs / candidates.max(1)).min(steps).max(1)
    }
}

/// Cuts a range into this number of pieces.
fn cut(range: Range<usize>, pieces: usize) -> impl Iterator<Item = Range<usize>> {
    let length = range.len().div_ceil(pieces);
    let start = move |number: usize| range.end.min(range.start + number * length);
    (0..pieces).map(move |number| start(number)..start(number + 1))
}

impl Reachable<'_> {
    /// Expands pairs in rounds, while there are enough of them and no check is due. Returns whether
    /// there was any round.
    pub(in crate::explicit) fn expand_in_rounds(&mut self) -> bool {
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
        (self.rounds.pieces, self.rounds.groups) = (pieces, groups);
        true
    }

    /// The pairs of the next round.
    fn next_round(&mut self) -> Option<Range<usize>> {
        let left = usize::try_from(self.next_check.saturating_sub(self.expansions)).unwrap_or(usize::MAX);
        let many = self.rounds.pairs_for(left.min(STEPS));
        self.wave.take(many);
        let pairs = self.wave.done..self.wave.pairs.len().min(self.wave.done + many);
        (left > 0 && pairs.len() >= self.rounds.fewest_pairs).then_some(pairs)
    }

    fn round(&mut self, pieces: &mut [Piece], groups: &mut [Group]) {
        let tables = self.step_tables();
        pieces.par_iter_mut().with_max_len(1).for_each(|piece| piece.take_steps(&tables, &self.wave.pairs));
        if self.compute_missing_steps(pieces) {
            let tables = self.step_tables();
            let stale = pieces.par_iter_mut().filter(|piece| piece.is_stale);
            stale.for_each(|piece| piece.take_steps(&tables, &self.wave.pairs));
        }
        let mut first = 0;
        for piece in &mut *pieces {
            piece.first = first;
            first += piece.candidates.next_multiple_of(64);
        }
        let pairs = pieces.iter().map(|piece| piece.pairs.len()).sum::<usize>();
        self.rounds.last = (pairs, pieces.iter().map(|piece| piece.candidates).sum());
        self.wave.done += pairs;
        let level_start = self.levels[self.levels.len() - 1];
        let States { rows, index } = &mut self.states;
        let tables = LookUpTables { rows, reached_by: &self.reached_by, level_start, wave_end: self.wave.states.end };
        let shards = index.par_chunks_mut(SHARDS / groups.len()).zip(&mut *groups).enumerate().with_max_len(1);
        shards.for_each(|(number, (shards, group))| group.look_up(&tables, pieces, number, shards, first / 64));
        self.add_new_states(pieces, groups);
    }

    fn step_tables(&self) -> StepTables<'_> {
        let Reachable { states, steps, programs, symmetry, .. } = self;
        StepTables { states, steps, programs, symmetry }
    }

    /// Computes the steps that are not in the cache, up to the next check. The pieces end there.
    /// Returns whether any piece must take its steps again.
    fn compute_missing_steps(&mut self, pieces: &mut [Piece]) -> bool {
        let layout = self.states.layout().clone();
        for piece in &mut *pieces {
            let steps = piece.candidates as u64;
            if !piece.is_stale && self.expansions + steps < self.next_check {
                self.expansions += steps;
                continue;
            }
            piece.is_stale = true;
            for index in piece.pairs.clone() {
                if self.expansions >= self.next_check {
                    piece.pairs.end = index;
                    break;
                }
                let (state, program) = self.step_tables().thread_state(self.wave.pairs[index]);
                let steps = match self.steps[program].get(state) {
                    Some(((), steps)) => steps,
                    None => self.compute_steps(state, program),
                };
                self.expansions += steps.len() as u64;
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
    fn add_new_states(&mut self, pieces: &[Piece], groups: &[Group]) {
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
        let settle = |(number, (shards, group)): (usize, (&mut [Shard], &Group))| {
            group.settle(shards, words, first, &new);
            let grow = |(shard, at)| Shard::make_room(shard, candidates_for(pieces, at));
            shards.par_iter_mut().zip(number * each..(number + 1) * each).with_max_len(1).for_each(grow);
        };
        let shards = index.par_chunks_mut(each).zip(groups).enumerate().with_max_len(1);
        let written = pieces.par_iter().zip(targets).enumerate().with_max_len(1);
        let (wave, many) = (&mut self.wave, self.rounds.pairs_for(STEPS));
        let (stacks, visible) = (&self.stacks, &self.visible);
        let write = |(number, (piece, mut to)): (usize, (&Piece, NewStates<'_>))| {
            piece.write(number, groups, (&new, &reopened), &mut to);
            new_visible(stacks, (&layout, to.rows), visible)
        };
        let others = || rayon::join(|| written.map(write).collect::<Vec<_>>(), || wave.take(many));
        let ((), (new_sets, _)) = rayon::join(|| shards.for_each(settle), others);
        for states in new_sets.into_iter().flatten() {
            self.visible.insert_all(&states);
        }
        self.projected = self.states.len();
    }
}

/// The visible states of rows that `visible` does not have, in the order of the rows. None if there
/// are none.
fn new_visible(stacks: &Stacks, (layout, rows): (&Layout, &[u64]), visible: &VisibleLevels) -> Option<PackedSet> {
    let top_layout = visible.set().layout();
    let (mut new, mut tops, mut top_row) = (None, Vec::new(), vec![0; top_layout.words()]);
    for row in rows.chunks_exact(layout.words()) {
        let shared = tops_of(stacks, (layout, row), &mut tops);
        visible.pack(shared, &mut tops, &mut top_row);
        if visible.set().find(&top_row).is_none() {
            new.get_or_insert_with(|| PackedSet::new(top_layout.clone())).insert(&top_row);
        }
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explicit::exploration::state_number;
    use crate::tuning::Tuning;
    use cpds::Problem;
    use cpds_testing::random::{Shape, problem};
    use proptest::prelude::*;
    use std::cell::Cell;
    use std::ops::ControlFlow;
    use std::sync::atomic::Ordering;

    /// All contents of an exploration, in a form that does not depend on which pairs were taken out
    /// of the wave.
    fn contents(reachable: &Reachable<'_>) -> Vec<u8> {
        let wave = &reachable.wave;
        let mut left: Vec<Pair> = wave.next().iter().chain(wave.reopened.iter().rev()).copied().collect();
        for state in wave.states.clone() {
            let pair = |position| Pair { id: state_number(state), position };
            wave.open.for_each(state - wave.first_open, |position| left.push(pair(position)));
        }
        let Reachable { stacks, steps, states, levels, reached_by, reopened, .. } = reachable;
        let bytes = (reachable.bytes(), reachable.bytes_at_next_look());
        let counts = (reachable.projected, reachable.expansions, reachable.next_check, bytes);
        let tables = (stacks, steps, states, levels, reached_by, reopened);
        postcard::to_stdvec(&(tables, left, reachable.visible.saved(), counts)).unwrap()
    }

    /// The contents at each check. The number of workers becomes `workers` after the first pairs if
    /// `fewest_pairs` is 1, and otherwise at a later check.
    fn contents_at_checks(problem: &Problem, symmetry: bool, workers: usize, fewest_pairs: usize) -> Vec<Vec<u8>> {
        let mut checks = Vec::new();
        let mut reachable = Reachable::new(problem.system(), symmetry, Tuning::SMALL);
        let number = Arc::new(AtomicUsize::new(1));
        reachable.rounds = Rounds { fewest_pairs, ..Rounds::new(Arc::clone(&number)) };
        reachable.start_level();
        reachable.wave.take(1);
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
