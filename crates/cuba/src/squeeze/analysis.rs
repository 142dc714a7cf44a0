//! What a search has found: levels, rungs, and a conclusion (paper §3, §4, §6).

use crate::fcr::contexts::Fcr;
use crate::limits::Halt;
use crate::overapproximation::ceiling::Between;
use crate::overapproximation::ladder::Rung;
use crate::squeeze::level_store::LevelStore;
use crate::squeeze::observation_sequence::ObservationSequence;
use crate::squeeze::rung_computation::Invariant;
use crate::squeeze::rung_outcome::RungResult;
use crate::statistics::Statistics;
use crate::visible::count::Count;
use cpds::{Trace, VisibleState};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Debug, Formatter};

/// What a complete level adds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Level {
    /// k.
    pub k: usize,
    /// |R_k|, if states are counted.
    pub reachable: Option<Count>,
    /// |R_k \ R_{k-1}|, if states are counted.
    pub new_reachable: Option<Count>,
    /// How many tuples S_k has that no other one covers, if the level is made of tuples.
    pub tuples: Option<Count>,
    /// |T(R_k)|.
    pub visible: Count,
    /// |T(R_k) \ T(R_{k-1})|.
    pub new_visible: Count,
    /// Whether R_k or S_k grew. (The tables tell: the numbers may be too large to compare.)
    pub(super) grew: bool,
    /// Whether T(R_k) grew.
    pub(super) visible_grew: bool,
    /// How many visible states were not ruled out when the level was complete, and the last rung
    /// that ruled one out.
    pub upper: Option<(Count, Rung)>,
}

impl Level {
    /// What follows from these levels for (R_k) or (S_k), and for (T(R_k)).
    pub fn sequences(levels: &[Level]) -> (ObservationSequence, ObservationSequence) {
        let mut sequences = (ObservationSequence::default(), ObservationSequence::default());
        for level in levels.iter().skip(1) {
            sequences.0.observe(level.grew);
            sequences.1.observe(level.visible_grew);
        }
        sequences
    }
}

/// What a search has found.
pub struct Analysis<'a> {
    /// Each complete level.
    pub levels: Vec<Level>,
    /// R_k or S_k, and T(R_k); there may be further levels.
    pub level_store: LevelStore<'a>,
    /// What the levels took.
    pub statistics: Statistics,
    /// What is known of finite context reachability; nothing if the memory is too small to find the
    /// pumping heads.
    pub fcr: Option<Fcr>,
    /// The rungs that were computed or given up.
    pub rungs: Vec<RungResult>,
    /// For each rung, the proof that it has all that is reachable, if there is one.
    pub(super) invariants: Vec<Option<Invariant<'a>>>,
    /// What is known of (R_k) or (S_k), which may collapse later.
    pub lower_sequence: ObservationSequence,
    /// What is known of (T(R_k)).
    pub visible_sequence: ObservationSequence,
    /// Where (R_k) collapses, as far as it is known.
    pub collapse_of_states: Option<usize>,
    /// The visible states that are neither reached nor ruled out, if there is no answer.
    pub between: Option<Between>,
    /// The conclusion.
    pub conclusion: Conclusion,
}

/// What follows from the search. It becomes an answer with its evidence
/// ([`answer`](crate::answer())).
#[derive(Clone, PartialEq, Eq, Debug)]
#[must_use]
pub enum Conclusion {
    /// No bad state is reachable, for any number of contexts.
    Safe(Proof),
    /// A bad state is reachable; the trace has the least number of contexts.
    Unsafe {
        /// The path to it.
        trace: Trace,
        /// The pattern it fits, as a position in [`Property::bad`](cpds::Property::bad).
        pattern: usize,
    },
    /// The sequence of the question has converged.
    Converged(Proof),
    /// No answer, never a guess.
    Unknown(Reason),
    /// Two searches contradict each other: there is a mistake in this library.
    Contradiction(Contradiction),
}

impl Conclusion {
    /// Whether there is no answer, although one may exist within other limits.
    pub(super) fn is_open(&self) -> bool {
        matches!(self, Conclusion::Unknown(reason) if !matches!(reason, Reason::LongTrace { .. }))
    }
}

/// Why the answer holds for every number of contexts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Proof {
    /// What these rungs have in common, mostly one alone, has no bad state; or, if T(R) was asked
    /// for, it is T(R_k).
    Bounded(Vec<Rung>),
    /// R_{k-1} = R_k (Scheme 1), or S_{k-1} = S_k.
    LowerCollapsed,
}

/// Why there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Reason {
    /// The limit on contexts is reached.
    ContextBound,
    /// The tables do not fit into their memory.
    Memory,
    /// A bad state is reachable with this many contexts and no fewer, but its trace is too long to
    /// be written out.
    LongTrace {
        /// How many contexts.
        contexts: usize,
    },
    /// The caller cancelled the search.
    Interrupted,
    /// There was no time left.
    TimeOut,
    /// Another process that had a share of the states is gone.
    Lost,
}

impl From<Halt> for Reason {
    fn from(why: Halt) -> Self {
        match why {
            Halt::Interrupted | Halt::Superseded => Reason::Interrupted,
            Halt::TimeOut => Reason::TimeOut,
            Halt::Memory => Reason::Memory,
            Halt::Lost => Reason::Lost,
        }
    }
}

/// What two searches contradict each other in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Contradiction {
    /// This state was reached, and ruled out.
    RuledOut {
        /// Which state.
        state: VisibleState,
        /// What ruled it out.
        rung: Rung,
        /// The trace to it and the pattern that it fits, if it is a bad state.
        trace: Option<(Trace, usize)>,
    },
    /// States and tuples have different visible states for this k.
    Levels {
        /// k.
        k: usize,
    },
}

impl Analysis<'_> {
    /// The last level that is complete, and has no bad state if the question is about them.
    pub fn k(&self) -> usize {
        self.levels.len().saturating_sub(1)
    }

    /// Whether there is no answer because new states may still become visible.
    pub fn is_open(&self) -> bool {
        self.conclusion.is_open() && self.visible_sequence.collapse().is_none()
    }
}

impl Debug for Analysis<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Analysis").field("k", &self.k()).field("conclusion", &self.conclusion).finish_non_exhaustive()
    }
}
