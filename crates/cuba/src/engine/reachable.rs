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
//! R_k may be infinite. A context that starts at height h ≥ 1 and is finite raises the stack by at most the number of
//! thread-visible states (q,σ) from which its program pushes: for each height between, take the last push to it; if two of
//! them start from the same (q,σ), then ⟨q|σ⟩ →* ⟨q|σw⟩ with w ≠ ε, which can be repeated for ever. So when a stack gets
//! higher than that, the level is infinite. What lies below that height is explored all the same, since a bad state may be
//! there and should not be found or missed by chance; then the exploration ends. (It may run out of memory before.)

use super::count::Count;
use super::moves::{Moves, ThreadState};
use super::packed::{Layout, PackedSet, hash};
use super::stacks::{StackId, Stacks};
use super::symmetry::{Successors, Symmetry};
use super::visible::{top_number, visible_states};
use cpds::{Action, Cpds, GlobalState, Program, SharedState, VisibleState};
use std::collections::{BTreeSet, HashSet};
use std::ops::{ControlFlow, Range};

/// The sets R_0 ⊆ … ⊆ R_k and T(R_0) ⊆ … ⊆ T(R_k), as far as they were computed.
pub struct Reachable<'a> {
    pub(super) system: &'a Cpds,
    pub(super) symmetry: Symmetry,
    pub(super) stacks: Stacks,
    /// For each program, the thread states it has been seen in.
    moves: Vec<Moves>,
    /// The program at each position; where threads of a group run several with the same actions, the first of them.
    programs: Vec<usize>,
    /// The sorted states of R_k, in the order in which they were found.
    pub(super) states: PackedSet,
    /// Level k has the states from `levels[k]` on, up to the next level.
    pub(super) levels: Vec<usize>,
    reached_by: ReachedBy,
    /// The states of the last level before this one are expanded for the threads that had reached them when it was their turn.
    next: usize,
    /// States before `next`, with the position of a thread that has reached them since.
    reopened: Vec<(usize, usize)>,
    batch: Batch,
    /// T(R_k), and its levels.
    visible: PackedSet,
    visible_levels: Vec<usize>,
    /// The states before this one are in `visible`.
    projected: usize,
    /// Whether the last level is not finished.
    unfinished: bool,
    /// From how many thread-visible states (q,σ) each program pushes.
    pushes_from: Vec<u32>,
    highest: u32,
    /// The highest stack before this level, or 1.
    base: u32,
    /// A program that has an infinite context at this level; the first of them.
    infinite: Option<usize>,
    expansions: u64,
    scratch: Scratch,
}

#[derive(Default)]
struct Scratch {
    successors: Successors,
    found: Vec<ThreadState>,
    tops: Vec<u32>,
    open: Vec<usize>,
}

/// Successors that wait to be looked up.
#[derive(Default)]
struct Batch {
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

/// Why a level was not finished.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unfinished<B> {
    /// The level is infinite: within one context, a thread of the program at this position in [`Cpds::programs`] can raise its
    /// stack for ever.
    InfiniteContext(usize),
    /// The watcher said so.
    Stopped(B),
}

/// How many expansions there are, roughly, from one look of the watcher to the next.
const PULSE: u64 = 1 << 14;

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
        let first_of_group = |position| symmetry.threads()[symmetry.group(position).start];
        let programs = (0..system.thread_count()).map(|i| system.program_index(first_of_group(i))).collect();
        let layout = |locals| Layout::new(system.shared_names().len(), system.thread_count(), locals);
        let mut reachable = Reachable {
            system,
            states: PackedSet::new(layout(stacks.len())),
            visible: PackedSet::new(layout(system.symbol_names().len() + 1)),
            moves: system.programs().iter().map(|_| Moves::default()).collect(),
            pushes_from: system.programs().iter().map(pushes_from).collect(),
            highest: 0,
            base: 0,
            infinite: None,
            reached_by: ReachedBy::new(system.thread_count()),
            levels: vec![0],
            next: 0,
            reopened: Vec::new(),
            batch: Batch::default(),
            visible_levels: vec![0],
            projected: 0,
            unfinished: false,
            expansions: 0,
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

    /// The last level that is finished.
    pub fn k(&self) -> usize {
        self.levels.len() - 1 - usize::from(self.unfinished)
    }

    /// Computes the next level. Now and then the watcher may look, and stop it.
    ///
    /// # Errors
    /// If the level is not finished. What was found of it is kept: all of it is in R_{k+1}. There is no going on.
    pub fn advance<B>(&mut self, watch: &mut impl FnMut(&Self) -> ControlFlow<B>) -> Result<(), Unfinished<B>> {
        let done = self.next_level(watch);
        self.project();
        self.unfinished = done.is_err();
        done
    }

    fn next_level<B>(&mut self, watch: &mut impl FnMut(&Self) -> ControlFlow<B>) -> Result<(), Unfinished<B>> {
        assert!(!self.unfinished, "the level before is finished");
        let before = self.range(self.k());
        let start = before.end;
        self.next = start;
        let was_reached_by = std::mem::replace(&mut self.reached_by, ReachedBy::new(self.programs.len()));
        self.levels.push(start);
        self.visible_levels.push(self.visible.len());
        self.unfinished = true;
        self.base = self.highest.max(1);

        let mut pulse = self.expansions + PULSE;
        let mut look = |reachable: &mut Self| -> Result<(), Unfinished<B>> {
            if reachable.expansions < pulse {
                return Ok(());
            }
            pulse = reachable.expansions + PULSE;
            reachable.project();
            match watch(reachable) {
                ControlFlow::Continue(()) => Ok(()),
                ControlFlow::Break(why) => Err(Unfinished::Stopped(why)),
            }
        };
        // Contexts that start at this level …
        for id in before.clone() {
            for position in 0..self.programs.len() {
                if !was_reached_by.has(id - before.start, position)
                    && self.symmetry.stands_for_itself(self.states.layout(), self.states.row(id), position)
                {
                    self.expand(id, position);
                    look(self)?;
                }
            }
        }
        drop(was_reached_by);
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
                    look(self)?;
                }
                self.scratch.open = open;
            } else if !self.batch.at.is_empty() {
                self.look_up();
            } else {
                break;
            }
            look(self)?;
        }
        self.infinite.map_or(Ok(()), |program| Err(Unfinished::InfiniteContext(program)))
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

    /// The steps of the thread at `position` from a thread state in which its program has not been seen before. A step that
    /// proves the context infinite is noted, and not taken.
    #[cold]
    fn new_moves(&mut self, (shared, stack): ThreadState, position: usize) -> Range<usize> {
        let program = self.programs[position];
        let mut found = std::mem::take(&mut self.scratch.found);
        found.clear();
        for (_, rule) in self.system.programs()[program].rules_from(SharedState(shared), self.stacks.top(stack)) {
            let (to, written) = rule.action.target();
            let stack = self.stacks.replace_top(stack, written);
            let height = self.stacks.height(stack);
            if height > self.base + self.pushes_from[program] {
                self.infinite = Some(self.infinite.map_or(program, |other| other.min(program)));
            } else {
                self.highest = height.max(self.highest);
                found.push((to.0, stack));
            }
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
        let mut row = vec![0; self.visible.layout().words()];
        for id in self.projected..self.states.len() {
            self.pack_visible(id, &mut tops, &mut row);
            self.visible.insert(&row);
        }
        self.projected = self.states.len();
        self.scratch.tops = tops;
    }

    /// T of a state, as a row of `visible`.
    pub(super) fn pack_visible(&self, id: usize, tops: &mut Vec<u32>, row: &mut [u64]) {
        let shared = self.tops(id, tops);
        self.symmetry.sort(tops);
        self.visible.layout().pack(row, shared, tops.iter().copied());
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

    fn visible_range(&self, k: usize) -> Range<usize> {
        self.visible_levels[k]..self.visible_levels.get(k + 1).copied().unwrap_or(self.visible.len())
    }

    /// Whether R_k \ R_{k-1} has any states. Asked of the table: their number may be beyond counting.
    pub fn has_new_states(&self, k: usize) -> bool {
        !self.range(k).is_empty()
    }

    /// Whether T(R_k) \ T(R_{k-1}) has any.
    pub fn has_new_visible_states(&self, k: usize) -> bool {
        !self.visible_range(k).is_empty()
    }

    /// |R_k \ R_{k-1}|.
    pub fn new_states(&self, k: usize) -> Count {
        self.symmetry.sum_of_orbits(&self.states, self.range(k))
    }

    /// |T(R_k) \ T(R_{k-1})|.
    pub fn new_visible_states(&self, k: usize) -> Count {
        self.symmetry.sum_of_orbits(&self.visible, self.visible_range(k))
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

    /// T(R_k) \ T(R_{k-1}).
    pub fn visible_states(&self, k: usize) -> BTreeSet<VisibleState> {
        visible_states(&self.symmetry, &self.visible, self.visible_range(k)).collect()
    }

    pub(super) fn global_state(&self, shared: u32, by_thread: &[StackId]) -> GlobalState {
        GlobalState {
            shared: SharedState(shared),
            stacks: by_thread.iter().map(|&stack| self.stacks.stack(stack)).collect(),
        }
    }

    /// T(R_k) as sorted states, in the order in which they were found; those of an unfinished level are at the end.
    pub(crate) fn visible(&self) -> &PackedSet {
        &self.visible
    }

    /// How many of them are in T(R_k) for the last level that is finished.
    pub(crate) fn finished_visible(&self) -> usize {
        self.visible_range(self.k()).end
    }

    /// How many states are kept: R_k, up to symmetry.
    pub fn kept(&self) -> usize {
        self.states.len()
    }

    /// How many visible states are kept.
    pub fn kept_visible(&self) -> usize {
        self.visible.len()
    }

    /// How many successors were looked up.
    pub fn expansions(&self) -> u64 {
        self.expansions
    }

    /// The height of the highest stack.
    pub fn highest(&self) -> u32 {
        self.highest
    }

    /// A program whose threads can raise their stack for ever in the level after [`k`](Self::k), if that has turned out.
    pub fn infinite_context(&self) -> Option<usize> {
        self.infinite
    }

    /// By how much a finite context can raise a stack.
    pub fn finite_rise(&self) -> u32 {
        self.pushes_from.iter().copied().max().unwrap_or(0)
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
        let rest = self.reached_by.bits.len()
            + self.reopened.len() * size_of::<(usize, usize)>()
            + self.stacks.bytes()
            + self.moves.iter().map(Moves::bytes).sum::<usize>();
        self.states.bytes_after(more).saturating_add(self.visible.bytes_after(more)).saturating_add(rest)
    }
}

fn pushes_from(program: &Program) -> u32 {
    let pushes = program.rules().iter().filter(|rule| matches!(rule.action, Action::Push { .. }));
    let sources: HashSet<_> = pushes.map(|rule| rule.action.source()).collect();
    u32::try_from(sources.len()).expect("actions are limited")
}

/// For each state of a level, the positions of the threads that reached it at that level.
struct ReachedBy {
    /// How many bytes a state has, one bit a position.
    stride: usize,
    bits: Vec<u8>,
}

impl ReachedBy {
    fn new(threads: usize) -> Self {
        ReachedBy { stride: threads.div_ceil(8), bits: Vec::new() }
    }

    /// Adds a state.
    #[inline]
    fn push(&mut self, position: Option<usize>) {
        let len = self.bits.len();
        self.bits.resize(len + self.stride, 0);
        if let Some(position) = position {
            self.bits[len + position / 8] |= 1 << (position % 8);
        }
    }

    #[inline]
    fn has(&self, state: usize, position: usize) -> bool {
        self.bits[state * self.stride + position / 8] & (1 << (position % 8)) != 0
    }

    /// Adds a position, and says whether it is new.
    #[inline]
    fn add(&mut self, state: usize, position: usize) -> bool {
        let (byte, bit) = (&mut self.bits[state * self.stride + position / 8], 1 << (position % 8));
        let new = *byte & bit == 0;
        *byte |= bit;
        new
    }
}
