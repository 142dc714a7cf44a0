//! What a rung of the ladder came to: a bound on T(R), or why there is none.

use crate::overapproximation::ladder::Rung;
use crate::visible::count::Count;
use serde::{Deserialize, Serialize};

/// A rung that was computed, or given up.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RungResult {
    /// Which one.
    pub rung: Rung,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a rung.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Outcome {
    /// An overapproximation.
    Bound(Bound),
    /// It has more tuples than this; or states, if stacks are cut off.
    TooManyTuples(usize),
    /// The initial states alone are more tuples or states than this.
    TooManyInitial(usize),
    /// It takes too much memory.
    TooLarge,
}

/// An overapproximation of T(R).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Bound {
    /// How many visible states it has.
    pub visible: Count,
    /// How many it was the first to rule out.
    pub ruled_out: Count,
    /// How many are left after it.
    pub left: Count,
    /// For Z: |G ∩ Z|, and the size of the tighter set of generators, targets of pops taken from Z.
    pub generators: Option<(Count, Count)>,
    /// Whether it is known to be T(R): no language was widened.
    pub is_exact: bool,
    /// How many sorted states it has.
    pub(crate) sorted: usize,
    /// How many sorted states are left after it.
    pub(crate) sorted_left: usize,
    /// Whether it alone has no bad state, if that is the question.
    pub(crate) is_safe: bool,
}

impl RungResult {
    /// The bound, if the rung was computed.
    pub fn bound(&self) -> Option<&Bound> {
        if let Outcome::Bound(bound) = &self.outcome { Some(bound) } else { None }
    }

    /// Whether it ruled out a state that no rung before it had ruled out.
    pub fn rules_out(&self) -> bool {
        self.bound().is_some_and(|bound| bound.ruled_out != Count::ZERO)
    }

    /// How many visible states are left after it, and the last rung that ruled one out; `before` is
    /// the same before this rung.
    #[must_use]
    pub fn left_after(&self, before: Option<(Count, Rung)>) -> Option<(Count, Rung)> {
        match self.bound() {
            Some(bound) if before.is_none() || self.rules_out() => Some((bound.left, self.rung)),
            _ => before,
        }
    }
}
