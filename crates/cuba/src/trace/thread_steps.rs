//! One step of a thread, forwards and backwards.

use crate::explicit::tables::stack_table::Stacks;
use crate::tables::step_cache::ThreadState;
use cpds::{Program, SharedState, Symbol};
use rustc_hash::FxHashMap;

/// Returns the steps from a thread state: the positions of the rules that are enabled, and the
/// thread states to which they lead.
pub(super) fn steps_from(
    program: &Program,
    (shared, stack): ThreadState,
    stacks: &mut Stacks,
) -> impl Iterator<Item = (usize, ThreadState)> {
    program.rules_from(SharedState(shared), stacks.top(stack)).map(move |(position, rule)| {
        let (to, written) = rule.action.target();
        (position, (to.0, stacks.replace_top(stack, written)))
    })
}

/// The actions of a program, by the shared state to which they lead and the top that they write, if
/// any.
pub(super) struct ActionsByTarget(FxHashMap<(SharedState, Option<Symbol>), Vec<usize>>);

impl ActionsByTarget {
    /// Indexes the actions of a program.
    pub(super) fn new(program: &Program) -> Self {
        let mut rules: FxHashMap<_, Vec<usize>> = FxHashMap::default();
        for (rule, action) in program.rules().iter().map(|rule| rule.action).enumerate() {
            let (to, mut written) = action.target();
            rules.entry((to, written.next())).or_default().push(rule);
        }
        ActionsByTarget(rules)
    }

    /// Returns the thread states from which one step of the program leads to this one.
    pub(super) fn predecessors(
        &self,
        program: &Program,
        (shared, stack): ThreadState,
        stacks: &mut Stacks,
    ) -> Vec<ThreadState> {
        let mut before = Vec::new();
        let (to, top) = (SharedState(shared), stacks.top(stack));
        let rules = [None, top].into_iter().take(1 + usize::from(top.is_some())).map(|top| self.0.get(&(to, top)));
        for &rule in rules.flatten().flatten() {
            let action = program.rules()[rule].action;
            let ((from, read), (_, mut written)) = (action.source(), action.target());
            let rest =
                written.try_fold(stack, |rest, symbol| (stacks.top(rest) == Some(symbol)).then(|| stacks.rest(rest)));
            match (rest, read) {
                (Some(rest), Some(read)) => before.push((from.0, stacks.push(read, rest))),
                (Some(rest), None) if stacks.height(rest) == 0 => before.push((from.0, rest)),
                _ => {}
            }
        }
        before
    }
}
