//! The input of a search: the question, the options with all limits, and the caller's control.

use crate::cancel::Cancel;
use crate::overapproximation::ladder::Ladder;
use crate::squeeze::checkpoint::{CheckpointWriter, StartPoint};
use crate::statistics::Engine;
use crate::tuning::Tuning;
use std::time::Duration;

/// The question of a search.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Question {
    /// Whether a bad state is reachable.
    Verify,
    /// Which visible states are reachable: T(R). The search ends when (T(R_k)) has converged.
    Visible,
    /// Which states are reachable: R. The search ends when (R_k) has converged, which may never
    /// happen.
    Reachable,
}

/// The options of a search.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The engine of the lower search. By default, the levels are sets of states if finite context
    /// reachability holds, and sets of tuples otherwise. If the states do not fit into the memory,
    /// tuples follow.
    pub engine: Option<Engine>,
    /// The overapproximations to compute.
    pub ladder: Ladder,
    /// Whether to use symmetry: one stored state stands for its orbit. No answer depends on it.
    pub symmetry: bool,
    /// The last level k to compute.
    pub max_contexts: Option<usize>,
    /// The last depth d of A_d to compute.
    pub max_depth: Option<usize>,
    /// The most tuples of an A_d, and the most states of a Z_z. If neither this nor one of the two
    /// limits before is given, k and d grow until there is an answer, and rungs with too many
    /// tuples are tried again with a higher limit. If the initial states alone exceed this limit,
    /// no deeper rungs are computed.
    pub max_tuples: Option<usize>,
    /// The most memory for the tables, in bytes. Evidence may take a third of that in addition.
    pub memory: usize,
    /// The most threads that work at a time. No answer depends on it.
    pub jobs: usize,
    /// The time limit.
    pub timeout: Option<Duration>,
    /// Whether evidence is made and checked.
    pub evidence: EvidencePolicy,
    /// How often limits are checked, and when an optimisation pays off.
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

/// Whether evidence is made and checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EvidencePolicy {
    /// The library makes the evidence, and the checker has to accept it. Without accepted evidence,
    /// there is no answer.
    Checked,
    /// The library makes the evidence, if the limits allow it. The checker does not check it.
    Unchecked,
    /// The library makes no certificate. A trace is evidence, but the checker does not check it.
    TraceOnly,
}

/// The caller's control of a search.
#[derive(Default)]
pub struct Control<'c> {
    /// The start of the search: the checkpoints of another run, or the initial states.
    pub start: StartPoint,
    /// The token that stops the search.
    pub cancel: Cancel,
    /// Stores checkpoints of the search.
    pub checkpoint_writer: Option<&'c dyn CheckpointWriter>,
}
