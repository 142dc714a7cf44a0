//! The upper end: rung after rung, and what none of them has ruled out.
//!
//! # Why it lets the lower end have its answer
//! The race is decided by work (`squeeze/race.rs`), so an upper end that took rungs for nothing would never let an answer from below be the
//! first one. Two rules see to it. Every rung costs something, and before it begins, the race is asked whether to stop. And a limit on tuples
//! that the initial states alone exceed ends the climb ([`AtStart`]): no deeper rung of that kind can keep it.

use crate::certificate::tuples::Tuples;
use crate::limits::Halt;
use crate::limits::TooLarge;
use crate::limits::Unfinished;
use crate::overapproximation::abstraction::{Abstraction, Blown, Limits};
use crate::overapproximation::ladder::{Ladder, Rung};
use crate::overapproximation::remaining::Ceiling;
use crate::overapproximation::z::{CutOffStates, Growing, Overapproximation, Progress};
use crate::squeeze::checkpoint::{BegunTables, SavedUpperEnd};
use crate::squeeze::event::Event;
use crate::squeeze::lower_search::{Squeeze, Timed};
use crate::squeeze::question::{Options, Question};
use crate::squeeze::race::End;
use crate::symbolic::levels::{SYMBOLIC, SavedSymbolic, Symbolic};
use crate::tables::packed_rows::PackedSet;
use crate::visible::bad_patterns::Bad;
use crate::visible::count::Count;
use crate::visible::symmetry::Symmetry;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// Z and matched-Z may take so many transitions before they count. (Unit tests are about small systems, for which this should
/// matter.)
const HEAD_START: u64 = if cfg!(test) { 1 << 5 } else { 1 << 14 };

/// A rung takes some time even if there is nothing to do.
const RUNG: u64 = 1 << 6;

/// How many tuples an A_d may have, or states a Z_z, if nothing else is said; if there are no limits at all, more at the next try.
const TUPLES: usize = 100_000;

/// How deep the ladder goes, if nothing else is said but the number of contexts.
const DEPTH: usize = 4;

/// What the upper end came to.
pub(crate) struct UpperEnd<'a> {
    pub(crate) rungs: Vec<Timed<Climbed>>,
    /// For each rung, the proof that it has all that is reachable, if there is one.
    pub(crate) invariants: Vec<Option<Invariant<'a>>>,
    pub(crate) ceiling: Ceiling,
    /// The first rung after which no bad state was left, if that is the question.
    pub(crate) safe: Option<usize>,
    pub(crate) halted: Option<Halt>,
    /// How far it has got.
    pub(crate) climb: Climb,
    /// The rung that it has begun, if that was kept in the middle.
    pub(crate) begun: Option<(Step, Begun<'a>)>,
    /// Whether there is nothing left to do.
    pub(crate) is_over: bool,
}

/// How far the upper end has got.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Climb {
    /// How many rungs of the ladder have been taken.
    taken: usize,
    /// Rungs that had too many tuples, to be tried again.
    again: VecDeque<Step>,
    /// Deeper rungs are taken, and those that had too many tuples are tried again, in turns.
    is_new: bool,
    /// The depth of the last A_d that has not too many tuples.
    deepest: Option<usize>,
    too_many: AtStart,
    clock: Clock,
}

/// The kinds of rungs that have too many tuples or states before their first step.
///
/// An A_d begins with the initial states as they are, each a tuple of single words: nothing is widened, and nothing merged, before the first step.
/// (Where tuples are drawn, what counts is nodes; they are the same ones.) So all A_d begin with equally many, and if these are too many for one, they are for every one.
/// A Z_z begins with the initial states cut off at height z. Of these, Z_{z+1} has at least as many. So if they are too many, they are for every higher one.
/// But initial states that differ only far down are one for Z_z and several for A_d; that is why each kind ends on its own.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct AtStart {
    abstracts: bool,
    cut_offs: bool,
}

impl AtStart {
    fn add(&mut self, rung: Rung) {
        match rung {
            Rung::Abstract(_) => self.abstracts = true,
            Rung::CutOff(_) => self.cut_offs = true,
            Rung::Z | Rung::MatchedZ => unreachable!("they have no limit but the memory"),
        }
    }

    /// Whether a rung is of such a kind.
    fn has(self, rung: Rung) -> bool {
        match rung {
            Rung::Abstract(_) => self.abstracts,
            Rung::CutOff(_) => self.cut_offs,
            Rung::Z | Rung::MatchedZ => false,
        }
    }

    /// Whether no deeper rung of the ladder is of another kind.
    fn is_everything(self, ladder: Ladder) -> bool {
        self.abstracts && (self.cut_offs || ladder != Ladder::All)
    }
}

/// A rung to be taken, with so many tuples at most.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Step {
    pub(crate) rung: Rung,
    pub(crate) tuples: usize,
}

/// A rung that has been begun.
pub(crate) enum Begun<'a> {
    CutOff(Box<Growing<'a>>),
    Widened(Box<SavedSymbolic>),
}

/// The tables of a rung.
enum Tables<'a> {
    CutOff(Box<Growing<'a>>),
    Widened(Box<Symbolic<'a>>),
}

impl Tables<'_> {
    /// How many tuples or states there are, of those that are limited.
    fn limited(&self, rung: Rung) -> usize {
        match (self, rung) {
            // Z itself is worth all the memory there is.
            (_, Rung::Z | Rung::MatchedZ) => 0,
            (Tables::CutOff(growing), _) => growing.progress().states,
            (Tables::Widened(tuples), _) => tuples.kept(),
        }
    }
}

/// A rung that was tried.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Climbed {
    /// Which one.
    pub rung: Rung,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a rung.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Outcome {
    /// An overapproximation.
    Bound(Bound),
    /// It has more tuples than this; or states, if stacks are cut off.
    TooManyTuples(usize),
    /// The initial states alone are more tuples or states than this.
    TooManyInitial(usize),
    /// It takes too much memory.
    TooLarge,
}

/// An overapproximation of T(R).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Bound {
    /// How many visible states it has.
    pub visible: Count,
    /// How many it was the first to rule out.
    pub ruled_out: Count,
    /// How many are left after it.
    pub left: Count,
    /// For Z: |G ∩ Z|, and the size of the tighter set of generators, targets of pops taken from Z.
    pub generators: Option<(Count, Count)>,
    /// Whether it is known to be T(R): no language was widened.
    pub is_exact: bool,
    /// How many sorted states it has.
    pub(crate) kept: usize,
    /// How many sorted states are left after it.
    pub(crate) kept_left: usize,
    /// Whether it alone has no bad state, if that is the question.
    pub(crate) is_safe: bool,
}

impl<'a> Squeeze<'a, '_> {
    /// Takes rung after rung; from what was kept, if anything was. `z` is Z as far as it was explored before.
    pub(crate) fn climb_from_above(
        &self,
        start: Option<SavedUpperEnd>,
        z: Option<Growing<'a>>,
        events: &Sender<Event>,
    ) -> UpperEnd<'a> {
        self.begins(End::Upper);
        let mut end = match start {
            Some(saved) => self.restored_upper(saved, &self.symmetry),
            None => UpperEnd::new(self.symmetry.clone()),
        };
        if let Some(z) = z
            && end.is_new()
            && self.options.ladder.rungs(0).next() == Some(Rung::Z)
        {
            let step = self.next_step(&mut end.climb).expect("Z is the first one");
            end.begun = Some((step, Begun::CutOff(Box::new(z))));
        }
        self.tell_all_again(&end, events);
        if !end.is_over {
            self.climb(&mut end, &self.symmetry, events);
        }
        end.is_over = true;
        if end.halted.is_none() {
            self.keep_when_over(End::Upper, &|out| end.write(None, out));
        }
        end
    }

    /// Tells what was kept, as it was told when it was found.
    fn tell_all_again(&self, end: &UpperEnd<'a>, events: &Sender<Event>) {
        for Timed { time, what } in &end.rungs {
            let _ = events.send(Event::Climbed(what.clone()));
            if let Outcome::Bound(bound) = what.outcome {
                self.tell(End::Upper, *time, bound.kept_left);
            }
        }
        if let Some(number) = end.safe {
            self.race.concludes(end.rungs[number].time);
        }
    }

    /// The next rung, if there is one.
    fn next_step(&self, climb: &mut Climb) -> Option<Step> {
        let Options { max_contexts, max_depth, max_tuples, .. } = self.options;
        let max_depth = max_depth.unwrap_or(if max_contexts.is_some() { DEPTH } else { usize::MAX });
        while !climb.too_many.is_everything(self.options.ladder) {
            let new = if climb.is_new || climb.again.is_empty() {
                self.options.ladder.rungs(max_depth).nth(climb.taken)
            } else {
                None
            };
            climb.taken += usize::from(new.is_some());
            let step = match new {
                Some(rung) => Step { rung, tuples: max_tuples.unwrap_or(TUPLES) },
                None => climb.again.pop_front()?,
            };
            climb.is_new = !climb.is_new;
            // Everything that Z_z could rule out has been.
            let is_idle = |z: usize| climb.deepest.is_some_and(|depth| z <= depth + 1);
            if !matches!(step.rung, Rung::CutOff(z) if is_idle(z)) && !climb.too_many.has(step.rung) {
                return Some(step);
            }
        }
        None
    }

    /// The tables of a rung: those of one that has been begun, or the initial states.
    fn tables(
        &self,
        rung: Rung,
        begun: Option<Begun<'a>>,
        symmetry: &Symmetry,
        limits: Limits,
    ) -> Result<Tables<'a>, TooLarge> {
        let options = |depth| Abstraction::options(depth, self.options.symmetry, limits);
        Ok(match (rung, begun) {
            (Rung::Abstract(depth), Some(Begun::Widened(saved))) => {
                Tables::Widened(Box::new(Symbolic::restored(self.system(), options(depth), *saved)))
            }
            (Rung::Abstract(depth), _) => Tables::Widened(Box::new(Symbolic::new(self.system(), options(depth)))),
            (_, Some(Begun::CutOff(growing))) => Tables::CutOff(growing),
            (_, _) => {
                let cut = rung.cut().expect("the others are cut off");
                Tables::CutOff(Box::new(Growing::new(self.system(), symmetry.clone(), cut, limits.memory)?))
            }
        })
    }

    fn climb(&self, end: &mut UpperEnd<'a>, symmetry: &Symmetry, events: &Sender<Event>) {
        let Options { max_contexts, max_depth, max_tuples, .. } = self.options;
        let is_open_ended = max_contexts.is_none() && max_depth.is_none() && max_tuples.is_none();
        loop {
            if end.begun.is_none() {
                self.keep_if_due(End::Upper, &|out| end.write(None, out));
            }
            let (mut step, begun) = match end.begun.take() {
                Some((step, begun)) => (step, Some(begun)),
                None => match self.next_step(&mut end.climb) {
                    Some(step) => (step, None),
                    None => return,
                },
            };
            let rung = step.rung;
            if let ControlFlow::Break(why) = self.tick(rung, end.climb.clock.after(rung, 0)) {
                end.halted = Some(why);
                return;
            }
            let is_new = begun.is_none();
            let mut limits = Limits { tuples: step.tuples, memory: self.upper_memory().saturating_sub(end.bytes()) };
            let mut is_too_much_at_start = false;
            let (found, work) = match self.tables(rung, begun, symmetry, limits) {
                Err(TooLarge) => (Err(Blown::TooLarge), 0),
                Ok(tables) => {
                    let initial = if is_new { tables.limited(rung) } else { 0 };
                    // To give it up would only mean to begin again, with so many.
                    while is_open_ended && initial > step.tuples {
                        step.tuples = step.tuples.saturating_mul(4);
                    }
                    limits.tuples = step.tuples;
                    is_too_much_at_start = initial > step.tuples;
                    match tables {
                        Tables::CutOff(growing) => self.cut_off(end, step, *growing, limits, events),
                        Tables::Widened(tuples) => self.widened(end, step, *tuples, limits, events),
                    }
                }
            };
            end.climb.clock.add(rung, work);
            let outcome = match found {
                Ok(found) => Outcome::Bound(end.add(found, self.bad.as_ref(), symmetry)),
                Err(Blown::TooManyTuples) if is_too_much_at_start => {
                    end.invariants.push(None);
                    end.climb.too_many.add(rung);
                    Outcome::TooManyInitial(step.tuples)
                }
                Err(Blown::TooManyTuples) => {
                    end.invariants.push(None);
                    if is_open_ended {
                        end.climb.again.push_back(Step { rung, tuples: step.tuples.saturating_mul(4) });
                    }
                    Outcome::TooManyTuples(step.tuples)
                }
                Err(Blown::TooLarge) => {
                    end.invariants.push(None);
                    Outcome::TooLarge
                }
                Err(Blown::Stopped(why)) => {
                    end.halted = Some(why);
                    return;
                }
            };
            if let (Rung::Abstract(depth), Outcome::Bound(_)) = (rung, &outcome) {
                end.climb.deepest = end.climb.deepest.max(Some(depth));
            }
            let time = end.climb.clock.time();
            let is_final = match &outcome {
                // There is nothing to rule out any more.
                Outcome::Bound(bound) => bound.is_exact,
                // Z_{d+1} may be smaller than A_d. What comes after it will hardly be.
                Outcome::TooLarge => {
                    let is_deep = |rung| !matches!(rung, Rung::Z | Rung::MatchedZ);
                    let before = end.rungs.last().map(|before| &before.what);
                    is_deep(rung) && before.is_some_and(|it| it.outcome == Outcome::TooLarge && is_deep(it.rung))
                }
                Outcome::TooManyTuples(_) | Outcome::TooManyInitial(_) => false,
            };
            let climbed = Climbed { rung, outcome };
            let _ = events.send(Event::Climbed(climbed.clone()));
            let left = if let Outcome::Bound(bound) = climbed.outcome { Some(bound.kept_left) } else { None };
            end.rungs.push(Timed { time, what: climbed });
            if let Some(left) = left {
                let number = end.rungs.len() - 1;
                self.tell(End::Upper, time, left);
                if self.bad.as_ref().is_some_and(|bad| end.ceiling.without_bad(bad, number).is_some()) {
                    end.safe = Some(number);
                    self.race.concludes(time);
                    return;
                }
            }
            if is_final {
                return;
            }
        }
    }

    fn tick(&self, rung: Rung, time: u64) -> ControlFlow<Halt> {
        self.race.tick(End::Upper, time)?;
        // Where the ends have met, there is nothing left to rule out.
        let is_enough = time > self.race.enough() && !self.is_worth_it(rung);
        let is_over = is_enough || self.met().is_some_and(|met| time > met);
        if is_over { ControlFlow::Break(Halt::Beaten) } else { ControlFlow::Continue(()) }
    }

    /// Whether a rung is worth all the time it takes, even if the lower end has given up: for a proof, Z is.
    pub(crate) fn is_worth_it(&self, rung: Rung) -> bool {
        self.question == Question::Verify && matches!(rung, Rung::Z | Rung::MatchedZ)
    }

    /// How much memory the ladder may take.
    fn upper_memory(&self) -> usize {
        self.options.memory / 4
    }

    /// The memory that the ladder takes, if so many bytes of what the rungs before have left are in use.
    fn in_use(&self, left: Limits, bytes: usize) -> usize {
        (self.upper_memory() - left.memory).saturating_add(bytes)
    }

    /// Explores M^n to the end, within limits; also gives what that took.
    fn cut_off(
        &self,
        end: &UpperEnd<'a>,
        step: Step,
        growing: Growing<'a>,
        limits: Limits,
        events: &Sender<Event>,
    ) -> (Result<Found<'a>, Blown<Halt>>, u64) {
        let Step { rung, .. } = step;
        // Z itself is worth all the memory there is.
        let most = if rung.cut().is_some_and(|cut| cut.height > 1) { limits.tuples } else { usize::MAX };
        let mut work = growing.progress().taken;
        let found = Overapproximation::within(growing, limits.memory, &mut |growing| {
            let Progress { states, taken, bytes } = growing.progress();
            let bytes = self.in_use(limits, bytes);
            let _ = events.send(Event::Overapproximating { rung, states, bytes });
            work = taken;
            if states > most {
                return ControlFlow::Break(Blown::TooManyTuples);
            }
            self.tick(rung, end.climb.clock.after(rung, work)).map_break(Blown::Stopped)?;
            if growing.is_resting() {
                self.keep_if_due(End::Upper, &|out| end.write(Some((step, BegunTables::CutOff(growing))), out));
            }
            ControlFlow::Continue(())
        });
        let found = match found {
            Ok((z, taken)) => {
                work = taken;
                let generators = (rung == Rung::Z).then(|| (z.generator_count(), z.popped_count()));
                let (set, states) = z.into_states();
                Ok(Found { generators, is_exact: false, set, invariant: Invariant::CutOff(states) })
            }
            Err(Unfinished::TooLarge) => Err(Blown::TooLarge),
            Err(Unfinished::Stopped(why)) => Err(why),
        };
        (found, work)
    }

    /// Computes A_d to the end, likewise.
    fn widened(
        &self,
        end: &UpperEnd<'a>,
        step: Step,
        mut tuples: Symbolic<'a>,
        limits: Limits,
        events: &Sender<Event>,
    ) -> (Result<Found<'a>, Blown<Halt>>, u64) {
        let Step { rung, .. } = step;
        tuples.works_for(self.race.cancel(End::Upper), self.race.hands(End::Upper));
        let mut work = tuples.work();
        let mut watch = |tuples: &Symbolic<'_>| {
            let bytes = self.in_use(limits, tuples.bytes());
            let _ = events.send(Event::Overapproximating { rung, states: tuples.kept(), bytes });
            work = tuples.work();
            self.tick(rung, end.climb.clock.after(rung, work))?;
            // Somebody may look for the last time, at what is too large.
            if tuples.can_go_on() {
                self.keep_if_due(End::Upper, &|out| end.write(Some((step, BegunTables::Widened(tuples))), out));
            }
            ControlFlow::Continue(())
        };
        let found = Abstraction::watched(tuples, limits, &mut watch);
        let work = found.as_ref().map_or(work, |found| found.work);
        let found = found.map(|Abstraction { is_exact, visible, largest, .. }| Found {
            generators: None,
            is_exact,
            set: Arc::new(visible),
            invariant: Invariant::Widened(largest),
        });
        (found, work)
    }
}

/// What a rung has found.
struct Found<'a> {
    set: Arc<PackedSet>,
    invariant: Invariant<'a>,
    generators: Option<(Count, Count)>,
    is_exact: bool,
}

/// What a rung has found, as states that no step leads out of.
#[derive(Serialize)]
pub(crate) enum Invariant<'a> {
    CutOff(CutOffStates<'a>),
    Widened(Tuples),
}

impl Invariant<'_> {
    pub(crate) fn tuples(&self) -> Tuples {
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

/// The time of the upper end.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct Clock {
    /// Transitions of M^n for Z and matched-Z.
    head: u64,
    /// Everything else, in expansions of a state.
    rest: u64,
}

impl Clock {
    fn time(self) -> u64 {
        self.head.saturating_sub(HEAD_START) + self.rest
    }

    /// So much was done for a rung.
    fn add(&mut self, rung: Rung, work: u64) {
        match rung {
            Rung::Z | Rung::MatchedZ => self.head += work,
            Rung::CutOff(_) => self.rest += RUNG + work,
            Rung::Abstract(_) => self.rest += RUNG + work * SYMBOLIC,
        }
    }

    fn after(mut self, rung: Rung, work: u64) -> u64 {
        self.add(rung, work);
        self.time()
    }
}

impl<'a> UpperEnd<'a> {
    /// Nothing is ruled out.
    fn new(symmetry: Symmetry) -> Self {
        UpperEnd {
            rungs: Vec::new(),
            invariants: Vec::new(),
            ceiling: Ceiling::new(symmetry),
            safe: None,
            halted: None,
            climb: Climb {
                taken: 0,
                again: VecDeque::new(),
                is_new: true,
                deepest: None,
                too_many: AtStart::default(),
                clock: Clock::default(),
            },
            begun: None,
            is_over: false,
        }
    }

    /// Whether nothing was done.
    fn is_new(&self) -> bool {
        self.climb.taken == 0 && self.begun.is_none() && !self.is_over
    }

    /// The memory in use.
    fn bytes(&self) -> usize {
        self.ceiling.bytes() + self.invariants.iter().flatten().map(Invariant::bytes).sum::<usize>()
    }

    /// Rules out what the next rung has not.
    fn add(&mut self, found: Found<'a>, bad: Option<&Bad>, symmetry: &Symmetry) -> Bound {
        let Found { set, invariant, generators, is_exact } = found;
        self.invariants.push(Some(invariant));
        let number = self.rungs.len();
        let (kept, visible) = (set.len(), symmetry.sum_of_orbits(set.rows(0..set.len())));
        let is_safe = bad.is_some_and(|bad| bad.first_violation(&set, 0..set.len()).is_none());
        self.ceiling.lower(number, set);
        let (ruled_out, left) = (self.ceiling.ruled_out(number), self.ceiling.count(number));
        let kept_left = self.ceiling.kept(number);
        Bound { visible, ruled_out, left, generators, is_exact, kept, kept_left, is_safe }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Cancel;
    use crate::squeeze::race::Race;
    use crate::statistics::Engine;
    use cpds::Problem;
    use std::sync::mpsc::channel;

    fn fig_1() -> Problem {
        include_str!("../../../../models/paper/fig1.cpds").parse().unwrap()
    }

    fn squeeze(problem: &Problem, question: Question, options: Options) -> Squeeze<'_, 'static> {
        Squeeze::new(problem, question, options, Engine::Explicit, Race::new(2, &Cancel::default()), None)
    }

    fn climbed<'a>(squeeze: &Squeeze<'a, '_>) -> UpperEnd<'a> {
        squeeze.climb_from_above(None, None, &channel().0)
    }

    fn outcomes(end: &UpperEnd<'_>) -> Vec<(String, Outcome)> {
        end.rungs.iter().map(|rung| (rung.what.rung.to_string(), rung.what.outcome.clone())).collect()
    }

    #[test]
    fn z_has_a_head_start_and_every_other_rung_takes_some_time() {
        let mut clock = Clock::default();
        clock.add(Rung::Z, HEAD_START - 1);
        assert_eq!((clock.time(), clock.after(Rung::Z, 5), clock.after(Rung::MatchedZ, 8)), (0, 4, 7));
        clock.add(Rung::MatchedZ, 8);
        clock.add(Rung::CutOff(2), 5);
        assert_eq!(clock.time(), 7 + RUNG + 5);
        clock.add(Rung::Abstract(0), 10);
        assert_eq!(clock.time(), 7 + 2 * RUNG + 5 + 10 * SYMBOLIC);
    }

    /// Deeper rungs and those that had too many tuples take turns; and where there is A_d, Z_{d+1} is left out.
    #[test]
    fn what_is_next() {
        let problem = fig_1();
        let options = Options { max_contexts: Some(0), ..Options::default() };
        let squeeze = squeeze(&problem, Question::Verify, options);
        let mut climb = UpperEnd::new(Symmetry::new(problem.system(), true)).climb;
        let next = |climb: &mut Climb, count: usize| -> Vec<String> {
            let steps = std::iter::from_fn(|| squeeze.next_step(climb)).take(count);
            steps.map(|Step { rung, tuples }| format!("{rung} {tuples}")).collect()
        };
        assert_eq!(next(&mut climb, 4), ["Z 100000", "matched-Z 100000", "A_0 100000", "A_1 100000"]);
        climb.deepest = Some(1);
        assert_eq!(next(&mut climb, 1), ["A_2 100000"]);
        climb.again.push_back(Step { rung: Rung::Abstract(2), tuples: 7 });
        assert_eq!(next(&mut climb, 3), ["Z_3 100000", "A_2 7", "A_3 100000"]);
        assert_eq!(next(&mut climb, 9), ["Z_4 100000", "A_4 100000", "Z_5 100000"], "so deep, and no deeper");
    }

    /// After the lower end has given up, only Z is worth it, and only for a proof. After both ends have met, nothing is.
    #[test]
    fn when_there_is_nothing_left_to_rule_out() {
        let problem = fig_1();
        let goes_on = |squeeze: &Squeeze<'_, '_>, rung, time| squeeze.tick(rung, time).is_continue();
        for question in [Question::Verify, Question::Visible, Question::Reachable] {
            let squeeze = squeeze(&problem, question, Options::default());
            assert!(goes_on(&squeeze, Rung::Abstract(0), 1 << 40));
            let enough = squeeze.race.gives_up(100);
            assert!(goes_on(&squeeze, Rung::Abstract(0), enough) && !goes_on(&squeeze, Rung::Abstract(0), enough + 1));
            assert!(!goes_on(&squeeze, Rung::CutOff(2), 1 << 40));
            for rung in [Rung::Z, Rung::MatchedZ] {
                assert_eq!(goes_on(&squeeze, rung, enough + 1), question == Question::Verify);
            }
        }
        let squeeze = squeeze(&problem, Question::Reachable, Options::default());
        for (end, time, states) in [(End::Upper, 5, 9), (End::Lower, 7, 6), (End::Upper, 6, 8), (End::Lower, 9, 8)] {
            assert_eq!(squeeze.met(), None);
            squeeze.tell(end, time, states);
        }
        // That nothing changes any more is no news.
        squeeze.tell(End::Lower, 11, 8);
        squeeze.tell(End::Upper, 12, 8);
        assert_eq!(squeeze.met(), Some(9));
        assert!(goes_on(&squeeze, Rung::Z, 9) && !goes_on(&squeeze, Rung::Z, 10));
        // More than is left cannot have been reached: both stop at once.
        squeeze.tell(End::Lower, 13, 9);
        assert!([End::Upper, End::Lower].iter().all(|&end| squeeze.race.cancel(end).why() == Some(Halt::Beaten)));
    }

    /// Z may be as large as it gets; what comes after matched-Z has a limit. There is one initial state: as a diagram, some nodes.
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

    /// No rung can have fewer tuples than it begins with: there is no end to the ladder here, but one to the climb. And it takes some time.
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

    /// A bad state ends the race for both. The upper end does not begin another rung, although there are always more.
    #[test]
    fn no_rung_is_begun_when_the_race_is_over() {
        let problem = fig_1();
        let squeeze = squeeze(&problem, Question::Verify, Options { max_tuples: Some(1), ..Options::default() });
        squeeze.race.cancel_both();
        let end = climbed(&squeeze);
        assert_eq!((outcomes(&end), end.halted), (Vec::new(), Some(Halt::Beaten)));
    }

    /// A limit that is named holds: nothing is tried again with more.
    #[test]
    fn nothing_is_tried_again_beyond_a_limit_that_is_named() {
        let problem = fig_1();
        let options = Options { max_tuples: Some(7), ladder: Ladder::Abstract, ..Options::default() };
        let squeeze = squeeze(&problem, Question::Visible, options);
        squeeze.race.concludes(20 * RUNG);
        let end = climbed(&squeeze);
        assert_eq!(end.halted, Some(Halt::Beaten));
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
        let left = Limits { tuples: 1, memory: (1 << 22) - 1000 };
        assert_eq!(squeeze.in_use(left, 24), 1024);
    }
}
