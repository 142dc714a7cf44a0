//! Marks on the candidates of a round, and the number of marks before each candidate.

/// Marks, in the order of the candidates.
pub(in crate::explicit) struct Marks {
    /// One bit for each candidate.
    bits: Vec<u64>,
    /// For each word of the bits, the number of marks before it; then the number of all marks.
    before: Vec<usize>,
}

impl Marks {
    /// The union of these marks, one bit for each candidate.
    pub(in crate::explicit) fn union<'m>(all: impl IntoIterator<Item = &'m [u64]>) -> Self {
        let mut bits: Vec<u64> = Vec::new();
        for some in all {
            bits.resize(some.len(), 0);
            bits.iter_mut().zip(some).for_each(|(word, more)| *word |= more);
        }
        let mut count = 0;
        let mut before = vec![0];
        before.extend(bits.iter().map(|word| {
            count += word.count_ones() as usize;
            count
        }));
        Marks { bits, before }
    }

    /// The number of marks.
    pub(in crate::explicit) fn len(&self) -> usize {
        self.before[self.bits.len()]
    }

    /// The number of marks before this candidate.
    #[inline]
    pub(in crate::explicit) fn count_before(&self, candidate: usize) -> usize {
        let here = self.bits.get(candidate / 64).map_or(0, |word| word & ((1 << (candidate % 64)) - 1));
        self.before[candidate / 64] + here.count_ones() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_counted_in_order() {
        let (some, others) = ([0b1001, 0, 1 << 63], [0b0100, 0, 1]);
        let marks = Marks::union([&some[..], &others[..]]);
        assert_eq!(marks.len(), 5);
        assert_eq!(
            [0, 1, 2, 3, 4, 64, 128, 129, 191, 192].map(|candidate| marks.count_before(candidate)),
            [0, 1, 1, 2, 3, 3, 3, 4, 4, 5]
        );
    }
}
