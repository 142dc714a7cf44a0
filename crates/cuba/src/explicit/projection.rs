//! T(R_k) from the states of R_k: the visible states of the stored states.

use crate::explicit::tables::stack_table::Stacks;
use crate::explicit::tables::state_table::States;
use crate::tables::level_ranges::LevelRanges;
use crate::tables::packed_rows::{Layout, PackedSet};
use crate::visible::levels::{SavedVisibleLevels, VisibleLevels, top_number};
use crate::visible::symmetry::Symmetry;

/// The visible states of the stored states, as far as they are projected.
pub(super) struct StateProjection {
    visible: VisibleLevels,
    /// The first state that is not projected yet.
    projected: usize,
    /// The number of visible states at the last check between two waves.
    checked: usize,
    tops: Vec<u32>,
}

/// The saved part of a projection: the visible states with their levels, and the two counters.
pub(crate) type SavedStateProjection = (SavedVisibleLevels, usize, usize);

impl StateProjection {
    pub(super) fn new(visible: VisibleLevels) -> Self {
        StateProjection { visible, projected: 0, checked: 0, tops: Vec::new() }
    }

    /// Restores a saved projection.
    pub(super) fn restored(symmetry: &Symmetry, (visible, projected, checked): SavedStateProjection) -> Self {
        let visible = VisibleLevels::restored(symmetry, visible);
        StateProjection { visible, projected, checked, tops: Vec::new() }
    }

    /// Returns the part that a checkpoint saves.
    pub(super) fn saved(&self) -> ((&PackedSet, &LevelRanges), usize, usize) {
        (self.visible.saved(), self.projected, self.checked)
    }

    /// Adds T of the new states.
    pub(super) fn project(&mut self, states: &States, stacks: &Stacks) {
        for id in self.projected..states.len() {
            let shared = tops_of(stacks, (states.layout(), states.row(id)), &mut self.tops);
            self.visible.insert(shared, &mut self.tops);
        }
        self.projected = states.len();
    }

    /// Adds visible states that were computed for all states up to this number.
    pub(super) fn add<'s>(&mut self, sets: impl IntoIterator<Item = &'s PackedSet>, states: usize) {
        for set in sets {
            self.visible.insert_all(set);
        }
        self.projected = states;
    }

    /// Begins the next level.
    pub(super) fn next_level(&mut self) {
        self.visible.next_level();
    }

    /// Marks the present visible states as checked. Returns whether there are new ones.
    pub(super) fn mark_checked(&mut self) -> bool {
        let before = std::mem::replace(&mut self.checked, self.visible.kept());
        before < self.checked
    }

    pub(super) fn visible(&self) -> &VisibleLevels {
        &self.visible
    }
}

/// Writes the tops of a state, by position, to `tops`. Returns its shared state.
#[inline]
pub(crate) fn tops_of(stacks: &Stacks, (layout, row): (&Layout, &[u64]), tops: &mut Vec<u32>) -> u32 {
    tops.clear();
    tops.extend(layout.locals(row).map(|stack| top_number(stacks.top(stack))));
    layout.shared(row)
}

/// Returns the visible states of rows that `visible` does not have, in the order of the rows.
/// `None` if there are none.
pub(super) fn new_visible(
    stacks: &Stacks,
    (layout, rows): (&Layout, &[u64]),
    visible: &VisibleLevels,
) -> Option<PackedSet> {
    let top_layout = visible.set().layout();
    let (mut new, mut tops, mut top_row) = (None, Vec::new(), vec![0; top_layout.words()]);
    for row in rows.chunks_exact(layout.words()) {
        let shared = tops_of(stacks, (layout, row), &mut tops);
        visible.pack(shared, &mut tops, &mut top_row);
        if visible.set().find(&top_row).is_none() {
            new.get_or_insert_with(|| PackedSet::new(top_layout.clone())).insert(&top_row);
        }
    }
    new
}
