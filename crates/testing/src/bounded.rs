//! R_k within bounds, for many systems.
//!
//! It computes the same sets as the [oracle](crate::oracle), but explores each context only once,
//! and stops before it has too many states.
//!
//! # What may not be concluded
//! Stacks higher than a bound are not explored. So from some k on, the result may be only a part of
//! R_k; `exact` tells from which one.

use cpds::{Cpds, GlobalState, Problem, VisibleState};
use std::collections::{BTreeSet, HashSet, VecDeque};

/// The limits of a computation.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The largest k.
    pub contexts: usize,
    /// The height of the highest stack.
    pub height: usize,
    /// The largest number of states, all levels together.
    pub states: usize,
}

/// The levels R_0, R_1, … that were computed.
#[derive(Clone, Debug)]
pub struct Bounded {
    /// The new states, for k = 0, 1, …
    pub new: Vec<BTreeSet<GlobalState>>,
    /// The new visible states.
    pub new_visible: Vec<BTreeSet<VisibleState>>,
    /// The number of levels that are exactly R_k. Each further level is a part of R_k.
    pub exact: usize,
}

/// Computes R_0, R_1, … until a level has no new states, or until a bound is reached.
pub fn levels(system: &Cpds, bounds: Bounds) -> Bounded {
    let initial: BTreeSet<GlobalState> = system.initial().iter().cloned().collect();
    let mut known: HashSet<GlobalState> = initial.iter().cloned().collect();
    let mut visible: HashSet<VisibleState> = HashSet::new();
    let mut levels = Bounded { new: Vec::new(), new_visible: Vec::new(), exact: 0 };
    let (mut next, mut is_exact) = (initial, true);
    loop {
        let seen: BTreeSet<_> =
            next.iter().map(GlobalState::visible).filter(|state| !visible.contains(state)).collect();
        visible.extend(seen.iter().cloned());
        levels.new_visible.push(seen);
        levels.new.push(next);
        levels.exact += usize::from(is_exact);
        let k = levels.new.len() - 1;
        if k == bounds.contexts || levels.new[k].is_empty() {
            return levels;
        }
        next = BTreeSet::new();
        for thread in system.threads() {
            let mut reached: HashSet<GlobalState> = HashSet::new();
            let mut open: VecDeque<GlobalState> = levels.new[k].iter().cloned().collect();
            while let Some(state) = open.pop_front() {
                for step in system.steps_of(thread, &state) {
                    if step.state.stacks[thread.index()].height() > bounds.height {
                        is_exact = false;
                    } else if !known.contains(&step.state) && reached.insert(step.state.clone()) {
                        // The successors of a known state are computed already, or this loop
                        // starts from it.
                        open.push_back(step.state);
                    }
                }
                if known.len() + reached.len() > bounds.states {
                    return levels;
                }
            }
            next.extend(reached);
        }
        known.extend(next.iter().cloned());
    }
}

impl Bounded {
    /// The number of the last level.
    pub fn k(&self) -> usize {
        self.new.len() - 1
    }

    /// Whether level k is exactly R_k.
    pub fn is_exact(&self, k: usize) -> bool {
        k < self.exact
    }

    /// The k at which (R_k) collapses; `None` if the levels do not show it.
    pub fn collapse(&self) -> Option<usize> {
        let closed = self.new.last().is_some_and(BTreeSet::is_empty) && self.exact == self.new.len();
        closed.then(|| self.k() - 1)
    }

    /// The number of states up to level k: |R_k| if the level is exact.
    pub fn reachable_count(&self, k: usize) -> usize {
        self.new[..=k].iter().map(BTreeSet::len).sum()
    }

    /// The number of visible states up to level k: |T(R_k)| if the level is exact.
    pub fn visible_count(&self, k: usize) -> usize {
        self.new_visible[..=k].iter().map(BTreeSet::len).sum()
    }

    /// The first of these levels that has a bad state.
    pub fn first_violation(&self, problem: &Problem) -> Option<usize> {
        let is_bad = |state: &VisibleState| problem.property().violation(state).is_some();
        self.new_visible.iter().position(|states| states.iter().any(is_bad))
    }
}
