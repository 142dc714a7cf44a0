//! The pairs of a wave, in the order in which they are expanded.
//!
//! First come the states that were there before the wave and are opened again, the last one first;
//! then the states that are new, each for the threads that reached it.

use crate::tables::thread_masks::ThreadMasks;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A state, and a thread, by its position, that is to take its steps from there.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Pair {
    pub(crate) id: u32,
    pub(crate) position: u16,
}

/// What is left of a wave.
pub(crate) struct Wave {
    /// The states that contexts are still to go on from, each for the threads that `open` has of
    /// it.
    pub(crate) states: Range<usize>,
    pub(crate) open: ThreadMasks,
    /// The first state that `open` has.
    pub(crate) opened: usize,
    /// States before the wave that a thread has reached in the one before, for the first time; with
    /// its position.
    pub(crate) reopened: Vec<Pair>,
    /// Pairs that are to be expanded next, from `done` on.
    pub(crate) pairs: Vec<Pair>,
    pub(crate) done: usize,
}

impl Wave {
    /// Nothing.
    pub(crate) fn new(threads: usize) -> Self {
        let open = ThreadMasks::new(threads);
        Wave { states: 0..0, open, opened: 0, reopened: Vec::new(), pairs: Vec::new(), done: 0 }
    }

    /// Takes pairs out of the wave, until there are enough of them. Says whether there are any.
    pub(crate) fn take(&mut self, enough: usize) -> bool {
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
                self.open.for_each(state - self.opened, |position| self.pairs.push(Pair { id, position }));
            } else {
                break;
            }
        }
        !self.pairs.is_empty()
    }

    /// The pairs that have been taken, and not been expanded.
    pub(crate) fn next(&self) -> &[Pair] {
        &self.pairs[self.done..]
    }

    /// How many of the states that are opened again have not been expanded. How many pairs have
    /// been taken does not matter.
    pub(crate) fn reopened_left(&self) -> usize {
        let before = |pair: &&Pair| (pair.id as usize) < self.opened;
        self.reopened.len() + self.next().iter().take_while(before).count()
    }

    /// Whether every pair has been expanded.
    pub(crate) fn is_over(&self) -> bool {
        self.states.is_empty() && self.reopened.is_empty() && self.next().is_empty()
    }
}
