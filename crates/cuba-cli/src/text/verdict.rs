//! The verdict lines of `cuba verify` and `cuba reach`.

use crate::analysis::exploration::Exploration;
use crate::analysis::model::{LoadedModel, LoadedProgram};
use crate::analysis::summary::Summary;
use crate::text::finding::converged;
use boolprog::{BadStates, StepKind};
use cpds::Wild;
use cpds::diagnostic::{plural, printable};
use cuba::{Conclusion, Proof, Reason};

/// Formats the verdict of `cuba verify` if there is no answer.
pub(crate) fn not_verified(summary: &Summary<'_>) -> String {
    if let Some(unconfirmed) = summary.unconfirmed() {
        return format!("unknown: {}", unconfirmed.words());
    }
    let why = summary.why();
    let Some(last) = summary.last() else { return format!("unknown: nothing is known yet; {why}") };
    let beyond = if let Some(Reason::LongTrace { .. }) = summary.reason { "" } else { ", open beyond" };
    format!("unknown: safe up to {}{beyond}; {why}", plural(last.k, "context"))
}

/// Formats the verdict of a safe model: the property, its size, and the proof.
pub(crate) fn safe(explored: &Exploration<'_>, loaded: &LoadedModel, proof: &Proof) -> String {
    let grounds = explored.grounds(proof);
    let always = "with any number of contexts";
    match loaded.program.as_ref().map(|program| (&program.property, program)) {
        Some((BadStates::Errors, program)) => {
            let (asserts, unlocks) = checks(loaded, program);
            let count = |number: usize, word: &str| (number > 0).then(|| plural(number, word));
            let counts: Vec<String> = count(asserts, "assertion").into_iter().chain(count(unlocks, "unlock")).collect();
            let what = match (asserts, unlocks) {
                (_, 0) => "no assertion can fail",
                (0, _) => "no unlock can fail",
                _ => "no assertion and no unlock can fail",
            };
            format!("safe: {what}, {always} ({}; {grounds})", counts.join(" and "))
        }
        Some((BadStates::Labels(labels), _)) => {
            let labels: Vec<String> = labels.iter().map(|label| format!("`{}`", printable(label))).collect();
            format!("safe: no thread reaches {}, {always} ({grounds})", labels.join(" or "))
        }
        Some((BadStates::Targets(_), _)) | None => format!("safe: no bad state is reachable, {always} ({grounds})"),
    }
}

/// Counts the reachable assertions and unlocks of a program.
fn checks(loaded: &LoadedModel, program: &LoadedProgram) -> (usize, usize) {
    let errors = loaded.problem().property().bad.iter().filter_map(|pattern| match pattern.shared {
        Wild::Is(shared) => program.map.error(shared),
        Wild::Any => None,
    });
    errors.fold((0, 0), |(asserts, unlocks), error| match error.kind {
        StepKind::Unlock => (asserts, unlocks + 1),
        _ => (asserts + 1, unlocks),
    })
}

/// Formats the verdict of `cuba reach`.
pub(crate) fn of_reach(explored: &Exploration<'_>) -> String {
    let (known, summary) = (converged(explored.question, &explored.analysis), explored.summary());
    match &explored.analysis.conclusion {
        Conclusion::Converged(proof) => format!("converged: {known} ({})", explored.grounds(proof)),
        Conclusion::Unknown(_) if known.is_empty() || summary.finding.is_some() => not_converged(&summary),
        Conclusion::Unknown(_) => {
            let (k, s) = (explored.analysis.k(), summary.level_letter());
            format!("unknown: {known}, but ({s}_k) has not converged up to k = {k}; {}", summary.why())
        }
        Conclusion::Safe(_) | Conclusion::Unsafe { .. } | Conclusion::Contradiction(_) => {
            unreachable!("not an answer to this question")
        }
    }
}

/// Formats the verdict of `cuba reach` if nothing has converged.
pub(crate) fn not_converged(summary: &Summary<'_>) -> String {
    if let Some(unconfirmed) = summary.unconfirmed() {
        return format!("unknown: {}", unconfirmed.words());
    }
    let (why, s) = (summary.why(), summary.level_letter());
    match summary.last() {
        Some(last) => format!("unknown: (T({s}_k)) has not converged up to k = {}; {why}", last.k),
        None => format!("unknown: nothing is known yet; {why}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::finding::{Check, Finding};
    use crate::analysis::limits::RunLimits;
    use crate::analysis::phase::{Phase, RunEnd};
    use cuba::{Halt, Options, Question, search_unchecked};
    use std::time::Duration;

    fn ended(why: Halt, phase: Phase) -> RunEnd {
        RunEnd { why, phase, limits: RunLimits::default() }
    }

    #[test]
    fn an_unchecked_proof_does_not_give_converged() {
        let problem: cpds::Problem = include_str!("../../../../models/paper/fig1.cpds").parse().unwrap();
        let options = Options::default();
        let analysis = search_unchecked(&problem, Question::Visible, &options, |_| ());
        let mut explored = Exploration::new((&problem, Question::Visible), analysis, options, Duration::ZERO);
        assert!(of_reach(&explored).starts_with("converged: T(R) has 8 visible states"));
        let finding = Finding::of(Question::Visible, &explored.analysis, Check::Pending);
        explored.leave_unconfirmed(finding, ended(Halt::Interrupted, Phase::CheckingEvidence));
        assert_eq!(
            of_reach(&explored),
            "unknown: a proof was found (Z has no other visible state) that T(R) has 8 visible states and collapses at k = 5, but it was not \
             checked: it was interrupted while checking the evidence; rerun without an interrupt, or with `--no-check` to accept the unchecked proof"
        );
    }

    /// The verdict of an answer with unchecked evidence, for this reason.
    fn unconfirmed(text: &str, why: Halt, phase: Phase) -> String {
        let problem: cpds::Problem = text.parse().unwrap();
        let analysis = search_unchecked(&problem, Question::Verify, &Options::default(), |_| ());
        let question = (&problem, Question::Verify);
        let mut explored = Exploration::new(question, analysis, Options::default(), Duration::ZERO);
        let finding = Finding::of(Question::Verify, &explored.analysis, Check::Pending);
        explored.leave_unconfirmed(finding, ended(why, phase));
        assert!(!explored.is_open(), "a proof is not open, nor is a trace");
        not_verified(&explored.summary())
    }

    const SAFE: &str = include_str!("../../../../models/squeeze/get-and-put.cpds");

    #[test]
    fn an_answer_without_evidence() {
        let verdict = unconfirmed(SAFE, Halt::Memory, Phase::MakingEvidence);
        assert!(verdict.starts_with("unknown: a proof was found (matched-Z ∩ A_0 has no bad state) that no bad state is reachable, but it was not checked: making the evidence does not fit into the memory of "), "{verdict}");
        assert!(
            verdict.ends_with("; rerun with a larger `--memory`, or with `--no-check` to accept the unchecked proof"),
            "{verdict}"
        );
        assert_eq!(
            unconfirmed(include_str!("../../../../models/paper/fig1.cpds"), Halt::TimeOut, Phase::CheckingEvidence),
            "unknown: a trace was found to a bad state with 4 contexts, and with no fewer, but it was not checked: --timeout ends it while checking \
             the evidence; rerun with a longer `--timeout`, or with `--no-check` to accept the unchecked trace"
        );
    }
}
