//! A trace from the levels of R_k, found backwards, context by context.
//!
//! The exploration stores no predecessors of states. (One predecessor for each state would not be
//! enough: two threads may reach a state at the same level, and the trace continues differently for
//! each of them.) A context of some thread i leads from a state of level k-1 to a state of level k
//! ≥ 1. The two states differ only in the shared state and in the stack of thread i. So for each
//! thread, one pass over level k-1 finds the possible starts. Then one breadth-first search follows
//! all threads from their starts, until one of them reaches the given state. The result is a
//! shortest context. (One search for each thread would not work: if the level is not finished, the
//! search of a thread that did not reach the state may be infinite.)
//!
//! The levels are in this process, or in shares (`distributed/coordinator.rs`). Queries and replies
//! name stacks by their content, not by numbers.
//!
//! Every choice depends on the content of stacks, never on numbers. So the trace does not depend on
//! the order in which the search has found the states.

use crate::explicit::projection::tops_of;
use crate::explicit::reachable::Reachable;
use crate::explicit::tables::stack_table::{StackId, Stacks};
use crate::tables::step_cache::ThreadState;
use crate::trace::fewest_steps::{SortedState, with_fewest_steps};
use crate::trace::last_context::{LastContext, LastContextStart};
use crate::trace::search_budget::SearchBudget;
use crate::trace::thread_steps::steps_from;
use crate::visible::bad_patterns::BadPatterns;
use crate::visible::levels::top_number;
use crate::visible::symmetry::Symmetry;
use cpds::{Context, Cpds, GlobalState, SharedState, Stack, ThreadId, Trace, TraceStep};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::convert::Infallible;

/// The most stack symbols in all states of a trace together.
const MAX_TRACE_SYMBOLS: usize = 1 << 26;

/// Queries about the levels of R_k. The levels are in this process or in shares.
pub(crate) trait LevelQueries {
    /// The reason why a query has no reply.
    type Error;

    /// Returns the best end of a trace among the states with this visible state. There is such a
    /// state.
    fn best(&mut self, visible: &[u64]) -> Result<TraceEnd, Self::Error>;

    /// Returns, for each of these threads, its thread states in those states of the level in which
    /// the other threads have the given stacks. The thread states are sorted, without duplicates.
    fn starts(
        &mut self,
        level: usize,
        by_thread: &[Stack],
        threads: &[ThreadId],
    ) -> Result<Vec<Vec<ThreadStart>>, Self::Error>;

    /// Returns the stack table to which the stack numbers in the following queries and replies
    /// refer. It may have more stacks, and the caller may add stacks.
    fn stacks(&self) -> Stacks;

    /// Returns, for each group in order, the thread states of its threads in the states of this
    /// level, without duplicates. If there are more than `most`, the reply has some of them, more
    /// than `most`.
    fn thread_states(
        &mut self,
        level: usize,
        most: usize,
        stacks: &mut Stacks,
    ) -> Result<Vec<Vec<ThreadState>>, Self::Error>;

    /// Returns the states of this level in which one of these last contexts can start. If there are
    /// more than `most`, the reply has some of them, more than `most`.
    fn near(
        &mut self,
        level: usize,
        ways: &[LastContext],
        most: usize,
        stacks: &mut Stacks,
    ) -> Result<Vec<LastContextStart>, Self::Error>;

    /// Returns the level of each of these states, if the levels contain the state.
    fn levels_of(&mut self, states: &[&SortedState], stacks: &Stacks) -> Result<Vec<Option<usize>>, Self::Error>;
}

/// A state to which a trace may lead. The best end is the least in this order: by level, by the
/// number of symbols, and by the contents of the stacks.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TraceEnd {
    pub(crate) level: usize,
    pub(crate) symbols: u64,
    /// By position, sorted within each group of interchangeable threads.
    pub(crate) stacks: Vec<Stack>,
}

/// A thread state with the content of its stack, in which a context may start.
pub(crate) type ThreadStart = (u32, Stack);

/// The search backwards through the levels, with its own stack table.
pub(crate) struct BackwardSearch<'w> {
    pub(crate) system: &'w Cpds,
    pub(crate) symmetry: &'w Symmetry,
    /// The height of the highest stack in the levels.
    pub(crate) highest: u32,
    pub(crate) stacks: Stacks,
}

/// A state with its stacks by thread, not sorted within groups.
#[derive(Clone)]
struct UnsortedState {
    shared: u32,
    stacks: Vec<StackId>,
}

/// Queries about levels in this process.
impl LevelQueries for &Reachable<'_> {
    type Error = Infallible;

    fn best(&mut self, visible: &[u64]) -> Result<TraceEnd, Infallible> {
        Ok(self.best_state(visible).expect("each visible state belongs to a state"))
    }

    fn starts(
        &mut self,
        level: usize,
        by_thread: &[Stack],
        threads: &[ThreadId],
    ) -> Result<Vec<Vec<ThreadStart>>, Infallible> {
        Ok(threads.iter().map(|&thread| self.starts_of(level, by_thread, thread)).collect())
    }

    /// Returns a copy of the stack table. No state contains a stack that the caller adds.
    fn stacks(&self) -> Stacks {
        Reachable::stacks(self).clone()
    }

    fn thread_states(
        &mut self,
        level: usize,
        most: usize,
        _: &mut Stacks,
    ) -> Result<Vec<Vec<ThreadState>>, Infallible> {
        Ok(Reachable::thread_states(self, level, most))
    }

    fn near(
        &mut self,
        level: usize,
        ways: &[LastContext],
        most: usize,
        _: &mut Stacks,
    ) -> Result<Vec<LastContextStart>, Infallible> {
        Ok(Reachable::near(self, level, ways, most))
    }

    fn levels_of(&mut self, states: &[&SortedState], _: &Stacks) -> Result<Vec<Option<usize>>, Infallible> {
        Ok(states.iter().map(|(shared, stacks)| self.level_of(*shared, stacks)).collect())
    }
}

impl Reachable<'_> {
    /// Returns a trace with the fewest contexts to a state with this visible state; `None` if its
    /// states have too many symbols. `arrange` permutes a sorted state with this shared state and
    /// these tops: for each position, it returns the position from which the stack comes.
    ///
    /// The trace leads to the best end ([`TraceEnd`]).
    pub(crate) fn trace_to_visible(
        &self,
        visible: usize,
        arrange: impl Fn(u32, &[u32]) -> Option<Vec<usize>>,
    ) -> Option<Trace> {
        let set = self.visible().set();
        let shared = set.layout().shared(set.row(visible));
        let search = BackwardSearch {
            system: self.system(),
            symmetry: self.symmetry(),
            highest: self.highest(),
            stacks: Stacks::default(),
        };
        let Ok(trace) = search.trace(&mut &*self, shared, set.row(visible), arrange);
        trace
    }

    /// Returns a trace to a bad state with the fewest contexts and, within the budget, the fewest
    /// steps. `visible` is the number of the first bad visible state, and `pattern` the pattern
    /// that it fits.
    pub(crate) fn trace_to_bad(
        &self,
        bad: &BadPatterns,
        visible: usize,
        pattern: usize,
        budget: &SearchBudget,
    ) -> Option<Trace> {
        let trace = self.trace_to_visible(visible, |shared, tops| {
            bad.arrange(pattern, shared, |position, top| tops[position] == top)
        })?;
        let Ok(trace) = with_fewest_steps((self.system(), self.symmetry()), bad, self, budget, trace);
        Some(trace)
    }

    /// Returns the best end of a trace among the stored states with this visible state.
    pub(crate) fn best_state(&self, visible: &[u64]) -> Option<TraceEnd> {
        let (mut tops, mut row) = (Vec::new(), visible.to_vec());
        let mut fits = |id: &usize| {
            let shared =
                tops_of(self.stacks(), (self.sorted_states().layout(), self.sorted_states().row(*id)), &mut tops);
            self.visible().pack(shared, &mut tops, &mut row);
            row == visible
        };
        let first = (0..self.sorted_states().len()).find(&mut fits)?;
        let level = self.level_of_number(first);
        let symbols = |id: usize| -> u64 {
            let locals = self.sorted_states().layout().locals(self.sorted_states().row(id));
            locals.map(|stack| u64::from(self.stacks().height(stack))).sum()
        };
        let mut best = (u64::MAX, Vec::new());
        for id in first..self.range(level).end {
            if symbols(id) <= best.0 && fits(&id) {
                let locals = self.sorted_states().layout().locals(self.sorted_states().row(id));
                best = best.min((symbols(id), sorted_by_content(self.symmetry(), self.stacks(), locals)));
            }
        }
        Some(TraceEnd { level, symbols: best.0, stacks: best.1 })
    }

    /// Returns the thread states of `thread` in those states of the level in which the other
    /// threads have the given stacks, sorted.
    pub(crate) fn starts_of(&self, level: usize, by_thread: &[Stack], thread: ThreadId) -> Vec<ThreadStart> {
        let position = self.symmetry().position(thread);
        let moving = self.symmetry().group(position);
        let mut others = self.symmetry().placed(by_thread);
        others.remove(position);
        // A stack that is not in the table is in no state.
        let Some(mut others) = others.iter().map(|stack| self.stacks().find(stack)).collect::<Option<Vec<_>>>() else {
            return Vec::new();
        };
        // Sort the stacks of the other threads. The group of `thread` has one stack less.
        for group in self.symmetry().groups() {
            let shift = usize::from(group.start > moving.start);
            let end = group.end - usize::from(group.end >= moving.end);
            others[group.start - shift..end].sort_unstable();
        }
        let layout = self.sorted_states().layout();
        let fits = |id| {
            let row = self.sorted_states().row(id);
            // If the row without one stack of the group equals `others`, that stack is the first
            // one that differs from `others`.
            let other = |i: usize| others.get(i).copied();
            let left_out = moving
                .clone()
                .find(|&i| i + 1 == moving.end || other(i) != Some(layout.local(row, i)))
                .expect("not empty");
            let rest = (0..=others.len()).filter(|&i| i != left_out).map(|i| layout.local(row, i));
            rest.eq(others.iter().copied()).then(|| (layout.shared(row), layout.local(row, left_out)))
        };
        let mut starts: Vec<ThreadState> = self.range(level).filter_map(fits).collect();
        starts.sort_unstable();
        starts.dedup();
        let mut starts: Vec<ThreadStart> =
            starts.into_iter().map(|(shared, stack)| (shared, self.stacks().stack(stack))).collect();
        starts.sort_unstable();
        starts
    }
}

/// Returns the contents of the stacks of a state, by position, sorted within each group of
/// interchangeable threads.
pub(super) fn sorted_by_content(
    symmetry: &Symmetry,
    stacks: &Stacks,
    by_position: impl Iterator<Item = StackId>,
) -> Vec<Stack> {
    let mut contents: Vec<Stack> = by_position.map(|id| stacks.stack(id)).collect();
    for group in symmetry.groups() {
        contents[group].sort_unstable();
    }
    contents
}

impl BackwardSearch<'_> {
    /// Returns a trace to the best state with this shared state and visible state, as in
    /// [`Reachable::trace_to_visible`].
    pub(crate) fn trace<L: LevelQueries>(
        mut self,
        levels: &mut L,
        shared: u32,
        visible: &[u64],
        arrange: impl Fn(u32, &[u32]) -> Option<Vec<usize>>,
    ) -> Result<Option<Trace>, L::Error> {
        let TraceEnd { level, stacks, .. } = levels.best(visible)?;
        let tops: Vec<u32> = stacks.iter().map(|stack| top_number(stack.top())).collect();
        let from = arrange(shared, &tops).expect("it fits the pattern");
        let stacks = self.symmetry.by_thread(from.into_iter().map(|position| self.stacks.intern(&stacks[position])));
        self.trace_to(levels, level, UnsortedState { shared, stacks })
    }

    /// Returns a trace with k contexts to a state of level k; `None` if its states have too many
    /// symbols.
    fn trace_to<L: LevelQueries>(
        &mut self,
        levels: &mut L,
        k: usize,
        mut state: UnsortedState,
    ) -> Result<Option<Trace>, L::Error> {
        let mut contexts = Vec::new();
        let mut symbols = 0;
        for level in (0..k).rev() {
            let (thread, path) = self.last_context(levels, level, &state)?;
            let mut before = state.clone();
            (before.shared, before.stacks[thread.index()]) = path[0];
            let height = |&stack: &StackId| self.stacks.height(stack) as usize;
            let others: usize = before.stacks.iter().map(height).sum::<usize>() - height(&path[0].1);
            symbols += path[1..].iter().map(|(_, stack)| others + height(stack)).sum::<usize>();
            if symbols > MAX_TRACE_SYMBOLS {
                return Ok(None);
            }
            contexts.push(self.context(thread, &before, &path));
            state = before;
        }
        contexts.reverse();
        Ok(Some(Trace { initial: self.global_state(&state), contexts }))
    }

    /// Returns a thread that reaches `state` from a state of this level with the fewest steps, and
    /// its thread states on this path.
    fn last_context<L: LevelQueries>(
        &mut self,
        levels: &mut L,
        level: usize,
        state: &UnsortedState,
    ) -> Result<(ThreadId, Vec<ThreadState>), L::Error> {
        // Of interchangeable threads with equal stacks, only the first one is needed.
        let is_wanted = |&thread: &ThreadId| {
            let group = self.symmetry.group(self.symmetry.position(thread));
            let mut others = self.symmetry.threads()[group].iter().take_while(|&&other| other < thread);
            !others.any(|other| state.stacks[other.index()] == state.stacks[thread.index()])
        };
        let threads: Vec<ThreadId> = self.system.threads().filter(is_wanted).collect();
        let starts = levels.starts(level, &self.global_state(state).stacks, &threads)?;
        let mut from: FxHashMap<(ThreadId, ThreadState), ThreadState> = FxHashMap::default();
        let mut queue = Vec::new();
        for (&thread, starts) in threads.iter().zip(starts) {
            for (shared, stack) in starts {
                let start = (shared, self.stacks.intern(&stack));
                from.insert((thread, start), start);
                queue.push((thread, start));
            }
        }
        let mut next = 0;
        loop {
            let &(thread, before) = queue.get(next).expect("some thread reached the state");
            next += 1;
            let end = (state.shared, state.stacks[thread.index()]);
            for successor in self.thread_successors(thread, before) {
                if let Entry::Vacant(new) = from.entry((thread, successor)) {
                    new.insert(before);
                    queue.push((thread, successor));
                    if successor == end {
                        let back =
                            |&state: &ThreadState| Some(from[&(thread, state)]).filter(|&before| before != state);
                        let mut path: Vec<_> = std::iter::successors(Some(end), back).collect();
                        path.reverse();
                        return Ok((thread, path));
                    }
                }
            }
        }
    }

    /// Returns the successors of a thread state whose stacks are not higher than the highest stack
    /// in the levels. So the search does not follow an infinite context beyond the explored part.
    fn thread_successors(&mut self, thread: ThreadId, state: ThreadState) -> Vec<ThreadState> {
        let steps = steps_from(self.system.program(thread), state, &mut self.stacks);
        let mut successors: Vec<_> = steps.map(|(_, after)| after).collect();
        successors.retain(|&(_, stack)| self.stacks.height(stack) <= self.highest);
        successors
    }

    /// Returns a state with the contents of its stacks.
    fn global_state(&self, state: &UnsortedState) -> GlobalState {
        GlobalState {
            shared: SharedState(state.shared),
            stacks: state.stacks.iter().map(|&stack| self.stacks.stack(stack)).collect(),
        }
    }

    /// Returns the context of a thread with these thread states.
    fn context(&self, thread: ThreadId, start: &UnsortedState, path: &[ThreadState]) -> Context {
        let mut state = self.global_state(start);
        let steps = path[1..].iter().map(|&(shared, stack)| {
            let mut next = GlobalState { shared: SharedState(shared), stacks: state.stacks.clone() };
            next.stacks[thread.index()] = self.stacks.stack(stack);
            let step = self.system.steps_of(thread, &state).find(|step| step.state == next);
            let rule = step.expect("the path is made of steps").index;
            state = next;
            TraceStep { rule, state: state.clone() }
        });
        Context { thread, steps: steps.collect() }
    }
}
