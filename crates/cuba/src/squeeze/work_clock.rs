//! The time of the upper search: its work, in expansions of states.

use crate::overapproximation::ladder::Rung;
use crate::symbolic::levels::EXPANSIONS_PER_UNIT;
use serde::{Deserialize, Serialize};

/// The least work of a rung, even if there is nothing to compute.
pub(super) const WORK_PER_RUNG: u64 = 1 << 6;

/// The work so far.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
pub(super) struct WorkClock {
    /// The transitions of Z and matched-Z.
    first_rungs: u64,
    /// The work of all other rungs.
    rest: u64,
}

impl WorkClock {
    /// Returns the time, if so many transitions of the first rungs do not count.
    pub(super) fn time(self, head_start: u64) -> u64 {
        self.first_rungs.saturating_sub(head_start) + self.rest
    }

    /// Adds the work for a rung.
    pub(super) fn add(&mut self, rung: Rung, work: u64) {
        match rung {
            Rung::Z | Rung::MatchedZ => self.first_rungs += work,
            Rung::CutOff(_) => self.rest += WORK_PER_RUNG + work,
            Rung::Abstract(_) => self.rest += WORK_PER_RUNG + work * EXPANSIONS_PER_UNIT,
        }
    }

    /// Returns the time after more work for a rung.
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
            assert_eq!(clock.time(head_start), 7 + WORK_PER_RUNG + 5);
            clock.add(Rung::Abstract(0), 10);
            assert_eq!(clock.time(head_start), 7 + 2 * WORK_PER_RUNG + 5 + 10 * EXPANSIONS_PER_UNIT);
        }
    }
}
