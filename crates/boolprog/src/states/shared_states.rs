//! Shared states with dense numbers, in the order in which they are found, and lists for each of
//! them.
//!
//! There may be millions. They differ most in the values of variables, and little in everything
//! else: so of a shared state are kept its variables, and the number of the rest.

use super::Shared;
use super::Valuation;
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

pub(crate) type Table<T> = IndexSet<T, FxBuildHasher>;

/// About how many bytes an entry of a table takes beside its value: its hash, and its place in an
/// index that is never quite full.
pub(crate) const ENTRY: usize = 24;

/// Shared states by their numbers.
#[derive(Debug, Default)]
pub(crate) struct SharedStates {
    /// The variables, and the number of the rest.
    rows: Table<(Valuation, u32)>,
    /// Shared states without variables.
    rests: Table<Shared>,
    /// The number of the rest that was looked up last.
    last: usize,
    /// What the variables take beside the rows.
    heap_bytes: usize,
}

impl SharedStates {
    /// The number of a shared state, which is added if it is new.
    pub(crate) fn insert(&mut self, mut shared: Shared) -> u32 {
        let variables = match &mut shared {
            Shared::Running(running) => std::mem::take(&mut running.variables),
            Shared::Error(_) => Valuation::default(),
        };
        // Mostly it is that of the state before.
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

    /// A shared state without its variables.
    pub(crate) fn rest(&self, number: u32) -> &Shared {
        &self.rests[self.rows[number as usize].1 as usize]
    }

    /// The variables of a shared state; all open after an error.
    pub(crate) fn variables(&self, number: u32) -> &Valuation {
        &self.rows[number as usize].0
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Shared> + '_ {
        (0..).zip(&self.rows).map(|(number, _)| self.get(number))
    }

    /// About how many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        let entries = self.rows.capacity() * (size_of::<(Valuation, u32)>() + ENTRY);
        entries + self.rests.capacity() * (size_of::<Shared>() + ENTRY) + self.heap_bytes
    }
}
