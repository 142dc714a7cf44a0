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
//! excludes this case (`fcr/finite_context_reachability.rs`).

use crate::certificate::tuples::Tuples;
use crate::explicit::expansion_counter::ExpansionCounter;
use crate::explicit::exploration::{Batch, Scratch};
use crate::explicit::parallel::rounds::Rounds;
use crate::explicit::partition::outbox::Outbox;
use crate::explicit::partition::owner::PartId;
use crate::explicit::projection::{SavedStateProjection, StateProjection};
use crate::explicit::tables::frontier::{Frontier, Pair};
use crate::explicit::tables::stack_table::{StackId, Stacks};
use crate::explicit::tables::state_table::States;
use crate::explicit::tables::step_table::Steps;
use crate::explicit::tables::system_ref::SystemRef;
use crate::tables::level_ranges::LevelRanges;
use crate::tables::packed_rows::{Layout, hash};
use crate::tables::step_cache::StepCache;
use crate::tables::thread_masks::ThreadMasks;
use crate::tuning::Tuning;
use crate::visible::count::Count;
use crate::visible::levels::VisibleLevels;
use crate::visible::symmetry::Symmetry;
use cpds::{Cpds, GlobalState, SharedState, Stack};
use serde::{Serialize, Serializer};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

/// The sets R_0 ⊆ … ⊆ R_k and T(R_0) ⊆ … ⊆ T(R_k), as far as they were computed.
pub struct Reachable<'a> {
    pub(super) symmetry: Symmetry,
    pub(super) steps: Steps<'a>,
    /// The sorted states of R_k, in the order in which they were found.
    pub(super) states: States,
    pub(super) levels: LevelRanges,
    /// Whether the last level is not complete.
    pub(super) is_incomplete: bool,
    /// For each state of the last level, the threads that reached it.
    pub(super) reached_by: ThreadMasks,
    pub(super) frontier: Frontier,
    /// States before the next wave that a thread reached for the first time in this wave, each with
    /// this thread.
    pub(super) reopened: Vec<Pair>,
    pub(super) projection: StateProjection,
    pub(super) expansions: ExpansionCounter,
    pub(super) batch: Batch,
    pub(super) scratch: Scratch,
    pub(super) rounds: Rounds,
    /// The states for the owners of other parts, if states are partitioned.
    pub(super) outbox: Option<Box<Outbox>>,
}

/// The saved part of an exploration.
pub(crate) type SavedReachable = (
    (Stacks, Vec<StepCache>, States, LevelRanges, ThreadMasks),
    (Frontier, Vec<Pair>),
    (SavedStateProjection, bool, u32, (u64, u64)),
);

impl Serialize for Reachable<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (stacks, caches) = self.steps.saved();
        (
            (stacks, caches, &self.states, &self.levels, &self.reached_by),
            (&self.frontier, &self.reopened),
            (self.projection.saved(), self.is_incomplete, self.steps.highest(), self.expansions.saved()),
        )
            .serialize(serializer)
    }
}

impl<'a> Reachable<'a> {
    /// R_0. With `symmetry`, interchangeable threads are treated as such. Only the counters
    /// [`kept`](Self::kept), [`expansions`](Self::expansions) and [`bytes`](Self::bytes) depend on
    /// it.
    pub fn new(system: &'a Cpds, symmetry: bool, tuning: Tuning) -> Self {
        Self::of_part(None, &system.into(), symmetry, tuning)
    }

    /// R_0, or the states of it that one part owns.
    pub(crate) fn of_part(part: Option<PartId>, system: &SystemRef<'a>, symmetry: bool, tuning: Tuning) -> Self {
        let symmetry = Symmetry::new(system, symmetry);
        let steps = Steps::new(system.clone(), &symmetry);
        let layout = Layout::new(system.shared_names().len(), system.thread_count(), steps.stacks().len());
        let mut reachable = Reachable {
            states: States::new(layout),
            levels: LevelRanges::new(),
            is_incomplete: false,
            reached_by: ThreadMasks::new(system.thread_count()),
            frontier: Frontier::new(system.thread_count()),
            reopened: Vec::new(),
            projection: StateProjection::new(VisibleLevels::new(system, &symmetry)),
            expansions: ExpansionCounter::new(tuning),
            batch: Batch::default(),
            scratch: Scratch::default(),
            rounds: Rounds::default(),
            outbox: part.map(|part| Box::new(Outbox::new(part, &symmetry, steps.stacks(), tuning))),
            symmetry,
            steps,
        };
        for state in system.initial() {
            reachable.add_initial(state);
        }
        reachable.project();
        reachable
    }

    fn add_initial(&mut self, state: &GlobalState) {
        let number = |stack: &Stack| self.steps.stacks().find(stack).expect("initial stacks are in the table");
        let by_thread: Vec<StackId> = state.stacks.iter().map(number).collect();
        let mut locals = self.symmetry.placed(&by_thread);
        self.symmetry.sort(&mut locals);
        let layout = self.states.layout();
        let mut row = vec![0; layout.words()];
        layout.pack(&mut row, state.shared.0, locals);
        let is_own = self.outbox.as_ref().is_none_or(|outbox| outbox.owns(layout, &row));
        if is_own && self.states.insert(&row, hash(&row)).1 {
            self.reached_by.push(None);
        }
    }

    /// Restores a saved exploration, of all states or of those of one part.
    pub(crate) fn restored(
        part: Option<PartId>,
        system: &SystemRef<'a>,
        symmetry: bool,
        saved: SavedReachable,
        tuning: Tuning,
    ) -> Self {
        let (tables, (frontier, reopened), (projection, is_incomplete, highest, counts)) = saved;
        let (stacks, caches, states, levels, reached_by) = tables;
        let mut reachable = Reachable::of_part(None, system, symmetry, tuning);
        let outbox = part.map(|part| Box::new(Outbox::new(part, &reachable.symmetry, &stacks, tuning)));
        reachable.steps.restore(stacks, caches, highest);
        Reachable {
            projection: StateProjection::restored(&reachable.symmetry, projection),
            expansions: ExpansionCounter::restored(counts, tuning),
            outbox,
            states,
            levels,
            is_incomplete,
            reached_by,
            frontier,
            reopened,
            ..reachable
        }
    }

    /// From now on, this number of workers takes part. It may grow.
    pub(crate) fn use_workers(&mut self, workers: Arc<AtomicUsize>) {
        self.rounds = Rounds::new(workers);
    }

    /// From now on, leaves out each state with a higher stack. So each context is finite, and each
    /// level is a part of R_k.
    pub(crate) fn set_max_height(&mut self, height: u32) {
        self.steps.set_max_height(height);
    }

    /// Whether a level has begun and [`advance`](Self::advance) continues with it.
    pub(crate) fn has_incomplete_level(&self) -> bool {
        self.is_incomplete
    }

    /// The last complete level.
    pub fn k(&self) -> usize {
        self.levels.count() - 1 - usize::from(self.is_incomplete)
    }

    /// The number of levels, incomplete ones included.
    pub(crate) fn level_count(&self) -> usize {
        self.levels.count()
    }

    /// The numbers of the states of level k.
    pub(crate) fn range(&self, k: usize) -> Range<usize> {
        self.levels.range(k, self.states.len())
    }

    /// The level of the state with this number.
    pub(crate) fn level_of_number(&self, id: usize) -> usize {
        self.levels.level_of(id)
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
        Tuples::new(&self.symmetry, self.steps.stacks().automaton(), self.states.rows(0..end), |_, stack| stack, true)
    }

    fn global_state(&self, shared: u32, by_thread: &[StackId]) -> GlobalState {
        GlobalState {
            shared: SharedState(shared),
            stacks: by_thread.iter().map(|&stack| self.steps.stacks().stack(stack)).collect(),
        }
    }

    /// T(R_0) ⊆ … ⊆ T(R_k). The visible states of an incomplete level come last.
    pub fn visible(&self) -> &VisibleLevels {
        self.projection.visible()
    }

    /// The number of stored states: those of R_k, up to symmetry.
    pub fn kept(&self) -> usize {
        self.states.len()
    }

    /// The number of successors that were looked up.
    pub fn expansions(&self) -> u64 {
        self.expansions.count()
    }

    /// The height of the highest stack.
    pub fn highest(&self) -> u32 {
        self.steps.highest()
    }

    /// The number of stacks, ε and the rests of other stacks included.
    pub fn stack_count(&self) -> usize {
        self.steps.stacks().len()
    }

    /// The memory in use, in bytes, with the index that one worker would have.
    pub fn bytes(&self) -> usize {
        self.bytes_after(0)
    }

    /// The most memory that may be in use until the next check.
    pub fn bytes_at_next_look(&self) -> usize {
        // Twice: with several workers, the index has room for another round.
        let more = usize::try_from(self.expansions.interval(self.kept())).unwrap_or(usize::MAX);
        self.bytes_after(more.saturating_mul(2))
    }

    /// The memory in use while `more` states are found.
    pub(crate) fn bytes_after(&self, more: usize) -> usize {
        let pairs = self.frontier.bytes() + self.reopened.len() * size_of::<Pair>();
        let rest = self.steps.bytes().saturating_add(self.reached_by.bytes() + pairs);
        self.states.bytes_after(more).saturating_add(self.visible().set().bytes_after(more)).saturating_add(rest)
    }

    pub(crate) fn system(&self) -> &SystemRef<'a> {
        self.steps.system()
    }

    pub(crate) fn symmetry(&self) -> &Symmetry {
        &self.symmetry
    }

    pub(crate) fn stacks(&self) -> &Stacks {
        self.steps.stacks()
    }

    /// The stored states, each sorted within groups of interchangeable threads.
    pub(crate) fn sorted_states(&self) -> &States {
        &self.states
    }
}
