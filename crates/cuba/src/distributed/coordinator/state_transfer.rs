//! The states of levels, transferred from all shares to the coordinator.
//!
//! A proof by R_k = R_{k-1} needs all states in one process. Each superstep transfers a few blocks
//! of each share.

use crate::certificate::tuples::Tuples;
use crate::distributed::coordinator::Shares;
use crate::distributed::protocol::messages::{Command, Failure, Reply};
use crate::distributed::protocol::supersteps::Supersteps;
use crate::explicit::partition::wire_format::Reader;
use crate::explicit::tables::stack_table::{StackId, Stacks};
use cpds::{GlobalState, SharedState};
use std::collections::BTreeSet;

impl<S: Supersteps> Shares<'_, S> {
    /// Returns the states of R_k, each as a tuple of languages with one word.
    pub(crate) fn tuples(&self, k: usize) -> Result<Tuples, Failure> {
        let mut rows = Vec::new();
        let stacks = self.transfer_states(0, k, |shared, locals| {
            rows.push(shared);
            rows.extend_from_slice(locals);
        })?;
        Ok(Tuples::restored(&self.symmetry, (stacks.automaton(), rows, true)))
    }

    /// Estimates the memory for all states as tuples in this process, in bytes.
    pub(crate) fn bytes_of_tuples(&self) -> usize {
        let total = self.total();
        let row = (1 + self.system.thread_count()) * size_of::<u32>();
        // A growing table may use twice its size. So may the stacks, which are the states of an
        // automaton.
        (2 * row).saturating_mul(total.kept).saturating_add(total.stacks.saturating_mul(64))
    }

    /// Returns R_k \ R_{k-1}.
    pub fn states(&self, k: usize) -> Result<BTreeSet<GlobalState>, Failure> {
        let mut sorted = Vec::new();
        let stacks = self.transfer_states(k, k, |shared, locals| sorted.push((shared, locals.to_vec())))?;
        let members = |(shared, locals)| self.symmetry.members(locals).map(move |member| (shared, member));
        let state = |(shared, member)| {
            let by_thread = self.symmetry.by_thread(member).into_iter();
            GlobalState { shared: SharedState(shared), stacks: by_thread.map(|id| stacks.stack(id)).collect() }
        };
        Ok(sorted.into_iter().flat_map(members).map(state).collect())
    }

    /// Transfers the states of the levels `from` to `k`. Calls `take` with each state: its shared
    /// state, and its stacks by position, sorted. Returns the stack table to which the stack
    /// numbers refer.
    pub(in crate::distributed) fn transfer_states(
        &self,
        from: usize,
        k: usize,
        mut take: impl FnMut(u32, &[StackId]),
    ) -> Result<Stacks, Failure> {
        let mut stacks = Stacks::default();
        let mut readers: Vec<Reader> = (0..self.supersteps.parts()).map(|_| Reader::new(self.system)).collect();
        let mut locals = Vec::new();
        let (mut is_first, mut has_more_blocks) = (true, true);
        while has_more_blocks {
            has_more_blocks = false;
            let replies = self.superstep(Command::ReadStates { from, k, is_first })?;
            for (part, (reply, reader)) in replies.into_iter().zip(&mut readers).enumerate() {
                let Reply::States { blocks, has_more } = reply else { return Err(Failure::Reply) };
                has_more_blocks |= has_more;
                for block in blocks {
                    let (mut block, failure) = (&block[..], |why| Failure::Block { from: part, why });
                    while let Some((shared, _)) = reader.state(&mut block, &mut stacks, &mut locals).map_err(failure)? {
                        self.symmetry.sort(&mut locals);
                        take(shared, &locals);
                    }
                }
            }
            is_first = false;
        }
        Ok(stacks)
    }
}
