//! Exploration of the states of R_k that one part owns: sends states to the owners of other parts,
//! and receives their states.

use crate::explicit::partition::outbox::Outbox;
use crate::explicit::partition::wire_format::{Malformed, Reader};
use crate::explicit::reachable::Reachable;
use crate::explicit::tables::frontier::Pair;
use crate::explicit::tables::stack_table::StackId;
use std::ops::Range;

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
    pub(super) fn expand_to_all_parts(&mut self, pair: Pair, steps: Range<usize>) {
        let mut outbox = self.outbox.take().expect("the exploration is partitioned");
        outbox.owners.add_new(self.steps.stacks());
        let position = usize::from(pair.position);
        let program = self.steps.program(position);
        let (layout, row) = (self.states.layout(), self.states.row(pair.id as usize));
        let before = outbox.owners.stack(position, layout.local(row, position));
        let others = outbox.owners.stacks(layout, row).wrapping_sub(before);
        for index in steps {
            let (shared, stack) = self.steps.successor(program, index);
            let part = outbox.owners.part(shared, others.wrapping_add(outbox.owners.stack(position, stack)));
            let layout = self.states.layout();
            let (row, at) = self.scratch.successors.pack(layout, (shared, stack));
            if part != outbox.owners.own_part() {
                outbox.send(part, self.steps.stacks(), (layout, row), at);
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
            match reader.state(&mut block, self.steps.stacks_mut(), &mut locals) {
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
        outbox.owners.add_new(self.steps.stacks());
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
