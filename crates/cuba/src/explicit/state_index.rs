//! The index of the states of R_k: a hash table in 64 parts, from the hash of a row to its number.
//!
//! The hash of a row selects its part. So several cores can look up rows at the same time, each in
//! its own parts. A part has *places* and linear probing. A place contains half of a row's hash, and
//! the row's number plus one; zero is a free place. The first place of a search grows with the
//! hash, so a part grows in one pass over its places, in place, and without access to the rows. A
//! part grows by half of its places. So a row takes eleven to sixteen bytes in the index.
//!
//! The crate `hashbrown` does not let many searches wait for the memory at the same time, which is
//! why this table is our own (docs/design/003-own-hash-table.md).

use crate::tables::workers::MAX_WORKERS;

/// The number of parts.
pub(super) const PARTS: usize = MAX_WORKERS;

/// The half of a place that contains the hash.
const HASH: u64 = !0 << 32;

/// The number of places of a part without rows.
const FEWEST_PLACES: usize = 1 << 3;

/// A part of the index. Each part has a cache line of its own, because cores write neighbouring
/// parts at the same time.
#[repr(align(64))]
pub(super) struct Part {
    places: Vec<u64>,
    len: usize,
}

/// An index without rows.
pub(super) fn empty_index() -> Vec<Part> {
    (0..PARTS).map(|_| Part { places: vec![0; FEWEST_PLACES], len: 0 }).collect()
}

/// The part for rows with this hash.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "it is below 64")]
pub(super) fn part_of(hash: u64) -> usize {
    hash as usize % PARTS
}

impl Part {
    /// Returns the number of the row with this hash for which `is` holds. If there is none, the
    /// place for its number.
    #[inline]
    pub(super) fn search(&self, hash: u64, is: impl Fn(usize) -> bool) -> Result<usize, usize> {
        let mut place = self.first_place(hash);
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

    /// Writes the number of a row into a place.
    #[inline]
    pub(super) fn put(&mut self, place: usize, hash: u64, id: usize) {
        self.places[place] = hash & HASH | (id as u64 + 1);
    }

    /// The number in the first place for this hash, if it belongs to this hash; otherwise zero.
    #[inline]
    pub(super) fn likely(&self, hash: u64) -> usize {
        let entry = self.places[self.first_place(hash)];
        let is_likely = usize::from(entry & HASH == hash & HASH && entry != 0);
        ((entry & !HASH) as usize).wrapping_sub(1).wrapping_mul(is_likely)
    }

    /// Counts one more row.
    #[inline]
    pub(super) fn count_row(&mut self) {
        self.len += 1;
    }

    /// Adds places, unless there are enough for `more` rows.
    #[inline]
    pub(super) fn make_room(&mut self, more: usize) {
        if (self.len + more) * 4 >= self.places.len() * 3 {
            self.grow(more);
        }
    }

    /// Adds places, and moves the entries from the last one on: nearly all move behind the entries
    /// that have not moved yet. The others wait in a list until all have moved.
    #[cold]
    fn grow(&mut self, more: usize) {
        let old = self.places.len();
        let new = places_for(old, self.len + more);
        self.places.reserve_exact(new - old);
        self.places.resize(new, 0);
        let mut waiting = Vec::new();
        for place in (0..old).rev() {
            let entry = std::mem::take(&mut self.places[place]);
            if entry == 0 {
                continue;
            }
            let first = self.first_place(entry);
            let behind = if first > place { &mut self.places[first..] } else { &mut [] };
            match behind.iter_mut().find(|entry| **entry == 0) {
                Some(free) => *free = entry,
                None => waiting.push(entry),
            }
        }
        for entry in waiting {
            self.insert_entry(entry);
        }
    }

    /// Inserts the number of a row that is not in the index.
    #[inline]
    pub(super) fn insert(&mut self, hash: u64, id: usize) {
        self.insert_entry(hash & HASH | (id as u64 + 1));
    }

    #[inline]
    fn insert_entry(&mut self, entry: u64) {
        let mut place = self.first_place(entry);
        while self.places[place] != 0 {
            place = self.after(place);
        }
        self.places[place] = entry;
    }

    /// The place where a search for this hash begins.
    #[inline]
    fn first_place(&self, hash: u64) -> usize {
        (((hash >> 32) * self.places.len() as u64) >> 32) as usize
    }

    #[inline]
    fn after(&self, place: usize) -> usize {
        if place + 1 == self.places.len() { 0 } else { place + 1 }
    }

    /// The number of places with `more` rows.
    pub(super) fn places_after(&self, more: usize) -> usize {
        places_for(FEWEST_PLACES, self.len + more)
    }
}

/// The number of a row, from its entry.
#[inline]
fn id_of(entry: u64) -> usize {
    (entry & !HASH) as usize - 1
}

/// The number of places for `len` rows: half as many more than before, as often as necessary.
fn places_for(before: usize, len: usize) -> usize {
    let mut places = before;
    while len * 4 >= places * 3 {
        places += places / 2;
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A part that grows still contains all entries. Many hashes are large, so some of their
        /// entries are at the beginning of the part.
        #[test]
        fn a_part_grows(hashes in prop::collection::hash_set(prop_oneof![any::<u32>(), 0..40_u32, (u32::MAX - 40)..=u32::MAX], 0..300)) {
            let mut part = Part { places: vec![0; FEWEST_PLACES], len: 0 };
            let hashes: Vec<u64> = hashes.into_iter().map(|hash| u64::from(hash) << 32).collect();
            for (id, &hash) in hashes.iter().enumerate() {
                let place = part.search(hash, |_| true).expect_err("it is not there yet");
                part.put(place, hash, id);
                part.count_row();
                part.make_room(0);
                for (other, &hash) in hashes[..=id].iter().enumerate() {
                    prop_assert_eq!(part.search(hash, |_| true), Ok(other));
                }
            }
            prop_assert_eq!(part.places.iter().filter(|&&entry| entry != 0).count(), hashes.len());
            prop_assert_eq!(part.places.len(), part.places_after(0));
        }
    }
}
