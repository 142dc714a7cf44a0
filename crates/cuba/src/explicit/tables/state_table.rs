//! The states of R_k as packed rows, numbered in the order in which they were found.
//!
//! The rows are one array; an index (`state_index.rs`) finds the number of a row. In a large table,
//! each access to a row or to a slot of the index waits for the memory. [`States::prefetch`] lets
//! many accesses wait at the same time.

use crate::explicit::tables::state_index::{SHARDS, Shard, empty_index, shard_of};
use crate::tables::packed_rows::{Layout, hash, same};
use rayon::iter::ParallelExtend;
use serde::{Deserialize, Serialize};

/// The number of rows that are looked up together.
pub(crate) const BATCH: usize = 64;

/// A table with at most this number of states is in the cache, so prefetching does not pay off.
pub(in crate::explicit) const CACHED_STATES: usize = 1 << 16;

/// A set of rows.
#[derive(Serialize, Deserialize)]
#[serde(try_from = "SavedStates")]
pub(crate) struct States {
    pub(in crate::explicit) rows: Rows,
    #[serde(skip)]
    pub(in crate::explicit) index: Vec<Shard>,
}

/// Rows in one array.
#[derive(Serialize, Deserialize)]
pub(in crate::explicit) struct Rows {
    layout: Layout,
    words: Vec<u64>,
    #[serde(skip)]
    len: usize,
    /// The number of rows for which memory is allocated.
    #[serde(skip)]
    capacity: usize,
}

/// The saved part of the states.
#[derive(Deserialize)]
struct SavedStates {
    rows: Rows,
}

impl TryFrom<SavedStates> for States {
    type Error = &'static str;

    fn try_from(SavedStates { mut rows }: SavedStates) -> Result<Self, Self::Error> {
        let words = rows.layout.words();
        if words == 0 || !rows.words.len().is_multiple_of(words) || rows.words.len() / words > States::MAX_LEN {
            return Err("row data is not a multiple of the row width");
        }
        rows.len = rows.words.len() / words;
        rows.reserve(rows.len);
        let mut states = States { rows, index: empty_index() };
        states.fill_index();
        Ok(states)
    }
}

impl States {
    /// The largest number of rows: a slot of the index has 32 bits for a number, and zero is free.
    pub(crate) const MAX_LEN: usize = (1 << 32) - 2;

    pub(crate) fn new(layout: Layout) -> Self {
        States { rows: Rows { layout, words: Vec::new(), len: 0, capacity: 0 }, index: empty_index() }
    }

    #[inline]
    pub(crate) fn layout(&self) -> &Layout {
        &self.rows.layout
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    #[inline]
    pub(crate) fn row(&self, id: usize) -> &[u64] {
        self.rows.row(id)
    }

    /// The rows with these numbers.
    pub(crate) fn rows(&self, ids: impl Iterator<Item = usize>) -> impl Iterator<Item = (&Layout, &[u64])> {
        ids.map(|id| (self.layout(), self.row(id)))
    }

    /// Inserts a row with its [`hash`]. Returns its number, and whether it is new.
    #[inline]
    pub(crate) fn insert(&mut self, row: &[u64], hash: u64) -> (usize, bool) {
        let (shard, rows) = (&mut self.index[shard_of(hash)], &mut self.rows);
        match shard.search(hash, |id| same(rows.row(id), row)) {
            Ok(id) => (id, false),
            Err(slot) => {
                let id = rows.len();
                shard.put(slot, hash, id);
                shard.count_row();
                shard.make_room(0);
                rows.push(row);
                (id, true)
            }
        }
    }

    /// The number of a row, if it is in the table.
    pub(crate) fn find(&self, row: &[u64]) -> Option<usize> {
        let hash = hash(row);
        self.index[shard_of(hash)].search(hash, |id| same(self.rows.row(id), row)).ok()
    }

    /// Loads into the cache the memory that look-ups of these hashes need first, and the byte that
    /// `also` reads for the row that is likely to be found. The loads do not depend on each other,
    /// so the processor waits for many of them at the same time.
    #[inline]
    pub(in crate::explicit) fn prefetch(&self, hashes: &[u64], also: impl Fn(usize) -> u8) {
        self.rows.prefetch(hashes, |hash| self.index[shard_of(hash)].likely(hash), also);
    }

    /// Loads these rows into the cache.
    #[inline]
    pub(in crate::explicit) fn prefetch_rows(&self, ids: impl Iterator<Item = usize>) {
        std::hint::black_box(ids.fold(0, |sum, id| sum ^ self.row(id)[0]));
    }

    /// Changes the layout to one that takes at least as many words. Rows keep their numbers. Works
    /// in place, from the last row on.
    #[cold]
    pub(in crate::explicit) fn set_layout(&mut self, layout: Layout) {
        let Rows { layout: old, words, len, capacity } = &mut self.rows;
        let (narrow, wide) = (old.words(), layout.words());
        assert!(narrow <= wide, "there are more stacks than before");
        words.reserve_exact(*capacity * wide - words.len());
        words.resize(*len * wide, 0);
        let mut row = vec![0; narrow];
        for id in (0..*len).rev() {
            row.copy_from_slice(&words[id * narrow..][..narrow]);
            layout.pack(&mut words[id * wide..][..wide], old.shared(&row), old.locals(&row));
        }
        *old = layout;
        self.fill_index();
    }

    /// Builds the index of all rows.
    fn fill_index(&mut self) {
        self.index = empty_index();
        for id in 0..self.rows.len() {
            let hash = hash(self.rows.row(id));
            let shard = &mut self.index[shard_of(hash)];
            shard.insert(hash, id);
            shard.count_row();
            shard.make_room(0);
        }
    }

    /// The memory in use while `more` rows are inserted.
    pub(in crate::explicit) fn bytes_after(&self, more: usize) -> usize {
        if self.len() + more >= Self::MAX_LEN {
            return usize::MAX;
        }
        // A shard may get more than its share, but hardly ever twice as much.
        let slots: usize = self.index.iter().map(|shard| shard.slots_after(2 * more / SHARDS)).sum();
        let words = capacity_for(self.rows.capacity, self.len() + more) * self.layout().words();
        (words + slots) * size_of::<u64>()
    }
}

impl Rows {
    pub(in crate::explicit) fn layout(&self) -> &Layout {
        &self.layout
    }

    #[inline]
    pub(in crate::explicit) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(in crate::explicit) fn row(&self, id: usize) -> &[u64] {
        let words = self.layout.words();
        &self.words[id * words..][..words]
    }

    #[inline]
    fn push(&mut self, row: &[u64]) {
        if self.len == self.capacity {
            self.reserve(self.len + 1);
        }
        self.len += 1;
        for &word in row {
            self.words.push(word);
        }
    }

    /// Loads the rows that are likely to have these hashes into the cache, and the byte that `also`
    /// reads for each.
    #[inline]
    pub(in crate::explicit) fn prefetch(
        &self,
        hashes: &[u64],
        likely: impl Fn(u64) -> usize,
        also: impl Fn(usize) -> u8,
    ) {
        // First all slots of the index, then all rows: no branch is predicted between the loads.
        let mut ids = [0; BATCH];
        for (id, &hash) in ids.iter_mut().zip(hashes) {
            *id = likely(hash);
        }
        let words = self.layout.words();
        let load = |sum: u64, &id: &usize| sum ^ self.words[id * words] ^ u64::from(also(id));
        std::hint::black_box(ids[..hashes.len()].iter().fold(0, load));
    }

    /// Allocates memory for `len` rows.
    #[cold]
    fn reserve(&mut self, len: usize) {
        self.capacity = capacity_for(self.capacity, len);
        self.words.reserve_exact((self.capacity * self.layout.words()).saturating_sub(self.words.len()));
    }

    /// Adds rows of zeros, for the caller to fill. Returns their words.
    pub(in crate::explicit) fn extend(&mut self, more: usize) -> &mut [u64] {
        let start = self.words.len();
        self.len += more;
        if self.len > self.capacity {
            self.reserve(self.len);
        }
        // Zeroed in parallel, so that each core faults in its own pages.
        self.words.par_extend(rayon::iter::repeat_n(0, more * self.layout.words()));
        &mut self.words[start..]
    }
}

/// The number of rows to allocate for `len` rows: a quarter more than before, as often as
/// necessary.
fn capacity_for(before: usize, len: usize) -> usize {
    let mut capacity = before;
    while capacity < len {
        capacity += (capacity / 4).max(16);
    }
    capacity
}

/// The number of a state; there are at most [`States::MAX_LEN`].
#[inline]
pub(in crate::explicit) fn state_number(id: usize) -> u32 {
    u32::try_from(id).expect("the memory ends before")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A table is a set of rows. Changing the layout, and saving and restoring the table,
        /// change nothing.
        #[test]
        fn states_are_a_set(rows in prop::collection::vec((0..5_u32, [0..9_u32, 0..9, 0..9]), 0..1000), change in 0_usize..1000) {
            let mut states = States::new(Layout::new(5, 3, 9));
            let mut expected: Vec<(u32, [u32; 3])> = Vec::new();
            for (i, &(shared, locals)) in rows.iter().enumerate() {
                if i == change {
                    states.set_layout(Layout::new(5, 3, 1 << 30));
                    states = postcard::from_bytes(&postcard::to_stdvec(&states).unwrap()).unwrap();
                }
                let mut row = vec![0; states.layout().words()];
                states.layout().pack(&mut row, shared, locals);
                let number = expected.iter().position(|other| *other == (shared, locals));
                prop_assert_eq!(states.insert(&row, hash(&row)), (number.unwrap_or(expected.len()), number.is_none()));
                if number.is_none() {
                    expected.push((shared, locals));
                }
            }
            let stored = states.rows(0..states.len()).map(|(layout, row)| (layout.shared(row), layout.locals(row).collect()));
            prop_assert!(stored.eq(expected.iter().map(|&(shared, locals)| (shared, locals.to_vec()))));
        }
    }
}
