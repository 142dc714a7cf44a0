//! What to find out, how, and within which limits.

use crate::limits::Cancel;
use crate::overapproximation::ladder::Ladder;
use crate::squeeze::checkpoint::{CheckpointWriter, StartPoint};
use crate::statistics::Engine;
use crate::tuning::Tuning;
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
    /// What the levels are made of. By default, states where finite context reachability holds,
    /// then tuples if the states do not fit into the memory; otherwise tuples.
    pub engine: Option<Engine>,
    /// Which overapproximations to try.
    pub ladder: Ladder,
    /// Whether one state stands for all that differ by interchangeable threads. No answer depends
    /// on it.
    pub symmetry: bool,
    /// The last level k to compute.
    pub max_contexts: Option<usize>,
    /// The last depth d of A_d to compute.
    pub max_depth: Option<usize>,
    /// How many tuples an A_d may have, or states a Z_z. Without this and the two limits before, k
    /// and d grow until there is an answer, and rungs that had too many tuples are tried again with
    /// more. With this limit, no deeper rungs are computed once the initial states alone exceed it.
    pub max_tuples: Option<usize>,
    /// How many bytes the tables may take. Evidence is made within a third of that beyond it.
    pub memory: usize,
    /// How many threads may work at a time. No answer depends on it.
    pub jobs: usize,
    /// When to give up.
    pub timeout: Option<Duration>,
    /// What to do about evidence.
    pub evidence: EvidencePolicy,
    /// How much work is done at a time. No answer depends on it.
    pub tuning: Tuning,
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
            tuning: Tuning::default(),
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
    pub start: StartPoint,
    /// Stops the search.
    pub cancel: Cancel,
    /// Saves what the search has, now and then.
    pub checkpoint_writer: Option<&'c dyn CheckpointWriter>,
}
