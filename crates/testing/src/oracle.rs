//! The oracle: R_k and T(R_k), directly from the definitions (paper §2.3 and the proof of Thm. 17).
//!
//! Slow and obviously correct: sets of whole states, explored breadth-first. The oracle shares only
//! the step relation with the engines. Never optimised.
//!
//! # What may not be concluded
//! R_k may be infinite, so stacks higher than a given bound are not explored. `exact` tells whether
//! a state was left out. If none was left out, the sets are exactly R_k and T(R_k); otherwise they
//! are subsets.

use cpds::{Action, Cpds, GlobalState, Problem, SharedState, Stack, ThreadId, VisibleState};
use std::collections::{BTreeSet, VecDeque};

/// R_0 ⊆ R_1 ⊆ …, up to the last computed level.
pub struct Levels {
    /// R_k, for k = 0, 1, …
    pub reachable: Vec<BTreeSet<GlobalState>>,
    /// Whether the sets are exact: no state was left out because a stack was too high.
    pub exact: bool,
}

/// Computes R_0, …, R_max_k, without states that have a stack higher than `max_height`.
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

/// Computes the states that `thread` alone reaches from `start` with stacks up to this height, and
/// whether these are all.
pub fn one_context(
    system: &Cpds,
    thread: ThreadId,
    start: &GlobalState,
    max_height: usize,
) -> (BTreeSet<GlobalState>, bool) {
    one_context_of(system, thread, start, max_height, usize::MAX).expect("there is no limit")
}

/// Like [`one_context`]; `None` if there are more than `max_states` states.
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
/// Let p be the number of thread-visible states (q,σ) that a push starts from. If a run from height
/// at most one builds a stack higher than 1 + p, take for each height above one the last push to
/// it. Two of these pushes start from the same (q,σ), so ⟨q|σ⟩ →* ⟨q|σw⟩ with w ≠ ε, and the thread
/// can repeat this without end.
pub fn finite_contexts(system: &Cpds, thread: ThreadId) -> bool {
    finite_contexts_within(system, thread, usize::MAX).expect("there is no limit")
}

/// Like [`finite_contexts`]; `None` if a context has more than `max_states` states.
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
    /// Returns T(R_k).
    pub fn visible(&self, k: usize) -> BTreeSet<VisibleState> {
        self.reachable[k].iter().map(GlobalState::visible).collect()
    }

    /// Returns |R_k| for each k.
    pub fn reachable_counts(&self) -> Vec<usize> {
        self.reachable.iter().map(BTreeSet::len).collect()
    }

    /// Returns |T(R_k)| for each k.
    pub fn visible_counts(&self) -> Vec<usize> {
        (0..self.reachable.len()).map(|k| self.visible(k).len()).collect()
    }

    /// Returns the least k for which R_k has a bad state.
    pub fn first_violation(&self, problem: &Problem) -> Option<usize> {
        self.reachable.iter().position(|states| states.iter().any(|state| problem.is_bad(state)))
    }
}
