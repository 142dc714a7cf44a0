//! Limits: why a computation was not finished.
//!
//! A computation that does not fit into the memory, or that was stopped, returns a value of this
//! module, and never a guess.

use std::fmt::{self, Display, Formatter};

/// The computation needs more memory than its limit, or was stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLarge;

impl Display for TooLarge {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad("the computation needs more memory than its limit, or was stopped")
    }
}

impl std::error::Error for TooLarge {}

/// Why a level, or an overapproximation, was not finished.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unfinished<B> {
    /// It needs more memory than its limit.
    TooLarge,
    /// The caller stopped it, for this reason.
    Stopped(B),
}

impl<B> From<TooLarge> for Unfinished<B> {
    fn from(TooLarge: TooLarge) -> Self {
        Unfinished::TooLarge
    }
}
