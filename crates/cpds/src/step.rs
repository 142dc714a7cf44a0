//! The step relation of a concurrent pushdown system (paper §2.2).

use crate::{Cpds, GlobalState, Rule, ThreadId};

/// A step s → s' of one thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step<'a> {
    /// The thread.
    pub thread: ThreadId,
    /// The position of the rule in [`Program::rules`](crate::Program::rules).
    pub index: usize,
    /// The rule.
    pub rule: &'a Rule,
    /// s'.
    pub state: GlobalState,
}

impl Cpds {
    /// Returns all steps of `thread` from `state`, in the order of its program.
    ///
    /// An action that is not enabled gives no step. (In the paper it gives a step from the state to
    /// itself, which reaches no new state.)
    pub fn steps_of<'s>(&'s self, thread: ThreadId, state: &GlobalState) -> impl Iterator<Item = Step<'s>> {
        let stack = &state.stacks[thread.index()];
        self.program(thread).rules_from(state.shared, stack.top()).map(move |(index, rule)| {
            let (shared, stack) = rule.action.apply(state.shared, stack).expect("rules_from finds enabled actions");
            let mut stacks = state.stacks.clone();
            stacks[thread.index()] = stack;
            Step { thread, index, rule, state: GlobalState { shared, stacks } }
        })
    }

    /// Returns all steps from `state`, thread by thread.
    pub fn steps<'s>(&'s self, state: &GlobalState) -> impl Iterator<Item = Step<'s>> {
        self.threads().flat_map(move |thread| self.steps_of(thread, state))
    }
}
