//! fcr

pub(crate) mod contexts;
pub(crate) mod pumping_heads;
pub(crate) mod pumping_loop;
