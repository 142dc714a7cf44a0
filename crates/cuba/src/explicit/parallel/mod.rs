//! explicit::parallel

pub mod broadcast;
pub mod expansion;
pub mod state_numbering;
