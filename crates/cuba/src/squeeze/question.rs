//! What to find out, how, and within which limits.

use crate::limits::Cancel;
use crate::overapproximation::ladder::Ladder;
use crate::squeeze::checkpoint::{Keeper, Start};
use crate::statistics::Engine;
use std::time::Duration;

/// What to find out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Question {
    /// Whether a bad state is reachable.
    Verify,
    /// T(R): until (T(R_k)) is known to have converged.
    Visible,
    /// R: until (R_k) has converged, which it may never do.
    Reachable,
}

/// How to go about it.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// What the levels are made of; if it is not said, that depends on finite context reachability, and on the memory.
    pub engine: Option<Engine>,
    /// Which overapproximations to try.
    pub ladder: Ladder,
    /// Whether to treat interchangeable threads as such. No answer depends on it.
    pub symmetry: bool,
    /// Where to stop below: the level with this k is the last one computed.
    pub max_contexts: Option<usize>,
    /// Where to stop above: A_d with this d is the last one computed.
    pub max_depth: Option<usize>,
    /// How many tuples an A_d may have, or states a Z_z. Without this and the two before, k and d are raised until there is an
    /// answer, and what had too many tuples is tried again with more. If it is named, and the initial states alone are more, there
    /// are no deeper ones.
    pub max_tuples: Option<usize>,
    /// How many bytes the tables may take.
    pub memory: usize,
    /// How many threads may work at a time. No answer depends on it.
    pub jobs: usize,
    /// When to give up.
    pub timeout: Option<Duration>,
    /// What to do about evidence.
    pub evidence: EvidencePolicy,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            engine: None,
            ladder: Ladder::All,
            symmetry: true,
            max_contexts: None,
            max_depth: None,
            max_tuples: None,
            memory: 4 << 30,
            jobs: 2,
            timeout: None,
            evidence: EvidencePolicy::Checked,
        }
    }
}

/// What to do about evidence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EvidencePolicy {
    /// Evidence is made, and has to be accepted by the checker. Without that, there is no answer.
    Checked,
    /// Evidence is made, if the limits allow it, and not checked.
    Unchecked,
    /// A trace is evidence, not checked; a certificate is not made.
    TraceOnly,
}

/// How a caller controls a search.
#[derive(Default)]
pub struct Control<'c> {
    /// What the search starts with: what another run has saved, or nothing.
    pub start: Start,
    /// Stops the search.
    pub cancel: Cancel,
    /// Saves what the search has, now and then.
    pub keeper: Option<&'c dyn Keeper>,
}
