//! The shared context of both searches, and the numbers that they report to each other.
//!
//! Each search reports one number: the lower one how many sorted visible states it has reached, the
//! upper one how many it has not ruled out (what is *left*). T(R_k) is always a subset of what is
//! left, so equal numbers are equal sets. Then both searches have met, and T(R) is known.

use crate::distributed::Elsewhere;
use crate::squeeze::checkpoint::CheckpointWriter;
use crate::squeeze::question::{Options, Question};
use crate::squeeze::race::{Race, Side};
use crate::statistics::Engine;
use crate::visible::bad_patterns::BadPatterns;
use crate::visible::symmetry::Symmetry;
use cpds::{Cpds, Problem};
use serde::{Deserialize, Serialize};
use std::sync::{Mutex, PoisonError};

/// A result, with the time at which a search had it.
#[derive(Serialize, Deserialize)]
pub(super) struct Timestamped<T> {
    pub(super) time: u64,
    pub(super) what: T,
}

/// The latest numbers of both searches, and since when they are equal.
#[derive(Default)]
pub(super) struct Meeting {
    /// How many sorted visible states are reached, and since when.
    reached: Option<(u64, usize)>,
    /// How many are left, and since when.
    left: Option<(u64, usize)>,
}

impl Meeting {
    /// Notes that a search has this many visible states at `time`.
    pub(super) fn report(&mut self, side: Side, time: u64, states: usize) {
        match side {
            Side::Lower if self.reached.is_none_or(|(_, before)| before < states) => {
                self.reached = Some((time, states));
            }
            Side::Upper if self.left.is_none_or(|(_, before)| before > states) => self.left = Some((time, states)),
            Side::Lower | Side::Upper => {}
        }
    }

    /// Since when both numbers are equal, if they are.
    pub(super) fn time(&self) -> Option<u64> {
        let ((low, reached), (high, left)) = (self.reached?, self.left?);
        (reached == left).then_some(low.max(high))
    }

    /// Whether more states are reached than left. Then one of the searches is wrong.
    fn is_contradiction(&self) -> bool {
        self.reached.zip(self.left).is_some_and(|((_, reached), (_, left))| reached > left)
    }
}

/// The context that both searches share.
pub(super) struct Squeeze<'a, 'k> {
    pub(super) problem: &'a Problem,
    pub(super) question: Question,
    pub(super) options: Options,
    /// The engine of the first levels. Tuples may follow states when the memory is full.
    pub(super) engine: Engine,
    pub(super) symmetry: Symmetry,
    /// The bad patterns, if the question is [`Question::Verify`].
    pub(super) bad: Option<BadPatterns>,
    pub(super) race: Race,
    pub(super) checkpoint_writer: Option<&'k dyn CheckpointWriter>,
    /// The processes that store the states, if this one does not store all of them.
    pub(super) elsewhere: Option<Elsewhere>,
    meeting: Mutex<Meeting>,
}

impl<'a, 'k> Squeeze<'a, 'k> {
    pub(super) fn new(
        problem: &'a Problem,
        question: Question,
        options: Options,
        engine: Engine,
        race: Race,
        checkpoint_writer: Option<&'k dyn CheckpointWriter>,
    ) -> Self {
        let symmetry = Symmetry::new(problem.system(), options.symmetry);
        let bad = (question == Question::Verify).then(|| BadPatterns::new(problem.property(), &symmetry));
        Squeeze {
            problem,
            question,
            options,
            engine,
            symmetry,
            bad,
            race,
            checkpoint_writer,
            elsewhere: None,
            meeting: Mutex::default(),
        }
    }

    pub(super) fn system(&self) -> &'a Cpds {
        self.problem.system()
    }

    /// Notes that a search has this many visible states at `time`. If both searches have met, this
    /// answers [`Question::Visible`].
    pub(super) fn report(&self, side: Side, time: u64, states: usize) {
        let mut meeting = self.meeting.lock().unwrap_or_else(PoisonError::into_inner);
        meeting.report(side, time, states);
        if meeting.is_contradiction() {
            self.race.cancel_both();
        } else if let Some(time) = meeting.time().filter(|_| self.question == Question::Visible) {
            self.race.concludes(time);
        }
    }

    /// Since when both searches have the same visible states, if they have met.
    pub(super) fn met(&self) -> Option<u64> {
        self.meeting.lock().unwrap_or_else(PoisonError::into_inner).time()
    }
}
