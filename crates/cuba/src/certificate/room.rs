//! The limits for making a certificate: memory, and cancellation.

use crate::limits::{Cancel, TooLarge};
use std::cell::Cell;

/// The memory for a certificate, and its cancel token.
pub(crate) struct Room<'a> {
    pub(super) bytes: usize,
    cancel: &'a Cancel,
    checks: Cell<u32>,
}

impl<'a> Room<'a> {
    pub(crate) fn new(bytes: usize, cancel: &'a Cancel) -> Self {
        Room { bytes, cancel, checks: Cell::new(0) }
    }

    /// Checks that the room has so many bytes. Now and then also checks for cancellation.
    pub(super) fn check(&self, bytes: usize) -> Result<(), TooLarge> {
        self.checks.set(self.checks.get().wrapping_add(1));
        let is_cancelled = self.checks.get().is_multiple_of(1 << 10) && self.cancel.why().is_some();
        if bytes > self.bytes || is_cancelled { Err(TooLarge) } else { Ok(()) }
    }
}

/// The memory for a state or a transition of an automaton, as an estimate: with what it takes to
/// number and to minimise it.
pub(super) const AUTOMATON_ITEM_BYTES: usize = 200;
