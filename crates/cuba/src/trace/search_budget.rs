//! The effort limit of the search for a trace with fewer steps.

use crate::cancel::Cancel;

/// The number of items that the search may examine.
pub(crate) struct SearchBudget {
    /// The most states, the most search nodes, and the most thread states.
    pub(crate) max_items: usize,
    cancel: Cancel,
}

/// The least budget, for each memory limit.
const MIN_ITEMS: usize = 1 << 16;

/// The largest budget, for each memory limit.
const MAX_ITEMS: usize = 1 << 20;

/// The approximate number of bytes for an item.
const BYTES_PER_ITEM: usize = 1 << 8;

impl Default for SearchBudget {
    fn default() -> Self {
        SearchBudget { max_items: MAX_ITEMS, cancel: Cancel::default() }
    }
}

impl SearchBudget {
    /// Creates a budget of an eighth of the memory. `cancel` stops the search.
    pub(crate) fn within(memory: usize, cancel: &Cancel) -> Self {
        let max_items = (memory / 8 / BYTES_PER_ITEM).clamp(MIN_ITEMS, MAX_ITEMS);
        SearchBudget { max_items, cancel: cancel.clone() }
    }

    /// Creates a budget of so many items.
    #[cfg(test)]
    pub(crate) fn of_items(max_items: usize) -> Self {
        SearchBudget { max_items, cancel: Cancel::default() }
    }

    /// Whether the caller cancels the search.
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.why().is_some()
    }

    /// Whether the search may continue after it has examined so many items.
    pub(crate) fn has_room_for(&self, items: usize) -> bool {
        items <= self.max_items && !self.is_cancelled()
    }
}
