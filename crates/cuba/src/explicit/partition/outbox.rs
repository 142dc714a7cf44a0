//! The outbox of a part: the states that other parts own.
//!
//! A state that was sent once need not be sent again. A small table of recently sent states avoids
//! most repetitions.

use crate::explicit::partition::owner::{Owners, PartId};
use crate::explicit::partition::wire_format::{Sent, Writer};
use crate::explicit::tables::stack_table::Stacks;
use crate::tables::packed_rows::{Layout, hash};
use crate::tuning::Tuning;
use crate::visible::symmetry::Symmetry;

/// The states for the owners of other parts.
pub(crate) struct Outbox {
    pub(in crate::explicit) owners: Owners,
    /// For each part.
    writers: Vec<Writer>,
    /// The number of entries in `recent`: a power of two.
    recent_entries: usize,
    /// States that were sent recently: rows, each after the position of its thread plus one.
    recent: Vec<u64>,
    /// The number of states that were not sent again.
    again: u64,
}

impl Outbox {
    pub(crate) fn new(part: PartId, symmetry: &Symmetry, stacks: &Stacks, tuning: Tuning) -> Self {
        Outbox {
            owners: Owners::new(part, symmetry, stacks),
            writers: (0..part.parts).map(|_| Writer::new(tuning)).collect(),
            recent_entries: tuning.recently_sent.next_power_of_two(),
            recent: Vec::new(),
            again: 0,
        }
    }

    /// Whether this part owns a state.
    pub(crate) fn owns(&self, layout: &Layout, row: &[u64]) -> bool {
        self.owners.is_own(layout, row)
    }

    /// Forgets the recently sent states, because the layout of rows changes.
    pub(crate) fn forget_rows(&mut self) {
        self.recent.clear();
    }

    /// Sends a state to its part, unless it was sent recently.
    pub(in crate::explicit) fn send(
        &mut self,
        to: usize,
        stacks: &Stacks,
        (layout, row): (&Layout, &[u64]),
        position: usize,
    ) {
        let entry = row.len() + 1;
        if self.recent.is_empty() {
            self.recent.resize(self.recent_entries * entry, 0);
        }
        let mark = position as u64 + 1;
        #[expect(clippy::cast_possible_truncation, reason = "it is below `recent_entries`")]
        let place = (hash(row).wrapping_add(mark.wrapping_mul(0x9e37_79b9_7f4a_7c15))
            & (self.recent_entries as u64 - 1)) as usize;
        let recent = &mut self.recent[place * entry..][..entry];
        if recent[0] == mark && recent[1..] == *row {
            self.again += 1;
            return;
        }
        recent[0] = mark;
        recent[1..].copy_from_slice(row);
        self.writers[to].state(stacks, layout.shared(row), || layout.locals(row), position);
    }

    /// Takes the blocks for each part.
    pub(crate) fn take(&mut self, mut send: impl FnMut(usize, Vec<u8>)) {
        for (to, writer) in self.writers.iter_mut().enumerate() {
            writer.take().for_each(|block| send(to, block));
        }
    }

    /// Counters of what was sent so far.
    pub(crate) fn sent(&self) -> Sent {
        let mut sent = Sent { again: self.again, ..Sent::default() };
        for writer in &self.writers {
            sent += writer.sent();
        }
        sent
    }

    /// The memory in use.
    pub(crate) fn bytes(&self) -> usize {
        self.owners.bytes() + size_of_val(&*self.recent) + self.writers.iter().map(Writer::bytes).sum::<usize>()
    }
}
