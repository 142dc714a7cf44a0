//! Exploration of R_k by one core: waves of pairs, and steps of a thread from a state.
//!
//! A level comes in *waves*: the pairs to which the first step of a context leads, those to which
//! the second step leads, and so on. The set that is reached after a wave depends only on the
//! number of the wave. It depends on no order, and not on the number of workers.
//!
//! The pairs of a wave are expanded in order, and their successors are numbered in the order in
//! which they are found. One core does this pair by pair, here. Several cores do it in rounds
//! (`explicit/parallel/`), in which states get the same numbers. So all counts are the same.

use crate::explicit::reachable::{Reachable, tops_of};
use crate::explicit::stack_table::StackId;
use crate::explicit::state_table::{BATCH, States};
use crate::explicit::wave::Pair;
use crate::tables::packed_rows::{Layout, hash};
use crate::tables::step_cache::ThreadState;
use crate::tables::thread_masks::ThreadMasks;
use crate::visible::symmetry::Successors;
use cpds::SharedState;
use std::ops::{ControlFlow, Range};

/// Buffers, so that no step allocates memory.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) successors: Successors,
    /// The stacks of a received state.
    pub(super) locals: Vec<StackId>,
    targets: Vec<ThreadState>,
    tops: Vec<u32>,
}

/// States that wait for their look-up. There are enough of them that the processor can wait for
/// several parts of the memory at the same time.
#[derive(Default)]
pub(super) struct Batch {
    rows: Vec<u64>,
    hashes: Vec<u64>,
    /// For each state, the position of the thread that reached it.
    positions: Vec<u16>,
}

/// A table with at most this number of states is in the cache, so prefetching does not pay off.
pub(super) const CACHED_STATES: usize = 1 << 16;

/// The number of pairs that one core takes at a time.
const PAIRS: usize = 1 << 10;

impl Reachable<'_> {
    /// Computes the next level. Calls `watch` at regular intervals of work; it may stop the
    /// computation.
    ///
    /// After a stop, the states found so far stay stored; all of them are in R_{k+1}. The next call
    /// continues with the level.
    pub fn advance<B>(&mut self, watch: &mut impl FnMut(&Self) -> ControlFlow<B>) -> ControlFlow<B> {
        if !self.is_incomplete {
            self.start_level();
        }
        let done = self.finish_level(watch);
        self.is_incomplete = done.is_break();
        done
    }

    /// Begins a level: from each state of the last level, with each thread that did not reach it.
    pub(crate) fn start_level(&mut self) {
        let last = self.range(self.k());
        let threads = self.programs.len();
        self.wave.open = std::mem::replace(&mut self.reached_by, ThreadMasks::new(threads));
        let (states, symmetry, start) = (&self.states, &self.symmetry, last.start);
        let is_wanted = |id, position| symmetry.stands_for_itself(states.layout(), states.row(start + id), position);
        self.rounds.complement(&mut self.wave.open, threads, is_wanted);
        self.levels.push(last.end);
        (self.wave.first_open, self.wave.states) = (last.start, last);
        self.visible.next_level();
        self.is_incomplete = true;
        self.next_check = self.expansions.saturating_add(self.tuning.check_interval_for(self.kept()));
    }

    fn finish_level<B>(&mut self, watch: &mut impl FnMut(&Self) -> ControlFlow<B>) -> ControlFlow<B> {
        loop {
            while self.wave.take(PAIRS) {
                if !self.expand_in_rounds() {
                    self.expand_pairs();
                }
                if self.expansions >= self.next_check {
                    self.next_check = self.expansions.saturating_add(self.tuning.check_interval_for(self.kept()));
                    self.project();
                    if self.is_between_waves() {
                        self.checked_visible = self.visible.kept();
                    }
                    watch(self)?;
                }
            }
            self.project();
            if self.checked_visible < self.visible.kept() {
                self.checked_visible = self.visible.kept();
                watch(self)?;
            }
            self.start_wave();
            if self.is_between_waves() {
                return ControlFlow::Continue(());
            }
        }
    }

    /// Marks the last level as complete.
    pub(crate) fn end_level(&mut self) {
        self.is_incomplete = false;
    }

    /// Begins the next wave: from the states that the last wave reached.
    pub(crate) fn start_wave(&mut self) {
        let wave = &mut self.wave;
        wave.states = wave.states.end..self.states.len();
        wave.first_open = wave.states.start;
        wave.open.set_from(&self.reached_by, wave.first_open - self.levels[self.levels.len() - 1]);
        std::mem::swap(&mut wave.reopened, &mut self.reopened);
    }

    /// Whether every pair of the last wave is expanded.
    pub(crate) fn is_between_waves(&self) -> bool {
        self.wave.is_over()
    }

    /// Whether the next wave has any pairs so far.
    pub(crate) fn has_next_wave(&self) -> bool {
        self.wave.states.end < self.states.len() || !self.reopened.is_empty()
    }

    /// Expands pairs of the wave until it is over, or until about `steps` steps are done.
    pub(crate) fn expand_for(&mut self, steps: u64) {
        self.next_check = self.expansions.saturating_add(steps);
        while self.expansions < self.next_check && self.wave.take(PAIRS) {
            self.expand_pairs();
        }
    }

    /// Expands the pairs that the wave has ready, until the next check.
    pub(super) fn expand_pairs(&mut self) {
        while let Some(&pair) = self.wave.next().first()
            && self.expansions < self.next_check
        {
            if self.wave.done.is_multiple_of(BATCH) {
                let next = self.wave.next();
                prefetch(&self.states, &next[..next.len().min(BATCH)]);
            }
            self.wave.done += 1;
            self.expand(pair);
        }
        self.look_up();
    }

    /// Takes all steps of a thread from a state. Their targets wait in the batch.
    #[inline]
    fn expand(&mut self, pair: Pair) {
        let (id, position) = (pair.id as usize, usize::from(pair.position));
        let program = self.programs[position];
        let (layout, row) = (self.states.layout(), self.states.row(id));
        let thread_state = (layout.shared(row), layout.local(row, position));
        let steps = match self.steps[program].get(thread_state) {
            Some(((), steps)) => steps,
            None => self.compute_steps(thread_state, program),
        };
        if steps.is_empty() {
            return;
        }
        self.expansions += steps.len() as u64;
        self.scratch.successors.prepare(&self.symmetry, self.states.layout(), self.states.row(id), position);
        if self.outbox.is_some() {
            return self.expand_to_all_parts(pair, steps);
        }
        for index in steps {
            let successor = self.steps[program].successor(index);
            let (row, position) = self.scratch.successors.pack(self.states.layout(), successor);
            if self.batch.push(row, position) {
                self.look_up();
            }
        }
    }

    /// Looks up the states of the batch. If a state of this level was found before the wave and a
    /// further thread reaches it, the pair is opened again.
    pub(crate) fn look_up(&mut self) {
        let start = self.levels[self.levels.len() - 1];
        let Batch { rows, hashes, positions } = &mut self.batch;
        if self.states.len() > CACHED_STATES {
            self.states.prefetch(hashes, |id| self.reached_by.first_of(id.wrapping_sub(start)));
        }
        let words = self.states.layout().words();
        for ((row, hash), position) in rows.chunks_exact(words).zip(hashes.drain(..)).zip(positions.drain(..)) {
            let (id, is_new) = self.states.insert(row, hash);
            if is_new {
                self.reached_by.push(Some(position.into()));
            } else if id >= start && self.reached_by.add(id - start, position.into()) && id < self.wave.states.end {
                self.reopened.push(Pair { id: state_number(id), position });
            }
        }
        rows.clear();
    }

    /// Computes the steps of a program from a thread state that is not in the cache.
    #[cold]
    pub(super) fn compute_steps(&mut self, (shared, stack): ThreadState, program: usize) -> Range<usize> {
        let mut targets = std::mem::take(&mut self.scratch.targets);
        targets.clear();
        for (_, rule) in self.system.programs()[program].rules_from(SharedState(shared), self.stacks.top(stack)) {
            let (to, written) = rule.action.target();
            let stack = self.stacks.replace_top(stack, written);
            if self.stacks.height(stack) <= self.max_height {
                self.highest = self.stacks.height(stack).max(self.highest);
                targets.push((to.0, stack));
            }
        }
        self.make_room_for_stacks();
        let ((), steps) = self.steps[program].insert((shared, stack), (), targets.iter().copied());
        self.scratch.targets = targets;
        steps
    }

    /// Changes the layout if the numbers of stacks no longer fit.
    pub(super) fn make_room_for_stacks(&mut self) {
        if !self.states.layout().has_room_for(self.stacks.len()) {
            self.look_up();
            let layout = Layout::new(self.system.shared_names().len(), self.programs.len(), self.stacks.len());
            self.states.set_layout(layout);
            if let Some(outbox) = &mut self.outbox {
                outbox.forget_rows();
            }
        }
    }

    /// Adds T of the new states to the visible states.
    pub(crate) fn project(&mut self) {
        let mut tops = std::mem::take(&mut self.scratch.tops);
        for id in self.projected..self.states.len() {
            let shared = tops_of(&self.stacks, (self.states.layout(), self.states.row(id)), &mut tops);
            self.visible.insert(shared, &mut tops);
        }
        self.projected = self.states.len();
        self.scratch.tops = tops;
    }
}

impl Batch {
    /// Adds a state. Returns whether the batch is full.
    #[inline]
    pub(super) fn push(&mut self, row: &[u64], position: usize) -> bool {
        self.hashes.push(hash(row));
        for &word in row {
            self.rows.push(word);
        }
        self.positions.push(u16::try_from(position).expect("there are fewer threads"));
        self.hashes.len() == BATCH
    }
}

/// The number of a state; there are at most [`States::MAX_LEN`].
#[inline]
pub(super) fn state_number(id: usize) -> u32 {
    u32::try_from(id).expect("the memory ends before")
}

/// Loads the states of pairs into the cache.
#[inline]
pub(super) fn prefetch(states: &States, pairs: &[Pair]) {
    let word = |pair: &Pair| states.row(pair.id as usize)[0];
    std::hint::black_box(pairs.iter().fold(0, |sum, pair| sum ^ word(pair)));
}
