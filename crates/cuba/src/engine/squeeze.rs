//! The squeeze: both ends at work, T(R_k) from below and the ladder from above.
//!
//! Each end runs in a thread of its own until it has an answer, has to stop, or can do no more. What they have to tell each other
//! is little: how many sorted visible states the lower one has reached, and how many the upper one has left. T(R_k) is always a
//! part of what is left, so equal numbers are equal sets; then the ends have met, and T(R) is known.
//!
//! Time is work (`race.rs`). Both ends count it in steps of about the same length.

use super::abstraction::{Abstraction, Blown, Limits};
use super::analysis::{Event, Level, Options, Question, Reason, Seen};
use super::bad::Bad;
use super::ceiling::Ceiling;
use super::certificate::Tuples;
use super::count::Count;
use super::ladder::Rung;
use super::lower::{Engine, Glimpse, Lower, Statistics};
use super::overapproximation::{CutOffStates, Overapproximation};
use super::packed::PackedSet;
use super::race::{End, Halt, Race};
use super::symbolic::{Symbolic, Unfinished};
use super::symmetry::Symmetry;
use super::visible::VisibleLevels;
use cpds::{Cpds, Problem, Trace};
use std::collections::VecDeque;
use std::ops::ControlFlow;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};

/// What both ends work with.
pub(super) struct Squeeze<'a> {
    pub(super) problem: &'a Problem,
    pub(super) question: Question,
    pub(super) options: Options,
    /// What the levels are made of, to begin with.
    pub(super) engine: Engine,
    pub(super) bad: Option<Bad>,
    pub(super) race: Race,
    board: Mutex<Board>,
}

/// What the ends tell each other: how many sorted visible states there are, and since when.
#[derive(Default)]
struct Board {
    reached: Option<(u64, usize)>,
    left: Option<(u64, usize)>,
}

/// Z and matched-Z may take so many transitions before they count. (Unit tests are about small systems, for which this should
/// matter.)
const HEAD_START: u64 = if cfg!(test) { 1 << 5 } else { 1 << 14 };

/// How many expansions of a state take as long as one unit of work of the symbolic engine.
const SYMBOLIC: u64 = 4;

/// A rung takes some time even if there is nothing to do.
const RUNG: u64 = 1 << 6;

/// How many tuples an A_d may have, or states a Z_z, if nothing else is said; if there are no limits at all, more at the next try.
const TUPLES: usize = 100_000;

/// How deep the ladder goes, if nothing else is said but the number of contexts.
const DEPTH: usize = 4;

/// Something that happened at a time.
pub(super) struct Timed<T> {
    pub(super) time: u64,
    pub(super) what: T,
}

/// What the lower end came to.
pub(super) struct LowerEnd<'a> {
    pub(super) levels: Vec<Timed<(Level, Statistics)>>,
    pub(super) lower: Lower<'a>,
    /// The states one by one, if there were too many of them and tuples came after.
    pub(super) states: Option<Lower<'a>>,
    pub(super) outcome: LowerOutcome,
    /// If it gave up: until when the upper end may go on.
    pub(super) enough: Option<u64>,
}

pub(super) enum LowerOutcome {
    /// R_{k-1} = R_k, at this time.
    Collapsed(u64),
    Unsafe {
        trace: Trace,
        pattern: usize,
    },
    /// No further, with this reason.
    Unknown(Reason),
    /// It had to stop.
    Halted(Halt),
    /// The explicit engine and the symbolic one have found different numbers of visible states for this k.
    Disagree(usize),
}

/// What the upper end came to.
pub(super) struct UpperEnd<'a> {
    pub(super) rungs: Vec<Timed<Climbed>>,
    /// For each rung, the proof that it has all that is reachable, if there is one.
    pub(super) invariants: Vec<Option<Invariant<'a>>>,
    pub(super) ceiling: Ceiling,
    /// The first rung after which no bad state was left, if that is the question.
    pub(super) safe: Option<usize>,
    pub(super) halted: Option<Halt>,
}

/// A rung that was tried.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Climbed {
    /// Which one.
    pub rung: Rung,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a rung.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// An overapproximation.
    Bound(Bound),
    /// It has more tuples than this; or states, if stacks are cut off.
    TooManyTuples(usize),
    /// It takes too much memory.
    TooLarge,
}

/// An overapproximation of T(R).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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
    pub(super) kept: usize,
    /// How many sorted states are left after it.
    pub(super) kept_left: usize,
    /// Whether it alone has no bad state, if that is the question.
    pub(super) is_safe: bool,
}

/// Why the lower end stopped in the middle of a level.
enum Interrupt {
    Memory,
    Bad(Violation),
    Halted(Halt),
}

/// A bad visible state, by its number, and the pattern that it fits.
struct Violation {
    visible: usize,
    pattern: usize,
}

impl<'a> Squeeze<'a> {
    pub(super) fn new(problem: &'a Problem, question: Question, options: Options, engine: Engine, race: Race) -> Self {
        let symmetry = Symmetry::new(problem.system(), options.symmetry);
        let bad = (question == Question::Verify).then(|| Bad::new(problem.property(), &symmetry));
        Squeeze { problem, question, options, engine, bad, race, board: Mutex::default() }
    }

    fn system(&self) -> &'a Cpds {
        self.problem.system()
    }

    /// Notes that an end has so many visible states now. If the ends meet, that is an answer to [`Question::Visible`].
    fn tell(&self, end: End, time: u64, states: usize) {
        let mut board = self.board.lock().unwrap_or_else(PoisonError::into_inner);
        match end {
            End::Lower if board.reached.is_none_or(|(_, before)| before < states) => {
                board.reached = Some((time, states));
            }
            End::Upper if board.left.is_none_or(|(_, before)| before > states) => board.left = Some((time, states)),
            End::Lower | End::Upper => {}
        }
        match (board.reached, board.left) {
            (Some((_, reached)), Some((_, left))) if reached > left => self.race.cancel_both(),
            (Some((low, reached)), Some((high, left))) if reached == left && self.question == Question::Visible => {
                self.race.concludes(low.max(high));
            }
            _ => {}
        }
    }

    /// Since when the ends have met, if they have.
    fn met(&self) -> Option<u64> {
        let board = self.board.lock().unwrap_or_else(PoisonError::into_inner);
        let ((low, reached), (high, left)) = (board.reached?, board.left?);
        (reached == left).then_some(low.max(high))
    }

    /// How much memory the levels may take. The ladder has a quarter; and if tuples may come after states, so have they.
    fn lower_memory(&self, is_second: bool) -> usize {
        let quarter = self.options.memory / 4;
        match (self.may_change(), is_second) {
            (true, true) => quarter,
            (true, false) => self.options.memory - 2 * quarter,
            (false, _) => self.options.memory - quarter,
        }
    }

    /// Whether tuples come next where there are too many states.
    fn may_change(&self) -> bool {
        self.options.engine.is_none() && self.engine == Engine::Explicit
    }

    /// Computes level after level.
    pub(super) fn climb_from_below(&self, events: &Sender<Event>) -> LowerEnd<'a> {
        let cancel = self.race.cancel(End::Lower);
        let new = |engine, memory| Lower::new(self.system(), engine, self.options.symmetry, memory, cancel);
        let memory = self.lower_memory(false);
        let outcome = LowerOutcome::Unknown(Reason::ContextBound);
        let mut end =
            LowerEnd { levels: Vec::new(), lower: new(self.engine, memory), states: None, outcome, enough: None };
        end.outcome = self.explore(&mut end, 0, memory, events);
        let mut time = work(&end.lower.glimpse());
        if self.may_change() && matches!(end.outcome, LowerOutcome::Unknown(Reason::Memory)) {
            let memory = self.lower_memory(true);
            end.states = Some(std::mem::replace(&mut end.lower, new(Engine::Symbolic, memory)));
            end.outcome = self.explore(&mut end, time, memory, events);
            time += work(&end.lower.glimpse());
        }
        // Who names a depth wants to see it.
        if matches!(end.outcome, LowerOutcome::Unknown(_)) && self.options.max_depth.is_none() {
            end.enough = Some(self.race.gives_up(time));
        }
        end
    }

    /// `before` is the time when it begins. Levels that have been computed before are computed again, and must be the same.
    fn explore(&self, end: &mut LowerEnd<'a>, before: u64, memory: usize, events: &Sender<Event>) -> LowerOutcome {
        let mut looked_at = 0;
        loop {
            // The initial states take no time.
            let (k, time) = (end.lower.k(), before + work(&end.lower.glimpse()) * u64::from(end.lower.k() > 0));
            if let Some(violation) = self.look_for_bad(end.lower.visible(), &mut looked_at) {
                return self.unsafe_by(end, &violation);
            }
            if !end.finish_level(time) {
                self.race.cancel_both();
                return LowerOutcome::Disagree(k);
            }
            if let ControlFlow::Break(why) = self.race.tick(End::Lower, time) {
                return LowerOutcome::Halted(why);
            }
            // Nobody minds if nobody listens.
            let _ = events.send(Event::Level(end.levels[k].what.0));
            self.tell(End::Lower, time, end.lower.visible().kept());
            // Scheme 1, line 4.
            if k > 0 && !end.lower.grew(k) {
                self.race.concludes(time);
                return LowerOutcome::Collapsed(time);
            }
            if self.options.max_contexts == Some(k) {
                return LowerOutcome::Unknown(Reason::ContextBound);
            }

            let others = end.levels.len() * 2 * size_of::<Timed<(Level, Statistics)>>();
            let is_full = |seen: &Glimpse<'_>| seen.bytes_at_next_look.saturating_add(others) > memory;
            // A level may be over before anybody looks.
            let _ = events.send(Event::Exploring(Seen::of(&end.lower.glimpse())));
            if is_full(&end.lower.glimpse()) {
                return LowerOutcome::Unknown(Reason::Memory);
            }
            let done = end.lower.advance(&mut |seen| {
                let _ = events.send(Event::Exploring(Seen::of(&seen)));
                if is_full(&seen) {
                    return ControlFlow::Break(Interrupt::Memory);
                }
                if let Some(violation) = self.look_for_bad(seen.visible, &mut looked_at) {
                    return ControlFlow::Break(Interrupt::Bad(violation));
                }
                self.race.tick(End::Lower, before + work(&seen)).map_break(Interrupt::Halted)
            });
            match done {
                Ok(()) => {}
                Err(Unfinished::Stopped(Interrupt::Bad(violation))) => return self.unsafe_by(end, &violation),
                Err(unfinished) => {
                    // What was found of the level is reachable all the same.
                    return match (self.look_for_bad(end.lower.visible(), &mut looked_at), unfinished) {
                        (Some(violation), _) => self.unsafe_by(end, &violation),
                        (None, Unfinished::Stopped(Interrupt::Halted(why))) => LowerOutcome::Halted(why),
                        // A store automaton that was cancelled calls itself too large.
                        (None, _) => match self.race.cancel(End::Lower).why() {
                            Some(why) => LowerOutcome::Halted(why),
                            None => LowerOutcome::Unknown(Reason::Memory),
                        },
                    };
                }
            }
        }
    }

    /// Looks for a bad state among the visible states from `looked_at` on, if that is the question.
    fn look_for_bad(&self, visible: &VisibleLevels, looked_at: &mut usize) -> Option<Violation> {
        let (bad, visible) = (self.bad.as_ref()?, visible.set());
        let found = bad.first_violation(visible, *looked_at..visible.len());
        *looked_at = visible.len();
        found.map(|(visible, pattern)| Violation { visible, pattern })
    }

    fn unsafe_by(&self, end: &mut LowerEnd<'a>, violation: &Violation) -> LowerOutcome {
        // There is nothing else that the upper end could say.
        self.race.cancel_both();
        let &Violation { visible, pattern } = violation;
        let bad = self.bad.as_ref().expect("bad states are looked for");
        match end.lower.trace(bad, visible, pattern) {
            Some(trace) => LowerOutcome::Unsafe { trace, pattern },
            None => LowerOutcome::Unknown(Reason::LongTrace { contexts: end.levels.len() }),
        }
    }

    /// Takes rung after rung.
    pub(super) fn climb_from_above(&self, events: &Sender<Event>) -> UpperEnd<'a> {
        let symmetry = Symmetry::new(self.system(), self.options.symmetry);
        let ceiling = Ceiling::new(symmetry.clone());
        let mut end = UpperEnd { rungs: Vec::new(), invariants: Vec::new(), ceiling, safe: None, halted: None };
        let Options { max_contexts, max_depth, max_tuples, .. } = self.options;
        let is_open_ended = max_contexts.is_none() && max_depth.is_none() && max_tuples.is_none();
        let max_depth = max_depth.unwrap_or(if max_contexts.is_some() { DEPTH } else { usize::MAX });
        let mut rungs = self.options.ladder.rungs(max_depth);
        let mut again: VecDeque<(Rung, usize)> = VecDeque::new();
        let mut clock = Clock::default();
        // Deeper rungs are taken, and those that had too many tuples are tried again, in turns.
        let mut is_new = true;
        // The depth of the last A_d that has not too many tuples.
        let mut deepest = None;
        loop {
            let new = if is_new || again.is_empty() {
                rungs.next().map(|rung| (rung, max_tuples.unwrap_or(TUPLES)))
            } else {
                None
            };
            let Some((rung, tuples)) = new.or_else(|| again.pop_front()) else { return end };
            is_new = !is_new;
            // Everything that Z_z could rule out has been.
            if matches!(rung, Rung::CutOff(z) if deepest.is_some_and(|depth| z <= depth + 1)) {
                continue;
            }
            let memory = self.upper_memory().saturating_sub(end.bytes());
            let found = match rung.cut() {
                Some(_) => self.cut_off(rung, &symmetry, Limits { tuples, memory }, &mut clock, events),
                None => self.widened(rung, Limits { tuples, memory }, &mut clock, events),
            };
            let outcome = match found {
                Ok(found) => Outcome::Bound(end.add(found, self.bad.as_ref(), &symmetry)),
                Err(Blown::TooManyTuples) => {
                    end.invariants.push(None);
                    if is_open_ended {
                        again.push_back((rung, tuples.saturating_mul(4)));
                    }
                    Outcome::TooManyTuples(tuples)
                }
                Err(Blown::TooLarge) => {
                    end.invariants.push(None);
                    Outcome::TooLarge
                }
                Err(Blown::Stopped(why)) => {
                    end.halted = Some(why);
                    return end;
                }
            };
            if let (Rung::Abstract(depth), Outcome::Bound(_)) = (rung, &outcome) {
                deepest = deepest.max(Some(depth));
            }
            let time = clock.time();
            let is_final = match &outcome {
                // There is nothing to rule out any more.
                Outcome::Bound(bound) => bound.is_exact,
                // Z_{d+1} may be smaller than A_d. What comes after it will hardly be.
                Outcome::TooLarge => {
                    let is_deep = |rung| !matches!(rung, Rung::Z | Rung::MatchedZ);
                    let before = end.rungs.last().map(|before| &before.what);
                    is_deep(rung) && before.is_some_and(|it| it.outcome == Outcome::TooLarge && is_deep(it.rung))
                }
                Outcome::TooManyTuples(_) => false,
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
                    return end;
                }
            }
            if is_final {
                return end;
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
    pub(super) fn is_worth_it(&self, rung: Rung) -> bool {
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

    fn cut_off(
        &self,
        rung: Rung,
        symmetry: &Symmetry,
        limits: Limits,
        clock: &mut Clock,
        events: &Sender<Event>,
    ) -> Result<Found<'a>, Blown<Halt>> {
        let cut = rung.cut().expect("it is one of those");
        // Z itself is worth all the memory there is.
        let most = if cut.height > 1 { limits.tuples } else { usize::MAX };
        let mut taken = 0;
        let found = Overapproximation::within(self.system(), cut, symmetry, limits.memory, &mut |progress| {
            let bytes = self.in_use(limits, progress.bytes);
            let _ = events.send(Event::Overapproximating { rung, states: progress.states, bytes });
            taken = progress.taken;
            if progress.states > most {
                return ControlFlow::Break(Blown::TooManyTuples);
            }
            self.tick(rung, clock.after(rung, taken)).map_break(Blown::Stopped)
        });
        clock.add(rung, found.as_ref().map_or(taken, |(_, taken)| *taken));
        match found {
            Ok((z, _)) => {
                let generators = (rung == Rung::Z).then(|| (z.generator_count(), z.popped_count()));
                let (set, states) = z.into_states();
                Ok(Found { generators, is_exact: false, set, invariant: Invariant::CutOff(states) })
            }
            Err(Unfinished::TooLarge) => Err(Blown::TooLarge),
            Err(Unfinished::Stopped(why)) => Err(why),
        }
    }

    fn widened(
        &self,
        rung: Rung,
        limits: Limits,
        clock: &mut Clock,
        events: &Sender<Event>,
    ) -> Result<Found<'a>, Blown<Halt>> {
        let Rung::Abstract(depth) = rung else { unreachable!("the others are cut off") };
        let (symmetry, cancel) = (self.options.symmetry, self.race.cancel(End::Upper));
        let mut work = 0;
        let mut watch = |tuples: &Symbolic<'_>| {
            let bytes = self.in_use(limits, tuples.bytes());
            let _ = events.send(Event::Overapproximating { rung, states: tuples.kept(), bytes });
            work = tuples.work();
            self.tick(rung, clock.after(rung, work))
        };
        let found = Abstraction::watched(self.system(), depth, symmetry, limits, cancel, &mut watch);
        clock.add(rung, found.as_ref().map_or(work, |found| found.work));
        found.map(|Abstraction { is_exact, visible, largest, .. }| Found {
            generators: None,
            is_exact,
            set: Arc::new(visible),
            invariant: Invariant::Widened(largest),
        })
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

/// The time of the upper end.
#[derive(Clone, Copy, Default)]
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

/// The time of the lower end.
fn work(seen: &Glimpse<'_>) -> u64 {
    match seen.engine {
        Engine::Explicit => seen.work,
        Engine::Symbolic => seen.work * SYMBOLIC,
    }
}

impl LowerEnd<'_> {
    /// Notes how large the level is that has just been finished. If it was there before, says whether it is the same.
    fn finish_level(&mut self, time: u64) -> bool {
        let (k, lower) = (self.lower.k(), &self.lower);
        let new_visible = lower.visible().count(k);
        if let Some(Timed { what: (level, _), .. }) = self.levels.get_mut(k) {
            level.tuples = lower.tuples(k);
            return level.new_visible == new_visible;
        }
        let before = self.levels.last().map(|level| &level.what.0);
        let new_reachable = lower.new_states(k);
        let sum = |before: Option<Count>, new: Count| before.unwrap_or(Count::ZERO) + new;
        let level = Level {
            k,
            reachable: new_reachable.map(|new| sum(before.and_then(|level| level.reachable), new)),
            new_reachable,
            tuples: lower.tuples(k),
            visible: sum(before.map(|level| level.visible), new_visible),
            new_visible,
            grew: lower.grew(k),
            visible_grew: lower.visible().grew(k),
            upper: None,
        };
        self.levels.push(Timed { time, what: (level, lower.statistics()) });
        true
    }
}

impl<'a> UpperEnd<'a> {
    /// The memory in use.
    fn bytes(&self) -> usize {
        self.ceiling.bytes() + self.invariants.iter().flatten().map(Invariant::bytes).sum::<usize>()
    }

    /// Rules out what the next rung has not.
    fn add(&mut self, found: Found<'a>, bad: Option<&Bad>, symmetry: &Symmetry) -> Bound {
        let Found { set, invariant, generators, is_exact } = found;
        self.invariants.push(Some(invariant));
        let number = self.rungs.len();
        let (kept, visible) = (set.len(), symmetry.sum_of_orbits(&set, 0..set.len()));
        let is_safe = bad.is_some_and(|bad| bad.first_violation(&set, 0..set.len()).is_none());
        self.ceiling.lower(number, set);
        let (ruled_out, left) = (self.ceiling.ruled_out(number), self.ceiling.count(number));
        let kept_left = self.ceiling.kept(number);
        Bound { visible, ruled_out, left, generators, is_exact, kept, kept_left, is_safe }
    }
}
