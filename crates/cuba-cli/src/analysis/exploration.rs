//! A finished analysis, with its evidence, time and limits.

use crate::analysis::finding::Finding;
use crate::analysis::limits::RunLimits;
use crate::analysis::phase::RunEnd;
use crate::analysis::summary::Summary;
use cpds::{Cpds, Problem};
use cuba::{Analysis, Conclusion, Engine, Fcr, Options, Question, TimedEvidence};
use std::time::Duration;

/// An analysis with its options, evidence, time and limits.
pub(crate) struct Exploration<'a> {
    pub(crate) problem: &'a Problem,
    pub(crate) question: Question,
    pub(crate) analysis: Analysis<'a>,
    pub(crate) options: Options,
    pub(crate) time: Duration,
    pub(crate) limits: RunLimits,
    /// The evidence for the answer.
    pub(crate) evidence: Option<TimedEvidence>,
    /// A note about the checkpoint.
    pub(crate) checkpoint_note: Option<String>,
    /// The answer of the search and the end of the run, if the evidence could not be made or
    /// checked. Then the conclusion is unknown.
    pub(crate) unconfirmed: Option<(Finding, RunEnd)>,
}

impl<'a> Exploration<'a> {
    pub(crate) fn new(
        (problem, question): (&'a Problem, Question),
        analysis: Analysis<'a>,
        options: Options,
        time: Duration,
    ) -> Self {
        Exploration {
            problem,
            question,
            analysis,
            options,
            time,
            limits: RunLimits::default(),
            evidence: None,
            checkpoint_note: None,
            unconfirmed: None,
        }
    }
}

impl Exploration<'_> {
    /// Makes the answer unknown, as if its evidence could not be checked.
    #[cfg(test)]
    pub(crate) fn leave_unconfirmed(&mut self, finding: Option<Finding>, ended: RunEnd) {
        self.analysis.conclusion = Conclusion::Unknown(ended.why.into());
        self.unconfirmed = finding.map(|finding| (finding, ended));
    }

    /// Returns whether the search itself has no answer.
    pub(crate) fn is_open(&self) -> bool {
        self.unconfirmed.is_none() && self.analysis.is_open()
    }

    pub(crate) fn system(&self) -> &Cpds {
        self.problem.system()
    }

    /// Returns the letter of the levels: R for R_k, S for S_k.
    pub(crate) fn level_letter(&self) -> char {
        level_letter(&self.analysis)
    }

    /// Collects the facts about the analysis.
    pub(crate) fn summary(&self) -> Summary<'_> {
        let analysis = &self.analysis;
        Summary {
            levels: &analysis.levels,
            rungs: &analysis.rungs,
            engine: Some(analysis.level_store.engine()),
            fcr: analysis.fcr.as_ref().and_then(Fcr::holds),
            fcr_by: analysis.fcr.as_ref().and_then(Fcr::by),
            lower_sequence: analysis.lower_sequence.clone(),
            visible_sequence: analysis.visible_sequence.clone(),
            collapse_of_states: analysis.collapse_of_states,
            between: analysis.between.as_ref().map(|between| (self.system(), between)),
            reason: if let Conclusion::Unknown(reason) = analysis.conclusion { Some(reason) } else { None },
            finding: self.unconfirmed.as_ref().map(|(finding, _)| finding),
            ended: self.unconfirmed.as_ref().map(|(_, ended)| ended.clone()),
            options: self.options,
            limits: self.limits.clone(),
        }
    }
}

/// Returns the letter of the levels: R for R_k, S for S_k.
pub(crate) fn level_letter(analysis: &Analysis<'_>) -> char {
    match analysis.level_store.engine() {
        Engine::Explicit => 'R',
        Engine::Symbolic => 'S',
    }
}
