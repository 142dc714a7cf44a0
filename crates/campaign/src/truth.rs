//! The truth about a system: results of the oracle, computed without any engine.

use cpds::{Problem, VisibleState};
use cpds_testing::bounded::{self, Bounded, Bounds};
use cpds_testing::contexts::{FiniteLevels, finite_levels};
use cpds_testing::oracle::finite_contexts_within;
use cpds_testing::overapproximation::overapproximation;
use cpds_testing::shortest::fewest_steps;
use std::collections::BTreeSet;

/// The limits of the oracle: enough for most random systems, in a few milliseconds.
pub const BOUNDS: Bounds = Bounds { contexts: 12, height: 9, states: 400 };

/// The limit on states of a context, in the test whether it is finite.
const CONTEXT: usize = 300;

/// The limit on triples in the search for a shortest path to a bad state.
const TRIPLES: usize = 5000;

/// The results of the oracle.
#[derive(Clone, Debug)]
pub struct Truth {
    /// R_k and T(R_k), up to the last computed level.
    pub levels: Bounded,
    /// The first of these levels that has a bad state.
    pub bad: Option<usize>,
    /// The length of a shortest path to a bad state with this number of contexts, if it was found
    /// within the limit.
    pub steps: Option<usize>,
    /// Whether the condition of Thm. 17 holds, if this was found within the limit.
    pub theorem_17: Option<bool>,
    /// Which R_k are finite, up to the limit.
    pub finite: FiniteLevels,
    /// Z, directly from its definition.
    pub z: BTreeSet<VisibleState>,
}

impl Truth {
    /// Computes the truth with the oracle.
    pub fn of(problem: &Problem) -> Truth {
        Self::within(problem, BOUNDS)
    }

    /// Computes the truth with the oracle, within other bounds.
    pub fn within(problem: &Problem, bounds: Bounds) -> Truth {
        let system = problem.system();
        let levels = bounded::levels(system, bounds);
        let mut threads = system.threads();
        let theorem_17 =
            threads.try_fold(true, |all, thread| Some(all && finite_contexts_within(system, thread, CONTEXT)?));
        let finite = finite_levels(system, bounds.contexts, CONTEXT);
        let bad = levels.first_violation(problem);
        let steps = bad.and_then(|contexts| fewest_steps(problem, contexts, TRIPLES));
        Truth { bad, steps, levels, theorem_17, finite, z: overapproximation(system).z }
    }

    /// Whether this answer to finite context reachability does not contradict the oracle.
    pub fn may_be_finite(&self, holds: bool) -> bool {
        if holds { !self.finite.then_infinite } else { !self.finite.is_all && self.theorem_17 != Some(true) }
    }

    /// Whether this least number of contexts with a bad state does not contradict the oracle.
    pub fn may_be_first_bad(&self, contexts: usize) -> bool {
        match self.bad {
            // The oracle's bad state is reachable. Fewer contexts are possible if the oracle left
            // states out.
            Some(bad) => bad == contexts || contexts < bad && !self.levels.is_exact(contexts),
            None => self.levels.collapse().is_none() && !self.levels.is_exact(contexts),
        }
    }

    /// Returns all visible states that the oracle found.
    pub fn visible(&self) -> impl Iterator<Item = &VisibleState> {
        self.levels.new_visible.iter().flatten()
    }
}
