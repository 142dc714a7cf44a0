//! The table of shared states, which numbers them in the order in which they are found.
//!
//! The *rest* of a shared state is the shared state without its variables. There may be millions of
//! shared states. They have many different values of variables, but few different rests. So a row
//! stores the variables, and the number of the rest.

use super::Shared;
use super::Valuation;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

pub(crate) type Table<T> = IndexSet<T, FxBuildHasher>;

/// Estimated memory of a table entry in addition to its value, in bytes: the hash, and a slot of
/// the index with its share of empty slots.
pub(crate) const ENTRY: usize = 24;

/// Numbered shared states.
#[derive(Debug, Default)]
pub(crate) struct SharedStates {
    /// For each shared state, its variables and the number of its rest.
    rows: Table<(Valuation, u32)>,
    /// The rests: shared states without variables.
    rests: Table<Shared>,
    /// The rest that was looked up last.
    last: usize,
    /// The heap memory of the variables, in bytes.
    heap_bytes: usize,
}

impl SharedStates {
    /// Adds a shared state, unless it is already in the table. Returns its number.
    pub(crate) fn insert(&mut self, mut shared: Shared) -> u32 {
        let variables = match &mut shared {
            Shared::Running(running) => std::mem::take(&mut running.variables),
            Shared::Error(_) => Valuation::default(),
        };
        // Consecutive states mostly have the same rest.
        if self.rests.get_index(self.last) != Some(&shared) {
            (self.last, _) = self.rests.insert_full(shared);
        }
        let heap_bytes = variables.heap_bytes();
        let rest = u32::try_from(self.last).expect("limited, since the rows are");
        let (number, is_new) = self.rows.insert_full((variables, rest));
        self.heap_bytes += if is_new { heap_bytes } else { 0 };
        u32::try_from(number).expect("limited")
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(crate) fn get(&self, number: u32) -> Shared {
        match self.rest(number) {
            Shared::Running(rest) => Shared::Running(rest.with(self.variables(number).clone(), rest.is_atomic)),
            error @ Shared::Error(_) => error.clone(),
        }
    }

    /// Returns the rest of a shared state: the shared state without its variables.
    pub(crate) fn rest(&self, number: u32) -> &Shared {
        &self.rests[self.rows[number as usize].1 as usize]
    }

    /// Returns the variables of a shared state. After an error all of them are open.
    pub(crate) fn variables(&self, number: u32) -> &Valuation {
        &self.rows[number as usize].0
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Shared> + '_ {
        (0..).zip(&self.rows).map(|(number, _)| self.get(number))
    }

    /// Estimates the memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        let entries = self.rows.capacity() * (size_of::<(Valuation, u32)>() + ENTRY);
        entries + self.rests.capacity() * (size_of::<Shared>() + ENTRY) + self.heap_bytes
    }
}
