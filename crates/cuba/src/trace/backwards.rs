//! Traces out of levels, found backwards.
//!
//! The exploration keeps no pointers from states to their predecessors. (One a state would not do:
//! a state may be reached by two threads at the same level, and the path goes on differently for
//! each.) But a state of level k ≥ 1 was reached by a context of some thread i from a state of
//! level k-1 exactly, and the two differ only in the shared state and the stack of i. So the states
//! of level k-1 that fit are looked up in one pass for each thread, and all threads are run from
//! theirs at once, breadth-first, until one of them reaches the state: a shortest context. (One
//! thread after the other would not do: if the level is not finished, a thread that did not reach
//! the state may run for ever.)
//!
//! The levels may be here, or in shares that are asked (`distributed/coordinator.rs`). What is
//! asked and answered is about contents: no numbers of states or stacks are told.
//!
//! Wherever there is a choice, it is made by what is on the stacks, never by numbers. So the trace
//! is the same whatever order the states were found in.

use crate::explicit::reachable::{Reachable, tops_of};
use crate::explicit::stack_table::{StackId, Stacks};
use crate::tables::step_cache::ThreadState;
use crate::trace::fewest_steps::{Patience, Sorted, with_fewest_steps};
use crate::trace::last_context::{Near, Way};
use crate::visible::bad_patterns::BadPatterns;
use crate::visible::levels::top_number;
use crate::visible::symmetry::Symmetry;
use cpds::{Context, Cpds, GlobalState, SharedState, Stack, ThreadId, Trace, TraceStep};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;
use std::convert::Infallible;

/// A trace with more stack symbols in all its states than this is not written out. It was found
/// step by step, so this may be much.
const MOST_SYMBOLS: usize = 1 << 26;

/// Where the levels are.
pub(crate) trait Levels {
    /// Why there is no answer.
    type Error;

    /// The best of the states with this visible state. There is one.
    fn best(&mut self, visible: &[u64]) -> Result<Best, Self::Error>;

    /// For each of these threads, its thread states in the states of this level that have all other
    /// stacks as they are here; in order, each once.
    fn starts(
        &mut self,
        level: usize,
        by_thread: &[Stack],
        threads: &[ThreadId],
    ) -> Result<Vec<Vec<Start>>, Self::Error>;

    /// The stacks that have the numbers that the answers to the following questions give them;
    /// there may be more, and more to come.
    fn stacks(&self) -> Stacks;

    /// For each group, in order, the thread states of its threads in the states of this level, each
    /// once; if there are more than `most`, some of them, more than that.
    fn thread_states(
        &mut self,
        level: usize,
        most: usize,
        stacks: &mut Stacks,
    ) -> Result<Vec<Vec<ThreadState>>, Self::Error>;

    /// The states of this level that can become bad in one of these ways; if there are more than
    /// `most`, some of them, more than that.
    fn near(&mut self, level: usize, ways: &[Way], most: usize, stacks: &mut Stacks) -> Result<Vec<Near>, Self::Error>;

    /// The level of each of these states, if it has one.
    fn levels_of(&mut self, states: &[&Sorted], stacks: &Stacks) -> Result<Vec<Option<usize>>, Self::Error>;
}

/// A state that a trace may lead to. Less is better: a lower level, fewer symbols, and then the
/// order of what is on the stacks.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Best {
    pub(crate) level: usize,
    pub(crate) symbols: u64,
    /// By position, with those of interchangeable threads in order.
    pub(crate) stacks: Vec<Stack>,
}

/// A shared state and the stack of a thread.
pub(crate) type Start = (u32, Stack);

/// A way back through the levels, with stacks of its own.
pub(crate) struct WayBack<'w> {
    pub(crate) system: &'w Cpds,
    pub(crate) symmetry: &'w Symmetry,
    /// The height of the highest stack that was found.
    pub(crate) highest: u32,
    pub(crate) stacks: Stacks,
}

/// A state with its own order of threads, not a sorted one.
#[derive(Clone)]
struct State {
    shared: u32,
    stacks: Vec<StackId>,
}

/// The levels are here.
impl Levels for &Reachable<'_> {
    type Error = Infallible;

    fn best(&mut self, visible: &[u64]) -> Result<Best, Infallible> {
        Ok(self.best_state(visible).expect("a visible state is that of a state"))
    }

    fn starts(
        &mut self,
        level: usize,
        by_thread: &[Stack],
        threads: &[ThreadId],
    ) -> Result<Vec<Vec<Start>>, Infallible> {
        Ok(threads.iter().map(|&thread| self.starts_of(level, by_thread, thread)).collect())
    }

    /// All of them. Those that come up later are in no state.
    fn stacks(&self) -> Stacks {
        self.stacks.clone()
    }

    fn thread_states(
        &mut self,
        level: usize,
        most: usize,
        _: &mut Stacks,
    ) -> Result<Vec<Vec<ThreadState>>, Infallible> {
        Ok(Reachable::thread_states(self, level, most))
    }

    fn near(&mut self, level: usize, ways: &[Way], most: usize, _: &mut Stacks) -> Result<Vec<Near>, Infallible> {
        Ok(Reachable::near(self, level, ways, most))
    }

    fn levels_of(&mut self, states: &[&Sorted], _: &Stacks) -> Result<Vec<Option<usize>>, Infallible> {
        Ok(states.iter().map(|(shared, stacks)| self.level_of(*shared, stacks)).collect())
    }
}

impl Reachable<'_> {
    /// A trace to a state with this visible state, with the least number of contexts; none if it is
    /// too long to be written out. `arrange` says how to permute a sorted state with this shared
    /// state and these tops: for each position, where its stack is.
    ///
    /// Of several states of the first level that has any it is the one with the fewest symbols, and
    /// of these the first in the order of their stacks.
    pub(crate) fn trace_to_visible(
        &self,
        visible: usize,
        arrange: impl Fn(u32, &[u32]) -> Option<Vec<usize>>,
    ) -> Option<Trace> {
        let set = self.visible().set();
        let shared = set.layout().shared(set.row(visible));
        let way = WayBack {
            system: self.system,
            symmetry: &self.symmetry,
            highest: self.highest(),
            stacks: Stacks::default(),
        };
        let Ok(trace) = way.trace(&mut &*self, shared, set.row(visible), arrange);
        trace
    }

    /// A trace to a bad state with the fewest contexts and steps. The first bad state has this
    /// visible state and fits this pattern.
    pub(crate) fn trace_to_bad(
        &self,
        bad: &BadPatterns,
        visible: usize,
        pattern: usize,
        patience: &Patience,
    ) -> Option<Trace> {
        let trace = self.trace_to_visible(visible, |shared, tops| {
            bad.arrange(pattern, shared, |position, top| tops[position] == top)
        })?;
        let Ok(trace) = with_fewest_steps((self.system, &self.symmetry), bad, self, patience, trace);
        Some(trace)
    }

    /// The best of the states that are here and have this visible state.
    pub(crate) fn best_state(&self, visible: &[u64]) -> Option<Best> {
        let (mut tops, mut row) = (Vec::new(), visible.to_vec());
        let mut fits = |id: &usize| {
            let shared = tops_of(&self.stacks, (self.states.layout(), self.states.row(*id)), &mut tops);
            self.visible().pack(shared, &mut tops, &mut row);
            row == visible
        };
        let first = (0..self.states.len()).find(&mut fits)?;
        let level = self.levels.partition_point(|&start| start <= first) - 1;
        let symbols = |id: usize| -> u64 {
            let locals = self.states.layout().locals(self.states.row(id));
            locals.map(|stack| u64::from(self.stacks.height(stack))).sum()
        };
        let mut best = (u64::MAX, Vec::new());
        for id in first..self.range(level).end {
            if symbols(id) <= best.0 && fits(&id) {
                let locals = self.states.layout().locals(self.states.row(id));
                best = best.min((symbols(id), self.in_order_of_content(locals)));
            }
        }
        Some(Best { level, symbols: best.0, stacks: best.1 })
    }

    /// The stacks of a state, by position, with those of interchangeable threads in the order of
    /// what is on them.
    fn in_order_of_content(&self, locals: impl Iterator<Item = StackId>) -> Vec<Stack> {
        let mut stacks: Vec<Stack> = locals.map(|id| self.stacks.stack(id)).collect();
        for group in self.symmetry.groups() {
            stacks[group].sort_unstable();
        }
        stacks
    }

    /// The thread states of `thread` in the states of this level that have all other stacks as they
    /// are here, in order.
    pub(crate) fn starts_of(&self, level: usize, by_thread: &[Stack], thread: ThreadId) -> Vec<Start> {
        let position = self.symmetry.position(thread);
        let moving = self.symmetry.group(position);
        let mut others = self.symmetry.placed(by_thread);
        others.remove(position);
        // A stack that is not known is in no state.
        let Some(mut others) = others.iter().map(|stack| self.stacks.find(stack)).collect::<Option<Vec<_>>>() else {
            return Vec::new();
        };
        // The stacks of the other threads, sorted: in the group that moves there is one less.
        for group in self.symmetry.groups() {
            let shift = usize::from(group.start > moving.start);
            let end = group.end - usize::from(group.end >= moving.end);
            others[group.start - shift..end].sort_unstable();
        }
        let layout = self.states.layout();
        let fits = |id| {
            let row = self.states.row(id);
            // Left out of the row, one of the group that moves gives `others`: the first that is
            // not where it should be.
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
        let mut starts: Vec<Start> =
            starts.into_iter().map(|(shared, stack)| (shared, self.stacks.stack(stack))).collect();
        starts.sort_unstable();
        starts
    }
}

impl WayBack<'_> {
    /// A trace to the best state with this shared state and visible state, as
    /// [`Reachable::trace_to_visible`] says.
    pub(crate) fn trace<L: Levels>(
        mut self,
        levels: &mut L,
        shared: u32,
        visible: &[u64],
        arrange: impl Fn(u32, &[u32]) -> Option<Vec<usize>>,
    ) -> Result<Option<Trace>, L::Error> {
        let Best { level, stacks, .. } = levels.best(visible)?;
        let tops: Vec<u32> = stacks.iter().map(|stack| top_number(stack.top())).collect();
        let from = arrange(shared, &tops).expect("it fits the pattern");
        let stacks = self.symmetry.by_thread(from.into_iter().map(|position| self.stacks.intern(&stacks[position])));
        self.trace_to(levels, level, State { shared, stacks })
    }

    /// A trace with k contexts to a state of level k, unless its states have too many symbols
    /// together.
    fn trace_to<L: Levels>(&mut self, levels: &mut L, k: usize, state: State) -> Result<Option<Trace>, L::Error> {
        let mut contexts = Vec::new();
        let mut symbols = 0;
        let mut state = state;
        for level in (0..k).rev() {
            let (thread, path) = self.last_context(levels, level, &state)?;
            let mut before = state.clone();
            (before.shared, before.stacks[thread.index()]) = path[0];
            let height = |&stack: &StackId| self.stacks.height(stack) as usize;
            let others: usize = before.stacks.iter().map(height).sum::<usize>() - height(&path[0].1);
            symbols += path[1..].iter().map(|(_, stack)| others + height(stack)).sum::<usize>();
            if symbols > MOST_SYMBOLS {
                return Ok(None);
            }
            contexts.push(self.context(thread, &before, &path));
            state = before;
        }
        contexts.reverse();
        Ok(Some(Trace { initial: self.global_state(&state), contexts }))
    }

    /// A thread that reached `state` from a state of this level with the least number of steps, and
    /// the thread states it went through.
    fn last_context<L: Levels>(
        &mut self,
        levels: &mut L,
        level: usize,
        state: &State,
    ) -> Result<(ThreadId, Vec<ThreadState>), L::Error> {
        // What an interchangeable thread with the same stack does, a later one need not.
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

    /// Where one step of `thread` leads, no higher than the highest stack that was found: an
    /// infinite context is not followed further than it was explored.
    fn thread_successors(&mut self, thread: ThreadId, (shared, stack): ThreadState) -> Vec<ThreadState> {
        let rules = self.system.program(thread).rules_from(SharedState(shared), self.stacks.top(stack));
        let successors = rules.map(|(_, rule)| {
            let (to, written) = rule.action.target();
            (to.0, self.stacks.replace_top(stack, written))
        });
        let mut successors: Vec<_> = successors.collect();
        successors.retain(|&(_, stack)| self.stacks.height(stack) <= self.highest);
        successors
    }

    fn global_state(&self, state: &State) -> GlobalState {
        GlobalState {
            shared: SharedState(state.shared),
            stacks: state.stacks.iter().map(|&stack| self.stacks.stack(stack)).collect(),
        }
    }

    /// The steps of a context along these thread states, by the step relation.
    fn context(&self, thread: ThreadId, start: &State, path: &[ThreadState]) -> Context {
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
