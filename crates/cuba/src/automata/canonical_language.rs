//! One regular language of stacks: its canonical minimal automaton, and its tops (Alg. 4).

use crate::automata::minimal_dfa::Dfa;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// The number of a set of tops.
pub(crate) type TopsId = u32;

/// A minimal automaton in canonical numbering.
#[derive(Serialize, Deserialize)]
pub(crate) struct Language {
    /// The automaton in one array. First the number n of states. Then n numbers, one for each
    /// state: twice the index of its first transition, plus one if the state accepts. Then twice
    /// the number of transitions. Then label and target of each transition.
    pub(crate) code: Box<[u32]>,
    /// The number of the set of tops.
    pub(crate) tops: TopsId,
    /// The length of the shortest word; 0 for the empty language.
    pub(crate) shortest: u32,
    /// The length of the longest word, if the language is finite.
    pub(crate) longest: Option<u32>,
}

impl Language {
    /// Returns the number of states. The start is state 0, if there are any states.
    pub(crate) fn states(&self) -> usize {
        self.code[0] as usize
    }

    pub(crate) fn is_accepting(&self, state: u32) -> bool {
        self.code[1 + state as usize] & 1 == 1
    }

    /// Returns label and target of each transition that leaves a state, sorted by label.
    pub(crate) fn out(&self, state: u32) -> &[[u32; 2]] {
        let (transitions, _) = self.code[2 + self.states()..].as_chunks();
        let at = |state: u32| (self.code[1 + state as usize] / 2) as usize;
        &transitions[at(state)..at(state + 1)]
    }

    /// Whether the language contains a word.
    pub(crate) fn contains(&self, mut word: impl Iterator<Item = u32>) -> bool {
        let end = if self.states() == 0 { None } else { word.try_fold(0, |state, label| self.step(state, label)) };
        end.is_some_and(|state| self.is_accepting(state))
    }

    /// Returns a shortest word that leads from a state to an accepting one.
    pub(crate) fn shortest_from(&self, state: u32) -> Vec<u32> {
        let mut before: Vec<Option<(u32, u32)>> = vec![None; self.states()];
        let mut order = vec![state];
        let mut next = 0;
        loop {
            let at = order[next];
            next += 1;
            if self.is_accepting(at) {
                let mut word = Vec::new();
                let mut end = at;
                while let Some((from, label)) = before[end as usize].filter(|_| end != state) {
                    word.push(label);
                    end = from;
                }
                word.reverse();
                return word;
            }
            for &[label, to] in self.out(at) {
                if to != state && before[to as usize].is_none() {
                    before[to as usize] = Some((at, label));
                    order.push(to);
                }
            }
        }
    }

    /// Appends the states to another automaton, and returns the number of the start there.
    pub(crate) fn add_to(&self, automaton: &mut Dfa) -> u32 {
        let first = to_u32(automaton.len());
        for state in (0..).take(self.states()) {
            automaton.push(self.is_accepting(state), self.out(state).iter().map(|&[label, to]| (label, first + to)));
        }
        first
    }

    /// Returns the target of the transition with this label, if there is one.
    pub(crate) fn step(&self, state: u32, label: u32) -> Option<u32> {
        let out = self.out(state);
        out.binary_search_by_key(&label, |&[label, _]| label).ok().map(|place| out[place][1])
    }
}

/// Converts a number of states, of transitions or of languages, which fits into 31 bits.
pub(crate) fn to_u32(number: usize) -> u32 {
    u32::try_from(number).ok().filter(|&number| number < u32::MAX / 2).expect("the memory ends before")
}

/// Returns the length of the longest word, if the language is finite. Every state leads to an
/// accepting state, so the language is infinite exactly if the automaton has a cycle.
pub(crate) fn longest(language: &Language) -> Option<u32> {
    let n = language.states();
    let mut into = vec![0_u32; n];
    let states = || 0..to_u32(n);
    for [_, to] in states().flat_map(|state| language.out(state)) {
        into[*to as usize] += 1;
    }
    // The states in a topological order. States on a cycle, and behind one, are not in it.
    let mut order: Vec<u32> = states().filter(|&state| into[state as usize] == 0).collect();
    let mut length = vec![0; n];
    let mut next = 0;
    while let Some(&state) = order.get(next) {
        next += 1;
        for &[_, to] in language.out(state) {
            length[to as usize] = length[to as usize].max(length[state as usize] + 1);
            into[to as usize] -= 1;
            if into[to as usize] == 0 {
                order.push(to);
            }
        }
    }
    (order.len() == n).then(|| length.into_iter().max().unwrap_or(0))
}

/// Returns the length of the shortest word. States are numbered breadth-first, that is, by
/// distance.
pub(crate) fn shortest(language: &Language) -> u32 {
    let mut distance = vec![u32::MAX; language.states()];
    if let Some(start) = distance.first_mut() {
        *start = 0;
    }
    for state in 0..to_u32(language.states()) {
        if language.is_accepting(state) {
            return distance[state as usize];
        }
        for &[_, to] in language.out(state) {
            distance[to as usize] = distance[to as usize].min(distance[state as usize] + 1);
        }
    }
    0
}

/// Returns an automaton for the union of two languages. Its start is the first state.
pub(crate) fn product(a: &Language, b: &Language) -> Dfa {
    type ProductState = (Option<u32>, Option<u32>);
    let start = |language: &Language| (language.states() > 0).then_some(0);
    let mut number: FxHashMap<ProductState, u32> = FxHashMap::default();
    let mut order: Vec<ProductState> = vec![(start(a), start(b))];
    number.insert(order[0], 0);
    let mut dfa = Dfa::default();
    let mut next = 0;
    while let Some(&(x, y)) = order.get(next) {
        next += 1;
        let out = |language: &Language, state: Option<u32>| {
            state.map_or(Vec::new(), |state| language.out(state).iter().map(|&[label, _]| label).collect())
        };
        let mut labels: Vec<u32> = out(a, x);
        labels.extend(out(b, y));
        labels.sort_unstable();
        labels.dedup();
        let accepting = x.is_some_and(|x| a.is_accepting(x)) || y.is_some_and(|y| b.is_accepting(y));
        let transitions: Vec<_> = labels
            .into_iter()
            .map(|label| {
                let to = (x.and_then(|x| a.step(x, label)), y.and_then(|y| b.step(y, label)));
                let count = to_u32(order.len());
                let id = *number.entry(to).or_insert_with(|| {
                    order.push(to);
                    count
                });
                (label, id)
            })
            .collect();
        dfa.push(accepting, transitions);
    }
    dfa
}
