//! explicit::parallel

pub(crate) mod broadcast;
pub(crate) mod expansion;
pub(crate) mod state_numbering;
