//! fcr

pub mod contexts;
pub mod pumping_heads;
pub mod pumping_loop;
