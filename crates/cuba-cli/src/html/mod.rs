//! The page that `--report` writes.

pub(crate) mod data;
pub(crate) mod page;
