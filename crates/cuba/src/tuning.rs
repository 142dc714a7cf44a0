//! Tuning constants, as a value: how much work is done at a time.
//!
//! No answer, count or trace depends on them. They decide how often a limit is looked at, and when
//! several cores or another representation pay off. The defaults were measured on large systems
//! (`docs/benchmark.md`); tests on small systems use smaller values where the code under test would
//! otherwise never be reached.

/// How much work is done at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tuning {
    /// The units of work from one look at the limits to the next. With many states, it is a
    /// multiple.
    pub pulse: u64,
    /// How many bytes of states travel to another part in one block, roughly.
    pub block: usize,
    /// How many states a part remembers that it sent lately, so that it does not send them again.
    pub recently_sent: usize,
    /// How many steps a part computes in one superstep.
    pub superstep: u64,
    /// The most transitions of the thread automata for which Z is computed before the search, to
    /// decide finite context reachability.
    pub z_before_search: u64,
    /// From this number of threads on, no two of which are interchangeable, diagrams store the
    /// tuples.
    pub unlike_threads: usize,
    /// The least estimated transitions of a post* that is worth another core.
    pub post_ahead: u64,
}

impl Tuning {
    /// What is used unless a caller says otherwise.
    pub const SHIPPED: Tuning = Tuning {
        pulse: 1 << 14,
        block: 1 << 16,
        recently_sent: 1 << 15,
        superstep: 1 << 16,
        z_before_search: 1 << 18,
        unlike_threads: 4,
        post_ahead: 128,
    };
}

impl Default for Tuning {
    fn default() -> Self {
        Tuning::SHIPPED
    }
}
