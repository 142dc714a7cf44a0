//! Levels as ranges of numbers: items are numbered in the order in which they are found, so a level
//! is a range, and no item stores its level.

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// For each level, the number of its first item. There is at least level 0.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct LevelRanges(Vec<usize>);

impl LevelRanges {
    /// Level 0, which begins with the first item.
    pub(crate) fn new() -> Self {
        LevelRanges(vec![0])
    }

    /// Begins the next level with the item of this number.
    pub(crate) fn begin(&mut self, first: usize) {
        self.0.push(first);
    }

    /// Returns the number of levels.
    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns the number of the first item of the last level.
    #[inline]
    pub(crate) fn last_start(&self) -> usize {
        self.0[self.0.len() - 1]
    }

    /// Returns the numbers of the items of level k, if there are `len` items in all levels.
    pub(crate) fn range(&self, k: usize, len: usize) -> Range<usize> {
        self.0[k]..self.0.get(k + 1).copied().unwrap_or(len)
    }

    /// Returns the level of the item with this number.
    pub(crate) fn level_of(&self, id: usize) -> usize {
        self.0.partition_point(|&start| start <= id) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_ends_where_the_next_one_begins() {
        let mut levels = LevelRanges::new();
        levels.begin(3);
        levels.begin(3);
        assert_eq!((levels.count(), levels.last_start()), (3, 3));
        assert_eq!([0, 1, 2].map(|k| levels.range(k, 5)), [0..3, 3..3, 3..5]);
        assert_eq!([0, 2, 3, 4].map(|id| levels.level_of(id)), [0, 0, 2, 2]);
    }
}
