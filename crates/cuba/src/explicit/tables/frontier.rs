//! The frontier: the pairs of a wave that are not expanded yet, in the order in which they will be.
//!
//! First come the reopened states, the last one first. Then come the states that are new in the
//! wave before, each with the threads that reached it.

use crate::tables::thread_masks::ThreadMasks;
use serde::{Deserialize, Serialize, Serializer};
use std::ops::Range;

/// A state, and the position of a thread that takes its steps from there.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Pair {
    pub(in crate::explicit) id: u32,
    pub(in crate::explicit) position: u16,
}

/// The pairs of a wave that are not expanded yet.
#[derive(Deserialize)]
#[serde(from = "SavedFrontier")]
pub(crate) struct Frontier {
    /// The states whose pairs are not taken yet, each with the threads in its mask in `open`.
    states: Range<usize>,
    open: ThreadMasks,
    /// The state of the first mask in `open`.
    first_open: usize,
    /// States of earlier waves, each with a thread that reached it for the first time in the last
    /// wave.
    reopened: Vec<Pair>,
    /// The pairs that are expanded next, from `done` on.
    pairs: Vec<Pair>,
    done: usize,
}

/// The saved part of a frontier: everything but the pairs that are done.
type SavedFrontier = (Range<usize>, ThreadMasks, usize, Vec<Pair>, Vec<Pair>);

impl From<SavedFrontier> for Frontier {
    fn from((states, open, first_open, reopened, pairs): SavedFrontier) -> Self {
        Frontier { states, open, first_open, reopened, pairs, done: 0 }
    }
}

impl Serialize for Frontier {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.states, &self.open, self.first_open, &self.reopened, self.ready()).serialize(serializer)
    }
}

impl Frontier {
    /// An empty frontier.
    pub(in crate::explicit) fn new(threads: usize) -> Self {
        let open = ThreadMasks::new(threads);
        Frontier { states: 0..0, open, first_open: 0, reopened: Vec::new(), pairs: Vec::new(), done: 0 }
    }

    /// Begins the first wave of a level: these states, each with the threads in its mask.
    pub(in crate::explicit) fn start_level(&mut self, states: Range<usize>, open: ThreadMasks) {
        (self.first_open, self.states, self.open) = (states.start, states, open);
    }

    /// Begins the next wave, with the states up to number `end`. `reached_by` has the masks of the
    /// states from number `level_start` on, and `reopened` the reopened pairs. Takes the pairs, and
    /// leaves an empty list.
    pub(in crate::explicit) fn start_wave(
        &mut self,
        end: usize,
        (reached_by, level_start): (&ThreadMasks, usize),
        reopened: &mut Vec<Pair>,
    ) {
        self.states = self.states.end..end;
        self.first_open = self.states.start;
        self.open.set_from(reached_by, self.first_open - level_start);
        std::mem::swap(&mut self.reopened, reopened);
    }

    /// The first state that is not in the wave: a state that is reached for the first time has this
    /// number or a higher one.
    #[inline]
    pub(in crate::explicit) fn end(&self) -> usize {
        self.states.end
    }

    /// Takes pairs out of the wave, until at least `enough` are ready. Returns whether any pair is
    /// ready.
    pub(in crate::explicit) fn take(&mut self, enough: usize) -> bool {
        if self.ready().len() >= enough {
            return true;
        }
        self.pairs.drain(..self.done);
        self.done = 0;
        while self.pairs.len() < enough {
            if let Some(pair) = self.reopened.pop() {
                self.pairs.push(pair);
            } else if let Some(state) = self.states.next() {
                // There are at most `States::MAX_LEN`.
                let id = u32::try_from(state).expect("the memory ends before");
                self.open.for_each(state - self.first_open, |position| self.pairs.push(Pair { id, position }));
            } else {
                break;
            }
        }
        !self.pairs.is_empty()
    }

    /// The pairs that are taken and not expanded yet.
    #[inline]
    pub(in crate::explicit) fn ready(&self) -> &[Pair] {
        &self.pairs[self.done..]
    }

    /// The number of expanded pairs since pairs were taken.
    #[inline]
    pub(in crate::explicit) fn done(&self) -> usize {
        self.done
    }

    /// Marks this number of pairs as expanded.
    #[inline]
    pub(in crate::explicit) fn finish(&mut self, pairs: usize) {
        self.done += pairs;
    }

    /// Whether every pair is expanded.
    pub(in crate::explicit) fn is_over(&self) -> bool {
        self.states.is_empty() && self.reopened.is_empty() && self.ready().is_empty()
    }

    /// The memory in use. It does not depend on how many pairs were taken.
    pub(in crate::explicit) fn bytes(&self) -> usize {
        let is_reopened = |pair: &&Pair| (pair.id as usize) < self.first_open;
        let reopened = self.reopened.len() + self.ready().iter().take_while(is_reopened).count();
        self.open.bytes() + reopened * size_of::<Pair>()
    }

    /// All pairs that are not expanded yet, in order.
    #[cfg(test)]
    pub(in crate::explicit) fn left(&self) -> Vec<Pair> {
        let mut left: Vec<Pair> = self.ready().iter().chain(self.reopened.iter().rev()).copied().collect();
        for state in self.states.clone() {
            let id = u32::try_from(state).unwrap();
            self.open.for_each(state - self.first_open, |position| left.push(Pair { id, position }));
        }
        left
    }
}
