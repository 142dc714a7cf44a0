//! The lower search (paper, Scheme 1, Lemma 7): computes T(R_k) level by level, until it has an
//! answer or has to stop.
//!
//! Its time is counted in work (`squeeze/race.rs`). A unit of work takes about as long as in the
//! upper search.
//!
//! # States first, then tuples
//! The caller may choose the engine. Otherwise, if it is known before the search that every context
//! is finite, the levels are sets of states; if not, they are sets of tuples. If the states do not
//! fit into their memory, the search starts again with tuples. Each level that is computed again
//! must have as many visible states as before.

use crate::cancel::Halt;
use crate::limits::Unfinished;
use crate::squeeze::analysis::{Level, Reason};
use crate::squeeze::both_searches::{Squeeze, Timestamped};
use crate::squeeze::event::{Event, LevelProgress};
use crate::squeeze::level_store::{LevelSnapshot, LevelStore};
use crate::squeeze::race::Side;
use crate::squeeze::saved_search::{LevelInProgress, SavedLowerSearch};
use crate::statistics::{Engine, Statistics};
use crate::symbolic::levels::EXPANSIONS_PER_UNIT;
use crate::trace::search_budget::SearchBudget;
use crate::trace::thread_numbering::numbered;
use crate::visible::count::Count;
use crate::visible::levels::VisibleLevels;
use cpds::Trace;
use std::ops::ControlFlow;
use std::sync::mpsc::SyncSender;

/// The state of the lower search: its levels so far, and finally its outcome.
pub(super) struct LowerSearch<'a> {
    /// The complete levels.
    pub(super) levels: Vec<Timestamped<(Level, Statistics)>>,
    pub(super) level_store: LevelStore<'a>,
    /// The levels as states, if these did not fit into their memory and tuples followed.
    pub(super) states: Option<LevelStore<'a>>,
    /// The time at which the current level store began.
    pub(super) start_time: u64,
    /// The number of visible states that were compared with the bad patterns.
    pub(super) compared: usize,
    /// Whether nothing is left to do.
    pub(super) is_over: bool,
    pub(super) outcome: LowerOutcome,
    /// If the search gave up, the time until which the upper search may continue.
    pub(super) upper_deadline: Option<u64>,
}

/// The outcome of the lower search.
pub(super) enum LowerOutcome {
    /// R_{k-1} = R_k, at this time.
    Collapsed(u64),
    /// A bad state is reachable.
    Unsafe { trace: Trace, pattern: usize },
    /// The search gave up, for this reason.
    Unknown(Reason),
    /// The search had to stop.
    Halted(Halt),
    /// States and tuples have different numbers of visible states for this k.
    Disagree(usize),
}

/// Why the search stopped in the middle of a level.
enum Interrupt {
    Memory,
    BadPatterns(Violation),
    Halted(Halt),
}

/// A bad visible state, by its number, and the pattern that it fits.
struct Violation {
    visible: usize,
    pattern: usize,
}

impl<'a> Squeeze<'a, '_> {
    /// Returns the number of bytes that a level store may take. The ladder has a quarter of the
    /// memory. If tuples may follow states, the tuples (`is_second`) have another quarter.
    pub(super) fn lower_memory(&self, is_second: bool) -> usize {
        let quarter = self.options.memory / 4;
        match (self.may_change_engine(), is_second) {
            (true, true) => quarter,
            (true, false) => self.options.memory - 2 * quarter,
            (false, _) => self.options.memory - quarter,
        }
    }

    /// Whether tuples follow if the states do not fit into their memory.
    fn may_change_engine(&self) -> bool {
        self.options.engine.is_none() && self.engine == Engine::Explicit
    }

    /// Runs the lower search, from the start or from a checkpoint.
    pub(super) fn run_lower_search(
        &self,
        start: Option<SavedLowerSearch>,
        events: &SyncSender<Event>,
    ) -> LowerSearch<'a> {
        self.report_start(Side::Lower);
        let cancel = self.race.cancel(Side::Lower);
        let new = |engine, memory| LevelStore::new(self.system(), engine, &self.options, memory, cancel);
        let search = match (start, self.engine, &self.elsewhere) {
            (Some(saved), _, _) => self.restored_lower(saved),
            (None, Engine::Explicit, Some(elsewhere)) => {
                LevelStore::in_shares(self.system(), &self.options, elsewhere).map(LowerSearch::new)
            }
            (None, engine, _) => Ok(LowerSearch::new(new(engine, self.lower_memory(false)))),
        };
        let Ok(mut search) = search else {
            let mut search = LowerSearch::new(new(Engine::Explicit, self.lower_memory(false)));
            (search.is_over, search.outcome) = (true, self.stop_after_loss());
            return search;
        };
        search.level_store.use_workers(cancel, self.race.workers(Side::Lower));
        self.report_restored_levels(&search, events);
        if !search.is_over {
            search.outcome = self.compute_levels(&mut search, events);
        }
        let is_full = matches!(search.outcome, LowerOutcome::Unknown(Reason::Memory));
        if self.may_change_engine() && search.states.is_none() && is_full {
            search.start_time = work(&search.level_store.snapshot());
            search.compared = 0;
            let tuples = new(Engine::Symbolic, self.lower_memory(true));
            search.states = Some(std::mem::replace(&mut search.level_store, tuples));
            search.level_store.use_workers(cancel, self.race.workers(Side::Lower));
            search.outcome = self.compute_levels(&mut search, events);
        }
        search.is_over = true;
        // If the caller limits the depth, the upper search continues to that depth.
        if matches!(search.outcome, LowerOutcome::Unknown(_)) && self.options.max_depth.is_none() {
            let time = search.start_time + work(&search.level_store.snapshot());
            search.upper_deadline = Some(self.race.report_giving_up(time, self.options.tuning.upper_grace));
        }
        if let Some(outcome) = search.outcome.saved().filter(|_| search.can_be_saved()) {
            self.save_when_over(Side::Lower, &|out| search.write(Some(&outcome), out));
        }
        search
    }

    /// Stops the upper search after the loss of a process. Returns the outcome of this search.
    fn stop_after_loss(&self) -> LowerOutcome {
        self.race.cancel(Side::Upper).stop(Halt::Lost);
        LowerOutcome::Halted(Halt::Lost)
    }

    /// Reports the levels of a checkpoint again, for the progress display and the race.
    fn report_restored_levels(&self, search: &LowerSearch<'a>, events: &SyncSender<Event>) {
        for Timestamped { time, value: (level, statistics) } in &search.levels {
            let _ = events.send(Event::Level(*level));
            self.report(Side::Lower, *time, statistics.visible_kept());
        }
        if let (true, LowerOutcome::Collapsed(time)) = (search.is_over, &search.outcome) {
            self.race.report_answer(*time);
        }
    }

    /// Computes levels until an answer or a limit. Returns the outcome.
    fn compute_levels(&self, search: &mut LowerSearch<'a>, events: &SyncSender<Event>) -> LowerOutcome {
        let memory = self.lower_memory(search.states.is_some());
        loop {
            // An incomplete level from a checkpoint comes first.
            if !search.level_store.has_incomplete_level()
                && let Some(outcome) = self.finish_level(search, events)
            {
                return outcome;
            }
            if search.can_be_saved() && self.save_if_due(Side::Lower, &|out| search.write(None, out)) {
                search.level_store.checkpoint_is_complete();
            }

            let level_bytes = search.levels.len() * 2 * size_of::<Timestamped<(Level, Statistics)>>();
            let is_full =
                |snapshot: &LevelSnapshot<'_>| snapshot.bytes_at_next_look.saturating_add(level_bytes) > memory;
            // A level may be complete before the first check.
            let _ = events.send(Event::Exploring(LevelProgress::of(&search.level_store.snapshot())));
            if is_full(&search.level_store.snapshot()) {
                return LowerOutcome::Unknown(Reason::Memory);
            }
            let done = search.level_store.advance(&mut |snapshot| {
                let _ = events.send(Event::Exploring(LevelProgress::of(&snapshot)));
                if is_full(&snapshot) {
                    return ControlFlow::Break(Interrupt::Memory);
                }
                // In the middle of a wave, the first bad state would depend on the order.
                if snapshot.is_between_waves
                    && let Some(violation) = self.find_bad(snapshot.visible, &mut search.compared)
                {
                    return ControlFlow::Break(Interrupt::BadPatterns(violation));
                }
                self.race.tick(Side::Lower, search.start_time + work(&snapshot)).map_break(Interrupt::Halted)?;
                let (levels, states) = (&*search.levels, search.states.as_ref());
                if let Some(lower) = snapshot.tables.filter(|_| !matches!(states, Some(LevelStore::Shares(_)))) {
                    let level = LevelInProgress {
                        levels,
                        lower,
                        states,
                        start_time: search.start_time,
                        compared: search.compared,
                    };
                    self.save_if_due(Side::Lower, &|out| level.write(out));
                }
                ControlFlow::Continue(())
            });
            match done {
                Ok(()) => {}
                Err(Unfinished::Stopped(Interrupt::BadPatterns(violation))) => {
                    return self.unsafe_by(search, &violation);
                }
                Err(_) if search.level_store.is_lost() => return self.stop_after_loss(),
                Err(unfinished) => {
                    // The states of an incomplete level are reachable, too.
                    return match (self.find_bad(search.level_store.visible(), &mut search.compared), unfinished) {
                        (Some(violation), _) => self.unsafe_by(search, &violation),
                        (None, Unfinished::Stopped(Interrupt::Halted(why))) => LowerOutcome::Halted(why),
                        // A cancelled store automaton reports that it is too large.
                        (None, _) => match self.race.cancel(Side::Lower).why() {
                            Some(why) => LowerOutcome::Halted(why),
                            None => LowerOutcome::Unknown(Reason::Memory),
                        },
                    };
                }
            }
        }
    }

    /// Stores and reports the level that is now complete. Returns the outcome of the search, if the
    /// level ends it.
    fn finish_level(&self, search: &mut LowerSearch<'a>, events: &SyncSender<Event>) -> Option<LowerOutcome> {
        // Level 0 takes no time.
        let (k, time) = (
            search.level_store.k(),
            search.start_time + work(&search.level_store.snapshot()) * u64::from(search.level_store.k() > 0),
        );
        if let Some(violation) = self.find_bad(search.level_store.visible(), &mut search.compared) {
            return Some(self.unsafe_by(search, &violation));
        }
        if !search.add_level(time) {
            self.race.cancel_both();
            return Some(LowerOutcome::Disagree(k));
        }
        if let ControlFlow::Break(why) = self.race.tick(Side::Lower, time) {
            return Some(LowerOutcome::Halted(why));
        }
        // Without a receiver, events are dropped.
        let _ = events.send(Event::Level(search.levels[k].value.0));
        self.report(Side::Lower, time, search.level_store.visible().kept());
        // Scheme 1, line 4.
        if k > 0 && !search.level_store.grew(k) {
            self.race.report_answer(time);
            return Some(LowerOutcome::Collapsed(time));
        }
        (self.options.max_contexts == Some(k)).then_some(LowerOutcome::Unknown(Reason::ContextBound))
    }

    /// Returns the first bad state among the visible states from number `compared` on, if the
    /// question is [`Question::Verify`](crate::Question::Verify).
    fn find_bad(&self, visible: &VisibleLevels, compared: &mut usize) -> Option<Violation> {
        let (bad, visible) = (self.bad.as_ref()?, visible.set());
        let violation = bad.first_violation(visible, *compared..visible.len());
        *compared = visible.len();
        violation.map(|(visible, pattern)| Violation { visible, pattern })
    }

    /// Returns the outcome for a bad state, with a trace whose threads are renumbered for the
    /// property as it is written.
    fn unsafe_by(&self, search: &mut LowerSearch<'a>, violation: &Violation) -> LowerOutcome {
        self.race.cancel_other(Side::Lower);
        let &Violation { visible, pattern } = violation;
        let bad = self.bad.as_ref().expect("bad states are looked for");
        let budget = SearchBudget::within(self.options.memory, self.race.cancel(Side::Lower));
        let trace = search.level_store.trace(bad, visible, pattern, &budget);
        match trace.map(|trace| numbered(self.problem, &trace).expect("its last state is bad")) {
            Some((trace, pattern)) => LowerOutcome::Unsafe { trace, pattern },
            None if search.level_store.is_lost() => self.stop_after_loss(),
            None => LowerOutcome::Unknown(Reason::LongTrace { contexts: search.levels.len() }),
        }
    }
}

/// Returns the work of the current level store, in expansions of states.
fn work(snapshot: &LevelSnapshot<'_>) -> u64 {
    match snapshot.engine {
        Engine::Explicit => snapshot.work,
        Engine::Symbolic => snapshot.work * EXPANSIONS_PER_UNIT,
    }
}

impl<'a> LowerSearch<'a> {
    /// Starts the search with level 0, which is not yet reported.
    fn new(lower: LevelStore<'a>) -> Self {
        let outcome = LowerOutcome::Unknown(Reason::ContextBound);
        let (levels, states) = (Vec::new(), None);
        LowerSearch {
            levels,
            level_store: lower,
            states,
            start_time: 0,
            compared: 0,
            is_over: false,
            outcome,
            upper_deadline: None,
        }
    }

    /// Whether the search can be saved now. States in several processes are saved only between
    /// levels.
    fn can_be_saved(&self) -> bool {
        match (&self.states, &self.level_store) {
            (Some(LevelStore::Shares(_)), _) => false,
            (_, LevelStore::Shares(shares)) => !shares.has_incomplete_level(),
            _ => true,
        }
    }

    /// Adds the level that is now complete. If it was computed before, by states, returns whether
    /// it has the same number of visible states.
    fn add_level(&mut self, time: u64) -> bool {
        let (k, lower) = (self.level_store.k(), &self.level_store);
        let new_visible = lower.visible().count(k);
        if let Some(Timestamped { value: (level, _), .. }) = self.levels.get_mut(k) {
            level.tuples = lower.tuples(k);
            return level.new_visible == new_visible;
        }
        let before = self.levels.last().map(|level| &level.value.0);
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
        self.levels.push(Timestamped { time, value: (level, lower.statistics()) });
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cancel::Cancel;
    use crate::overapproximation::ladder::Rung;
    use crate::squeeze::event::dropped_events;
    use crate::squeeze::question::{Options, Question};
    use crate::squeeze::race::Race;
    use crate::squeeze::search::search_unchecked;
    use crate::tuning::Tuning;
    use cpds::Problem;

    const FIG_1: &str = include_str!("../../../../models/paper/fig1.cpds");

    fn squeeze(problem: &Problem, engine: Engine, options: Options) -> Squeeze<'_, 'static> {
        let options = Options { tuning: Tuning::SMALL, ..options };
        Squeeze::new(problem, Question::Visible, options, engine, Race::new(2, &Cancel::default()), None)
    }

    /// The ladder has a quarter. Tuples follow states only if the caller chooses no engine.
    #[test]
    fn the_memory_of_the_level_stores() {
        let problem: Problem = FIG_1.parse().unwrap();
        let memory = |chosen: Option<Engine>, engine: Engine| {
            let squeeze = squeeze(&problem, engine, Options { engine: chosen, memory: 4003, ..Options::default() });
            [false, true].map(|is_second| squeeze.lower_memory(is_second))
        };
        assert_eq!(memory(None, Engine::Explicit), [2003, 1000]);
        assert_eq!(memory(None, Engine::Symbolic), [3003, 3003]);
        assert_eq!(memory(Some(Engine::Explicit), Engine::Explicit), [3003, 3003]);
    }

    /// Level 0 takes no time. If the lower search gives up, the upper one may use the same time.
    #[test]
    fn time_is_work() {
        let problem: Problem = FIG_1.parse().unwrap();
        for (engine, unit) in [(Engine::Explicit, 1), (Engine::Symbolic, EXPANSIONS_PER_UNIT)] {
            let options = Options { engine: Some(engine), max_contexts: Some(30), ..Options::default() };
            let search = squeeze(&problem, engine, options).run_lower_search(None, &dropped_events());
            let (first, last) = (search.levels.first().unwrap().time, search.levels.last().unwrap().time);
            assert_eq!((first, last), (0, search.level_store.snapshot().work * unit));
            assert!(last > 64, "{last}");
            assert_eq!(search.upper_deadline, Some(last));
        }
    }

    /// The upper search reaches the depth that the caller sets, although the lower search has
    /// ended.
    #[test]
    fn the_depth_from_the_caller_is_reached() {
        let problem: Problem = FIG_1.parse().unwrap();
        let rungs = |max_depth| {
            let tuning = Tuning::SMALL;
            let options = Options { max_contexts: Some(0), max_depth, tuning, ..Options::default() };
            let analysis = search_unchecked(&problem, Question::Visible, &options, |_| ());
            analysis.rungs.iter().map(|result| result.rung).collect::<Vec<_>>()
        };
        assert_eq!(rungs(None), [Rung::Z, Rung::MatchedZ]);
        assert_eq!(rungs(Some(1)), [Rung::Z, Rung::MatchedZ, Rung::Abstract(0), Rung::Abstract(1)]);
    }

    /// A level that is computed again must have as many visible states as before.
    #[test]
    fn a_level_that_differs_is_detected() {
        let problem: Problem = FIG_1.parse().unwrap();
        let lower =
            LevelStore::new(problem.system(), Engine::Explicit, &Options::default(), usize::MAX, &Cancel::default());
        let mut search = LowerSearch::new(lower);
        assert!(search.add_level(0) && search.add_level(0));
        assert_eq!(search.levels.len(), 1);
        search.levels[0].value.0.new_visible = Count::ZERO;
        assert!(!search.add_level(0));
    }
}
