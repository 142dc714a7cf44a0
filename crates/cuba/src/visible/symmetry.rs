//! Symmetry: one state stands for all states that differ from it by a permutation of
//! interchangeable threads.
//!
//! The threads have an order, their *positions*, in which each symmetric group is one range. A
//! state is *sorted* if in each group the numbers of the threads do not decrease. Every state has
//! one sorted state in its orbit, and only sorted states are stored. R_0 is closed under the
//! permutations, and a permutation maps a step to a step. So R_k is the union of the orbits of its
//! sorted states, and so are T(R_k) and Z. Without symmetry, each group has one thread, and each
//! state is sorted.

use crate::tables::packed_rows::Layout;
use crate::visible::count::Count;
use cpds::{Cpds, ThreadId};
use std::ops::Range;

/// The positions of the threads, in groups.
#[derive(Clone, Debug)]
pub(crate) struct Symmetry {
    /// The thread at each position.
    threads: Vec<ThreadId>,
    /// The group at each position, as a range of positions.
    groups: Vec<Range<usize>>,
    /// The groups of more than one thread, each once.
    many: Vec<Range<usize>>,
}

impl Symmetry {
    /// Computes the symmetric groups of a system. If `is_used` is false, each group has one thread.
    pub(crate) fn new(system: &Cpds, is_used: bool) -> Self {
        Self::of(if is_used {
            system.symmetric_groups()
        } else {
            system.threads().map(|thread| vec![thread]).collect()
        })
    }

    /// Orders the threads by these groups.
    pub(crate) fn of(groups: Vec<Vec<ThreadId>>) -> Self {
        let mut symmetry = Symmetry { threads: Vec::new(), groups: Vec::new(), many: Vec::new() };
        for group in groups {
            let range = symmetry.threads.len()..symmetry.threads.len() + group.len();
            if group.len() > 1 {
                symmetry.many.push(range.clone());
            }
            symmetry.groups.extend(std::iter::repeat_n(range, group.len()));
            symmetry.threads.extend(group);
        }
        symmetry
    }

    /// Returns the thread at each position.
    pub(crate) fn threads(&self) -> &[ThreadId] {
        &self.threads
    }

    /// Returns the position of a thread.
    pub(crate) fn position(&self, thread: ThreadId) -> usize {
        self.threads.iter().position(|&other| other == thread).expect("every thread has one")
    }

    /// Returns the group at a position.
    #[inline]
    pub(crate) fn group(&self, position: usize) -> Range<usize> {
        self.groups[position].clone()
    }

    /// Returns each group once, in order.
    pub(crate) fn groups(&self) -> impl Iterator<Item = Range<usize>> {
        let mut next = 0;
        std::iter::from_fn(move || {
            let group = self.groups.get(next)?.clone();
            next = group.end;
            Some(group)
        })
    }

    /// Returns the program at each position. If the threads of a group have several programs with
    /// equal actions, this is the program of the first thread.
    pub(crate) fn programs(&self, system: &Cpds) -> Vec<usize> {
        self.groups.iter().map(|group| system.program_index(self.threads[group.start])).collect()
    }

    /// Whether any threads are interchangeable.
    pub(crate) fn has_groups(&self) -> bool {
        !self.many.is_empty()
    }

    /// Converts a list with one entry for each thread to a list by position.
    pub(crate) fn placed<T: Clone>(&self, by_thread: &[T]) -> Vec<T> {
        self.threads.iter().map(|thread| by_thread[thread.index()].clone()).collect()
    }

    /// Converts a list with one entry for each position to a list by thread.
    pub(crate) fn by_thread<T>(&self, placed: impl IntoIterator<Item = T>) -> Vec<T> {
        let mut entries: Vec<_> = self.threads.iter().zip(placed).collect();
        entries.sort_unstable_by_key(|(thread, _)| **thread);
        entries.into_iter().map(|(_, entry)| entry).collect()
    }

    /// Sorts the numbers of the threads within each group.
    pub(crate) fn sort(&self, locals: &mut [u32]) {
        for group in &self.many {
            locals[group.clone()].sort_unstable();
        }
    }

    /// Whether the thread at this position of a sorted state has to be expanded. If the thread
    /// before it in the group has the same number, it leads to the same sorted states.
    #[inline]
    pub(crate) fn stands_for_itself(&self, layout: &Layout, row: &[u64], position: usize) -> bool {
        position == self.groups[position].start || layout.local(row, position - 1) != layout.local(row, position)
    }

    /// Returns the number of states in the orbit of a sorted state; `None` if it has more than 128
    /// bits.
    ///
    /// For a group in which the numbers occur m₁, m₂, … times, it is (m₁+m₂+…)! / (m₁! m₂! …).
    pub(crate) fn orbit(&self, locals: &[u32]) -> Option<u128> {
        let mut size: u128 = 1;
        for group in &self.many {
            let locals = &locals[group.clone()];
            let orders = if locals.len() <= SMALL_GROUP { Some(orders_of_few(locals).into()) } else { orders(locals) };
            size = size.checked_mul(orders?)?;
        }
        Some(size)
    }

    /// Returns the number of states for which these sorted states stand.
    pub(crate) fn sum_of_orbits<'s>(&self, states: impl Iterator<Item = (&'s Layout, &'s [u64])>) -> Count {
        if !self.has_groups() {
            return Count::from(states.count());
        }
        let mut locals = Vec::new();
        states
            .map(|(layout, row)| {
                locals.clear();
                locals.extend(layout.locals(row));
                Count::from(self.orbit(&locals))
            })
            .sum()
    }

    /// Returns each state in the orbit of a sorted state, by position.
    pub(crate) fn members(&self, sorted: Vec<u32>) -> impl Iterator<Item = Vec<u32>> {
        // Counts up. The order of each group is a digit.
        std::iter::successors(Some(sorted), |member| {
            let mut member = member.clone();
            for group in self.many.iter().rev() {
                if next_order(&mut member[group.clone()]) {
                    return Some(member);
                }
                member[group.clone()].sort_unstable();
            }
            None
        })
    }
}

/// With this number of threads, the number of orders fits into a `u64`: 20! does.
const SMALL_GROUP: usize = 20;

/// How many equal numbers end here, number by number.
fn runs(sorted: &[u32]) -> impl Iterator<Item = u64> {
    let mut run = 0;
    sorted.iter().enumerate().map(move |(i, number)| {
        run = if i > 0 && *number == sorted[i - 1] { run + 1 } else { 1 };
        run
    })
}

/// The number of orders of at most [`SMALL_GROUP`] sorted numbers.
fn orders_of_few(sorted: &[u32]) -> u64 {
    // The product is the number of orders of one number less, times `placed`, and `run` divides it.
    (1..).zip(runs(sorted)).fold(1, |orders, (placed, run)| orders * placed / run)
}

/// The number of orders of sorted numbers. None if it has more than 128 bits.
fn orders(sorted: &[u32]) -> Option<u128> {
    (1..).zip(runs(sorted)).try_fold(1_u128, |orders, (placed, run): (u128, u64)| {
        // Divides first, so that no product is larger than the result.
        let common = gcd(orders, run.into());
        (orders / common).checked_mul(placed / (u128::from(run) / common))
    })
}

fn gcd(a: u128, b: u128) -> u128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Puts numbers into their next order, lexicographically. Returns whether there is one.
fn next_order(numbers: &mut [u32]) -> bool {
    let Some(pivot) = numbers.windows(2).rposition(|pair| pair[0] < pair[1]) else { return false };
    let swap = numbers.iter().rposition(|&n| n > numbers[pivot]).expect("the number after the pivot is larger");
    numbers.swap(pivot, swap);
    numbers[pivot + 1..].reverse();
    true
}

/// Packs the successors of one sorted state by the thread at one position, as sorted states.
///
/// The part that all successors share is packed once.
#[derive(Default)]
pub(crate) struct Successors {
    /// The row without its shared state and without the group of the moving thread.
    base: Vec<u64>,
    /// The numbers of the other threads of the group.
    others: Vec<u32>,
    /// The first position of the group.
    start: usize,
    /// The row of the last successor.
    row: Vec<u64>,
}

impl Successors {
    /// Prepares for the thread at `position` to move.
    #[inline]
    pub(crate) fn prepare(&mut self, symmetry: &Symmetry, layout: &Layout, row: &[u64], position: usize) {
        self.base.resize(row.len(), 0);
        self.row.resize(row.len(), 0);
        copy(&mut self.base, row);
        layout.clear_shared(&mut self.base);
        layout.clear_local(&mut self.base, position);
        let group = symmetry.group(position);
        self.start = group.start;
        self.others.clear();
        if group.len() > 1 {
            for i in group.filter(|&i| i != position) {
                self.others.push(layout.local(row, i));
                layout.clear_local(&mut self.base, i);
            }
        }
    }

    /// Returns the successor with this shared state and this number of the moving thread, and the
    /// position of the thread in it: the first position with this number.
    #[inline]
    pub(crate) fn pack(&mut self, layout: &Layout, (shared, local): (u32, u32)) -> (&[u64], usize) {
        copy(&mut self.row, &self.base);
        layout.fill_shared(&mut self.row, shared);
        let before = self.others.iter().take_while(|&&other| other < local).count();
        for (i, &other) in self.others.iter().enumerate() {
            layout.fill_local(&mut self.row, self.start + i + usize::from(i >= before), other);
        }
        layout.fill_local(&mut self.row, self.start + before, local);
        (&self.row, self.start + before)
    }

    /// Packs a whole row.
    pub(crate) fn pack_all(&mut self, layout: &Layout, shared: u32, locals: &[u32]) -> &[u64] {
        self.row.resize(layout.words(), 0);
        layout.pack(&mut self.row, shared, locals.iter().copied());
        &self.row
    }
}

/// Copies a row. Most rows have one to three words, so a loop is faster than `memcpy`.
#[inline]
pub(crate) fn copy(to: &mut [u64], from: &[u64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symmetry(groups: &[usize]) -> Symmetry {
        let mut all = Vec::new();
        for &size in groups {
            let start = all.len();
            all.extend(std::iter::repeat_n(start..start + size, size));
        }
        let threads = (0..u32::try_from(all.len()).unwrap()).map(ThreadId).collect();
        let mut many: Vec<_> = all.iter().filter(|group| group.len() > 1).cloned().collect();
        many.dedup();
        Symmetry { threads, groups: all, many }
    }

    #[test]
    fn the_number_of_members_of_an_orbit() {
        let symmetry = symmetry(&[3, 1, 2, 4]);
        for locals in [[0, 0, 0, 9, 1, 1, 2, 2, 2, 2], [0, 1, 2, 9, 1, 3, 2, 2, 4, 5], [0, 0, 1, 0, 0, 0, 1, 1, 2, 2]] {
            let mut members: Vec<_> = symmetry.members(locals.to_vec()).collect();
            members.sort_unstable();
            members.dedup();
            assert_eq!(symmetry.orbit(&locals), Some(members.len() as u128), "{locals:?}");
            for mut member in members {
                symmetry.sort(&mut member);
                assert_eq!(member, locals);
            }
        }
        assert_eq!(symmetry.groups().collect::<Vec<_>>(), [0..3, 3..4, 4..6, 6..10]);
    }

    #[test]
    fn an_orbit_with_more_than_128_bits_has_no_number() {
        let symmetry = symmetry(&[40]);
        assert_eq!(symmetry.orbit(&[7; 40]), Some(1));
        assert_eq!(symmetry.orbit(&(0..40).map(|i| i / 20).collect::<Vec<_>>()), Some(137_846_528_820));
        assert_eq!(symmetry.orbit(&(0..40).collect::<Vec<_>>()), None);
        for (threads, factorial) in [(20, 2_432_902_008_176_640_000), (21, 51_090_942_171_709_440_000)] {
            let different: Vec<u32> = (0..threads).collect();
            assert_eq!(super::tests::symmetry(&[threads as usize]).orbit(&different), Some(factorial));
        }
        let halves = super::tests::symmetry(&[130]).orbit(&(0..130).map(|i| i / 65).collect::<Vec<_>>());
        assert_eq!(halves, Some(95_067_625_827_960_698_145_584_333_020_095_113_100), "130 over 65, just below 2^128");
    }

    #[test]
    fn a_successor_is_sorted_and_has_the_position_of_the_thread() {
        let (symmetry, layout) = (symmetry(&[1, 4]), Layout::new(8, 5, 100));
        let mut row = vec![0; layout.words()];
        layout.pack(&mut row, 5, [50, 10, 20, 20, 40]);
        let expanded: Vec<_> = (0..5).filter(|&p| symmetry.stands_for_itself(&layout, &row, p)).collect();
        assert_eq!(expanded, [0, 1, 2, 4]);
        let mut successors = Successors::default();
        let mut moved = |position, to| {
            successors.prepare(&symmetry, &layout, &row, position);
            let (row, at) = successors.pack(&layout, to);
            (layout.shared(row), layout.locals(row).collect::<Vec<_>>(), at)
        };
        assert_eq!(moved(2, (6, 45)), (6, vec![50, 10, 20, 40, 45], 4));
        assert_eq!(moved(2, (6, 20)), (6, vec![50, 10, 20, 20, 40], 2));
        assert_eq!(moved(4, (6, 1)), (6, vec![50, 1, 10, 20, 20], 1));
        assert_eq!(moved(4, (6, 20)), (6, vec![50, 10, 20, 20, 20], 2));
        assert_eq!(moved(0, (0, 20)), (0, vec![20, 10, 20, 20, 40], 0));
    }
}
