//! squeeze

pub mod analysis;
pub mod checkpoint;
pub mod conclude;
pub mod event;
pub mod levels;
pub mod lower_search;
pub mod observation_sequence;
pub mod proof;
pub mod question;
pub mod race;
pub mod search;
pub mod upper_search;
