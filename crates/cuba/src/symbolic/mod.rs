//! symbolic

pub(crate) mod below;
pub(crate) mod covering;
pub(crate) mod diagram;
pub(crate) mod diagram_levels;
pub(crate) mod levels;
pub(crate) mod post_ahead;
pub(crate) mod projection;
pub(crate) mod union_covering;
pub(crate) mod witness;
