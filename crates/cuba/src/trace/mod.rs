//! Traces (paper §2.3: paths with contexts), found from the levels.
//!
//! In: the levels of R_k, as a search has stored them, and a visible state or a bad pattern. Out: a
//! trace from an initial state to such a state, with the fewest contexts. Within a budget, it also
//! has the fewest steps. The levels store no predecessors, so the search goes backwards (design
//! note 004). Finally, the interchangeable threads of the trace are renumbered.

pub(crate) mod backwards;
pub(crate) mod fewest_steps;
pub(crate) mod from_rules;
pub(crate) mod last_context;
pub(crate) mod search_budget;
pub(crate) mod thread_numbering;
mod thread_steps;
