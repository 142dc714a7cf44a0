//! Numbers for new automaton states: unions, pairs, and renamed states.
//!
//! A state gets its number when it is first needed. It is *open* until its transitions are
//! computed.

use crate::automata::canonical_language::to_u32;
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
    /// Creates an empty numbering that begins with `first`.
    pub(super) fn new(first: u32) -> Self {
        Numbering { first, numbers: FxHashMap::default(), open: VecDeque::new() }
    }

    /// Returns the number of a state. A new state is open.
    pub(super) fn number(&mut self, state: K) -> u32 {
        let next = self.first + to_u32(self.numbers.len());
        *self.numbers.entry(state).or_insert_with_key(|state| {
            self.open.push_back(state.clone());
            next
        })
    }
}

impl Numbering<Vec<u32>> {
    /// Returns the number of the union of some states, which are sorted. The union of one state is
    /// the state itself.
    pub(super) fn union(&mut self, states: Vec<u32>) -> u32 {
        if let &[only] = states.as_slice() { only } else { self.number(states) }
    }
}
