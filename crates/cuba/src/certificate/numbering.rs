//! Numbers for automaton states that are made of others: unions, pairs and renamed states.
//!
//! A state gets its number when it is first needed, and waits until its transitions are computed.

use crate::automata::canonical_language::small;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::hash::Hash;

/// The numbers of states, from `first` on.
pub(super) struct Numbering<K> {
    first: u32,
    numbers: FxHashMap<K, u32>,
    /// The numbered states without transitions so far, in the order of their numbers.
    pub(super) open: VecDeque<K>,
}

impl<K: Clone + Eq + Hash> Numbering<K> {
    pub(super) fn new(first: u32) -> Self {
        Numbering { first, numbers: FxHashMap::default(), open: VecDeque::new() }
    }

    /// The number of a state. A new state is open.
    pub(super) fn number(&mut self, of: K) -> u32 {
        let next = self.first + small(self.numbers.len());
        *self.numbers.entry(of).or_insert_with_key(|of| {
            self.open.push_back(of.clone());
            next
        })
    }
}

impl Numbering<Vec<u32>> {
    /// The number of the union of some states, in sorted order. One state is its own union.
    pub(super) fn union(&mut self, of: Vec<u32>) -> u32 {
        if let &[only] = of.as_slice() { only } else { self.number(of) }
    }
}
