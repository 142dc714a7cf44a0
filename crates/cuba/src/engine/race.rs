//! Two ends that work side by side, and which of them was first.
//!
//! Time is work: each end counts what it does (`lower.rs`, `ladder.rs` say in which units), and these counts do not depend on
//! the machine, on other processes, or on how many threads there are. What an end found at time t was *first* if the other one
//! found nothing before its own time t. So an end that has an answer at t waits for the other one to get to t, and what was found
//! after t is thrown away. Then the answer, and everything that is reported with it, is the same in every run, and no run takes
//! much longer than twice what the quicker end takes.
//!
//! What is known here while both are at work only serves to stop them early. Which answer was first is decided when both have
//! ended, from what each has found and when (`analysis.rs`).
//!
//! Only a bad state ends the race at once: the other end could not have said anything else.

use crate::fault;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Which end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The ladder of overapproximations.
    Upper = 0,
    /// The levels.
    Lower = 1,
}

impl End {
    pub(super) fn other(self) -> End {
        if self == End::Upper { End::Lower } else { End::Upper }
    }
}

/// Why an end has to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Halt {
    /// The other one was first, or has given up long ago.
    Beaten,
    /// The user says so.
    Interrupted,
    /// There is no time left.
    TimeOut,
    /// The process has all the memory that it may have.
    Memory,
    /// Another process that had a share of the states is gone.
    Lost,
}

/// Why everything is to stop, as soon as it is: for whoever watches from outside.
pub type Stop = OnceLock<Halt>;

/// Whether to stop at once, whatever it is that is being done.
#[derive(Clone, Default, Debug)]
pub struct Cancel {
    done: Arc<AtomicBool>,
    stop: Option<&'static Stop>,
    until: Option<Instant>,
}

impl Cancel {
    /// Stops when somebody says so, or after so much time.
    pub fn when(stop: Option<&'static Stop>, timeout: Option<Duration>) -> Self {
        let until = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        Cancel { done: Arc::default(), stop, until }
    }

    /// The same, with an end of its own.
    fn for_another(&self) -> Self {
        Cancel { done: Arc::default(), ..self.clone() }
    }

    fn now(&self) {
        self.done.store(true, Ordering::Relaxed);
    }

    /// Whether it is to stop, and why.
    pub fn why(&self) -> Option<Halt> {
        if self.done.load(Ordering::Relaxed) {
            Some(Halt::Beaten)
        } else if let Some(why) = self.stop.and_then(|stop| stop.get()) {
            Some(*why)
        } else if self.until.is_some_and(|until| Instant::now() >= until) {
            Some(Halt::TimeOut)
        } else {
            None
        }
    }
}

/// How much further than the other one an end may get in its turn.
const TURN: u64 = 1 << 15;

/// Less than a second. (Unit tests are about small systems, for which this should matter.)
const MOMENT: u64 = if cfg!(test) { 1 << 6 } else { 1 << 22 };

/// The time of an end that has nothing left to do.
const DONE: u64 = u64::MAX;

pub(super) struct Race {
    time: [AtomicU64; 2],
    /// The time of the first answer.
    first: AtomicU64,
    /// When the upper end has to stop, answer or not.
    enough: AtomicU64,
    /// For each end.
    cancels: [Cancel; 2],
    /// How many threads each end may have: as many as there may be, when the other one has left. Until then the upper one has one, and the
    /// lower one the others.
    hands: [Arc<AtomicUsize>; 2],
    jobs: usize,
    /// Whose turn it is, if only one may work at a time.
    turn: Option<(Mutex<End>, Condvar)>,
}

impl Race {
    pub(super) fn new(jobs: usize, cancel: &Cancel) -> Self {
        let turn = (jobs < 2).then(|| (Mutex::new(End::Upper), Condvar::new()));
        Race {
            time: [AtomicU64::new(0), AtomicU64::new(0)],
            first: AtomicU64::new(DONE),
            enough: AtomicU64::new(DONE),
            cancels: [cancel.for_another(), cancel.for_another()],
            hands: [1, jobs.saturating_sub(1).max(1)].map(|hands| Arc::new(AtomicUsize::new(hands))),
            jobs,
            turn,
        }
    }

    /// An end has come to this time. Waits for its turn, and says whether it has to stop.
    pub(super) fn tick(&self, end: End, time: u64) -> ControlFlow<Halt> {
        self.time[end as usize].store(time, Ordering::Relaxed);
        let ahead = || time > self.time[end.other() as usize].load(Ordering::Relaxed).saturating_add(TURN);
        if let Some((turn, changed)) = &self.turn {
            let mut whose = turn.lock().unwrap_or_else(PoisonError::into_inner);
            if ahead() && *whose == end {
                *whose = end.other();
                changed.notify_all();
            }
            // Now and then somebody may cancel everything without telling.
            while *whose != end
                && self.cancel(end).why().is_none()
                && self.time[end.other() as usize].load(Ordering::Relaxed) != DONE
            {
                let waited = changed.wait_timeout(whose, Duration::from_millis(20));
                whose = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
        match self.cancel(end).why() {
            Some(why) => ControlFlow::Break(why),
            None if time > self.first.load(Ordering::Relaxed) => {
                // Whatever it does to come to an end, it need not finish.
                self.cancel(end).now();
                ControlFlow::Break(Halt::Beaten)
            }
            None => ControlFlow::Continue(()),
        }
    }

    /// What stops an end in the middle of what it does.
    pub(super) fn cancel(&self, end: End) -> &Cancel {
        &self.cancels[end as usize]
    }

    /// Stops both ends at once.
    pub(super) fn cancel_both(&self) {
        self.cancels.iter().for_each(Cancel::now);
    }

    /// Stops the other end at once: there is nothing that it could say.
    pub(super) fn cancel_other(&self, end: End) {
        self.cancel(end.other()).now();
    }

    /// There is an answer, at this time.
    pub(super) fn concludes(&self, time: u64) {
        self.first.fetch_min(time, Ordering::Relaxed);
    }

    /// The lower end gives up at this time, without an answer. The upper one may have as much, or a moment at least: until then.
    pub(super) fn gives_up(&self, time: u64) -> u64 {
        let enough = time.max(MOMENT);
        self.enough.store(enough, Ordering::Relaxed);
        enough
    }

    /// When the upper end has to stop: never, unless the lower one has given up.
    pub(super) fn enough(&self) -> u64 {
        self.enough.load(Ordering::Relaxed)
    }

    /// How many threads an end may have, at the moment.
    pub(super) fn hands(&self, end: End) -> Arc<AtomicUsize> {
        self.hands[end as usize].clone()
    }

    /// An end has nothing left to do, and does not keep the other one waiting.
    pub(super) fn leaves(&self, end: End) {
        self.time[end as usize].store(DONE, Ordering::Relaxed);
        self.hands[end.other() as usize].store(self.jobs, Ordering::Relaxed);
        if let Some((turn, changed)) = &self.turn {
            *turn.lock().unwrap_or_else(PoisonError::into_inner) = end.other();
            changed.notify_all();
        }
    }

    /// Whether an end still has something to do.
    pub(super) fn is_at_work(&self, end: End) -> bool {
        self.time[end as usize].load(Ordering::Relaxed) != DONE
    }

    /// Does the work of an end. Whatever becomes of it, the other one is not kept waiting; if it panics, not kept working either.
    pub(super) fn run<T>(&self, end: End, work: impl FnOnce() -> T) -> T {
        let _leaves = Leaves { race: self, end };
        fault::here(if end == End::Upper { "upper end" } else { "lower end" });
        work()
    }
}

struct Leaves<'r> {
    race: &'r Race,
    end: End,
}

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.race.cancel_both();
        }
        self.race.leaves(self.end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    /// What an end does: an answer after so much work, in steps.
    fn finish(race: &Race, end: End, step: u64, answer: Option<u64>) -> (u64, Option<Halt>) {
        race.run(end, || {
            let mut time = 0;
            loop {
                if let ControlFlow::Break(why) = race.tick(end, time) {
                    return (time, Some(why));
                }
                if answer.is_some_and(|answer| time >= answer) {
                    race.concludes(time);
                    return (time, None);
                }
                time += step;
            }
        })
    }

    /// The first is the one with less work, however the threads are scheduled; the other one stops just after.
    #[test]
    fn less_work_is_first() {
        for jobs in [1, 2] {
            for _ in 0..50 {
                let race = Race::new(jobs, &Cancel::default());
                let (upper, lower) = thread::scope(|scope| {
                    let upper = scope.spawn(|| finish(&race, End::Upper, 1000, Some(100_000)));
                    let lower = scope.spawn(|| finish(&race, End::Lower, 10, Some(70_000)));
                    (upper.join().unwrap(), lower.join().unwrap())
                });
                assert_eq!(race.first.load(Ordering::Relaxed), 70_000);
                assert_eq!(lower, (70_000, None));
                // It may have had its answer before it could hear of the other one.
                assert!(upper == (100_000, None) || (upper.0 > 70_000 && upper.1 == Some(Halt::Beaten)), "{upper:?}");
            }
        }
    }

    /// An end that has nothing to say does not keep the other one from going on.
    #[test]
    fn the_other_one_goes_on_alone() {
        for jobs in [1, 2] {
            let race = Race::new(jobs, &Cancel::default());
            thread::scope(|scope| {
                scope.spawn(|| race.run(End::Upper, || ()));
                let lower = scope.spawn(|| finish(&race, End::Lower, 1000, Some(10_000_000)));
                assert_eq!(lower.join().unwrap(), (10_000_000, None));
            });
        }
    }

    #[test]
    fn both_stop_when_they_are_told_to() {
        static STOPS: [Stop; 2] = [const { Stop::new() }; 2];
        for (jobs, stop, why) in [(1, &STOPS[0], Halt::Interrupted), (2, &STOPS[1], Halt::Memory)] {
            let race = Race::new(jobs, &Cancel::when(Some(stop), None));
            thread::scope(|scope| {
                let ends = [End::Upper, End::Lower].map(|end| {
                    let race = &race;
                    scope.spawn(move || finish(race, end, 1, None))
                });
                stop.set(why).unwrap();
                for end in ends {
                    assert_eq!(end.join().unwrap().1, Some(why));
                }
            });
        }
        let race = Race::new(2, &Cancel::when(None, Some(Duration::ZERO)));
        assert_eq!(finish(&race, End::Lower, 1, None).1, Some(Halt::TimeOut));
    }
}
