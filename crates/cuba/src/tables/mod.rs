//! Data structures that the searches share: packed rows, ranges of levels, cached steps, bit
//! masks of threads, and the pool of workers.
//!
//! In: rows of numbers, and the steps and threads that belong to them. Out: the stored rows by
//! number, the levels as ranges of numbers, and each cached step.
//!
//! In these structures a state is a row of numbers. Each search decides what the numbers stand for:
//! stacks in R_k, languages in S_k, cut-off stacks in Z.

pub(crate) mod level_ranges;
pub(crate) mod packed_rows;
pub(crate) mod step_cache;
pub(crate) mod table_size;
pub(crate) mod thread_masks;
pub(crate) mod workers;
