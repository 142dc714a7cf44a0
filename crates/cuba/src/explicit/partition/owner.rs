//! Which part owns a state.
//!
//! A hash of the shared state and of the contents of all stacks selects the part. Interchangeable
//! threads contribute in the same way, in any order. The hash contains no number of a state or of a
//! stack, so all parts agree about it.

use crate::explicit::stack_table::{StackId, Stacks};
use crate::tables::packed_rows::{Layout, hash};
use crate::visible::levels::top_number;
use crate::visible::symmetry::Symmetry;
use serde::{Deserialize, Serialize};

/// The place of a part in the partition of the states.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Place {
    /// The number of the part, from 0 on.
    pub part: usize,
    /// The number of parts.
    pub parts: usize,
    /// The seed of the hash. Another seed gives another partition.
    pub seed: u64,
}

/// Hashes of stacks, and the part that they select.
pub(super) struct Owners {
    place: Place,
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
    pub(super) fn new(place: Place, symmetry: &Symmetry, stacks: &Stacks) -> Self {
        let factor = |position: usize| mix(place.seed ^ (symmetry.group(position).start as u64 + 1)) | 1;
        let factors = (0..symmetry.threads().len()).map(factor).collect();
        let mut owners = Owners { place, contents: vec![mix(!place.seed)], factors };
        owners.add_new(stacks);
        owners
    }

    /// The part of this worker.
    #[inline]
    pub(super) fn own_part(&self) -> usize {
        self.place.part
    }

    /// Adds the hashes of new stacks.
    #[inline]
    pub(super) fn add_new(&mut self, stacks: &Stacks) {
        while self.contents.len() < stacks.len() {
            let stack = StackId::try_from(self.contents.len()).expect("a stack has a number");
            let rest = self.contents[stacks.rest(stack) as usize];
            self.contents.push(mix(rest ^ u64::from(top_number(stacks.top(stack))) << 32));
        }
    }

    /// The hash of a stack at a position.
    #[inline]
    pub(super) fn stack(&self, position: usize, stack: StackId) -> u64 {
        self.contents[stack as usize].wrapping_mul(self.factors[position])
    }

    /// The hash of all stacks together: the sum of their hashes.
    #[inline]
    pub(super) fn stacks(&self, layout: &Layout, row: &[u64]) -> u64 {
        let add = |sum: u64, (position, stack)| sum.wrapping_add(self.stack(position, stack));
        layout.locals(row).enumerate().fold(0, add)
    }

    /// The part that owns the states with this shared state and this hash of all stacks.
    #[inline]
    pub(super) fn part(&self, shared: u32, stacks: u64) -> usize {
        let hash = hash(&[stacks, u64::from(shared) ^ self.place.seed]);
        (((hash >> 32) * self.place.parts as u64) >> 32) as usize
    }

    /// Whether this worker owns a state.
    pub(super) fn is_own(&self, layout: &Layout, row: &[u64]) -> bool {
        self.part(layout.shared(row), self.stacks(layout, row)) == self.place.part
    }

    /// The memory in use.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.contents)
    }
}
