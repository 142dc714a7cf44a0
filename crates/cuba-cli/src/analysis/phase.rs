//! The phase of a run, and how a limit ends it.

use crate::analysis::limits::RunLimits;
use cuba::{EvidencePhase, Halt};

/// A part of a run that can take a long time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Phase {
    Starting,
    Reading,
    Lowering,
    Restoring,
    Joining,
    Searching,
    MakingEvidence,
    CheckingEvidence,
    Writing,
}

impl From<EvidencePhase> for Phase {
    fn from(phase: EvidencePhase) -> Self {
        match phase {
            EvidencePhase::Making => Phase::MakingEvidence,
            EvidencePhase::Checking => Phase::CheckingEvidence,
        }
    }
}

/// Why a run ended before it had an answer, and in which phase.
#[derive(Clone, Debug)]
pub(crate) struct RunEnd {
    pub(crate) why: Halt,
    pub(crate) phase: Phase,
    pub(crate) limits: RunLimits,
}
