//! The number of expansions, and the number at which the next check is due.

use crate::tuning::Tuning;

/// Counts expansions, with checks at regular intervals of work.
pub(super) struct ExpansionCounter {
    count: u64,
    /// The next check, in expansions.
    next_check: u64,
    tuning: Tuning,
}

impl ExpansionCounter {
    pub(super) fn new(tuning: Tuning) -> Self {
        ExpansionCounter { count: 0, next_check: 0, tuning }
    }

    /// Restores a saved counter.
    pub(super) fn restored((count, next_check): (u64, u64), tuning: Tuning) -> Self {
        ExpansionCounter { count, next_check, tuning }
    }

    /// Returns the contents that a checkpoint saves.
    pub(super) fn saved(&self) -> (u64, u64) {
        (self.count, self.next_check)
    }

    #[inline]
    pub(super) fn add(&mut self, steps: usize) {
        self.count += steps as u64;
    }

    /// Returns the number of expansions.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// Whether a check is due.
    #[inline]
    pub(super) fn is_check_due(&self) -> bool {
        self.count >= self.next_check
    }

    /// Returns the number of expansions until the next check.
    pub(super) fn left(&self) -> u64 {
        self.next_check.saturating_sub(self.count)
    }

    /// Returns the most expansions between two checks of a table with this number of states.
    pub(super) fn interval(&self, states: usize) -> u64 {
        self.tuning.check_interval_for(states)
    }

    /// The next check is due after this number of expansions.
    pub(super) fn check_after(&mut self, expansions: u64) {
        self.next_check = self.count.saturating_add(expansions);
    }
}
