//! Sets of numbers of variables or locks, as bit sets.
//!
//! Most programs have few variables and locks. So a set of numbers below 64 is one word and takes
//! no heap memory. A larger set shares its words with its copies until one of them changes.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// A set of numbers.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct NumberSet(Words);

/// Equal sets have equal words: `Many` has at least two words, and the last one is not zero.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Words {
    One(u64),
    Many(Arc<[u64]>),
}

impl Default for NumberSet {
    fn default() -> Self {
        NumberSet::EMPTY
    }
}

impl Hash for NumberSet {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.words().iter().for_each(|&word| state.write_u64(word));
    }
}

impl NumberSet {
    pub(crate) const EMPTY: NumberSet = NumberSet(Words::One(0));

    /// Creates the set of the numbers from 0 to `count - 1`.
    pub(crate) fn first(count: usize) -> NumberSet {
        if count <= 64 {
            return NumberSet(Words::One(low_bits(count)));
        }
        let words = (0..count.div_ceil(64)).map(|word| low_bits((count - 64 * word).min(64)));
        NumberSet(Words::Many(words.collect()))
    }

    fn words(&self) -> &[u64] {
        match &self.0 {
            Words::One(word) => std::slice::from_ref(word),
            Words::Many(words) => words,
        }
    }

    fn from_words(words: &[u64]) -> NumberSet {
        let length = words.iter().rposition(|&word| word != 0).map_or(0, |last| last + 1);
        NumberSet(match words[..length] {
            [] => Words::One(0),
            [word] => Words::One(word),
            ref words => Words::Many(words.into()),
        })
    }

    pub(crate) fn contains(&self, number: usize) -> bool {
        match &self.0 {
            Words::One(word) => number < 64 && word >> number & 1 == 1,
            Words::Many(words) => words.get(number / 64).is_some_and(|word| word >> (number % 64) & 1 == 1),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        matches!(self.0, Words::One(0))
    }

    pub(crate) fn insert(&mut self, number: usize) {
        match &mut self.0 {
            Words::One(word) if number < 64 => *word |= 1 << number,
            _ => self.change(number, true),
        }
    }

    pub(crate) fn remove(&mut self, number: usize) {
        match &mut self.0 {
            Words::One(word) if number < 64 => *word &= !(1 << number),
            _ => self.change(number, false),
        }
    }

    /// Inserts a number, or removes it.
    #[cold]
    fn change(&mut self, number: usize, is_in: bool) {
        if self.contains(number) == is_in {
            return; // without copying the words
        }
        let (word, bit) = (number / 64, 1 << (number % 64));
        match &mut self.0 {
            // If the last word changes, it may become zero, and the set may need fewer words.
            Words::Many(words) if word + 1 < words.len() => Arc::make_mut(words)[word] ^= bit,
            _ => {
                let mut words = self.words().to_vec();
                words.resize(words.len().max(word + 1), 0);
                words[word] ^= bit;
                *self = NumberSet::from_words(&words);
            }
        }
    }

    /// Returns the numbers that are in at least one of the two sets.
    pub(crate) fn union(&self, other: &NumberSet) -> NumberSet {
        self.combined(other, |a, b| a | b)
    }

    /// Returns the numbers that are in both sets.
    pub(crate) fn intersection(&self, other: &NumberSet) -> NumberSet {
        self.combined(other, |a, b| a & b)
    }

    /// Returns the numbers of this set that are not in the other set.
    pub(crate) fn difference(&self, other: &NumberSet) -> NumberSet {
        self.combined(other, |a, b| a & !b)
    }

    /// Returns whether this set contains all numbers of the other set.
    pub(crate) fn includes(&self, other: &NumberSet) -> bool {
        match (&self.0, &other.0) {
            (Words::One(a), Words::One(b)) => a & b == *b,
            _ => other.difference(self).is_empty(),
        }
    }

    #[inline]
    fn combined(&self, other: &NumberSet, of: fn(u64, u64) -> u64) -> NumberSet {
        match (&self.0, &other.0) {
            (Words::One(a), Words::One(b)) => NumberSet(Words::One(of(*a, *b))),
            _ => self.combined_words(other, of),
        }
    }

    #[cold]
    fn combined_words(&self, other: &NumberSet, of: fn(u64, u64) -> u64) -> NumberSet {
        let (a, b) = (self.words(), other.words());
        let at = |words: &[u64], word: usize| words.get(word).copied().unwrap_or(0);
        let words = || (0..a.len().max(b.len())).map(|word| of(at(a, word), at(b, word)));
        // If the result equals one of the two sets, it shares that set's words.
        for (set, own) in [(self, a), (other, b)] {
            if words().enumerate().all(|(word, value)| value == at(own, word)) {
                return set.clone();
            }
        }
        NumberSet::from_words(&words().collect::<Vec<_>>())
    }

    /// Iterates over all numbers, in ascending order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words().iter().enumerate().flat_map(|(at, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let number = left.trailing_zeros() as usize;
                left &= left.checked_sub(1)?;
                Some(64 * at + number)
            })
        })
    }

    /// Returns the heap memory in bytes, as if no copy shared it.
    pub(crate) fn heap_bytes(&self) -> usize {
        match &self.0 {
            Words::One(_) => 0,
            Words::Many(words) => 16 + 8 * words.len(),
        }
    }
}

impl FromIterator<usize> for NumberSet {
    fn from_iter<I: IntoIterator<Item = usize>>(numbers: I) -> Self {
        let mut set = NumberSet::EMPTY;
        numbers.into_iter().for_each(|number| set.insert(number));
        set
    }
}

/// Returns a word with the lowest `count` bits set.
fn low_bits(count: usize) -> u64 {
    if count < 64 { (1 << count) - 1 } else { u64::MAX }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::hash::{BuildHasher as _, RandomState};

    fn numbers() -> impl Strategy<Value = Vec<usize>> {
        prop_oneof![vec(0usize..64, 0..9), vec(0usize..300, 0..9)]
    }

    fn list(set: &NumberSet) -> Vec<usize> {
        set.iter().collect()
    }

    proptest! {
        /// Sets behave like those of the standard library. Equal sets are equal, however they were
        /// computed.
        #[test]
        fn sets_of_numbers(a in numbers(), b in numbers(), count in 0usize..300) {
            let (plain_a, plain_b): (BTreeSet<usize>, BTreeSet<usize>) = (a.iter().copied().collect(), b.iter().copied().collect());
            let (set_a, set_b): (NumberSet, NumberSet) = (a.iter().copied().collect(), b.iter().copied().collect());
            prop_assert_eq!(list(&set_a), plain_a.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(list(&set_a.union(&set_b)), plain_a.union(&plain_b).copied().collect::<Vec<_>>());
            prop_assert_eq!(list(&set_a.intersection(&set_b)), plain_a.intersection(&plain_b).copied().collect::<Vec<_>>());
            prop_assert_eq!(list(&set_a.difference(&set_b)), plain_a.difference(&plain_b).copied().collect::<Vec<_>>());
            prop_assert_eq!(set_a.includes(&set_b), plain_a.is_superset(&plain_b));
            prop_assert_eq!(list(&NumberSet::first(count)), (0..count).collect::<Vec<_>>());
            prop_assert!((0..301).all(|number| set_a.contains(number) == plain_a.contains(&number)));
            let mut less = set_a.union(&set_b);
            let copy = less.clone();
            for &number in &b {
                less.remove(number);
            }
            prop_assert_eq!(&less, &set_a.difference(&set_b));
            prop_assert_eq!(&copy, &set_b.union(&set_a));
            let hasher = RandomState::new();
            prop_assert_eq!(hasher.hash_one(&less), hasher.hash_one(set_a.difference(&set_b)));
            prop_assert_eq!(less.is_empty(), list(&less).is_empty());
        }
    }

    #[test]
    fn small_sets_take_little() {
        assert_eq!(size_of::<NumberSet>(), 16);
        assert_eq!(NumberSet::first(64).heap_bytes(), 0);
        assert_eq!(NumberSet::from_iter([64]).heap_bytes(), 32);
    }
}
