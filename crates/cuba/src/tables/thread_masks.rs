//! Which threads reached which states of a level.

use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU8, Ordering};

/// For each state of a level, the positions of the threads that reached it at that level.
///
/// Several cores may add positions at once, each for states of its own.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct ReachedBy {
    /// How many bytes a state has, one bit a position.
    stride: usize,
    bits: Vec<AtomicU8>,
}

impl ReachedBy {
    pub(crate) fn new(threads: usize) -> Self {
        ReachedBy { stride: threads.div_ceil(8), bits: Vec::new() }
    }

    /// Adds a state.
    #[inline]
    pub(crate) fn push(&mut self, position: Option<usize>) {
        let state = self.bits.len();
        self.bits.resize_with(state + self.stride, AtomicU8::default);
        if let Some(position) = position {
            *self.bits[state + position / 8].get_mut() |= 1 << (position % 8);
        }
    }

    /// Adds states that nobody has reached yet. Returns what there is for them.
    pub(crate) fn extend(&mut self, states: usize) -> &mut [AtomicU8] {
        let start = self.bits.len();
        self.bits.resize_with(start + states * self.stride, AtomicU8::default);
        &mut self.bits[start..]
    }

    pub(crate) fn stride(&self) -> usize {
        self.stride
    }

    /// Forgets all states. From now on they have so many bytes.
    pub(crate) fn clear(&mut self, stride: usize) {
        self.stride = stride;
        self.bits.clear();
    }

    /// Copies what there is for a state.
    #[inline]
    pub(crate) fn copy_to(&self, state: usize, to: &mut [AtomicU8]) {
        for (to, from) in to.iter_mut().zip(&self.bits[state * self.stride..]) {
            *to.get_mut() = from.load(Ordering::Relaxed);
        }
    }

    #[inline]
    pub(crate) fn has(&self, state: usize, position: usize) -> bool {
        self.some(state * self.stride + position / 8) & (1 << (position % 8)) != 0
    }

    /// Some of what there is for a state, if there is one.
    #[inline]
    pub(crate) fn first_of(&self, state: usize) -> u8 {
        self.bits.get(state.wrapping_mul(self.stride)).map_or(0, |byte| byte.load(Ordering::Relaxed))
    }

    #[inline]
    fn some(&self, byte: usize) -> u8 {
        self.bits[byte].load(Ordering::Relaxed)
    }

    /// Adds a position, and says whether it is new. Nobody else may work on this state meanwhile.
    #[inline]
    pub(crate) fn add(&self, state: usize, position: usize) -> bool {
        let (byte, bit) = (&self.bits[state * self.stride + position / 8], 1 << (position % 8));
        let before = byte.load(Ordering::Relaxed);
        let is_new = before & bit == 0;
        // Only then, since whatever is written has to be brought back to the memory, and is taken
        // from the other cores.
        if is_new {
            byte.store(before | bit, Ordering::Relaxed);
        }
        is_new
    }

    /// Does something for each position of a state, in order.
    #[inline]
    pub(crate) fn for_each(&self, state: usize, mut work: impl FnMut(u16)) {
        for (first, byte) in (0..).step_by(8).zip(state * self.stride..(state + 1) * self.stride) {
            let mut bits = u16::from(self.some(byte));
            while bits != 0 {
                // Below eight.
                #[expect(clippy::cast_possible_truncation)]
                work(first + bits.trailing_zeros() as u16);
                bits &= bits - 1;
            }
        }
    }

    /// What there is, byte by byte.
    pub(crate) fn bytes_mut(&mut self) -> &mut [AtomicU8] {
        &mut self.bits
    }

    /// Becomes a copy of others, from a state on.
    pub(crate) fn set_from(&mut self, others: &Self, state: usize) {
        let bytes = others.bits[state * others.stride..].iter().map(|byte| byte.load(Ordering::Relaxed));
        self.bits.clear();
        self.bits.extend(bytes.map(AtomicU8::new));
    }

    /// The memory in use.
    pub(crate) fn bytes(&self) -> usize {
        self.bits.len()
    }
}

/// Has states, of which these are the bytes, have those positions that they have not had, and that
/// are wanted.
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
