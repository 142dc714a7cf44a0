//! The conclusion from the results of both searches.
//!
//! Whatever was found after the first answer is dropped, so that everything that is reported is the
//! same in every run.

use crate::fcr::contexts::Fcr;
use crate::limits::Halt;
use crate::overapproximation::ceiling::{Between, Ceiling};
use crate::overapproximation::ladder::Rung;
use crate::squeeze::analysis::{Analysis, Conclusion, Contradiction, Level, Proof, Reason};
use crate::squeeze::context::{Meeting, Squeeze, Timestamped};
use crate::squeeze::level_store::LevelStore;
use crate::squeeze::lower_search::{LowerOutcome, LowerSearch};
use crate::squeeze::observation_sequence::ObservationSequence;
use crate::squeeze::question::Question;
use crate::squeeze::race::Side;
use crate::squeeze::rung_outcome::{Outcome, RungResult};
use crate::squeeze::upper_search::UpperSearch;
use crate::statistics::Statistics;
use crate::visible::bad_patterns::BadPatterns;

/// Draws the conclusion from the results of both searches up to the time of the first answer.
pub(super) fn conclude<'a>(
    squeeze: &Squeeze<'a, '_>,
    fcr: Option<Fcr>,
    upper: UpperSearch<'a>,
    lower: LowerSearch<'a>,
) -> Analysis<'a> {
    let UpperSearch { mut rungs, mut invariants, ceiling, safe, halted, .. } = upper;
    let LowerSearch { mut levels, level_store: lower, states, outcome, enough, .. } = lower;
    // Searches that contradict each other do so whichever was first.
    let contradiction = contradiction(&rungs, &ceiling, &lower, &outcome);
    // A bad state is reported at once, without anything that the upper search had found by then.
    let is_bad = matches!(outcome, LowerOutcome::Unsafe { .. } | LowerOutcome::Unknown(Reason::LongTrace { .. }));
    let is_in_time = |rung: &&Timestamped<RungResult>| {
        squeeze.has_unlimited_time(rung.what.rung) || enough.is_none_or(|enough| rung.time <= enough)
    };
    rungs.truncate(if is_bad { 0 } else { rungs.iter().take_while(is_in_time).count() });
    let met = met(&levels, &rungs);
    let safe = safe.filter(|&number| number < rungs.len());
    let collapsed = if let LowerOutcome::Collapsed(time) = outcome { Some(time) } else { None };
    let is_enough = met.filter(|_| squeeze.question == Question::Visible);
    let first = [safe.map(|number| rungs[number].time), collapsed, is_enough].into_iter().flatten().min();
    let until = first.into_iter().chain(met).min();
    rungs.truncate(rungs.partition_point(|rung| until.is_none_or(|until| rung.time <= until)));
    invariants.truncate(rungs.len());
    levels.truncate(levels.partition_point(|level| first.is_none_or(|first| level.time <= first)));
    let lower = match states {
        // The tuples have not come further than the states.
        Some(states) if !is_bad && levels.len() <= states.k() + 1 => {
            for level in &mut levels {
                level.what.0.tuples = None;
            }
            states
        }
        _ => lower,
    };
    let statistics = match (first, levels.last()) {
        (Some(_), Some(last)) => last.what.1,
        _ => lower.statistics(),
    };
    let findings = Findings { squeeze, rungs: &rungs, ceiling: &ceiling, safe, first, met };
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
        let without = |bad: &BadPatterns| findings.without(bad);
        fcr.decide_by_search(squeeze.system(), &squeeze.symmetry, (lower.visible(), k, is_all), without);
        fcr
    });
    let between = if conclusion.is_open() && !is_all { findings.between(&lower, reached) } else { None };
    Analysis {
        level_store: lower,
        statistics,
        fcr,
        rungs: rungs.into_iter().map(|rung| rung.what).collect(),
        invariants,
        levels,
        lower_sequence,
        visible_sequence,
        collapse_of_states,
        between,
        conclusion,
    }
}

/// The time from which both searches have the same visible states; none if they do not.
fn met(levels: &[Timestamped<(Level, Statistics)>], rungs: &[Timestamped<RungResult>]) -> Option<u64> {
    let mut meeting = Meeting::default();
    for Timestamped { time, what } in rungs {
        if let Some(bound) = what.bound() {
            meeting.report(Side::Upper, *time, bound.sorted_left);
        }
    }
    for Timestamped { time, what: (_, statistics) } in levels {
        meeting.report(Side::Lower, *time, statistics.visible_kept());
    }
    meeting.time()
}

/// A state that was reached and ruled out, if there is one.
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
    let first = || rungs.iter().position(|rung| rung.what.bound().is_some());
    let rung = rungs[by.or_else(first).expect("something was ruled out")].what.rung;
    let trace = match outcome {
        LowerOutcome::Unsafe { trace, pattern } => Some((trace.clone(), *pattern)),
        _ => None,
    };
    Some(Contradiction::RuledOut { state, rung, trace })
}

/// What was found up to the time of the first answer.
struct Findings<'f, 'a> {
    squeeze: &'f Squeeze<'a, 'f>,
    rungs: &'f [Timestamped<RungResult>],
    ceiling: &'f Ceiling,
    /// The rung after which no bad state was left.
    safe: Option<usize>,
    /// The time of the first answer.
    first: Option<u64>,
    /// The time when both searches met.
    met: Option<u64>,
}

impl Findings<'_, '_> {
    /// A level, with what was left above at its time, and the rung that last ruled something out.
    fn level(&self, level: &Timestamped<(Level, Statistics)>) -> Level {
        let rungs = self.rungs.iter().filter(|rung| rung.time <= level.time);
        Level { upper: rungs.fold(None, |upper, rung| rung.what.left_after(upper)), ..level.what.0 }
    }

    /// What is known of (R_k) or (S_k), and of (T(R_k)).
    fn sequences(&self, levels: &[Level], outcome: &LowerOutcome) -> (ObservationSequence, ObservationSequence) {
        let (mut lower, mut visible) = Level::sequences(levels);
        if self.collapsed(outcome) {
            lower.converges();
        }
        if self.collapsed(outcome) || self.has_met() {
            visible.converges();
        }
        (lower, visible)
    }

    /// What is neither reached nor ruled out.
    fn between(&self, lower: &LevelStore<'_>, reached: usize) -> Option<Between> {
        let bad = self.squeeze.bad.as_ref().map(|bad| (bad, self.squeeze.problem.property()));
        let last = self.rungs.iter().rposition(|rung| rung.what.bound().is_some())?;
        self.ceiling.between(last, (lower.visible().set(), reached), bad)
    }

    fn is_first(&self, time: u64) -> bool {
        self.first.is_none_or(|first| time <= first)
    }

    fn has_met(&self) -> bool {
        self.met.is_some_and(|time| self.is_first(time))
    }

    fn collapsed(&self, outcome: &LowerOutcome) -> bool {
        matches!(*outcome, LowerOutcome::Collapsed(time) if self.is_first(time))
    }

    /// The conclusion, if no searches contradict each other. `reached` is how many sorted visible
    /// states the last level has.
    fn conclusion(&self, outcome: LowerOutcome, halted: Option<Halt>, reached: usize) -> Conclusion {
        let is_verify = self.squeeze.question == Question::Verify;
        let proved = |proof| if is_verify { Conclusion::Safe(proof) } else { Conclusion::Converged(proof) };
        if let Some(number) = self.safe.filter(|&number| number < self.rungs.len()) {
            return proved(self.bounded_without_bad(number));
        }
        if self.collapsed(&outcome) {
            return proved(Proof::LowerCollapsed);
        }
        if self.squeeze.question == Question::Visible && self.has_met() {
            return proved(self.bounded_by(reached));
        }
        Conclusion::Unknown(match (outcome, halted) {
            (LowerOutcome::Unsafe { trace, pattern }, _) => return Conclusion::Unsafe { trace, pattern },
            (LowerOutcome::Unknown(reason @ Reason::LongTrace { .. }), _) => reason,
            (LowerOutcome::Halted(Halt::Interrupted), _) | (_, Some(Halt::Interrupted)) => Reason::Interrupted,
            (LowerOutcome::Halted(Halt::TimeOut), _) | (_, Some(Halt::TimeOut)) => Reason::TimeOut,
            (LowerOutcome::Halted(Halt::Memory), _) | (_, Some(Halt::Memory)) => Reason::Memory,
            (LowerOutcome::Halted(Halt::Lost), _) | (_, Some(Halt::Lost)) => Reason::Lost,
            (LowerOutcome::Unknown(reason), _) => reason,
            (LowerOutcome::Halted(Halt::Superseded) | LowerOutcome::Collapsed(_) | LowerOutcome::Disagree(_), _) => {
                unreachable!("then there is an answer")
            }
        })
    }

    fn named(&self, numbers: impl IntoIterator<Item = usize>) -> Proof {
        Proof::Bounded(numbers.into_iter().map(|number| self.rungs[number].what.rung).collect())
    }

    /// The rungs, alone or together, that leave no bad state.
    fn bounded_without_bad(&self, number: usize) -> Proof {
        match self.rungs[number].what.outcome {
            Outcome::Bound(bound) if bound.is_safe => self.named([number]),
            _ => {
                let bad = self.squeeze.bad.as_ref().expect("that was the question");
                let others = self.ceiling.without_bad(bad, number).expect("it has been found before");
                self.named(self.first_but_z().into_iter().chain(others))
            }
        }
    }

    /// The first rung, or else the rungs together, that leave just so many states.
    fn bounded_by(&self, reached: usize) -> Proof {
        let bounds = || {
            let numbered = self.rungs.iter().enumerate();
            numbered.filter_map(|(number, rung)| Some((number, rung.what.bound()?)))
        };
        if let Some((alone, _)) = bounds().find(|(_, bound)| bound.sorted == reached) {
            return self.named([alone]);
        }
        self.named(self.first_but_z().into_iter().chain(self.ceiling.rungs_that_ruled_out(self.rungs.len() - 1)))
    }

    /// Rungs that have no such state in common, if there are any.
    fn without(&self, bad: &BadPatterns) -> Option<Vec<Rung>> {
        let is_bound = |rung: &Timestamped<RungResult>| rung.what.bound().is_some();
        let (first, last) = (self.rungs.iter().position(is_bound)?, self.rungs.iter().rposition(is_bound)?);
        let others = self.ceiling.without_bad(bad, last)?;
        let first = if others.is_empty() { Some(first) } else { self.first_but_z() };
        Some(first.into_iter().chain(others).map(|number| self.rungs[number].what.rung).collect())
    }

    /// The rung that the others rule out states of; unless it is Z: everything else is a part of
    /// that.
    fn first_but_z(&self) -> Option<usize> {
        let first = self.rungs.iter().position(|rung| rung.what.bound().is_some());
        first.filter(|&number| self.rungs[number].what.rung != Rung::Z)
    }
}

#[cfg(test)]
mod tests;
