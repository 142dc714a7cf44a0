//! The step relation (paper §2.1), written from the paper and not from the engines' code.

use cpds::{Action, GlobalState, SharedState, Stack, Symbol};

/// An action (q,w) → (q',w'): w has at most one symbol, and w' at most two, top first.
pub(crate) struct Effect {
    pub(crate) q: SharedState,
    pub(crate) read: Option<Symbol>,
    pub(crate) to: SharedState,
    pub(crate) written: [Option<Symbol>; 2],
}

impl Effect {
    pub(crate) fn of(action: &Action) -> Self {
        match *action {
            Action::Pop { from, top, to } => Effect { q: from, read: Some(top), to, written: [None, None] },
            Action::Overwrite { from, top, to, new } => {
                Effect { q: from, read: Some(top), to, written: [Some(new), None] }
            }
            Action::Push { from, top, to, callee, return_point } => {
                Effect { q: from, read: Some(top), to, written: [Some(callee), Some(return_point)] }
            }
            Action::EmptyOverwrite { from, to } => Effect { q: from, read: None, to, written: [None, None] },
            Action::EmptyPush { from, to, new } => Effect { q: from, read: None, to, written: [Some(new), None] },
        }
    }

    /// Returns the state after the action of a thread, if the action is enabled: either w is the
    /// top of the stack, or both w and the stack are empty.
    pub(crate) fn apply(&self, state: &GlobalState, thread: usize) -> Option<GlobalState> {
        let stack: Vec<Symbol> = state.stacks[thread].iter().collect();
        if state.shared != self.q || stack.first().copied() != self.read {
            return None;
        }
        let below = stack.into_iter().skip(1);
        let mut next = GlobalState { shared: self.to, stacks: state.stacks.clone() };
        next.stacks[thread] = Stack::from_top(self.written.into_iter().flatten().chain(below));
        Some(next)
    }
}
