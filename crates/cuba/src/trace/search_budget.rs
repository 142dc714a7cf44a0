//! The effort limit of the search for a trace with fewer steps.

use crate::limits::Cancel;

/// How much the search may examine.
pub(crate) struct SearchBudget {
    /// The most states, the most positions in states, and the most thread states.
    pub(crate) max_items: usize,
    cancel: Cancel,
}

/// The budget is never smaller, whatever the memory limit is.
const MIN_ITEMS: usize = 1 << 16;

/// The budget is never larger.
const MAX_ITEMS: usize = 1 << 20;

/// The approximate number of bytes for an item.
const BYTES_PER_ITEM: usize = 1 << 8;

impl Default for SearchBudget {
    fn default() -> Self {
        SearchBudget { max_items: MAX_ITEMS, cancel: Cancel::default() }
    }
}

impl SearchBudget {
    /// A budget of an eighth of the memory. When `cancel` is set, the search stops.
    pub(crate) fn within(memory: usize, cancel: &Cancel) -> Self {
        let max_items = (memory / 8 / BYTES_PER_ITEM).clamp(MIN_ITEMS, MAX_ITEMS);
        SearchBudget { max_items, cancel: cancel.clone() }
    }

    /// A budget of exactly so many items.
    #[cfg(test)]
    pub(crate) fn of_items(max_items: usize) -> Self {
        SearchBudget { max_items, cancel: Cancel::default() }
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancel.why().is_some()
    }

    /// Whether the search may continue after it has examined so many items.
    pub(crate) fn has_room_for(&self, items: usize) -> bool {
        items <= self.max_items && !self.is_cancelled()
    }
}
