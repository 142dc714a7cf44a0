//! The oracle: R_k and T(R_k), straight from the definitions (paper §2.3 and the proof of Thm. 17).
//!
//! Slow and obviously right: sets of whole states, breadth-first, nothing shared with any engine
//! but the step relation. Never optimised.
//!
//! # What may not be concluded
//! R_k may be infinite. So stacks higher than a given bound are not explored; what was left out is
//! recorded, and only if nothing was left out are the sets exactly R_k and T(R_k). Otherwise they
//! are subsets.

use cpds::{Action, Cpds, GlobalState, Problem, SharedState, Stack, ThreadId, VisibleState};
use std::collections::{BTreeSet, VecDeque};

/// R_0 ⊆ R_1 ⊆ …, as far as it was asked for.
pub struct Levels {
    /// R_k, for k = 0, 1, …
    pub reachable: Vec<BTreeSet<GlobalState>>,
    /// Whether no state was left out because a stack was too high.
    pub exact: bool,
}

/// R_0, …, R_max_k, leaving out states with a stack higher than `max_height`.
pub fn levels(system: &Cpds, max_k: usize, max_height: usize) -> Levels {
    let initial: BTreeSet<GlobalState> = system.initial().iter().cloned().collect();
    let mut levels = Levels { reachable: vec![initial], exact: true };
    for k in 0..max_k {
        let mut next = levels.reachable[k].clone();
        for state in &levels.reachable[k] {
            for thread in system.threads() {
                let (context, exact) = one_context(system, thread, state, max_height);
                next.extend(context);
                levels.exact &= exact;
            }
        }
        levels.reachable.push(next);
    }
    levels
}

/// Every state that `thread` alone reaches from `start` with stacks up to this height, and whether
/// that is all of them.
pub fn one_context(
    system: &Cpds,
    thread: ThreadId,
    start: &GlobalState,
    max_height: usize,
) -> (BTreeSet<GlobalState>, bool) {
    one_context_of(system, thread, start, max_height, usize::MAX).expect("there is no limit")
}

/// The same; nothing if there are more than so many states.
fn one_context_of(
    system: &Cpds,
    thread: ThreadId,
    start: &GlobalState,
    max_height: usize,
    max_states: usize,
) -> Option<(BTreeSet<GlobalState>, bool)> {
    let mut reached = BTreeSet::from([start.clone()]);
    let mut queue = VecDeque::from([start.clone()]);
    let mut exact = true;
    while let Some(state) = queue.pop_front() {
        for step in system.steps_of(thread, &state) {
            if step.state.stacks[thread.index()].height() > max_height {
                exact = false;
            } else if reached.insert(step.state.clone()) {
                queue.push_back(step.state);
            }
        }
        if reached.len() > max_states {
            return None;
        }
    }
    Some((reached, exact))
}

/// Whether `thread` alone reaches finitely many states from every stack of height at most one (the
/// condition of Thm. 17).
///
/// A run from height at most one that gets higher than one more than there are thread-visible
/// states (q,σ) to push from, can be repeated for ever: for each height between, take the last push
/// to it; two of them start from the same (q,σ), so that ⟨q|σ⟩ →* ⟨q|σw⟩ with w ≠ ε.
pub fn finite_contexts(system: &Cpds, thread: ThreadId) -> bool {
    finite_contexts_within(system, thread, usize::MAX).expect("there is no limit")
}

/// The same; nothing if it takes a context of more than so many states to find out.
pub fn finite_contexts_within(system: &Cpds, thread: ThreadId, max_states: usize) -> Option<bool> {
    let program = system.program(thread);
    let pushes = program.rules().iter().filter(|rule| matches!(rule.action, Action::Push { .. }));
    let highest = 1 + pushes.map(|rule| rule.action.source()).collect::<BTreeSet<_>>().len();
    let tops = || std::iter::once(None).chain(program.alphabet().iter().map(Some));
    for shared in (0..).map(SharedState).take(system.shared_names().len()) {
        for top in tops() {
            let mut start = GlobalState { shared, stacks: vec![Stack::default(); system.thread_count()] };
            start.stacks[thread.index()] = Stack::from_top(top);
            if !one_context_of(system, thread, &start, highest, max_states)?.1 {
                return Some(false);
            }
        }
    }
    Some(true)
}

impl Levels {
    /// T(R_k).
    pub fn visible(&self, k: usize) -> BTreeSet<VisibleState> {
        self.reachable[k].iter().map(GlobalState::visible).collect()
    }

    /// |R_k| for each k.
    pub fn reachable_counts(&self) -> Vec<usize> {
        self.reachable.iter().map(BTreeSet::len).collect()
    }

    /// |T(R_k)| for each k.
    pub fn visible_counts(&self) -> Vec<usize> {
        (0..self.reachable.len()).map(|k| self.visible(k).len()).collect()
    }

    /// The least k for which R_k has a bad state.
    pub fn first_violation(&self, problem: &Problem) -> Option<usize> {
        self.reachable.iter().position(|states| states.iter().any(|state| problem.is_bad(state)))
    }
}
