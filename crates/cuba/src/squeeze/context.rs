//! What both searches work with, and what they report to each other.
//!
//! They report little: how many sorted visible states the lower search has reached, and how many
//! the upper search has left. T(R_k) is always a subset of what is left, so equal numbers are equal
//! sets. Then both searches have met, and T(R) is known.

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

/// Something that happened at a time.
#[derive(Serialize, Deserialize)]
pub(super) struct Timestamped<T> {
    pub(super) time: u64,
    pub(super) what: T,
}

/// When both searches have met, as far as each has reported.
#[derive(Default)]
pub(super) struct Meeting {
    /// How many sorted visible states are reached, and since when.
    reached: Option<(u64, usize)>,
    /// How many are left, and since when.
    left: Option<(u64, usize)>,
}

impl Meeting {
    /// A search has this many visible states at this time.
    pub(super) fn report(&mut self, end: Side, time: u64, states: usize) {
        match end {
            Side::Lower if self.reached.is_none_or(|(_, before)| before < states) => {
                self.reached = Some((time, states));
            }
            Side::Upper if self.left.is_none_or(|(_, before)| before > states) => self.left = Some((time, states)),
            Side::Lower | Side::Upper => {}
        }
    }

    /// Since when both have the same states, if they have.
    pub(super) fn time(&self) -> Option<u64> {
        let ((low, reached), (high, left)) = (self.reached?, self.left?);
        (reached == left).then_some(low.max(high))
    }

    /// Whether more is reached than is left: then one of the searches is wrong.
    fn is_contradiction(&self) -> bool {
        self.reached.zip(self.left).is_some_and(|((_, reached), (_, left))| reached > left)
    }
}

/// What both searches work with.
pub(super) struct Squeeze<'a, 'k> {
    pub(super) problem: &'a Problem,
    pub(super) question: Question,
    pub(super) options: Options,
    /// What the levels are made of, to begin with.
    pub(super) engine: Engine,
    pub(super) symmetry: Symmetry,
    /// The bad patterns, if the question is about them.
    pub(super) bad: Option<BadPatterns>,
    pub(super) race: Race,
    pub(super) keeper: Option<&'k dyn CheckpointWriter>,
    /// The processes that have the states, if this one does not have them all.
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
        keeper: Option<&'k dyn CheckpointWriter>,
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
            keeper,
            elsewhere: None,
            meeting: Mutex::default(),
        }
    }

    pub(super) fn system(&self) -> &'a Cpds {
        self.problem.system()
    }

    /// A search has this many visible states at this time. If both have met, that answers
    /// [`Question::Visible`].
    pub(super) fn report(&self, end: Side, time: u64, states: usize) {
        let mut meeting = self.meeting.lock().unwrap_or_else(PoisonError::into_inner);
        meeting.report(end, time, states);
        if meeting.is_contradiction() {
            self.race.cancel_both();
        } else if let Some(time) = meeting.time().filter(|_| self.question == Question::Visible) {
            self.race.concludes(time);
        }
    }

    /// Since when both searches have the same visible states, if they have.
    pub(super) fn met(&self) -> Option<u64> {
        self.meeting.lock().unwrap_or_else(PoisonError::into_inner).time()
    }
}
