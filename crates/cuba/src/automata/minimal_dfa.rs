//! Deterministic automata: the subset construction from store automata, and minimisation.
//!
//! An automaton has several start states, one for each language: the languages share most of their
//! states. The automaton is partial: the minimal one has no states that lead to no accepting state.
//! Minimisation takes O(m log n) steps for n states and m transitions. The algorithm is Valmari's
//! (*Fast brief practical DFA minimization*, Inf. Process. Lett. 112, 2012). It refines a partition
//! of the states and a partition of the transitions by each other.

use crate::automata::canonical_language::to_u32;
use crate::automata::store_automaton::Psa;
use crate::cancel::Cancel;
use crate::limits::TooLarge;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxHasher;
use serde::{Deserialize, Serialize};
use std::hash::Hasher as _;

/// A partial deterministic automaton.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Dfa {
    accepting: Vec<bool>,
    /// The transitions of state s are those from `first[s]` up to `first[s + 1]`, sorted by label.
    first: Vec<usize>,
    /// Label and target.
    transitions: Vec<(u32, u32)>,
}

/// The approximate number of bytes for a state or a transition during minimisation.
const BYTES_PER_SUBSET_ITEM: usize = 100;

impl Dfa {
    /// Returns the number of states.
    pub(crate) fn len(&self) -> usize {
        self.accepting.len()
    }

    pub(crate) fn transition_count(&self) -> usize {
        self.transitions.len()
    }

    pub(crate) fn is_accepting(&self, state: u32) -> bool {
        self.accepting[state as usize]
    }

    /// Returns label and target of the transitions that leave a state.
    pub(crate) fn out(&self, state: u32) -> &[(u32, u32)] {
        &self.transitions[self.first[state as usize]..self.first[state as usize + 1]]
    }

    /// Appends a state with its transitions, sorted by label. A target may be a state that is
    /// appended later.
    pub(crate) fn push(&mut self, accepting: bool, transitions: impl IntoIterator<Item = (u32, u32)>) {
        if self.first.is_empty() {
            self.first.push(0);
        }
        self.accepting.push(accepting);
        self.transitions.extend(transitions);
        self.first.push(self.transitions.len());
    }

    /// Appends all states of another automaton.
    pub(crate) fn append(&mut self, other: &Dfa) {
        let first = to_u32(self.len());
        for state in (0..).take(other.len()) {
            self.push(other.is_accepting(state), other.out(state).iter().map(|&(label, to)| (label, first + to)));
        }
    }

    /// Determinises a saturated automaton by the subset construction. The first states of the
    /// result stand for `starts`, in this order. Also returns the number of bytes for the result
    /// and its minimisation.
    ///
    /// # Errors
    /// If this number is more than `room`, or if the caller cancels.
    pub(crate) fn of_psa(psa: &Psa, starts: &[u32], room: usize, cancel: &Cancel) -> Result<(Dfa, usize), TooLarge> {
        let mut subsets = SubsetTable { first_number: starts.len(), ..SubsetTable::default() };
        let mut dfa = Dfa::default();
        let mut moves = Vec::new();
        let (mut next, mut bytes) = (0, 0);
        while next < starts.len() + subsets.len() {
            let mut accepting = false;
            moves.clear();
            let subset = if next < starts.len() { &starts[next..=next] } else { subsets.get(next - starts.len()) };
            for &state in subset {
                accepting |= psa.is_accepting(state);
                for t in psa.out(state) {
                    let t = &psa.transitions[t as usize];
                    if t.label == 0 {
                        // The saturated automaton has each transition of the target at the shared
                        // state, too.
                        accepting |= psa.is_accepting(t.to);
                    } else {
                        moves.push((t.label, t.to));
                    }
                }
            }
            moves.sort_unstable();
            moves.dedup();
            let successors = moves.chunk_by(|a, b| a.0 == b.0);
            dfa.push(accepting, successors.map(|run| (run[0].0, subsets.number(run.iter().map(|&(_, to)| to)))));
            next += 1;
            let is_cancelled = next.is_multiple_of(1 << 10) && cancel.why().is_some();
            bytes = size_of_val(&*subsets.states) + BYTES_PER_SUBSET_ITEM * (dfa.len() + dfa.transitions.len());
            if is_cancelled || bytes > room {
                return Err(TooLarge);
            }
        }
        Ok((dfa, bytes))
    }

    /// Returns the class of each state. The states of a class have the same language. A state with
    /// the empty language has no class. Also returns the number of classes.
    fn classes(&self) -> (Vec<Option<u32>>, usize) {
        let n = self.len();
        let sources = (0..n).flat_map(|state| std::iter::repeat_n(state, self.first[state + 1] - self.first[state]));
        let mut edges: Vec<DfaEdge> = sources
            .zip(&self.transitions)
            .map(|(from, &(label, to))| DfaEdge { from, label, to: to as usize })
            .collect();

        // Drop the states that lead to no accepting state.
        let into = IncomingEdges::new(n, &edges);
        let mut useful: Vec<usize> = (0..n).filter(|&state| self.accepting[state]).collect();
        let mut number = vec![usize::MAX; n];
        for (i, &state) in useful.iter().enumerate() {
            number[state] = i;
        }
        let mut next = 0;
        while let Some(&state) = useful.get(next) {
            next += 1;
            for &edge in into.of(state) {
                let from = edges[edge].from;
                if number[from] == usize::MAX {
                    number[from] = useful.len();
                    useful.push(from);
                }
            }
        }
        edges.retain(|edge| number[edge.from] != usize::MAX && number[edge.to] != usize::MAX);
        for edge in &mut edges {
            (edge.from, edge.to) = (number[edge.from], number[edge.to]);
        }

        let mut blocks = Partition::whole(useful.len());
        for state in (0..useful.len()).filter(|&state| self.accepting[useful[state]]) {
            blocks.mark(state);
        }
        blocks.split();
        // A cord is a set of transitions with the same label that lead to the same block. In the
        // beginning, there is one cord for each label.
        edges.sort_by_key(|edge| edge.label);
        let mut cords = Partition::of_runs(&edges, |a, b| a.label == b.label);
        let into = IncomingEdges::new(useful.len(), &edges);
        let (mut block, mut cord) = (1, 0);
        while cord < cords.len() {
            for i in cords.range(cord) {
                blocks.mark(edges[cords.elements[i]].from);
            }
            blocks.split();
            cord += 1;
            while block < blocks.len() {
                for i in blocks.range(block) {
                    for &edge in into.of(blocks.elements[i]) {
                        cords.mark(edge);
                    }
                }
                cords.split();
                block += 1;
            }
        }
        let class = |state: usize| {
            let number = number[state];
            let class = || u32::try_from(blocks.set_of[number]).expect("the memory ends before");
            (number != usize::MAX).then(class)
        };
        ((0..n).map(class).collect(), blocks.len())
    }

    /// Returns the minimal automaton, and for each state of this automaton, the state of the
    /// minimal one with the same language; `None` for the empty language.
    pub(crate) fn minimal(&self) -> (Dfa, Vec<Option<u32>>) {
        let (class, count) = self.classes();
        let mut representative = vec![0; count];
        for (state, class) in (0..).zip(&class) {
            if let Some(class) = class {
                representative[*class as usize] = state;
            }
        }
        let mut minimal = Dfa::default();
        for state in representative {
            let out = self.out(state).iter().filter_map(|&(label, to)| Some((label, class[to as usize]?)));
            minimal.push(self.accepting[state as usize], out);
        }
        (minimal, class)
    }
}

/// The sets of states of the subset construction, with numbers.
#[derive(Default)]
struct SubsetTable {
    /// The sets, one after the other.
    states: Vec<u32>,
    /// The end of each set in `states`.
    ends: Vec<usize>,
    table: HashTable<u32>,
    /// The number of the first set.
    first_number: usize,
}

impl SubsetTable {
    fn len(&self) -> usize {
        self.ends.len()
    }

    fn get(&self, index: usize) -> &[u32] {
        &self.states[index.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[index]]
    }

    /// Returns the number of a sorted set.
    fn number(&mut self, subset: impl Iterator<Item = u32>) -> u32 {
        // Append the set, and remove it again if the table has it.
        let start = self.states.len();
        self.states.extend(subset);
        let SubsetTable { states, ends, table, .. } = self;
        let (stored, subset) = states.split_at(start);
        let get = |index: usize| &stored[index.checked_sub(1).map_or(0, |before| ends[before])..ends[index]];
        let index = match table.entry(hash(subset), |&i| get(i as usize) == subset, |&i| hash(get(i as usize))) {
            Entry::Occupied(occupied) => {
                let index = *occupied.get();
                states.truncate(start);
                index
            }
            Entry::Vacant(place) => {
                let index = u32::try_from(ends.len()).expect("the memory ends before");
                place.insert(index);
                ends.push(states.len());
                index
            }
        };
        index + u32::try_from(self.first_number).expect("the memory ends before")
    }
}

/// Computes the hash of a list of numbers.
pub(crate) fn hash(words: &[u32]) -> u64 {
    let mut hasher = FxHasher::default();
    for &word in words {
        hasher.write_u32(word);
    }
    hasher.finish()
}

/// A transition.
#[derive(Clone, Copy)]
struct DfaEdge {
    from: usize,
    label: u32,
    to: usize,
}

/// For each state, the transitions that lead to it.
struct IncomingEdges {
    first: Vec<usize>,
    edges: Vec<usize>,
}

impl IncomingEdges {
    fn new(states: usize, edges: &[DfaEdge]) -> Self {
        let mut first = vec![0; states + 1];
        for edge in edges {
            first[edge.to] += 1;
        }
        let mut sum = 0;
        for count in &mut first {
            sum += *count;
            *count = sum;
        }
        let mut into = IncomingEdges { first, edges: vec![0; edges.len()] };
        for (index, edge) in edges.iter().enumerate() {
            into.first[edge.to] -= 1;
            into.edges[into.first[edge.to]] = index;
        }
        into
    }

    fn of(&self, state: usize) -> &[usize] {
        &self.edges[self.first[state]..self.first[state + 1]]
    }
}

/// A partition of the numbers 0, 1, … into sets. Each set is a range of `elements`. The marked
/// elements of a set come first in its range.
struct Partition {
    elements: Vec<usize>,
    /// The place of each element in `elements`.
    place: Vec<usize>,
    /// The set of each element.
    set_of: Vec<usize>,
    /// The range of each set.
    first: Vec<usize>,
    past: Vec<usize>,
    /// The number of marked elements of each set.
    marked: Vec<usize>,
    /// The sets with marked elements.
    touched: Vec<usize>,
}

impl Partition {
    /// Returns the partition with one set.
    fn whole(count: usize) -> Self {
        Self::of_runs(&vec![(); count], |(), ()| true)
    }

    /// Returns the partition into maximal runs of elements that are alike.
    fn of_runs<T>(elements: &[T], alike: impl FnMut(&T, &T) -> bool) -> Self {
        let mut partition = Partition {
            elements: (0..elements.len()).collect(),
            place: (0..elements.len()).collect(),
            set_of: Vec::with_capacity(elements.len()),
            first: Vec::new(),
            past: Vec::new(),
            marked: Vec::new(),
            touched: Vec::new(),
        };
        for run in elements.chunk_by(alike) {
            let (set, first) = (partition.len(), partition.set_of.len());
            partition.set_of.extend(std::iter::repeat_n(set, run.len()));
            partition.first.push(first);
            partition.past.push(first + run.len());
            partition.marked.push(0);
        }
        partition
    }

    fn len(&self) -> usize {
        self.first.len()
    }

    fn range(&self, set: usize) -> std::ops::Range<usize> {
        self.first[set]..self.past[set]
    }

    /// Marks an element until the next split.
    fn mark(&mut self, element: usize) {
        let (set, from) = (self.set_of[element], self.place[element]);
        let to = self.first[set] + self.marked[set];
        if from < to {
            return;
        }
        self.elements.swap(from, to);
        self.place[self.elements[from]] = from;
        self.place[element] = to;
        if self.marked[set] == 0 {
            self.touched.push(set);
        }
        self.marked[set] += 1;
    }

    /// Splits every set into its marked and its unmarked elements. The smaller part becomes a new
    /// set.
    fn split(&mut self) {
        while let Some(set) = self.touched.pop() {
            let (first, middle, past) = (self.first[set], self.first[set] + self.marked[set], self.past[set]);
            self.marked[set] = 0;
            if middle == past {
                continue;
            }
            let new = self.len();
            let smaller = if middle - first <= past - middle {
                self.first[set] = middle;
                first..middle
            } else {
                self.past[set] = middle;
                middle..past
            };
            self.first.push(smaller.start);
            self.past.push(smaller.end);
            self.marked.push(0);
            for place in smaller {
                self.set_of[self.elements[place]] = new;
            }
        }
    }
}
