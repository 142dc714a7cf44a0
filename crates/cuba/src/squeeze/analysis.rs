//! The results of a search: levels, rungs, and a conclusion (paper §3, §4, §6).

use crate::cancel::Halt;
use crate::fcr::finite_context_reachability::Fcr;
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
use std::fmt::{self, Debug, Display, Formatter};

/// A complete level.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Level {
    /// k.
    pub k: usize,
    /// |R_k|, if states are counted.
    pub reachable: Option<Count>,
    /// |R_k \ R_{k-1}|, if states are counted.
    pub new_reachable: Option<Count>,
    /// The number of tuples of S_k that no other tuple covers, if the levels are sets of tuples.
    pub tuples: Option<Count>,
    /// |T(R_k)|.
    pub visible: Count,
    /// |T(R_k) \ T(R_{k-1})|.
    pub new_visible: Count,
    /// Whether R_k or S_k grew. (The tables decide this, since numbers may be too large to
    /// compare.)
    pub(super) grew: bool,
    /// Whether T(R_k) grew.
    pub(super) visible_grew: bool,
    /// The number of visible states that remained when the level was complete, and the last rung
    /// that ruled out a state.
    pub upper: Option<(Count, Rung)>,
}

impl Level {
    /// Returns the sequence (R_k) or (S_k), and the sequence (T(R_k)), for these levels.
    pub fn sequences(levels: &[Level]) -> (ObservationSequence, ObservationSequence) {
        let mut sequences = (ObservationSequence::default(), ObservationSequence::default());
        for level in levels.iter().skip(1) {
            sequences.0.observe(level.grew);
            sequences.1.observe(level.visible_grew);
        }
        sequences
    }
}

/// The results of a search.
pub struct Analysis<'a> {
    /// Each complete level.
    pub levels: Vec<Level>,
    /// R_k or S_k, and T(R_k). There may be further levels.
    pub level_store: LevelStore<'a>,
    /// The effort for the levels.
    pub statistics: Statistics,
    /// The result for finite context reachability. `None` if the memory is too small to find the
    /// pumping heads.
    pub fcr: Option<Fcr>,
    /// The results of the rungs that were computed or given up.
    pub rungs: Vec<RungResult>,
    /// For each rung, the invariant that proves it to contain T(R), if the rung was computed.
    pub(super) invariants: Vec<Option<Invariant<'a>>>,
    /// The sequence (R_k) or (S_k). (S_k) may collapse later than (R_k).
    pub lower_sequence: ObservationSequence,
    /// The sequence (T(R_k)).
    pub visible_sequence: ObservationSequence,
    /// The k at which (R_k) collapses, if this is decided.
    pub collapse_of_states: Option<usize>,
    /// The visible states that are neither reached nor ruled out, if there is no answer.
    pub between: Option<Between>,
    /// The conclusion.
    pub conclusion: Conclusion,
}

/// The conclusion of a search. With evidence, it becomes an answer ([`answer`](crate::answer())).
#[derive(Clone, PartialEq, Eq, Debug)]
#[must_use]
pub enum Conclusion {
    /// No bad state is reachable, for any number of contexts.
    Safe(Proof),
    /// A bad state is reachable; the trace has the least number of contexts.
    Unsafe {
        /// The path to a bad state.
        trace: Trace,
        /// The pattern that the bad state fits, as a position in
        /// [`Property::bad`](cpds::Property::bad).
        pattern: usize,
    },
    /// The sequence of the question has converged.
    Converged(Proof),
    /// No answer, never a guess.
    Unknown(Reason),
    /// Two searches contradict each other, so this library contains a mistake.
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
    /// The intersection of these rungs, often only one, has no bad state. If the question is about
    /// T(R), the intersection is T(R_k).
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
        /// The number of contexts.
        contexts: usize,
    },
    /// The caller cancelled the search.
    Interrupted,
    /// The time limit is reached.
    TimeOut,
    /// Another process, which stored a share of the states, is lost.
    Lost,
}

impl Display for Reason {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Reason::ContextBound => f.pad("the limit on contexts is reached"),
            Reason::LongTrace { contexts } => {
                write!(f, "a bad state is reachable with {contexts} contexts, but its trace is too long")
            }
            Reason::Memory => Display::fmt(&Halt::Memory, f),
            Reason::Interrupted => Display::fmt(&Halt::Interrupted, f),
            Reason::TimeOut => Display::fmt(&Halt::TimeOut, f),
            Reason::Lost => Display::fmt(&Halt::Lost, f),
        }
    }
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

/// A contradiction between two searches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Contradiction {
    /// One search has reached a state, and the other search has ruled it out.
    RuledOut {
        /// The state.
        state: VisibleState,
        /// The rung that ruled it out.
        rung: Rung,
        /// The trace to a bad state and the pattern that it fits, if the lower search has found
        /// one.
        trace: Option<(Trace, usize)>,
    },
    /// The levels of states and the levels of tuples have different visible states for this k.
    Levels {
        /// k.
        k: usize,
    },
}

impl Analysis<'_> {
    /// Returns the last complete level k. It contains no bad state: for an unsafe answer, k is one
    /// less than the number of contexts of the trace.
    pub fn k(&self) -> usize {
        self.levels.len().saturating_sub(1)
    }

    /// Whether there is no answer because a further level may have new visible states.
    pub fn is_open(&self) -> bool {
        self.conclusion.is_open() && self.visible_sequence.collapse().is_none()
    }
}

impl Debug for Analysis<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Analysis").field("k", &self.k()).field("conclusion", &self.conclusion).finish_non_exhaustive()
    }
}
