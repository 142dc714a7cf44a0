//! The upper search: rung after rung of the ladder, and what none of them has ruled out.
//!
//! # Why it does not keep the lower search from answering first
//! The race is decided by work (`squeeze/race.rs`). If rungs cost nothing, an upper search with
//! nothing but useless rungs would never let the lower search be first. Two rules prevent that.
//! Every rung costs some work, and before it begins, the race decides whether to stop. And a limit
//! on tuples that the initial states alone exceed ends its kind of rung (`squeeze/rung_order.rs`):
//! no deeper rung of that kind can keep within it.

use crate::certificate::tuples::Tuples;
use crate::limits::{Halt, TooLarge, Unfinished};
use crate::overapproximation::abstraction::{Abstraction, AbstractionError, AbstractionLimits};
use crate::overapproximation::ceiling::Ceiling;
use crate::overapproximation::cut_off_exploration::{CutOffExploration, Progress};
use crate::overapproximation::cut_off_states::CutOffStates;
use crate::overapproximation::ladder::Rung;
use crate::overapproximation::z::Overapproximation;
use crate::squeeze::checkpoint::{SavedUpperSearch, UnfinishedRungTables};
use crate::squeeze::context::{Squeeze, Timestamped};
use crate::squeeze::event::Event;
use crate::squeeze::question::{Options, Question};
use crate::squeeze::race::Side;
use crate::squeeze::rung_order::{RungOrder, RungStep};
use crate::squeeze::rung_outcome::{Bound, Outcome, RungResult};
use crate::symbolic::levels::{SavedSymbolic, Symbolic};
use crate::tables::packed_rows::PackedSet;
use crate::visible::bad_patterns::BadPatterns;
use crate::visible::count::Count;
use crate::visible::symmetry::Symmetry;
use serde::Serialize;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// What the upper search has, in the middle or at its end.
pub(super) struct UpperSearch<'a> {
    pub(super) rungs: Vec<Timestamped<RungResult>>,
    /// For each rung, the proof that it has all that is reachable, if there is one.
    pub(super) invariants: Vec<Option<Invariant<'a>>>,
    pub(super) ceiling: Ceiling,
    /// The first rung after which no bad state was left, if that is the question.
    pub(super) safe: Option<usize>,
    pub(super) halted: Option<Halt>,
    /// Which rung is next.
    pub(super) order: RungOrder,
    /// The rung that is being computed, if a checkpoint has it.
    pub(super) unfinished: Option<(RungStep, UnfinishedRung<'a>)>,
    /// Whether nothing is left to do.
    pub(super) is_over: bool,
}

/// A rung that is being computed, as a checkpoint has it.
pub(super) enum UnfinishedRung<'a> {
    CutOff(Box<CutOffExploration<'a>>),
    Widened(Box<SavedSymbolic>),
}

/// The tables of a rung.
enum RungTables<'a> {
    CutOff(Box<CutOffExploration<'a>>),
    Widened(Box<Symbolic<'a>>),
}

impl RungTables<'_> {
    /// How many tuples or states there are, of those that are limited.
    fn limited(&self, rung: Rung) -> usize {
        match (self, rung) {
            // Z itself is worth all the memory there is.
            (_, Rung::Z | Rung::MatchedZ) => 0,
            (RungTables::CutOff(exploration), _) => exploration.progress().states,
            (RungTables::Widened(tuples), _) => tuples.kept(),
        }
    }
}

impl<'a> Squeeze<'a, '_> {
    /// Computes rung after rung, from a checkpoint if there is one. `z` is Z as far as it was
    /// explored before.
    pub(super) fn run_upper_search(
        &self,
        start: Option<SavedUpperSearch>,
        z: Option<CutOffExploration<'a>>,
        events: &Sender<Event>,
    ) -> UpperSearch<'a> {
        self.begins(Side::Upper);
        let mut end = match start {
            Some(saved) => self.restored_upper(saved),
            None => UpperSearch::new(self.symmetry.clone()),
        };
        if let Some(z) = z
            && end.is_new()
            && self.options.ladder.rungs(0).next() == Some(Rung::Z)
        {
            let step = end.order.next(&self.options).expect("Z is the first one");
            end.unfinished = Some((step, UnfinishedRung::CutOff(Box::new(z))));
        }
        self.report_restored_rungs(&end, events);
        if !end.is_over {
            self.compute_rungs(&mut end, events);
        }
        end.is_over = true;
        if end.halted.is_none() {
            self.save_when_over(Side::Upper, &|out| end.write(None, out));
        }
        end
    }

    /// Reports what a checkpoint has, as it was reported when it was found.
    fn report_restored_rungs(&self, end: &UpperSearch<'a>, events: &Sender<Event>) {
        for Timestamped { time, what } in &end.rungs {
            let _ = events.send(Event::Rung(what.clone()));
            if let Some(bound) = what.bound() {
                self.report(Side::Upper, *time, bound.sorted_left);
            }
        }
        if let Some(number) = end.safe {
            self.race.concludes(end.rungs[number].time);
        }
    }

    /// The tables of a rung: those of an unfinished one, or the initial states.
    fn tables(
        &self,
        rung: Rung,
        unfinished: Option<UnfinishedRung<'a>>,
        limits: AbstractionLimits,
    ) -> Result<RungTables<'a>, TooLarge> {
        let options = |depth| Abstraction::options(depth, self.options.symmetry, limits, self.options.tuning);
        Ok(match (rung, unfinished) {
            (Rung::Abstract(depth), Some(UnfinishedRung::Widened(saved))) => {
                RungTables::Widened(Box::new(Symbolic::restored(self.system(), options(depth), *saved)))
            }
            (Rung::Abstract(depth), _) => RungTables::Widened(Box::new(Symbolic::new(self.system(), options(depth)))),
            (_, Some(UnfinishedRung::CutOff(exploration))) => RungTables::CutOff(exploration),
            (_, _) => {
                let cut = rung.cut().expect("the others are cut off");
                let (memory, tuning) = (limits.memory, self.options.tuning);
                let exploration = CutOffExploration::new(self.system(), self.symmetry.clone(), cut, memory, tuning)?;
                RungTables::CutOff(Box::new(exploration))
            }
        })
    }

    fn compute_rungs(&self, end: &mut UpperSearch<'a>, events: &Sender<Event>) {
        loop {
            if end.unfinished.is_none() {
                self.save_if_due(Side::Upper, &|out| end.write(None, out));
            }
            let (step, unfinished) = match end.unfinished.take() {
                Some((step, unfinished)) => (step, Some(unfinished)),
                None => match end.order.next(&self.options) {
                    Some(step) => (step, None),
                    None => return,
                },
            };
            let outcome = match self.compute_rung(end, step, unfinished, events) {
                Ok(outcome) => outcome,
                Err(why) => {
                    end.halted = Some(why);
                    return;
                }
            };
            let is_last = Self::is_last(end, step.rung, &outcome);
            if self.finish_rung(end, RungResult { rung: step.rung, outcome }, events) || is_last {
                return;
            }
        }
    }

    /// Computes a rung, and notes what came of it.
    ///
    /// # Errors
    /// If the search has to stop.
    fn compute_rung(
        &self,
        end: &mut UpperSearch<'a>,
        mut step: RungStep,
        unfinished: Option<UnfinishedRung<'a>>,
        events: &Sender<Event>,
    ) -> Result<Outcome, Halt> {
        let RungStep { rung, .. } = step;
        if let ControlFlow::Break(why) = self.tick(rung, self.time_after(end, rung, 0)) {
            return Err(why);
        }
        let is_new = unfinished.is_none();
        let memory = self.upper_memory().saturating_sub(end.bytes());
        let tables = self.tables(rung, unfinished, AbstractionLimits { tuples: step.tuples, memory });
        let initial = tables.as_ref().map_or(0, |tables| if is_new { tables.limited(rung) } else { 0 });
        // To give the rung up would only mean to begin it again with more.
        while self.is_open_ended() && initial > step.tuples {
            step.tuples = step.tuples.saturating_mul(4);
        }
        let limits = AbstractionLimits { tuples: step.tuples, memory };
        let (result, work) = match tables {
            Err(TooLarge) => (Err(AbstractionError::TooLarge), 0),
            Ok(RungTables::CutOff(exploration)) => self.cut_off(end, step, *exploration, limits, events),
            Ok(RungTables::Widened(tuples)) => self.widened(end, step, *tuples, limits, events),
        };
        end.order.clock.add(rung, work);
        let why = match result {
            Ok(result) => {
                end.order.is_known(rung);
                return Ok(Outcome::Bound(end.add(result, self.bad.as_ref(), &self.symmetry)));
            }
            Err(why) => why,
        };
        let outcome = match why {
            AbstractionError::Stopped(why) => return Err(why),
            AbstractionError::TooLarge => Outcome::TooLarge,
            AbstractionError::TooManyTuples if initial > step.tuples => {
                end.order.ends_kind(rung);
                Outcome::TooManyInitial(step.tuples)
            }
            AbstractionError::TooManyTuples => {
                if self.is_open_ended() {
                    end.order.try_again(step);
                }
                Outcome::TooManyTuples(step.tuples)
            }
        };
        end.invariants.push(None);
        Ok(outcome)
    }

    /// Whether no limit ends the ladder, so that rungs that had too many tuples are tried again.
    fn is_open_ended(&self) -> bool {
        let Options { max_contexts, max_depth, max_tuples, .. } = self.options;
        max_contexts.is_none() && max_depth.is_none() && max_tuples.is_none()
    }

    /// Whether no rung after this one is worth computing.
    fn is_last(end: &UpperSearch<'a>, rung: Rung, outcome: &Outcome) -> bool {
        let is_deep = |rung| !matches!(rung, Rung::Z | Rung::MatchedZ);
        match outcome {
            // Nothing is left to rule out.
            Outcome::Bound(bound) => bound.is_exact,
            // Z_{d+1} may be smaller than A_d. What comes after both will hardly be.
            Outcome::TooLarge => {
                let before = end.rungs.last().map(|before| &before.what);
                is_deep(rung) && before.is_some_and(|it| it.outcome == Outcome::TooLarge && is_deep(it.rung))
            }
            Outcome::TooManyTuples(_) | Outcome::TooManyInitial(_) => false,
        }
    }

    /// Reports a rung. Says whether no bad state is left.
    fn finish_rung(&self, end: &mut UpperSearch<'a>, climbed: RungResult, events: &Sender<Event>) -> bool {
        let (time, number) = (end.order.clock.time(self.options.tuning.z_head_start), end.rungs.len());
        let _ = events.send(Event::Rung(climbed.clone()));
        let left = climbed.bound().map(|bound| bound.sorted_left);
        end.rungs.push(Timestamped { time, what: climbed });
        let Some(left) = left else { return false };
        self.report(Side::Upper, time, left);
        let is_safe = self.bad.as_ref().is_some_and(|bad| end.ceiling.without_bad(bad, number).is_some());
        if is_safe {
            end.safe = Some(number);
            self.race.concludes(time);
        }
        is_safe
    }

    /// The time after more work for a rung.
    fn time_after(&self, end: &UpperSearch<'_>, rung: Rung, work: u64) -> u64 {
        end.order.clock.after(rung, work, self.options.tuning.z_head_start)
    }

    fn tick(&self, rung: Rung, time: u64) -> ControlFlow<Halt> {
        self.race.tick(Side::Upper, time)?;
        // Where both searches have met, nothing is left to rule out.
        let is_enough = time > self.race.enough() && !self.is_worth_it(rung);
        let is_over = is_enough || self.met().is_some_and(|met| time > met);
        if is_over { ControlFlow::Break(Halt::Superseded) } else { ControlFlow::Continue(()) }
    }

    /// Whether a rung may take all the time it needs, even if the lower search has given up: for a
    /// proof, Z may.
    pub(super) fn is_worth_it(&self, rung: Rung) -> bool {
        self.question == Question::Verify && matches!(rung, Rung::Z | Rung::MatchedZ)
    }

    /// How much memory the ladder may take.
    fn upper_memory(&self) -> usize {
        self.options.memory / 4
    }

    /// The memory that the ladder takes, if so many bytes of what the rungs before have left are in
    /// use.
    fn in_use(&self, left: AbstractionLimits, bytes: usize) -> usize {
        (self.upper_memory() - left.memory).saturating_add(bytes)
    }

    /// Explores M^n to the end, within limits; also gives what that took.
    fn cut_off(
        &self,
        end: &UpperSearch<'a>,
        step: RungStep,
        exploration: CutOffExploration<'a>,
        limits: AbstractionLimits,
        events: &Sender<Event>,
    ) -> (Result<ComputedRung<'a>, AbstractionError<Halt>>, u64) {
        let RungStep { rung, .. } = step;
        // Z itself is worth all the memory there is.
        let most = if rung.cut().is_some_and(|cut| cut.height > 1) { limits.tuples } else { usize::MAX };
        let mut work = exploration.progress().transitions;
        let found = Overapproximation::within(exploration, limits.memory, &mut |exploration| {
            let Progress { states, transitions: taken, bytes } = exploration.progress();
            let bytes = self.in_use(limits, bytes);
            let _ = events.send(Event::Overapproximating { rung, states, bytes });
            work = taken;
            if states > most {
                return ControlFlow::Break(AbstractionError::TooManyTuples);
            }
            self.tick(rung, self.time_after(end, rung, work)).map_break(AbstractionError::Stopped)?;
            if exploration.is_between_states() {
                self.save_if_due(Side::Upper, &|out| {
                    end.write(Some((step, UnfinishedRungTables::CutOff(exploration))), out)
                });
            }
            ControlFlow::Continue(())
        });
        let found = match found {
            Ok((z, taken)) => {
                work = taken;
                let generators = (rung == Rung::Z).then(|| (z.generator_count(), z.pop_target_count()));
                let (set, states) = z.into_states();
                Ok(ComputedRung { generators, is_exact: false, set, invariant: Invariant::CutOff(states) })
            }
            Err(Unfinished::TooLarge) => Err(AbstractionError::TooLarge),
            Err(Unfinished::Stopped(why)) => Err(why),
        };
        (found, work)
    }

    /// Computes A_d to the end, likewise.
    fn widened(
        &self,
        end: &UpperSearch<'a>,
        step: RungStep,
        mut tuples: Symbolic<'a>,
        limits: AbstractionLimits,
        events: &Sender<Event>,
    ) -> (Result<ComputedRung<'a>, AbstractionError<Halt>>, u64) {
        let RungStep { rung, .. } = step;
        tuples.works_for(self.race.cancel(Side::Upper), self.race.workers(Side::Upper));
        let mut work = tuples.work();
        let mut watch = |tuples: &Symbolic<'_>| {
            let bytes = self.in_use(limits, tuples.bytes());
            let _ = events.send(Event::Overapproximating { rung, states: tuples.kept(), bytes });
            work = tuples.work();
            self.tick(rung, self.time_after(end, rung, work))?;
            // The last call may come when the tables are too large to continue.
            if tuples.can_go_on() {
                self.save_if_due(Side::Upper, &|out| {
                    end.write(Some((step, UnfinishedRungTables::Widened(tuples))), out)
                });
            }
            ControlFlow::Continue(())
        };
        let found = Abstraction::watched(tuples, limits, &mut watch);
        let work = found.as_ref().map_or(work, |found| found.work);
        let found = found.map(|Abstraction { is_exact, visible, largest, .. }| ComputedRung {
            generators: None,
            is_exact,
            set: Arc::new(visible),
            invariant: Invariant::Widened(largest),
        });
        (found, work)
    }
}

/// What a rung has found.
struct ComputedRung<'a> {
    set: Arc<PackedSet>,
    invariant: Invariant<'a>,
    generators: Option<(Count, Count)>,
    is_exact: bool,
}

/// What a rung has found, as states that no step leads out of.
#[derive(Serialize)]
pub(super) enum Invariant<'a> {
    CutOff(CutOffStates<'a>),
    Widened(Tuples),
}

impl Invariant<'_> {
    pub(super) fn tuples(&self) -> Tuples {
        match self {
            Invariant::CutOff(states) => states.tuples(),
            Invariant::Widened(tuples) => tuples.clone(),
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Invariant::CutOff(states) => states.bytes(),
            Invariant::Widened(tuples) => tuples.bytes(),
        }
    }
}

impl<'a> UpperSearch<'a> {
    /// Nothing is ruled out.
    fn new(symmetry: Symmetry) -> Self {
        UpperSearch {
            rungs: Vec::new(),
            invariants: Vec::new(),
            ceiling: Ceiling::new(symmetry),
            safe: None,
            halted: None,
            order: RungOrder::new(),
            unfinished: None,
            is_over: false,
        }
    }

    /// Whether nothing was done.
    fn is_new(&self) -> bool {
        self.order.is_new() && self.unfinished.is_none() && !self.is_over
    }

    /// The memory in use.
    fn bytes(&self) -> usize {
        self.ceiling.bytes() + self.invariants.iter().flatten().map(Invariant::bytes).sum::<usize>()
    }

    /// Rules out what the next rung has not.
    fn add(&mut self, found: ComputedRung<'a>, bad: Option<&BadPatterns>, symmetry: &Symmetry) -> Bound {
        let ComputedRung { set, invariant, generators, is_exact } = found;
        self.invariants.push(Some(invariant));
        let number = self.rungs.len();
        let (sorted, visible) = (set.len(), symmetry.sum_of_orbits(set.rows(0..set.len())));
        let is_safe = bad.is_some_and(|bad| bad.first_violation(&set, 0..set.len()).is_none());
        self.ceiling.lower(number, set);
        let (ruled_out, left) = (self.ceiling.ruled_out(number), self.ceiling.count(number));
        let sorted_left = self.ceiling.sorted_count(number);
        Bound { visible, ruled_out, left, generators, is_exact, sorted, sorted_left, is_safe }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Cancel;
    use crate::overapproximation::ladder::Ladder;
    use crate::squeeze::race::Race;
    use crate::squeeze::rung_order::TUPLES;
    use crate::squeeze::work_clock::RUNG;
    use crate::statistics::Engine;
    use crate::tuning::Tuning;
    use cpds::Problem;
    use std::sync::mpsc::channel;

    fn fig_1() -> Problem {
        include_str!("../../../../models/paper/fig1.cpds").parse().unwrap()
    }

    fn squeeze(problem: &Problem, question: Question, options: Options) -> Squeeze<'_, 'static> {
        let options = Options { tuning: Tuning::SMALL, ..options };
        Squeeze::new(problem, question, options, Engine::Explicit, Race::new(2, &Cancel::default()), None)
    }

    fn climbed<'a>(squeeze: &Squeeze<'a, '_>) -> UpperSearch<'a> {
        squeeze.run_upper_search(None, None, &channel().0)
    }

    fn outcomes(end: &UpperSearch<'_>) -> Vec<(String, Outcome)> {
        end.rungs.iter().map(|rung| (rung.what.rung.to_string(), rung.what.outcome.clone())).collect()
    }

    /// After the lower search has given up, only Z is worth it, and only for a proof. After both
    /// have met, nothing is.
    #[test]
    fn when_there_is_nothing_left_to_rule_out() {
        let problem = fig_1();
        let goes_on = |squeeze: &Squeeze<'_, '_>, rung, time| squeeze.tick(rung, time).is_continue();
        for question in [Question::Verify, Question::Visible, Question::Reachable] {
            let squeeze = squeeze(&problem, question, Options::default());
            assert!(goes_on(&squeeze, Rung::Abstract(0), 1 << 40));
            let enough = squeeze.race.gives_up(100, squeeze.options.tuning.upper_grace);
            assert!(goes_on(&squeeze, Rung::Abstract(0), enough) && !goes_on(&squeeze, Rung::Abstract(0), enough + 1));
            assert!(!goes_on(&squeeze, Rung::CutOff(2), 1 << 40));
            for rung in [Rung::Z, Rung::MatchedZ] {
                assert_eq!(goes_on(&squeeze, rung, enough + 1), question == Question::Verify);
            }
        }
        let squeeze = squeeze(&problem, Question::Reachable, Options::default());
        for (end, time, states) in [(Side::Upper, 5, 9), (Side::Lower, 7, 6), (Side::Upper, 6, 8), (Side::Lower, 9, 8)]
        {
            assert_eq!(squeeze.met(), None);
            squeeze.report(end, time, states);
        }
        // That nothing changes any more is no news.
        squeeze.report(Side::Lower, 11, 8);
        squeeze.report(Side::Upper, 12, 8);
        assert_eq!(squeeze.met(), Some(9));
        assert!(goes_on(&squeeze, Rung::Z, 9) && !goes_on(&squeeze, Rung::Z, 10));
        // More than is left cannot have been reached: both stop at once.
        squeeze.report(Side::Lower, 13, 9);
        assert!([Side::Upper, Side::Lower].iter().all(|&end| squeeze.race.cancel(end).why() == Some(Halt::Superseded)));
    }

    /// Z may be as large as it gets; what comes after matched-Z has a limit. There is one initial
    /// state: as a diagram, some nodes.
    #[test]
    fn too_many_tuples() {
        let problem = fig_1();
        let squeeze = |tuples| {
            let options = Options { max_depth: Some(1), max_tuples: Some(tuples), ..Options::default() };
            squeeze(&problem, Question::Visible, options)
        };
        for most in [0, 1] {
            let outcomes = outcomes(&climbed(&squeeze(most)));
            let names: Vec<&str> = outcomes.iter().map(|(name, _)| name.as_str()).collect();
            assert_eq!(names, ["Z", "matched-Z", "A_0", "Z_2"]);
            let generators = outcomes.iter().map(|(_, outcome)| match outcome {
                Outcome::Bound(bound) => bound.generators.map(|(g, popped)| (g.to_string(), popped.to_string())),
                other => panic!("{other:?}"),
            });
            assert_eq!(generators.take(2).collect::<Vec<_>>(), [Some(("2".to_owned(), "2".to_owned())), None]);
            let cut_off = if most == 0 { Outcome::TooManyInitial(0) } else { Outcome::TooManyTuples(1) };
            assert_eq!([&outcomes[2].1, &outcomes[3].1], [&Outcome::TooManyInitial(most), &cut_off]);
        }
    }

    /// No rung can have fewer tuples than it begins with: there is no end to the ladder here, but
    /// one to the climb. And it takes some time.
    #[test]
    fn too_many_to_begin_with() {
        let problem = fig_1();
        for ladder in [Ladder::All, Ladder::Abstract] {
            let options = Options { max_tuples: Some(0), ladder, ..Options::default() };
            let end = climbed(&squeeze(&problem, Question::Visible, options));
            let deep: Vec<String> = end.rungs.iter().map(|rung| rung.what.rung.to_string()).collect();
            let expected = if ladder == Ladder::All { &["Z", "matched-Z", "A_0", "Z_2"][..] } else { &["A_0"] };
            assert_eq!((deep, end.halted), (expected.iter().map(ToString::to_string).collect(), None));
            let times: Vec<u64> = end.rungs.iter().map(|rung| rung.time).collect();
            assert!(times[times.len() - 1] >= RUNG && times.is_sorted(), "{times:?}");
        }
    }

    /// Four initial states that differ at the bottom alone. Cut off, they are one.
    #[test]
    fn each_kind_of_rung_begins_with_its_own_number() {
        let problem: Problem = "shared 0; init 0|a a a a; init 0|a a a b; init 0|a a a c; init 0|a a a d
            thread A { symbols a b c d; (0,a) -> (0,-) }"
            .parse()
            .unwrap();
        let options = Options { max_tuples: Some(3), max_depth: Some(5), ..Options::default() };
        let deep = outcomes(&climbed(&squeeze(&problem, Question::Visible, options))).split_off(2);
        let deep: Vec<String> = deep
            .iter()
            .map(|(name, outcome)| format!("{name} {}", matches!(outcome, Outcome::TooManyInitial(3))))
            .collect();
        assert_eq!(deep, ["A_0 true", "Z_2 false", "Z_3 false", "Z_4 true"]);
    }

    /// If no limit is named, the one by default is raised until the initial states are within it.
    #[test]
    fn no_limit_is_too_small_to_begin_with() {
        let problem = many_initial_states();
        let end =
            climbed(&squeeze(&problem, Question::Visible, Options { ladder: Ladder::Abstract, ..Options::default() }));
        let bound = |outcome: &Outcome| matches!(outcome, Outcome::Bound(bound) if bound.is_exact);
        assert!(end.rungs.len() == 1 && bound(&end.rungs[0].what.outcome), "{:?}", outcomes(&end));
        let options = Options { max_tuples: Some(TUPLES), ladder: Ladder::Abstract, ..Options::default() };
        let end = climbed(&squeeze(&problem, Question::Visible, options));
        assert_eq!(outcomes(&end), [("A_0".to_owned(), Outcome::TooManyInitial(TUPLES))]);
    }

    /// More than the tuples that a rung may have by default; no thread can move.
    fn many_initial_states() -> Problem {
        let states = (0..450).flat_map(|a| (0..450).map(move |b| format!("init 0|{a},{b}\n")));
        ("shared 0; thread A * 2 { symbols 0..449 }\n".to_owned() + &states.collect::<String>()).parse().unwrap()
    }

    /// A bad state ends the race for both. The upper end does not begin another rung, although
    /// there are always more.
    #[test]
    fn no_rung_is_begun_when_the_race_is_over() {
        let problem = fig_1();
        let squeeze = squeeze(&problem, Question::Verify, Options { max_tuples: Some(1), ..Options::default() });
        squeeze.race.cancel_both();
        let end = climbed(&squeeze);
        assert_eq!((outcomes(&end), end.halted), (Vec::new(), Some(Halt::Superseded)));
    }

    /// A limit that is named holds: nothing is tried again with more.
    #[test]
    fn nothing_is_tried_again_beyond_a_limit_that_is_named() {
        let problem = fig_1();
        let options = Options { max_tuples: Some(7), ladder: Ladder::Abstract, ..Options::default() };
        let squeeze = squeeze(&problem, Question::Visible, options);
        squeeze.race.concludes(20 * RUNG);
        let end = climbed(&squeeze);
        assert_eq!(end.halted, Some(Halt::Superseded));
        let deep = outcomes(&end);
        assert!(deep.len() > 5 && deep.iter().all(|(_, it)| *it == Outcome::TooManyTuples(7)), "{deep:?}");
    }

    /// Without memory there is no rung; after two deep ones the others are not tried.
    #[test]
    fn no_memory() {
        let problem = fig_1();
        let options = Options { memory: 0, max_depth: Some(4), ..Options::default() };
        let end = climbed(&squeeze(&problem, Question::Verify, options));
        let too_large = ["Z", "matched-Z", "A_0", "A_1"].map(|name| (name.to_owned(), Outcome::TooLarge));
        assert_eq!(outcomes(&end), too_large);
    }

    /// The ladder has a quarter of the memory; what its rungs have left is in use.
    #[test]
    fn the_memory_in_use() {
        let problem = fig_1();
        let options = Options { max_depth: Some(1), memory: 1 << 24, ..Options::default() };
        let squeeze = squeeze(&problem, Question::Visible, options);
        let end = climbed(&squeeze);
        let proofs: Vec<usize> = end.invariants.iter().flatten().map(Invariant::bytes).collect();
        assert!(proofs.len() > 2 && proofs.iter().all(|&bytes| bytes > 16), "{proofs:?}");
        assert_eq!(end.bytes(), end.ceiling.bytes() + proofs.iter().sum::<usize>());
        let left = AbstractionLimits { tuples: 1, memory: (1 << 22) - 1000 };
        assert_eq!(squeeze.in_use(left, 24), 1024);
    }
}
