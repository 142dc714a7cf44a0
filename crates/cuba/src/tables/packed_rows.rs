//! Sets of states as packed rows: a few words for each state, all rows in one array.
//!
//! A row has the number of the shared state, and then one number for each thread (a stack, or a top
//! symbol). The [`Layout`] decides how many bits each number has. A [`PackedSet`] stores the rows
//! in the order of their insertion, so each state has a dense number, and a level is a range of
//! numbers.

use hashbrown::HashTable;
use serde::{Deserialize, Serialize};

/// The bits of each number in a row. Each number is within one word.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Layout {
    words: usize,
    fields: Vec<Field>,
    /// The number of bits of each thread's number.
    bits: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Field {
    word: usize,
    shift: u32,
    mask: u64,
}

impl Layout {
    /// Creates the layout for shared states below `shared` and for `threads` numbers below
    /// `locals`. It uses the fewest words, and gives the bits left in these words to the threads'
    /// numbers.
    pub(crate) fn new(shared: usize, threads: usize, locals: usize) -> Self {
        let shared = bits_for(shared);
        let mut bits = bits_for(locals);
        let mut layout = Layout::with_bits(shared, threads, bits);
        while bits < 32 {
            bits += 1;
            let roomier = Layout::with_bits(shared, threads, bits);
            if roomier.words > layout.words {
                break;
            }
            layout = roomier;
        }
        layout
    }

    fn with_bits(shared: u32, threads: usize, bits: u32) -> Self {
        let (mut word, mut used) = (0, 0);
        let fields = std::iter::once(shared).chain(std::iter::repeat_n(bits, threads)).map(|width| {
            if used + width > u64::BITS {
                (word, used) = (word + 1, 0);
            }
            let field = Field { word, shift: used, mask: (1 << width) - 1 };
            used += width;
            field
        });
        let fields = fields.collect();
        Layout { words: word + 1, fields, bits }
    }

    /// Returns the number of words in a row.
    #[inline]
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// Whether every number below `locals` fits into a thread's bits.
    pub(crate) fn has_room_for(&self, locals: usize) -> bool {
        bits_for(locals) <= self.bits
    }

    #[inline]
    pub(crate) fn shared(&self, row: &[u64]) -> u32 {
        self.get(row, 0)
    }

    #[inline]
    pub(crate) fn local(&self, row: &[u64], position: usize) -> u32 {
        self.get(row, 1 + position)
    }

    #[inline]
    pub(crate) fn locals(&self, row: &[u64]) -> impl Iterator<Item = u32> {
        self.fields[1..].iter().map(|field| field.get(row))
    }

    #[inline]
    fn get(&self, row: &[u64], field: usize) -> u32 {
        self.fields[field].get(row)
    }

    /// Sets the shared state, which must be zero before.
    #[inline]
    pub(crate) fn fill_shared(&self, row: &mut [u64], shared: u32) {
        self.fields[0].fill(row, shared);
    }

    /// Sets a thread's number, which must be zero before.
    #[inline]
    pub(crate) fn fill_local(&self, row: &mut [u64], position: usize, local: u32) {
        self.fields[1 + position].fill(row, local);
    }

    #[inline]
    pub(crate) fn clear_shared(&self, row: &mut [u64]) {
        self.fields[0].clear(row);
    }

    #[inline]
    pub(crate) fn clear_local(&self, row: &mut [u64], position: usize) {
        self.fields[1 + position].clear(row);
    }

    /// Writes a whole row.
    #[inline]
    pub(crate) fn pack(&self, row: &mut [u64], shared: u32, locals: impl IntoIterator<Item = u32>) {
        row.fill(0);
        self.fill_shared(row, shared);
        for (position, local) in locals.into_iter().enumerate() {
            self.fill_local(row, position, local);
        }
    }
}

impl Field {
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "no field has more than 32 bits")]
    fn get(self, row: &[u64]) -> u32 {
        ((row[self.word] >> self.shift) & self.mask) as u32
    }

    #[inline]
    fn fill(self, row: &mut [u64], value: u32) {
        debug_assert!(u64::from(value) <= self.mask, "the layout has room for it");
        row[self.word] |= u64::from(value) << self.shift;
    }

    #[inline]
    fn clear(self, row: &mut [u64]) {
        row[self.word] &= !(self.mask << self.shift);
    }
}

/// Returns the number of bits for numbers below `count`; at least one.
fn bits_for(count: usize) -> u32 {
    (usize::BITS - count.saturating_sub(1).leading_zeros()).max(1)
}

/// Rows, each once, numbered in the order of their insertion. A hash table finds the number of a
/// row.
#[derive(Serialize, Deserialize)]
#[serde(try_from = "SavedPackedSet")]
pub(crate) struct PackedSet {
    layout: Layout,
    rows: Vec<u64>,
    #[serde(skip)]
    numbers: HashTable<u32>,
}

/// The serialized form of a set.
#[derive(Deserialize)]
struct SavedPackedSet {
    layout: Layout,
    rows: Vec<u64>,
}

impl TryFrom<SavedPackedSet> for PackedSet {
    type Error = &'static str;

    fn try_from(SavedPackedSet { layout, rows }: SavedPackedSet) -> Result<Self, Self::Error> {
        if layout.words == 0 || !rows.len().is_multiple_of(layout.words) || rows.len() / layout.words > Self::MAX_LEN {
            return Err("row data is not a multiple of the row width");
        }
        let mut set = PackedSet { rows, ..PackedSet::new(layout) };
        set.fill_numbers();
        Ok(set)
    }
}

impl PackedSet {
    /// The largest number of rows.
    pub(crate) const MAX_LEN: usize = 3 << 30;

    pub(crate) fn new(layout: Layout) -> Self {
        PackedSet { layout, rows: Vec::new(), numbers: HashTable::new() }
    }

    #[inline]
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    #[inline]
    pub(crate) fn row(&self, id: usize) -> &[u64] {
        nth_row(&self.rows, self.layout.words, id)
    }

    /// Returns the rows with these numbers.
    pub(crate) fn rows(&self, ids: impl Iterator<Item = usize>) -> impl Iterator<Item = (&Layout, &[u64])> {
        ids.map(|id| (&self.layout, self.row(id)))
    }

    /// Inserts a row. Returns its number, and whether it is new. The caller ensures that the set
    /// never has more than [`MAX_LEN`](Self::MAX_LEN) rows.
    #[inline]
    pub(crate) fn insert(&mut self, row: &[u64]) -> (usize, bool) {
        let hash = hash(row);
        match self.find_hashed(row, hash) {
            Some(id) => (id, false),
            None => (self.insert_new(row, hash), true),
        }
    }

    /// Inserts a row that the set does not contain.
    fn insert_new(&mut self, row: &[u64], hash_of_row: u64) -> usize {
        if self.numbers.len() == self.numbers.capacity() {
            self.grow(1);
        }
        let id = self.len();
        self.rows.extend_from_slice(row);
        self.numbers.insert_unique(hash_of_row, number_of(id), |_| unreachable!("the table has room"));
        id
    }

    /// Gives the hash table room for `more` rows.
    #[cold]
    fn grow(&mut self, more: usize) {
        let (rows, words) = (&self.rows, self.layout.words);
        let rehash = |&id: &u32| hash(nth_row(rows, words, id as usize));
        let capacity = capacity(buckets_for(self.len() + more));
        self.numbers.reserve(capacity - self.len(), rehash);
    }

    #[inline]
    pub(crate) fn find(&self, row: &[u64]) -> Option<usize> {
        self.find_hashed(row, hash(row))
    }

    #[inline]
    fn find_hashed(&self, row: &[u64], hash: u64) -> Option<usize> {
        self.numbers.find(hash, |&id| same(self.row(id as usize), row)).map(|&id| id as usize)
    }

    /// Changes the layout. The rows keep their numbers.
    pub(crate) fn set_layout(&mut self, layout: Layout) {
        let words = layout.words;
        let mut rows = vec![0; self.len() * words];
        for (id, row) in rows.chunks_exact_mut(words).enumerate() {
            let old = self.row(id);
            layout.pack(row, self.layout.shared(old), self.layout.locals(old));
        }
        (self.layout, self.rows) = (layout, rows);
        self.fill_numbers();
    }

    /// Rebuilds the hash table.
    fn fill_numbers(&mut self) {
        let len = self.rows.len() / self.layout.words;
        self.numbers.clear();
        self.grow(len);
        for id in 0..len {
            let hash = hash(self.row(id));
            self.numbers.insert_unique(hash, number_of(id), |_| unreachable!("the table has room"));
        }
    }

    /// Returns the most memory in use while `more` rows are inserted: while the table grows, the
    /// old table and the new one exist. `usize::MAX` if there are not enough numbers.
    pub(crate) fn bytes_after(&self, more: usize) -> usize {
        let len = self.len() + more;
        if len >= Self::MAX_LEN {
            return usize::MAX;
        }
        let new = buckets_for(len);
        let old = if capacity(new) > self.numbers.capacity() { buckets_before(new) } else { 0 };
        len * self.layout.words * size_of::<u64>() + (old + new) * BUCKET_BYTES
    }
}

/// The bytes of a bucket: a number and a control byte.
const BUCKET_BYTES: usize = size_of::<u32>() + 1;

/// The number of buckets of the smallest table.
const FEWEST_BUCKETS: usize = 1 << 7;

/// The factor by which small tables grow.
const SMALL_TABLE_GROWTH: usize = 1 << 3;

/// From this number of buckets on, a table doubles.
const LARGE_TABLE: usize = 1 << 16;

/// Returns the number of buckets of a table for so many rows.
fn buckets_for(rows: usize) -> usize {
    let mut buckets = FEWEST_BUCKETS;
    while rows > capacity(buckets) {
        buckets *= if buckets < LARGE_TABLE { SMALL_TABLE_GROWTH } else { 2 };
    }
    buckets
}

/// Returns the number of buckets that a table of this size had before it last grew.
fn buckets_before(buckets: usize) -> usize {
    if buckets == FEWEST_BUCKETS { 0 } else { buckets / if buckets > LARGE_TABLE { 2 } else { SMALL_TABLE_GROWTH } }
}

/// Returns the number of rows for which so many buckets have room.
fn capacity(buckets: usize) -> usize {
    buckets / 8 * 7
}

#[inline]
fn nth_row(rows: &[u64], words: usize, id: usize) -> &[u64] {
    &rows[id * words..][..words]
}

#[inline]
fn number_of(id: usize) -> u32 {
    u32::try_from(id).expect("a set has at most MAX_LEN rows")
}

/// Computes the hash of a row. Multiplies each word in, and mixes the upper half of the product
/// into the lower half. The last multiplication spreads all bits to the upper half, which is then
/// mixed into the lower half. Packed rows are spread as well as random ones; one multiplication is
/// not enough.
#[inline]
pub(crate) fn hash(row: &[u64]) -> u64 {
    let mix = |hash: u64, &word: &u64| {
        let product = (hash ^ word).wrapping_mul(0xd6e8_feb8_6659_fd93);
        product ^ (product >> 32)
    };
    let hash = row.iter().fold(0, mix).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ (hash >> 32)
}

/// Compares two rows. Most rows have one to three words, so a loop is faster than `memcmp`.
#[inline]
pub(crate) fn same(a: &[u64], b: &[u64]) -> bool {
    a.iter().zip(b).all(|(a, b)| a == b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_layout_has_the_fewest_words_and_uses_all_bits() {
        let widths = |layout: &Layout| (layout.words, layout.bits);
        assert_eq!(widths(&Layout::new(4, 2, 7)), (1, 31));
        assert_eq!(widths(&Layout::new(21, 4, 1 << 14)), (1, 14));
        assert_eq!(widths(&Layout::new(21, 4, (1 << 14) + 1)), (2, 29));
        assert_eq!(widths(&Layout::new(1, 1, 1)), (1, 32));
        assert_eq!(widths(&Layout::new(1 << 20, 1024, 2)), (17, 1), "1024 bits, and the first word has 20 less");
    }

    proptest! {
        #[test]
        fn unpack_inverts_pack(
            shared in 0..1_u32 << 20,
            locals in prop::collection::vec(0..1_u32 << 17, 0..12),
        ) {
            let layout = Layout::new(1 << 20, locals.len(), 1 << 17);
            let mut row = vec![u64::MAX; layout.words()];
            layout.pack(&mut row, shared, locals.iter().copied());
            prop_assert_eq!(layout.shared(&row), shared);
            prop_assert_eq!(layout.locals(&row).collect::<Vec<_>>(), locals.clone());
        }

        /// Compares with a list. A new layout and serialization preserve the set.
        #[test]
        fn a_packed_set_is_a_set(rows in prop::collection::vec((0..3_u32, [0..4_u32, 0..4, 0..4]), 0..100)) {
            let mut set = PackedSet::new(Layout::new(3, 3, 4));
            let mut distinct = Vec::new();
            for (i, (shared, locals)) in rows.iter().enumerate() {
                if i == rows.len() / 2 {
                    set.set_layout(Layout::new(3, 3, 1 << 30));
                    set = postcard::from_bytes(&postcard::to_stdvec(&set).unwrap()).unwrap();
                }
                let mut row = vec![0; set.layout().words()];
                set.layout().pack(&mut row, *shared, locals.iter().copied());
                let position = distinct.iter().position(|other| other == &(*shared, *locals));
                prop_assert_eq!(set.find(&row), position);
                prop_assert_eq!(set.insert(&row), (position.unwrap_or(distinct.len()), position.is_none()));
                if position.is_none() {
                    distinct.push((*shared, *locals));
                }
            }
            prop_assert_eq!(set.len(), distinct.len());
            for (id, (shared, locals)) in distinct.iter().enumerate() {
                prop_assert_eq!(set.layout().shared(set.row(id)), *shared);
                prop_assert_eq!(set.layout().locals(set.row(id)).collect::<Vec<_>>(), locals.to_vec());
            }
        }
    }
}
