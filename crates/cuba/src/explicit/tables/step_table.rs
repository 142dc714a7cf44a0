//! The table of steps: for each program, the steps from its thread states, computed once.

use crate::explicit::tables::stack_table::{StackId, Stacks};
use crate::explicit::tables::system_ref::SystemRef;
use crate::tables::step_cache::{StepCache, ThreadState};
use crate::visible::symmetry::Symmetry;
use cpds::SharedState;
use std::ops::Range;

/// The steps of all programs, and the stacks to which they lead.
pub(in crate::explicit) struct Steps<'a> {
    system: SystemRef<'a>,
    /// For each position, the program of its thread.
    programs: Vec<usize>,
    /// For each program, its steps.
    caches: Vec<StepCache>,
    stacks: Stacks,
    /// The height of the highest stack.
    highest: u32,
    /// Steps to higher stacks are left out.
    max_height: u32,
    targets: Vec<ThreadState>,
}

impl<'a> Steps<'a> {
    /// No steps, with the stacks of the initial states.
    pub(in crate::explicit) fn new(system: SystemRef<'a>, symmetry: &Symmetry) -> Self {
        let mut stacks = Stacks::default();
        let initial: Vec<StackId> =
            system.initial().iter().flat_map(|state| &state.stacks).map(|stack| stacks.intern(stack)).collect();
        let highest = initial.into_iter().map(|stack| stacks.height(stack)).max().unwrap_or(0);
        let caches = system.programs().iter().map(|_| StepCache::default()).collect();
        let programs = symmetry.programs(&system);
        Steps { system, programs, caches, stacks, highest, max_height: u32::MAX, targets: Vec::new() }
    }

    /// Replaces the contents by saved ones.
    pub(in crate::explicit) fn restore(&mut self, stacks: Stacks, caches: Vec<StepCache>, highest: u32) {
        (self.stacks, self.caches, self.highest) = (stacks, caches, highest);
    }

    /// Returns the contents that a checkpoint saves.
    pub(in crate::explicit) fn saved(&self) -> (&Stacks, &[StepCache]) {
        (&self.stacks, &self.caches)
    }

    /// From now on, leaves out each step to a higher stack.
    pub(in crate::explicit) fn set_max_height(&mut self, height: u32) {
        self.max_height = height;
    }

    /// Returns the program of the thread at this position.
    #[inline]
    pub(in crate::explicit) fn program(&self, position: usize) -> usize {
        self.programs[position]
    }

    /// Returns the number of threads.
    pub(in crate::explicit) fn threads(&self) -> usize {
        self.programs.len()
    }

    /// Returns the steps of a program from a thread state, as a range for
    /// [`successor`](Self::successor), if they are computed.
    #[inline]
    pub(in crate::explicit) fn get(&self, program: usize, state: ThreadState) -> Option<Range<usize>> {
        self.caches[program].get(state).map(|((), steps)| steps)
    }

    /// Returns the thread state to which a step leads.
    #[inline]
    pub(in crate::explicit) fn successor(&self, program: usize, step: usize) -> ThreadState {
        self.caches[program].successor(step)
    }

    /// Computes the steps of a program from a thread state that is not in the table.
    #[cold]
    pub(in crate::explicit) fn compute(&mut self, program: usize, (shared, stack): ThreadState) -> Range<usize> {
        self.targets.clear();
        for (_, rule) in self.system.programs()[program].rules_from(SharedState(shared), self.stacks.top(stack)) {
            let (to, written) = rule.action.target();
            let stack = self.stacks.replace_top(stack, written);
            if self.stacks.height(stack) <= self.max_height {
                self.highest = self.stacks.height(stack).max(self.highest);
                self.targets.push((to.0, stack));
            }
        }
        let ((), steps) = self.caches[program].insert((shared, stack), (), self.targets.iter().copied());
        steps
    }

    pub(in crate::explicit) fn system(&self) -> &SystemRef<'a> {
        &self.system
    }

    #[inline]
    pub(in crate::explicit) fn stacks(&self) -> &Stacks {
        &self.stacks
    }

    /// Returns the stacks, to add those of other parts.
    pub(in crate::explicit) fn stacks_mut(&mut self) -> &mut Stacks {
        &mut self.stacks
    }

    /// Returns the height of the highest stack.
    pub(in crate::explicit) fn highest(&self) -> u32 {
        self.highest
    }

    /// Returns the memory in use; `usize::MAX` if the stacks or thread states have used up half of
    /// the numbers of 32 bits. Beyond that there may be no numbers for the next ones.
    pub(in crate::explicit) fn bytes(&self) -> usize {
        let numbered = self.caches.iter().map(StepCache::len).fold(self.stacks.len(), usize::max);
        if numbered >= 1 << 31 {
            return usize::MAX;
        }
        self.stacks.bytes() + self.caches.iter().map(StepCache::bytes).sum::<usize>()
    }
}
