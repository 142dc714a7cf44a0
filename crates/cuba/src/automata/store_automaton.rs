//! Pushdown store automata (PSA, paper App. C).
//!
//! A store automaton accepts thread states ⟨q|w⟩. It starts in the automaton state of the shared
//! state q, reads w from the top down, and accepts if it ends in an accepting state. No transition
//! leads into the automaton state of a shared state, and ε-edges leave only such states. The types
//! enforce both. `automata/post_star.rs` saturates a store automaton.
//!
//! # The empty stack
//! The automaton accepts ⟨p|ε⟩ exactly if an ε-edge leads from p to an accepting state. So no
//! bottom symbol is needed (docs/design/005-the-empty-stack-in-store-automata.md).
//!
//! # Reasons
//! Each transition stores why post* added it: the action, and the transition to which post* applied
//! the action. `automata/thread_run.rs` rebuilds a run from these reasons.

use crate::automata::post_star::RunLengths;
use crate::visible::levels::{top, top_number};
use cpds::{SharedState, Stack, Symbol};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher as _;

/// An inner state: a state of a store automaton that belongs to no shared state.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct InnerState(u32);

/// A state of a store automaton.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PsaState {
    /// The state of a shared state: accepted words start here.
    Shared(SharedState),
    /// Any other state.
    Inner(InnerState),
}

/// The purpose of an inner state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InnerRole {
    /// A state of the given automaton, before post*.
    Given,
    /// The state for calls that lead to this head: m in `automata/post_star.rs`.
    Called(SharedState, Symbol),
    /// The state for the empty stack: f in `automata/post_star.rs`.
    Bottom,
}

/// A pushdown store automaton.
#[derive(Clone, Debug, Default)]
pub struct Psa {
    pub(super) nodes: Vec<PsaNode>,
    /// The state of each shared state.
    shared: FxHashMap<SharedState, u32>,
    /// The state for the calls that lead to each head.
    called: FxHashMap<(SharedState, Symbol), u32>,
    /// The state for the empty stack.
    bottom: Option<u32>,
    /// In the order of insertion.
    pub(crate) transitions: Vec<PsaTransition>,
    /// The number of transitions that post* has processed: these come first.
    pub(super) processed: usize,
    pub(super) lengths: Option<RunLengths>,
    /// The transitions by their states and labels.
    table: HashTable<u32>,
}

/// A state of the automaton.
#[derive(Clone, Copy, Debug)]
pub(super) struct PsaNode {
    pub(super) kind: NodeKind,
    pub(super) accepting: bool,
    /// The last transition that leaves the state. Each transition names the previous one.
    pub(super) out: u32,
    /// The last ε-edge that leads to the state. Each ε-edge names the previous one.
    pub(super) into: u32,
}

/// The kind of a state.
#[derive(Clone, Copy, Debug)]
pub(super) enum NodeKind {
    Shared(SharedState),
    Inner(InnerRole),
}

/// Stands for a missing transition.
pub(super) const NO_TRANSITION: u32 = u32::MAX;

/// A transition of the automaton.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PsaTransition {
    pub(crate) from: u32,
    /// The number of the symbol as a top; 0 stands for ε.
    pub(crate) label: u32,
    pub(crate) to: u32,
    /// The previous transition that leaves the same state.
    pub(super) previous_out: u32,
    /// For an ε-edge, the previous ε-edge that leads to the same state.
    pub(super) previous_into: u32,
    pub(crate) reason: TransitionReason,
}

impl PsaTransition {
    fn is(&self, from: u32, label: u32, to: u32) -> bool {
        (self.from, self.label, self.to) == (from, label, to)
    }
}

/// Why a transition is in the automaton. All transitions that it names are older.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TransitionReason {
    /// The transition belongs to the given automaton.
    Given,
    /// post* applied this rule to this transition. For a push, the new transition *leaves* m.
    Rule { rule: u32, of: u32 },
    /// The transition leads into m, for a push. The transition that leaves m names the rule.
    Call,
    /// post* joined an ε-edge and a transition that leaves the target of the ε-edge.
    Join { epsilon: u32, then: u32 },
}

impl Psa {
    /// The approximate number of bytes for a transition, with its share of the table and the
    /// states.
    pub const BYTES_A_TRANSITION: usize = 64;

    /// Returns the automaton that accepts exactly these states.
    pub fn of_states<'s>(states: impl IntoIterator<Item = (SharedState, &'s Stack)>) -> Self {
        let (mut psa, end) = Psa::with_bottom();
        for (q, stack) in states {
            let mut from = PsaState::Shared(q);
            let height = stack.height();
            if height == 0 {
                psa.add(from, None, end);
            }
            for (depth, symbol) in (1..).zip(stack.iter()) {
                let to = if depth == height { end } else { psa.add_state(false) };
                psa.add(from, Some(symbol), to);
                from = PsaState::Inner(to);
            }
        }
        psa
    }

    /// Returns the automaton that accepts the given thread states with at most one symbol: Q ×
    /// Σ^{≤1}, for Thm. 17.
    pub fn of_heads(heads: impl IntoIterator<Item = (SharedState, Option<Symbol>)>) -> Self {
        let (mut psa, end) = Psa::with_bottom();
        for (q, top) in heads {
            psa.add(PsaState::Shared(q), top, end);
        }
        psa
    }

    /// Returns an automaton with the state for the empty stack, which accepts and which no
    /// transition leaves.
    fn with_bottom() -> (Self, InnerState) {
        let mut psa = Psa::default();
        let bottom = InnerState(psa.bottom());
        (psa, bottom)
    }

    /// Adds a state.
    pub fn add_state(&mut self, accepting: bool) -> InnerState {
        InnerState(self.add_node(NodeKind::Inner(InnerRole::Given), accepting))
    }

    /// Adds a transition. An ε-edge leaves a shared state.
    ///
    /// # Panics
    /// If an ε-edge leaves another state.
    pub fn add(&mut self, from: PsaState, label: Option<Symbol>, to: InnerState) {
        assert!(label.is_some() || matches!(from, PsaState::Shared(_)), "an ε-edge leaves a shared state");
        let from = match from {
            PsaState::Shared(q) => self.shared(q),
            PsaState::Inner(InnerState(state)) => state,
        };
        self.insert(from, top_number(label), to.0, TransitionReason::Given);
    }

    /// Inserts a transition. If it exists, and this reason gives a smaller length, replaces the
    /// reason.
    #[inline]
    pub(super) fn insert(&mut self, from: u32, label: u32, to: u32, reason: TransitionReason) {
        let Psa { nodes, transitions, table, lengths, processed, .. } = self;
        let same = |&id: &u32| transitions[id as usize].is(from, label, to);
        let rehash = |&id: &u32| {
            let PsaTransition { from, label, to, .. } = transitions[id as usize];
            hash(from, label, to)
        };
        let place = match table.entry(hash(from, label, to), same, rehash) {
            Entry::Vacant(place) => place,
            Entry::Occupied(occupied) => {
                let (id, Some(lengths)) = (*occupied.get() as usize, lengths) else { return };
                let length = lengths.of_reason(reason);
                if length < lengths.of[id] {
                    lengths.of[id] = length;
                    transitions[id].reason = reason;
                    if id < *processed && !std::mem::replace(&mut lengths.is_queued[id], true) {
                        lengths.queue.push_back(*occupied.get());
                    }
                }
                return;
            }
        };
        let id = u32::try_from(transitions.len()).expect("the memory ends before");
        place.insert(id);
        if let Some(lengths) = lengths {
            lengths.of.push(lengths.of_reason(reason));
            lengths.is_queued.push(false);
        }
        let previous_out = std::mem::replace(&mut nodes[from as usize].out, id);
        let previous_into =
            if label == 0 { std::mem::replace(&mut nodes[to as usize].into, id) } else { NO_TRANSITION };
        transitions.push(PsaTransition { from, label, to, previous_out, previous_into, reason });
    }

    /// Returns the transition from a shared state with this label to this state.
    pub(crate) fn find(&self, q: SharedState, label: u32, to: u32) -> Option<u32> {
        let from = self.state_of(q)?;
        let same = |&id: &u32| self.transitions[id as usize].is(from, label, to);
        self.table.find(hash(from, label, to), same).copied()
    }

    fn add_node(&mut self, kind: NodeKind, accepting: bool) -> u32 {
        let id = u32::try_from(self.nodes.len()).expect("the memory ends before");
        self.nodes.push(PsaNode { kind, accepting, out: NO_TRANSITION, into: NO_TRANSITION });
        id
    }

    /// Returns the state of a shared state, which is added if necessary.
    pub(super) fn shared(&mut self, q: SharedState) -> u32 {
        if let Some(&id) = self.shared.get(&q) {
            return id;
        }
        let id = self.add_node(NodeKind::Shared(q), false);
        self.shared.insert(q, id);
        id
    }

    /// Returns the state for the calls that lead to this head, which is added if necessary.
    pub(super) fn called(&mut self, q: SharedState, symbol: Symbol) -> u32 {
        if let Some(&id) = self.called.get(&(q, symbol)) {
            return id;
        }
        let id = self.add_node(NodeKind::Inner(InnerRole::Called(q, symbol)), false);
        self.called.insert((q, symbol), id);
        id
    }

    /// Returns the state for the empty stack, which is added if necessary.
    pub(super) fn bottom(&mut self) -> u32 {
        if let Some(id) = self.bottom {
            return id;
        }
        let id = self.add_node(NodeKind::Inner(InnerRole::Bottom), true);
        self.bottom = Some(id);
        id
    }

    /// Returns the transitions that leave a state.
    pub(crate) fn out(&self, state: u32) -> impl Iterator<Item = u32> {
        let some = |t: u32| Some(t).filter(|&t| t != NO_TRANSITION);
        std::iter::successors(some(self.nodes[state as usize].out), move |&t| {
            some(self.transitions[t as usize].previous_out)
        })
    }

    /// Returns the shared states that have an automaton state, sorted, with that state.
    pub(crate) fn shared_states(&self) -> Vec<(SharedState, u32)> {
        let mut states: Vec<_> = self.shared.iter().map(|(&q, &state)| (q, state)).collect();
        states.sort_unstable();
        states
    }

    /// Returns the heads of accepted states with a non-empty stack. Each automaton state has to
    /// lead to an accepting one.
    pub(crate) fn heads(&self) -> impl Iterator<Item = (SharedState, Symbol)> {
        let of_shared = move |(q, state)| {
            self.out(state).filter_map(move |t| top(self.transitions[t as usize].label)).map(move |symbol| (q, symbol))
        };
        self.shared_states().into_iter().flat_map(of_shared)
    }

    /// Returns the automaton state of a shared state, if there is one.
    pub(crate) fn state_of(&self, q: SharedState) -> Option<u32> {
        self.shared.get(&q).copied()
    }

    pub(crate) fn is_accepting(&self, state: u32) -> bool {
        self.nodes[state as usize].accepting
    }

    pub(crate) fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the head of the calls for which post* added this state. `None` for all other states.
    pub(crate) fn call(&self, state: u32) -> Option<(SharedState, Symbol)> {
        match self.nodes[state as usize].kind {
            NodeKind::Inner(InnerRole::Called(q, symbol)) => Some((q, symbol)),
            _ => None,
        }
    }

    /// Returns the shared state to which an automaton state belongs, if any.
    pub(crate) fn shared_of(&self, state: u32) -> Option<SharedState> {
        if let NodeKind::Shared(q) = self.nodes[state as usize].kind { Some(q) } else { None }
    }

    /// Returns the number of transitions.
    pub fn transition_count(&self) -> usize {
        self.transitions.len()
    }

    /// Returns the transitions of a loop, as positions in [`transitions`](Self::transitions); an
    /// empty list if there is no loop. Loops of the given automaton do not count.
    pub fn loop_transitions(&self) -> Vec<usize> {
        self.find_loop().into_iter().flatten().map(|t| t as usize).collect()
    }

    /// Returns all transitions, in the order of insertion.
    pub fn transitions(&self) -> impl Iterator<Item = (PsaState, Option<Symbol>, InnerState)> {
        self.transitions.iter().map(|t| (self.state(t.from), top(t.label), InnerState(t.to)))
    }

    fn state(&self, state: u32) -> PsaState {
        self.shared_of(state).map_or(PsaState::Inner(InnerState(state)), PsaState::Shared)
    }

    /// Returns the purpose of an inner state, and whether it accepts.
    pub fn inner(&self, InnerState(state): InnerState) -> (InnerRole, bool) {
        let node = &self.nodes[state as usize];
        match node.kind {
            NodeKind::Inner(role) => (role, node.accepting),
            NodeKind::Shared(_) => unreachable!("an inner state belongs to no shared state"),
        }
    }
}

#[inline]
fn hash(from: u32, label: u32, to: u32) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_u64(u64::from(from) << 32 | u64::from(to));
    hasher.write_u32(label);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpds::Problem;

    /// Fig. 7: one state for the calls of each head (q,σ), and a loop.
    #[test]
    fn the_store_automaton_of_fig_7() {
        let problem: Problem = include_str!("../../../../models/paper/fig7.cpds").parse().unwrap();
        let system = problem.system();
        let start = &system.initial()[0];
        let psa = Psa::of_states([(start.shared, &start.stacks[0])]).post_star(&system.programs()[0]);
        let name = |state: PsaState| match state {
            PsaState::Shared(q) => system.shared_name(q).to_owned(),
            PsaState::Inner(state) => match psa.inner(state) {
                (InnerRole::Called(q, s), _) => format!("[{} {}]", system.shared_name(q), system.symbol_name(s)),
                (_, true) => "sF".to_owned(),
                (_, false) => unreachable!("post* adds no other inner states"),
            },
        };
        let label = |label: Option<Symbol>| label.map_or("ε", |symbol| system.symbol_name(symbol)).to_owned();
        let mut transitions: Vec<_> = psa
            .transitions()
            .map(|(from, symbol, to)| format!("{} {} {}", name(from), label(symbol), name(PsaState::Inner(to))))
            .collect();
        transitions.sort();
        insta::assert_snapshot!(transitions.join("\n"), @"
        [q1 σ1] σ0 [q1 σ1]
        [q1 σ1] σ0 sF
        [q2 σ2] σ0 [q1 σ1]
        q0 ε [q2 σ2]
        q0 σ0 [q1 σ1]
        q0 σ0 sF
        q0 σ1 [q2 σ2]
        q1 σ1 [q1 σ1]
        q2 σ2 [q2 σ2]
        ");
        for (state, accepted) in [
            ("q0|σ0", true),
            ("q1|σ1 σ0", true),
            ("q2|σ2 σ0 σ0", true),
            ("q0|σ0 σ0", true),
            ("q0|-", false),
            ("q1|σ0", false),
        ] {
            let state = system.read_state(state).unwrap();
            assert_eq!(psa.accepts(state.shared, &state.stacks[0]), accepted, "{state:?}");
        }
    }
}
