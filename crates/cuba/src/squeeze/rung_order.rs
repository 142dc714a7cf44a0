//! Which rung of the ladder comes next, and how many tuples or states it may have.
//!
//! New rungs, and rungs that had too many tuples before, take turns. Some are left out: where A_d
//! is known, Z_z with z ≤ d + 1 rules out nothing more; and a limit that the initial states alone
//! exceed ends its kind of rung ([`InitialOverflow`]).

use crate::overapproximation::ladder::{Ladder, Rung};
use crate::squeeze::question::Options;
use crate::squeeze::work_clock::WorkClock;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// How many tuples an A_d may have, or states a Z_z, unless the caller says otherwise. Without any
/// limit from the caller, a rung that has more is tried again with more.
pub(super) const TUPLES: usize = 100_000;

/// How deep the ladder goes if the caller limits the number of contexts alone.
const DEPTH: usize = 4;

/// A rung to be computed, with at most this many tuples or states.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct RungStep {
    pub(super) rung: Rung,
    pub(super) tuples: usize,
}

/// How far the upper search has got on the ladder.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct RungOrder {
    /// How many rungs of the ladder have been begun.
    begun: usize,
    /// Rungs that had too many tuples, to be tried again.
    again: VecDeque<RungStep>,
    /// Whether it is the turn of a new rung.
    is_new: bool,
    /// The depth of the deepest A_d that is known.
    deepest: Option<usize>,
    too_many: InitialOverflow,
    /// The work of all rungs so far.
    pub(super) clock: WorkClock,
}

/// The kinds of rungs whose initial states alone are more than the limit.
///
/// An A_d begins with the initial states as they are, each a tuple of single words: nothing is
/// widened or merged before the first step. (In diagrams, nodes count; they are the same ones.) So
/// all A_d begin with equally many, and if these are too many for one, they are too many for all. A
/// Z_z begins with the initial states cut off at height z, of which Z_{z+1} has at least as many.
/// So if they are too many for one, they are too many for every higher one. But initial states that
/// differ only far down are one for Z_z and several for A_d; so each kind ends on its own.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
struct InitialOverflow {
    abstracts: bool,
    cut_offs: bool,
}

impl InitialOverflow {
    fn add(&mut self, rung: Rung) {
        match rung {
            Rung::Abstract(_) => self.abstracts = true,
            Rung::CutOff(_) => self.cut_offs = true,
            Rung::Z | Rung::MatchedZ => unreachable!("they have no limit but the memory"),
        }
    }

    /// Whether a rung is of such a kind.
    fn has(self, rung: Rung) -> bool {
        match rung {
            Rung::Abstract(_) => self.abstracts,
            Rung::CutOff(_) => self.cut_offs,
            Rung::Z | Rung::MatchedZ => false,
        }
    }

    /// Whether every deeper rung of the ladder is of such a kind.
    fn is_everything(self, ladder: Ladder) -> bool {
        self.abstracts && (self.cut_offs || ladder != Ladder::All)
    }
}

impl RungOrder {
    /// Nothing has been begun.
    pub(super) fn new() -> Self {
        RungOrder {
            begun: 0,
            again: VecDeque::new(),
            is_new: true,
            deepest: None,
            too_many: InitialOverflow::default(),
            clock: WorkClock::default(),
        }
    }

    /// Whether nothing has been begun.
    pub(super) fn is_new(&self) -> bool {
        self.begun == 0
    }

    /// The next rung, if there is one.
    pub(super) fn next(&mut self, options: &Options) -> Option<RungStep> {
        let Options { max_contexts, max_depth, max_tuples, ladder, .. } = *options;
        let max_depth = max_depth.unwrap_or(if max_contexts.is_some() { DEPTH } else { usize::MAX });
        while !self.too_many.is_everything(ladder) {
            let new = if self.is_new || self.again.is_empty() { ladder.rungs(max_depth).nth(self.begun) } else { None };
            self.begun += usize::from(new.is_some());
            let step = match new {
                Some(rung) => RungStep { rung, tuples: max_tuples.unwrap_or(TUPLES) },
                None => self.again.pop_front()?,
            };
            self.is_new = !self.is_new;
            // A_d has ruled out everything that this Z_z can.
            let is_idle = |z: usize| self.deepest.is_some_and(|depth| z <= depth + 1);
            if !matches!(step.rung, Rung::CutOff(z) if is_idle(z)) && !self.too_many.has(step.rung) {
                return Some(step);
            }
        }
        None
    }

    /// This rung is known.
    pub(super) fn is_known(&mut self, rung: Rung) {
        if let Rung::Abstract(depth) = rung {
            self.deepest = self.deepest.max(Some(depth));
        }
    }

    /// This rung, and every deeper one of its kind, has too many initial states.
    pub(super) fn ends_kind(&mut self, rung: Rung) {
        self.too_many.add(rung);
    }

    /// This rung is to be tried again, with four times as many tuples.
    pub(super) fn try_again(&mut self, RungStep { rung, tuples }: RungStep) {
        self.again.push_back(RungStep { rung, tuples: tuples.saturating_mul(4) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Deeper rungs and those that had too many tuples take turns; where A_d is known, Z_{d+1} is
    /// left out.
    #[test]
    fn what_is_next() {
        let options = Options { max_contexts: Some(0), ..Options::default() };
        let mut order = RungOrder::new();
        let next = |order: &mut RungOrder, count: usize| -> Vec<String> {
            let steps = std::iter::from_fn(|| order.next(&options)).take(count);
            steps.map(|RungStep { rung, tuples }| format!("{rung} {tuples}")).collect()
        };
        assert_eq!(next(&mut order, 4), ["Z 100000", "matched-Z 100000", "A_0 100000", "A_1 100000"]);
        order.is_known(Rung::Abstract(1));
        assert_eq!(next(&mut order, 1), ["A_2 100000"]);
        order.try_again(RungStep { rung: Rung::Abstract(2), tuples: 7 });
        assert_eq!(next(&mut order, 3), ["Z_3 100000", "A_2 28", "A_3 100000"]);
        assert_eq!(next(&mut order, 9), ["Z_4 100000", "A_4 100000", "Z_5 100000"], "no deeper than asked");
    }
}
