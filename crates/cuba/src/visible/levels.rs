//! T(R_0) ⊆ … ⊆ T(R_k), level by level, as packed rows of sorted visible states.

use crate::tables::packed_rows::{Layout, PackedSet};
use crate::visible::count::Count;
use crate::visible::symmetry::Symmetry;
use cpds::{Cpds, SharedState, Symbol, VisibleState};
use std::collections::BTreeSet;
use std::ops::Range;

/// The number of a top: ε is 0.
pub(crate) fn top_number(top: Option<Symbol>) -> u32 {
    top.map_or(0, |symbol| symbol.0 + 1)
}

/// The top with this number.
pub(crate) fn top(number: u32) -> Option<Symbol> {
    number.checked_sub(1).map(Symbol)
}

/// The visible states that the sorted ones with these numbers stand for.
pub(crate) fn visible_states(
    symmetry: &Symmetry,
    set: &PackedSet,
    ids: impl IntoIterator<Item = usize>,
) -> impl Iterator<Item = VisibleState> {
    let members = |id: usize| {
        let locals: Vec<u32> = set.layout().locals(set.row(id)).collect();
        let shared = SharedState(set.layout().shared(set.row(id)));
        symmetry.members(locals).map(move |member| (shared, member))
    };
    let states = ids.into_iter().flat_map(members);
    states.map(|(shared, member)| VisibleState { shared, tops: symmetry.by_thread(member.into_iter().map(top)) })
}

/// T(R_0) ⊆ … ⊆ T(R_k), as sorted states in the order in which they were found: a level is a range.
pub struct VisibleLevels {
    symmetry: Symmetry,
    set: PackedSet,
    levels: Vec<usize>,
    row: Vec<u64>,
}

impl VisibleLevels {
    /// How visible states are packed.
    pub(crate) fn layout(system: &Cpds) -> Layout {
        Layout::new(system.shared_names().len(), system.thread_count(), system.symbol_names().len() + 1)
    }

    pub(crate) fn new(system: &Cpds, symmetry: &Symmetry) -> Self {
        let layout = Self::layout(system);
        let row = vec![0; layout.words()];
        VisibleLevels { symmetry: symmetry.clone(), set: PackedSet::new(layout), levels: vec![0], row }
    }

    /// What a checkpoint saves of them.
    pub(crate) fn saved(&self) -> (&PackedSet, &[usize]) {
        (&self.set, &self.levels)
    }

    /// As they were when they were saved.
    pub(crate) fn restored(symmetry: &Symmetry, (set, levels): (PackedSet, Vec<usize>)) -> Self {
        let row = vec![0; set.layout().words()];
        VisibleLevels { symmetry: symmetry.clone(), set, levels, row }
    }

    /// Begins the next level.
    pub(crate) fn next_level(&mut self) {
        self.levels.push(self.set.len());
    }

    /// Adds a visible state, whose tops are sorted first.
    #[inline]
    pub(crate) fn insert(&mut self, shared: u32, tops: &mut [u32]) {
        self.symmetry.sort(tops);
        self.set.layout().pack(&mut self.row, shared, tops.iter().copied());
        self.set.insert(&self.row);
    }

    /// Adds visible states that are sorted already.
    pub(crate) fn insert_all(&mut self, others: &PackedSet) {
        for (_, row) in others.rows(0..others.len()) {
            self.set.insert(row);
        }
    }

    /// The row of a visible state, whose tops are sorted first.
    pub(crate) fn pack(&self, shared: u32, tops: &mut [u32], row: &mut [u64]) {
        self.symmetry.sort(tops);
        self.set.layout().pack(row, shared, tops.iter().copied());
    }

    pub(crate) fn set(&self) -> &PackedSet {
        &self.set
    }

    pub(crate) fn into_set(self) -> PackedSet {
        self.set
    }

    pub(crate) fn range(&self, k: usize) -> Range<usize> {
        self.levels[k]..self.levels.get(k + 1).copied().unwrap_or(self.set.len())
    }

    /// Whether T(R_k) \ T(R_{k-1}) has any states. BadStates of the table: their number may be beyond
    /// counting.
    pub fn grew(&self, k: usize) -> bool {
        !self.range(k).is_empty()
    }

    /// |T(R_k) \ T(R_{k-1})|.
    pub fn count(&self, k: usize) -> Count {
        self.symmetry.sum_of_orbits(self.set.rows(self.range(k)))
    }

    /// T(R_k) \ T(R_{k-1}).
    pub fn states(&self, k: usize) -> BTreeSet<VisibleState> {
        visible_states(&self.symmetry, &self.set, self.range(k)).collect()
    }

    /// T(R_k), with one state for all that differ by permuting interchangeable threads, sorted.
    pub(crate) fn sorted_states(&self, k: usize) -> Vec<VisibleState> {
        let state = |id: usize| {
            let (layout, row) = (self.set.layout(), self.set.row(id));
            let tops = self.symmetry.by_thread(layout.locals(row).map(top));
            VisibleState { shared: SharedState(layout.shared(row)), tops }
        };
        let mut states: Vec<VisibleState> = (0..self.range(k).end).map(state).collect();
        states.sort_unstable();
        states
    }

    /// How many are kept: one for all that differ by permuting interchangeable threads.
    pub fn kept(&self) -> usize {
        self.set.len()
    }
}
