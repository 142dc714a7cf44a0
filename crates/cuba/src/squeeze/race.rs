//! Two ends that work side by side, and which of them was first.
//!
//! Time is work: each end counts what it does (`squeeze/levels.rs`, `overapproximation/ladder.rs` say in which units), and these counts do not depend on
//! the machine, on other processes, or on how many threads there are. What an end found at time t was *first* if the other one
//! found nothing before its own time t. So an end that has an answer at t waits for the other one to get to t, and what was found
//! after t is thrown away. Then the answer, and everything that is reported with it, is the same in every run, and no run takes
//! much longer than twice what the quicker end takes.
//!
//! What is known here while both are at work only serves to stop them early. Which answer was first is decided when both have
//! ended, from what each has found and when (`squeeze/analysis.rs`).
//!
//! Only a bad state ends the race at once: the other end could not have said anything else.

use crate::limits::{Cancel, Halt};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Which end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// The ladder of overapproximations.
    Upper = 0,
    /// The levels.
    Lower = 1,
}

impl End {
    pub(crate) fn other(self) -> End {
        if self == End::Upper { End::Lower } else { End::Upper }
    }
}

/// How much further than the other one an end may get in its turn.
const TURN: u64 = 1 << 15;

/// Less than a second. (Unit tests are about small systems, for which this should matter.)
const MOMENT: u64 = if cfg!(test) { 1 << 6 } else { 1 << 22 };

/// The time of an end that has nothing left to do.
const DONE: u64 = u64::MAX;

pub(crate) struct Race {
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
    pub(crate) fn new(jobs: usize, cancel: &Cancel) -> Self {
        let turn = (jobs < 2).then(|| (Mutex::new(End::Upper), Condvar::new()));
        Race {
            time: [AtomicU64::new(0), AtomicU64::new(0)],
            first: AtomicU64::new(DONE),
            enough: AtomicU64::new(DONE),
            cancels: [cancel.child(None), cancel.child(None)],
            hands: [1, jobs.saturating_sub(1).max(1)].map(|hands| Arc::new(AtomicUsize::new(hands))),
            jobs,
            turn,
        }
    }

    /// An end has come to this time. Waits for its turn, and says whether it has to stop.
    pub(crate) fn tick(&self, end: End, time: u64) -> ControlFlow<Halt> {
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
                self.cancel(end).stop(Halt::Beaten);
                ControlFlow::Break(Halt::Beaten)
            }
            None => ControlFlow::Continue(()),
        }
    }

    /// What stops an end in the middle of what it does.
    pub(crate) fn cancel(&self, end: End) -> &Cancel {
        &self.cancels[end as usize]
    }

    /// Stops both ends at once.
    pub(crate) fn cancel_both(&self) {
        self.cancels.iter().for_each(|cancel| cancel.stop(Halt::Beaten));
    }

    /// Stops the other end at once: there is nothing that it could say.
    pub(crate) fn cancel_other(&self, end: End) {
        self.cancel(end.other()).stop(Halt::Beaten);
    }

    /// There is an answer, at this time.
    pub(crate) fn concludes(&self, time: u64) {
        self.first.fetch_min(time, Ordering::Relaxed);
    }

    /// The lower end gives up at this time, without an answer. The upper one may have as much, or a moment at least: until then.
    pub(crate) fn gives_up(&self, time: u64) -> u64 {
        let enough = time.max(MOMENT);
        self.enough.store(enough, Ordering::Relaxed);
        enough
    }

    /// When the upper end has to stop: never, unless the lower one has given up.
    pub(crate) fn enough(&self) -> u64 {
        self.enough.load(Ordering::Relaxed)
    }

    /// How many threads an end may have, at the moment.
    pub(crate) fn hands(&self, end: End) -> Arc<AtomicUsize> {
        self.hands[end as usize].clone()
    }

    /// An end has nothing left to do, and does not keep the other one waiting.
    pub(crate) fn leaves(&self, end: End) {
        self.time[end as usize].store(DONE, Ordering::Relaxed);
        self.hands[end.other() as usize].store(self.jobs, Ordering::Relaxed);
        if let Some((turn, changed)) = &self.turn {
            *turn.lock().unwrap_or_else(PoisonError::into_inner) = end.other();
            changed.notify_all();
        }
    }

    /// Whether an end still has something to do.
    pub(crate) fn is_at_work(&self, end: End) -> bool {
        self.time[end as usize].load(Ordering::Relaxed) != DONE
    }

    /// Does the work of an end. Whatever becomes of it, the other one is not kept waiting; if it panics, not kept working either.
    pub(crate) fn run<T>(&self, end: End, work: impl FnOnce() -> T) -> T {
        let _leaves = Leaves { race: self, end };
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
        for (jobs, why) in [(1, Halt::Interrupted), (2, Halt::Memory)] {
            let cancel = Cancel::new();
            let race = Race::new(jobs, &cancel);
            thread::scope(|scope| {
                let ends = [End::Upper, End::Lower].map(|end| {
                    let race = &race;
                    scope.spawn(move || finish(race, end, 1, None))
                });
                cancel.stop(why);
                for end in ends {
                    assert_eq!(end.join().unwrap().1, Some(why));
                }
            });
        }
        let race = Race::new(2, &Cancel::new().child(Some(Duration::ZERO)));
        assert_eq!(finish(&race, End::Lower, 1, None).1, Some(Halt::TimeOut));
    }
}
