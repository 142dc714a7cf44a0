//! R_k and T(R_k) by explicit exploration, level by level (paper §2.3, §5).
//!
//! Level k runs, from each state that is new at level k-1, each thread that did not itself reach
//! the state at that level. A state found at level k remembers which threads reached it *at level
//! k*; reached by another one, it is opened again for that thread alone. So each pair of a state
//! and a thread is expanded once, and no state of R_{k-1} is ever opened again:
//! - if thread i reached s at its level, i's context goes on from s at that level;
//! - otherwise i starts a context in s, at the next level.
//!
//! A level comes in *waves*: the pairs that the first step of a context leads to, those that the
//! second one leads to, and so on. What has been reached after a wave depends on nothing but its
//! number: on no order, and not on how many work on it.
//!
//! States are numbered as they are found. So R_k is a prefix of the numbers, a level a range of
//! them, and no state has to remember its level. No state remembers where it came from either:
//! `trace/backwards.rs` finds out when it is wanted.
//!
//! # Rounds
//! The pairs of a wave are expanded in order, and the states they lead to are numbered in the order
//! in which they come up. One core does that one by one (here); several do it in *rounds*
//! (`explicit/parallel/expansion.rs`), in which the states get the same numbers. So everything that
//! is counted is the same.
//!
//! # What is finite
//! R_k may be infinite, and then its level never ends. Thm. 17 says beforehand when that cannot be
//! (`fcr/contexts.rs`); who explores all the same has to stop the exploration.

use crate::certificate::tuples::Tuples;
use crate::explicit::frontier::{Pair, Wave};
use crate::explicit::outbox::{Outlet, Place};
use crate::explicit::parallel::expansion::Crew;
use crate::explicit::stack_table::{StackId, Stacks};
use crate::explicit::state_table::{BATCH, States};
use crate::tables::packed_rows::{Layout, PackedSet, hash};
use crate::tables::step_cache::{StepCache, ThreadState};
use crate::tables::thread_masks::ThreadMasks;
use crate::tuning::Tuning;
use crate::visible::count::Count;
use crate::visible::levels::{VisibleLevels, top_number};
use crate::visible::symmetry::{Successors, Symmetry};
use cpds::{Cpds, GlobalState, SharedState};
use serde::{Serialize, Serializer};
use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};

/// The sets R_0 ⊆ … ⊆ R_k and T(R_0) ⊆ … ⊆ T(R_k), as far as they were computed.
pub struct Reachable<'a> {
    pub(crate) system: &'a Cpds,
    pub(crate) symmetry: Symmetry,
    pub(crate) stacks: Stacks,
    /// For each program, the thread states it has been seen in.
    pub(crate) moves: Vec<StepCache>,
    pub(crate) programs: Vec<usize>,
    /// The sorted states of R_k, in the order in which they were found.
    pub(crate) states: States,
    /// Level k has the states from `levels[k]` on, up to the next level.
    pub(crate) levels: Vec<usize>,
    /// Which threads have reached the states of the last level.
    pub(crate) reached_by: ThreadMasks,
    pub(crate) wave: Wave,
    /// States before the next wave that a thread has reached in this one, for the first time; with
    /// its position.
    pub(crate) reopens: Vec<Pair>,
    pub(crate) visible: VisibleLevels,
    /// The states before this one are in `visible`.
    pub(crate) projected: usize,
    /// How many visible states there were when the watcher last looked between two waves.
    seen: usize,
    /// Whether the last level is not finished.
    pub(crate) unfinished: bool,
    highest: u32,
    /// Higher stacks than this are left out.
    ceiling: u32,
    pub(crate) expansions: u64,
    tuning: Tuning,
    /// When the watcher looks again, in expansions.
    pub(crate) pulse: u64,
    pub(crate) batch: Batch,
    pub(crate) scratch: Scratch,
    pub(crate) crew: Crew,
    /// Where the states go that belong to others (`distributed/worker.rs`); none if all are here.
    pub(crate) outlet: Option<Box<Outlet>>,
}

/// What is saved of an exploration.
pub(crate) type SavedReachable = (
    (Stacks, Vec<StepCache>, States, Vec<usize>, ThreadMasks),
    (Range<usize>, ThreadMasks, usize, Vec<Pair>, Vec<Pair>, Vec<Pair>),
    ((PackedSet, Vec<usize>), usize, usize, bool, u32, u64, u64),
);

#[derive(Default)]
pub(crate) struct Scratch {
    pub(crate) successors: Successors,
    found: Vec<ThreadState>,
    tops: Vec<u32>,
}

/// States that wait to be looked up: enough that the processor can wait for several parts of the
/// memory at once.
#[derive(Default)]
pub(crate) struct Batch {
    rows: Vec<u64>,
    pub(crate) hashes: Vec<u64>,
    /// The position of the thread that reached each.
    at: Vec<u16>,
}

/// So few states are in the cache anyway.
pub(crate) const SMALL: usize = 1 << 16;

/// How many pairs are taken at a time for one core.
pub(crate) const PAIRS: usize = 1 << 10;

impl Serialize for Reachable<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (
            (&self.stacks, &self.moves, &self.states, &self.levels, &self.reached_by),
            (
                &self.wave.states,
                &self.wave.open,
                self.wave.opened,
                &self.wave.reopened,
                &self.reopens,
                self.wave.next(),
            ),
            (
                self.visible.saved(),
                self.projected,
                self.seen,
                self.unfinished,
                self.highest,
                self.expansions,
                self.pulse,
            ),
        )
            .serialize(serializer)
    }
}

impl<'a> Reachable<'a> {
    /// R_0. With `symmetry`, interchangeable threads are treated as such; nothing that can be asked
    /// for depends on it, except for the counters [`kept`](Self::kept),
    /// [`expansions`](Self::expansions) and [`bytes`](Self::bytes).
    pub fn new(system: &'a Cpds, symmetry: bool, tuning: Tuning) -> Self {
        Self::at(None, system, symmetry, tuning)
    }

    /// R_0, or what belongs to this place of it.
    pub(crate) fn at(place: Option<Place>, system: &'a Cpds, symmetry: bool, tuning: Tuning) -> Self {
        let symmetry = Symmetry::new(system, symmetry);
        let mut stacks = Stacks::default();
        let initial: Vec<(u32, Vec<StackId>)> = system
            .initial()
            .iter()
            .map(|state| (state.shared.0, state.stacks.iter().map(|stack| stacks.intern(stack)).collect()))
            .collect();
        let layout = Layout::new(system.shared_names().len(), system.thread_count(), stacks.len());
        let mut reachable = Reachable {
            system,
            visible: VisibleLevels::new(system, &symmetry),
            moves: system.programs().iter().map(|_| StepCache::default()).collect(),
            programs: symmetry.programs(system),
            states: States::new(layout),
            levels: vec![0],
            reached_by: ThreadMasks::new(system.thread_count()),
            wave: Wave::new(system.thread_count()),
            reopens: Vec::new(),
            projected: 0,
            seen: 0,
            unfinished: false,
            highest: 0,
            ceiling: u32::MAX,
            expansions: 0,
            tuning,
            pulse: 0,
            batch: Batch::default(),
            scratch: Scratch::default(),
            crew: Crew::default(),
            outlet: place.map(|place| Box::new(Outlet::new(place, &symmetry, &stacks, tuning))),
            symmetry,
            stacks,
        };
        for (shared, by_thread) in initial {
            let mut locals = reachable.symmetry.placed(&by_thread);
            let heights = locals.iter().map(|&stack| reachable.stacks.height(stack));
            reachable.highest = heights.fold(reachable.highest, u32::max);
            reachable.symmetry.sort(&mut locals);
            let mut row = vec![0; reachable.states.layout().words()];
            reachable.states.layout().pack(&mut row, shared, locals);
            let is_here =
                reachable.outlet.as_ref().is_none_or(|outlet| outlet.is_ours(reachable.states.layout(), &row));
            if is_here && reachable.states.insert(&row, hash(&row)).1 {
                reachable.reached_by.push(None);
            }
        }
        reachable.project();
        reachable
    }

    /// As it was when it was saved.
    pub(crate) fn restored(system: &'a Cpds, symmetry: bool, saved: SavedReachable, tuning: Tuning) -> Self {
        let ((stacks, moves, states, levels, reached_by), (states_left, open, opened, reopened, reopens, pairs), rest) =
            saved;
        let (visible, projected, seen, unfinished, highest, expansions, pulse) = rest;
        let symmetry = Symmetry::new(system, symmetry);
        Reachable {
            visible: VisibleLevels::restored(&symmetry, visible),
            stacks,
            moves,
            states,
            levels,
            reached_by,
            wave: Wave { states: states_left, open, opened, reopened, pairs, done: 0 },
            reopens,
            projected,
            seen,
            unfinished,
            highest,
            expansions,
            pulse,
            ..Reachable::new(system, symmetry.has_groups(), tuning)
        }
    }

    /// Has as many cores work on it as it is told.
    pub(crate) fn with_crew(&mut self, crew: Crew) {
        self.crew = crew;
    }

    /// Leaves out every state with a higher stack than this, so that contexts are finite. What
    /// there is then is a part of R_k.
    pub(crate) fn goes_no_higher_than(&mut self, height: u32) {
        self.ceiling = height;
    }

    /// Whether the last level has been begun, and is to go on.
    pub(crate) fn is_going(&self) -> bool {
        self.unfinished
    }

    /// Whether every pair of the last wave has been expanded.
    pub(crate) fn is_between_waves(&self) -> bool {
        self.wave.is_over()
    }

    /// Whether anything has been found for the next wave.
    pub(crate) fn has_next_wave(&self) -> bool {
        self.wave.states.end < self.states.len() || !self.reopens.is_empty()
    }

    /// The last level that is finished.
    pub fn k(&self) -> usize {
        self.levels.len() - 1 - usize::from(self.unfinished)
    }

    /// Computes the next level. Now and then the watcher may look, and stop it.
    ///
    /// If it is stopped, what was found of the level is kept: all of it is in R_{k+1}. The next
    /// call goes on with it.
    pub fn advance<B>(&mut self, watch: &mut impl FnMut(&Self) -> ControlFlow<B>) -> ControlFlow<B> {
        if !self.unfinished {
            self.start_level();
        }
        let done = self.finish_level(watch);
        self.unfinished = done.is_break();
        done
    }

    /// From each state of the last level, for each thread that has not reached it itself.
    pub(crate) fn start_level(&mut self) {
        let last = self.range(self.k());
        let threads = self.programs.len();
        self.wave.open = std::mem::replace(&mut self.reached_by, ThreadMasks::new(threads));
        let (states, symmetry, start) = (&self.states, &self.symmetry, last.start);
        let is_wanted = |id, position| symmetry.stands_for_itself(states.layout(), states.row(start + id), position);
        self.crew.complement(&mut self.wave.open, threads, is_wanted);
        self.levels.push(last.end);
        (self.wave.opened, self.wave.states) = (last.start, last);
        self.visible.next_level();
        self.unfinished = true;
        self.pulse = self.expansions + self.tuning.check_interval_for(self.kept());
    }

    fn finish_level<B>(&mut self, watch: &mut impl FnMut(&Self) -> ControlFlow<B>) -> ControlFlow<B> {
        loop {
            while self.wave.take(PAIRS) {
                if !self.expand_wide() {
                    self.expand_pairs();
                }
                if self.expansions >= self.pulse {
                    self.pulse = self.expansions + self.tuning.check_interval_for(self.kept());
                    self.project();
                    self.seen = if self.is_between_waves() { self.visible.kept() } else { self.seen };
                    watch(self)?;
                }
            }
            self.project();
            if self.seen < self.visible.kept() {
                self.seen = self.visible.kept();
                watch(self)?;
            }
            self.start_wave();
            if self.is_between_waves() {
                return ControlFlow::Continue(());
            }
        }
    }

    /// From what this wave has reached.
    pub(crate) fn start_wave(&mut self) {
        let wave = &mut self.wave;
        wave.states = wave.states.end..self.states.len();
        wave.opened = wave.states.start;
        wave.open.set_from(&self.reached_by, wave.opened - self.levels[self.levels.len() - 1]);
        std::mem::swap(&mut wave.reopened, &mut self.reopens);
    }

    /// Expands the pairs that were taken, until the watcher is to look.
    pub(crate) fn expand_pairs(&mut self) {
        while let Some(&pair) = self.wave.next().first()
            && self.expansions < self.pulse
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

    /// Takes every step of a thread from a state. Where they lead is looked up later, many at a
    /// time.
    #[inline]
    fn expand(&mut self, pair: Pair) {
        let (id, position) = (pair.id as usize, usize::from(pair.position));
        let program = self.programs[position];
        let (layout, row) = (self.states.layout(), self.states.row(id));
        let thread_state = (layout.shared(row), layout.local(row, position));
        let moves = match self.moves[program].get(thread_state) {
            Some(((), moves)) => moves,
            None => self.new_moves(thread_state, program),
        };
        if moves.is_empty() {
            return;
        }
        self.expansions += moves.len() as u64;
        self.scratch.successors.prepare(&self.symmetry, self.states.layout(), self.states.row(id), position);
        if self.outlet.is_some() {
            return self.expand_here_and_there(pair, moves);
        }
        for index in moves {
            let successor = self.moves[program].successor(index);
            let (row, at) = self.scratch.successors.pack(self.states.layout(), successor);
            self.batch.push(row, at);
            if self.batch.hashes.len() == BATCH {
                self.look_up();
            }
        }
    }

    /// Looks up the states of the batch. A state of this level that was there before the wave is
    /// opened again for a thread that has not reached it before.
    pub(crate) fn look_up(&mut self) {
        let start = self.levels[self.levels.len() - 1];
        let Batch { rows, hashes, at } = &mut self.batch;
        if self.states.len() > SMALL {
            self.states.prefetch(hashes, |id| self.reached_by.first_of(id.wrapping_sub(start)));
        }
        let words = self.states.layout().words();
        for ((row, hash), at) in rows.chunks_exact(words).zip(hashes.drain(..)).zip(at.drain(..)) {
            let (id, new) = self.states.insert(row, hash);
            if new {
                self.reached_by.push(Some(at.into()));
            } else if id >= start && self.reached_by.add(id - start, at.into()) && id < self.wave.states.end {
                self.reopens.push(Pair { id: number_of(id), position: at });
            }
        }
        rows.clear();
    }

    /// The steps of a program from a thread state in which it has not been seen before.
    #[cold]
    pub(crate) fn new_moves(&mut self, (shared, stack): ThreadState, program: usize) -> Range<usize> {
        let mut found = std::mem::take(&mut self.scratch.found);
        found.clear();
        for (_, rule) in self.system.programs()[program].rules_from(SharedState(shared), self.stacks.top(stack)) {
            let (to, written) = rule.action.target();
            let stack = self.stacks.replace_top(stack, written);
            if self.stacks.height(stack) <= self.ceiling {
                self.highest = self.stacks.height(stack).max(self.highest);
                found.push((to.0, stack));
            }
        }
        self.make_room();
        let ((), moves) = self.moves[program].insert((shared, stack), (), found.iter().copied());
        self.scratch.found = found;
        moves
    }

    /// Sees to it that all stacks can be in rows.
    pub(crate) fn make_room(&mut self) {
        if !self.states.layout().has_room_for(self.stacks.len()) {
            self.look_up();
            let layout = Layout::new(self.system.shared_names().len(), self.programs.len(), self.stacks.len());
            self.states.set_layout(layout);
            if let Some(outlet) = &mut self.outlet {
                outlet.forget_rows();
            }
        }
    }

    /// T of the states that are new since it was last computed.
    pub(crate) fn project(&mut self) {
        let mut tops = std::mem::take(&mut self.scratch.tops);
        for id in self.projected..self.states.len() {
            let shared = tops_of(&self.stacks, (self.states.layout(), self.states.row(id)), &mut tops);
            self.visible.insert(shared, &mut tops);
        }
        self.projected = self.states.len();
        self.scratch.tops = tops;
    }

    pub(crate) fn range(&self, k: usize) -> Range<usize> {
        self.levels[k]..self.levels.get(k + 1).copied().unwrap_or(self.states.len())
    }

    /// Whether R_k \ R_{k-1} has any states. BadStates of the table: their number may be beyond
    /// counting.
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

    pub(crate) fn global_state(&self, shared: u32, by_thread: &[StackId]) -> GlobalState {
        GlobalState {
            shared: SharedState(shared),
            stacks: by_thread.iter().map(|&stack| self.stacks.stack(stack)).collect(),
        }
    }

    /// T(R_0) ⊆ … ⊆ T(R_k); what is there of an unfinished level comes last.
    pub fn visible(&self) -> &VisibleLevels {
        &self.visible
    }

    /// How many states are kept: R_k, up to symmetry.
    pub fn kept(&self) -> usize {
        self.states.len()
    }

    /// How many successors were looked up.
    pub fn expansions(&self) -> u64 {
        self.expansions
    }

    /// The height of the highest stack.
    pub fn highest(&self) -> u32 {
        self.highest
    }

    /// How many stacks there are, ε included, and what lies below others.
    pub fn stack_count(&self) -> usize {
        self.stacks.len()
    }

    /// The memory in use, in bytes, with as much room in the index as one core would have.
    pub fn bytes(&self) -> usize {
        self.bytes_after(0)
    }

    /// The most memory that may be in use until the watcher looks again.
    pub fn bytes_at_next_look(&self) -> usize {
        // Twice: on several cores the index has room for another round.
        self.bytes_after(2 * usize::try_from(self.tuning.check_interval_for(self.kept())).expect("small"))
    }

    pub(crate) fn bytes_after(&self, more: usize) -> usize {
        // Stacks and thread states have numbers of 32 bits; when these run out, it is as if the
        // memory did.
        let numbered = self.moves.iter().map(StepCache::len).fold(self.stacks.len(), usize::max);
        if numbered >= 1 << 31 {
            return usize::MAX;
        }
        let rest = self.stacks.bytes()
            + self.moves.iter().map(StepCache::bytes).sum::<usize>()
            + self.reached_by.bytes()
            + self.wave.open.bytes()
            + (self.wave.reopened_left() + self.reopens.len()) * size_of::<Pair>();
        self.states.bytes_after(more).saturating_add(self.visible.set().bytes_after(more)).saturating_add(rest)
    }
}

/// The number of a state: there are at most [`States::MAX_LEN`].
#[inline]
pub(crate) fn number_of(id: usize) -> u32 {
    u32::try_from(id).expect("the memory ends before")
}

/// Brings the states of pairs into the cache.
#[inline]
pub(crate) fn prefetch(states: &States, pairs: &[Pair]) {
    let row = |pair: &Pair| states.row(pair.id as usize)[0];
    std::hint::black_box(pairs.iter().fold(0, |seen, pair| seen ^ row(pair)));
}

impl Batch {
    #[inline]
    pub(crate) fn push(&mut self, row: &[u64], at: usize) {
        self.hashes.push(hash(row));
        for &word in row {
            self.rows.push(word);
        }
        self.at.push(u16::try_from(at).expect("there are fewer threads"));
    }
}

/// The tops of a state, by position, and its shared state.
#[inline]
pub(crate) fn tops_of(stacks: &Stacks, (layout, row): (&Layout, &[u64]), tops: &mut Vec<u32>) -> u32 {
    tops.clear();
    tops.extend(layout.locals(row).map(|stack| top_number(stacks.top(stack))));
    layout.shared(row)
}
