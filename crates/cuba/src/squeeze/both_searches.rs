//! The shared context of both searches, and the numbers that they report to each other.
//!
//! Each search reports one number of sorted visible states. The lower search reports how many it
//! has reached: T(R_k). The upper search reports how many *remain*: those that it has not ruled
//! out. T(R_k) is a subset of the remaining states, so equal numbers are equal sets. Then both
//! searches have met, and T(R) = T(R_k).

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

/// A result with the time, in units of work, at which a search had it.
#[derive(Serialize, Deserialize)]
pub(super) struct Timestamped<T> {
    pub(super) time: u64,
    pub(super) value: T,
}

/// The latest numbers of both searches.
#[derive(Default)]
pub(super) struct Meeting {
    /// The number of reached states, and the time since when there are so many.
    reached: Option<(u64, usize)>,
    /// The number of remaining states, and the time since when there are so many.
    remaining: Option<(u64, usize)>,
}

impl Meeting {
    /// Stores the number of states that a search reports for `time`.
    pub(super) fn report(&mut self, side: Side, time: u64, states: usize) {
        match side {
            Side::Lower if self.reached.is_none_or(|(_, before)| before < states) => {
                self.reached = Some((time, states));
            }
            Side::Upper if self.remaining.is_none_or(|(_, before)| before > states) => {
                self.remaining = Some((time, states));
            }
            Side::Lower | Side::Upper => {}
        }
    }

    /// Returns the time since when both numbers are equal; `None` if they are not equal.
    pub(super) fn time(&self) -> Option<u64> {
        let ((reached_since, reached), (remaining_since, remaining)) = (self.reached?, self.remaining?);
        (reached == remaining).then_some(reached_since.max(remaining_since))
    }

    /// Whether more states are reached than remain. Then one of the searches is wrong.
    fn is_contradiction(&self) -> bool {
        self.reached.zip(self.remaining).is_some_and(|((_, reached), (_, remaining))| reached > remaining)
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
    /// Creates the context. Neither search has begun.
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

    /// Returns the system of the problem.
    pub(super) fn system(&self) -> &'a Cpds {
        self.problem.system()
    }

    /// Reports the number of states that a search has at `time`. If both searches have met, this
    /// answers [`Question::Visible`].
    pub(super) fn report(&self, side: Side, time: u64, states: usize) {
        let mut meeting = self.meeting.lock().unwrap_or_else(PoisonError::into_inner);
        meeting.report(side, time, states);
        if meeting.is_contradiction() {
            self.race.cancel_both();
        } else if let Some(time) = meeting.time().filter(|_| self.question == Question::Visible) {
            self.race.report_answer(time);
        }
    }

    /// Returns the time since when both searches have the same visible states; `None` if they have
    /// not met.
    pub(super) fn meeting_time(&self) -> Option<u64> {
        self.meeting.lock().unwrap_or_else(PoisonError::into_inner).time()
    }
}
