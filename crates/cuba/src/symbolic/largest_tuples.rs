//! The largest tuples of one shared state: those that no other tuple covers.
//!
//! For each group of interchangeable threads and each language, a row of bits marks the tuples that
//! have this language in this group. A tuple that covers another one has, for each language of the
//! other one, a language that includes it. So the intersection of a few unions of rows leaves few
//! candidates. For groups of one thread, the candidates are the answer; for larger groups, a
//! matching decides.

use crate::automata::language_table::{LanguageId, Languages};
use crate::visible::matching::matching;
use crate::visible::symmetry::Symmetry;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// The largest tuples of one shared state.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct LargestTuples {
    /// The numbers of tuples in the order in which they were added, covered ones included.
    ids: Vec<u32>,
    /// Their languages, one tuple after the other.
    tuples: Vec<u32>,
    /// Marks those that no other one covers.
    largest: Bits,
    /// The number of covered ones.
    covered: usize,
    /// For each group and language, marks the tuples that have it there.
    having: Vec<FxHashMap<u32, Bits>>,
}

/// A set of small numbers.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Bits(Vec<u64>);

impl Bits {
    fn set(&mut self, i: usize) {
        if i / 64 >= self.0.len() {
            self.0.resize(i / 64 + 1, 0);
        }
        self.0[i / 64] |= 1 << (i % 64);
    }

    fn clear(&mut self, i: usize) {
        self.0[i / 64] &= !(1 << (i % 64));
    }

    fn has(&self, i: usize) -> bool {
        self.0.get(i / 64).is_some_and(|word| word >> (i % 64) & 1 == 1)
    }

    fn add(&mut self, other: &Bits) {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word |= other;
        }
    }

    fn intersect(&mut self, other: &Bits) {
        self.0.truncate(other.0.len());
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word &= other;
        }
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    fn iter(&self) -> impl Iterator<Item = usize> {
        let bits = |(at, &word): (usize, &u64)| (0..64).filter(move |i| word >> i & 1 == 1).map(move |i| 64 * at + i);
        self.0.iter().enumerate().filter(|&(_, &word)| word != 0).flat_map(bits)
    }
}

impl LargestTuples {
    /// The numbers of the largest tuples.
    pub(crate) fn ids(&self) -> impl Iterator<Item = u32> {
        self.largest.iter().map(|i| self.ids[i])
    }

    /// Whether one of them covers a tuple.
    pub(crate) fn cover(&self, languages: &mut Languages, symmetry: &Symmetry, tuple: &[u32]) -> bool {
        let left = self.candidates(languages, symmetry, tuple, Languages::including);
        left.iter().any(|i| covers(languages, symmetry, self.tuple(i, tuple.len()), tuple))
    }

    /// The largest tuples that have, for each language of `tuple`, one of its `others` in the same
    /// group.
    fn candidates(
        &self,
        languages: &mut Languages,
        symmetry: &Symmetry,
        tuple: &[u32],
        others: impl Fn(&mut Languages, LanguageId) -> &[LanguageId],
    ) -> Bits {
        let mut left = self.largest.clone();
        for (group, having) in symmetry.groups().zip(&self.having) {
            for run in tuple[group].chunk_by(|a, b| a == b) {
                if left.is_empty() {
                    return left;
                }
                let mut any = Bits::default();
                for other in others(languages, LanguageId(run[0])) {
                    if let Some(having) = having.get(&other.0) {
                        any.add(having);
                    }
                }
                left.intersect(&any);
            }
        }
        left
    }

    /// Adds a tuple that none of them covers. With `drop`, those that it covers are no longer among
    /// the largest.
    pub(crate) fn add(&mut self, languages: &mut Languages, symmetry: &Symmetry, id: u32, tuple: &[u32], drop: bool) {
        self.having.resize_with(symmetry.groups().count(), FxHashMap::default);
        if drop {
            let left = self.candidates(languages, symmetry, tuple, Languages::included_in);
            for i in left.iter() {
                if covers(languages, symmetry, tuple, self.tuple(i, tuple.len())) {
                    self.largest.clear(i);
                    self.covered += 1;
                }
            }
            if 2 * self.covered > self.ids.len() {
                self.remove_covered(symmetry, tuple.len());
            }
        }
        self.push(symmetry, id, tuple);
    }

    fn push(&mut self, symmetry: &Symmetry, id: u32, tuple: &[u32]) {
        let i = self.ids.len();
        self.ids.push(id);
        self.tuples.extend_from_slice(tuple);
        self.largest.set(i);
        for (group, having) in symmetry.groups().zip(&mut self.having) {
            for &language in &tuple[group] {
                having.entry(language).or_default().set(i);
            }
        }
    }

    fn remove_covered(&mut self, symmetry: &Symmetry, threads: usize) {
        let old = std::mem::take(self);
        self.having.resize_with(old.having.len(), FxHashMap::default);
        for (i, &id) in old.ids.iter().enumerate().filter(|&(i, _)| old.largest.has(i)) {
            self.push(symmetry, id, old.tuple(i, threads));
        }
    }

    fn tuple(&self, i: usize, threads: usize) -> &[u32] {
        &self.tuples[i * threads..][..threads]
    }

    /// The memory in use.
    pub(crate) fn bytes(&self) -> usize {
        // A table that has grown to n has room for the next power of two. (A restored table has less
        // room, but is counted the same.)
        let rows = self.having.iter().flat_map(FxHashMap::values).map(|bits| bits.0.len().next_power_of_two());
        let entries = self.having.iter().map(|having| having.len().next_power_of_two());
        (self.ids.len().next_power_of_two() + self.tuples.len().next_power_of_two()) * size_of::<u32>()
            + rows.sum::<usize>() * size_of::<u64>()
            + entries.sum::<usize>() * 2 * size_of::<(u32, Bits)>()
    }
}

/// Whether each component of `small` is included in one of `large`, in some order of
/// interchangeable threads.
fn covers(languages: &mut Languages, symmetry: &Symmetry, large: &[u32], small: &[u32]) -> bool {
    let mut included = |small: u32, large: u32| languages.is_included(LanguageId(small), LanguageId(large));
    symmetry.groups().all(|group| {
        if group.len() == 1 {
            return included(small[group.start], large[group.start]);
        }
        // A language of both tuples can be matched with itself: if x ⊆ y and z ⊆ x, then z ⊆ y.
        let (small, large) = without_common(&small[group.clone()], &large[group]);
        matching(small.len(), |i, j| included(small[i], large[j])).is_some()
    })
}

/// Removes the common elements of two sorted lists from both.
fn without_common(a: &[u32], b: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let (mut rest_a, mut rest_b) = (Vec::new(), Vec::new());
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => {
                rest_a.push(a[i]);
                i += 1;
            }
            std::cmp::Ordering::Greater => {
                rest_b.push(b[j]);
                j += 1;
            }
            std::cmp::Ordering::Equal => {
                i += 1;
                j += 1;
            }
        }
    }
    rest_a.extend(&a[i..]);
    rest_b.extend(&b[j..]);
    (rest_a, rest_b)
}
