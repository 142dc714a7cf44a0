//! The squeeze: both ends at work, T(R_k) from below and the ladder from above.
//!
//! Each end runs in a thread of its own until it has an answer, has to stop, or can do no more. What they have to tell each other
//! is little: how many sorted visible states the lower one has reached, and how many the upper one has left. T(R_k) is always a
//! part of what is left, so equal numbers are equal sets; then the ends have met, and T(R) is known.
//!
//! Time is work (`squeeze/race.rs`). Both ends count it in steps of about the same length.

use crate::distributed::coordinator::Elsewhere;
use crate::limits::Halt;
use crate::limits::Unfinished;
use crate::squeeze::analysis::{Level, Reason};
use crate::squeeze::checkpoint::{Keeper, Kept, SavedLowerEnd};
use crate::squeeze::event::{Event, LevelProgress};
use crate::squeeze::levels::{Glimpse, Lower};
use crate::squeeze::question::{Options, Question};
use crate::squeeze::race::{End, Race};
use crate::statistics::{Engine, Statistics};
use crate::symbolic::levels::SYMBOLIC;
use crate::trace::fewest_steps::Patience;
use crate::trace::thread_numbering::numbered;
use crate::visible::bad_patterns::Bad;
use crate::visible::count::Count;
use crate::visible::levels::VisibleLevels;
use crate::visible::symmetry::Symmetry;
use cpds::{Cpds, Problem, Trace};
use serde::{Deserialize, Serialize};
use std::ops::ControlFlow;
use std::sync::mpsc::Sender;
use std::sync::{Mutex, PoisonError};

/// What both ends work with.
pub(crate) struct Squeeze<'a, 'k> {
    pub(crate) problem: &'a Problem,
    pub(crate) question: Question,
    pub(crate) options: Options,
    /// What the levels are made of, to begin with.
    pub(crate) engine: Engine,
    pub(crate) symmetry: Symmetry,
    pub(crate) bad: Option<Bad>,
    pub(crate) race: Race,
    pub(crate) keeper: Option<&'k dyn Keeper>,
    /// Where states are, if not here.
    pub(crate) elsewhere: Option<Elsewhere>,
    board: Mutex<Board>,
}

/// What the ends tell each other: how many sorted visible states there are, and since when.
#[derive(Default)]
struct Board {
    reached: Option<(u64, usize)>,
    left: Option<(u64, usize)>,
}

/// Something that happened at a time.
#[derive(Serialize, Deserialize)]
pub(crate) struct Timed<T> {
    pub(crate) time: u64,
    pub(crate) what: T,
}

/// What the lower end came to.
pub(crate) struct LowerEnd<'a> {
    pub(crate) levels: Vec<Timed<(Level, Statistics)>>,
    pub(crate) lower: Lower<'a>,
    /// The states one by one, if there were too many of them and tuples came after.
    pub(crate) states: Option<Lower<'a>>,
    /// The time when these tables were begun.
    pub(crate) before: u64,
    /// How many visible states have been looked at for bad ones.
    pub(crate) looked_at: usize,
    /// Whether there is nothing left to do.
    pub(crate) is_over: bool,
    pub(crate) outcome: LowerOutcome,
    /// If it gave up: until when the upper end may go on.
    pub(crate) enough: Option<u64>,
}

pub(crate) enum LowerOutcome {
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

impl<'a, 'k> Squeeze<'a, 'k> {
    pub(crate) fn new(
        problem: &'a Problem,
        question: Question,
        options: Options,
        engine: Engine,
        race: Race,
        keeper: Option<&'k dyn Keeper>,
    ) -> Self {
        let symmetry = Symmetry::new(problem.system(), options.symmetry);
        let bad = (question == Question::Verify).then(|| Bad::new(problem.property(), &symmetry));
        Squeeze {
            problem,
            question,
            options,
            engine,
            symmetry,
            bad,
            race,
            keeper,
            elsewhere: None,
            board: Mutex::default(),
        }
    }

    pub(crate) fn system(&self) -> &'a Cpds {
        self.problem.system()
    }

    /// Notes that an end has so many visible states now. If the ends meet, that is an answer to [`Question::Visible`].
    pub(crate) fn tell(&self, end: End, time: u64, states: usize) {
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
    pub(crate) fn met(&self) -> Option<u64> {
        let board = self.board.lock().unwrap_or_else(PoisonError::into_inner);
        let ((low, reached), (high, left)) = (board.reached?, board.left?);
        (reached == left).then_some(low.max(high))
    }

    /// How much memory the levels may take. The ladder has a quarter; and if tuples may come after states, so have they.
    pub(crate) fn lower_memory(&self, is_second: bool) -> usize {
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

    /// Computes level after level; from what was kept, if anything was.
    pub(crate) fn climb_from_below(&self, start: Option<SavedLowerEnd>, events: &Sender<Event>) -> LowerEnd<'a> {
        self.begins(End::Lower);
        let cancel = self.race.cancel(End::Lower);
        let new = |engine, memory| Lower::new(self.system(), engine, self.options.symmetry, memory, cancel);
        let end = match (start, self.engine, &self.elsewhere) {
            (Some(saved), _, _) => self.restored_lower(saved),
            (None, Engine::Explicit, Some(elsewhere)) => {
                Lower::in_shares(self.system(), self.options.symmetry, elsewhere).map(LowerEnd::new)
            }
            (None, engine, _) => Ok(LowerEnd::new(new(engine, self.lower_memory(false)))),
        };
        let Ok(mut end) = end else {
            let mut end = LowerEnd::new(new(Engine::Explicit, self.lower_memory(false)));
            (end.is_over, end.outcome) = (true, self.lose());
            return end;
        };
        end.lower.works_for(cancel, self.race.hands(End::Lower));
        self.tell_again(&end, events);
        if !end.is_over {
            end.outcome = self.explore(&mut end, events);
        }
        let is_full = matches!(end.outcome, LowerOutcome::Unknown(Reason::Memory));
        if self.may_change() && end.states.is_none() && is_full {
            end.before = work(&end.lower.glimpse());
            end.looked_at = 0;
            let tuples = new(Engine::Symbolic, self.lower_memory(true));
            end.states = Some(std::mem::replace(&mut end.lower, tuples));
            end.lower.works_for(cancel, self.race.hands(End::Lower));
            end.outcome = self.explore(&mut end, events);
        }
        end.is_over = true;
        // Who names a depth wants to see it.
        if matches!(end.outcome, LowerOutcome::Unknown(_)) && self.options.max_depth.is_none() {
            end.enough = Some(self.race.gives_up(end.before + work(&end.lower.glimpse())));
        }
        if let Some(outcome) = end.outcome.kept().filter(|_| end.can_be_kept()) {
            self.keep_when_over(End::Lower, &|out| end.write(Some(&outcome), out));
        }
        end
    }

    /// Another process is gone: there is no answer, from neither end.
    fn lose(&self) -> LowerOutcome {
        self.race.cancel(End::Upper).stop(Halt::Lost);
        LowerOutcome::Halted(Halt::Lost)
    }

    /// Tells what was kept, as it was told when it was found.
    fn tell_again(&self, end: &LowerEnd<'a>, events: &Sender<Event>) {
        for Timed { time, what: (level, statistics) } in &end.levels {
            let _ = events.send(Event::Level(*level));
            self.tell(End::Lower, *time, statistics.visible_kept());
        }
        if let (true, LowerOutcome::Collapsed(time)) = (end.is_over, &end.outcome) {
            self.race.concludes(*time);
        }
    }

    /// Levels that have been computed before, by the other engine, are computed again, and must be the same.
    fn explore(&self, end: &mut LowerEnd<'a>, events: &Sender<Event>) -> LowerOutcome {
        let memory = self.lower_memory(end.states.is_some());
        loop {
            // A level that was kept in the middle goes on.
            if !end.lower.is_going()
                && let Some(outcome) = self.look_at_level(end, events)
            {
                return outcome;
            }
            if end.can_be_kept() && self.keep_if_due(End::Lower, &|out| end.write(None, out)) {
                end.lower.all_are_kept();
            }

            let others = end.levels.len() * 2 * size_of::<Timed<(Level, Statistics)>>();
            let is_full = |seen: &Glimpse<'_>| seen.bytes_at_next_look.saturating_add(others) > memory;
            // A level may be over before anybody looks.
            let _ = events.send(Event::Exploring(LevelProgress::of(&end.lower.glimpse())));
            if is_full(&end.lower.glimpse()) {
                return LowerOutcome::Unknown(Reason::Memory);
            }
            let done = end.lower.advance(&mut |seen| {
                let _ = events.send(Event::Exploring(LevelProgress::of(&seen)));
                if is_full(&seen) {
                    return ControlFlow::Break(Interrupt::Memory);
                }
                // In the middle of a wave it would depend on the order which bad state there is.
                if seen.is_between_waves
                    && let Some(violation) = self.look_for_bad(seen.visible, &mut end.looked_at)
                {
                    return ControlFlow::Break(Interrupt::Bad(violation));
                }
                self.race.tick(End::Lower, end.before + work(&seen)).map_break(Interrupt::Halted)?;
                let (levels, states) = (&*end.levels, end.states.as_ref());
                if let Some(lower) = seen.tables.filter(|_| !matches!(states, Some(Lower::Shares(_)))) {
                    let kept = Kept { levels, lower, states, before: end.before, looked_at: end.looked_at };
                    self.keep_if_due(End::Lower, &|out| kept.write(out));
                }
                ControlFlow::Continue(())
            });
            match done {
                Ok(()) => {}
                Err(Unfinished::Stopped(Interrupt::Bad(violation))) => return self.unsafe_by(end, &violation),
                Err(_) if end.lower.is_lost() => return self.lose(),
                Err(unfinished) => {
                    // What was found of the level is reachable all the same.
                    return match (self.look_for_bad(end.lower.visible(), &mut end.looked_at), unfinished) {
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

    /// What there is to say of the level that has just been finished; the end, if there is one.
    fn look_at_level(&self, end: &mut LowerEnd<'a>, events: &Sender<Event>) -> Option<LowerOutcome> {
        // The initial states take no time.
        let (k, time) = (end.lower.k(), end.before + work(&end.lower.glimpse()) * u64::from(end.lower.k() > 0));
        if let Some(violation) = self.look_for_bad(end.lower.visible(), &mut end.looked_at) {
            return Some(self.unsafe_by(end, &violation));
        }
        if !end.finish_level(time) {
            self.race.cancel_both();
            return Some(LowerOutcome::Disagree(k));
        }
        if let ControlFlow::Break(why) = self.race.tick(End::Lower, time) {
            return Some(LowerOutcome::Halted(why));
        }
        // Nobody minds if nobody listens.
        let _ = events.send(Event::Level(end.levels[k].what.0));
        self.tell(End::Lower, time, end.lower.visible().kept());
        // Scheme 1, line 4.
        if k > 0 && !end.lower.grew(k) {
            self.race.concludes(time);
            return Some(LowerOutcome::Collapsed(time));
        }
        (self.options.max_contexts == Some(k)).then_some(LowerOutcome::Unknown(Reason::ContextBound))
    }

    /// Looks for a bad state among the visible states from `looked_at` on, if that is the question.
    fn look_for_bad(&self, visible: &VisibleLevels, looked_at: &mut usize) -> Option<Violation> {
        let (bad, visible) = (self.bad.as_ref()?, visible.set());
        let found = bad.first_violation(visible, *looked_at..visible.len());
        *looked_at = visible.len();
        found.map(|(visible, pattern)| Violation { visible, pattern })
    }

    fn unsafe_by(&self, end: &mut LowerEnd<'a>, violation: &Violation) -> LowerOutcome {
        self.race.cancel_other(End::Lower);
        let &Violation { visible, pattern } = violation;
        let bad = self.bad.as_ref().expect("bad states are looked for");
        let patience = Patience::within(self.options.memory, self.race.cancel(End::Lower));
        let trace = end.lower.trace(bad, visible, pattern, &patience);
        match trace.map(|trace| numbered(self.problem, &trace).expect("its last state is bad")) {
            Some((trace, pattern)) => LowerOutcome::Unsafe { trace, pattern },
            None if end.lower.is_lost() => self.lose(),
            None => LowerOutcome::Unknown(Reason::LongTrace { contexts: end.levels.len() }),
        }
    }
}

/// The time of the lower end.
fn work(seen: &Glimpse<'_>) -> u64 {
    match seen.engine {
        Engine::Explicit => seen.work,
        Engine::Symbolic => seen.work * SYMBOLIC,
    }
}

impl<'a> LowerEnd<'a> {
    /// Nothing but the initial states.
    fn new(lower: Lower<'a>) -> Self {
        let outcome = LowerOutcome::Unknown(Reason::ContextBound);
        let (levels, states) = (Vec::new(), None);
        LowerEnd { levels, lower, states, before: 0, looked_at: 0, is_over: false, outcome, enough: None }
    }

    /// Whether it can be kept now. Shares cannot in the middle of a level.
    fn can_be_kept(&self) -> bool {
        match (&self.states, &self.lower) {
            (Some(Lower::Shares(_)), _) => false,
            (_, Lower::Shares(shares)) => !shares.is_going(),
            _ => true,
        }
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Cancel;
    use crate::overapproximation::ladder::Rung;
    use crate::squeeze::search::search;
    use std::sync::mpsc::channel;

    const FIG_1: &str = include_str!("../../../../models/paper/fig1.cpds");

    fn squeeze(problem: &Problem, engine: Engine, options: Options) -> Squeeze<'_, 'static> {
        Squeeze::new(problem, Question::Visible, options, engine, Race::new(2, &Cancel::default()), None)
    }

    /// The ladder has the quarter that is left. Tuples come after states only if nobody says what the levels are made of.
    #[test]
    fn the_memory_is_shared() {
        let problem: Problem = FIG_1.parse().unwrap();
        let shares = |named: Option<Engine>, engine: Engine| {
            let squeeze = squeeze(&problem, engine, Options { engine: named, memory: 4003, ..Options::default() });
            [false, true].map(|is_second| squeeze.lower_memory(is_second))
        };
        assert_eq!(shares(None, Engine::Explicit), [2003, 1000]);
        assert_eq!(shares(None, Engine::Symbolic), [3003, 3003]);
        assert_eq!(shares(Some(Engine::Explicit), Engine::Explicit), [3003, 3003]);
    }

    /// The initial states take no time. Who gives up at a time lets the other one have as much.
    #[test]
    fn time_is_work() {
        let problem: Problem = FIG_1.parse().unwrap();
        for (engine, unit) in [(Engine::Explicit, 1), (Engine::Symbolic, SYMBOLIC)] {
            let options = Options { engine: Some(engine), max_contexts: Some(30), ..Options::default() };
            let end = squeeze(&problem, engine, options).climb_from_below(None, &channel().0);
            let (first, last) = (end.levels.first().unwrap().time, end.levels.last().unwrap().time);
            assert_eq!((first, last), (0, end.lower.glimpse().work * unit));
            assert!(last > 64, "{last}");
            assert_eq!(end.enough, Some(last));
        }
    }

    /// Who names a depth sees all rungs up to there, although there is nothing left to do below.
    #[test]
    fn a_depth_that_is_named_is_gone_to() {
        let problem: Problem = FIG_1.parse().unwrap();
        let rungs = |max_depth| {
            let options = Options { max_contexts: Some(0), max_depth, ..Options::default() };
            let found = search(&problem, Question::Visible, &options, |_| ());
            found.rungs.iter().map(|climbed| climbed.rung).collect::<Vec<_>>()
        };
        assert_eq!(rungs(None), [Rung::Z, Rung::MatchedZ]);
        assert_eq!(rungs(Some(1)), [Rung::Z, Rung::MatchedZ, Rung::Abstract(0), Rung::Abstract(1)]);
    }

    /// A level that is computed again has to be the same.
    #[test]
    fn a_level_that_differs_is_found_out() {
        let problem: Problem = FIG_1.parse().unwrap();
        let lower = Lower::new(problem.system(), Engine::Explicit, true, usize::MAX, &Cancel::default());
        let mut end = LowerEnd::new(lower);
        assert!(end.finish_level(0) && end.finish_level(0));
        assert_eq!(end.levels.len(), 1);
        end.levels[0].what.0.new_visible = Count::ZERO;
        assert!(!end.finish_level(0));
    }
}
