//! Numbers of states: exact up to 128 bits.

use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::iter::Sum;
use std::ops::Add;

/// A number of states: exact, unless it has more than 128 bits. (One sorted state may stand for n!
/// states.)
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Count(Option<u128>);

impl Count {
    /// Zero.
    pub const ZERO: Count = Count(Some(0));

    /// Returns the number, if it has at most 128 bits.
    pub fn exact(self) -> Option<u128> {
        self.0
    }
}

impl From<usize> for Count {
    fn from(count: usize) -> Self {
        Count(Some(count as u128))
    }
}

impl From<Option<u128>> for Count {
    fn from(count: Option<u128>) -> Self {
        Count(count)
    }
}

impl Add for Count {
    type Output = Count;

    fn add(self, other: Count) -> Count {
        Count(self.0.zip(other.0).and_then(|(a, b)| a.checked_add(b)))
    }
}

impl Sum for Count {
    fn sum<I: Iterator<Item = Count>>(counts: I) -> Count {
        counts.fold(Count::ZERO, Add::add)
    }
}

impl Display for Count {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(count) => count.fmt(f),
            None => f.pad("more than 10^38"),
        }
    }
}
