//! Which states a store automaton accepts (paper App. C).

use crate::automata::store_automaton::Psa;
use crate::visible::levels::top_number;
use cpds::{SharedState, Stack};
use rustc_hash::FxHashMap;

impl Psa {
    /// Whether ⟨q|w⟩ is accepted.
    pub fn accepts(&self, q: SharedState, stack: &Stack) -> bool {
        self.path(q, stack).is_some()
    }

    /// A path on which ⟨q|w⟩ is accepted, as numbers of transitions; of several, one whose lengths
    /// have the least sum.
    pub(crate) fn path(&self, q: SharedState, stack: &Stack) -> Option<Vec<u32>> {
        let start = self.state_of(q)?;
        // The states it gets to, depth by depth.
        let first = Reached { state: start, sum: 0, by: None, before: 0 };
        let epsilon = self.out(start).filter(|&t| self.transitions[t as usize].label == 0);
        let epsilon = epsilon.map(|t| first.then(self, t, 0));
        let mut layers: Vec<Vec<Reached>> = vec![std::iter::once(first).chain(epsilon).collect()];
        for symbol in stack.iter() {
            let mut places: FxHashMap<u32, usize> = FxHashMap::default();
            let mut next: Vec<Reached> = Vec::new();
            for (place, reached) in layers.last().expect("the first one").iter().enumerate() {
                let steps =
                    self.out(reached.state).filter(|&t| self.transitions[t as usize].label == top_number(Some(symbol)));
                for found in steps.map(|t| reached.then(self, t, place)) {
                    let known = *places.entry(found.state).or_insert_with(|| {
                        next.push(found);
                        next.len() - 1
                    });
                    if found.sum < next[known].sum {
                        next[known] = found;
                    }
                }
            }
            layers.push(next);
        }
        let last = layers.last().expect("the first one").iter().enumerate();
        let (mut place, _) =
            last.filter(|(_, reached)| self.is_accepting(reached.state)).min_by_key(|(_, reached)| reached.sum)?;
        let mut path = Vec::new();
        // An ε-edge is in the first layer, together with the state that it leaves.
        for layer in layers.iter().rev() {
            path.extend(layer[place].by);
            place = layer[place].before;
        }
        path.reverse();
        Some(path)
    }
}

/// A state, with the best way there.
#[derive(Clone, Copy)]
struct Reached {
    state: u32,
    /// The lengths of the transitions so far.
    sum: u64,
    /// The last transition.
    by: Option<u32>,
    /// The place of the state before, one layer up.
    before: usize,
}

impl Reached {
    fn then(&self, psa: &Psa, t: u32, place: usize) -> Reached {
        let sum = self.sum.saturating_add(psa.length(t));
        Reached { state: psa.transitions[t as usize].to, sum, by: Some(t), before: place }
    }
}
