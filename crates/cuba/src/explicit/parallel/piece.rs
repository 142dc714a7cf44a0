//! A piece of the pairs of a round: its steps, and the new states that it writes.

use crate::explicit::parallel::marks::Marks;
use crate::explicit::parallel::shard_group::ShardGroup;
use crate::explicit::tables::frontier::Pair;
use crate::explicit::tables::state_index::{SHARDS, shard_of};
use crate::explicit::tables::state_table::{BATCH, States};
use crate::explicit::tables::step_table::Steps;
use crate::tables::packed_rows::hash;
use crate::tables::step_cache::ThreadState;
use crate::visible::symmetry::{Successors, Symmetry, copy};
use std::ops::Range;
use std::sync::atomic::AtomicU8;

/// A piece of the pairs, and the candidates to which they lead. It has cache lines of its own, in
/// pairs as processors fetch them, because other cores write the neighbouring pieces.
#[repr(align(128))]
pub(in crate::explicit) struct Piece {
    pub(in crate::explicit) pairs: Range<usize>,
    /// For each group, its candidates.
    pub(in crate::explicit) waiting: Vec<Waiting>,
    /// The number of candidates.
    pub(in crate::explicit) candidates: usize,
    /// For each shard of the index, the number of its candidates.
    pub(in crate::explicit) shards: [u32; SHARDS],
    /// The number of the first candidate, among all of the round.
    pub(in crate::explicit) first: usize,
    /// Whether candidates are missing or have an old layout.
    pub(in crate::explicit) is_stale: bool,
    successors: Successors,
}

/// Candidates that wait for their look-up in a group.
#[derive(Default)]
pub(in crate::explicit) struct Waiting {
    pub(in crate::explicit) rows: Vec<u64>,
    /// For each row, its number among the candidates of the piece, and the position of the thread
    /// that reached it.
    pub(in crate::explicit) origins: Vec<(u32, u16)>,
}

/// The parts of an exploration that are only read while steps are taken.
pub(in crate::explicit) struct StepTables<'v> {
    pub(in crate::explicit) states: &'v States,
    pub(in crate::explicit) steps: &'v Steps<'v>,
    pub(in crate::explicit) symmetry: &'v Symmetry,
}

impl StepTables<'_> {
    /// The program of the thread of a pair, and its thread state.
    #[inline]
    pub(in crate::explicit) fn thread_state(&self, pair: Pair) -> (usize, ThreadState) {
        let (layout, row) = (self.states.layout(), self.states.row(pair.id as usize));
        let position = usize::from(pair.position);
        (self.steps.program(position), (layout.shared(row), layout.local(row, position)))
    }
}

/// The slices to which a piece writes.
pub(in crate::explicit) struct NewStates<'t> {
    /// The number of words of a row, and of bytes of a mask.
    pub(in crate::explicit) words: usize,
    pub(in crate::explicit) stride: usize,
    pub(in crate::explicit) rows: &'t mut [u64],
    pub(in crate::explicit) reached_by: &'t mut [AtomicU8],
    pub(in crate::explicit) reopened: &'t mut [Pair],
}

impl Piece {
    pub(in crate::explicit) fn new(groups: usize) -> Self {
        Piece {
            pairs: 0..0,
            waiting: (0..groups).map(|_| Waiting::default()).collect(),
            candidates: 0,
            shards: [0; SHARDS],
            first: 0,
            is_stale: false,
            successors: Successors::default(),
        }
    }

    /// Takes the steps of the pairs, until a step is not in the cache.
    pub(in crate::explicit) fn take_steps(&mut self, tables: &StepTables<'_>, pairs: &[Pair]) {
        for waiting in &mut self.waiting {
            waiting.rows.clear();
            waiting.origins.clear();
        }
        (self.candidates, self.shards, self.is_stale) = (0, [0; SHARDS], false);
        let (layout, shards) = (tables.states.layout(), SHARDS / self.waiting.len());
        let mut number = 0;
        for pairs in pairs[self.pairs.clone()].chunks(BATCH) {
            tables.states.prefetch_rows(pairs.iter().map(|pair| pair.id as usize));
            for &pair in pairs {
                let (program, state) = tables.thread_state(pair);
                let Some(steps) = tables.steps.get(program, state) else {
                    self.is_stale = true;
                    return;
                };
                if steps.is_empty() {
                    continue;
                }
                let row = tables.states.row(pair.id as usize);
                self.successors.prepare(tables.symmetry, layout, row, pair.position.into());
                for index in steps {
                    let (row, at) = self.successors.pack(layout, tables.steps.successor(program, index));
                    let shard = shard_of(hash(row));
                    self.shards[shard] += 1;
                    let waiting = &mut self.waiting[shard / shards];
                    for &word in row {
                        waiting.rows.push(word);
                    }
                    waiting.origins.push((number, u16::try_from(at).expect("there are fewer threads")));
                    number += 1;
                }
            }
        }
        self.candidates = number as usize;
    }

    /// Writes the new states and the reopened pairs of this piece.
    pub(in crate::explicit) fn write(
        &self,
        number: usize,
        groups: &[ShardGroup],
        (new, reopened): (&Marks, &Marks),
        to: &mut NewStates<'_>,
    ) {
        let &mut NewStates { words, stride, rows: ref mut to, ref mut reached_by, reopened: ref mut pairs } = to;
        let (first_new, first_reopened) = (new.count_before(self.first), reopened.count_before(self.first));
        for group in groups {
            let start = number.checked_sub(1).map_or((0, 0), |before| group.ends[before]);
            let end = group.ends[number];
            let rows = group.rows[start.0 * words..].chunks_exact(words);
            for ((&candidate, row), index) in group.candidates[start.0..end.0].iter().zip(rows).zip(start.0..) {
                let rank = new.count_before(candidate as usize) - first_new;
                copy(&mut to[rank * words..][..words], row);
                group.reached_by.copy_to(index, &mut reached_by[rank * stride..][..stride]);
            }
            for &(candidate, pair) in &group.reopened[start.1..end.1] {
                pairs[reopened.count_before(candidate as usize) - first_reopened] = pair;
            }
        }
    }
}

/// The number of candidates of all pieces for a shard of the index.
pub(in crate::explicit) fn candidates_for(pieces: &[Piece], shard: usize) -> usize {
    pieces.iter().map(|piece| piece.shards[shard] as usize).sum()
}
