//! Proofs and unconfirmed answers in words.

use crate::analysis::exploration::{Exploration, level_letter};
use crate::analysis::finding::{Check, Finding, Unconfirmed};
use crate::analysis::phase::RunEnd;
use cpds::diagnostic::plural;
use cuba::{Analysis, Conclusion, Halt, Proof, Question, Rung, rung_names};

impl Finding {
    /// Describes the answer of the search, if it has one.
    pub(crate) fn of(question: Question, analysis: &Analysis<'_>, check: Check) -> Option<Self> {
        let (k, s) = (analysis.k(), level_letter(analysis));
        let why = |proof: &Proof, alone: &str| match proof {
            Proof::LowerCollapsed => format!("{s}_{} = {s}_{k}", k - 1),
            Proof::Bounded(rungs) => format!("{} {alone}", rung_names(rungs)),
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

    /// Says what the answer of the search is, why it is not confirmed, and what to do.
    pub(crate) fn words(&self, ended: &RunEnd) -> String {
        let Finding { words, check, proved_by, .. } = self;
        let advice = match ended.why {
            Halt::TimeOut => "rerun with a longer `--timeout`",
            Halt::Memory => "rerun with a larger `--memory`",
            Halt::Interrupted | Halt::Superseded => "rerun without an interrupt",
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

/// States the facts about T(R), if (T(R_k)) has converged. Also states the facts about R, if (R_k)
/// has converged and this was the question.
pub(crate) fn converged(question: Question, analysis: &Analysis<'_>) -> String {
    let last = analysis.levels[analysis.k()];
    let visible = plural(last.visible, "visible state");
    match (analysis.lower_sequence.collapse(), analysis.visible_sequence.collapse()) {
        (Some(r), Some(t)) if question == Question::Reachable => match last.reachable {
            Some(states) => {
                format!("R = R_{r} has {}; T(R) has {visible} and collapses at k = {t}", plural(states, "state"))
            }
            None => format!("R = γ(S_{r}); T(R) has {visible} and collapses at k = {t}"),
        },
        (_, Some(t)) => format!("T(R) has {visible} and collapses at k = {t}"),
        (_, None) => String::new(),
    }
}

impl Exploration<'_> {
    /// Names the proof for any number of contexts, and whether it was checked: `proved by Z, 48
    /// states; proof checked`.
    pub(crate) fn grounds(&self, proof: &Proof) -> String {
        let is_checked = self.evidence.as_ref().is_some_and(|made| made.check.is_some());
        let not = if is_checked { "" } else { "not " };
        format!("proved by {}; proof {not}checked", self.proof(proof))
    }

    fn proof(&self, proof: &Proof) -> String {
        let (k, s) = (self.analysis.k(), self.level_letter());
        match proof {
            Proof::LowerCollapsed => format!("{s}_{} = {s}_{k}", k - 1),
            Proof::Bounded(rungs) if matches!(self.analysis.conclusion, Conclusion::Safe(_)) => {
                let alone = |rung: Rung| matches!(rungs[..], [only] if only == rung);
                let size = self.analysis.rungs.iter().rev().find_map(|result| {
                    let bound = result.bound()?;
                    if rungs.len() > 1 { Some(bound.left) } else { alone(result.rung).then_some(bound.visible) }
                });
                format!("{}, {}", rung_names(rungs), plural(size.expect("a rung was computed"), "state"))
            }
            Proof::Bounded(rungs) => {
                let collapse = self.analysis.visible_sequence.collapse().unwrap_or(k);
                format!("T({s}_{collapse}) = {}", rung_names(rungs))
            }
        }
    }
}
