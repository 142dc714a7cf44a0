//! Sets of states as a few packed words each, in one flat table.
//!
//! A state is a row of small numbers: first the shared state, then one number a thread (a stack, or
//! a top symbol). The [`Layout`] says how many bits each has; [`PackedSet`] keeps the rows in the
//! order in which they came, so that a state is known by a dense number and everything found at one
//! level is one range of numbers. Nothing is on the heap per state.

use serde::{Deserialize, Serialize};

/// Where each number of a row sits in its words. No number crosses a word's end.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Layout {
    words: usize,
    fields: Vec<Field>,
    /// How many bits a thread's number has.
    bits: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Field {
    word: usize,
    shift: u32,
    mask: u64,
}

impl Layout {
    /// For shared states below `shared` and `threads` numbers below `locals` each, in as few words
    /// as that takes. Room that is left in these words goes to the threads' numbers.
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

    /// How many words a row has.
    #[inline]
    pub(crate) fn words(&self) -> usize {
        self.words
    }

    /// Whether every number below `locals` can be a thread's.
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

    /// Sets the shared state of a row in which it is zero.
    #[inline]
    pub(crate) fn fill_shared(&self, row: &mut [u64], shared: u32) {
        self.fields[0].fill(row, shared);
    }

    /// Sets a thread's number in a row in which it is zero.
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

/// How many bits the numbers below `count` take; at least one.
fn bits_for(count: usize) -> u32 {
    (usize::BITS - count.saturating_sub(1).leading_zeros()).max(1)
}

/// Rows, each once, numbered in the order in which they came.
///
/// The rows are found by hashing with linear probing. A place holds the upper half of the row's
/// hash and its number plus one; zero is free. Where a row belongs is given by the upper bits of
/// its hash, so the table can grow without a look at the rows.
#[derive(Serialize, Deserialize)]
#[serde(try_from = "Rows")]
pub(crate) struct PackedSet {
    layout: Layout,
    rows: Vec<u64>,
    /// 2^(64 - shift) of them.
    #[serde(skip)]
    places: Vec<u64>,
    #[serde(skip)]
    shift: u32,
    #[serde(skip)]
    len: usize,
}

/// What is saved of a set.
#[derive(Deserialize)]
struct Rows {
    layout: Layout,
    rows: Vec<u64>,
}

impl TryFrom<Rows> for PackedSet {
    type Error = &'static str;

    /// With as many places as if the rows had come one by one.
    fn try_from(Rows { layout, rows }: Rows) -> Result<Self, Self::Error> {
        if layout.words == 0 || !rows.len().is_multiple_of(layout.words) || rows.len() / layout.words > Self::MAX_LEN {
            return Err("rows that are none");
        }
        let mut set = PackedSet { len: rows.len() / layout.words, rows, ..PackedSet::new(layout) };
        while set.len >= Self::room(set.places.len()) {
            let doublings = doublings(set.places.len());
            set.places = vec![0; set.places.len() << doublings];
            set.shift -= doublings;
        }
        set.fill_places();
        Ok(set)
    }
}

/// The part of a place that has the hash.
const TAG: u64 = !0 << 32;

impl PackedSet {
    /// No more rows than this. Their numbers and the part of the hash that is kept have 32 bits.
    pub(crate) const MAX_LEN: usize = Self::room(1 << 32);

    /// How many rows so many places are good for.
    const fn room(places: usize) -> usize {
        places / 4 * 3
    }

    pub(crate) fn new(layout: Layout) -> Self {
        PackedSet { layout, rows: Vec::new(), places: vec![0; 1 << 6], shift: 64 - 6, len: 0 }
    }

    #[inline]
    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn row(&self, id: usize) -> &[u64] {
        let words = self.layout.words;
        &self.rows[id * words..][..words]
    }

    /// The rows with these numbers.
    pub(crate) fn rows(&self, ids: impl Iterator<Item = usize>) -> impl Iterator<Item = (&Layout, &[u64])> {
        ids.map(|id| (&self.layout, self.row(id)))
    }

    /// The number of a row, and whether it is new. The caller sees to it that there are never more
    /// than [`MAX_LEN`](Self::MAX_LEN).
    #[inline]
    pub(crate) fn insert(&mut self, row: &[u64]) -> (usize, bool) {
        let hash = hash(row);
        match self.search(row, hash) {
            Ok(id) => (id, false),
            Err(place) => {
                let id = self.len;
                self.len += 1;
                self.places[place] = hash & TAG | self.len as u64;
                self.rows.extend_from_slice(row);
                if self.len == Self::room(self.places.len()) {
                    self.grow();
                }
                (id, true)
            }
        }
    }

    #[inline]
    pub(crate) fn find(&self, row: &[u64]) -> Option<usize> {
        self.search(row, hash(row)).ok()
    }

    /// The number of a row, or the place where it would be noted.
    #[inline]
    fn search(&self, row: &[u64], hash: u64) -> Result<usize, usize> {
        let mut place = self.home(hash);
        loop {
            let entry = self.places[place];
            if entry == 0 {
                return Err(place);
            }
            let id = id_of(entry);
            if entry & TAG == hash & TAG && same(self.row(id), row) {
                return Ok(id);
            }
            place = (place + 1) & (self.places.len() - 1);
        }
    }

    /// Where a row with this hash would best be.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "there are at most 2^32 places")]
    fn home(&self, hash: u64) -> usize {
        (hash >> self.shift) as usize
    }

    /// Makes room.
    #[cold]
    fn grow(&mut self) {
        let doublings = doublings(self.places.len());
        let places = vec![0; self.places.len() << doublings];
        self.shift -= doublings;
        for entry in std::mem::replace(&mut self.places, places) {
            if entry != 0 {
                self.put(entry);
            }
        }
    }

    /// Notes an entry that is not there yet.
    fn put(&mut self, entry: u64) {
        let mut place = self.home(entry);
        while self.places[place] != 0 {
            place = (place + 1) & (self.places.len() - 1);
        }
        self.places[place] = entry;
    }

    /// The same rows, with the same numbers, in another layout.
    pub(crate) fn set_layout(&mut self, layout: Layout) {
        let words = layout.words;
        let mut rows = vec![0; self.len * words];
        for (id, row) in rows.chunks_exact_mut(words).enumerate() {
            let old = self.row(id);
            layout.pack(row, self.layout.shared(old), self.layout.locals(old));
        }
        (self.layout, self.rows) = (layout, rows);
        self.places.fill(0);
        self.fill_places();
    }

    /// Notes every row in places that are free.
    fn fill_places(&mut self) {
        for id in 0..self.len {
            let entry = hash(self.row(id)) & TAG | (id + 1) as u64;
            self.put(entry);
        }
    }

    /// The most memory that is in use while `more` rows are inserted: when the table grows, the old
    /// one and the new one are there. More than there can be, if the numbers run out.
    pub(crate) fn bytes_after(&self, more: usize) -> usize {
        let len = self.len + more;
        if len >= Self::MAX_LEN {
            return usize::MAX;
        }
        let (mut old, mut new) = (0, self.places.len());
        while len >= Self::room(new) {
            (old, new) = (new, new << doublings(new));
        }
        (len * self.layout.words + old + new) * size_of::<u64>()
    }
}

/// By how many powers of two so many places are to grow: faster while there are few.
fn doublings(places: usize) -> u32 {
    if places < 1 << 18 { 2 } else { 1 }
}

/// The number of a row, from its entry.
#[inline]
fn id_of(entry: u64) -> usize {
    (entry & !TAG) as usize - 1
}

/// Multiplies each word in, and mixes the upper half of the product into the lower. The last
/// multiplication brings all bits to the upper ones, which count most, and these go into the lower
/// ones. On rows as they come, this spreads as well as chance would; one multiplication does not.
#[inline]
pub(crate) fn hash(row: &[u64]) -> u64 {
    let mix = |hash: u64, &word: &u64| {
        let product = (hash ^ word).wrapping_mul(0xd6e8_feb8_6659_fd93);
        product ^ (product >> 32)
    };
    let hash = row.iter().fold(0, mix).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ (hash >> 32)
}

/// Rows have one to three words in most cases: no call to compare memory.
#[inline]
pub(crate) fn same(a: &[u64], b: &[u64]) -> bool {
    a.iter().zip(b).all(|(a, b)| a == b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_layout_takes_as_few_words_as_it_can_and_uses_them() {
        let widths = |layout: &Layout| (layout.words, layout.bits);
        assert_eq!(widths(&Layout::new(4, 2, 7)), (1, 31));
        assert_eq!(widths(&Layout::new(21, 4, 1 << 14)), (1, 14));
        assert_eq!(widths(&Layout::new(21, 4, (1 << 14) + 1)), (2, 29));
        assert_eq!(widths(&Layout::new(1, 1, 1)), (1, 32));
        assert_eq!(widths(&Layout::new(1 << 20, 1024, 2)), (17, 1), "1024 bits, and the first word has 20 less");
    }

    proptest! {
        #[test]
        fn what_is_packed_can_be_unpacked(
            shared in 0..1_u32 << 20,
            locals in prop::collection::vec(0..1_u32 << 17, 0..12),
        ) {
            let layout = Layout::new(1 << 20, locals.len(), 1 << 17);
            let mut row = vec![u64::MAX; layout.words()];
            layout.pack(&mut row, shared, locals.iter().copied());
            prop_assert_eq!(layout.shared(&row), shared);
            prop_assert_eq!(layout.locals(&row).collect::<Vec<_>>(), locals.clone());
        }

        /// A set of rows is a set of rows, and a change of layout changes nothing.
        #[test]
        fn a_packed_set_is_a_set(rows in prop::collection::vec((0..3_u32, [0..4_u32, 0..4, 0..4]), 0..100)) {
            let mut set = PackedSet::new(Layout::new(3, 3, 4));
            let mut seen = Vec::new();
            for (i, (shared, locals)) in rows.iter().enumerate() {
                if i == rows.len() / 2 {
                    set.set_layout(Layout::new(3, 3, 1 << 30));
                }
                let mut row = vec![0; set.layout().words()];
                set.layout().pack(&mut row, *shared, locals.iter().copied());
                let known = seen.iter().position(|other| other == &(*shared, *locals));
                prop_assert_eq!(set.find(&row), known);
                prop_assert_eq!(set.insert(&row), (known.unwrap_or(seen.len()), known.is_none()));
                if known.is_none() {
                    seen.push((*shared, *locals));
                }
            }
            prop_assert_eq!(set.len(), seen.len());
            for (id, (shared, locals)) in seen.iter().enumerate() {
                prop_assert_eq!(set.layout().shared(set.row(id)), *shared);
                prop_assert_eq!(set.layout().locals(set.row(id)).collect::<Vec<_>>(), locals.to_vec());
            }
        }
    }
}
