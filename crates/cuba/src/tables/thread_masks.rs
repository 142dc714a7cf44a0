//! For each state of a level, a bit mask of threads: the threads that reached the state, or that
//! have to run from it.

use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU8, Ordering};

/// A set of thread positions for each state of a level.
///
/// Several cores may add positions at the same time, but only to different states.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct ThreadMasks {
    /// The number of bytes for each state; each position has one bit.
    stride: usize,
    bits: Vec<AtomicU8>,
}

impl ThreadMasks {
    pub(crate) fn new(threads: usize) -> Self {
        ThreadMasks { stride: threads.div_ceil(8), bits: Vec::new() }
    }

    /// Adds a state, with at most one position.
    #[inline]
    pub(crate) fn push(&mut self, position: Option<usize>) {
        let state = self.bits.len();
        self.bits.resize_with(state + self.stride, AtomicU8::default);
        if let Some(position) = position {
            *self.bits[state + position / 8].get_mut() |= 1 << (position % 8);
        }
    }

    /// Adds states with empty masks. Returns the bytes of these masks.
    pub(crate) fn extend(&mut self, states: usize) -> &mut [AtomicU8] {
        let start = self.bits.len();
        self.bits.resize_with(start + states * self.stride, AtomicU8::default);
        &mut self.bits[start..]
    }

    /// Returns the number of bytes for each state.
    pub(crate) fn stride(&self) -> usize {
        self.stride
    }

    /// Removes all states, and sets the number of bytes for each state.
    pub(crate) fn clear(&mut self, stride: usize) {
        self.stride = stride;
        self.bits.clear();
    }

    /// Copies the mask of a state.
    #[inline]
    pub(crate) fn copy_to(&self, state: usize, to: &mut [AtomicU8]) {
        for (to, from) in to.iter_mut().zip(&self.bits[state * self.stride..]) {
            *to.get_mut() = from.load(Ordering::Relaxed);
        }
    }

    /// Whether the mask of a state has a position.
    #[inline]
    pub(crate) fn has(&self, state: usize, position: usize) -> bool {
        self.byte(state * self.stride + position / 8) & (1 << (position % 8)) != 0
    }

    /// Returns the first byte of a state's mask; zero if there is no such state.
    #[inline]
    pub(crate) fn first_of(&self, state: usize) -> u8 {
        self.bits.get(state.wrapping_mul(self.stride)).map_or(0, |byte| byte.load(Ordering::Relaxed))
    }

    #[inline]
    fn byte(&self, index: usize) -> u8 {
        self.bits[index].load(Ordering::Relaxed)
    }

    /// Adds a position. Returns whether it is new. No other core may use this state at the same
    /// time.
    #[inline]
    pub(crate) fn add(&self, state: usize, position: usize) -> bool {
        let (byte, bit) = (&self.bits[state * self.stride + position / 8], 1 << (position % 8));
        let before = byte.load(Ordering::Relaxed);
        let is_new = before & bit == 0;
        // A store makes the cache line dirty and takes it from the other cores, so store only if
        // necessary.
        if is_new {
            byte.store(before | bit, Ordering::Relaxed);
        }
        is_new
    }

    /// Calls `work` for each position of a state, in order.
    #[inline]
    pub(crate) fn for_each(&self, state: usize, mut work: impl FnMut(u16)) {
        for (first, byte) in (0..).step_by(8).zip(state * self.stride..(state + 1) * self.stride) {
            let mut bits = u16::from(self.byte(byte));
            while bits != 0 {
                // Below eight.
                #[expect(clippy::cast_possible_truncation)]
                work(first + bits.trailing_zeros() as u16);
                bits &= bits - 1;
            }
        }
    }

    /// Returns the bytes of all masks.
    pub(crate) fn bytes_mut(&mut self) -> &mut [AtomicU8] {
        &mut self.bits
    }

    /// Copies the masks of `others`, from `state` on.
    pub(crate) fn set_from(&mut self, others: &Self, state: usize) {
        let bytes = others.bits[state * others.stride..].iter().map(|byte| byte.load(Ordering::Relaxed));
        self.bits.clear();
        self.bits.extend(bytes.map(AtomicU8::new));
    }

    /// Returns the memory in use.
    pub(crate) fn bytes(&self) -> usize {
        self.bits.len()
    }
}

/// Replaces masks by their complements, restricted to the positions for which `is_wanted` holds.
/// The bytes are those of the states from `first` on.
pub(crate) fn complement(
    bytes: &mut [AtomicU8],
    first: usize,
    threads: usize,
    is_wanted: &impl Fn(usize, usize) -> bool,
) {
    for (state, bytes) in (first..).zip(bytes.chunks_exact_mut(threads.div_ceil(8))) {
        for (start, byte) in (0..).step_by(8).zip(bytes) {
            let here = (start..threads.min(start + 8)).filter(|&position| is_wanted(state, position));
            let wanted = here.fold(0, |bits, position| bits | 1 << (position - start));
            *byte.get_mut() = wanted & !*byte.get_mut();
        }
    }
}
