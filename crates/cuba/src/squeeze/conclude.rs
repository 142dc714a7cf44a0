//! Draws the conclusion from the results of both searches.
//!
//! Results that are later than the first answer are dropped. So all reports are the same in every
//! run.

use crate::cancel::Halt;
use crate::fcr::finite_context_reachability::Fcr;
use crate::overapproximation::ceiling::{Between, Ceiling};
use crate::overapproximation::ladder::Rung;
use crate::squeeze::analysis::{Analysis, Conclusion, Contradiction, Level, Proof, Reason};
use crate::squeeze::both_searches::{Meeting, Squeeze, Timestamped};
use crate::squeeze::level_store::LevelStore;
use crate::squeeze::lower_search::{LowerOutcome, LowerSearch};
use crate::squeeze::observation_sequence::ObservationSequence;
use crate::squeeze::question::Question;
use crate::squeeze::race::Side;
use crate::squeeze::rung_outcome::{Outcome, RungResult};
use crate::squeeze::upper_search::UpperSearch;
use crate::statistics::Statistics;
use crate::visible::bad_patterns::BadPatterns;

/// Returns the analysis: the results of both searches up to the time of the first answer, and the
/// conclusion.
pub(super) fn conclude<'a>(
    squeeze: &Squeeze<'a, '_>,
    fcr: Option<Fcr>,
    upper: UpperSearch<'a>,
    lower: LowerSearch<'a>,
) -> Analysis<'a> {
    let UpperSearch { mut rungs, mut invariants, ceiling, safe_after, halted, .. } = upper;
    let LowerSearch { mut levels, level_store: lower, states, outcome, upper_deadline, .. } = lower;
    // A contradiction is reported even if one of the results is later than the first answer.
    let contradiction = contradiction(&rungs, &ceiling, &lower, &outcome);
    // A bad state ends the race at once. By then, the results of the upper search depend on the
    // schedule of the threads, so they are dropped.
    let is_bad = matches!(outcome, LowerOutcome::Unsafe { .. } | LowerOutcome::Unknown(Reason::LongTrace { .. }));
    let is_in_time = |rung: &&Timestamped<RungResult>| {
        squeeze.has_unlimited_time(rung.value.rung) || upper_deadline.is_none_or(|deadline| rung.time <= deadline)
    };
    rungs.truncate(if is_bad { 0 } else { rungs.iter().take_while(is_in_time).count() });
    let meeting_time = meeting_time(&levels, &rungs);
    let safe_after = safe_after.filter(|&number| number < rungs.len());
    let collapsed = if let LowerOutcome::Collapsed(time) = outcome { Some(time) } else { None };
    let exact = meeting_time.filter(|_| squeeze.question == Question::Visible);
    let first_answer = [safe_after.map(|number| rungs[number].time), collapsed, exact].into_iter().flatten().min();
    let last_rung_time = first_answer.into_iter().chain(meeting_time).min();
    rungs.truncate(rungs.partition_point(|rung| last_rung_time.is_none_or(|time| rung.time <= time)));
    invariants.truncate(rungs.len());
    levels.truncate(levels.partition_point(|level| first_answer.is_none_or(|time| level.time <= time)));
    let lower = match states {
        // The tuples have no more levels than the states.
        Some(states) if !is_bad && levels.len() <= states.k() + 1 => {
            for level in &mut levels {
                level.value.0.tuples = None;
            }
            states
        }
        _ => lower,
    };
    let statistics = match (first_answer, levels.last()) {
        (Some(_), Some(last)) => last.value.1,
        _ => lower.statistics(),
    };
    let findings = Findings { squeeze, rungs: &rungs, ceiling: &ceiling, safe_after, first_answer, meeting_time };
    let levels: Vec<Level> = levels.iter().map(|level| findings.level(level)).collect();
    let k = levels.len().saturating_sub(1);
    let (lower_sequence, visible_sequence) = findings.sequences(&levels, &outcome);
    let reached = lower.visible().range(k).end;
    let is_all = visible_sequence.collapse().is_some();
    let collapse_of_states = lower_sequence.collapse().and_then(|collapse| lower.collapse_of_states(collapse));
    let conclusion = match contradiction {
        Some(contradiction) => Conclusion::Contradiction(contradiction),
        None => findings.conclusion(outcome, halted, reached),
    };
    let fcr = fcr.map(|mut fcr| {
        let ruled_out = |heads: &BadPatterns| findings.rungs_without(heads);
        fcr.decide_by_search(squeeze.system(), &squeeze.symmetry, (lower.visible(), k, is_all), ruled_out);
        fcr
    });
    let between = if conclusion.is_open() && !is_all { findings.between(&lower, reached) } else { None };
    Analysis {
        level_store: lower,
        statistics,
        fcr,
        rungs: rungs.into_iter().map(|rung| rung.value).collect(),
        invariants,
        levels,
        lower_sequence,
        visible_sequence,
        collapse_of_states,
        between,
        conclusion,
    }
}

/// Returns the time since when both searches have the same visible states; `None` if they have not.
fn meeting_time(levels: &[Timestamped<(Level, Statistics)>], rungs: &[Timestamped<RungResult>]) -> Option<u64> {
    let mut meeting = Meeting::default();
    for Timestamped { time, value } in rungs {
        if let Some(bound) = value.bound() {
            meeting.report(Side::Upper, *time, bound.sorted_left);
        }
    }
    for Timestamped { time, value: (_, statistics) } in levels {
        meeting.report(Side::Lower, *time, statistics.visible_kept());
    }
    meeting.time()
}

/// Returns a contradiction between the searches, if there is one.
fn contradiction(
    rungs: &[Timestamped<RungResult>],
    ceiling: &Ceiling,
    lower: &LevelStore<'_>,
    outcome: &LowerOutcome,
) -> Option<Contradiction> {
    if let LowerOutcome::Disagree(k) = *outcome {
        return Some(Contradiction::Levels { k });
    }
    let (visible, last) = (lower.visible(), rungs.len().checked_sub(1)?);
    let (state, by) = ceiling.ruled_out_but_reached(last, visible.set(), visible.kept())?;
    let first = || rungs.iter().position(|rung| rung.value.bound().is_some());
    let rung = rungs[by.or_else(first).expect("a rung has ruled out a state")].value.rung;
    let trace = match outcome {
        LowerOutcome::Unsafe { trace, pattern } => Some((trace.clone(), *pattern)),
        _ => None,
    };
    Some(Contradiction::RuledOut { state, rung, trace })
}

/// The results up to the time of the first answer.
struct Findings<'f, 'a> {
    squeeze: &'f Squeeze<'a, 'f>,
    rungs: &'f [Timestamped<RungResult>],
    ceiling: &'f Ceiling,
    /// The number of the rung after which no bad state remained.
    safe_after: Option<usize>,
    /// The time of the first answer.
    first_answer: Option<u64>,
    /// The time since when both searches have the same visible states.
    meeting_time: Option<u64>,
}

impl Findings<'_, '_> {
    /// Returns a level with the number of visible states that remained at its time, and the last
    /// rung that had ruled out a state.
    fn level(&self, level: &Timestamped<(Level, Statistics)>) -> Level {
        let rungs = self.rungs.iter().filter(|rung| rung.time <= level.time);
        Level { upper: rungs.fold(None, |upper, rung| rung.value.left_after(upper)), ..level.value.0 }
    }

    /// Returns the sequence (R_k) or (S_k), and the sequence (T(R_k)).
    fn sequences(&self, levels: &[Level], outcome: &LowerOutcome) -> (ObservationSequence, ObservationSequence) {
        let (mut lower, mut visible) = Level::sequences(levels);
        if self.has_collapsed(outcome) {
            lower.converges();
        }
        if self.has_collapsed(outcome) || self.has_met() {
            visible.converges();
        }
        (lower, visible)
    }

    /// Returns the visible states that are neither reached nor ruled out.
    fn between(&self, lower: &LevelStore<'_>, reached: usize) -> Option<Between> {
        let bad = self.squeeze.bad.as_ref().map(|bad| (bad, self.squeeze.problem.property()));
        let last = self.rungs.iter().rposition(|rung| rung.value.bound().is_some())?;
        self.ceiling.between(last, (lower.visible().set(), reached), bad)
    }

    /// Whether a result of this time is not later than the first answer.
    fn is_in_time(&self, time: u64) -> bool {
        self.first_answer.is_none_or(|first| time <= first)
    }

    /// Whether both searches have met in time.
    fn has_met(&self) -> bool {
        self.meeting_time.is_some_and(|time| self.is_in_time(time))
    }

    /// Whether the levels have collapsed in time.
    fn has_collapsed(&self, outcome: &LowerOutcome) -> bool {
        matches!(*outcome, LowerOutcome::Collapsed(time) if self.is_in_time(time))
    }

    /// Returns the conclusion, if the searches do not contradict each other. `reached` is the
    /// number of sorted visible states of the last level.
    fn conclusion(&self, outcome: LowerOutcome, halted: Option<Halt>, reached: usize) -> Conclusion {
        let is_verify = self.squeeze.question == Question::Verify;
        let proved = |proof| if is_verify { Conclusion::Safe(proof) } else { Conclusion::Converged(proof) };
        if let Some(number) = self.safe_after.filter(|&number| number < self.rungs.len()) {
            return proved(self.proof_without_bad(number));
        }
        if self.has_collapsed(&outcome) {
            return proved(Proof::LowerCollapsed);
        }
        if self.squeeze.question == Question::Visible && self.has_met() {
            return proved(self.proof_with_size(reached));
        }
        Conclusion::Unknown(match (outcome, halted) {
            (LowerOutcome::Unsafe { trace, pattern }, _) => return Conclusion::Unsafe { trace, pattern },
            (LowerOutcome::Unknown(reason @ Reason::LongTrace { .. }), _) => reason,
            (LowerOutcome::Halted(Halt::Interrupted), _) | (_, Some(Halt::Interrupted)) => Reason::Interrupted,
            (LowerOutcome::Halted(Halt::TimeOut), _) | (_, Some(Halt::TimeOut)) => Reason::TimeOut,
            (LowerOutcome::Halted(Halt::Memory), _) | (_, Some(Halt::Memory)) => Reason::Memory,
            (LowerOutcome::Halted(Halt::Lost), _) | (_, Some(Halt::Lost)) => Reason::Lost,
            (LowerOutcome::Unknown(reason), _) => reason,
            // Only a caller's token has this reason without an answer.
            (LowerOutcome::Halted(Halt::Superseded), _) => Reason::Interrupted,
            (LowerOutcome::Collapsed(_) | LowerOutcome::Disagree(_), _) => unreachable!("then there is an answer"),
        })
    }

    /// Returns the proof by the rungs with these numbers.
    fn proof_by(&self, numbers: impl IntoIterator<Item = usize>) -> Proof {
        Proof::Bounded(numbers.into_iter().map(|number| self.rungs[number].value.rung).collect())
    }

    /// Returns the rung, or the rungs together, after which no bad state remains.
    fn proof_without_bad(&self, number: usize) -> Proof {
        match self.rungs[number].value.outcome {
            Outcome::Bound(bound) if bound.is_safe => self.proof_by([number]),
            _ => {
                let bad = self.squeeze.bad.as_ref().expect("the question is about bad states");
                let others = self.ceiling.without_bad(bad, number).expect("no bad state remains after this rung");
                self.proof_by(self.first_unless_z().into_iter().chain(others))
            }
        }
    }

    /// Returns the first rung with so many sorted visible states. If there is none, returns the
    /// rungs that together have so many.
    fn proof_with_size(&self, reached: usize) -> Proof {
        let bounds = || {
            let numbered = self.rungs.iter().enumerate();
            numbered.filter_map(|(number, rung)| Some((number, rung.value.bound()?)))
        };
        if let Some((alone, _)) = bounds().find(|(_, bound)| bound.sorted == reached) {
            return self.proof_by([alone]);
        }
        self.proof_by(self.first_unless_z().into_iter().chain(self.ceiling.rungs_that_ruled_out(self.rungs.len() - 1)))
    }

    /// Returns rungs whose intersection has no bad state, if there are any.
    fn rungs_without(&self, bad: &BadPatterns) -> Option<Vec<Rung>> {
        let is_bound = |rung: &Timestamped<RungResult>| rung.value.bound().is_some();
        let (first, last) = (self.rungs.iter().position(is_bound)?, self.rungs.iter().rposition(is_bound)?);
        let others = self.ceiling.without_bad(bad, last)?;
        let first = if others.is_empty() { Some(first) } else { self.first_unless_z() };
        Some(first.into_iter().chain(others).map(|number| self.rungs[number].value.rung).collect())
    }

    /// Returns the number of the first computed rung, unless it is Z. (All other rungs are subsets
    /// of Z, so the intersection is the same without Z.)
    fn first_unless_z(&self) -> Option<usize> {
        let first = self.rungs.iter().position(|rung| rung.value.bound().is_some());
        first.filter(|&number| self.rungs[number].value.rung != Rung::Z)
    }
}

#[cfg(test)]
mod tests;
