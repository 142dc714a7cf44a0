//! An answer of the search before its evidence is made, checked and written.
//!
//! # What may not be concluded
//!
//! Without checked evidence there is no answer: the verdict is `unknown`, with exit code 5. But the
//! question is not *open* either. So if a limit ends the run at this point, the verdict names the
//! answer of the search, the limit, and a remedy.

use crate::analysis::phase::{Phase, RunEnd};

/// An answer of the search.
#[derive(Clone)]
pub(crate) struct Finding {
    /// The verdict that checked evidence would give: `safe`, `unsafe` or `converged`.
    pub(crate) verdict: &'static str,
    /// The basis of the proof. A trace has none.
    pub(crate) proved_by: Option<String>,
    /// The number of contexts of the trace, if the evidence is a trace.
    pub(crate) contexts: Option<usize>,
    pub(crate) check: Check,
    /// The answer in words.
    pub(crate) words: String,
}

/// The state of the check of the evidence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Check {
    Pending,
    Passed,
    /// The user has skipped the check.
    Skipped,
}

/// An answer of the search, and what ended the run before it could be printed.
#[derive(Clone)]
pub(crate) struct Unconfirmed<'a> {
    pub(crate) finding: &'a Finding,
    pub(crate) ended: RunEnd,
}

impl<'a> Unconfirmed<'a> {
    /// Combines a finding with the end of the run. A limit that is reached at the very end of the
    /// search counts for the next phase.
    pub(crate) fn new(finding: &'a Finding, ended: RunEnd) -> Self {
        let phase = if ended.phase == Phase::Searching { Phase::MakingEvidence } else { ended.phase };
        Unconfirmed { finding, ended: RunEnd { phase, ..ended } }
    }
}
