//! Acceptance: whether a store automaton accepts a state, and on which path (paper App. C).

use crate::automata::store_automaton::Psa;
use crate::visible::levels::top_number;
use cpds::{SharedState, Stack};
use rustc_hash::FxHashMap;

impl Psa {
    /// Whether ⟨q|w⟩ is accepted.
    pub fn accepts(&self, q: SharedState, stack: &Stack) -> bool {
        self.path(q, stack).is_some()
    }

    /// Returns an accepting path of ⟨q|w⟩, as numbers of transitions: of several paths, one with
    /// the least sum of lengths.
    pub(crate) fn path(&self, q: SharedState, stack: &Stack) -> Option<Vec<u32>> {
        let start = self.state_of(q)?;
        // For each depth of the stack, the states that the automaton reaches there.
        let first = PartialPath { state: start, sum: 0, last: None, before: 0 };
        let epsilon = self.out(start).filter(|&t| self.transitions[t as usize].label == 0);
        let epsilon = epsilon.map(|t| first.extended(self, t, 0));
        let mut layers: Vec<Vec<PartialPath>> = vec![std::iter::once(first).chain(epsilon).collect()];
        for symbol in stack.iter() {
            let mut places: FxHashMap<u32, usize> = FxHashMap::default();
            let mut next: Vec<PartialPath> = Vec::new();
            for (place, partial) in layers.last().expect("there is a first layer").iter().enumerate() {
                let steps =
                    self.out(partial.state).filter(|&t| self.transitions[t as usize].label == top_number(Some(symbol)));
                for path in steps.map(|t| partial.extended(self, t, place)) {
                    let index = *places.entry(path.state).or_insert_with(|| {
                        next.push(path);
                        next.len() - 1
                    });
                    if path.sum < next[index].sum {
                        next[index] = path;
                    }
                }
            }
            layers.push(next);
        }
        let last = layers.last().expect("there is a first layer").iter().enumerate();
        let (mut place, _) =
            last.filter(|(_, partial)| self.is_accepting(partial.state)).min_by_key(|(_, partial)| partial.sum)?;
        let mut path = Vec::new();
        // The first layer has the start, and the ends of the ε-edges that leave it.
        for layer in layers.iter().rev() {
            path.extend(layer[place].last);
            place = layer[place].before;
        }
        path.reverse();
        Some(path)
    }
}

/// A shortest path to an automaton state, as its last transition.
#[derive(Clone, Copy)]
struct PartialPath {
    state: u32,
    /// The sum of the lengths on the path.
    sum: u64,
    /// The last transition, if the path has one.
    last: Option<u32>,
    /// The index of the path without its last transition, in the layer before.
    before: usize,
}

impl PartialPath {
    /// Appends a transition. `place` is the index of this path in its layer.
    fn extended(&self, psa: &Psa, t: u32, place: usize) -> PartialPath {
        let sum = self.sum.saturating_add(psa.length(t));
        PartialPath { state: psa.transitions[t as usize].to, sum, last: Some(t), before: place }
    }
}
