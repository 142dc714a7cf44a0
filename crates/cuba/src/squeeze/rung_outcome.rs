//! The outcome of a rung: an upper bound on T(R), or why there is none.

use crate::overapproximation::ladder::Rung;
use crate::visible::count::Count;
use serde::{Deserialize, Serialize};

/// A rung, computed or given up, with its outcome.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RungResult {
    /// The rung.
    pub rung: Rung,
    /// Its outcome.
    pub outcome: Outcome,
}

/// The outcome of a rung.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Outcome {
    /// An overapproximation.
    Bound(Bound),
    /// It has more tuples than this limit, or more states, if stacks are cut off.
    TooManyTuples(usize),
    /// The initial states alone exceed this limit.
    TooManyInitial(usize),
    /// It does not fit into the memory.
    TooLarge,
}

/// An overapproximation of T(R).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Bound {
    /// The number of its visible states.
    pub visible: Count,
    /// The number of visible states that it rules out, and that no rung before it has ruled out.
    pub ruled_out: Count,
    /// The number of visible states that remain after it.
    pub left: Count,
    /// For Z, |G ∩ Z|, and the number of pop targets in Z, which are a tighter set of generators.
    pub generators: Option<(Count, Count)>,
    /// Whether it is T(R), because widening has changed no language.
    pub is_exact: bool,
    /// The number of its sorted visible states.
    pub(crate) sorted: usize,
    /// The number of sorted visible states that remain after it.
    pub(crate) sorted_left: usize,
    /// Whether it alone has no bad state, if the question is about bad states.
    pub(crate) is_safe: bool,
}

impl RungResult {
    /// Returns the bound, if the rung was computed.
    pub fn bound(&self) -> Option<&Bound> {
        if let Outcome::Bound(bound) = &self.outcome { Some(bound) } else { None }
    }

    /// Whether it ruled out a state that no rung before it had ruled out.
    pub fn rules_out(&self) -> bool {
        self.bound().is_some_and(|bound| bound.ruled_out != Count::ZERO)
    }

    /// Returns the number of visible states that remain after this rung, and the last rung that
    /// ruled out a state. `before` is this pair before the rung.
    #[must_use]
    pub fn left_after(&self, before: Option<(Count, Rung)>) -> Option<(Count, Rung)> {
        match self.bound() {
            Some(bound) if before.is_none() || self.rules_out() => Some((bound.left, self.rung)),
            _ => before,
        }
    }
}
