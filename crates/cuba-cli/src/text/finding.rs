//! Proofs, and answers that are not confirmed, in words.

use crate::analysis::exploration::{Exploration, levels};
use crate::analysis::finding::{Check, Finding, Unconfirmed};
use crate::analysis::phase::Ended;
use crate::text::numbers::plural;
use cuba::{Analysis, Conclusion, Halt, Outcome, Proof, Question, Rung, names};

impl Finding {
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
                let known = converged(question, analysis).replace("; ", ", and ");
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
        Some(Finding { verdict, proved_by: analysis.proved_by(), contexts, check, words })
    }

    /// What was found, why that is no answer, and what to do.
    pub(crate) fn words(&self, ended: &Ended) -> String {
        let Finding { words, check, proved_by, .. } = self;
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

impl Unconfirmed<'_> {
    pub(crate) fn words(&self) -> String {
        self.finding.words(&self.ended)
    }
}

/// What is known of R, if (R_k) has converged and that was the question, and of T(R), if (T(R_k)) has.
pub(crate) fn converged(question: Question, analysis: &Analysis<'_>) -> String {
    let last = analysis.levels[analysis.k()];
    let visible = plural(last.visible, "visible state");
    match (analysis.lower_sequence.collapse(), analysis.visible_sequence.collapse()) {
        (Some(r), Some(t)) if question == Question::Reachable => match last.reachable {
            Some(states) => {
                format!("R = R_{r} has {}; T(R) has {visible}, and collapses at k = {t}", plural(states, "state"))
            }
            None => format!("R = γ(S_{r}); T(R) has {visible}, and collapses at k = {t}"),
        },
        (_, Some(t)) => format!("T(R) has {visible}, and collapses at k = {t}"),
        (_, None) => String::new(),
    }
}

impl Exploration<'_> {
    /// Why the answer holds for every number of contexts.
    pub(crate) fn proof(&self, proof: &Proof) -> String {
        self.proof_of(proof, "none of them bad")
    }

    /// The same, with these words for what no state of an overapproximation is.
    pub(crate) fn proof_of(&self, proof: &Proof, none: &str) -> String {
        let (k, s) = (self.analysis.k(), self.levels());
        match proof {
            Proof::LowerCollapsed => {
                format!("{s}_{} = {s}_{k}, and so no further context adds a state (Scheme 1)", k - 1)
            }
            Proof::Bounded(rungs) => {
                let names = names(rungs);
                let have = if rungs.len() == 1 { "which has" } else { "which have" };
                if matches!(self.analysis.conclusion, Conclusion::Safe(_)) {
                    let alone = |rung: Rung| matches!(rungs[..], [only] if only == rung);
                    let size = self.analysis.rungs.iter().rev().find_map(|climbed| match climbed.outcome {
                        Outcome::Bound(bound) if alone(climbed.rung) => Some(bound.visible),
                        Outcome::Bound(bound) if rungs.len() > 1 => Some(bound.left),
                        _ => None,
                    });
                    let states = plural(size.expect("a rung was taken"), "state");
                    format!(
                        "{names}, {have} every visible state that is reachable, {} {states}{}, {none}",
                        if rungs.len() == 1 { "has" } else { "have" },
                        if rungs.len() == 1 { "" } else { " in common" }
                    )
                } else {
                    format!("there is nothing else in {names}, {have} every visible state that is reachable")
                }
            }
        }
    }
}
