//! The pairs of a wave, in the order in which they are expanded.
//!
//! First come the reopened states, the last one first. Then come the states that are new in the
//! wave before, each with the threads that reached it.

use crate::tables::thread_masks::ThreadMasks;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A state, and the position of a thread that takes its steps from there.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Pair {
    pub(super) id: u32,
    pub(super) position: u16,
}

/// The pairs of a wave that are not expanded yet.
pub(super) struct Wave {
    /// The states whose pairs are not taken yet, each with the threads in its mask in `open`.
    pub(super) states: Range<usize>,
    pub(super) open: ThreadMasks,
    /// The state of the first mask in `open`.
    pub(super) first_open: usize,
    /// States of earlier waves, each with a thread that reached it for the first time in the last
    /// wave.
    pub(super) reopened: Vec<Pair>,
    /// The pairs that are expanded next, from `done` on.
    pub(super) pairs: Vec<Pair>,
    pub(super) done: usize,
}

impl Wave {
    /// An empty wave.
    pub(super) fn new(threads: usize) -> Self {
        let open = ThreadMasks::new(threads);
        Wave { states: 0..0, open, first_open: 0, reopened: Vec::new(), pairs: Vec::new(), done: 0 }
    }

    /// Takes pairs out of the wave, until at least `enough` are ready. Returns whether any pair is
    /// ready.
    pub(super) fn take(&mut self, enough: usize) -> bool {
        if self.next().len() >= enough {
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
    pub(super) fn next(&self) -> &[Pair] {
        &self.pairs[self.done..]
    }

    /// The number of reopened pairs that are not expanded yet. It does not depend on how many pairs
    /// were taken.
    pub(super) fn reopened_left(&self) -> usize {
        let is_reopened = |pair: &&Pair| (pair.id as usize) < self.first_open;
        self.reopened.len() + self.next().iter().take_while(is_reopened).count()
    }

    /// Whether every pair is expanded.
    pub(super) fn is_over(&self) -> bool {
        self.states.is_empty() && self.reopened.is_empty() && self.next().is_empty()
    }
}
