//! The order of the rungs: which rung is next, and how many tuples or states it may have.
//!
//! New rungs alternate with rungs that had too many tuples before. Two kinds of rungs are skipped:
//! after A_d, every Z_z with z ≤ d + 1, which rules out nothing more; and kinds whose initial
//! states alone exceed the limit ([`InitialOverflow`]).

use crate::overapproximation::ladder::{Ladder, Rung};
use crate::squeeze::question::Options;
use crate::squeeze::work_clock::WorkClock;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The default limit on the tuples of an A_d and on the states of a Z_z. If the caller sets no
/// limit at all, a rung that exceeds it is tried again later with a higher limit.
pub(super) const DEFAULT_MAX_TUPLES: usize = 100_000;

/// The depth of the last rung if the caller limits only the number of contexts.
const DEFAULT_MAX_DEPTH: usize = 4;

/// A rung to be computed, with at most this many tuples or states.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct RungStep {
    pub(super) rung: Rung,
    pub(super) tuples: usize,
}

/// The position of the upper search on the ladder.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct RungOrder {
    /// The number of rungs that have begun.
    begun: usize,
    /// Rungs that had too many tuples, for another attempt.
    retries: VecDeque<RungStep>,
    /// Whether it is the turn of a new rung.
    is_new: bool,
    /// The depth of the deepest A_d that is computed.
    deepest: Option<usize>,
    /// The kinds of rungs with too many initial states.
    initial_overflow: InitialOverflow,
    /// The work of all rungs so far.
    pub(super) clock: WorkClock,
}

/// The kinds of rungs whose initial states alone are more than the limit.
///
/// Every A_d begins with the same tuples: each initial state is a tuple of single words, and
/// nothing is widened or merged before the first step. (In diagrams, nodes are counted; they are
/// the same for every A_d.) So if there are too many for one A_d, there are too many for all. A Z_z
/// begins with the initial states cut off at height z, and Z_{z+1} has at least as many. So if
/// there are too many for one z, there are too many for every higher one. Initial states that
/// differ only near the bottom are one state of Z_z and several tuples of A_d, so each kind has its
/// own flag.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct InitialOverflow {
    abstracts: bool,
    cut_offs: bool,
}

impl InitialOverflow {
    /// Adds the kind of this rung.
    fn add(&mut self, rung: Rung) {
        match rung {
            Rung::Abstract(_) => self.abstracts = true,
            Rung::CutOff(_) => self.cut_offs = true,
            Rung::Z | Rung::MatchedZ => unreachable!("they have no limit but the memory"),
        }
    }

    /// Whether the kind of this rung has too many initial states.
    fn has(self, rung: Rung) -> bool {
        match rung {
            Rung::Abstract(_) => self.abstracts,
            Rung::CutOff(_) => self.cut_offs,
            Rung::Z | Rung::MatchedZ => false,
        }
    }

    /// Whether all kinds of deeper rungs of the ladder have too many initial states.
    fn is_everything(self, ladder: Ladder) -> bool {
        self.abstracts && (self.cut_offs || ladder != Ladder::All)
    }
}

impl RungOrder {
    /// Creates the order before the first rung.
    pub(super) fn new() -> Self {
        RungOrder {
            begun: 0,
            retries: VecDeque::new(),
            is_new: true,
            deepest: None,
            initial_overflow: InitialOverflow::default(),
            clock: WorkClock::default(),
        }
    }

    /// Whether no rung has begun.
    pub(super) fn is_new(&self) -> bool {
        self.begun == 0
    }

    /// Returns the next rung, if there is one.
    pub(super) fn next(&mut self, options: &Options) -> Option<RungStep> {
        let Options { max_contexts, max_depth, max_tuples, ladder, .. } = *options;
        let max_depth = max_depth.unwrap_or(if max_contexts.is_some() { DEFAULT_MAX_DEPTH } else { usize::MAX });
        while !self.initial_overflow.is_everything(ladder) {
            let new =
                if self.is_new || self.retries.is_empty() { ladder.rungs(max_depth).nth(self.begun) } else { None };
            self.begun += usize::from(new.is_some());
            let step = match new {
                Some(rung) => RungStep { rung, tuples: max_tuples.unwrap_or(DEFAULT_MAX_TUPLES) },
                None => self.retries.pop_front()?,
            };
            self.is_new = !self.is_new;
            // A_d has ruled out all states that this Z_z can rule out.
            let is_useless = |z: usize| self.deepest.is_some_and(|depth| z <= depth + 1);
            if !matches!(step.rung, Rung::CutOff(z) if is_useless(z)) && !self.initial_overflow.has(step.rung) {
                return Some(step);
            }
        }
        None
    }

    /// Reports that a rung is computed.
    pub(super) fn complete(&mut self, rung: Rung) {
        if let Rung::Abstract(depth) = rung {
            self.deepest = self.deepest.max(Some(depth));
        }
    }

    /// Reports that this rung, and each deeper rung of its kind, has too many initial states.
    pub(super) fn end_kind(&mut self, rung: Rung) {
        self.initial_overflow.add(rung);
    }

    /// Queues a rung for another attempt, with four times as many tuples.
    pub(super) fn retry(&mut self, RungStep { rung, tuples }: RungStep) {
        self.retries.push_back(RungStep { rung, tuples: tuples.saturating_mul(4) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// New rungs and second attempts alternate. After A_d, Z_{d+1} is skipped.
    #[test]
    fn new_rungs_and_second_attempts_alternate() {
        let options = Options { max_contexts: Some(0), ..Options::default() };
        let mut order = RungOrder::new();
        let next = |order: &mut RungOrder, count: usize| -> Vec<String> {
            let steps = std::iter::from_fn(|| order.next(&options)).take(count);
            steps.map(|RungStep { rung, tuples }| format!("{rung} {tuples}")).collect()
        };
        assert_eq!(next(&mut order, 4), ["Z 100000", "matched-Z 100000", "A_0 100000", "A_1 100000"]);
        order.complete(Rung::Abstract(1));
        assert_eq!(next(&mut order, 1), ["A_2 100000"]);
        order.retry(RungStep { rung: Rung::Abstract(2), tuples: 7 });
        assert_eq!(next(&mut order, 3), ["Z_3 100000", "A_2 28", "A_3 100000"]);
        assert_eq!(next(&mut order, 9), ["Z_4 100000", "A_4 100000", "Z_5 100000"], "no deeper than the default depth");
    }
}
