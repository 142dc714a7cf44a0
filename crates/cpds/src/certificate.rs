//! Certificates: inductive invariants, as evidence that no other states are reachable.
//!
//! A certificate is a set of tuples ⟨q|L₁,…,Lₙ⟩. Each has a shared state and, for each thread, a
//! regular language of stacks. A tuple stands for all states ⟨q|w₁,…,wₙ⟩ with w_i ∈ L_i. If the
//! initial states are among these states, and no step leaves them, then all reachable states are
//! among them. The types here do not ensure this; a checker has to check it.

use crate::{SharedState, Symbol, ThreadId, VisibleState};

/// A deterministic automaton without an initial state.
///
/// Each state stands for a language: the words that lead from this state to an accepting state. A
/// word is a stack, top first.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Automaton {
    accepting: Vec<bool>,
    /// For each state, the end of its transitions in the list of all transitions.
    ends: Vec<usize>,
    transitions: Vec<(Symbol, u32)>,
}

#[expect(clippy::len_without_is_empty, reason = "no caller needs `is_empty`")]
impl Automaton {
    /// Returns the number of states.
    pub fn len(&self) -> usize {
        self.accepting.len()
    }

    /// Adds a state with its transitions. They may lead to states that are added later.
    pub fn push(&mut self, accepting: bool, transitions: impl IntoIterator<Item = (Symbol, u32)>) {
        self.accepting.push(accepting);
        self.transitions.extend(transitions);
        self.ends.push(self.transitions.len());
    }

    /// Whether a state is accepting.
    pub fn is_accepting(&self, state: u32) -> bool {
        self.accepting[state as usize]
    }

    /// Returns the transitions from a state: symbol and target.
    pub fn out(&self, state: u32) -> &[(Symbol, u32)] {
        let state = state as usize;
        let start = if state == 0 { 0 } else { self.ends[state - 1] };
        &self.transitions[start..self.ends[state]]
    }

    /// Returns the number of transitions.
    pub fn transition_count(&self) -> usize {
        self.transitions.len()
    }
}

/// Tuples of languages, as evidence for a checker.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Certificate {
    /// The threads, in groups. A tuple stands also for all tuples that result from permuting its
    /// languages within groups.
    pub groups: Vec<Vec<ThreadId>>,
    /// The languages of the tuples.
    pub automaton: Automaton,
    /// The tuples, each with its shared state and then, for each thread, a state of the automaton.
    pub tuples: Vec<u32>,
    /// If the certificate claims T(R): the visible states of the tuples, one of each orbit.
    pub visible: Option<Vec<VisibleState>>,
}

impl Certificate {
    /// Returns the tuples: q, and the states of the automaton for L₁,…,Lₙ.
    pub fn tuples(&self) -> impl ExactSizeIterator<Item = (SharedState, &[u32])> {
        let threads: usize = self.groups.iter().map(Vec::len).sum();
        self.tuples.chunks_exact(1 + threads).map(|tuple| (SharedState(tuple[0]), &tuple[1..]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_have_their_transitions_and_tuples_their_languages() {
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
