//! Context-unbounded analysis: what was asked, how to go about it, and what came of it (paper §3, §4, §6).
//!
//! Two ends work towards each other (`squeeze.rs`). The lower one computes R_k for k = 0, 1, …, explicitly if finite context
//! reachability holds, and otherwise symbolically, S_k for R_k, where T(S_k) = T(R_k). The upper one takes one rung of the ladder
//! after the other (`ladder.rs`), and keeps what all of them have.
//!
//! # What each proves
//! - A bad state in R_k: **unsafe**, and k is the least number of contexts, since R_{k-1} had none.
//! - No bad state left above: **safe**, whatever k is.
//! - R_{k-1} = R_k: R = R_k (Lemma 7). Scheme 1. Likewise if every tuple of S_k is covered by one of S_{k-1}.
//! - T(R_k) is all that is left above: T(R) = T(R_k). With Z above, this is when Alg. 3 converges, only that Alg. 3 waits for the
//!   next plateau to notice.
//! - Anything else: **unknown**. Safe up to k contexts is not safe.
//!
//! # Which one is told, if several hold
//! The one that was proved with less work; of two with the same, in this order: above, Scheme 1, both ends met.

use super::bad::Bad;
use super::ceiling::{Between, Ceiling};
use super::count::Count;
use super::fcr::Fcr;
use super::keep::{Keeper, Start};
use super::ladder::{Ladder, Rung};
use super::lower::{Engine, Lower, Statistics};
use super::psa::TooLarge;
use super::race::{Cancel, End, Halt, Race, Stop};
use super::sequence::ObservationSequence;
use super::squeeze::{LowerEnd, LowerOutcome, Squeeze, Timed};
use super::symmetry::Symmetry;
use super::upper::{Climbed, Invariant, Outcome, UpperEnd};
use cpds::{Problem, Trace, VisibleState};
use serde::{Deserialize, Serialize};
use std::panic::resume_unwind;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

pub use super::event::{Event, Seen};

/// What to find out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Question {
    /// Whether a bad state is reachable.
    Verify,
    /// T(R): until (T(R_k)) is known to have converged.
    Visible,
    /// R: until (R_k) has converged, which it may never do.
    Reachable,
}

/// How to go about it.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// What the levels are made of; if it is not said, that depends on finite context reachability, and on the memory.
    pub engine: Option<Engine>,
    /// Which overapproximations to try.
    pub ladder: Ladder,
    /// Whether to treat interchangeable threads as such. No answer depends on it.
    pub symmetry: bool,
    /// Where to stop below: the level with this k is the last one computed.
    pub max_contexts: Option<usize>,
    /// Where to stop above: A_d with this d is the last one computed.
    pub max_depth: Option<usize>,
    /// How many tuples an A_d may have, or states a Z_z. Without this and the two before, k and d are raised until there is an
    /// answer, and what had too many tuples is tried again with more. If it is named, and the initial states alone are more, there
    /// are no deeper ones.
    pub max_tuples: Option<usize>,
    /// How many bytes the tables may take.
    pub memory: usize,
    /// How many threads may work at a time. No answer depends on it.
    pub jobs: usize,
    /// When to give up.
    pub timeout: Option<Duration>,
    /// Somebody who may say that everything is to stop at once.
    pub interrupt: Option<&'static Stop>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            engine: None,
            ladder: Ladder::All,
            symmetry: true,
            max_contexts: None,
            max_depth: None,
            max_tuples: None,
            memory: 4 << 30,
            jobs: 2,
            timeout: None,
            interrupt: None,
        }
    }
}

/// What a finished level added.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Level {
    /// k.
    pub k: usize,
    /// |R_k|, if states are counted.
    pub reachable: Option<Count>,
    /// |R_k \ R_{k-1}|, if states are counted.
    pub new_reachable: Option<Count>,
    /// How many tuples S_k has that no other one covers, if the level is made of tuples.
    pub tuples: Option<Count>,
    /// |T(R_k)|.
    pub visible: Count,
    /// |T(R_k) \ T(R_{k-1})|.
    pub new_visible: Count,
    /// Whether R_k or S_k grew. (Asked of the tables: numbers may be beyond counting.)
    pub(super) grew: bool,
    /// Whether T(R_k) grew.
    pub(super) visible_grew: bool,
    /// How many visible states were left above when the level was finished, and by which rung.
    pub upper: Option<(Count, Rung)>,
}

impl Level {
    /// What these levels say of (R_k), or of (S_k), and of (T(R_k)).
    pub fn sequences(levels: &[Level]) -> (ObservationSequence, ObservationSequence) {
        let mut sequences = (ObservationSequence::default(), ObservationSequence::default());
        for level in levels.iter().skip(1) {
            sequences.0.observe(level.grew);
            sequences.1.observe(level.visible_grew);
        }
        sequences
    }
}

/// The result of an analysis.
pub struct Analysis<'a> {
    /// Each level that was finished.
    pub levels: Vec<Level>,
    /// R_k or S_k, and T(R_k); there may be further levels.
    pub lower: Lower<'a>,
    /// What the levels took.
    pub statistics: Statistics,
    /// What is known of finite context reachability; nothing if the memory is not enough to find pumping heads.
    pub fcr: Option<Fcr>,
    /// The rungs that were tried.
    pub rungs: Vec<Climbed>,
    /// For each rung, the proof that it has all that is reachable, if there is one.
    pub(super) invariants: Vec<Option<Invariant<'a>>>,
    /// What is known of (R_k), or of (S_k), which may collapse later.
    pub lower_sequence: ObservationSequence,
    /// What is known of (T(R_k)).
    pub visible_sequence: ObservationSequence,
    /// Where (R_k) collapses, as far as it is known.
    pub collapse_of_states: Option<usize>,
    /// The visible states that are neither reached nor ruled out, if there is no answer.
    pub between: Option<Between>,
    /// The answer.
    pub conclusion: Conclusion,
}

/// The answer.
#[derive(Clone, PartialEq, Eq, Debug)]
#[must_use]
pub enum Conclusion {
    /// No bad state is reachable, for any number of contexts.
    Safe(Proof),
    /// A bad state is reachable; the trace has the least number of contexts.
    Unsafe {
        /// The path to it.
        trace: Trace,
        /// The pattern it fits, as a position in [`Property::bad`](cpds::Property::bad).
        pattern: usize,
    },
    /// The sequence that was asked for has converged.
    Converged(Proof),
    /// No answer, never a guess.
    Unknown(Reason),
    /// There is a mistake in an engine.
    Contradiction(Contradiction),
}

/// Why the answer holds for every number of contexts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Proof {
    /// What these rungs have in common, mostly one alone, has no bad state; or, if T(R) was asked for, it is T(R_k).
    Bounded(Vec<Rung>),
    /// R_{k-1} = R_k (Scheme 1), or S_{k-1} = S_k.
    LowerCollapsed,
}

/// Why there is no answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Reason {
    /// As many contexts as were asked for.
    ContextBound,
    /// The tables would take more memory than they may.
    Memory,
    /// A bad state is reachable with this many contexts, and with no fewer, but the way there is too long to be written out.
    LongTrace {
        /// How many contexts.
        contexts: usize,
    },
    /// The user did not want to wait any longer.
    Interrupted,
    /// There was no time left.
    TimeOut,
    /// Another process that had a share of the states is gone.
    Lost,
}

impl From<Halt> for Reason {
    fn from(why: Halt) -> Self {
        match why {
            Halt::Interrupted | Halt::Beaten => Reason::Interrupted,
            Halt::TimeOut => Reason::TimeOut,
            Halt::Memory => Reason::Memory,
            Halt::Lost => Reason::Lost,
        }
    }
}

/// Two engines say what cannot both be true.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Contradiction {
    /// This state was reached, and ruled out.
    RuledOut {
        /// Which state.
        state: VisibleState,
        /// What ruled it out.
        rung: Rung,
        /// The way to a bad state, with the pattern that it fits, if that is what was reached.
        trace: Option<(Trace, usize)>,
    },
    /// The explicit engine and the symbolic one have different visible states for this k.
    Levels {
        /// k.
        k: usize,
    },
}

/// Answers a question about a problem.
pub fn analyse(problem: &Problem, question: Question, options: Options, event: impl FnMut(Event)) -> Analysis<'_> {
    analyse_from(Start::default(), problem, question, options, None, event)
}

/// The same, from what another run has kept; and what both ends have by then is kept now and then.
pub fn analyse_from<'a>(
    start: Start,
    problem: &'a Problem,
    question: Question,
    options: Options,
    keeper: Option<&dyn Keeper>,
    mut event: impl FnMut(Event),
) -> Analysis<'a> {
    let cancel = Cancel::when(options.interrupt, options.timeout);
    let symmetry = Symmetry::new(problem.system(), options.symmetry);
    let (fcr, z) = match Fcr::at_once(problem.system(), &symmetry, options.memory / 4, &cancel) {
        Ok((fcr, z)) => (Some(fcr), z),
        Err(TooLarge) => (None, None),
    };
    let is_finite = fcr.as_ref().and_then(Fcr::holds);
    event(Event::Fcr(is_finite.zip(fcr.as_ref().and_then(Fcr::by))));
    let by_fcr = if is_finite == Some(true) { Engine::Explicit } else { Engine::Symbolic };
    let engine = options.engine.unwrap_or(by_fcr);
    let race = Race::new(options.jobs, &cancel);
    let mut squeeze = Squeeze::new(problem, question, options, engine, race, keeper);
    let Start { upper, lower, elsewhere } = start;
    squeeze.elsewhere = elsewhere;
    let (upper, lower) = thread::scope(|scope| {
        let (events, received) = channel();
        let (squeeze, of_lower) = (&squeeze, events.clone());
        let upper = scope.spawn(move || squeeze.race.run(End::Upper, || squeeze.climb_from_above(upper, z, &events)));
        let lower = scope.spawn(move || squeeze.race.run(End::Lower, || squeeze.climb_from_below(lower, &of_lower)));
        received.into_iter().for_each(&mut event);
        // What one of them panics with goes on here.
        (
            upper.join().unwrap_or_else(|panic| resume_unwind(panic)),
            lower.join().unwrap_or_else(|panic| resume_unwind(panic)),
        )
    });
    conclude(&squeeze, fcr, upper, lower)
}

/// Puts together what both ends have found up to the time of the first answer.
fn conclude<'a>(squeeze: &Squeeze<'a, '_>, fcr: Option<Fcr>, upper: UpperEnd<'a>, lower: LowerEnd<'a>) -> Analysis<'a> {
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

impl Analysis<'_> {
    /// The last level that is finished and has no bad state, if that was the question.
    pub fn k(&self) -> usize {
        self.levels.len().saturating_sub(1)
    }

    /// Whether there is no answer because something new may still become visible.
    pub fn is_open(&self) -> bool {
        let open =
            matches!(self.conclusion, Conclusion::Unknown(ref reason) if !matches!(reason, Reason::LongTrace { .. }));
        open && self.visible_sequence.collapse().is_none()
    }
}

#[cfg(test)]
mod tests;
