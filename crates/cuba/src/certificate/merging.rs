//! Merges tuples: the same states in fewer tuples.
//!
//! States that differ in one thread only may become one tuple, with the union of the languages of
//! this thread. A checker considers the languages of a tuple one by one. So this is not allowed for
//! a second thread, or for tuples that overlap.
//!
//! # Why no step leads out of the merged tuples
//! Choose one thread. Let r be a state from which the stack of this thread is removed, and let W(r)
//! be the set of stacks that the thread may have together with r. A step of the thread leads from
//! W(r) into W(r'), where r' differs from r only in the shared state. A step of another thread
//! leads from r to some r' for each stack of the thread, so W(r) ⊆ W(r'). Hence no step leads out
//! of the tuples ⟨W(r), r⟩. The chosen thread, or group of interchangeable threads, is the one for
//! which the fewest tuples remain.
//!
//! For a shared state q, let W_i(q) be the stacks that thread i may have with q. If for each q
//! every combination of stacks from W_1(q), …, W_n(q) is a state, then one tuple for each q is
//! enough. A step of thread i leads from q to q' for all stacks of the other threads, so W_j(q) ⊆
//! W_j(q').

use crate::automata::canonical_language::to_u32;
use crate::certificate::limits::{AUTOMATON_ITEM_BYTES, CertificateLimits};
use crate::certificate::numbering::Numbering;
use crate::certificate::tuples::Tuples;
use crate::limits::TooLarge;
use rustc_hash::{FxHashSet, FxHasher};
use std::collections::BTreeMap;
use std::hash::Hasher as _;
use std::ops::Range;

impl Tuples {
    /// Merges tuples, if the memory suffices.
    pub(super) fn merged(self, limits: &CertificateLimits<'_>) -> Result<Tuples, TooLarge> {
        if !self.are_states {
            return Ok(self);
        }
        if let Some((rows, unions)) = self.combinations() {
            return self.with_unions(rows, unions, limits);
        }
        let width = self.width();
        let groups: Vec<_> = self.symmetry.groups().collect();
        // Two copies of the rows, and pointers to the rows of one of them.
        let largest = groups.iter().map(Range::len).max().unwrap_or(0);
        let bytes = (2 * self.rows.len() + self.rows.len() * 4 / width).saturating_mul(largest * size_of::<u32>());
        if bytes > limits.bytes {
            return Ok(self);
        }
        let counts = groups.iter().map(|group| Ok((self.count_without(group, limits)?, group)));
        let fewest = counts.collect::<Result<Vec<_>, TooLarge>>()?.into_iter().min_by_key(|&(count, _)| count);
        let Some((_, group)) = fewest.filter(|&(count, _)| count * width < self.rows.len()) else {
            return Ok(self);
        };
        // Each state, with one language of the group moved to the end.
        let mut moved = Vec::with_capacity(self.rows.len() * group.len());
        for row in self.rows.chunks_exact(width) {
            limits.check(0)?;
            for place in distinct_places(row, group) {
                moved.extend_from_slice(&row[..place]);
                moved.extend_from_slice(&row[place + 1..]);
                moved.push(row[place]);
            }
        }
        let mut moved: Vec<&[u32]> = moved.chunks_exact(width).collect();
        moved.sort_unstable();
        let mut unions: Numbering<Vec<u32>> = Numbering::new(to_u32(self.automaton.len()));
        let mut rows = Vec::new();
        for same in moved.chunk_by(|a, b| a[..width - 1] == b[..width - 1]) {
            let union = unions.union(same.iter().map(|row| row[width - 1]).collect());
            let rest = &same[0][..width - 1];
            rows.extend_from_slice(&rest[..group.end]);
            rows.push(union);
            rows.extend_from_slice(&rest[group.end..]);
        }
        self.with_unions(rows, unions, limits)
    }

    /// Computes one tuple for each shared state, if every combination of the languages of the
    /// groups is a state. Returns the rows, and the unions that they need.
    fn combinations(&self) -> Option<(Vec<u32>, Numbering<Vec<u32>>)> {
        let groups: Vec<Range<usize>> = self.symmetry.groups().collect();
        // For each shared state, the number of states, and the languages of each group.
        let mut by_shared: BTreeMap<u32, (u128, Vec<FxHashSet<u32>>)> = BTreeMap::new();
        for row in self.rows.chunks_exact(self.width()) {
            let (count, sets) =
                by_shared.entry(row[0]).or_insert_with(|| (0, vec![FxHashSet::default(); groups.len()]));
            *count += 1;
            for (set, group) in sets.iter_mut().zip(&groups) {
                set.extend(&row[1..][group.clone()]);
            }
        }
        let mut unions: Numbering<Vec<u32>> = Numbering::new(to_u32(self.automaton.len()));
        let mut rows = Vec::new();
        for (shared, (count, sets)) in by_shared {
            // There are no more states than combinations. So if the numbers are equal, each
            // combination is a state.
            let mut combinations =
                sets.iter().zip(&groups).map(|(set, group)| count_of_multisets(set.len(), group.len()));
            let all = combinations.try_fold(1_u128, |all, combinations| all.checked_mul(combinations?));
            if all != Some(count) {
                return None;
            }
            rows.push(shared);
            for (set, group) in sets.into_iter().zip(&groups) {
                let mut set: Vec<u32> = set.into_iter().collect();
                set.sort_unstable();
                let union = unions.union(set);
                rows.extend(std::iter::repeat_n(union, group.len()));
            }
        }
        Some((rows, unions))
    }

    /// Builds tuples with these rows, and computes the unions of languages that they need.
    fn with_unions(
        self,
        rows: Vec<u32>,
        mut unions: Numbering<Vec<u32>>,
        limits: &CertificateLimits<'_>,
    ) -> Result<Tuples, TooLarge> {
        let (mut automaton, mut sets) = (self.automaton.clone(), 0);
        while let Some(union) = unions.open.pop_front() {
            let mut out: Vec<(u32, u32)> = union.iter().flat_map(|&state| automaton.out(state)).copied().collect();
            out.sort_unstable();
            out.dedup();
            let transitions: Vec<(u32, u32)> = out
                .chunk_by(|a, b| a.0 == b.0)
                .map(|same| (same[0].0, unions.union(same.iter().map(|&(_, to)| to).collect())))
                .collect();
            let is_accepting = union.iter().any(|&state| automaton.is_accepting(state));
            automaton.push(is_accepting, transitions);
            sets += union.len() * 2 * size_of::<u32>();
            limits.check(sets + (automaton.len() + automaton.transition_count()) * AUTOMATON_ITEM_BYTES)?;
        }
        Ok(Tuples { automaton, rows, are_states: false, ..self })
    }

    /// Counts the distinct states without the language of one thread of a group. Compares hashes,
    /// so the number may be too small.
    fn count_without(&self, group: &Range<usize>, limits: &CertificateLimits<'_>) -> Result<usize, TooLarge> {
        let mut rests: FxHashSet<u64> = FxHashSet::default();
        for row in self.rows.chunks_exact(self.width()) {
            limits.check(0)?;
            for place in distinct_places(row, group) {
                let mut hasher = FxHasher::default();
                row[..place].iter().chain(&row[place + 1..]).for_each(|&number| hasher.write_u32(number));
                rests.insert(hasher.finish());
            }
        }
        Ok(rests.len())
    }
}

/// Returns the places of the distinct languages of a group in a sorted row.
fn distinct_places<'r>(row: &'r [u32], group: &Range<usize>) -> impl Iterator<Item = usize> + use<'r> {
    let (first, last) = (group.start + 1, group.end + 1);
    (first..last).filter(move |&place| place == first || row[place - 1] != row[place])
}

/// Returns the number of multisets of this size with so many distinct items: (n + k - 1 over k).
/// `None` if it does not fit into a u128.
fn count_of_multisets(items: usize, size: usize) -> Option<u128> {
    (1..=size as u128).try_fold(1_u128, |count, i| Some(count.checked_mul(items as u128 + i - 1)? / i))
}
