//! The limits for the computation of a certificate: memory, and cancellation.

use crate::cancel::Cancel;
use crate::limits::TooLarge;
use std::cell::Cell;

/// The memory for a certificate, and the token that cancels its computation.
pub(crate) struct CertificateLimits<'a> {
    pub(super) bytes: usize,
    cancel: &'a Cancel,
    checks: Cell<u32>,
}

impl<'a> CertificateLimits<'a> {
    /// Limits the memory to so many bytes.
    pub(crate) fn new(bytes: usize, cancel: &'a Cancel) -> Self {
        CertificateLimits { bytes, cancel, checks: Cell::new(0) }
    }

    /// Checks that so many bytes are allowed. At regular intervals, checks for cancellation.
    ///
    /// # Errors
    /// If the limit is exceeded, or if the caller cancels.
    pub(super) fn check(&self, bytes: usize) -> Result<(), TooLarge> {
        self.checks.set(self.checks.get().wrapping_add(1));
        let is_cancelled = self.checks.get().is_multiple_of(1 << 10) && self.cancel.why().is_some();
        if bytes > self.bytes || is_cancelled { Err(TooLarge) } else { Ok(()) }
    }
}

/// The approximate memory for a state or a transition of an automaton, with the memory to number
/// and to minimise it.
pub(super) const AUTOMATON_ITEM_BYTES: usize = 200;
