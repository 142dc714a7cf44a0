//! A cache of the steps of one thread: the successors of each thread state, computed once.

use crate::tables::table_size::bytes_of_table;
use hashbrown::HashTable;
use rustc_hash::FxHasher;
use serde::{Deserialize, Serialize};
use std::hash::Hasher as _;
use std::ops::Range;

/// A shared state and the number of one thread: its stack in R_k, its cut-off stack in Z.
pub(crate) type ThreadState = (u32, u32);

/// The successors of thread states, and further information about each thread state.
#[derive(Serialize, Deserialize)]
#[serde(from = "SavedStepCache<I>")]
pub(crate) struct StepCache<I = ()> {
    entries: Vec<CachedSteps<I>>,
    #[serde(skip)]
    table: HashTable<u32>,
    successors: Vec<ThreadState>,
}

/// The successors of one thread state, as a range of `successors`.
#[derive(Serialize, Deserialize)]
struct CachedSteps<I> {
    state: ThreadState,
    info: I,
    count: u32,
    start: usize,
}

impl<I> Default for StepCache<I> {
    fn default() -> Self {
        StepCache { entries: Vec::new(), table: HashTable::new(), successors: Vec::new() }
    }
}

/// The serialized form of a step cache.
#[derive(Deserialize)]
struct SavedStepCache<I> {
    entries: Vec<CachedSteps<I>>,
    successors: Vec<ThreadState>,
}

impl<I> From<SavedStepCache<I>> for StepCache<I> {
    fn from(SavedStepCache { entries, successors }: SavedStepCache<I>) -> Self {
        let mut table = HashTable::new();
        for (id, entry) in (0..).zip(&entries) {
            table.insert_unique(hash(entry.state), id, |&id: &u32| hash(entries[id as usize].state));
        }
        StepCache { entries, table, successors }
    }
}

impl<I: Copy> StepCache<I> {
    /// Returns the successors of `state`, as a range for [`successor`](Self::successor), if the
    /// cache has them.
    #[inline]
    pub(crate) fn get(&self, state: ThreadState) -> Option<(I, Range<usize>)> {
        let id = self.table.find(hash(state), |&id| self.entries[id as usize].state == state)?;
        let CachedSteps { info, start, count, .. } = self.entries[*id as usize];
        Some((info, start..start + count as usize))
    }

    #[inline]
    pub(crate) fn successor(&self, index: usize) -> ThreadState {
        self.successors[index]
    }

    /// Inserts the successors of a thread state that is not in the cache.
    pub(crate) fn insert(
        &mut self,
        state: ThreadState,
        info: I,
        successors: impl IntoIterator<Item = ThreadState>,
    ) -> (I, Range<usize>) {
        let start = self.successors.len();
        self.successors.extend(successors);
        let end = self.successors.len();
        let id = u32::try_from(self.entries.len()).expect("the memory ends before");
        let count = u32::try_from(end - start).expect("a thread state has fewer successors");
        self.entries.push(CachedSteps { state, info, count, start });
        self.table.insert_unique(hash(state), id, |&id| hash(self.entries[id as usize].state));
        (info, start..end)
    }

    /// Returns the number of thread states in the cache.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the memory in use.
    pub(crate) fn bytes(&self) -> usize {
        self.entries.len() * size_of::<CachedSteps<I>>()
            + self.successors.len() * size_of::<ThreadState>()
            + bytes_of_table(self.table.len())
    }
}

#[inline]
fn hash((shared, local): ThreadState) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_u64(u64::from(shared) << 32 | u64::from(local));
    hasher.finish()
}
