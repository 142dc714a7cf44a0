//! The race of both searches: the lower and the upper search run side by side, and one of them is
//! first.
//!
//! The time of a search is the work that it has counted. These counts do not depend on the machine,
//! on other processes, or on the number of threads. An answer of one search at time t is *first* if
//! the other search has no answer before its own time t. So the other search continues until time
//! t, and all results after t are dropped. Then the answer, and everything that is reported with
//! it, is the same in each run, and no run takes much longer than twice the time of the faster
//! search.
//!
//! This module only stops the searches early. When both have ended, `squeeze/conclude.rs` decides
//! from their results and times which answer was first.
//!
//! Only a bad state ends the race at once, since no answer of the upper search could change it.

use crate::cancel::{Cancel, Halt};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Which of the two searches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The upper search, on the ladder of overapproximations.
    Upper = 0,
    /// The lower search, on the levels.
    Lower = 1,
}

impl Side {
    /// Returns the other search.
    pub(super) fn other(self) -> Side {
        if self == Side::Upper { Side::Lower } else { Side::Upper }
    }
}

/// If only one search may work at a time: the work by which a search may be ahead of the other
/// search.
const MAX_LEAD: u64 = 1 << 15;

/// The time of a search that is over.
const DONE: u64 = u64::MAX;

/// The clocks of both searches, and the means to stop them.
pub(super) struct Race {
    /// The time of each search.
    time: [AtomicU64; 2],
    /// The time of the first answer.
    first: AtomicU64,
    /// The time at which the upper search has to stop without an answer.
    upper_deadline: AtomicU64,
    /// The token that stops each search.
    cancels: [Cancel; 2],
    /// The number of threads that each search may use. While both work, the upper search has one
    /// thread and the lower search has the rest. A search that works alone has all threads.
    workers: [Arc<AtomicUsize>; 2],
    /// The number of all threads.
    jobs: usize,
    /// The search whose turn it is, if only one may work at a time.
    turn: Option<(Mutex<Side>, Condvar)>,
}

impl Race {
    /// Starts a race. `cancel` stops both searches.
    pub(super) fn new(jobs: usize, cancel: &Cancel) -> Self {
        let turn = (jobs < 2).then(|| (Mutex::new(Side::Upper), Condvar::new()));
        Race {
            time: [AtomicU64::new(0), AtomicU64::new(0)],
            first: AtomicU64::new(DONE),
            upper_deadline: AtomicU64::new(DONE),
            cancels: [cancel.child(None), cancel.child(None)],
            workers: [1, jobs.saturating_sub(1).max(1)].map(|workers| Arc::new(AtomicUsize::new(workers))),
            jobs,
            turn,
        }
    }

    /// Sets the clock of a search to `time`, waits for its turn, and returns whether it has to
    /// stop.
    pub(super) fn tick(&self, side: Side, time: u64) -> ControlFlow<Halt> {
        self.time[side as usize].store(time, Ordering::Relaxed);
        let is_ahead = || time > self.time[side.other() as usize].load(Ordering::Relaxed).saturating_add(MAX_LEAD);
        if let Some((turn, changed)) = &self.turn {
            let mut current = turn.lock().unwrap_or_else(PoisonError::into_inner);
            if is_ahead() && *current == side {
                *current = side.other();
                changed.notify_all();
            }
            // A cancelled token wakes no thread, so each wait ends after a short time.
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

    /// Returns the token that stops a search at once.
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

    /// Reports that a search has an answer at `time`.
    pub(super) fn report_answer(&self, time: u64) {
        self.first.fetch_min(time, Ordering::Relaxed);
    }

    /// Reports that the lower search gives up at `time`, without an answer. The upper search may
    /// work until the same time, and at least until `least`. Returns the later of these two times.
    pub(super) fn report_giving_up(&self, time: u64, least: u64) -> u64 {
        let upper_deadline = time.max(least);
        self.upper_deadline.store(upper_deadline, Ordering::Relaxed);
        upper_deadline
    }

    /// Returns the time at which the upper search has to stop: never, unless the lower search has
    /// given up.
    pub(super) fn upper_deadline(&self) -> u64 {
        self.upper_deadline.load(Ordering::Relaxed)
    }

    /// Returns the number of threads that a search may use. It may grow.
    pub(super) fn workers(&self, side: Side) -> Arc<AtomicUsize> {
        self.workers[side as usize].clone()
    }

    /// Reports that a search has ended. The other search no longer waits for it.
    pub(super) fn finish(&self, side: Side) {
        self.time[side as usize].store(DONE, Ordering::Relaxed);
        self.workers[side.other() as usize].store(self.jobs, Ordering::Relaxed);
        if let Some((turn, changed)) = &self.turn {
            *turn.lock().unwrap_or_else(PoisonError::into_inner) = side.other();
            changed.notify_all();
        }
    }

    /// Whether a search still works.
    pub(super) fn is_running(&self, side: Side) -> bool {
        self.time[side as usize].load(Ordering::Relaxed) != DONE
    }

    /// Runs a search. When it ends, the other search no longer waits for it. If it panics, the
    /// other search stops.
    pub(super) fn run<T>(&self, side: Side, work: impl FnOnce() -> T) -> T {
        let _guard = FinishGuard { race: self, side };
        work()
    }
}

/// Reports the end of a search, even if the search panics.
struct FinishGuard<'r> {
    race: &'r Race,
    side: Side,
}

impl Drop for FinishGuard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.race.cancel_both();
        }
        self.race.finish(self.side);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    /// Runs a search that works in steps, with an answer after `answer` units of work.
    fn run_in_steps(race: &Race, side: Side, step: u64, answer: Option<u64>) -> (u64, Option<Halt>) {
        race.run(side, || {
            let mut time = 0;
            loop {
                if let ControlFlow::Break(why) = race.tick(side, time) {
                    return (time, Some(why));
                }
                if answer.is_some_and(|answer| time >= answer) {
                    race.report_answer(time);
                    return (time, None);
                }
                time += step;
            }
        })
    }

    /// In every schedule of the threads, the search with less work is first. The other search stops
    /// soon after that time.
    #[test]
    fn the_answer_with_less_work_is_first() {
        for jobs in [1, 2] {
            for _ in 0..50 {
                let race = Race::new(jobs, &Cancel::default());
                let (upper, lower) = thread::scope(|scope| {
                    let upper = scope.spawn(|| run_in_steps(&race, Side::Upper, 1000, Some(100_000)));
                    let lower = scope.spawn(|| run_in_steps(&race, Side::Lower, 10, Some(70_000)));
                    (upper.join().unwrap(), lower.join().unwrap())
                });
                assert_eq!(race.first.load(Ordering::Relaxed), 70_000);
                assert_eq!(lower, (70_000, None));
                // The upper search may have its answer before it checks the time of the first
                // answer.
                assert!(
                    upper == (100_000, None) || (upper.0 > 70_000 && upper.1 == Some(Halt::Superseded)),
                    "{upper:?}"
                );
            }
        }
    }

    /// No search waits for one that has ended without an answer.
    #[test]
    fn a_search_continues_alone_after_the_other_one_has_ended() {
        for jobs in [1, 2] {
            let race = Race::new(jobs, &Cancel::default());
            thread::scope(|scope| {
                scope.spawn(|| race.run(Side::Upper, || ()));
                let lower = scope.spawn(|| run_in_steps(&race, Side::Lower, 1000, Some(10_000_000)));
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
                    scope.spawn(move || run_in_steps(race, side, 1, None))
                });
                cancel.stop(why);
                for search in searches {
                    assert_eq!(search.join().unwrap().1, Some(why));
                }
            });
        }
        let race = Race::new(2, &Cancel::new().child(Some(Duration::ZERO)));
        assert_eq!(run_in_steps(&race, Side::Lower, 1, None).1, Some(Halt::TimeOut));
    }
}
