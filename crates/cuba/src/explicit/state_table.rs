//! The states of R_k as packed rows, numbered in the order in which they were found, with an index
//! in 64 parts.
//!
//! The rows are one array. Which number a row has is looked up in the part of the index that its
//! hash says, so that several cores can look up states at once, each in its own parts. A part has
//! *places* and linear probing: a place has half of a row's hash, and its number plus one; zero is
//! free. Where a row would best be grows with its hash, so a part grows in one pass over its
//! places, in place, and without a look at the rows. Each part grows by itself, by half: a state
//! has its words and eleven to sixteen bytes, and growing takes no more, unless the memory behind a
//! part is in use.
//!
//! In a large set each look at a place or a row waits for the memory. [`States::prefetch`] lets
//! many wait at once; this is why the table is our own (docs/design/003-own-hash-table.md).

use crate::tables::packed_rows::{Layout, hash, same};
use crate::tables::workers::MAX_WORKERS;
use rayon::iter::ParallelExtend;
use serde::{Deserialize, Serialize};

/// How many parts the index has.
pub(crate) const PARTS: usize = MAX_WORKERS;

/// How many rows are looked up together.
pub(crate) const BATCH: usize = 64;

/// Rows, each once.
#[derive(Serialize, Deserialize)]
#[serde(try_from = "Saved")]
pub(crate) struct States {
    pub(crate) rows: Rows,
    #[serde(skip)]
    pub(crate) index: Vec<Part>,
}

/// Rows one after the other.
#[derive(Serialize, Deserialize)]
pub(crate) struct Rows {
    layout: Layout,
    words: Vec<u64>,
    #[serde(skip)]
    len: usize,
    /// For how many rows there is room.
    #[serde(skip)]
    capacity: usize,
}

/// What is saved of the states.
#[derive(Deserialize)]
struct Saved {
    rows: Rows,
}

impl TryFrom<Saved> for States {
    type Error = &'static str;

    fn try_from(Saved { mut rows }: Saved) -> Result<Self, Self::Error> {
        let words = rows.layout.words();
        if words == 0 || !rows.words.len().is_multiple_of(words) || rows.words.len() / words > States::MAX_LEN {
            return Err("rows that are none");
        }
        rows.len = rows.words.len() / words;
        rows.reserve(rows.len);
        let mut states = States { rows, index: empty_index() };
        states.fill_index();
        Ok(states)
    }
}

/// A part of the index. Cores write into neighbours at the same time, and so each has a line of the
/// cache for itself.
#[repr(align(64))]
pub(crate) struct Part {
    places: Vec<u64>,
    len: usize,
}

fn empty_index() -> Vec<Part> {
    (0..PARTS).map(|_| Part { places: vec![0; FEW], len: 0 }).collect()
}

/// Which part has the rows with this hash.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "it is below 64")]
pub(crate) fn part_of(hash: u64) -> usize {
    hash as usize % PARTS
}

impl States {
    /// No more rows than this: a place has 32 bits for a number, and zero is free.
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

    /// The number of a row, given its [`hash`], and whether it is new.
    #[inline]
    pub(crate) fn insert(&mut self, row: &[u64], hash: u64) -> (usize, bool) {
        let (part, rows) = (&mut self.index[part_of(hash)], &mut self.rows);
        match part.search(hash, |id| same(rows.row(id), row)) {
            Ok(id) => (id, false),
            Err(place) => {
                let id = rows.len();
                part.put(place, hash, id);
                part.grew();
                part.make_room(0);
                rows.push(row);
                (id, true)
            }
        }
    }

    /// The number of a row, if it is there.
    pub(crate) fn find(&self, row: &[u64]) -> Option<usize> {
        let hash = hash(row);
        self.index[part_of(hash)].search(hash, |id| same(self.rows.row(id), row)).ok()
    }

    /// Brings into the cache what looking up these hashes will look at first, and what `also` looks
    /// at for the row that is likely to be found. The loads do not depend on each other, and the
    /// processor waits for many of them at once.
    #[inline]
    pub(crate) fn prefetch(&self, hashes: &[u64], also: impl Fn(usize) -> u8) {
        self.rows.prefetch(hashes, |hash| self.index[part_of(hash)].likely(hash), also);
    }

    /// The same rows, with the same numbers, in another layout that takes at least as many words;
    /// in place, from the last one on.
    #[cold]
    pub(crate) fn set_layout(&mut self, layout: Layout) {
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

    /// Notes every row anew.
    fn fill_index(&mut self) {
        self.index = empty_index();
        for id in 0..self.rows.len() {
            let hash = hash(self.rows.row(id));
            let part = &mut self.index[part_of(hash)];
            part.insert(hash & HASH | (id as u64 + 1));
            part.grew();
            part.make_room(0);
        }
    }

    /// The memory that it takes while `more` rows are inserted.
    pub(crate) fn bytes_after(&self, more: usize) -> usize {
        if self.len() + more >= Self::MAX_LEN {
            return usize::MAX;
        }
        // A part may get more than its share, though hardly twice as much.
        let places = |part: &Part| places(FEW, part.len + 2 * more / PARTS);
        let places: usize = self.index.iter().map(places).sum();
        let words = capacity(self.rows.capacity, self.len() + more) * self.layout().words();
        (words + places) * size_of::<u64>()
    }
}

impl Rows {
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn row(&self, id: usize) -> &[u64] {
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

    /// Brings the rows into the cache that are likely to have these hashes, and what `also` looks
    /// at for each.
    #[inline]
    pub(crate) fn prefetch(&self, hashes: &[u64], likely: impl Fn(u64) -> usize, also: impl Fn(usize) -> u8) {
        // First all places, then all rows: nothing is to be guessed in between.
        let mut ids = [0; BATCH];
        for (id, &hash) in ids.iter_mut().zip(hashes) {
            *id = likely(hash);
        }
        let words = self.layout.words();
        let look = |seen: u64, &id: &usize| seen ^ self.words[id * words] ^ u64::from(also(id));
        std::hint::black_box(ids[..hashes.len()].iter().fold(0, look));
    }

    /// Makes room for so many rows.
    #[cold]
    fn reserve(&mut self, len: usize) {
        self.capacity = capacity(self.capacity, len);
        self.words.reserve_exact((self.capacity * self.layout.words()).saturating_sub(self.words.len()));
    }

    /// Adds so many rows, which are to be written.
    pub(crate) fn extend(&mut self, more: usize) -> &mut [u64] {
        let start = self.words.len();
        self.len += more;
        if self.len > self.capacity {
            self.reserve(self.len);
        }
        // The memory is had when it is first written: by all who work here.
        self.words.par_extend(rayon::iter::repeat_n(0, more * self.layout.words()));
        &mut self.words[start..]
    }
}

impl Part {
    /// The number of a row with this hash that is the one, or the place where it would be noted.
    #[inline]
    pub(crate) fn search(&self, hash: u64, is: impl Fn(usize) -> bool) -> Result<usize, usize> {
        let mut place = self.home(hash);
        loop {
            let entry = self.places[place];
            if entry == 0 {
                return Err(place);
            }
            if entry & HASH == hash & HASH && is(id_of(entry)) {
                return Ok(id_of(entry));
            }
            place = self.after(place);
        }
    }

    /// Notes a number in a place.
    #[inline]
    pub(crate) fn put(&mut self, place: usize, hash: u64, id: usize) {
        self.places[place] = hash & HASH | (id as u64 + 1);
    }

    /// The number that is found first for this hash, or zero.
    #[inline]
    pub(crate) fn likely(&self, hash: u64) -> usize {
        let entry = self.places[self.home(hash)];
        let is_likely = usize::from(entry & HASH == hash & HASH && entry != 0);
        ((entry & !HASH) as usize).wrapping_sub(1).wrapping_mul(is_likely)
    }

    /// One more row has been noted.
    #[inline]
    pub(crate) fn grew(&mut self) {
        self.len += 1;
    }

    /// Sees to it that there are enough places for so many more rows.
    #[inline]
    pub(crate) fn make_room(&mut self, more: usize) {
        if (self.len + more) * 4 >= self.places.len() * 3 {
            self.grow(more);
        }
    }

    /// In place, from the last entry on: nearly all come to be behind those that are still where
    /// they were. The others wait until nothing is left there.
    #[cold]
    fn grow(&mut self, more: usize) {
        let old = self.places.len();
        let new = places(old, self.len + more);
        self.places.reserve_exact(new - old);
        self.places.resize(new, 0);
        let mut later = Vec::new();
        for place in (0..old).rev() {
            let entry = std::mem::take(&mut self.places[place]);
            if entry == 0 {
                continue;
            }
            let home = self.home(entry);
            let behind = if home > place { &mut self.places[home..] } else { &mut [] };
            match behind.iter_mut().find(|entry| **entry == 0) {
                Some(free) => *free = entry,
                None => later.push(entry),
            }
        }
        for entry in later {
            self.insert(entry);
        }
    }

    /// Notes an entry that is not there yet.
    #[inline]
    fn insert(&mut self, entry: u64) {
        let mut place = self.home(entry);
        while self.places[place] != 0 {
            place = self.after(place);
        }
        self.places[place] = entry;
    }

    /// Where a row with this hash would best be.
    #[inline]
    fn home(&self, hash: u64) -> usize {
        (((hash >> 32) * self.places.len() as u64) >> 32) as usize
    }

    #[inline]
    fn after(&self, place: usize) -> usize {
        if place + 1 == self.places.len() { 0 } else { place + 1 }
    }
}

/// The part of a place that has the hash.
const HASH: u64 = !0 << 32;

/// The number of a row, from its entry.
#[inline]
fn id_of(entry: u64) -> usize {
    (entry & !HASH) as usize - 1
}

/// How many places a part without rows has.
const FEW: usize = 1 << 3;

/// How many places a part has, if it had so many, and is to have so many rows: half as many more,
/// whenever they are not enough.
fn places(before: usize, len: usize) -> usize {
    let mut places = before;
    while len * 4 >= places * 3 {
        places += places / 2;
    }
    places
}

/// For how many rows there is room when there are so many: a quarter more than before, whenever
/// that was full.
fn capacity(before: usize, len: usize) -> usize {
    let mut capacity = before;
    while capacity < len {
        capacity += (capacity / 4).max(16);
    }
    capacity
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A set of rows is a set of rows. A change of layout changes nothing, nor does it to be
        /// saved.
        #[test]
        fn states_are_a_set(rows in prop::collection::vec((0..5_u32, [0..9_u32, 0..9, 0..9]), 0..1000), change in 0_usize..1000) {
            let mut states = States::new(Layout::new(5, 3, 9));
            let mut seen: Vec<(u32, [u32; 3])> = Vec::new();
            for (i, &(shared, locals)) in rows.iter().enumerate() {
                if i == change {
                    states.set_layout(Layout::new(5, 3, 1 << 30));
                    states = postcard::from_bytes(&postcard::to_stdvec(&states).unwrap()).unwrap();
                }
                let mut row = vec![0; states.layout().words()];
                states.layout().pack(&mut row, shared, locals);
                let known = seen.iter().position(|other| *other == (shared, locals));
                prop_assert_eq!(states.insert(&row, hash(&row)), (known.unwrap_or(seen.len()), known.is_none()));
                if known.is_none() {
                    seen.push((shared, locals));
                }
            }
            let kept = states.rows(0..states.len()).map(|(layout, row)| (layout.shared(row), layout.locals(row).collect()));
            prop_assert!(kept.eq(seen.iter().map(|&(shared, locals)| (shared, locals.to_vec()))));
        }

        /// A part that grows has what it had, and each can be found. Many are at its end, and so
        /// some of them are at its beginning.
        #[test]
        fn a_part_grows(hashes in prop::collection::hash_set(prop_oneof![any::<u32>(), 0..40_u32, (u32::MAX - 40)..=u32::MAX], 0..300)) {
            let mut part = Part { places: vec![0; FEW], len: 0 };
            let hashes: Vec<u64> = hashes.into_iter().map(|hash| u64::from(hash) << 32).collect();
            for (id, &hash) in hashes.iter().enumerate() {
                let place = part.search(hash, |_| true).expect_err("it is not there yet");
                part.put(place, hash, id);
                part.grew();
                part.make_room(0);
                for (other, &hash) in hashes[..=id].iter().enumerate() {
                    prop_assert_eq!(part.search(hash, |_| true), Ok(other));
                }
            }
            prop_assert_eq!(part.places.iter().filter(|&&entry| entry != 0).count(), hashes.len());
            prop_assert_eq!(part.places.len(), places(FEW, part.len));
        }
    }
}
