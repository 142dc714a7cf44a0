//! R_k within bounds, for many systems: what the [oracle](crate::oracle) has, but no more than so
//! many states, and each context once.
//!
//! # What may not be concluded
//! Stacks higher than a bound are not explored, so that from some k on there is only a part of R_k;
//! and before there are too many states, it ends.

use cpds::{Cpds, GlobalState, Problem, VisibleState};
use std::collections::{BTreeSet, HashSet, VecDeque};

/// How far to go.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The last k.
    pub contexts: usize,
    /// The highest stack.
    pub height: usize,
    /// The most states of all levels.
    pub states: usize,
}

/// R_0, R_1, … as far as it went.
#[derive(Clone, Debug)]
pub struct Bounded {
    /// What is new, for k = 0, 1, …
    pub new: Vec<BTreeSet<GlobalState>>,
    /// What is newly visible.
    pub new_visible: Vec<BTreeSet<VisibleState>>,
    /// So many of these levels are exactly R_k; of the others, it is a part.
    pub exact: usize,
}

/// R_0, R_1, …, until there are no more, or a bound is reached.
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
                        // A state that is known has had this context, or is one of those that we
                        // start from.
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
    /// The last k.
    pub fn k(&self) -> usize {
        self.new.len() - 1
    }

    /// Whether level k is exactly R_k.
    pub fn is_exact(&self, k: usize) -> bool {
        k < self.exact
    }

    /// The k at which (R_k) collapses, if that is known.
    pub fn collapse(&self) -> Option<usize> {
        let closed = self.new.last().is_some_and(BTreeSet::is_empty) && self.exact == self.new.len();
        closed.then(|| self.k() - 1)
    }

    /// |R_k|, or how many of it there are.
    pub fn reachable_count(&self, k: usize) -> usize {
        self.new[..=k].iter().map(BTreeSet::len).sum()
    }

    /// |T(R_k)|, or how many of it there are.
    pub fn visible_count(&self, k: usize) -> usize {
        self.new_visible[..=k].iter().map(BTreeSet::len).sum()
    }

    /// The least k with a bad state, as far as it is known.
    pub fn first_violation(&self, problem: &Problem) -> Option<usize> {
        let is_bad = |state: &VisibleState| problem.property().violation(state).is_some();
        self.new_visible.iter().position(|states| states.iter().any(is_bad))
    }
}
