//! The largest tuples of one shared state: the tuples that no other tuple covers.
//!
//! For each group of interchangeable threads and each language, a bit set marks the tuples that
//! have this language in this group. If a tuple covers another tuple, it has a language that
//! includes each language of the other tuple. So the intersection of a few unions of bit sets has
//! only few candidates. For groups of one thread, the candidates are the result. For larger groups,
//! a matching decides.

use crate::automata::language_table::{LanguageId, Languages};
use crate::visible::matching::matching;
use crate::visible::symmetry::Symmetry;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// The largest tuples of one shared state.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct LargestTuples {
    /// The numbers of the tuples in the order in which they were added, with covered ones.
    ids: Vec<u32>,
    /// Their languages, one tuple after the other.
    tuples: Vec<u32>,
    /// Marks the tuples that no other tuple covers.
    largest: BitSet,
    /// The number of covered tuples.
    covered: usize,
    /// For each group and language, marks the tuples that have this language in this group.
    tuples_with: Vec<FxHashMap<u32, BitSet>>,
}

/// A set of small numbers.
#[derive(Clone, Default, Serialize, Deserialize)]
struct BitSet(Vec<u64>);

impl BitSet {
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

    fn add(&mut self, other: &BitSet) {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        for (word, other) in self.0.iter_mut().zip(&other.0) {
            *word |= other;
        }
    }

    fn intersect(&mut self, other: &BitSet) {
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
    /// Returns the numbers of the largest tuples.
    pub(crate) fn ids(&self) -> impl Iterator<Item = u32> {
        self.largest.iter().map(|i| self.ids[i])
    }

    /// Whether one of the largest tuples covers a tuple.
    pub(crate) fn any_covers(&self, languages: &mut Languages, symmetry: &Symmetry, tuple: &[u32]) -> bool {
        let candidates = self.candidates(languages, symmetry, tuple, Languages::including);
        candidates.iter().any(|i| covers(languages, symmetry, self.tuple(i, tuple.len()), tuple))
    }

    /// Returns the largest tuples that have, for each language of `tuple`, one of its `others` in
    /// the same group.
    fn candidates(
        &self,
        languages: &mut Languages,
        symmetry: &Symmetry,
        tuple: &[u32],
        others: impl Fn(&mut Languages, LanguageId) -> &[LanguageId],
    ) -> BitSet {
        let mut candidates = self.largest.clone();
        for (group, tuples_with) in symmetry.groups().zip(&self.tuples_with) {
            for run in tuple[group].chunk_by(|a, b| a == b) {
                if candidates.is_empty() {
                    return candidates;
                }
                let mut any = BitSet::default();
                for other in others(languages, LanguageId(run[0])) {
                    if let Some(tuples) = tuples_with.get(&other.0) {
                        any.add(tuples);
                    }
                }
                candidates.intersect(&any);
            }
        }
        candidates
    }

    /// Adds a tuple that no largest tuple covers. With `drop`, the tuples that it covers are no
    /// longer among the largest.
    pub(crate) fn add(&mut self, languages: &mut Languages, symmetry: &Symmetry, id: u32, tuple: &[u32], drop: bool) {
        self.tuples_with.resize_with(symmetry.groups().count(), FxHashMap::default);
        if drop {
            let candidates = self.candidates(languages, symmetry, tuple, Languages::included_in);
            for i in candidates.iter() {
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

    /// Appends a tuple.
    fn push(&mut self, symmetry: &Symmetry, id: u32, tuple: &[u32]) {
        let i = self.ids.len();
        self.ids.push(id);
        self.tuples.extend_from_slice(tuple);
        self.largest.set(i);
        for (group, tuples_with) in symmetry.groups().zip(&mut self.tuples_with) {
            for &language in &tuple[group] {
                tuples_with.entry(language).or_default().set(i);
            }
        }
    }

    /// Removes the covered tuples from the tables.
    fn remove_covered(&mut self, symmetry: &Symmetry, threads: usize) {
        let old = std::mem::take(self);
        self.tuples_with.resize_with(old.tuples_with.len(), FxHashMap::default);
        for (i, &id) in old.ids.iter().enumerate().filter(|&(i, _)| old.largest.has(i)) {
            self.push(symmetry, id, old.tuple(i, threads));
        }
    }

    /// Returns the languages of a tuple.
    fn tuple(&self, i: usize, threads: usize) -> &[u32] {
        &self.tuples[i * threads..][..threads]
    }

    /// Returns the memory in use.
    pub(crate) fn bytes(&self) -> usize {
        // A table that has grown to n entries has room for the next power of two. (A restored table
        // has less room, but counts the same.)
        let rows = self.tuples_with.iter().flat_map(FxHashMap::values).map(|bits| bits.0.len().next_power_of_two());
        let entries = self.tuples_with.iter().map(|tuples_with| tuples_with.len().next_power_of_two());
        (self.ids.len().next_power_of_two() + self.tuples.len().next_power_of_two()) * size_of::<u32>()
            + rows.sum::<usize>() * size_of::<u64>()
            + entries.sum::<usize>() * 2 * size_of::<(u32, BitSet)>()
    }
}

/// Whether the tuple `large` covers the tuple `small`, in some order of interchangeable threads.
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
