//! R_k and T(R_k) by explicit exploration, level by level (paper §2.3, §5).
//!
//! Level k runs, from each state that is new at level k-1, each thread that did not itself reach the state at that level. A
//! state found at level k remembers which threads reached it *at level k*; reached by another one, it is opened again for that
//! thread alone. So each pair of a state and a thread is expanded once, and no state of R_{k-1} is ever opened again:
//! - if thread i reached s at its level, i's context goes on from s at that level;
//! - otherwise i starts a context in s, at the next level.
//!
//! States are numbered as they are found. So R_k is a prefix of the numbers, a level a range of them, and no state has to
//! remember its level. No state remembers where it came from either: `witness.rs` finds out when it is wanted.
//!
//! # What is finite
//! R_k may be infinite, and then its level never ends. Thm. 17 says beforehand when that cannot be (`fcr.rs`); who explores all
//! the same has to stop the exploration.

use super::certificate::Tuples;
use super::count::Count;
use super::moves::{Moves, ThreadState};
use super::packed::{Layout, PackedSet, hash};
use super::reached_by::ReachedBy;
use super::stacks::{StackId, Stacks};
use super::symmetry::{Successors, Symmetry};
use super::visible::{VisibleLevels, top_number};
use cpds::{Cpds, GlobalState, SharedState};
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};

/// The sets R_0 ⊆ … ⊆ R_k and T(R_0) ⊆ … ⊆ T(R_k), as far as they were computed.
pub struct Reachable<'a> {
    pub(super) system: &'a Cpds,
    pub(super) symmetry: Symmetry,
    pub(super) stacks: Stacks,
    /// For each program, the thread states it has been seen in.
    moves: Vec<Moves>,
    programs: Vec<usize>,
    /// The sorted states of R_k, in the order in which they were found.
    pub(super) states: PackedSet,
    /// Level k has the states from `levels[k]` on, up to the next level.
    pub(super) levels: Vec<usize>,
    reached_by: ReachedBy,
    /// The same for the level before, while contexts start from its states; from those before this one they have.
    was_reached_by: ReachedBy,
    started: usize,
    /// The states of the last level before this one are expanded for the threads that had reached them when it was their turn.
    next: usize,
    /// States before `next`, with the position of a thread that has reached them since.
    reopened: Vec<(usize, usize)>,
    batch: Batch,
    visible: VisibleLevels,
    /// The states before this one are in `visible`.
    projected: usize,
    /// Whether the last level is not finished.
    unfinished: bool,
    highest: u32,
    expansions: u64,
    /// When the watcher looks again, in expansions.
    pulse: u64,
    scratch: Scratch,
}

/// What is saved of an exploration.
pub(super) type SavedReachable = (
    (Stacks, Vec<Moves>, PackedSet, Vec<usize>),
    (ReachedBy, ReachedBy, usize, usize, Vec<(usize, usize)>, Batch),
    ((PackedSet, Vec<usize>), usize, bool, u32, u64, u64),
);

#[derive(Default)]
struct Scratch {
    successors: Successors,
    found: Vec<ThreadState>,
    tops: Vec<u32>,
    open: Vec<usize>,
}

/// Successors that wait to be looked up.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Batch {
    rows: Vec<u64>,
    hashes: Vec<u64>,
    /// The position of the thread that reached each.
    at: Vec<usize>,
}

/// How many successors are looked up together: enough that the processor can wait for several parts of the memory at once.
const BATCH: usize = 64;

impl Batch {
    #[inline]
    fn push(&mut self, row: &[u64], at: usize) {
        self.hashes.push(hash(row));
        for &word in row {
            self.rows.push(word);
        }
        self.at.push(at);
    }
}

/// How many expansions there are, roughly, from one look of the watcher to the next. (Unit tests are about small systems.)
const PULSE: u64 = if cfg!(test) { 1 << 4 } else { 1 << 14 };

impl Serialize for Reachable<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (
            (&self.stacks, &self.moves, &self.states, &self.levels),
            (&self.reached_by, &self.was_reached_by, self.started, self.next, &self.reopened, &self.batch),
            (self.visible.saved(), self.projected, self.unfinished, self.highest, self.expansions, self.pulse),
        )
            .serialize(serializer)
    }
}

impl<'a> Reachable<'a> {
    /// R_0. With `symmetry`, interchangeable threads are treated as such; nothing that can be asked for depends on it, except
    /// for the counters [`kept`](Self::kept), [`expansions`](Self::expansions) and [`bytes`](Self::bytes).
    pub fn new(system: &'a Cpds, symmetry: bool) -> Self {
        let symmetry = Symmetry::new(system, symmetry);
        let mut stacks = Stacks::default();
        let initial: Vec<(u32, Vec<StackId>)> = system
            .initial()
            .iter()
            .map(|state| (state.shared.0, state.stacks.iter().map(|stack| stacks.intern(stack)).collect()))
            .collect();
        let programs = symmetry.programs(system);
        let layout = |locals| Layout::new(system.shared_names().len(), system.thread_count(), locals);
        let mut reachable = Reachable {
            system,
            states: PackedSet::new(layout(stacks.len())),
            visible: VisibleLevels::new(system, &symmetry),
            moves: system.programs().iter().map(|_| Moves::default()).collect(),
            highest: 0,
            reached_by: ReachedBy::new(system.thread_count()),
            was_reached_by: ReachedBy::new(system.thread_count()),
            started: 0,
            levels: vec![0],
            next: 0,
            reopened: Vec::new(),
            batch: Batch::default(),
            projected: 0,
            unfinished: false,
            expansions: 0,
            pulse: 0,
            scratch: Scratch::default(),
            symmetry,
            stacks,
            programs,
        };
        for (shared, by_thread) in initial {
            let mut locals = reachable.symmetry.placed(&by_thread);
            let heights = locals.iter().map(|&stack| reachable.stacks.height(stack));
            reachable.highest = heights.fold(reachable.highest, u32::max);
            reachable.symmetry.sort(&mut locals);
            let mut row = vec![0; reachable.states.layout().words()];
            reachable.states.layout().pack(&mut row, shared, locals);
            if reachable.states.insert(&row).1 {
                reachable.reached_by.push(None);
            }
        }
        reachable.project();
        reachable
    }

    /// As it was when it was saved.
    pub(super) fn restored(system: &'a Cpds, symmetry: bool, saved: SavedReachable) -> Self {
        let symmetry = Symmetry::new(system, symmetry);
        let ((stacks, moves, states, levels), level, (visible, projected, unfinished, highest, expansions, pulse)) =
            saved;
        let (reached_by, was_reached_by, started, next, reopened, batch) = level;
        Reachable {
            system,
            visible: VisibleLevels::restored(&symmetry, visible),
            programs: symmetry.programs(system),
            symmetry,
            stacks,
            moves,
            states,
            levels,
            reached_by,
            was_reached_by,
            started,
            next,
            reopened,
            batch,
            projected,
            unfinished,
            highest,
            expansions,
            pulse,
            scratch: Scratch::default(),
        }
    }

    /// Whether the last level has been begun, and is to go on.
    pub(super) fn is_going(&self) -> bool {
        self.unfinished
    }

    /// The last level that is finished.
    pub fn k(&self) -> usize {
        self.levels.len() - 1 - usize::from(self.unfinished)
    }

    /// Computes the next level. Now and then the watcher may look, and stop it.
    ///
    /// If it is stopped, what was found of the level is kept: all of it is in R_{k+1}. The next call goes on with it.
    pub fn advance<B>(&mut self, watch: &mut impl FnMut(&Self) -> ControlFlow<B>) -> ControlFlow<B> {
        if !self.unfinished {
            self.start_level();
        }
        let done = self.finish_level(watch);
        self.project();
        self.unfinished = done.is_break();
        done
    }

    fn start_level(&mut self) {
        let before = self.range(self.k());
        self.started = before.start;
        self.next = before.end;
        self.was_reached_by = std::mem::replace(&mut self.reached_by, ReachedBy::new(self.programs.len()));
        self.levels.push(before.end);
        self.visible.next_level();
        self.unfinished = true;
        self.pulse = self.expansions + PULSE;
    }

    fn finish_level<B>(&mut self, watch: &mut impl FnMut(&Self) -> ControlFlow<B>) -> ControlFlow<B> {
        let before = self.range(self.levels.len() - 2);
        let start = before.end;
        let mut look = |reachable: &mut Self| {
            if reachable.expansions < reachable.pulse {
                return ControlFlow::Continue(());
            }
            reachable.pulse = reachable.expansions + PULSE;
            reachable.project();
            watch(reachable)
        };
        // Contexts that start at this level …
        while self.started < start {
            let id = self.started;
            self.started += 1;
            for position in 0..self.programs.len() {
                if !self.was_reached_by.has(id - before.start, position)
                    && self.symmetry.stands_for_itself(self.states.layout(), self.states.row(id), position)
                {
                    self.expand(id, position);
                }
            }
            look(self)?;
        }
        self.was_reached_by = ReachedBy::new(self.programs.len());
        // … and how they go on.
        loop {
            if let Some((id, position)) = self.reopened.pop() {
                self.expand(id, position);
            } else if self.next < self.states.len() {
                let id = self.next;
                self.next += 1;
                let mut open = std::mem::take(&mut self.scratch.open);
                open.clear();
                open.extend((0..self.programs.len()).filter(|&position| self.reached_by.has(id - start, position)));
                for &position in &open {
                    self.expand(id, position);
                }
                self.scratch.open = open;
            } else if !self.batch.at.is_empty() {
                self.look_up();
            } else {
                break;
            }
            look(self)?;
        }
        ControlFlow::Continue(())
    }

    /// Takes every step of the thread at `position` from a state. Where they lead is looked up later, many at a time.
    #[inline]
    fn expand(&mut self, id: usize, position: usize) {
        let row = self.states.row(id);
        let layout = self.states.layout();
        let thread_state = (layout.shared(row), layout.local(row, position));
        let program = self.programs[position];
        let moves = match self.moves[program].get(thread_state) {
            Some(((), moves)) => moves,
            None => self.new_moves(thread_state, position),
        };
        if moves.is_empty() {
            return;
        }
        self.expansions += moves.len() as u64;
        self.scratch.successors.prepare(&self.symmetry, self.states.layout(), self.states.row(id), position);
        for index in moves {
            let successor = self.moves[program].successor(index);
            let (row, at) = self.scratch.successors.pack(self.states.layout(), successor);
            self.batch.push(row, at);
            if self.batch.at.len() == BATCH {
                self.look_up();
            }
        }
    }

    /// Looks up the states of the batch. The states of this level before `next` have been expanded for the threads that had
    /// reached them; a state among them that is now reached by another thread is reopened for it.
    fn look_up(&mut self) {
        let start = self.levels[self.levels.len() - 1];
        let Batch { rows, hashes, at } = &mut self.batch;
        self.states.prefetch(hashes);
        for ((row, &hash), &at) in rows.chunks_exact(self.states.layout().words()).zip(&*hashes).zip(&*at) {
            let (found, new) = self.states.insert_hashed(row, hash);
            if new {
                self.reached_by.push(Some(at));
            } else if found >= start && self.reached_by.add(found - start, at) && found < self.next {
                self.reopened.push((found, at));
            }
        }
        rows.clear();
        hashes.clear();
        at.clear();
    }

    /// The steps of the thread at `position` from a thread state in which its program has not been seen before.
    #[cold]
    fn new_moves(&mut self, (shared, stack): ThreadState, position: usize) -> Range<usize> {
        let program = self.programs[position];
        let mut found = std::mem::take(&mut self.scratch.found);
        found.clear();
        for (_, rule) in self.system.programs()[program].rules_from(SharedState(shared), self.stacks.top(stack)) {
            let (to, written) = rule.action.target();
            let stack = self.stacks.replace_top(stack, written);
            self.highest = self.stacks.height(stack).max(self.highest);
            found.push((to.0, stack));
        }
        if !self.states.layout().has_room_for(self.stacks.len()) {
            self.look_up();
            let layout = Layout::new(self.system.shared_names().len(), self.programs.len(), self.stacks.len());
            self.states.set_layout(layout);
        }
        let ((), moves) = self.moves[program].insert((shared, stack), (), found.iter().copied());
        self.scratch.found = found;
        moves
    }

    /// T of the states that are new since it was last computed.
    fn project(&mut self) {
        let mut tops = std::mem::take(&mut self.scratch.tops);
        for id in self.projected..self.states.len() {
            let shared = self.tops(id, &mut tops);
            self.visible.insert(shared, &mut tops);
        }
        self.projected = self.states.len();
        self.scratch.tops = tops;
    }

    /// The tops of a state, by position, and its shared state.
    pub(super) fn tops(&self, id: usize, tops: &mut Vec<u32>) -> u32 {
        let (layout, row) = (self.states.layout(), self.states.row(id));
        tops.clear();
        tops.extend(layout.locals(row).map(|stack| top_number(self.stacks.top(stack))));
        layout.shared(row)
    }

    pub(super) fn range(&self, k: usize) -> Range<usize> {
        self.levels[k]..self.levels.get(k + 1).copied().unwrap_or(self.states.len())
    }

    /// Whether R_k \ R_{k-1} has any states. Asked of the table: their number may be beyond counting.
    pub fn has_new_states(&self, k: usize) -> bool {
        !self.range(k).is_empty()
    }

    /// |R_k \ R_{k-1}|.
    pub fn new_states(&self, k: usize) -> Count {
        self.symmetry.sum_of_orbits(&self.states, self.range(k))
    }

    /// R_k \ R_{k-1}.
    pub fn states(&self, k: usize) -> BTreeSet<GlobalState> {
        let members = |id: usize| {
            let row = self.states.row(id);
            let locals: Vec<u32> = self.states.layout().locals(row).collect();
            let shared = self.states.layout().shared(row);
            self.symmetry.members(locals).map(move |member| (shared, member))
        };
        let states = self.range(k).flat_map(members);
        states.map(|(shared, member)| self.global_state(shared, &self.symmetry.by_thread(member))).collect()
    }

    /// The states before this number, each as a tuple of languages with one word.
    pub(super) fn tuples(&self, end: usize) -> Tuples {
        let states = (&self.states, 0..end);
        Tuples::new(&self.symmetry, self.stacks.automaton(), states, |_, stack| stack, true)
    }

    pub(super) fn global_state(&self, shared: u32, by_thread: &[StackId]) -> GlobalState {
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

    /// The memory in use, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes_after(0)
    }

    /// The most memory that may be in use until the watcher looks again.
    pub fn bytes_at_next_look(&self) -> usize {
        self.bytes_after(2 * usize::try_from(PULSE).expect("small"))
    }

    fn bytes_after(&self, more: usize) -> usize {
        // Stacks and thread states have numbers of 32 bits; when these run out, it is as if the memory did.
        let numbered = self.moves.iter().map(Moves::len).fold(self.stacks.len(), usize::max);
        if numbered >= 1 << 31 {
            return usize::MAX;
        }
        let rest = self.reached_by.bytes()
            + self.reopened.len() * size_of::<(usize, usize)>()
            + self.stacks.bytes()
            + self.moves.iter().map(Moves::bytes).sum::<usize>();
        self.states.bytes_after(more).saturating_add(self.visible.set().bytes_after(more)).saturating_add(rest)
    }
}
