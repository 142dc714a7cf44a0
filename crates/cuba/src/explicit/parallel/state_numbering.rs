//! How many of a round's candidates come before another one, counting only those that are marked.

/// Marks, in order.
pub(crate) struct Ranks {
    marks: Vec<u64>,
    /// How many there are before each word of the marks, and in all.
    before: Vec<usize>,
}

impl Ranks {
    /// What is marked in any of these, one bit each.
    pub(crate) fn new<'m>(all: impl IntoIterator<Item = &'m [u64]>) -> Self {
        let mut marks: Vec<u64> = Vec::new();
        for some in all {
            marks.resize(some.len(), 0);
            marks.iter_mut().zip(some).for_each(|(word, more)| *word |= more);
        }
        let mut count = 0;
        let mut before = vec![0];
        before.extend(marks.iter().map(|word| {
            count += word.count_ones() as usize;
            count
        }));
        Ranks { marks, before }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.before[self.marks.len()]
    }

    /// How many there are before this one.
    #[inline]
    pub(crate) fn of(&self, number: usize) -> usize {
        let here = self.marks.get(number / 64).map_or(0, |word| word & ((1 << (number % 64)) - 1));
        self.before[number / 64] + here.count_ones() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_counted_in_order() {
        let (some, others) = ([0b1001, 0, 1 << 63], [0b0100, 0, 1]);
        let ranks = Ranks::new([&some[..], &others[..]]);
        assert_eq!(ranks.len(), 5);
        assert_eq!(
            [0, 1, 2, 3, 4, 64, 128, 129, 191, 192].map(|number| ranks.of(number)),
            [0, 1, 1, 2, 3, 3, 3, 4, 4, 5]
        );
    }
}
