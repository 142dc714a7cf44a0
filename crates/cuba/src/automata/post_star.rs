//! post* (paper App. C): all states that one thread reaches from a given set of states.
//!
//! post* *saturates* the store automaton of the given set: it adds transitions until the set of
//! accepted states is closed under the steps of a program. For a transition p –σ→ s of the
//! automaton, each action adds:
//!
//! | action | added |
//! |---|---|
//! | (p,σ) → (p',ε) | p' –ε→ s |
//! | (p,σ) → (p',σ') | p' –σ'→ s |
//! | (p,σ) → (p',ρ₀ρ₁) | p' –ρ₀→ m –ρ₁→ s, where m is one state for each (p',ρ₀) |
//!
//! For an ε-edge p –ε→ s and a transition s –σ→ s', post* adds p –σ→ s'. Either of the two may be
//! added later than the other, so post* finds ε-edges by their target. (The published tool finds
//! them by their source, and misses some.)
//!
//! If an ε-edge leads from p to an accepting state, the stack may be empty at p. Then an action
//! (p,ε) → (p',ε) adds p' –ε→ f, and an action (p,ε) → (p',ρ) adds p' –ρ→ f. Here f is an accepting
//! state that no transition leaves.
//!
//! # Shortest runs
//! Where runs should be short, each transition also has a length. A reason that gives a smaller
//! length replaces the stored reason. post* processes a transition again when its length has
//! decreased, until no length decreases any more. Then the lengths along the best path to a state
//! add up to the length of a shortest run.

use crate::automata::action_index::ActionIndex;
use crate::automata::store_automaton::{NO_TRANSITION, NodeKind, Psa, PsaTransition, TransitionReason};
use crate::cancel::Cancel;
use crate::limits::TooLarge;
use crate::visible::levels::top_number;
use cpds::{Action, Program, SharedState};
use std::collections::VecDeque;

/// For each transition, the length of the run that its reason describes.
#[derive(Clone, Debug, Default)]
pub(super) struct RunLengths {
    pub(super) of: Vec<u64>,
    /// The processed transitions whose lengths have decreased since.
    pub(super) queue: VecDeque<u32>,
    pub(super) is_queued: Vec<bool>,
}

impl RunLengths {
    /// Returns the length of a transition with this reason.
    pub(super) fn of_reason(&self, reason: TransitionReason) -> u64 {
        let of = |t: u32| self.of[t as usize];
        match reason {
            TransitionReason::Given | TransitionReason::Call => 0,
            TransitionReason::Rule { of: t, .. } => of(t).saturating_add(1),
            TransitionReason::Join { epsilon, then } => of(epsilon).saturating_add(of(then)),
        }
    }
}

impl Psa {
    /// Adds lengths to the automaton, so that [`run`](Self::run) returns a shortest run.
    ///
    /// # Panics
    /// If the automaton has been saturated, even in part.
    #[must_use]
    pub fn with_lengths(mut self) -> Self {
        assert_eq!(self.processed, 0, "lengths are counted from the beginning");
        let count = self.transitions.len();
        self.lengths = Some(RunLengths { of: vec![0; count], queue: VecDeque::new(), is_queued: vec![false; count] });
        self
    }

    /// Returns the automaton that accepts every state that is reachable from an accepted state.
    #[must_use]
    pub fn post_star(self, program: &Program) -> Psa {
        self.saturated(&ActionIndex::new(program), usize::MAX).expect("there is no limit")
    }

    /// Computes [`post_star`](Self::post_star) with a limit for the number of transitions.
    ///
    /// # Errors
    /// If the saturated automaton has more transitions than `limit`.
    pub fn saturated(mut self, actions: &ActionIndex, limit: usize) -> Result<Psa, TooLarge> {
        self.saturate(actions, limit, &Cancel::default()).map(|()| self)
    }

    /// Adds transitions until the automaton is saturated. After an error, another call continues.
    ///
    /// # Errors
    /// If there are more transitions than `limit`, or if the caller cancels.
    pub(crate) fn saturate(&mut self, actions: &ActionIndex, limit: usize, cancel: &Cancel) -> Result<(), TooLarge> {
        // New transitions are appended to the list.
        loop {
            while let Some(&PsaTransition { from, label, to, .. }) = self.transitions.get(self.processed) {
                let checks_cancel = self.processed.is_multiple_of(1 << 10);
                if self.transitions.len() > limit || (checks_cancel && cancel.why().is_some()) {
                    return Err(TooLarge);
                }
                let id = u32::try_from(self.processed).expect("the memory ends before");
                self.processed += 1;
                self.process(actions, id, from, label, to);
            }
            let Some(id) = self.lengths.as_mut().and_then(|lengths| lengths.queue.pop_front()) else { return Ok(()) };
            self.lengths.as_mut().expect("just used").is_queued[id as usize] = false;
            let PsaTransition { from, label, to, .. } = self.transitions[id as usize];
            self.process(actions, id, from, label, to);
        }
    }

    /// Returns the length of a transition; 0 if the automaton has no lengths.
    pub(crate) fn length(&self, t: u32) -> u64 {
        self.lengths.as_ref().map_or(0, |lengths| lengths.of[t as usize])
    }

    /// Adds the transitions that follow from one transition and the existing ones.
    fn process(&mut self, actions: &ActionIndex, of: u32, from: u32, label: u32, to: u32) {
        match self.nodes[from as usize].kind {
            NodeKind::Shared(q) if label == 0 => {
                let mut then = self.nodes[to as usize].out;
                while then != NO_TRANSITION {
                    let PsaTransition { label, to, previous_out, .. } = self.transitions[then as usize];
                    self.insert(from, label, to, TransitionReason::Join { epsilon: of, then });
                    then = previous_out;
                }
                if self.nodes[to as usize].accepting {
                    self.apply(actions, q, of, label, to);
                }
            }
            NodeKind::Shared(q) => self.apply(actions, q, of, label, to),
            NodeKind::Inner(_) => {
                let mut epsilon = self.nodes[from as usize].into;
                while epsilon != NO_TRANSITION {
                    let PsaTransition { from, previous_into, .. } = self.transitions[epsilon as usize];
                    self.insert(from, label, to, TransitionReason::Join { epsilon, then: of });
                    epsilon = previous_into;
                }
            }
        }
    }

    /// Applies every action of (q,σ) to a transition with this label.
    fn apply(&mut self, actions: &ActionIndex, q: SharedState, of: u32, label: u32, to: u32) {
        for index in actions.range(q, label) {
            let (rule, action) = actions.actions[index];
            let reason = TransitionReason::Rule { rule, of };
            match action {
                Action::Pop { to: p, .. } => {
                    let p = self.shared(p);
                    self.insert(p, 0, to, reason);
                }
                Action::Overwrite { to: p, new, .. } => {
                    let p = self.shared(p);
                    self.insert(p, top_number(Some(new)), to, reason);
                }
                Action::Push { to: q, callee, return_point, .. } => {
                    let called = self.called(q, callee);
                    let p = self.shared(q);
                    self.insert(p, top_number(Some(callee)), called, TransitionReason::Call);
                    self.insert(called, top_number(Some(return_point)), to, reason);
                }
                Action::EmptyOverwrite { to: p, .. } => {
                    let (p, bottom) = (self.shared(p), self.bottom());
                    self.insert(p, 0, bottom, reason);
                }
                Action::EmptyPush { to: p, new, .. } => {
                    let (p, bottom) = (self.shared(p), self.bottom());
                    self.insert(p, top_number(Some(new)), bottom, reason);
                }
            }
        }
    }
}
