//! Symmetry: one state stands for all states that differ from it by a permutation of
//! interchangeable threads.
//!
//! The threads have an order, their *positions*, in which each symmetric group is one range. A
//! state is *sorted* if in each group the numbers of the threads do not decrease. Every state has
//! one sorted state in its orbit, and only sorted states are stored. R_0 is closed under the
//! permutations, and permutations respect steps. So R_k is the union of the orbits of its sorted
//! states, and so are T(R_k) and Z. Without symmetry every group is a single thread, and every
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
    /// The system's symmetric groups, or none.
    pub(crate) fn new(system: &Cpds, wanted: bool) -> Self {
        Self::of(if wanted { system.symmetric_groups() } else { system.threads().map(|thread| vec![thread]).collect() })
    }

    /// From groups of threads.
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

    /// The threads, by position.
    pub(crate) fn threads(&self) -> &[ThreadId] {
        &self.threads
    }

    /// The position of a thread.
    pub(crate) fn position(&self, thread: ThreadId) -> usize {
        self.threads.iter().position(|&other| other == thread).expect("every thread has one")
    }

    /// The group at a position.
    #[inline]
    pub(crate) fn group(&self, position: usize) -> Range<usize> {
        self.groups[position].clone()
    }

    /// Each group once.
    pub(crate) fn groups(&self) -> impl Iterator<Item = Range<usize>> {
        let mut next = 0;
        std::iter::from_fn(move || {
            let group = self.groups.get(next)?.clone();
            next = group.end;
            Some(group)
        })
    }

    /// The program at each position. If threads of a group run several programs with equal actions,
    /// the first of these.
    pub(crate) fn programs(&self, system: &Cpds) -> Vec<usize> {
        self.groups.iter().map(|group| system.program_index(self.threads[group.start])).collect()
    }

    /// Whether any threads are interchangeable.
    pub(crate) fn has_groups(&self) -> bool {
        !self.many.is_empty()
    }

    /// From one entry a thread to one entry a position.
    pub(crate) fn placed<T: Clone>(&self, by_thread: &[T]) -> Vec<T> {
        self.threads.iter().map(|thread| by_thread[thread.index()].clone()).collect()
    }

    /// From one entry a position to one entry a thread.
    pub(crate) fn by_thread<T>(&self, placed: impl IntoIterator<Item = T>) -> Vec<T> {
        let mut entries: Vec<_> = self.threads.iter().zip(placed).collect();
        entries.sort_unstable_by_key(|(thread, _)| **thread);
        entries.into_iter().map(|(_, entry)| entry).collect()
    }

    /// Sorts a state.
    pub(crate) fn sort(&self, locals: &mut [u32]) {
        for group in &self.many {
            locals[group.clone()].sort_unstable();
        }
    }

    /// Whether the thread at this position of a sorted state has to be expanded: a thread with the
    /// same number as its neighbour leads to the same sorted states as the neighbour.
    #[inline]
    pub(crate) fn stands_for_itself(&self, layout: &Layout, row: &[u64], position: usize) -> bool {
        position == self.groups[position].start || layout.local(row, position - 1) != layout.local(row, position)
    }

    /// How many states are in the orbit of a sorted state; `None` if the number has more than 128
    /// bits.
    ///
    /// For a group that has its numbers m₁, m₂, … times, that is (m₁+m₂+…)! / (m₁! m₂! …).
    pub(crate) fn orbit(&self, locals: &[u32]) -> Option<u128> {
        let mut size: u128 = 1;
        for group in &self.many {
            let locals = &locals[group.clone()];
            let orders = if locals.len() <= SMALL_GROUP { Some(orders_of_few(locals).into()) } else { orders(locals) };
            size = size.checked_mul(orders?)?;
        }
        Some(size)
    }

    /// How many states these sorted states stand for.
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

    /// Every state in the orbit of a sorted state, by position, one after the other.
    pub(crate) fn members(&self, sorted: Vec<u32>) -> impl Iterator<Item = Vec<u32>> {
        // Counting up with the orders of the groups as digits.
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

/// Puts numbers in their next order, lexicographically, if there is one.
fn next_order(numbers: &mut [u32]) -> bool {
    let Some(pivot) = numbers.windows(2).rposition(|pair| pair[0] < pair[1]) else { return false };
    let swap = numbers.iter().rposition(|&n| n > numbers[pivot]).expect("the one after the pivot");
    numbers.swap(pivot, swap);
    numbers[pivot + 1..].reverse();
    true
}

/// The successors of one sorted state by the thread at one position, packed and sorted.
///
/// The part that all of them share is packed once.
#[derive(Default)]
pub(crate) struct Successors {
    /// The row without its shared state and without the group that moves.
    base: Vec<u64>,
    /// The numbers of the threads of the group that stay.
    others: Vec<u32>,
    /// Where the group starts.
    start: usize,
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

    /// The successor in which the shared state and the moving thread's number are these, and the
    /// position that the thread has there: the first with this number.
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

    /// A whole row.
    pub(crate) fn pack_all(&mut self, layout: &Layout, shared: u32, locals: &[u32]) -> &[u64] {
        self.row.resize(layout.words(), 0);
        layout.pack(&mut self.row, shared, locals.iter().copied());
        &self.row
    }
}

/// Rows have one to three words in most cases: no call to copy memory.
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
    fn an_orbit_has_as_many_members_as_it_is_said_to_have() {
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
    fn orbits_that_are_too_large_to_count_are_not_counted() {
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
    fn a_successor_is_sorted_and_knows_where_the_thread_went() {
        let (symmetry, layout) = (symmetry(&[1, 4]), Layout::new(8, 5, 100));
        let mut row = vec![0; layout.words()];
        layout.pack(&mut row, 5, [50, 10, 20, 20, 40]);
        let represented: Vec<_> = (0..5).filter(|&p| symmetry.stands_for_itself(&layout, &row, p)).collect();
        assert_eq!(represented, [0, 1, 2, 4]);
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
