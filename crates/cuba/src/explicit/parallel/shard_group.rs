//! A group of shards of the index of states: the look-up of its candidates, and the numbers of its
//! new states.

use crate::explicit::parallel::marks::Marks;
use crate::explicit::parallel::piece::{Piece, Waiting, candidates_for};
use crate::explicit::tables::frontier::Pair;
use crate::explicit::tables::state_index::{Shard, shard_of};
use crate::explicit::tables::state_table::{BATCH, CACHED_STATES, Rows, state_number};
use crate::tables::packed_rows::{hash, same};
use crate::tables::thread_masks::ThreadMasks;

/// The results of the look-ups in some shards of the index. It has cache lines of its own.
#[derive(Default)]
#[repr(align(128))]
pub(in crate::explicit) struct ShardGroup {
    /// A mark for each candidate of the round that is new.
    pub(in crate::explicit) is_new: Vec<u64>,
    /// The new states: rows, candidates, and the threads that reached them.
    pub(in crate::explicit) rows: Vec<u64>,
    pub(in crate::explicit) candidates: Vec<u32>,
    pub(in crate::explicit) reached_by: ThreadMasks,
    /// For each new state, its slot in the index.
    slots: Vec<u32>,
    /// A mark for each candidate of the round that is a reopened pair.
    pub(in crate::explicit) is_reopened: Vec<u64>,
    /// These candidates and pairs.
    pub(in crate::explicit) reopened: Vec<(u32, Pair)>,
    /// For each piece, the numbers of new states and of reopened pairs up to its end.
    pub(in crate::explicit) ends: Vec<(usize, usize)>,
}

/// The parts of an exploration that are only read while candidates are looked up. Only the group of
/// a state adds threads that reached it.
pub(in crate::explicit) struct LookUpTables<'r> {
    pub(in crate::explicit) rows: &'r Rows,
    pub(in crate::explicit) reached_by: &'r ThreadMasks,
    /// The first state of the level.
    pub(in crate::explicit) level_start: usize,
    pub(in crate::explicit) wave_end: usize,
}

impl ShardGroup {
    /// Looks up the candidates of the group. Until [`settle`](Self::settle), new states have the
    /// numbers behind all rows.
    pub(in crate::explicit) fn look_up(
        &mut self,
        tables: &LookUpTables<'_>,
        pieces: &[Piece],
        number: usize,
        shards: &mut [Shard],
        marks: usize,
    ) {
        let (words, len, count) = (tables.rows.layout().words(), tables.rows.len(), shards.len());
        self.clear(tables.reached_by.stride(), marks);
        // Most shards have the room since the last round. A search needs a free slot to end.
        for (shard, at) in shards.iter_mut().zip(number * count..) {
            shard.make_room(candidates_for(pieces, at));
        }
        let mut hashes = [0; BATCH];
        for piece in pieces {
            let Waiting { rows, origins } = &piece.waiting[number];
            for (rows, origins) in rows.chunks(BATCH * words).zip(origins.chunks(BATCH)) {
                for (to, row) in hashes.iter_mut().zip(rows.chunks_exact(words)) {
                    *to = hash(row);
                }
                let hashes = &hashes[..origins.len()];
                if len > CACHED_STATES {
                    // New states are not among the rows yet.
                    let likely = |hash| shards[shard_of(hash) % count].likely(hash);
                    let likely = |hash| Some(likely(hash)).filter(|&id| id < len).unwrap_or(0);
                    let also = |id: usize| tables.reached_by.first_of(id.wrapping_sub(tables.level_start));
                    tables.rows.prefetch(hashes, likely, also);
                }
                for ((row, &hash), &(candidate, position)) in rows.chunks_exact(words).zip(hashes).zip(origins) {
                    let candidate = piece.first + candidate as usize;
                    let shard = &mut shards[shard_of(hash) % count];
                    let is = |id: usize| match id.checked_sub(len) {
                        None => same(tables.rows.row(id), row),
                        Some(new) => same(&self.rows[new * words..][..words], row),
                    };
                    match shard.search(hash, is) {
                        Err(slot) => {
                            shard.put(slot, hash, len + self.candidates.len());
                            shard.count_row();
                            self.slots.push(state_number(slot));
                            self.is_new[candidate / 64] |= 1 << (candidate % 64);
                            self.candidates.push(state_number(candidate));
                            for &word in row {
                                self.rows.push(word);
                            }
                            self.reached_by.push(Some(position.into()));
                        }
                        Ok(id) if id >= len => _ = self.reached_by.add(id - len, position.into()),
                        Ok(id)
                            if id >= tables.level_start
                                && tables.reached_by.add(id - tables.level_start, position.into())
                                && id < tables.wave_end =>
                        {
                            self.is_reopened[candidate / 64] |= 1 << (candidate % 64);
                            self.reopened.push((state_number(candidate), Pair { id: state_number(id), position }));
                        }
                        Ok(_) => {}
                    }
                }
            }
            self.ends.push((self.candidates.len(), self.reopened.len()));
        }
    }

    fn clear(&mut self, stride: usize, marks: usize) {
        for words in [&mut self.is_new, &mut self.is_reopened] {
            words.clear();
            words.resize(marks, 0);
        }
        self.rows.clear();
        self.candidates.clear();
        self.slots.clear();
        self.reached_by.clear(stride);
        self.reopened.clear();
        self.ends.clear();
    }

    /// Writes the numbers of the new states into the index. The first new state of the round has
    /// the number `first`.
    pub(in crate::explicit) fn settle(&self, shards: &mut [Shard], words: usize, first: usize, new: &Marks) {
        let count = shards.len();
        for ((row, &slot), &candidate) in self.rows.chunks_exact(words).zip(&self.slots).zip(&self.candidates) {
            let hash = hash(row);
            shards[shard_of(hash) % count].put(slot as usize, hash, first + new.count_before(candidate as usize));
        }
    }
}
