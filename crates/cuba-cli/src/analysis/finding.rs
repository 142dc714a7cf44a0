//! An answer that the search has found, while the evidence for it is made, checked and written down.
//!
//! # What may not be concluded
//! Without evidence that was checked there is no answer: the verdict is `unknown`, with exit code 5. But a question with a proof is not *open*.
//! So if a limit ends the run at this point, the verdict says what was found, what ended the run, and what to do.

use crate::running::limits::{Ended, Phase};
use crate::verbs::exploration::levels;
use crate::verbs::reach;
use crate::verbs::show::plural;
use cuba::{Analysis, Conclusion, Proof, Question};
use cuba::{Halt, names};

/// An answer that was found.
#[derive(Clone)]
pub(crate) struct Found {
    /// What the verdict would be: `safe`, `unsafe` or `converged`.
    pub(crate) verdict: &'static str,
    /// What the proof rests on; nothing for a trace.
    pub(crate) proved_by: Option<String>,
    /// The number of contexts of the trace, if it is one.
    pub(crate) contexts: Option<usize>,
    pub(crate) check: Check,
    words: String,
}

/// How far the check of the evidence is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Check {
    Pending,
    Passed,
    /// The user does not want it.
    Skipped,
}

impl Found {
    /// What the search has found, if that is an answer.
    pub(crate) fn of(question: Question, analysis: &Analysis<'_>, check: Check) -> Option<Self> {
        let (k, s) = (analysis.k(), levels(analysis));
        let why = |proof: &Proof, alone: &str| match proof {
            Proof::LowerCollapsed => format!("{s}_{} = {s}_{k}", k - 1),
            Proof::Bounded(rungs) => format!("{} {alone}", names(rungs)),
        };
        let (verdict, contexts, words) = match &analysis.conclusion {
            Conclusion::Safe(proof) => {
                let why = why(proof, "has no bad state");
                ("safe", None, format!("a proof was found ({why}) that no bad state is reachable"))
            }
            Conclusion::Converged(proof) => {
                let why = why(proof, "has no other visible state");
                let known = reach::known(question, analysis).replace("; ", ", and ");
                ("converged", None, format!("a proof was found ({why}) that {known}"))
            }
            Conclusion::Unsafe { trace, .. } => {
                let contexts = trace.contexts.len();
                let words = plural(contexts, "context");
                let words = format!("a trace was found to a bad state with {words}, and with no fewer");
                ("unsafe", Some(contexts), words)
            }
            Conclusion::Unknown(_) | Conclusion::Contradiction(_) => return None,
        };
        Some(Found { verdict, proved_by: analysis.proved_by(), contexts, check, words })
    }

    /// What was found, why that is no answer, and what to do.
    pub(crate) fn told(&self, ended: Ended) -> String {
        let Found { words, check, proved_by, .. } = self;
        let advice = match ended.why {
            Halt::TimeOut => "rerun with a longer `--timeout`",
            Halt::Memory => "rerun with more of it",
            Halt::Interrupted | Halt::Beaten => "rerun without an interrupt",
            Halt::Lost => "rerun",
        };
        let but = match check {
            Check::Pending => {
                let evidence = if proved_by.is_some() { "proof" } else { "trace" };
                return format!(
                    "{words}, but it was not checked: {ended}; {advice}, or with `--no-check` to accept the unchecked {evidence}"
                );
            }
            Check::Passed => ", and it was checked, but ",
            Check::Skipped => ", but ",
        };
        format!("{words}{but}{ended}; {advice}")
    }
}

/// An answer that was found, and what ended the run before it could be told.
#[derive(Clone, Copy)]
pub(crate) struct Unconfirmed<'a> {
    pub(crate) found: &'a Found,
    pub(crate) ended: Ended,
}

impl<'a> Unconfirmed<'a> {
    /// A limit that was reached just when the search came to its end has ended what comes next.
    pub(crate) fn new(found: &'a Found, Ended { why, phase }: Ended) -> Self {
        let phase = if phase == Phase::Searching { Phase::MakingEvidence } else { phase };
        Unconfirmed { found, ended: Ended { why, phase } }
    }

    pub(crate) fn told(self) -> String {
        self.found.told(self.ended)
    }
}
