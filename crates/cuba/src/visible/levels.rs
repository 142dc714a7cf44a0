//! T(R_0) ⊆ … ⊆ T(R_k), level by level, as packed rows of sorted visible states.
//!
//! Each visible state is stored once, in the order in which the search has found it. So a level is
//! a range of numbers.

use crate::tables::level_ranges::LevelRanges;
use crate::tables::packed_rows::{Layout, PackedSet};
use crate::visible::count::Count;
use crate::visible::symmetry::Symmetry;
use cpds::{Cpds, SharedState, Symbol, VisibleState};
use std::collections::BTreeSet;
use std::ops::Range;

/// Returns the number of a top; 0 for ε.
pub(crate) fn top_number(top: Option<Symbol>) -> u32 {
    top.map_or(0, |symbol| symbol.0 + 1)
}

/// Returns the top with this number.
pub(crate) fn top(number: u32) -> Option<Symbol> {
    number.checked_sub(1).map(Symbol)
}

/// Returns the visible states for which the sorted ones with these numbers stand.
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

/// The saved part of visible levels.
pub(crate) type SavedVisibleLevels = (PackedSet, LevelRanges);

/// T(R_0) ⊆ … ⊆ T(R_k), as sorted visible states.
pub struct VisibleLevels {
    symmetry: Symmetry,
    set: PackedSet,
    levels: LevelRanges,
    /// A buffer for a row.
    row: Vec<u64>,
}

impl VisibleLevels {
    /// Returns the layout of the rows of visible states.
    pub(crate) fn layout(system: &Cpds) -> Layout {
        Layout::new(system.shared_names().len(), system.thread_count(), system.symbol_names().len() + 1)
    }

    /// Creates an empty level 0.
    pub(crate) fn new(system: &Cpds, symmetry: &Symmetry) -> Self {
        let layout = Self::layout(system);
        let row = vec![0; layout.words()];
        VisibleLevels { symmetry: symmetry.clone(), set: PackedSet::new(layout), levels: LevelRanges::new(), row }
    }

    /// Returns the part that a checkpoint saves.
    pub(crate) fn saved(&self) -> (&PackedSet, &LevelRanges) {
        (&self.set, &self.levels)
    }

    /// Restores saved levels.
    pub(crate) fn restored(symmetry: &Symmetry, (set, levels): SavedVisibleLevels) -> Self {
        let row = vec![0; set.layout().words()];
        VisibleLevels { symmetry: symmetry.clone(), set, levels, row }
    }

    /// Begins the next level.
    pub(crate) fn next_level(&mut self) {
        self.levels.begin(self.set.len());
    }

    /// Sorts the tops of a visible state, and adds the state.
    #[inline]
    pub(crate) fn insert(&mut self, shared: u32, tops: &mut [u32]) {
        self.symmetry.sort(tops);
        self.set.layout().pack(&mut self.row, shared, tops.iter().copied());
        self.set.insert(&self.row);
    }

    /// Adds sorted visible states.
    pub(crate) fn insert_all(&mut self, others: &PackedSet) {
        for (_, row) in others.rows(0..others.len()) {
            self.set.insert(row);
        }
    }

    /// Sorts the tops of a visible state, and writes its row.
    pub(crate) fn pack(&self, shared: u32, tops: &mut [u32], row: &mut [u64]) {
        self.symmetry.sort(tops);
        self.set.layout().pack(row, shared, tops.iter().copied());
    }

    /// Returns the visible states of all levels.
    pub(crate) fn set(&self) -> &PackedSet {
        &self.set
    }

    pub(crate) fn into_set(self) -> PackedSet {
        self.set
    }

    /// Returns the numbers of the states of level k.
    pub(crate) fn range(&self, k: usize) -> Range<usize> {
        self.levels.range(k, self.set.len())
    }

    /// Whether T(R_k) \ T(R_{k-1}) has any states. The table decides this, since the number of
    /// states may be too large for a [`Count`].
    pub fn grew(&self, k: usize) -> bool {
        !self.range(k).is_empty()
    }

    /// Returns |T(R_k) \ T(R_{k-1})|.
    pub fn count(&self, k: usize) -> Count {
        self.symmetry.sum_of_orbits(self.set.rows(self.range(k)))
    }

    /// Returns T(R_k): the visible states that are reachable with at most k contexts.
    ///
    /// # Panics
    /// If level k was not computed; [`Analysis::k`](crate::Analysis::k) is the last one. The same
    /// holds for the other methods.
    pub fn up_to(&self, k: usize) -> BTreeSet<VisibleState> {
        visible_states(&self.symmetry, &self.set, 0..self.range(k).end).collect()
    }

    /// Returns T(R_k) \ T(R_{k-1}): the states that need exactly k contexts.
    pub fn states(&self, k: usize) -> BTreeSet<VisibleState> {
        visible_states(&self.symmetry, &self.set, self.range(k)).collect()
    }

    /// Returns T(R_k), sorted, with one state for each orbit.
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

    /// Returns the number of stored visible states: one for each orbit.
    pub fn kept(&self) -> usize {
        self.set.len()
    }
}
