//! The exploration of M^n: all threads with their stacks cut off, step by step (paper §4.1.3).
//!
//! States are packed rows, numbered in the order in which they are found. One sorted state stands
//! for its orbit. A row has the number of a word for each thread. For heights above 1, the
//! exploration may find new words, and then rows become wider.

use crate::cancel::Cancel;
use crate::limits::TooLarge;
use crate::overapproximation::cut_off_stacks::CutOff;
use crate::overapproximation::cut_off_states::{CutOffStates, SavedCutOffStates, groups, restored_threads};
use crate::overapproximation::z::Cut;
use crate::tables::packed_rows::{Layout, PackedSet};
use crate::tables::step_cache::ThreadState;
use crate::tuning::Tuning;
use crate::visible::levels::VisibleLevels;
use crate::visible::symmetry::{Successors, Symmetry};
use cpds::Cpds;
use serde::{Serialize, Serializer};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The progress of an exploration of M^n.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ExplorationProgress {
    /// The number of stored states.
    pub(crate) states: usize,
    /// The number of transitions taken.
    pub(crate) transitions: u64,
    /// The most memory that may be in use until the next check.
    pub(crate) bytes: usize,
}

/// An exploration of M^n. It can be stopped, saved, and continued.
pub(crate) struct CutOffExploration<'a> {
    system: &'a Cpds,
    symmetry: Symmetry,
    pub(super) cut: Cut,
    /// M_i, for each group.
    threads: Vec<CutOff<'a>>,
    /// The group at each position.
    group_of: Vec<usize>,
    /// The states found so far.
    set: PackedSet,
    /// For each state, whether a pop leads to it.
    pub(super) is_pop_target: Vec<bool>,
    /// For each expanded state, whether it is in G.
    pub(super) is_generator: Vec<bool>,
    successors: Successors,
    /// The number of transitions taken.
    pub(super) transitions: u64,
    check_interval: u64,
    /// The number of transitions at which the next check is due.
    next_check: u64,
    /// The number of transitions at which the next check between two states is due.
    next_check_between_states: u64,
    /// Whether no state is partly expanded. The tables can be saved only then.
    is_between_states: bool,
}

/// The saved form of [`CutOffExploration`].
pub(crate) type SavedExploration = (SavedCutOffStates, Vec<bool>, Vec<bool>, u64, u64, u64);

impl Serialize for CutOffExploration<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let tables = (&self.threads, &self.set);
        let marks = (&self.is_pop_target, &self.is_generator);
        (tables, marks.0, marks.1, self.transitions, self.next_check, self.next_check_between_states)
            .serialize(serializer)
    }
}

impl<'a> CutOffExploration<'a> {
    /// Restores a saved exploration.
    pub(crate) fn restored(
        system: &'a Cpds,
        symmetry: Symmetry,
        cut: Cut,
        saved: SavedExploration,
        tuning: Tuning,
    ) -> Self {
        let ((threads, set), is_pop_target, is_generator, transitions, next_check, next_check_between_states) = saved;
        CutOffExploration {
            threads: restored_threads(system, &symmetry, cut, threads),
            group_of: groups(&symmetry),
            system,
            symmetry,
            cut,
            set,
            is_pop_target,
            is_generator,
            successors: Successors::default(),
            transitions,
            check_interval: tuning.check_interval.max(1),
            next_check,
            next_check_between_states,
            is_between_states: false,
        }
    }

    /// Whether no state is partly expanded, so that the tables can be saved.
    pub(crate) fn is_between_states(&self) -> bool {
        self.is_between_states
    }

    /// Starts an exploration from the cut-off initial states.
    ///
    /// # Errors
    /// If the sets of emerging symbols take more than `room` bytes.
    pub(crate) fn new(
        system: &'a Cpds,
        symmetry: Symmetry,
        cut: Cut,
        room: usize,
        tuning: Tuning,
    ) -> Result<Self, TooLarge> {
        let new = |thread| CutOff::new(system, thread, cut.height, cut.returns, room);
        let threads = symmetry.groups().map(|group| new(symmetry.threads()[group.start])).collect::<Result<_, _>>()?;
        let group_of = groups(&symmetry);
        let mut exploration = CutOffExploration {
            set: PackedSet::new(VisibleLevels::layout(system)),
            system,
            symmetry,
            cut,
            threads,
            group_of,
            is_pop_target: Vec::new(),
            is_generator: Vec::new(),
            successors: Successors::default(),
            transitions: 0,
            check_interval: tuning.check_interval.max(1),
            next_check: 0,
            next_check_between_states: 0,
            is_between_states: false,
        };
        let mut rows = Vec::new();
        for state in system.initial() {
            let stacks = exploration.symmetry.placed(&state.stacks);
            let of = |(stack, &group): (_, &usize)| exploration.threads[group].stack(stack);
            let mut words: Vec<u32> = stacks.iter().zip(&exploration.group_of).map(of).collect();
            exploration.symmetry.sort(&mut words);
            rows.push((state.shared.0, words));
        }
        exploration.make_room();
        let mut row = vec![0; exploration.set.layout().words()];
        for (shared, words) in rows {
            exploration.set.layout().pack(&mut row, shared, words);
            exploration.set.insert(&row);
        }
        exploration.is_pop_target = vec![false; exploration.set.len()];
        Ok(exploration)
    }

    /// Makes rows wider if the words have more numbers than fit.
    fn make_room(&mut self) {
        let words = self.threads.iter().map(CutOff::words).max().unwrap_or(0);
        if !self.set.layout().has_room_for(words) {
            let (shared, threads) = (self.system.shared_names().len(), self.group_of.len());
            self.set.set_layout(Layout::new(shared, threads, words));
        }
    }

    /// Explores until every state is expanded. Calls `watch` at regular intervals; it may stop the
    /// exploration.
    pub(super) fn explore<B>(&mut self, watch: &mut impl FnMut(&Self) -> ControlFlow<B>) -> ControlFlow<B> {
        while self.is_generator.len() < self.set.len() {
            if self.transitions >= self.next_check_between_states {
                self.next_check_between_states = self.transitions.saturating_add(self.check_interval);
                self.is_between_states = true;
                watch(self)?;
                self.is_between_states = false;
            }
            let id = self.is_generator.len();
            let mut is_generator = false;
            for position in 0..self.group_of.len() {
                let (layout, row) = (self.set.layout(), self.set.row(id));
                if !self.symmetry.stands_for_itself(layout, row, position) {
                    continue;
                }
                let group = self.group_of[position];
                let from @ (_, word) = (layout.shared(row), layout.local(row, position));
                let (summary, moves) = self.threads[group].moves(from);
                is_generator |= summary.is_generator;
                if moves.is_empty() {
                    continue;
                }
                let popped = if summary.pops > 0 { self.threads[group].pop(word) } else { 0..0 };
                if self.cut.height > 1 {
                    self.make_room();
                }
                self.successors.prepare(&self.symmetry, self.set.layout(), self.set.row(id), position);
                let pops = moves.end - summary.pops;
                for index in moves.start..pops {
                    self.take(self.threads[group].successor(index), false);
                }
                self.check(watch)?;
                for index in pops..moves.end {
                    let (to, _) = self.threads[group].successor(index);
                    for i in popped.clone() {
                        self.take((to, self.threads[group].word_after_pop(i)), true);
                    }
                    self.check(watch)?;
                }
            }
            self.is_generator.push(is_generator);
        }
        ControlFlow::Continue(())
    }

    /// Explores until every state is expanded, or until a limit is reached. Returns whether every
    /// state is expanded; if not, the exploration can be continued.
    pub(crate) fn finishes_within(&mut self, max_transitions: u64, memory: usize, cancel: &Cancel) -> bool {
        let explored = self.explore(&mut |exploration| {
            let is_enough = exploration.transitions >= max_transitions
                || exploration.progress().bytes > memory
                || cancel.why().is_some();
            if exploration.is_between_states && is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        self.is_between_states = false;
        explored.is_continue()
    }

    /// Returns the states found so far.
    pub(crate) fn set(&self) -> &PackedSet {
        &self.set
    }

    /// Takes a transition of the thread for which `successors` was prepared.
    #[inline]
    fn take(&mut self, to: ThreadState, is_pop: bool) {
        self.transitions += 1;
        let (target, is_new) = self.set.insert(self.successors.pack(self.set.layout(), to).0);
        if is_new {
            self.is_pop_target.push(is_pop);
        } else {
            self.is_pop_target[target] |= is_pop;
        }
    }

    /// Calls `watch` if a check is due.
    #[inline]
    fn check<B>(&mut self, watch: &mut impl FnMut(&Self) -> ControlFlow<B>) -> ControlFlow<B> {
        if self.transitions < self.next_check {
            return ControlFlow::Continue(());
        }
        self.next_check = self.transitions.saturating_add(self.check_interval);
        watch(self)
    }

    /// Returns the progress so far.
    pub(crate) fn progress(&self) -> ExplorationProgress {
        let threads: usize = self.threads.iter().map(CutOff::bytes).sum();
        let more = usize::try_from(self.check_interval.saturating_mul(2)).unwrap_or(usize::MAX);
        let bytes = self.set.bytes_after(more).saturating_add(2 * self.is_pop_target.len() + threads);
        ExplorationProgress { states: self.set.len(), transitions: self.transitions, bytes }
    }

    /// Returns the visible states: the tops of every state.
    pub(super) fn visible(&self, room: usize) -> Result<PackedSet, TooLarge> {
        let mut visible = PackedSet::new(VisibleLevels::layout(self.system));
        let mut row = vec![0; visible.layout().words()];
        for id in 0..self.set.len() {
            let (layout, words) = (self.set.layout(), self.set.row(id));
            let tops = layout.locals(words).zip(&self.group_of).map(|(word, &group)| self.threads[group].top(word));
            let mut tops: Vec<u32> = tops.collect();
            self.symmetry.sort(&mut tops);
            visible.layout().pack(&mut row, layout.shared(words), tops);
            visible.insert(&row);
            if visible.bytes_after(1) > room {
                return Err(TooLarge);
            }
        }
        Ok(visible)
    }

    /// Returns the states found, without the tables that only the exploration needs.
    pub(super) fn into_states(self) -> CutOffStates<'a> {
        let CutOffExploration { symmetry, threads, group_of, set, .. } = self;
        CutOffStates { symmetry, threads, group_of, set: Arc::new(set) }
    }
}
