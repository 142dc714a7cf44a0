//! The verbs: what each command does.

pub mod command_line;

pub(crate) mod bench;
pub(crate) mod convert;
pub(crate) mod evidence_files;
pub(crate) mod exploration;
pub(crate) mod fcr;
pub(crate) mod generate;
pub(crate) mod reach;
pub(crate) mod resume;
pub(crate) mod show;
pub(crate) mod verify;
