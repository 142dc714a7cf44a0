//! symbolic

pub mod below;
pub mod covering;
pub mod diagram;
pub mod diagram_levels;
pub mod levels;
pub mod post_ahead;
pub mod projection;
pub mod union_covering;
pub mod witness;
