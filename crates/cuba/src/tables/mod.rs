//! tables

pub mod packed_rows;
pub mod step_cache;
pub mod thread_masks;
pub mod workers;
