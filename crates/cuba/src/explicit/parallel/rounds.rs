//! The workers and buffers of rounds, and how many pairs a round takes.

use crate::explicit::parallel::piece::Piece;
use crate::explicit::parallel::shard_group::ShardGroup;
use crate::explicit::tables::state_index::SHARDS;
use crate::tables::thread_masks::{ThreadMasks, complement};
use crate::tables::workers::WorkerPool;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

/// The workers of an exploration, and the buffers of their rounds.
pub(crate) struct Rounds {
    pub(in crate::explicit) workers: WorkerPool,
    /// Fewer pairs or states than this are left to one worker.
    pub(in crate::explicit) fewest_pairs: usize,
    pieces: Vec<Piece>,
    groups: Vec<ShardGroup>,
    /// The numbers of pairs and of candidates of the last round.
    pub(in crate::explicit) last: (usize, usize),
}

/// The approximate number of steps of a round. With more steps, workers wait less often for each
/// other.
pub(in crate::explicit) const STEPS: usize = 1 << 18;

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

    /// Gives the buffers back after the rounds.
    pub(in crate::explicit) fn put_back(&mut self, pieces: Vec<Piece>, groups: Vec<ShardGroup>) {
        (self.pieces, self.groups) = (pieces, groups);
    }

    /// Takes the buffers: the pieces and the groups.
    pub(in crate::explicit) fn take(&mut self) -> (Vec<Piece>, Vec<ShardGroup>) {
        // One group for each worker: neighbouring rows are looked up in all groups, and the fewer
        // cores have them in their caches at the same time, the better. If the number of workers is
        // no power of two, more groups give all workers about as much to do.
        let workers = self.workers.count();
        let groups = if workers.is_power_of_two() { workers } else { SHARDS.min((4 * workers).next_power_of_two()) };
        if self.groups.len() != groups {
            self.groups.resize_with(groups, ShardGroup::default);
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
    pub(in crate::explicit) fn pairs_for(&self, steps: usize) -> usize {
        let (steps, (pairs, candidates)) = (steps + steps / 64, self.last);
        (steps * pairs / candidates.max(1)).min(steps).max(1)
    }
}

/// Cuts a range into this number of pieces.
pub(in crate::explicit) fn cut(range: Range<usize>, pieces: usize) -> impl Iterator<Item = Range<usize>> {
    let length = range.len().div_ceil(pieces);
    let start = move |number: usize| range.end.min(range.start + number * length);
    (0..pieces).map(move |number| start(number)..start(number + 1))
}
