//! What is known of a system without any engine.

use cpds::{Problem, VisibleState};
use cpds_testing::bounded::{self, Bounded, Bounds};
use cpds_testing::contexts::{FiniteLevels, finite_levels};
use cpds_testing::oracle::finite_contexts_within;
use cpds_testing::overapproximation::overapproximation;
use cpds_testing::shortest::fewest_steps;
use std::collections::BTreeSet;

/// How far the oracle goes: deep enough for what random systems do, and a few milliseconds.
pub const BOUNDS: Bounds = Bounds { contexts: 12, height: 9, states: 400 };

/// How many states a context may have, to find out whether it is finite.
const CONTEXT: usize = 300;

/// How many places there may be on the way to a bad state, to find out how few steps it takes.
const PLACES: usize = 5000;

/// What the oracle knows.
#[derive(Clone, Debug)]
pub struct Truth {
    /// R_k and T(R_k), as far as they go.
    pub levels: Bounded,
    /// The least number of contexts with a bad state, as far as the levels go.
    pub bad: Option<usize>,
    /// The fewest steps to a bad state with so many contexts, if that is soon found out.
    pub steps: Option<usize>,
    /// Whether the condition of Thm. 17 holds, if it is soon found out.
    pub theorem_17: Option<bool>,
    /// Which R_k are finite, as far as that is soon found out.
    pub finite: FiniteLevels,
    /// Z, straight from its definition.
    pub z: BTreeSet<VisibleState>,
}

impl Truth {
    /// By the oracle.
    pub fn of(problem: &Problem) -> Truth {
        Self::within(problem, BOUNDS)
    }

    /// The same, within other bounds.
    pub fn within(problem: &Problem, bounds: Bounds) -> Truth {
        let system = problem.system();
        let levels = bounded::levels(system, bounds);
        let mut threads = system.threads();
        let theorem_17 =
            threads.try_fold(true, |all, thread| Some(all && finite_contexts_within(system, thread, CONTEXT)?));
        let finite = finite_levels(system, bounds.contexts, CONTEXT);
        let bad = levels.first_violation(problem);
        let steps = bad.and_then(|contexts| fewest_steps(problem, contexts, PLACES));
        Truth { bad, steps, levels, theorem_17, finite, z: overapproximation(system).z }
    }

    /// Whether finite context reachability may hold, or not hold, for all that is known.
    pub fn may_be_finite(&self, holds: bool) -> bool {
        if holds { !self.finite.then_infinite } else { !self.finite.is_all && self.theorem_17 != Some(true) }
    }

    /// Whether the least number of contexts is known to be this one, or unknown.
    pub fn may_be_first_bad(&self, contexts: usize) -> bool {
        match self.bad {
            // What was seen is reachable; with fewer, if something was left out.
            Some(bad) => bad == contexts || contexts < bad && !self.levels.is_exact(contexts),
            None => self.levels.collapse().is_none() && !self.levels.is_exact(contexts),
        }
    }

    /// Everything that was seen.
    pub fn visible(&self) -> impl Iterator<Item = &VisibleState> {
        self.levels.new_visible.iter().flatten()
    }
}
