//! Actions (paper §2.1): how a thread may change the shared state and the top of its stack.

use crate::{SharedState, Stack, Symbol};

/// An action (q,w) → (q',w') ∈ Δ_i.
///
/// The first three variants apply to a stack with the top `top` (§2.1(a)), the last two to the
/// empty stack (§2.1(b)).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Action {
    /// (q,σ) → (q',ε): a procedure returns.
    Pop {
        /// q
        from: SharedState,
        /// σ
        top: Symbol,
        /// q'
        to: SharedState,
    },
    /// (q,σ) → (q',σ'): a local step.
    Overwrite {
        /// q
        from: SharedState,
        /// σ
        top: Symbol,
        /// q'
        to: SharedState,
        /// σ'
        new: Symbol,
    },
    /// (q,σ) → (q',ρ₀ρ₁): a procedure is called.
    Push {
        /// q
        from: SharedState,
        /// σ
        top: Symbol,
        /// q'
        to: SharedState,
        /// ρ₀, the new top.
        callee: Symbol,
        /// ρ₁, which overwrites σ and is on top again when the callee has returned.
        return_point: Symbol,
    },
    /// (q,ε) → (q',ε): only the shared state changes.
    EmptyOverwrite {
        /// q
        from: SharedState,
        /// q'
        to: SharedState,
    },
    /// (q,ε) → (q',ρ): the empty stack is filled.
    EmptyPush {
        /// q
        from: SharedState,
        /// q'
        to: SharedState,
        /// ρ
        new: Symbol,
    },
}

/// The kinds of actions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[expect(missing_docs, reason = "the variants of `Action`, without their fields")]
pub enum ActionKind {
    Pop,
    Overwrite,
    Push,
    EmptyOverwrite,
    EmptyPush,
}

impl ActionKind {
    /// All kinds, in the order in which they are reported.
    pub const ALL: [ActionKind; 5] =
        [ActionKind::Pop, ActionKind::Overwrite, ActionKind::Push, ActionKind::EmptyOverwrite, ActionKind::EmptyPush];

    /// Returns the name of the kind.
    pub fn word(self) -> &'static str {
        match self {
            ActionKind::Pop => "pop",
            ActionKind::Overwrite => "overwrite",
            ActionKind::Push => "push",
            ActionKind::EmptyOverwrite => "empty-overwrite",
            ActionKind::EmptyPush => "empty-push",
        }
    }
}

/// The reason why a pair ((q,w),(q',w')) is not an action.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NotAnAction {
    /// |w| > 1.
    #[error("an action reads only the top symbol")]
    ReadsBelowTop,
    /// |w'| > 2.
    #[error("an action writes at most two symbols")]
    WritesTooMuch,
    /// w = ε and |w'| > 1.
    #[error("an action from the empty stack pushes at most one symbol")]
    PushesTwoOnEmpty,
}

impl NotAnAction {
    /// Returns the reason why no action has |w| = `read` and |w'| = `written`; `None` if there are
    /// such actions.
    pub fn because(read: usize, written: usize) -> Option<NotAnAction> {
        match (read, written) {
            (2.., _) => Some(NotAnAction::ReadsBelowTop),
            (_, 3..) => Some(NotAnAction::WritesTooMuch),
            (0, 2) => Some(NotAnAction::PushesTwoOnEmpty),
            _ => None,
        }
    }
}

impl Action {
    /// Makes the action (q,w) → (q',w'). Both words are written top first.
    ///
    /// ```
    /// use cpds::{Action, NotAnAction, SharedState, Symbol};
    /// let (q, s) = (SharedState(0), Symbol(0));
    /// assert_eq!(Action::new((q, &[s]), (q, &[])), Ok(Action::Pop { from: q, top: s, to: q }));
    /// assert_eq!(Action::new((q, &[]), (q, &[s, s])), Err(NotAnAction::PushesTwoOnEmpty));
    /// ```
    pub fn new(
        (from, read): (SharedState, &[Symbol]),
        (to, written): (SharedState, &[Symbol]),
    ) -> Result<Action, NotAnAction> {
        match (read, written) {
            (&[top], &[]) => Ok(Action::Pop { from, top, to }),
            (&[top], &[new]) => Ok(Action::Overwrite { from, top, to, new }),
            (&[top], &[callee, return_point]) => Ok(Action::Push { from, top, to, callee, return_point }),
            ([], []) => Ok(Action::EmptyOverwrite { from, to }),
            ([], &[new]) => Ok(Action::EmptyPush { from, to, new }),
            _ => Err(NotAnAction::because(read.len(), written.len()).expect("the cases above are all actions")),
        }
    }

    /// Returns the thread-visible state (q, T(w)) in which the action is enabled.
    pub fn source(&self) -> (SharedState, Option<Symbol>) {
        match *self {
            Action::Pop { from, top, .. } | Action::Overwrite { from, top, .. } | Action::Push { from, top, .. } => {
                (from, Some(top))
            }
            Action::EmptyOverwrite { from, .. } | Action::EmptyPush { from, .. } => (from, None),
        }
    }

    /// Returns (q', w'): the new shared state, and the symbols that replace the old top, top first.
    pub fn target(&self) -> (SharedState, impl DoubleEndedIterator<Item = Symbol> + Clone + use<>) {
        let (to, written) = match *self {
            Action::Pop { to, .. } | Action::EmptyOverwrite { to, .. } => (to, [None, None]),
            Action::Overwrite { to, new, .. } | Action::EmptyPush { to, new, .. } => (to, [Some(new), None]),
            Action::Push { to, callee, return_point, .. } => (to, [Some(callee), Some(return_point)]),
        };
        (to, written.into_iter().flatten())
    }

    /// Returns all symbols of the action.
    pub fn symbols(&self) -> impl Iterator<Item = Symbol> {
        self.source().1.into_iter().chain(self.target().1)
    }

    /// Returns the kind of the action.
    pub fn kind(&self) -> ActionKind {
        match self {
            Action::Pop { .. } => ActionKind::Pop,
            Action::Overwrite { .. } => ActionKind::Overwrite,
            Action::Push { .. } => ActionKind::Push,
            Action::EmptyOverwrite { .. } => ActionKind::EmptyOverwrite,
            Action::EmptyPush { .. } => ActionKind::EmptyPush,
        }
    }

    /// Returns the step ⟨q|w⟩ → ⟨q'|w'⟩ of a sequential pushdown system, if the action is enabled
    /// in ⟨q|w⟩.
    pub fn apply(&self, shared: SharedState, stack: &Stack) -> Option<(SharedState, Stack)> {
        if self.source() != (shared, stack.top()) {
            return None;
        }
        let mut stack = stack.clone();
        stack.pop(); // an empty stack stays empty, and w' becomes the whole stack
        let (to, written) = self.target();
        for symbol in written.rev() {
            stack.push(symbol);
        }
        Some((to, stack))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const Q: [SharedState; 2] = [SharedState(0), SharedState(1)];
    const A: Symbol = Symbol(0);
    const B: Symbol = Symbol(1);
    const C: Symbol = Symbol(2);

    fn step(read: &[Symbol], written: &[Symbol], stack: &[Symbol]) -> Option<(SharedState, Stack)> {
        Action::new((Q[0], read), (Q[1], written)).unwrap().apply(Q[0], &Stack::from_top(stack.iter().copied()))
    }

    fn to(stack: &[Symbol]) -> (SharedState, Stack) {
        (Q[1], Stack::from_top(stack.iter().copied()))
    }

    #[test]
    fn actions_on_a_non_empty_stack() {
        assert_eq!(step(&[A], &[], &[A, B]), Some(to(&[B])));
        assert_eq!(step(&[A], &[], &[A]), Some(to(&[])));
        assert_eq!(step(&[A], &[C], &[A, B]), Some(to(&[C, B])));
        assert_eq!(step(&[A], &[B, C], &[A, A]), Some(to(&[B, C, A])));
    }

    #[test]
    fn actions_on_the_empty_stack() {
        assert_eq!(step(&[], &[], &[]), Some(to(&[])));
        assert_eq!(step(&[], &[A], &[]), Some(to(&[A])));
    }

    #[test]
    fn an_action_is_enabled_by_shared_state_and_top_alone() {
        assert_eq!(step(&[A], &[], &[B, A]), None, "another top");
        assert_eq!(step(&[A], &[], &[]), None, "the stack is empty");
        assert_eq!(step(&[], &[A], &[A]), None, "the stack is not empty");
        let pop = Action::Pop { from: Q[1], top: A, to: Q[1] };
        assert_eq!(pop.apply(Q[0], &Stack::from_top([A])), None, "another shared state");
    }

    /// Traces use these words.
    #[test]
    fn kinds_have_words() {
        let words = ActionKind::ALL.map(ActionKind::word);
        assert_eq!(words, ["pop", "overwrite", "push", "empty-overwrite", "empty-push"]);
    }

    #[test]
    fn pairs_that_are_not_actions() {
        let new = |read: &[Symbol], written: &[Symbol]| Action::new((Q[0], read), (Q[1], written)).unwrap_err();
        assert_eq!(new(&[A, A], &[]), NotAnAction::ReadsBelowTop);
        assert_eq!(new(&[A], &[A, A, A]), NotAnAction::WritesTooMuch);
        assert_eq!(new(&[], &[A, A, A]), NotAnAction::WritesTooMuch);
        assert_eq!(new(&[], &[A, A]), NotAnAction::PushesTwoOnEmpty);
    }
}
