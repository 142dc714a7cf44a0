//! The outbox of a part: states that other parts own, and the exploration of one part.
//!
//! A state that was sent once need not be sent again. A small table of recently sent states avoids
//! most repetitions.

use crate::explicit::partition::owner::{Owners, Place};
use crate::explicit::partition::wire_format::{Malformed, Reader, Sent, Writer};
use crate::explicit::reachable::Reachable;
use crate::explicit::stack_table::{StackId, Stacks};
use crate::explicit::wave::Pair;
use crate::tables::packed_rows::{Layout, hash};
use crate::tuning::Tuning;
use crate::visible::symmetry::Symmetry;
use std::ops::Range;

/// The states for the owners of other parts.
pub(crate) struct Outbox {
    owners: Owners,
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
    pub(crate) fn new(place: Place, symmetry: &Symmetry, stacks: &Stacks, tuning: Tuning) -> Self {
        Outbox {
            owners: Owners::new(place, symmetry, stacks),
            writers: (0..place.parts).map(|_| Writer::new(tuning)).collect(),
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
    fn send(&mut self, to: usize, stacks: &Stacks, (layout, row): (&Layout, &[u64]), position: usize) {
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

impl Reachable<'_> {
    /// The outbox of a partitioned exploration.
    pub(crate) fn outbox(&self) -> &Outbox {
        self.outbox.as_ref().expect("the exploration is partitioned")
    }

    /// The same, to take blocks out of it.
    pub(crate) fn outbox_mut(&mut self) -> &mut Outbox {
        self.outbox.as_mut().expect("the exploration is partitioned")
    }

    /// Takes steps of a thread from a state, for which `successors` is prepared. Sends states of
    /// other parts to their owners.
    #[inline(never)]
    pub(in crate::explicit) fn expand_to_all_parts(&mut self, pair: Pair, steps: Range<usize>) {
        let mut outbox = self.outbox.take().expect("the exploration is partitioned");
        outbox.owners.add_new(&self.stacks);
        let position = usize::from(pair.position);
        let program = self.programs[position];
        let (layout, row) = (self.states.layout(), self.states.row(pair.id as usize));
        let before = outbox.owners.stack(position, layout.local(row, position));
        let others = outbox.owners.stacks(layout, row).wrapping_sub(before);
        for index in steps {
            let (shared, stack) = self.steps[program].successor(index);
            let part = outbox.owners.part(shared, others.wrapping_add(outbox.owners.stack(position, stack)));
            let layout = self.states.layout();
            let (row, at) = self.scratch.successors.pack(layout, (shared, stack));
            if part != outbox.owners.own_part() {
                outbox.send(part, &self.stacks, (layout, row), at);
            } else if self.batch.push(row, at) {
                self.look_up();
            }
        }
        self.outbox = Some(outbox);
    }

    /// Receives the states of a block. Their look-up may come later, together with others.
    ///
    /// # Errors
    /// If the block is malformed.
    pub(crate) fn receive(&mut self, reader: &mut Reader, mut block: &[u8]) -> Result<(), Malformed> {
        let mut locals = std::mem::take(&mut self.scratch.locals);
        let result = loop {
            match reader.state(&mut block, &mut self.stacks, &mut locals) {
                Ok(Some((shared, position))) => {
                    if let Err(malformed) = self.receive_state(shared, &mut locals, position) {
                        break Err(malformed);
                    }
                }
                Ok(None) => break Ok(()),
                Err(malformed) => break Err(malformed),
            }
        };
        self.scratch.locals = locals;
        result
    }

    /// Receives a state, with the position of the thread that reached it. The stacks are by
    /// position, and are sorted first.
    fn receive_state(&mut self, shared: u32, stacks: &mut [StackId], position: usize) -> Result<(), Malformed> {
        self.make_room_for_stacks();
        let (moved, group) = (stacks[position], self.symmetry.group(position));
        self.symmetry.sort(stacks);
        let position = group.start + stacks[group].iter().take_while(|&&stack| stack < moved).count();
        let outbox = self.outbox.as_mut().expect("the exploration is partitioned");
        outbox.owners.add_new(&self.stacks);
        let layout = self.states.layout();
        let row = self.scratch.successors.pack_all(layout, shared, stacks);
        if !outbox.owns(layout, row) {
            return Err(Malformed::NotHere);
        }
        if self.batch.push(row, position) {
            self.look_up();
        }
        Ok(())
    }
}
