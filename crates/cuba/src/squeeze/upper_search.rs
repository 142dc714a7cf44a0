//! The upper search: computes the rungs of the ladder one by one, and maintains the ceiling, the
//! states that no rung has ruled out.
//!
//! # Why it always ends if the lower search has an answer
//! The race compares work (`squeeze/race.rs`). If rungs counted no work, an endless series of
//! useless rungs would take no time, and the lower search would never be first. Two rules prevent
//! this:
//! - Each rung counts some work. Before it begins, the race decides whether the search stops.
//! - If the initial states alone exceed the limit on tuples, no deeper rung of that kind begins
//!   (`squeeze/rung_order.rs`), since it would exceed the limit, too.

use crate::cancel::Halt;
use crate::limits::TooLarge;
use crate::overapproximation::a_d::{AbstractionError, AbstractionLimits};
use crate::overapproximation::ceiling::Ceiling;
use crate::overapproximation::cut_off_exploration::CutOffExploration;
use crate::overapproximation::ladder::Rung;
use crate::squeeze::both_searches::{Squeeze, Timestamped};
use crate::squeeze::event::Event;
use crate::squeeze::question::{Options, Question};
use crate::squeeze::race::Side;
use crate::squeeze::rung_computation::{ComputedRung, Invariant, RungTables, UnfinishedRung};
use crate::squeeze::rung_order::{RungOrder, RungStep};
use crate::squeeze::rung_outcome::{Bound, Outcome, RungResult};
use crate::squeeze::saved_search::SavedUpperSearch;
use crate::visible::bad_patterns::BadPatterns;
use crate::visible::symmetry::Symmetry;
use std::ops::ControlFlow;
use std::sync::mpsc::SyncSender;

/// The state of the upper search: its results so far, and its position on the ladder.
pub(super) struct UpperSearch<'a> {
    pub(super) rungs: Vec<Timestamped<RungResult>>,
    /// For each rung, the invariant that proves its set to contain T(R), if it was computed.
    pub(super) invariants: Vec<Option<Invariant<'a>>>,
    pub(super) ceiling: Ceiling,
    /// The number of the first rung after which no bad state remained, if the question is
    /// [`Question::Verify`].
    pub(super) safe_after: Option<usize>,
    /// Why the search stopped before the ladder ended.
    pub(super) halted: Option<Halt>,
    /// Decides which rung is next.
    pub(super) order: RungOrder,
    /// The rung that a checkpoint interrupted.
    pub(super) unfinished: Option<(RungStep, UnfinishedRung<'a>)>,
    /// Whether nothing is left to do.
    pub(super) is_over: bool,
}

impl<'a> Squeeze<'a, '_> {
    /// Runs the upper search, from the start or from a checkpoint. `z` is the exploration of Z, if
    /// the choice of the engine has begun it.
    pub(super) fn run_upper_search(
        &self,
        start: Option<SavedUpperSearch>,
        z: Option<CutOffExploration<'a>>,
        events: &SyncSender<Event>,
    ) -> UpperSearch<'a> {
        self.report_start(Side::Upper);
        let mut search = match start {
            Some(saved) => self.restored_upper(saved),
            None => UpperSearch::new(self.symmetry.clone()),
        };
        if let Some(z) = z
            && search.is_new()
            && self.options.ladder.rungs(0).next() == Some(Rung::Z)
        {
            let step = search.order.next(&self.options).expect("Z is the first rung");
            search.unfinished = Some((step, UnfinishedRung::CutOff(Box::new(z))));
        }
        self.report_restored_rungs(&search, events);
        if !search.is_over {
            self.compute_rungs(&mut search, events);
        }
        search.is_over = true;
        if search.halted.is_none() {
            self.save_when_over(Side::Upper, &|out| search.write(None, out));
        }
        search
    }

    /// Reports the rungs of a checkpoint again, for the progress display and the race.
    fn report_restored_rungs(&self, search: &UpperSearch<'a>, events: &SyncSender<Event>) {
        for Timestamped { time, value } in &search.rungs {
            let _ = events.send(Event::Rung(value.clone()));
            if let Some(bound) = value.bound() {
                self.report(Side::Upper, *time, bound.sorted_left);
            }
        }
        if let Some(number) = search.safe_after {
            self.race.report_answer(search.rungs[number].time);
        }
    }

    /// Computes rungs until an answer, the end of the ladder, or a limit.
    fn compute_rungs(&self, search: &mut UpperSearch<'a>, events: &SyncSender<Event>) {
        loop {
            if search.unfinished.is_none() {
                self.save_if_due(Side::Upper, &|out| search.write(None, out));
            }
            let (step, unfinished) = match search.unfinished.take() {
                Some((step, unfinished)) => (step, Some(unfinished)),
                None => match search.order.next(&self.options) {
                    Some(step) => (step, None),
                    None => return,
                },
            };
            let outcome = match self.compute_rung(search, step, unfinished, events) {
                Ok(outcome) => outcome,
                Err(why) => {
                    search.halted = Some(why);
                    return;
                }
            };
            let is_last = Self::is_last(search, step.rung, &outcome);
            if self.finish_rung(search, RungResult { rung: step.rung, outcome }, events) || is_last {
                return;
            }
        }
    }

    /// Computes a rung, or gives it up at a limit.
    ///
    /// # Errors
    /// If the search has to stop.
    fn compute_rung(
        &self,
        search: &mut UpperSearch<'a>,
        mut step: RungStep,
        unfinished: Option<UnfinishedRung<'a>>,
        events: &SyncSender<Event>,
    ) -> Result<Outcome, Halt> {
        let RungStep { rung, .. } = step;
        if let ControlFlow::Break(why) = self.tick(rung, self.time_after(search, rung, 0)) {
            return Err(why);
        }
        let is_new = unfinished.is_none();
        let memory = self.upper_memory().saturating_sub(search.bytes());
        let tables = self.tables(rung, unfinished, AbstractionLimits { tuples: step.tuples, memory });
        let initial = tables.as_ref().map_or(0, |tables| if is_new { tables.limited_items(rung) } else { 0 });
        // With a lower limit, the first attempt would fail at once.
        while self.is_open_ended() && initial > step.tuples {
            step.tuples = step.tuples.saturating_mul(4);
        }
        let limits = AbstractionLimits { tuples: step.tuples, memory };
        let (result, work) = match tables {
            Err(TooLarge) => (Err(AbstractionError::TooLarge), 0),
            Ok(RungTables::CutOff(exploration)) => self.compute_cut_off(search, step, *exploration, limits, events),
            Ok(RungTables::Widened(tuples)) => self.compute_widened(search, step, *tuples, limits, events),
        };
        search.order.clock.add(rung, work);
        let error = match result {
            Ok(result) => {
                search.order.complete(rung);
                return Ok(Outcome::Bound(search.add(result, self.bad.as_ref(), &self.symmetry)));
            }
            Err(error) => error,
        };
        let outcome = match error {
            AbstractionError::Stopped(why) => return Err(why),
            AbstractionError::TooLarge => Outcome::TooLarge,
            AbstractionError::TooManyTuples if initial > step.tuples => {
                search.order.end_kind(rung);
                Outcome::TooManyInitial(step.tuples)
            }
            AbstractionError::TooManyTuples => {
                if self.is_open_ended() {
                    search.order.retry(step);
                }
                Outcome::TooManyTuples(step.tuples)
            }
        };
        search.invariants.push(None);
        Ok(outcome)
    }

    /// Whether no limit ends the ladder. Then a rung with too many tuples is tried again later,
    /// with a higher limit.
    fn is_open_ended(&self) -> bool {
        let Options { max_contexts, max_depth, max_tuples, .. } = self.options;
        max_contexts.is_none() && max_depth.is_none() && max_tuples.is_none()
    }

    /// Whether no rung after this one is worth computing.
    fn is_last(search: &UpperSearch<'a>, rung: Rung, outcome: &Outcome) -> bool {
        let is_deep = |rung| !matches!(rung, Rung::Z | Rung::MatchedZ);
        match outcome {
            // The bound is T(R), so no other rung rules out a state.
            Outcome::Bound(bound) => bound.is_exact,
            // If A_d does not fit into the memory, Z_{d+1} may. If neither fits, deeper rungs
            // hardly do.
            Outcome::TooLarge => {
                let before = search.rungs.last().map(|before| &before.value);
                is_deep(rung)
                    && before.is_some_and(|before| before.outcome == Outcome::TooLarge && is_deep(before.rung))
            }
            Outcome::TooManyTuples(_) | Outcome::TooManyInitial(_) => false,
        }
    }

    /// Stores and reports a rung. Returns whether no bad state remains.
    fn finish_rung(&self, search: &mut UpperSearch<'a>, result: RungResult, events: &SyncSender<Event>) -> bool {
        let (time, number) = (search.order.clock.time(self.options.tuning.z_head_start), search.rungs.len());
        let _ = events.send(Event::Rung(result.clone()));
        let remaining = result.bound().map(|bound| bound.sorted_left);
        search.rungs.push(Timestamped { time, value: result });
        let Some(remaining) = remaining else { return false };
        self.report(Side::Upper, time, remaining);
        let is_safe = self.bad.as_ref().is_some_and(|bad| search.ceiling.without_bad(bad, number).is_some());
        if is_safe {
            search.safe_after = Some(number);
            self.race.report_answer(time);
        }
        is_safe
    }

    /// Returns the time of the upper search after more work for a rung.
    pub(super) fn time_after(&self, search: &UpperSearch<'_>, rung: Rung, work: u64) -> u64 {
        search.order.clock.after(rung, work, self.options.tuning.z_head_start)
    }

    /// Sets the clock of the upper search, and decides whether to stop.
    pub(super) fn tick(&self, rung: Rung, time: u64) -> ControlFlow<Halt> {
        self.race.tick(Side::Upper, time)?;
        // When both searches have met, no rung rules out a state any more.
        let is_late = time > self.race.upper_deadline() && !self.has_unlimited_time(rung);
        let is_over = is_late || self.meeting_time().is_some_and(|met| time > met);
        if is_over { ControlFlow::Break(Halt::Superseded) } else { ControlFlow::Continue(()) }
    }

    /// Whether a rung is computed to the end although the lower search has given up. Z and
    /// matched-Z are, if the question is [`Question::Verify`].
    pub(super) fn has_unlimited_time(&self, rung: Rung) -> bool {
        self.question == Question::Verify && matches!(rung, Rung::Z | Rung::MatchedZ)
    }

    /// Returns the number of bytes that the ladder may take.
    fn upper_memory(&self) -> usize {
        self.options.memory / 4
    }

    /// Returns the memory in use by the ladder: `bytes` of the current rung with these limits, and
    /// the memory of the rungs before.
    pub(super) fn in_use(&self, limits: AbstractionLimits, bytes: usize) -> usize {
        (self.upper_memory() - limits.memory).saturating_add(bytes)
    }
}

impl<'a> UpperSearch<'a> {
    /// Starts the search: no rung is computed, and no state is ruled out.
    fn new(symmetry: Symmetry) -> Self {
        UpperSearch {
            rungs: Vec::new(),
            invariants: Vec::new(),
            ceiling: Ceiling::new(symmetry),
            safe_after: None,
            halted: None,
            order: RungOrder::new(),
            unfinished: None,
            is_over: false,
        }
    }

    /// Whether no rung has begun.
    fn is_new(&self) -> bool {
        self.order.is_new() && self.unfinished.is_none() && !self.is_over
    }

    /// Returns the memory in use by the results.
    fn bytes(&self) -> usize {
        self.ceiling.bytes() + self.invariants.iter().flatten().map(Invariant::bytes).sum::<usize>()
    }

    /// Adds a rung: rules out all states that are not in its set.
    fn add(&mut self, computed: ComputedRung<'a>, bad: Option<&BadPatterns>, symmetry: &Symmetry) -> Bound {
        let ComputedRung { set, invariant, generators, is_exact } = computed;
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
mod tests;
