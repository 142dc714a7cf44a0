//! The time of the upper search: the work it has done, in expansions of a state.

use crate::overapproximation::ladder::Rung;
use crate::symbolic::levels::EXPANSIONS_PER_UNIT;
use serde::{Deserialize, Serialize};

/// A rung takes some time even if there is nothing to compute.
pub(super) const RUNG: u64 = 1 << 6;

/// Work so far.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct WorkClock {
    /// Transitions of M^n for Z and matched-Z.
    first_rungs: u64,
    /// All other rungs, in expansions of a state.
    rest: u64,
}

impl WorkClock {
    /// The time, if so many transitions of the first rungs do not count.
    pub(super) fn time(self, head_start: u64) -> u64 {
        self.first_rungs.saturating_sub(head_start) + self.rest
    }

    /// Adds the work for a rung.
    pub(super) fn add(&mut self, rung: Rung, work: u64) {
        match rung {
            Rung::Z | Rung::MatchedZ => self.first_rungs += work,
            Rung::CutOff(_) => self.rest += RUNG + work,
            Rung::Abstract(_) => self.rest += RUNG + work * EXPANSIONS_PER_UNIT,
        }
    }

    /// The time after more work for a rung.
    pub(super) fn after(mut self, rung: Rung, work: u64, head_start: u64) -> u64 {
        self.add(rung, work);
        self.time(head_start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn z_has_a_head_start_and_every_other_rung_takes_some_time() {
        for head_start in [1 << 5, 1 << 14] {
            let mut clock = WorkClock::default();
            clock.add(Rung::Z, head_start - 1);
            let after = |rung, work| clock.after(rung, work, head_start);
            assert_eq!((clock.time(head_start), after(Rung::Z, 5), after(Rung::MatchedZ, 8)), (0, 4, 7));
            clock.add(Rung::MatchedZ, 8);
            clock.add(Rung::CutOff(2), 5);
            assert_eq!(clock.time(head_start), 7 + RUNG + 5);
            clock.add(Rung::Abstract(0), 10);
            assert_eq!(clock.time(head_start), 7 + 2 * RUNG + 5 + 10 * EXPANSIONS_PER_UNIT);
        }
    }
}
