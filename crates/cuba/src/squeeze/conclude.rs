//! The conclusion, put together from both searches.
//!
//! Whatever was found after the first answer is dropped, so that everything that is reported is the
//! same in every run.

use crate::fcr::contexts::Fcr;
use crate::limits::Halt;
use crate::overapproximation::ladder::Rung;
use crate::overapproximation::remaining::Ceiling;
use crate::squeeze::analysis::{Analysis, Conclusion, Contradiction, Level, Proof, Reason};
use crate::squeeze::levels::Lower;
use crate::squeeze::lower_search::{LowerEnd, LowerOutcome, Squeeze, Timed};
use crate::squeeze::observation_sequence::ObservationSequence;
use crate::squeeze::question::Question;
use crate::squeeze::upper_search::{Climbed, Outcome, UpperEnd};
use crate::statistics::Statistics;
use crate::visible::bad_patterns::Bad;
use crate::visible::count::Count;

/// Puts together what both ends have found up to the time of the first answer.
pub(crate) fn conclude<'a>(
    squeeze: &Squeeze<'a, '_>,
    fcr: Option<Fcr>,
    upper: UpperEnd<'a>,
    lower: LowerEnd<'a>,
) -> Analysis<'a> {
    let UpperEnd { mut rungs, mut invariants, ceiling, safe, halted, .. } = upper;
    let LowerEnd { mut levels, lower, states, outcome, enough, .. } = lower;
    // Engines that contradict each other do so whatever was first.
    let contradiction = contradiction(&rungs, &ceiling, &lower, &outcome);
    // A bad state is told at once, and so with nothing of what the upper end had by then.
    let is_bad = matches!(outcome, LowerOutcome::Unsafe { .. } | LowerOutcome::Unknown(Reason::LongTrace { .. }));
    let is_in_time =
        |rung: &&Timed<Climbed>| squeeze.is_worth_it(rung.what.rung) || enough.is_none_or(|enough| rung.time <= enough);
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
        // The tuples have not got further than the states.
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
    let found = Found { squeeze, rungs: &rungs, ceiling: &ceiling, safe, first, met };
    let mut analysis = Analysis {
        levels: levels.iter().map(|level| found.level(level)).collect(),
        lower,
        statistics,
        fcr,
        rungs: rungs.iter().map(|rung| rung.what.clone()).collect(),
        invariants,
        lower_sequence: ObservationSequence::default(),
        visible_sequence: ObservationSequence::default(),
        collapse_of_states: None,
        between: None,
        conclusion: Conclusion::Unknown(Reason::ContextBound),
    };
    (analysis.lower_sequence, analysis.visible_sequence) = Level::sequences(&analysis.levels);
    if found.collapsed(&outcome) {
        analysis.lower_sequence.converges();
    }
    if found.collapsed(&outcome) || found.has_met() {
        analysis.visible_sequence.converges();
    }
    let reached = analysis.lower.visible().range(analysis.k()).end;
    analysis.conclusion = match contradiction {
        Some(contradiction) => Conclusion::Contradiction(contradiction),
        None => found.answer(outcome, halted, reached),
    };
    let is_all = analysis.visible_sequence.collapse().is_some();
    if let Some(fcr) = &mut analysis.fcr {
        let (system, visible) = (squeeze.system(), analysis.lower.visible());
        let k = analysis.levels.len().saturating_sub(1);
        fcr.add(system, &squeeze.symmetry, (visible, k, is_all), |bad| found.without(bad));
    }
    analysis.collapse_of_states = analysis.lower_sequence.collapse().and_then(|collapse| match &analysis.lower {
        Lower::Explicit(_) | Lower::Shares(_) => Some(collapse),
        Lower::Symbolic(tuples) => tuples.collapse_of_states(collapse),
    });
    if analysis.is_open() {
        let bad = squeeze.bad.as_ref().map(|bad| (bad, squeeze.problem.property()));
        let visible = analysis.lower.visible().set();
        let last = rungs.iter().rposition(|rung| matches!(rung.what.outcome, Outcome::Bound(_)));
        analysis.between = last.and_then(|last| ceiling.between(last, (visible, reached), bad));
    }
    analysis
}

/// Since when both ends have the same visible states, if they have: since what is left came down to these, and they were reached.
fn met(levels: &[Timed<(Level, Statistics)>], rungs: &[Timed<Climbed>]) -> Option<u64> {
    let bounds = || {
        rungs.iter().filter_map(|rung| match rung.what.outcome {
            Outcome::Bound(bound) => Some((rung.time, bound.kept_left)),
            _ => None,
        })
    };
    let (_, left) = bounds().next_back()?;
    let (high, _) = bounds().find(|&(_, kept)| kept == left)?;
    let low = levels.iter().find(|level| level.what.1.visible_kept() == left)?.time;
    Some(low.max(high))
}

/// A state that was reached and ruled out, if there is one.
fn contradiction(
    rungs: &[Timed<Climbed>],
    ceiling: &Ceiling,
    lower: &Lower<'_>,
    outcome: &LowerOutcome,
) -> Option<Contradiction> {
    if let LowerOutcome::Disagree(k) = *outcome {
        return Some(Contradiction::Levels { k });
    }
    let (visible, last) = (lower.visible(), rungs.len().checked_sub(1)?);
    let (state, by) = ceiling.missing(last, visible.set(), visible.kept())?;
    let first = || rungs.iter().position(|rung| matches!(rung.what.outcome, Outcome::Bound(_)));
    let rung = rungs[by.or_else(first).expect("something was ruled out")].what.rung;
    let trace = match outcome {
        LowerOutcome::Unsafe { trace, pattern } => Some((trace.clone(), *pattern)),
        _ => None,
    };
    Some(Contradiction::RuledOut { state, rung, trace })
}

/// What was found up to the time of the first answer.
struct Found<'f, 'a> {
    squeeze: &'f Squeeze<'a, 'f>,
    rungs: &'f [Timed<Climbed>],
    ceiling: &'f Ceiling,
    /// The rung after which no bad state was left.
    safe: Option<usize>,
    /// The time of the first answer.
    first: Option<u64>,
    /// When the ends met.
    met: Option<u64>,
}

impl Found<'_, '_> {
    /// A level, with what was left above at its time, and the rung that last ruled something out.
    fn level(&self, level: &Timed<(Level, Statistics)>) -> Level {
        let rungs = self.rungs.iter().filter(|rung| rung.time <= level.time);
        let upper = rungs.fold(None, |upper, rung| match rung.what.outcome {
            Outcome::Bound(bound) if upper.is_none() || bound.ruled_out != Count::ZERO => {
                Some((bound.left, rung.what.rung))
            }
            _ => upper,
        });
        Level { upper, ..level.what.0 }
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

    /// The answer, if no engines contradict each other. `reached` is how many sorted visible states the last level has.
    fn answer(&self, outcome: LowerOutcome, halted: Option<Halt>, reached: usize) -> Conclusion {
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
            (LowerOutcome::Halted(Halt::Beaten) | LowerOutcome::Collapsed(_) | LowerOutcome::Disagree(_), _) => {
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
            self.rungs.iter().enumerate().filter_map(|(number, rung)| match rung.what.outcome {
                Outcome::Bound(bound) => Some((number, bound)),
                _ => None,
            })
        };
        if let Some((alone, _)) = bounds().find(|(_, bound)| bound.kept == reached) {
            return self.named([alone]);
        }
        self.named(self.first_but_z().into_iter().chain(self.ceiling.helped(self.rungs.len() - 1)))
    }

    /// Rungs that have no such state in common, if there are any.
    fn without(&self, bad: &Bad) -> Option<Vec<Rung>> {
        let is_bound = |rung: &Timed<Climbed>| matches!(rung.what.outcome, Outcome::Bound(_));
        let (first, last) = (self.rungs.iter().position(is_bound)?, self.rungs.iter().rposition(is_bound)?);
        let others = self.ceiling.without_bad(bad, last)?;
        let first = if others.is_empty() { Some(first) } else { self.first_but_z() };
        Some(first.into_iter().chain(others).map(|number| self.rungs[number].what.rung).collect())
    }

    /// The rung that the others rule out states of; unless it is Z: everything else is a part of that.
    fn first_but_z(&self) -> Option<usize> {
        let first = self.rungs.iter().position(|rung| matches!(rung.what.outcome, Outcome::Bound(_)));
        first.filter(|&number| self.rungs[number].what.rung != Rung::Z)
    }
}

#[cfg(test)]
mod tests;
