//! Tuning constants, as a value: how often limits are checked, and when an optimisation pays off.
//!
//! Every answer holds with any values. The last two fields influence which of the two searches is
//! first, and so which proof is reported. The shipped values were measured on large systems
//! (`docs/benchmark.md`). Tests on small systems use smaller values, to reach the code under test.

/// How often limits are checked, and when an optimisation pays off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tuning {
    /// The units of work from one check of the limits to the next. With many states, the interval
    /// is a multiple of this number.
    pub check_interval: u64,
    /// The approximate number of bytes in a block of states that one part sends to another part.
    pub block_bytes: usize,
    /// The number of recently sent states that a part stores, so that it does not send them again.
    /// A power of two.
    pub recently_sent: usize,
    /// The approximate number of steps that a part computes in one superstep.
    pub superstep_steps: u64,
    /// The most transitions of Z that are computed before the search. If Z is complete by then, it
    /// may decide finite context reachability, which selects the engine.
    pub z_before_search: u64,
    /// The least number of groups of interchangeable threads for which diagrams store the tuples.
    pub diagram_groups: usize,
    /// The least estimated number of transitions for which several post* are computed in parallel.
    pub parallel_post_star: u64,
    /// The least time of the upper search if the lower search ends without an answer. This work
    /// takes less than a second.
    pub upper_grace: u64,
    /// The number of transitions of Z and matched-Z that do not count as work.
    pub z_head_start: u64,
}

impl Tuning {
    /// The default values.
    pub const SHIPPED: Tuning = Tuning {
        check_interval: 1 << 14,
        block_bytes: 1 << 16,
        recently_sent: 1 << 15,
        superstep_steps: 1 << 16,
        z_before_search: 1 << 18,
        diagram_groups: 4,
        parallel_post_star: 128,
        upper_grace: 1 << 22,
        z_head_start: 1 << 14,
    };

    /// Values for tests on small systems, which do not reach the code under test with the shipped
    /// values.
    #[cfg(test)]
    pub(crate) const SMALL: Tuning = Tuning {
        check_interval: 1 << 4,
        block_bytes: 1 << 5,
        recently_sent: 1 << 3,
        superstep_steps: 1 << 3,
        z_before_search: 1 << 8,
        diagram_groups: 2,
        parallel_post_star: 1,
        upper_grace: 1 << 6,
        z_head_start: 1 << 5,
    };

    /// Returns the number of expansions from one check of the limits to the next, if this number of
    /// states is stored. It is at least 1.
    pub(crate) fn check_interval_for(self, states: usize) -> u64 {
        let factor = match states {
            ..0x4_0000 => 1,
            0x4_0000..0x40_0000 => 1 << 2,
            0x40_0000..0x100_0000 => 1 << 4,
            _ => 1 << 6,
        };
        self.check_interval.max(1).saturating_mul(factor)
    }
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning::SHIPPED
    }
}
