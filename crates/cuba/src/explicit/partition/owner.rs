//! Which part owns a state.
//!
//! A hash of the shared state and of the contents of all stacks selects the part. Interchangeable
//! threads contribute in the same way, in any order. The hash contains no number of a state or of a
//! stack, so all parts agree about it.

use crate::explicit::tables::stack_table::{StackId, Stacks};
use crate::tables::packed_rows::{Layout, hash};
use crate::visible::levels::top_number;
use crate::visible::symmetry::Symmetry;
use serde::{Deserialize, Serialize};

/// A part in the partition of the states.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PartId {
    /// The number of the part, from 0 on.
    pub part: usize,
    /// The number of parts.
    pub parts: usize,
    /// The seed of the hash. Another seed gives another partition.
    pub seed: u64,
}

/// Hashes of stacks, and the part that they select.
pub(in crate::explicit) struct Owners {
    part: PartId,
    /// For each stack, a hash of its contents.
    contents: Vec<u64>,
    /// For each position, the factor for the hash of its stack. Interchangeable threads have equal
    /// factors.
    factors: Vec<u64>,
}

#[inline]
fn mix(word: u64) -> u64 {
    hash(&[word])
}

impl Owners {
    pub(in crate::explicit) fn new(part: PartId, symmetry: &Symmetry, stacks: &Stacks) -> Self {
        let factor = |position: usize| mix(part.seed ^ (symmetry.group(position).start as u64 + 1)) | 1;
        let factors = (0..symmetry.threads().len()).map(factor).collect();
        let mut owners = Owners { part, contents: vec![mix(!part.seed)], factors };
        owners.add_new(stacks);
        owners
    }

    /// The part of this worker.
    #[inline]
    pub(in crate::explicit) fn own_part(&self) -> usize {
        self.part.part
    }

    /// Adds the hashes of new stacks.
    #[inline]
    pub(in crate::explicit) fn add_new(&mut self, stacks: &Stacks) {
        while self.contents.len() < stacks.len() {
            let stack = StackId::try_from(self.contents.len()).expect("a stack has a number");
            let rest = self.contents[stacks.rest(stack) as usize];
            self.contents.push(mix(rest ^ u64::from(top_number(stacks.top(stack))) << 32));
        }
    }

    /// The hash of a stack at a position.
    #[inline]
    pub(in crate::explicit) fn stack(&self, position: usize, stack: StackId) -> u64 {
        self.contents[stack as usize].wrapping_mul(self.factors[position])
    }

    /// The hash of all stacks together: the sum of their hashes.
    #[inline]
    pub(in crate::explicit) fn stacks(&self, layout: &Layout, row: &[u64]) -> u64 {
        let add = |sum: u64, (position, stack)| sum.wrapping_add(self.stack(position, stack));
        layout.locals(row).enumerate().fold(0, add)
    }

    /// The part that owns the states with this shared state and this hash of all stacks.
    #[inline]
    pub(in crate::explicit) fn part(&self, shared: u32, stacks: u64) -> usize {
        let hash = hash(&[stacks, u64::from(shared) ^ self.part.seed]);
        (((hash >> 32) * self.part.parts as u64) >> 32) as usize
    }

    /// Whether this worker owns a state.
    pub(in crate::explicit) fn is_own(&self, layout: &Layout, row: &[u64]) -> bool {
        self.part(layout.shared(row), self.stacks(layout, row)) == self.part.part
    }

    /// The memory in use.
    pub(in crate::explicit) fn bytes(&self) -> usize {
        size_of_val(&*self.contents)
    }
}
