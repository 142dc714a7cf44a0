//! Pushdown store automata (PSA) and post* (paper App. C).
//!
//! A store automaton accepts states ⟨q|w⟩ of one thread: from the state for q, reading w from the
//! top down, it gets to an accepting state. No transition leads into the state of a shared state,
//! and ε-edges leave only such states; the types see to both. post* *saturates* the automaton of a
//! set of states: it adds transitions until the set of accepted states is closed under the steps of
//! a program. What is added for each action, when the automaton has p –σ→ s:
//!
//! | action | is added |
//! |---|---|
//! | (p,σ) → (p',ε) | p' –ε→ s |
//! | (p,σ) → (p',σ') | p' –σ'→ s |
//! | (p,σ) → (p',ρ₀ρ₁) | p' –ρ₀→ m –ρ₁→ s, where m is one state for each (p',ρ₀) |
//!
//! An ε-edge p –ε→ s takes over what s has: with s –σ→ s', also p –σ→ s'. Either of the two may
//! come later, so ε-edges are found by their target. (The published tool looks by source, and
//! misses some.)
//!
//! # The empty stack
//! ⟨p|ε⟩ is accepted exactly if an ε-edge leads from p to an accepting state. From there, an action
//! (p,ε) → (p',ε) adds p' –ε→ f, and (p,ε) → (p',ρ) adds p' –ρ→ f, where f is an accepting state
//! with nothing below. So no bottom symbol is needed
//! (docs/design/005-the-empty-stack-in-store-automata.md).
//!
//! # Why each transition is there
//! is kept with it: the action and the transition that it was applied to. From this a run is
//! rebuilt (`automata/thread_run.rs`). Where runs should be short, each transition also has a
//! length, and whatever leads to a smaller one replaces why it is there; transitions whose length
//! has changed are taken again, until nothing changes. Then the lengths along the best path to a
//! state add up to those of a shortest run.

use crate::automata::action_index::Heads;
use crate::limits::Cancel;
use crate::limits::TooLarge;
use crate::visible::levels::{top, top_number};
use cpds::{Action, Program, SharedState, Stack, Symbol};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::{FxHashMap, FxHasher};
use std::collections::VecDeque;
use std::hash::Hasher as _;

/// A state of a store automaton that is not a shared state's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Inner(u32);

/// A state of a store automaton.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum PsaState {
    /// That of a shared state: accepted words start here.
    Shared(SharedState),
    /// Another one.
    Inner(Inner),
}

/// What an inner state was made for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Made {
    /// For the automaton that is saturated.
    Given,
    /// For calls that lead to this thread-visible state: m in the table above.
    Called(SharedState, Symbol),
    /// For the empty stack: f above.
    Bottom,
}

/// A pushdown store automaton.
#[derive(Clone, Debug, Default)]
pub struct Psa {
    nodes: Vec<Node>,
    shared: FxHashMap<SharedState, u32>,
    called: FxHashMap<(SharedState, Symbol), u32>,
    bottom: Option<u32>,
    /// In the order in which they were added.
    pub(crate) transitions: Vec<Transition>,
    /// For how many of them everything has been added that follows.
    taken: usize,
    lengths: Option<Lengths>,
    table: HashTable<u32>,
}

/// How long the runs are that the transitions stand for.
#[derive(Clone, Debug, Default)]
struct Lengths {
    of: Vec<u64>,
    /// Transitions that have been taken and whose length has changed since.
    again: VecDeque<u32>,
    waits: Vec<bool>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    kind: Kind,
    accepting: bool,
    /// The last transition that leaves it, and the last ε-edge that leads to it; each knows the one
    /// before.
    out: u32,
    into: u32,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Shared(SharedState),
    Inner(Made),
}

/// No transition.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Transition {
    pub(crate) from: u32,
    /// The number of the symbol as a top; 0 is ε.
    pub(crate) label: u32,
    pub(crate) to: u32,
    before_out: u32,
    before_into: u32,
    pub(crate) origin: Origin,
}

impl Transition {
    fn is(&self, from: u32, label: u32, to: u32) -> bool {
        (self.from, self.label, self.to) == (from, label, to)
    }
}

/// Why a transition is there. All that it names was there before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    /// It was given.
    Given,
    /// This rule was applied to this transition. For a push it leads *out of* m.
    Rule { rule: u32, of: u32 },
    /// It leads into m, for a push; whose, the transition out of m knows.
    Call,
    /// An ε-edge, and a transition that leaves its target.
    Join { epsilon: u32, then: u32 },
}

impl Psa {
    /// How many bytes a transition takes, with the table and the states, roughly.
    pub const BYTES_A_TRANSITION: usize = 64;

    /// The automaton that accepts exactly these states.
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

    /// Q × Σ^{≤1}, as Thm. 17 has it.
    pub fn of_heads(heads: impl IntoIterator<Item = (SharedState, Option<Symbol>)>) -> Self {
        let (mut psa, end) = Psa::with_bottom();
        for (q, top) in heads {
            psa.add(PsaState::Shared(q), top, end);
        }
        psa
    }

    /// An accepting state that nothing leads out of; f above.
    fn with_bottom() -> (Self, Inner) {
        let mut psa = Psa::default();
        let bottom = Inner(psa.bottom());
        (psa, bottom)
    }

    /// Adds a state.
    pub fn add_state(&mut self, accepting: bool) -> Inner {
        Inner(self.add_node(Kind::Inner(Made::Given), accepting))
    }

    /// Adds a transition. An ε-edge leaves a shared state.
    ///
    /// # Panics
    /// If an ε-edge leaves another state.
    pub fn add(&mut self, from: PsaState, label: Option<Symbol>, to: Inner) {
        assert!(label.is_some() || matches!(from, PsaState::Shared(_)), "an ε-edge leaves a shared state");
        let from = match from {
            PsaState::Shared(q) => self.shared(q),
            PsaState::Inner(Inner(state)) => state,
        };
        self.insert(from, top_number(label), to.0, Origin::Given);
    }

    /// Keeps track of lengths, so that [`run`](Self::run) gives a shortest run.
    ///
    /// # Panics
    /// If it has been saturated, even in part.
    #[must_use]
    pub fn with_lengths(mut self) -> Self {
        assert_eq!(self.taken, 0, "lengths are counted from the beginning");
        let count = self.transitions.len();
        self.lengths = Some(Lengths { of: vec![0; count], again: VecDeque::new(), waits: vec![false; count] });
        self
    }

    /// post*: the automaton that accepts every state that is reachable from the accepted ones.
    #[must_use]
    pub fn post_star(self, program: &Program) -> Psa {
        self.saturated(&Heads::new(program), usize::MAX).expect("there is no limit")
    }

    /// The same, with at most so many transitions.
    pub fn saturated(mut self, heads: &Heads, limit: usize) -> Result<Psa, TooLarge> {
        self.saturate(heads, limit, &Cancel::default()).map(|()| self)
    }

    /// Adds transitions until nothing is missing, or until there are more than so many; then one
    /// can go on.
    pub(crate) fn saturate(&mut self, heads: &Heads, limit: usize, cancel: &Cancel) -> Result<(), TooLarge> {
        // What is added comes to the end of the list.
        loop {
            while let Some(&Transition { from, label, to, .. }) = self.transitions.get(self.taken) {
                let look = self.taken.is_multiple_of(1 << 10);
                if self.transitions.len() > limit || (look && cancel.why().is_some()) {
                    return Err(TooLarge);
                }
                let id = u32::try_from(self.taken).expect("the memory ends before");
                self.taken += 1;
                self.take(heads, id, from, label, to);
            }
            let Some(id) = self.lengths.as_mut().and_then(|lengths| lengths.again.pop_front()) else { return Ok(()) };
            self.lengths.as_mut().expect("just used").waits[id as usize] = false;
            let Transition { from, label, to, .. } = self.transitions[id as usize];
            self.take(heads, id, from, label, to);
        }
    }

    /// The length that a transition has if this is why it is there.
    fn length_by(lengths: &Lengths, origin: Origin) -> u64 {
        let of = |t: u32| lengths.of[t as usize];
        match origin {
            Origin::Given | Origin::Call => 0,
            Origin::Rule { of: t, .. } => of(t).saturating_add(1),
            Origin::Join { epsilon, then } => of(epsilon).saturating_add(of(then)),
        }
    }

    /// The length of a transition; 0 if lengths are not kept.
    pub(crate) fn length(&self, t: u32) -> u64 {
        self.lengths.as_ref().map_or(0, |lengths| lengths.of[t as usize])
    }

    /// Adds what follows from one transition and those that are there.
    fn take(&mut self, heads: &Heads, of: u32, from: u32, label: u32, to: u32) {
        match self.nodes[from as usize].kind {
            Kind::Shared(q) if label == 0 => {
                let mut then = self.nodes[to as usize].out;
                while then != NONE {
                    let Transition { label, to, before_out, .. } = self.transitions[then as usize];
                    self.insert(from, label, to, Origin::Join { epsilon: of, then });
                    then = before_out;
                }
                if self.nodes[to as usize].accepting {
                    self.apply(heads, q, of, label, to);
                }
            }
            Kind::Shared(q) => self.apply(heads, q, of, label, to),
            Kind::Inner(_) => {
                let mut epsilon = self.nodes[from as usize].into;
                while epsilon != NONE {
                    let Transition { from, before_into, .. } = self.transitions[epsilon as usize];
                    self.insert(from, label, to, Origin::Join { epsilon, then: of });
                    epsilon = before_into;
                }
            }
        }
    }

    /// Applies every action of (q,σ) to a transition with this label.
    fn apply(&mut self, heads: &Heads, q: SharedState, of: u32, label: u32, to: u32) {
        for index in heads.range(q, label) {
            let (rule, action) = heads.actions[index];
            let origin = Origin::Rule { rule, of };
            match action {
                Action::Pop { to: p, .. } => {
                    let p = self.shared(p);
                    self.insert(p, 0, to, origin);
                }
                Action::Overwrite { to: p, new, .. } => {
                    let p = self.shared(p);
                    self.insert(p, top_number(Some(new)), to, origin);
                }
                Action::Push { to: q, callee, return_point, .. } => {
                    let called = self.called(q, callee);
                    let p = self.shared(q);
                    self.insert(p, top_number(Some(callee)), called, Origin::Call);
                    self.insert(called, top_number(Some(return_point)), to, origin);
                }
                Action::EmptyOverwrite { to: p, .. } => {
                    let (p, bottom) = (self.shared(p), self.bottom());
                    self.insert(p, 0, bottom, origin);
                }
                Action::EmptyPush { to: p, new, .. } => {
                    let (p, bottom) = (self.shared(p), self.bottom());
                    self.insert(p, top_number(Some(new)), bottom, origin);
                }
            }
        }
    }

    #[inline]
    fn insert(&mut self, from: u32, label: u32, to: u32, origin: Origin) {
        let Psa { nodes, transitions, table, lengths, taken, .. } = self;
        let same = |&id: &u32| transitions[id as usize].is(from, label, to);
        let again = |&id: &u32| {
            let Transition { from, label, to, .. } = transitions[id as usize];
            hash(from, label, to)
        };
        let place = match table.entry(hash(from, label, to), same, again) {
            Entry::Vacant(place) => place,
            Entry::Occupied(known) => {
                let (id, Some(lengths)) = (*known.get() as usize, lengths) else { return };
                let length = Self::length_by(lengths, origin);
                if length < lengths.of[id] {
                    lengths.of[id] = length;
                    transitions[id].origin = origin;
                    if id < *taken && !std::mem::replace(&mut lengths.waits[id], true) {
                        lengths.again.push_back(*known.get());
                    }
                }
                return;
            }
        };
        let id = u32::try_from(transitions.len()).expect("the memory ends before");
        place.insert(id);
        if let Some(lengths) = lengths {
            lengths.of.push(Self::length_by(lengths, origin));
            lengths.waits.push(false);
        }
        let before_out = std::mem::replace(&mut nodes[from as usize].out, id);
        let before_into = if label == 0 { std::mem::replace(&mut nodes[to as usize].into, id) } else { NONE };
        transitions.push(Transition { from, label, to, before_out, before_into, origin });
    }

    /// The transition from a shared state with this label to this state.
    pub(crate) fn find(&self, q: SharedState, label: u32, to: u32) -> Option<u32> {
        let from = self.state_of(q)?;
        let same = |&id: &u32| self.transitions[id as usize].is(from, label, to);
        self.table.find(hash(from, label, to), same).copied()
    }

    fn add_node(&mut self, kind: Kind, accepting: bool) -> u32 {
        let id = u32::try_from(self.nodes.len()).expect("the memory ends before");
        self.nodes.push(Node { kind, accepting, out: NONE, into: NONE });
        id
    }

    fn shared(&mut self, q: SharedState) -> u32 {
        if let Some(&id) = self.shared.get(&q) {
            return id;
        }
        let id = self.add_node(Kind::Shared(q), false);
        self.shared.insert(q, id);
        id
    }

    fn called(&mut self, q: SharedState, symbol: Symbol) -> u32 {
        if let Some(&id) = self.called.get(&(q, symbol)) {
            return id;
        }
        let id = self.add_node(Kind::Inner(Made::Called(q, symbol)), false);
        self.called.insert((q, symbol), id);
        id
    }

    fn bottom(&mut self) -> u32 {
        if let Some(id) = self.bottom {
            return id;
        }
        let id = self.add_node(Kind::Inner(Made::Bottom), true);
        self.bottom = Some(id);
        id
    }

    /// The transitions that leave a state.
    pub(crate) fn out(&self, state: u32) -> impl Iterator<Item = u32> {
        let some = |t: u32| Some(t).filter(|&t| t != NONE);
        std::iter::successors(some(self.nodes[state as usize].out), move |&t| {
            some(self.transitions[t as usize].before_out)
        })
    }

    /// The shared states that have a state, sorted, with it.
    pub(crate) fn shared_states(&self) -> Vec<(SharedState, u32)> {
        let mut states: Vec<_> = self.shared.iter().map(|(&q, &state)| (q, state)).collect();
        states.sort_unstable();
        states
    }

    /// The shared states with the tops of the stacks that are accepted there, without the empty
    /// one, if every state leads to an accepting one.
    pub(crate) fn heads(&self) -> impl Iterator<Item = (SharedState, Symbol)> {
        let of_shared = move |(q, state)| {
            self.out(state).filter_map(move |t| top(self.transitions[t as usize].label)).map(move |symbol| (q, symbol))
        };
        self.shared_states().into_iter().flat_map(of_shared)
    }

    /// The state of a shared state, if it has one.
    pub(crate) fn state_of(&self, q: SharedState) -> Option<u32> {
        self.shared.get(&q).copied()
    }

    pub(crate) fn is_accepting(&self, state: u32) -> bool {
        self.nodes[state as usize].accepting
    }

    pub(crate) fn node_count(&self) -> usize {
        self.nodes.len()
    }

    /// For which thread-visible state this inner state was called, if it was.
    pub(crate) fn call(&self, state: u32) -> Option<(SharedState, Symbol)> {
        match self.nodes[state as usize].kind {
            Kind::Inner(Made::Called(q, symbol)) => Some((q, symbol)),
            _ => None,
        }
    }

    /// The shared state that a state is for, if it is.
    pub(crate) fn shared_of(&self, state: u32) -> Option<SharedState> {
        if let Kind::Shared(q) = self.nodes[state as usize].kind { Some(q) } else { None }
    }

    /// How many transitions there are.
    pub fn transition_count(&self) -> usize {
        self.transitions.len()
    }

    /// Transitions that make up a loop, as positions in [`transitions`](Self::transitions); none if
    /// there is no loop. Loops of the automaton that was saturated are not looked for.
    pub fn loop_transitions(&self) -> Vec<usize> {
        self.find_loop().into_iter().flatten().map(|t| t as usize).collect()
    }

    /// Every transition, in the order in which they were added.
    pub fn transitions(&self) -> impl Iterator<Item = (PsaState, Option<Symbol>, Inner)> {
        self.transitions.iter().map(|t| (self.state(t.from), top(t.label), Inner(t.to)))
    }

    fn state(&self, state: u32) -> PsaState {
        self.shared_of(state).map_or(PsaState::Inner(Inner(state)), PsaState::Shared)
    }

    /// What an inner state was made for, and whether it is accepting.
    pub fn inner(&self, Inner(state): Inner) -> (Made, bool) {
        let node = &self.nodes[state as usize];
        match node.kind {
            Kind::Inner(made) => (made, node.accepting),
            Kind::Shared(_) => unreachable!("inner states are not for shared ones"),
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

    /// Fig. 7: one state for the calls of each (q,σ), and a loop.
    #[test]
    fn the_store_automaton_of_fig_7() {
        let problem: Problem = include_str!("../../../../models/paper/fig7.cpds").parse().unwrap();
        let system = problem.system();
        let start = &system.initial()[0];
        let psa = Psa::of_states([(start.shared, &start.stacks[0])]).post_star(&system.programs()[0]);
        let name = |state: PsaState| match state {
            PsaState::Shared(q) => system.shared_name(q).to_owned(),
            PsaState::Inner(state) => match psa.inner(state) {
                (Made::Called(q, s), _) => format!("[{} {}]", system.shared_name(q), system.symbol_name(s)),
                (_, true) => "sF".to_owned(),
                (_, false) => unreachable!("nothing else is needed here"),
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
