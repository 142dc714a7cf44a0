//! The step relation of a concurrent pushdown system (paper §2.2).

use crate::{Cpds, GlobalState, Rule, ThreadId};

/// A step s → s' triggered by one thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step<'a> {
    /// The thread that triggers it.
    pub thread: ThreadId,
    /// Which rule of the thread's program it fires, as its position in
    /// [`Program::rules`](crate::Program::rules).
    pub index: usize,
    /// That rule.
    pub rule: &'a Rule,
    /// s'.
    pub state: GlobalState,
}

impl Cpds {
    /// Every step that `thread` can take from `state`, in the order of its program.
    ///
    /// An action that is not enabled gives no step. (The paper calls that a no-op; as a step from a
    /// state to itself it would reach nothing.)
    pub fn steps_of<'s>(&'s self, thread: ThreadId, state: &GlobalState) -> impl Iterator<Item = Step<'s>> {
        let stack = &state.stacks[thread.index()];
        self.program(thread).rules_from(state.shared, stack.top()).map(move |(index, rule)| {
            let (shared, stack) = rule.action.apply(state.shared, stack).expect("rules_from finds enabled actions");
            let mut stacks = state.stacks.clone();
            stacks[thread.index()] = stack;
            Step { thread, index, rule, state: GlobalState { shared, stacks } }
        })
    }

    /// Every step from `state`, by thread.
    pub fn steps<'s>(&'s self, state: &GlobalState) -> impl Iterator<Item = Step<'s>> {
        self.threads().flat_map(move |thread| self.steps_of(thread, state))
    }
}
