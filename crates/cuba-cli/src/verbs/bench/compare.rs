//! Compares answers with the expected ones.

use crate::json::{BenchAnswerJson, BenchCollapseJson, BenchExpectedJson, BenchRunJson, BenchSummaryJson, Outcome};
use cpds_models::Expected;

/// Compares an answer with the expected one. For `unsafe`, this includes the number of contexts;
/// for `converged`, the number of visible states and where T(R_k) collapses. It never includes the
/// proof.
pub(super) fn outcome(verdict: &str, answer: &BenchAnswerJson, expected: Option<&BenchExpectedJson>) -> Outcome {
    let is_right = match (verdict, expected) {
        ("unknown", Some(expected)) if expected.undecided => return Outcome::AsExpected,
        ("unknown", _) => return Outcome::Unknown,
        (_, None) => return Outcome::NotCompared,
        ("converged", Some(expected)) => {
            let total = expected.visible.map(|total| answer.visible == Some(total as u128));
            let collapse = expected.collapse.map(|collapse| answer.collapse.visible == collapse.visible);
            if total.or(collapse).is_none() {
                return Outcome::NotCompared;
            }
            ![total, collapse].contains(&Some(false))
        }
        (verdict, Some(expected)) => {
            let is_least = verdict == "safe" || expected.contexts.is_none_or(|contexts| contexts == answer.contexts);
            verdict == expected.verdict && is_least
        }
    };
    if is_right { Outcome::AsExpected } else { Outcome::Wrong }
}

pub(super) fn expected(expected: &Expected) -> BenchExpectedJson {
    BenchExpectedJson {
        verdict: expected.verdict.word(),
        undecided: expected.undecided.is_some(),
        contexts: expected.contexts,
        visible: expected.visible_total,
        collapse: expected
            .collapse
            .map(|collapse| BenchCollapseJson { reachable: collapse.reachable, visible: Some(collapse.visible) }),
    }
}

pub(super) fn summary(tasks: usize, runs: &[BenchRunJson]) -> BenchSummaryJson {
    let count = |outcome: Outcome| runs.iter().filter(|run| run.outcome == outcome).count();
    BenchSummaryJson {
        runs: tasks,
        as_expected: count(Outcome::AsExpected),
        wrong: count(Outcome::Wrong),
        unknown: count(Outcome::Unknown),
        failed: count(Outcome::Failed),
        not_compared: count(Outcome::NotCompared),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_compared() {
        let at = |visible: usize| BenchCollapseJson { reachable: None, visible: Some(visible) };
        let answer =
            BenchAnswerJson { threads: 2, contexts: 4, proved_by: None, fcr: None, visible: Some(8), collapse: at(5) };
        let wanted =
            |verdict| BenchExpectedJson { verdict, undecided: false, contexts: None, visible: None, collapse: None };
        let compared = |verdict: &str, expected: &BenchExpectedJson| outcome(verdict, &answer, Some(expected));
        assert_eq!(outcome("safe", &answer, None), Outcome::NotCompared);
        assert_eq!(outcome("unknown", &answer, None), Outcome::Unknown);
        let safe = wanted("safe");
        assert_eq!(compared("safe", &safe), Outcome::AsExpected);
        assert_eq!(compared("unsafe", &safe), Outcome::Wrong);
        assert_eq!(compared("unknown", &safe), Outcome::Unknown);
        assert_eq!(compared("converged", &safe), Outcome::NotCompared);
        let contexts = [(None, Outcome::AsExpected), (Some(4), Outcome::AsExpected), (Some(3), Outcome::Wrong)];
        for (contexts, outcome) in contexts {
            let bug = BenchExpectedJson { contexts, ..wanted("unsafe") };
            assert_eq!(compared("unsafe", &bug), outcome);
            assert_eq!(compared("safe", &bug), Outcome::Wrong);
        }
        let open = BenchExpectedJson { undecided: true, ..wanted("safe") };
        assert_eq!(compared("unknown", &open), Outcome::AsExpected);
        assert_eq!(compared("safe", &open), Outcome::AsExpected, "more than could be hoped for");
        assert_eq!(compared("unsafe", &open), Outcome::Wrong);
        for (visible, collapse, outcome) in [
            (Some(8), None, Outcome::AsExpected),
            (None, Some(at(5)), Outcome::AsExpected),
            (Some(8), Some(at(5)), Outcome::AsExpected),
            (Some(9), Some(at(5)), Outcome::Wrong),
            (Some(8), Some(at(4)), Outcome::Wrong),
        ] {
            assert_eq!(compared("converged", &BenchExpectedJson { visible, collapse, ..wanted("safe") }), outcome);
        }
    }
}
