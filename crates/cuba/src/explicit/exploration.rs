//! Exploration of R_k by one core: waves of pairs, and steps of a thread from a state.
//!
//! A level comes in *waves*: the pairs to which the first step of a context leads, those to which
//! the second step leads, and so on. The set that is reached after a wave depends only on the
//! number of the wave. It depends on no order, and not on the number of workers.
//!
//! The pairs of a wave are expanded in order, and their successors are numbered in the order in
//! which they are found. One core does this pair by pair, here. Several cores do it in rounds
//! (`explicit/parallel_exploration.rs`), in which states get the same numbers. So all counts are
//! the same.

use crate::explicit::reachable::Reachable;
use crate::explicit::tables::frontier::Pair;
use crate::explicit::tables::stack_table::StackId;
use crate::explicit::tables::state_table::{BATCH, CACHED_STATES, state_number};
use crate::tables::packed_rows::{Layout, hash};
use crate::tables::step_cache::ThreadState;
use crate::tables::thread_masks::ThreadMasks;
use crate::visible::symmetry::Successors;
use std::ops::{ControlFlow, Range};

/// Buffers, so that no step allocates memory.
#[derive(Default)]
pub(super) struct Scratch {
    pub(super) successors: Successors,
    /// The stacks of a received state.
    pub(super) locals: Vec<StackId>,
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
        let threads = self.steps.threads();
        let mut open = std::mem::replace(&mut self.reached_by, ThreadMasks::new(threads));
        let (states, symmetry, start) = (&self.states, &self.symmetry, last.start);
        let is_wanted = |id, position| symmetry.stands_for_itself(states.layout(), states.row(start + id), position);
        self.rounds.complement(&mut open, threads, is_wanted);
        self.levels.begin(last.end);
        self.frontier.start_level(last, open);
        self.projection.next_level();
        self.is_incomplete = true;
        self.set_next_check();
    }

    fn set_next_check(&mut self) {
        self.expansions.check_after(self.expansions.interval(self.kept()));
    }

    fn finish_level<B>(&mut self, watch: &mut impl FnMut(&Self) -> ControlFlow<B>) -> ControlFlow<B> {
        loop {
            while self.frontier.take(PAIRS) {
                if !self.expand_in_rounds() {
                    self.expand_pairs();
                }
                if self.expansions.is_check_due() {
                    self.set_next_check();
                    self.project();
                    if self.is_between_waves() {
                        self.projection.mark_checked();
                    }
                    watch(self)?;
                }
            }
            self.project();
            if self.projection.mark_checked() {
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
        let reached_by = (&self.reached_by, self.levels.last_start());
        self.frontier.start_wave(self.states.len(), reached_by, &mut self.reopened);
    }

    /// Whether every pair of the last wave is expanded.
    pub(crate) fn is_between_waves(&self) -> bool {
        self.frontier.is_over()
    }

    /// Whether the next wave has any pairs so far.
    pub(crate) fn has_next_wave(&self) -> bool {
        self.frontier.end() < self.states.len() || !self.reopened.is_empty()
    }

    /// Expands pairs of the wave until it is over, or until about `steps` steps are done.
    pub(crate) fn expand_for(&mut self, steps: u64) {
        self.expansions.check_after(steps);
        while !self.expansions.is_check_due() && self.frontier.take(PAIRS) {
            self.expand_pairs();
        }
    }

    /// Expands the pairs that the wave has ready, until the next check.
    pub(super) fn expand_pairs(&mut self) {
        while let Some(&pair) = self.frontier.ready().first()
            && !self.expansions.is_check_due()
        {
            if self.frontier.done().is_multiple_of(BATCH) {
                let next = self.frontier.ready();
                self.states.prefetch_rows(next.iter().take(BATCH).map(|pair| pair.id as usize));
            }
            self.frontier.finish(1);
            self.expand(pair);
        }
        self.look_up();
    }

    /// Takes all steps of a thread from a state. Their targets wait in the batch.
    #[inline]
    fn expand(&mut self, pair: Pair) {
        let (id, position) = (pair.id as usize, usize::from(pair.position));
        let program = self.steps.program(position);
        let (layout, row) = (self.states.layout(), self.states.row(id));
        let thread_state = (layout.shared(row), layout.local(row, position));
        let steps = match self.steps.get(program, thread_state) {
            Some(steps) => steps,
            None => self.compute_steps(program, thread_state),
        };
        if steps.is_empty() {
            return;
        }
        self.expansions.add(steps.len());
        self.scratch.successors.prepare(&self.symmetry, self.states.layout(), self.states.row(id), position);
        if self.outbox.is_some() {
            return self.expand_to_all_parts(pair, steps);
        }
        for index in steps {
            let successor = self.steps.successor(program, index);
            let (row, position) = self.scratch.successors.pack(self.states.layout(), successor);
            if self.batch.push(row, position) {
                self.look_up();
            }
        }
    }

    /// Looks up the states of the batch. If a state of this level was found before the wave and a
    /// further thread reaches it, the pair is opened again.
    pub(crate) fn look_up(&mut self) {
        let start = self.levels.last_start();
        let Batch { rows, hashes, positions } = &mut self.batch;
        if self.states.len() > CACHED_STATES {
            self.states.prefetch(hashes, |id| self.reached_by.first_of(id.wrapping_sub(start)));
        }
        let words = self.states.layout().words();
        for ((row, hash), position) in rows.chunks_exact(words).zip(hashes.drain(..)).zip(positions.drain(..)) {
            let (id, is_new) = self.states.insert(row, hash);
            if is_new {
                self.reached_by.push(Some(position.into()));
            } else if id >= start && self.reached_by.add(id - start, position.into()) && id < self.frontier.end() {
                self.reopened.push(Pair { id: state_number(id), position });
            }
        }
        rows.clear();
    }

    /// Computes the steps of a program from a thread state that is not in the table.
    #[cold]
    pub(super) fn compute_steps(&mut self, program: usize, state: ThreadState) -> Range<usize> {
        let steps = self.steps.compute(program, state);
        self.make_room_for_stacks();
        steps
    }

    /// Changes the layout if the numbers of stacks no longer fit.
    pub(super) fn make_room_for_stacks(&mut self) {
        let stacks = self.steps.stacks().len();
        if !self.states.layout().has_room_for(stacks) {
            self.look_up();
            let layout = Layout::new(self.steps.system().shared_names().len(), self.steps.threads(), stacks);
            self.states.set_layout(layout);
            if let Some(outbox) = &mut self.outbox {
                outbox.forget_rows();
            }
        }
    }

    /// Adds T of the new states to the visible states.
    pub(crate) fn project(&mut self) {
        self.projection.project(&self.states, self.steps.stacks());
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
