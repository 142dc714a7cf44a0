//! FCR, finite context reachability: whether every R_k is finite (paper §5).
//!
//! In: a system; later, the visible states that the searches have reached and ruled out. Out: for
//! each program whether its contexts are finite, with the reason; and the pumping heads with their
//! loops. The answer decides which engine computes the levels.

pub(crate) mod finite_context_reachability;
pub(crate) mod pumping_heads;
pub(crate) mod pumping_loop;
