//! R_k and T(R_k) by explicit exploration, level by level (paper §2.3, §5).
//!
//! Level k runs each thread from each state that is new at level k-1, unless this thread itself
//! reached the state at that level. For each state, the masks of its level have the threads that
//! reached it *at that level*. If a further thread reaches the state, this thread is opened for the
//! state again. So each pair of a state and a thread is expanded once, and no state of R_{k-1} is
//! opened again:
//! - if thread i reached s at its level, the context of i goes on from s at that level;
//! - otherwise i starts a context in s, at the next level.
//!
//! States are numbered in the order in which they are found. So R_k is a prefix of the numbers, a
//! level is a range of them, and no state stores its level. No state stores its predecessor either:
//! `trace/backwards.rs` finds it when a trace is needed.
//!
//! # Termination
//! R_k may be infinite. Then its level never ends, and the caller must stop the exploration. FCR
//! excludes this case (`fcr/contexts.rs`).

use crate::certificate::tuples::Tuples;
use crate::explicit::exploration::{Batch, Scratch};
use crate::explicit::parallel::rounds::Rounds;
use crate::explicit::partition::outbox::Outbox;
use crate::explicit::partition::owner::Place;
use crate::explicit::stack_table::{StackId, Stacks};
use crate::explicit::state_table::States;
use crate::explicit::system_ref::SystemRef;
use crate::explicit::wave::{Pair, Wave};
use crate::tables::packed_rows::{Layout, PackedSet, hash};
use crate::tables::step_cache::StepCache;
use crate::tables::thread_masks::ThreadMasks;
use crate::tuning::Tuning;
use crate::visible::count::Count;
use crate::visible::levels::{VisibleLevels, top_number};
use crate::visible::symmetry::Symmetry;
use cpds::{Cpds, GlobalState, SharedState};
use serde::{Serialize, Serializer};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

/// The sets R_0 ⊆ … ⊆ R_k and T(R_0) ⊆ … ⊆ T(R_k), as far as they were computed.
pub struct Reachable<'a> {
    pub(super) system: SystemRef<'a>,
    pub(super) symmetry: Symmetry,
    pub(super) stacks: Stacks,
    /// For each program, the steps from its thread states.
    pub(super) steps: Vec<StepCache>,
    /// For each position, the program of its thread.
    pub(super) programs: Vec<usize>,
    /// The sorted states of R_k, in the order in which they were found.
    pub(super) states: States,
    /// For each level, its first state.
    pub(super) levels: Vec<usize>,
    /// For each state of the last level, the threads that reached it.
    pub(super) reached_by: ThreadMasks,
    pub(super) wave: Wave,
    /// States before the next wave that a thread reached for the first time in this wave, each with
    /// this thread.
    pub(super) reopened: Vec<Pair>,
    pub(super) visible: VisibleLevels,
    /// The first state that is not in `visible` yet.
    pub(super) projected: usize,
    /// The number of visible states at the last check between two waves.
    pub(super) checked_visible: usize,
    /// Whether the last level is not complete.
    pub(super) is_incomplete: bool,
    pub(super) highest: u32,
    /// States with a higher stack are left out.
    pub(super) max_height: u32,
    pub(super) expansions: u64,
    pub(super) tuning: Tuning,
    /// The next check, in expansions.
    pub(super) next_check: u64,
    pub(super) batch: Batch,
    pub(super) scratch: Scratch,
    pub(super) rounds: Rounds,
    /// The states for the workers of other parts, if states are partitioned.
    pub(super) outbox: Option<Box<Outbox>>,
}

/// The saved part of an exploration.
pub(crate) type SavedReachable = (
    (Stacks, Vec<StepCache>, States, Vec<usize>, ThreadMasks),
    (Range<usize>, ThreadMasks, usize, Vec<Pair>, Vec<Pair>, Vec<Pair>),
    ((PackedSet, Vec<usize>), usize, usize, bool, u32, u64, u64),
);

impl Serialize for Reachable<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Wave { states, open, first_open, reopened, .. } = &self.wave;
        let progress = (self.projected, self.checked_visible, self.is_incomplete);
        let counts = (self.highest, self.expansions, self.next_check);
        (
            (&self.stacks, &self.steps, &self.states, &self.levels, &self.reached_by),
            (states, open, first_open, reopened, &self.reopened, self.wave.next()),
            (self.visible.saved(), progress.0, progress.1, progress.2, counts.0, counts.1, counts.2),
        )
            .serialize(serializer)
    }
}

impl<'a> Reachable<'a> {
    /// R_0. With `symmetry`, interchangeable threads are treated as such. Only the counters
    /// [`kept`](Self::kept), [`expansions`](Self::expansions) and [`bytes`](Self::bytes) depend on
    /// it.
    pub fn new(system: &'a Cpds, symmetry: bool, tuning: Tuning) -> Self {
        Self::at(None, system.into(), symmetry, tuning)
    }

    /// R_0, or one part of its states.
    pub(crate) fn at(place: Option<Place>, system: SystemRef<'a>, symmetry: bool, tuning: Tuning) -> Self {
        let symmetry = Symmetry::new(&system, symmetry);
        let mut stacks = Stacks::default();
        let initial: Vec<(u32, Vec<StackId>)> = system
            .initial()
            .iter()
            .map(|state| (state.shared.0, state.stacks.iter().map(|stack| stacks.intern(stack)).collect()))
            .collect();
        let layout = Layout::new(system.shared_names().len(), system.thread_count(), stacks.len());
        let mut reachable = Reachable {
            visible: VisibleLevels::new(&system, &symmetry),
            steps: system.programs().iter().map(|_| StepCache::default()).collect(),
            programs: symmetry.programs(&system),
            states: States::new(layout),
            levels: vec![0],
            reached_by: ThreadMasks::new(system.thread_count()),
            wave: Wave::new(system.thread_count()),
            reopened: Vec::new(),
            projected: 0,
            checked_visible: 0,
            is_incomplete: false,
            highest: 0,
            max_height: u32::MAX,
            expansions: 0,
            tuning,
            next_check: 0,
            batch: Batch::default(),
            scratch: Scratch::default(),
            rounds: Rounds::default(),
            outbox: place.map(|place| Box::new(Outbox::new(place, &symmetry, &stacks, tuning))),
            symmetry,
            stacks,
            system,
        };
        for (shared, by_thread) in initial {
            reachable.add_initial(shared, &by_thread);
        }
        reachable.project();
        reachable
    }

    fn add_initial(&mut self, shared: u32, by_thread: &[StackId]) {
        let mut locals = self.symmetry.placed(by_thread);
        let heights = locals.iter().map(|&stack| self.stacks.height(stack));
        self.highest = heights.fold(self.highest, u32::max);
        self.symmetry.sort(&mut locals);
        let layout = self.states.layout();
        let mut row = vec![0; layout.words()];
        layout.pack(&mut row, shared, locals);
        let is_own = self.outbox.as_ref().is_none_or(|outbox| outbox.owns(layout, &row));
        if is_own && self.states.insert(&row, hash(&row)).1 {
            self.reached_by.push(None);
        }
    }

    /// Restores a saved exploration, of all states or of one part of them.
    pub(crate) fn restored(
        place: Option<Place>,
        system: SystemRef<'a>,
        symmetry: bool,
        saved: SavedReachable,
        tuning: Tuning,
    ) -> Self {
        let (tables, (wave_states, open, first_open, wave_reopened, reopened, pairs), rest) = saved;
        let (stacks, steps, states, levels, reached_by) = tables;
        let (visible, projected, checked_visible, is_incomplete, highest, expansions, next_check) = rest;
        let symmetry = Symmetry::new(&system, symmetry);
        Reachable {
            visible: VisibleLevels::restored(&symmetry, visible),
            outbox: place.map(|place| Box::new(Outbox::new(place, &symmetry, &stacks, tuning))),
            stacks,
            steps,
            states,
            levels,
            reached_by,
            wave: Wave { states: wave_states, open, first_open, reopened: wave_reopened, pairs, done: 0 },
            reopened,
            projected,
            checked_visible,
            is_incomplete,
            highest,
            expansions,
            next_check,
            ..Reachable::at(None, system, symmetry.has_groups(), tuning)
        }
    }

    /// From now on, this number of workers takes part. It may grow.
    pub(crate) fn use_workers(&mut self, workers: Arc<AtomicUsize>) {
        self.rounds = Rounds::new(workers);
    }

    /// From now on, leaves out each state with a higher stack. So each context is finite, and each
    /// level is a part of R_k.
    pub(crate) fn set_max_height(&mut self, height: u32) {
        self.max_height = height;
    }

    /// Whether a level has begun and [`advance`](Self::advance) continues with it.
    pub(crate) fn has_incomplete_level(&self) -> bool {
        self.is_incomplete
    }

    /// The last complete level.
    pub fn k(&self) -> usize {
        self.levels.len() - 1 - usize::from(self.is_incomplete)
    }

    /// The number of levels, incomplete ones included.
    pub(crate) fn level_count(&self) -> usize {
        self.levels.len()
    }

    /// The numbers of the states of level k.
    pub(crate) fn range(&self, k: usize) -> Range<usize> {
        self.levels[k]..self.levels.get(k + 1).copied().unwrap_or(self.states.len())
    }

    /// The level of the state with this number.
    pub(crate) fn level_of_number(&self, id: usize) -> usize {
        self.levels.partition_point(|&start| start <= id) - 1
    }

    /// Whether R_k \ R_{k-1} has any states. It reads the table, because their number may be too
    /// large to count.
    pub fn has_new_states(&self, k: usize) -> bool {
        !self.range(k).is_empty()
    }

    /// |R_k \ R_{k-1}|.
    pub fn new_states(&self, k: usize) -> Count {
        if !self.symmetry.has_groups() {
            return Count::from(self.range(k).len());
        }
        self.symmetry.sum_of_orbits(self.states.rows(self.range(k)))
    }

    /// R_k \ R_{k-1}.
    pub fn states(&self, k: usize) -> BTreeSet<GlobalState> {
        let members = |(layout, row): (&Layout, &[u64])| {
            let (shared, locals) = (layout.shared(row), layout.locals(row).collect());
            self.symmetry.members(locals).map(move |member| (shared, member))
        };
        let states = self.states.rows(self.range(k)).flat_map(members);
        states.map(|(shared, member)| self.global_state(shared, &self.symmetry.by_thread(member))).collect()
    }

    /// The states before this number, each as a tuple of languages with one word.
    pub(crate) fn tuples(&self, end: usize) -> Tuples {
        Tuples::new(&self.symmetry, self.stacks.automaton(), self.states.rows(0..end), |_, stack| stack, true)
    }

    fn global_state(&self, shared: u32, by_thread: &[StackId]) -> GlobalState {
        GlobalState {
            shared: SharedState(shared),
            stacks: by_thread.iter().map(|&stack| self.stacks.stack(stack)).collect(),
        }
    }

    /// T(R_0) ⊆ … ⊆ T(R_k). The visible states of an incomplete level come last.
    pub fn visible(&self) -> &VisibleLevels {
        &self.visible
    }

    /// The number of stored states: those of R_k, up to symmetry.
    pub fn kept(&self) -> usize {
        self.states.len()
    }

    /// The number of successors that were looked up.
    pub fn expansions(&self) -> u64 {
        self.expansions
    }

    /// The height of the highest stack.
    pub fn highest(&self) -> u32 {
        self.highest
    }

    /// The number of stacks, ε and the rests of other stacks included.
    pub fn stack_count(&self) -> usize {
        self.stacks.len()
    }

    /// The memory in use, in bytes, with the index that one worker would have.
    pub fn bytes(&self) -> usize {
        self.bytes_after(0)
    }

    /// The most memory that may be in use until the next check.
    pub fn bytes_at_next_look(&self) -> usize {
        // Twice: with several workers, the index has room for another round.
        let more = usize::try_from(self.tuning.check_interval_for(self.kept())).unwrap_or(usize::MAX);
        self.bytes_after(more.saturating_mul(2))
    }

    pub(crate) fn bytes_after(&self, more: usize) -> usize {
        // Stacks and thread states have numbers of 32 bits. Without numbers there is no room.
        let numbered = self.steps.iter().map(StepCache::len).fold(self.stacks.len(), usize::max);
        if numbered >= 1 << 31 {
            return usize::MAX;
        }
        let rest = self.stacks.bytes()
            + self.steps.iter().map(StepCache::bytes).sum::<usize>()
            + self.reached_by.bytes()
            + self.wave.open.bytes()
            + (self.wave.reopened_left() + self.reopened.len()) * size_of::<Pair>();
        self.states.bytes_after(more).saturating_add(self.visible.set().bytes_after(more)).saturating_add(rest)
    }

    pub(crate) fn system(&self) -> &SystemRef<'a> {
        &self.system
    }

    pub(crate) fn symmetry(&self) -> &Symmetry {
        &self.symmetry
    }

    pub(crate) fn stacks(&self) -> &Stacks {
        &self.stacks
    }

    /// The stored states, each sorted within groups of interchangeable threads.
    pub(crate) fn sorted_states(&self) -> &States {
        &self.states
    }
}

/// Writes the tops of a state, by position, to `tops`. Returns its shared state.
#[inline]
pub(crate) fn tops_of(stacks: &Stacks, (layout, row): (&Layout, &[u64]), tops: &mut Vec<u32>) -> u32 {
    tops.clear();
    tops.extend(layout.locals(row).map(|stack| top_number(stacks.top(stack))));
    layout.shared(row)
}
