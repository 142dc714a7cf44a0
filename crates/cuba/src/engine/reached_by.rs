//! Which threads reached which states of a level.

use serde::{Deserialize, Serialize};

/// For each state of a level, the positions of the threads that reached it at that level.
#[derive(Serialize, Deserialize)]
pub(super) struct ReachedBy {
    /// How many bytes a state has, one bit a position.
    stride: usize,
    bits: Vec<u8>,
}

impl ReachedBy {
    pub(super) fn new(threads: usize) -> Self {
        ReachedBy { stride: threads.div_ceil(8), bits: Vec::new() }
    }

    /// Adds a state.
    #[inline]
    pub(super) fn push(&mut self, position: Option<usize>) {
        let len = self.bits.len();
        self.bits.resize(len + self.stride, 0);
        if let Some(position) = position {
            self.bits[len + position / 8] |= 1 << (position % 8);
        }
    }

    #[inline]
    pub(super) fn has(&self, state: usize, position: usize) -> bool {
        self.bits[state * self.stride + position / 8] & (1 << (position % 8)) != 0
    }

    /// Adds a position, and says whether it is new.
    #[inline]
    pub(super) fn add(&mut self, state: usize, position: usize) -> bool {
        let (byte, bit) = (&mut self.bits[state * self.stride + position / 8], 1 << (position % 8));
        let new = *byte & bit == 0;
        *byte |= bit;
        new
    }

    /// The memory in use.
    pub(super) fn bytes(&self) -> usize {
        self.bits.len()
    }
}
