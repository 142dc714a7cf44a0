//! The index of the states of R_k: a hash table in 64 shards, from the hash of a row to its number.
//!
//! The hash of a row selects its shard. So several cores can look up rows at the same time, each in
//! its own shards. A shard has *slots* and linear probing. A slot contains half of a row's hash,
//! and the row's number plus one; zero is a free slot. The first slot of a search grows with the
//! hash, so a shard grows in one pass over its slots, in place, and without access to the rows. A
//! shard grows by half of its slots. So a row takes eleven to sixteen bytes in the index.
//!
//! The crate `hashbrown` does not let many searches wait for the memory at the same time, which is
//! why this table is our own (docs/design/003-own-hash-table.md).

use crate::tables::workers::MAX_WORKERS;

/// The number of shards.
pub(in crate::explicit) const SHARDS: usize = MAX_WORKERS;

/// The half of a slot that contains the hash.
const HASH: u64 = !0 << 32;

/// The number of slots of a shard without rows.
const FEWEST_SLOTS: usize = 1 << 3;

/// A shard of the index. Each shard has a cache line of its own, because cores write neighbouring
/// shards at the same time.
#[repr(align(64))]
pub(in crate::explicit) struct Shard {
    slots: Vec<u64>,
    len: usize,
}

/// An index without rows.
pub(in crate::explicit) fn empty_index() -> Vec<Shard> {
    (0..SHARDS).map(|_| Shard { slots: vec![0; FEWEST_SLOTS], len: 0 }).collect()
}

/// The shard for rows with this hash.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "it is below 64")]
pub(in crate::explicit) fn shard_of(hash: u64) -> usize {
    hash as usize % SHARDS
}

impl Shard {
    /// Returns the number of the row with this hash for which `is` holds. If there is none, the
    /// slot for its number.
    #[inline]
    pub(in crate::explicit) fn search(&self, hash: u64, is: impl Fn(usize) -> bool) -> Result<usize, usize> {
        let mut slot = self.first_slot(hash);
        loop {
            let entry = self.slots[slot];
            if entry == 0 {
                return Err(slot);
            }
            if entry & HASH == hash & HASH && is(id_of(entry)) {
                return Ok(id_of(entry));
            }
            slot = self.after(slot);
        }
    }

    /// Writes the number of a row into a slot.
    #[inline]
    pub(in crate::explicit) fn put(&mut self, slot: usize, hash: u64, id: usize) {
        self.slots[slot] = hash & HASH | (id as u64 + 1);
    }

    /// The number in the first slot for this hash, if it belongs to this hash; otherwise zero.
    #[inline]
    pub(in crate::explicit) fn likely(&self, hash: u64) -> usize {
        let entry = self.slots[self.first_slot(hash)];
        let is_likely = usize::from(entry & HASH == hash & HASH && entry != 0);
        ((entry & !HASH) as usize).wrapping_sub(1).wrapping_mul(is_likely)
    }

    /// Counts one more row.
    #[inline]
    pub(in crate::explicit) fn count_row(&mut self) {
        self.len += 1;
    }

    /// Adds slots, unless there are enough for `more` rows.
    #[inline]
    pub(in crate::explicit) fn make_room(&mut self, more: usize) {
        if (self.len + more) * 4 >= self.slots.len() * 3 {
            self.grow(more);
        }
    }

    /// Adds slots, and moves the entries from the last one on: nearly all move behind the entries
    /// that have not moved yet. The others wait in a list until all have moved.
    #[cold]
    fn grow(&mut self, more: usize) {
        let old = self.slots.len();
        let new = slots_for(old, self.len + more);
        self.slots.reserve_exact(new - old);
        self.slots.resize(new, 0);
        let mut waiting = Vec::new();
        for slot in (0..old).rev() {
            let entry = std::mem::take(&mut self.slots[slot]);
            if entry == 0 {
                continue;
            }
            let first = self.first_slot(entry);
            let behind = if first > slot { &mut self.slots[first..] } else { &mut [] };
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
    pub(in crate::explicit) fn insert(&mut self, hash: u64, id: usize) {
        self.insert_entry(hash & HASH | (id as u64 + 1));
    }

    #[inline]
    fn insert_entry(&mut self, entry: u64) {
        let mut slot = self.first_slot(entry);
        while self.slots[slot] != 0 {
            slot = self.after(slot);
        }
        self.slots[slot] = entry;
    }

    /// The slot where a search for this hash begins.
    #[inline]
    fn first_slot(&self, hash: u64) -> usize {
        (((hash >> 32) * self.slots.len() as u64) >> 32) as usize
    }

    #[inline]
    fn after(&self, slot: usize) -> usize {
        if slot + 1 == self.slots.len() { 0 } else { slot + 1 }
    }

    /// The number of slots with `more` rows.
    pub(in crate::explicit) fn slots_after(&self, more: usize) -> usize {
        slots_for(FEWEST_SLOTS, self.len + more)
    }
}

/// The number of a row, from its entry.
#[inline]
fn id_of(entry: u64) -> usize {
    (entry & !HASH) as usize - 1
}

/// The number of slots for `len` rows: half as many more than before, as often as necessary.
fn slots_for(before: usize, len: usize) -> usize {
    let mut slots = before;
    while len * 4 >= slots * 3 {
        slots += slots / 2;
    }
    slots
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A shard that grows still contains all entries. Many hashes are large, so some of their
        /// entries are at the beginning of the shard.
        #[test]
        fn a_part_grows(hashes in prop::collection::hash_set(prop_oneof![any::<u32>(), 0..40_u32, (u32::MAX - 40)..=u32::MAX], 0..300)) {
            let mut shard = Shard { slots: vec![0; FEWEST_SLOTS], len: 0 };
            let hashes: Vec<u64> = hashes.into_iter().map(|hash| u64::from(hash) << 32).collect();
            for (id, &hash) in hashes.iter().enumerate() {
                let slot = shard.search(hash, |_| true).expect_err("it is not there yet");
                shard.put(slot, hash, id);
                shard.count_row();
                shard.make_room(0);
                for (other, &hash) in hashes[..=id].iter().enumerate() {
                    prop_assert_eq!(shard.search(hash, |_| true), Ok(other));
                }
            }
            prop_assert_eq!(shard.slots.iter().filter(|&&entry| entry != 0).count(), hashes.len());
            prop_assert_eq!(shard.slots.len(), shard.slots_after(0));
        }
    }
}
