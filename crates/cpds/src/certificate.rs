//! Certificates: inductive invariants, as evidence that nothing else is reachable.
//!
//! A certificate is a set of tuples ⟨q|L₁,…,Lₙ⟩, each of a shared state and a regular language of
//! stacks for each thread. A tuple stands for every state ⟨q|w₁,…,wₙ⟩ with w_i ∈ L_i. If the
//! initial states are among these, and every step from one of them leads to one of them, then they
//! are all that is reachable. Whether that is so is for a checker to find out; nothing here makes
//! it true.

use crate::{SharedState, Symbol, ThreadId, VisibleState};

/// A deterministic automaton that has no start: each of its states stands for a language, the words
/// that lead from it to an accepting state. A word is a stack, top first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Automaton {
    accepting: Vec<bool>,
    /// Where the transitions of each state end.
    ends: Vec<usize>,
    transitions: Vec<(Symbol, u32)>,
}

#[expect(clippy::len_without_is_empty, reason = "nobody asks")]
impl Automaton {
    /// How many states it has.
    pub fn len(&self) -> usize {
        self.accepting.len()
    }

    /// Adds a state with its transitions, which may lead to states that are yet to come.
    pub fn push(&mut self, accepting: bool, transitions: impl IntoIterator<Item = (Symbol, u32)>) {
        self.accepting.push(accepting);
        self.transitions.extend(transitions);
        self.ends.push(self.transitions.len());
    }

    /// Whether a word may end here.
    pub fn is_accepting(&self, state: u32) -> bool {
        self.accepting[state as usize]
    }

    /// The transitions from a state: symbol and target.
    pub fn out(&self, state: u32) -> &[(Symbol, u32)] {
        let state = state as usize;
        let start = if state == 0 { 0 } else { self.ends[state - 1] };
        &self.transitions[start..self.ends[state]]
    }

    /// How many transitions it has.
    pub fn transition_count(&self) -> usize {
        self.transitions.len()
    }
}

/// Tuples of languages, for a checker.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Certificate {
    /// The threads, in groups. Within a group the languages of a tuple may be permuted: a tuple
    /// stands for all of these.
    pub groups: Vec<Vec<ThreadId>>,
    /// The languages of the tuples.
    pub automaton: Automaton,
    /// The tuples, each with its shared state and then, for each thread, a state of the automaton.
    pub tuples: Vec<u32>,
    /// The visible states that the tuples have, as far as they do not differ by permutations, if
    /// that is claimed.
    pub visible: Option<Vec<VisibleState>>,
}

impl Certificate {
    /// The tuples: q, and the states of the automaton for L₁,…,Lₙ.
    pub fn tuples(&self) -> impl ExactSizeIterator<Item = (SharedState, &[u32])> {
        let threads: usize = self.groups.iter().map(Vec::len).sum();
        self.tuples.chunks_exact(1 + threads).map(|tuple| (SharedState(tuple[0]), &tuple[1..]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_keep_their_transitions_and_tuples_their_languages() {
        let [a, b] = [0, 1].map(Symbol);
        let mut automaton = Automaton::default();
        assert_eq!((automaton.len(), automaton.transition_count()), (0, 0));
        automaton.push(false, [(a, 1), (b, 2)]);
        automaton.push(true, []);
        automaton.push(true, [(b, 1)]);
        automaton.push(false, [(a, 2)]);
        assert_eq!((automaton.len(), automaton.transition_count()), (4, 4));
        let out: Vec<&[(Symbol, u32)]> = (0..4).map(|state| automaton.out(state)).collect();
        assert_eq!(out, [&[(a, 1), (b, 2)][..], &[], &[(b, 1)], &[(a, 2)]]);
        assert_eq!([0, 1, 2, 3].map(|state| automaton.is_accepting(state)), [false, true, true, false]);

        let groups = vec![vec![ThreadId(1)], vec![ThreadId(0), ThreadId(2)]];
        let certificate = Certificate { groups, automaton, tuples: vec![5, 0, 1, 2, 6, 3, 3, 0], visible: None };
        let tuples: Vec<_> = certificate.tuples().collect();
        assert_eq!(tuples, [(SharedState(5), &[0, 1, 2][..]), (SharedState(6), &[3, 3, 0])]);
    }
}
