//! An answer that the search has found, while its evidence is made, checked and written.
//!
//! # What may not be concluded
//! Without evidence that was checked there is no answer: the verdict is `unknown`, with exit code 5.
//! But a question with a proof is not *open*. So if a limit ends the run in between, the verdict
//! says what was found, what ended the run, and what to do.

use crate::analysis::phase::{Ended, Phase};

/// An answer that was found.
#[derive(Clone)]
pub(crate) struct Finding {
    /// The verdict that would follow: `safe`, `unsafe` or `converged`.
    pub(crate) verdict: &'static str,
    /// What the proof rests on; nothing for a trace.
    pub(crate) proved_by: Option<String>,
    /// The number of contexts of the trace, if it is one.
    pub(crate) contexts: Option<usize>,
    pub(crate) check: Check,
    /// What was found, in words.
    pub(crate) words: String,
}

/// How far the check of the evidence is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Check {
    Pending,
    Passed,
    /// The user does not want it.
    Skipped,
}

/// An answer that was found, and what ended the run before it could be printed.
#[derive(Clone)]
pub(crate) struct Unconfirmed<'a> {
    pub(crate) finding: &'a Finding,
    pub(crate) ended: Ended,
}

impl<'a> Unconfirmed<'a> {
    /// A limit that was reached just at the end of the search has ended the next phase.
    pub(crate) fn new(finding: &'a Finding, ended: Ended) -> Self {
        let phase = if ended.phase == Phase::Searching { Phase::MakingEvidence } else { ended.phase };
        Unconfirmed { finding, ended: Ended { phase, ..ended } }
    }
}
