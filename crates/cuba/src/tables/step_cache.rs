//! Where one thread alone can go with one step, computed once for each of its thread states and
//! kept.

use crate::limits::bytes_of_table;
use hashbrown::HashTable;
use rustc_hash::FxHasher;
use serde::{Deserialize, Serialize};
use std::hash::Hasher as _;
use std::ops::Range;

/// A shared state and a thread's own number: a stack for R_k, a top for Z.
pub(crate) type ThreadState = (u32, u32);

/// The successors of thread states, with something to remember about each of the states.
#[derive(Serialize, Deserialize)]
#[serde(from = "Saved<I>")]
pub(crate) struct Moves<I = ()> {
    known: Vec<Known<I>>,
    #[serde(skip)]
    table: HashTable<u32>,
    successors: Vec<ThreadState>,
}

#[derive(Serialize, Deserialize)]
struct Known<I> {
    state: ThreadState,
    info: I,
    count: u32,
    start: usize,
}

impl<I> Default for Moves<I> {
    fn default() -> Self {
        Moves { known: Vec::new(), table: HashTable::new(), successors: Vec::new() }
    }
}

/// What is saved of the successors.
#[derive(Deserialize)]
struct Saved<I> {
    known: Vec<Known<I>>,
    successors: Vec<ThreadState>,
}

impl<I> From<Saved<I>> for Moves<I> {
    fn from(Saved { known, successors }: Saved<I>) -> Self {
        let mut table = HashTable::new();
        for (id, one) in (0..).zip(&known) {
            table.insert_unique(hash(one.state), id, |&id: &u32| hash(known[id as usize].state));
        }
        Moves { known, table, successors }
    }
}

impl<I: Copy> Moves<I> {
    /// The successors of `state`, as a range for [`successor`](Self::successor), if they are known.
    #[inline]
    pub(crate) fn get(&self, state: ThreadState) -> Option<(I, Range<usize>)> {
        let id = self.table.find(hash(state), |&id| self.known[id as usize].state == state)?;
        let Known { info, start, count, .. } = self.known[*id as usize];
        Some((info, start..start + count as usize))
    }

    #[inline]
    pub(crate) fn successor(&self, index: usize) -> ThreadState {
        self.successors[index]
    }

    /// Keeps the successors of a thread state for which they are not known.
    pub(crate) fn insert(
        &mut self,
        state: ThreadState,
        info: I,
        successors: impl IntoIterator<Item = ThreadState>,
    ) -> (I, Range<usize>) {
        let start = self.successors.len();
        self.successors.extend(successors);
        let end = self.successors.len();
        let id = u32::try_from(self.known.len()).expect("the memory ends before");
        let count = u32::try_from(end - start).expect("a thread state has fewer successors");
        self.known.push(Known { state, info, count, start });
        self.table.insert_unique(hash(state), id, |&id| hash(self.known[id as usize].state));
        (info, start..end)
    }

    /// How many thread states are known.
    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }

    /// The memory in use.
    pub(crate) fn bytes(&self) -> usize {
        self.known.len() * size_of::<Known<I>>()
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
