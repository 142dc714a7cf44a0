//! The race of both ends: the lower and the upper search side by side, and which of them was first.
//!
//! Time is work: each search counts what it does, and these counts depend on no machine, on no
//! other process, and on no number of threads. What a search found at time t was *first* if the
//! other search found nothing before its own time t. So a search that has an answer at t waits
//! until the other one has come to t, and what was found after t is dropped. Then the answer, and
//! everything that is reported with it, is the same in every run, and no run takes much longer than
//! twice the time of the faster search.
//!
//! While both searches work, this module only stops them early. Which answer was first is decided
//! when both have ended, from what each has found and when (`squeeze/conclude.rs`).
//!
//! Only a bad state ends the race at once: no answer of the upper search could change it.

use crate::limits::{Cancel, Halt};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Which of the two searches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The one on the ladder of overapproximations.
    Upper = 0,
    /// The one on the levels.
    Lower = 1,
}

impl Side {
    pub(super) fn other(self) -> Side {
        if self == Side::Upper { Side::Lower } else { Side::Upper }
    }
}

/// How much more work than the other search a search may do in its turn.
const TURN: u64 = 1 << 15;

/// The time of a search that is over.
const DONE: u64 = u64::MAX;

/// Both clocks, and what stops the searches.
pub(super) struct Race {
    time: [AtomicU64; 2],
    /// The time of the first answer.
    first: AtomicU64,
    /// When the upper search has to stop, answer or not.
    enough: AtomicU64,
    /// One for each search.
    cancels: [Cancel; 2],
    /// How many threads each search may use: while both work, the upper one has one and the lower
    /// one the others; a search that works alone has all.
    workers: [Arc<AtomicUsize>; 2],
    jobs: usize,
    /// The search whose turn it is, if only one may work at a time.
    turn: Option<(Mutex<Side>, Condvar)>,
}

impl Race {
    pub(super) fn new(jobs: usize, cancel: &Cancel) -> Self {
        let turn = (jobs < 2).then(|| (Mutex::new(Side::Upper), Condvar::new()));
        Race {
            time: [AtomicU64::new(0), AtomicU64::new(0)],
            first: AtomicU64::new(DONE),
            enough: AtomicU64::new(DONE),
            cancels: [cancel.child(None), cancel.child(None)],
            workers: [1, jobs.saturating_sub(1).max(1)].map(|workers| Arc::new(AtomicUsize::new(workers))),
            jobs,
            turn,
        }
    }

    /// Sets the clock of a search to `time`, waits for its turn, and says whether it has to stop.
    pub(super) fn tick(&self, side: Side, time: u64) -> ControlFlow<Halt> {
        self.time[side as usize].store(time, Ordering::Relaxed);
        let ahead = || time > self.time[side.other() as usize].load(Ordering::Relaxed).saturating_add(TURN);
        if let Some((turn, changed)) = &self.turn {
            let mut current = turn.lock().unwrap_or_else(PoisonError::into_inner);
            if ahead() && *current == side {
                *current = side.other();
                changed.notify_all();
            }
            // A cancelled token wakes no thread, so the wait ends now and then.
            while *current != side
                && self.cancel(side).why().is_none()
                && self.time[side.other() as usize].load(Ordering::Relaxed) != DONE
            {
                let waited = changed.wait_timeout(current, Duration::from_millis(20));
                current = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        }
        match self.cancel(side).why() {
            Some(why) => ControlFlow::Break(why),
            None if time > self.first.load(Ordering::Relaxed) => {
                // The token also stops the computation that is under way.
                self.cancel(side).stop(Halt::Superseded);
                ControlFlow::Break(Halt::Superseded)
            }
            None => ControlFlow::Continue(()),
        }
    }

    /// The token that stops a search at once.
    pub(super) fn cancel(&self, side: Side) -> &Cancel {
        &self.cancels[side as usize]
    }

    /// Stops both searches at once.
    pub(super) fn cancel_both(&self) {
        self.cancels.iter().for_each(|cancel| cancel.stop(Halt::Superseded));
    }

    /// Stops the other search at once.
    pub(super) fn cancel_other(&self, side: Side) {
        self.cancel(side.other()).stop(Halt::Superseded);
    }

    /// Notes that a search has an answer at `time`.
    pub(super) fn concludes(&self, time: u64) {
        self.first.fetch_min(time, Ordering::Relaxed);
    }

    /// Notes that the lower search gives up at `time`, without an answer. The upper search may work
    /// until the same time, and at least until `least`. Returns the later of the two.
    pub(super) fn gives_up(&self, time: u64, least: u64) -> u64 {
        let enough = time.max(least);
        self.enough.store(enough, Ordering::Relaxed);
        enough
    }

    /// When the upper search has to stop: never, unless the lower one has given up.
    pub(super) fn enough(&self) -> u64 {
        self.enough.load(Ordering::Relaxed)
    }

    /// How many threads a search may use at present.
    pub(super) fn workers(&self, side: Side) -> Arc<AtomicUsize> {
        self.workers[side as usize].clone()
    }

    /// Notes that a search is over. The other one no longer waits for it.
    pub(super) fn leaves(&self, side: Side) {
        self.time[side as usize].store(DONE, Ordering::Relaxed);
        self.workers[side.other() as usize].store(self.jobs, Ordering::Relaxed);
        if let Some((turn, changed)) = &self.turn {
            *turn.lock().unwrap_or_else(PoisonError::into_inner) = side.other();
            changed.notify_all();
        }
    }

    /// Whether a search still works.
    pub(super) fn is_at_work(&self, side: Side) -> bool {
        self.time[side as usize].load(Ordering::Relaxed) != DONE
    }

    /// Runs a search. When it ends, the other one no longer waits for it. If it panics, the other
    /// one stops.
    pub(super) fn run<T>(&self, side: Side, work: impl FnOnce() -> T) -> T {
        let _leaves = Leaves { race: self, side };
        work()
    }
}

struct Leaves<'r> {
    race: &'r Race,
    side: Side,
}

impl Drop for Leaves<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.race.cancel_both();
        }
        self.race.leaves(self.side);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    /// A search that works in steps, with an answer after `answer` units of work.
    fn finish(race: &Race, side: Side, step: u64, answer: Option<u64>) -> (u64, Option<Halt>) {
        race.run(side, || {
            let mut time = 0;
            loop {
                if let ControlFlow::Break(why) = race.tick(side, time) {
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

    /// The search with less work is first, whatever the schedule of the threads. The other one stops
    /// just after that time.
    #[test]
    fn less_work_is_first() {
        for jobs in [1, 2] {
            for _ in 0..50 {
                let race = Race::new(jobs, &Cancel::default());
                let (upper, lower) = thread::scope(|scope| {
                    let upper = scope.spawn(|| finish(&race, Side::Upper, 1000, Some(100_000)));
                    let lower = scope.spawn(|| finish(&race, Side::Lower, 10, Some(70_000)));
                    (upper.join().unwrap(), lower.join().unwrap())
                });
                assert_eq!(race.first.load(Ordering::Relaxed), 70_000);
                assert_eq!(lower, (70_000, None));
                // Its answer may come before it checks the other clock.
                assert!(
                    upper == (100_000, None) || (upper.0 > 70_000 && upper.1 == Some(Halt::Superseded)),
                    "{upper:?}"
                );
            }
        }
    }

    /// No search waits for one that has ended without an answer.
    #[test]
    fn the_other_one_continues_alone() {
        for jobs in [1, 2] {
            let race = Race::new(jobs, &Cancel::default());
            thread::scope(|scope| {
                scope.spawn(|| race.run(Side::Upper, || ()));
                let lower = scope.spawn(|| finish(&race, Side::Lower, 1000, Some(10_000_000)));
                assert_eq!(lower.join().unwrap(), (10_000_000, None));
            });
        }
    }

    #[test]
    fn both_stop_when_they_are_cancelled() {
        for (jobs, why) in [(1, Halt::Interrupted), (2, Halt::Memory)] {
            let cancel = Cancel::new();
            let race = Race::new(jobs, &cancel);
            thread::scope(|scope| {
                let searches = [Side::Upper, Side::Lower].map(|side| {
                    let race = &race;
                    scope.spawn(move || finish(race, side, 1, None))
                });
                cancel.stop(why);
                for search in searches {
                    assert_eq!(search.join().unwrap().1, Some(why));
                }
            });
        }
        let race = Race::new(2, &Cancel::new().child(Some(Duration::ZERO)));
        assert_eq!(finish(&race, Side::Lower, 1, None).1, Some(Halt::TimeOut));
    }
}
