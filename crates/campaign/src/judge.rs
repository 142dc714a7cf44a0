//! Compares an answer with the oracle and with other answers.

use crate::truth::Truth;
use crate::{Checked, ensure};
use cpds::{Problem, VisibleState};
use cuba::Count;
use cuba::{Analysis, Conclusion, Question, Reason};
use std::collections::BTreeSet;

/// An answer, as data.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The configuration that gave the answer.
    pub configuration: String,
    /// The question.
    pub question: Question,
    /// The conclusion.
    pub conclusion: Conclusion,
    /// For each finished level |R_k|, if states were counted, and |T(R_k)|.
    pub levels: Vec<(Option<u128>, Option<u128>)>,
    /// For each level the upper bound of |T(R)|.
    pub upper: Vec<Option<u128>>,
    /// T(R_k) of the last finished level; empty if the question is the verdict.
    pub visible: BTreeSet<VisibleState>,
    /// The k at which (R_k) collapses.
    pub collapse_of_states: Option<usize>,
    /// The k at which (T(R_k)) collapses.
    pub collapse_of_visible: Option<usize>,
    /// The visible states that are neither reached nor ruled out, if they are listed.
    pub between: Option<BTreeSet<VisibleState>>,
    /// Whether finite context reachability holds.
    pub fcr: Option<bool>,
}

/// Safe; or unsafe, with the least number of contexts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the words say it")]
pub enum Verdict {
    Safe,
    Unsafe(usize),
}

impl Answer {
    /// Makes an answer of an analysis.
    pub fn of(configuration: String, question: Question, found: &Analysis<'_>) -> Answer {
        let between = found.between.as_ref();
        let compared_levels = if question == Question::Verify { 0 } else { found.levels.len() };
        let all = between.filter(|between| between.count.exact() == Some(between.states.len() as u128));
        Answer {
            configuration,
            question,
            conclusion: found.conclusion.clone(),
            levels: found.levels.iter().map(|it| (it.reachable.and_then(Count::exact), it.visible.exact())).collect(),
            upper: found.levels.iter().map(|level| level.upper.and_then(|(count, _)| count.exact())).collect(),
            visible: (0..compared_levels).flat_map(|k| found.level_store.visible().states(k)).collect(),
            collapse_of_states: found.collapse_of_states,
            collapse_of_visible: found.visible_sequence.collapse(),
            between: all.map(|between| between.states.clone()),
            fcr: found.fcr.as_ref().and_then(cuba::Fcr::holds),
        }
    }

    /// Returns the number of the last finished level.
    fn k(&self) -> usize {
        self.levels.len().saturating_sub(1)
    }

    /// Returns the verdict, if the answer has one.
    pub fn verdict(&self) -> Option<Verdict> {
        match &self.conclusion {
            Conclusion::Safe(_) => Some(Verdict::Safe),
            Conclusion::Unsafe { trace, .. } => Some(Verdict::Unsafe(trace.contexts.len())),
            _ => None,
        }
    }

    fn detail(&self, what: &str) -> String {
        let mut conclusion = format!("{:?}", self.conclusion);
        conclusion.truncate(conclusion.char_indices().nth(300).map_or(conclusion.len(), |(at, _)| at));
        format!("{:?} {}: {what}; {conclusion}", self.question, self.configuration)
    }
}

/// Checks that an answer does not contradict the oracle.
pub fn judge(problem: &Problem, truth: &Truth, answer: &Answer) -> Checked {
    levels(truth, answer)?;
    let bad = truth.bad;
    let with_oracle = |what: &str| answer.detail(&format!("{what}; the oracle has a bad state at {bad:?}"));
    match &answer.conclusion {
        Conclusion::Unsafe { trace, pattern } => {
            let contexts = trace.contexts.len();
            let is_bad = problem.property().bad.get(*pattern).is_some_and(|it| it.matches(&trace.last().visible()));
            let is_run = trace.replay(problem.system()) == Ok(()) && is_bad;
            ensure("unsafe-trace", is_run, || answer.detail("the trace is not valid"))?;
            let is_least = truth.may_be_first_bad(contexts);
            ensure("unsafe-contexts", is_least, || with_oracle("wrong number of contexts"))?;
        }
        Conclusion::Unknown(Reason::LongTrace { contexts }) => {
            let is_least = truth.may_be_first_bad(*contexts);
            ensure("unsafe-contexts", is_least, || with_oracle("wrong number of contexts"))?;
        }
        Conclusion::Safe(_) => ensure("safe", bad.is_none(), || with_oracle("the system is not safe"))?,
        Conclusion::Converged(_) => {
            let lost = truth.visible().find(|state| !answer.visible.contains(*state));
            ensure("converged", lost.is_none(), || answer.detail(&format!("{lost:?} is missing")))?;
            if truth.levels.collapse().is_some() {
                let all = truth.levels.visible_count(truth.levels.k());
                ensure("converged", answer.visible.len() == all, || answer.detail("there are other states"))?;
            }
        }
        Conclusion::Unknown(_) => {
            let is_safe = answer.question != Question::Verify || bad.is_none_or(|bad| bad > answer.k());
            ensure("safe-up-to", is_safe, || with_oracle("a finished level has a bad state"))?;
            if let Some(between) = answer.between.as_ref().filter(|_| answer.question == Question::Visible) {
                let is_open = between.is_disjoint(&answer.visible);
                let lost = truth.visible().find(|state| !answer.visible.contains(*state) && !between.contains(*state));
                let detail = || answer.detail(&format!("{lost:?} is ruled out, but reachable"));
                ensure("between", is_open && lost.is_none(), detail)?;
            }
        }
        Conclusion::Contradiction(_) => {
            ensure("contradiction", false, || answer.detail("engines contradict each other"))?;
        }
    }
    Ok(())
}

/// Checks the figures of every finished level.
fn levels(truth: &Truth, answer: &Answer) -> Checked {
    let fcr = answer.fcr.is_none_or(|holds| truth.may_be_finite(holds));
    ensure("fcr", fcr, || answer.detail("finite context reachability"))?;
    let total = truth.levels.visible_count(truth.levels.k()) as u128;
    for (k, &(reachable, visible)) in answer.levels.iter().enumerate() {
        let low = answer.upper.get(k).is_some_and(|upper| upper.is_some_and(|upper| upper < total));
        ensure("upper", !low, || answer.detail(&format!("k = {k}: the upper bound is less than |T(R)|, {total}")))?;
        // After a level without new states, the counts stay the same.
        let at = k.min(truth.levels.k());
        if k > at && truth.levels.collapse().is_none() {
            continue;
        }
        let known = (truth.levels.reachable_count(at) as u128, truth.levels.visible_count(at) as u128);
        let detail = || answer.detail(&format!("k = {k}: {reachable:?} and {visible:?}, by the oracle {known:?}"));
        let is_right = |found: Option<u128>, known: u128| {
            found.is_none_or(|found| if truth.levels.is_exact(at) { found == known } else { found >= known })
        };
        ensure("level-counts", is_right(reachable, known.0) && is_right(visible, known.1), detail)?;
    }
    if let (Some(known), Some(found)) = (truth.levels.collapse(), answer.collapse_of_states) {
        ensure("collapse-of-states", known == found, || answer.detail(&format!("{found}, by the oracle {known}")))?;
    }
    if let Some(found) = answer.collapse_of_visible {
        let later = truth.levels.new_visible.iter().skip(found + 1).position(|new| !new.is_empty());
        // If level k is only a part of R_k, it may miss states of T(R_k) that a later level has.
        let is_late = later.is_some_and(|later| truth.levels.is_exact(found + 1 + later));
        ensure("collapse-of-visible", !is_late, || answer.detail(&format!("collapse at {found}, but growth later")))?;
        let is_early = truth.levels.is_exact(found)
            && found > 0
            && truth.levels.new_visible.get(found).is_some_and(BTreeSet::is_empty);
        ensure("collapse-of-visible", !is_early, || {
            answer.detail(&format!("collapse at {found}, but no growth at this level"))
        })?;
    }
    Ok(())
}

/// The definite answers so far, each with its configuration. All later answers must be equal.
#[derive(Clone, Debug, Default)]
pub struct Agreed {
    verdict: Option<(Verdict, String)>,
    visible: Option<(BTreeSet<VisibleState>, String)>,
    collapse_of_states: Option<(usize, String)>,
    collapse_of_visible: Option<(usize, String)>,
}

impl Agreed {
    /// Compares an answer with the earlier ones, and adds it.
    pub fn with(&mut self, answer: &Answer) -> Checked {
        same("same-verdict", &mut self.verdict, answer.verdict(), answer)?;
        let converged = matches!(answer.conclusion, Conclusion::Converged(_)).then(|| answer.visible.clone());
        same("same-visible", &mut self.visible, converged, answer)?;
        same("same-collapse-of-states", &mut self.collapse_of_states, answer.collapse_of_states, answer)?;
        same("same-collapse-of-visible", &mut self.collapse_of_visible, answer.collapse_of_visible, answer)
    }
}

fn same<T: PartialEq + std::fmt::Debug>(
    law: &'static str,
    agreed: &mut Option<(T, String)>,
    found: Option<T>,
    answer: &Answer,
) -> Checked {
    match (found, &agreed) {
        (None, _) => Ok(()),
        (Some(found), None) => {
            *agreed = Some((found, format!("{:?} {}", answer.question, answer.configuration)));
            Ok(())
        }
        (Some(found), Some((known, by))) => {
            ensure(law, *known == found, || answer.detail(&format!("{found:?}, but {by} has {known:?}")))
        }
    }
}
