//! Finds a trace with the fewest steps among the traces with the fewest contexts.
//!
//! The search starts with a trace of k contexts (`trace/backwards.rs`), and looks for a trace of k
//! contexts with fewer steps. No trace to a bad state has fewer contexts. So the state after the
//! j-th context of any such trace is new at level j, and all states within the context are new at
//! level j or j-1. Levels up to k-1 are finished, so the table contains all these states, except
//! those of the last context.
//!
//! The search goes backwards from all bad states, in the order of the number of remaining steps
//! (Dijkstra's algorithm):
//! - The last context starts in a state of level k-1. The number of steps of the moving thread does
//!   not depend on the other threads. These only have to have the tops that a bad pattern requires
//!   (`trace/last_context.rs`).
//! - In the contexts before, the search undoes every action, and drops the states that are at
//!   neither of the two levels.
//!
//! A step back costs one. At a state of level j-1, the j-th context may start. Then the previous
//! context ends there, which costs nothing. The first state of level 0 that the search reaches is
//! the start of a trace with the fewest steps. The search drops a state if the remaining steps, and
//! one step for each missing context, are not fewer than the steps of the given trace.
//!
//! # Contexts of the same thread
//! No two consecutive contexts belong to the same thread: they would be one context, and the last
//! state of the second one would not be new at its level.
//!
//! # Limits
//! The search stops when the [`SearchBudget`] is used up, after a million states at most. Then the
//! given trace is the result. The effort does not depend on the order in which the levels were
//! found, nor on the place where they are stored. So the result is always the same, unless the
//! search is cancelled.

use crate::explicit::reachable::Reachable;
use crate::explicit::tables::stack_table::{StackId, Stacks};
use crate::tables::step_cache::ThreadState;
use crate::trace::backwards::{LevelQueries, sorted_by_content};
use crate::trace::from_rules::trace_from_rules;
use crate::trace::last_context::last_contexts;
use crate::trace::search_budget::SearchBudget;
use crate::trace::thread_steps::{ActionsByTarget, steps_from};
use crate::tuning::Tuning;
use crate::visible::bad_patterns::BadPatterns;
use crate::visible::levels::top_number;
use crate::visible::symmetry::Symmetry;
use cpds::{Cpds, GlobalState, SharedState, Stack, ThreadId, Trace};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ops::ControlFlow;

/// A state as the levels store it: its shared state, and its stacks by position, sorted.
pub(crate) type SortedState = (u32, Vec<StackId>);

/// Returns a trace with the fewest steps among the traces with as many contexts as `given`, which
/// has the fewest contexts. It leads to a state that fits a bad pattern after a permutation of
/// interchangeable threads.
pub(crate) fn with_fewest_steps<L: LevelQueries>(
    (system, symmetry): (&Cpds, &Symmetry),
    bad: &BadPatterns,
    levels: L,
    budget: &SearchBudget,
    given: Trace,
) -> Result<Trace, L::Error> {
    let (contexts, steps) = (given.contexts.len(), steps(&given));
    if steps == contexts {
        return Ok(given);
    }
    let search = FewestStepsSearch {
        system,
        symmetry,
        bad,
        programs: symmetry.programs(system),
        actions_by_target: system.programs().iter().map(ActionsByTarget::new).collect(),
        stacks: levels.stacks(),
        levels,
        steps,
        budget,
        states: Vec::new(),
        numbers: FxHashMap::default(),
        remaining: FxHashMap::default(),
        open: BTreeMap::new(),
    };
    Ok(search.trace(contexts)?.unwrap_or(given))
}

/// Does the same as [`with_fewest_steps`] for a trace of the symbolic search: this function
/// explores the levels of R_k itself. If this takes more than `max_expansions`, as it does for
/// infinite contexts, a second attempt considers only traces with stacks that are not higher than
/// those of the given trace. If that takes too many expansions as well, the result is the given
/// trace.
pub(crate) fn with_fewest_steps_by_states(
    (system, symmetry): (&Cpds, &Symmetry),
    bad: &BadPatterns,
    (max_expansions, tuning): (u64, Tuning),
    budget: &SearchBudget,
    given: Trace,
) -> Trace {
    let Some(last) = given.contexts.len().checked_sub(1).filter(|_| steps(&given) > given.contexts.len()) else {
        return given;
    };
    let states = given.contexts.iter().flat_map(|context| &context.steps).map(|step| &step.state);
    let stacks = states.chain([&given.initial]).flat_map(|state| &state.stacks);
    let highest = stacks.map(Stack::height).max().unwrap_or(0);
    let limit = &mut |reachable: &Reachable<'_>| match reachable.expansions() {
        expansions if expansions > max_expansions || budget.is_cancelled() => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let highest = u32::try_from(highest).unwrap_or(u32::MAX);
    for max_height in [u32::MAX, highest] {
        let mut reachable = Reachable::new(system, symmetry.has_groups(), tuning);
        reachable.set_max_height(max_height);
        while reachable.k() < last && reachable.advance(limit).is_continue() {}
        if reachable.k() == last {
            let Ok(trace): Result<_, Infallible> =
                with_fewest_steps((system, symmetry), bad, &reachable, budget, given);
            return trace;
        }
        if reachable.highest() <= highest {
            // A limit on the height would change nothing.
            break;
        }
    }
    given
}

/// Returns the number of steps of a trace.
fn steps(trace: &Trace) -> usize {
    trace.contexts.iter().map(|context| context.steps.len()).sum()
}

/// A node of the search.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum SearchNode {
    /// A context ends in this state. Its number is the level of the state.
    End(u32),
    /// The state is within this context of the thread at this position.
    Inside { state: u32, position: u32, context: u32 },
}

/// The search backwards from all bad states.
struct FewestStepsSearch<'s, L> {
    system: &'s Cpds,
    symmetry: &'s Symmetry,
    bad: &'s BadPatterns,
    /// The program of each position.
    programs: Vec<usize>,
    /// The inverse actions of each program.
    actions_by_target: Vec<ActionsByTarget>,
    stacks: Stacks,
    levels: L,
    /// The number of steps of the given trace.
    steps: usize,
    budget: &'s SearchBudget,
    /// Every state that the search has reached, and its level, if the levels contain it.
    states: Vec<(SortedState, Option<usize>)>,
    numbers: FxHashMap<SortedState, u32>,
    /// For each node, the least number of remaining steps that the search has found.
    remaining: FxHashMap<SearchNode, usize>,
    /// The nodes to expand, by remaining steps.
    open: BTreeMap<usize, Vec<SearchNode>>,
}

impl<L: LevelQueries> FewestStepsSearch<'_, L> {
    /// Finds a trace with so many contexts and the fewest steps. Returns `None` if no trace has
    /// fewer steps than the given one, or if the budget is used up.
    fn trace(mut self, contexts: usize) -> Result<Option<Trace>, L::Error> {
        let last = contexts - 1;
        let Some(last_contexts) = last_contexts(
            (self.system, self.symmetry, self.bad),
            (&mut self.levels, &mut self.stacks),
            last,
            (self.steps - contexts, self.budget),
        )?
        else {
            return Ok(None);
        };
        let starts = self.levels.near(last, &last_contexts, self.budget.max_items, &mut self.stacks)?;
        if !self.budget.has_room_for(starts.len()) {
            return Ok(None);
        }
        for (steps, shared, mut stacks) in starts {
            self.symmetry.sort(&mut stacks);
            let state = self.number((shared, stacks));
            self.states[state as usize].1 = Some(last);
            self.add_path(SearchNode::End(state), steps);
        }
        while let Some((steps_left, mut batch)) = self.open.pop_first() {
            batch.retain(|at| self.remaining[at] == steps_left);
            let is_initial = |at: &SearchNode| match *at {
                SearchNode::End(state) if self.states[state as usize].1 == Some(0) => Some(state),
                _ => None,
            };
            if let Some(first) = batch.iter().filter_map(is_initial).min_by_key(|&state| self.content(state)) {
                return Ok(self.trace_from(first, last));
            }
            self.expand(steps_left, batch)?;
            if !self.budget.has_room_for(self.states.len().max(self.remaining.len())) {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// Returns the shared state of a state, and the contents of its stacks, by position, sorted
    /// within each group of interchangeable threads.
    fn content(&self, state: u32) -> (u32, Vec<Stack>) {
        let (shared, stacks) = &self.states[state as usize].0;
        (*shared, sorted_by_content(self.symmetry, &self.stacks, stacks.iter().copied()))
    }

    /// Returns the number of a state.
    fn number(&mut self, state: SortedState) -> u32 {
        let next = u32::try_from(self.states.len()).expect("the search ends before");
        *self.numbers.entry(state).or_insert_with_key(|state| {
            self.states.push((state.clone(), None));
            next
        })
    }

    /// Stores a path from a node to a bad state with so many steps, if it is the shortest one so
    /// far and can become part of a trace with fewer steps than the given one.
    fn add_path(&mut self, at: SearchNode, steps_left: usize) {
        // Each missing context has at least one step, and so has this context before its start.
        let (SearchNode::End(state) | SearchNode::Inside { state, .. }) = at;
        let missing = self.states[state as usize].1.expect("a state of a level");
        if steps_left + missing < self.steps && self.remaining.get(&at).is_none_or(|&shortest| steps_left < shortest) {
            self.remaining.insert(at, steps_left);
            self.open.entry(steps_left).or_default().push(at);
        }
    }

    /// Goes one step back from all these nodes.
    fn expand(&mut self, steps_left: usize, batch: Vec<SearchNode>) -> Result<(), L::Error> {
        let (mut before, mut new) = (Vec::new(), FxHashSet::default());
        for at in batch {
            match at {
                SearchNode::End(state) => {
                    let context = u32::try_from(self.states[state as usize].1.expect("it has one")).expect("few");
                    for position in 0..self.programs.len() {
                        let (_, stacks) = &self.states[state as usize].0;
                        if position == self.symmetry.group(position).start || stacks[position - 1] != stacks[position] {
                            let position = u32::try_from(position).expect("few");
                            self.add_path(SearchNode::Inside { state, position, context }, steps_left);
                        }
                    }
                }
                SearchNode::Inside { state, position, context } => {
                    let (shared, stacks) = &self.states[state as usize].0;
                    let (position, others) = (position as usize, stacks.clone());
                    let from = (*shared, others[position]);
                    let program = self.programs[position];
                    let rules = &self.system.programs()[program];
                    for (shared, stack) in self.actions_by_target[program].predecessors(rules, from, &mut self.stacks) {
                        let mut stacks = others.clone();
                        stacks[position] = stack;
                        self.symmetry.sort(&mut stacks);
                        let position = place_of(self.symmetry, &stacks, position, stack);
                        let count = self.states.len();
                        let state = self.number((shared, stacks));
                        if state as usize >= count {
                            new.insert(state);
                        }
                        before.push((state, position, context));
                    }
                }
            }
        }
        let mut new: Vec<u32> = new.into_iter().collect();
        new.sort_unstable();
        let new_states: Vec<&SortedState> = new.iter().map(|&state| &self.states[state as usize].0).collect();
        let levels = self.levels.levels_of(&new_states, &self.stacks)?;
        for (state, level) in new.into_iter().zip(levels) {
            self.states[state as usize].1 = level;
        }
        for (state, position, context) in before {
            let Some(level) = self.states[state as usize].1.and_then(|level| u32::try_from(level).ok()) else {
                continue;
            };
            if level == context || level + 1 == context {
                self.add_path(SearchNode::Inside { state, position, context }, steps_left + 1);
            }
            if level + 1 == context {
                self.add_path(SearchNode::End(state), steps_left + 1);
            }
        }
        Ok(())
    }

    /// Returns the trace from this state of level 0 to a bad state. Each step decreases the number
    /// of remaining steps. Of several threads or rules, the trace takes the first one. Returns
    /// `None` if the states have too many symbols.
    fn trace_from(mut self, first: u32, last: usize) -> Option<Trace> {
        let (mut shared, stacks) = self.content(first);
        let stacks: Vec<StackId> = stacks.iter().map(|stack| self.stacks.intern(stack)).collect();
        let mut by_thread = self.symmetry.by_thread(stacks);
        let initial = GlobalState {
            shared: SharedState(shared),
            stacks: by_thread.iter().map(|&stack| self.stacks.stack(stack)).collect(),
        };
        let mut steps_left = self.remaining[&SearchNode::End(first)];
        let mut contexts = Vec::new();
        for context in 1..=last {
            let moves =
                |&thread: &ThreadId| self.remaining_inside(shared, &by_thread, thread, context) == Some(steps_left);
            let thread = self.system.threads().find(moves).expect("some thread continues");
            let mut rules = Vec::new();
            // The context continues as long as each step decreases the number of remaining steps.
            while steps_left > 0 {
                let stack = by_thread[thread.index()];
                let next = self.steps_of(thread, (shared, stack)).into_iter().find(|&(_, (shared, stack))| {
                    by_thread[thread.index()] = stack;
                    self.remaining_inside(shared, &by_thread, thread, context)
                        .is_some_and(|after| after + 1 == steps_left)
                });
                by_thread[thread.index()] = stack;
                let Some((rule, (to, stack))) = next else { break };
                rules.push(rule);
                steps_left -= 1;
                (shared, by_thread[thread.index()]) = (to, stack);
            }
            contexts.push((thread, rules));
        }
        contexts.push(self.last_context(shared, &by_thread, steps_left));
        trace_from_rules(self.system, initial, &contexts)
    }

    /// Returns the number of remaining steps from this state within a context of this thread, if
    /// the search has reached that node.
    fn remaining_inside(&self, shared: u32, by_thread: &[StackId], thread: ThreadId, context: usize) -> Option<usize> {
        let mut stacks = self.symmetry.placed(by_thread);
        self.symmetry.sort(&mut stacks);
        let stack = by_thread[thread.index()];
        let position = place_of(self.symmetry, &stacks, self.symmetry.position(thread), stack);
        let state = *self.numbers.get(&(shared, stacks))?;
        let at = SearchNode::Inside { state, position, context: u32::try_from(context).ok()? };
        self.remaining.get(&at).copied()
    }

    /// Returns the steps of a thread from a thread state.
    fn steps_of(&mut self, thread: ThreadId, state: ThreadState) -> Vec<(usize, ThreadState)> {
        steps_from(self.system.program(thread), state, &mut self.stacks).collect()
    }

    /// Returns the first thread that reaches a bad state with so many steps, and its rules.
    fn last_context(&mut self, shared: u32, by_thread: &[StackId], steps: usize) -> (ThreadId, Vec<usize>) {
        for thread in self.system.threads() {
            let others: Vec<u32> = by_thread.iter().map(|&stack| top_number(self.stacks.top(stack))).collect();
            let is_bad = |stacks: &Stacks, (shared, stack): ThreadState| {
                let mut tops = others.clone();
                tops[thread.index()] = top_number(stacks.top(stack));
                let mut tops = self.symmetry.placed(&tops);
                self.symmetry.sort(&mut tops);
                self.bad.violation(shared, &tops).is_some()
            };
            let start = (shared, by_thread[thread.index()]);
            // For each thread state, its predecessor and the rule.
            let mut from: FxHashMap<ThreadState, Option<(ThreadState, usize)>> = FxHashMap::default();
            from.insert(start, None);
            let mut wave = vec![start];
            for _ in 0..steps {
                let mut next = Vec::new();
                for before in wave {
                    for (rule, after) in self.steps_of(thread, before) {
                        from.entry(after).or_insert_with(|| {
                            next.push(after);
                            Some((before, rule))
                        });
                    }
                }
                wave = next;
            }
            if let Some(end) = wave.into_iter().find(|&end| is_bad(&self.stacks, end)) {
                let back = std::iter::successors(from[&end], |(before, _)| from[before]);
                let mut rules: Vec<usize> = back.map(|(_, rule)| rule).collect();
                rules.reverse();
                return (thread, rules);
            }
        }
        unreachable!("some thread reaches a bad state")
    }
}

/// Returns the first position with this stack, in the group of the given position.
fn place_of(symmetry: &Symmetry, stacks: &[StackId], position: usize, stack: StackId) -> u32 {
    let mut group = symmetry.group(position);
    let place = group.find(|&i| stacks[i] == stack).expect("the group has the stack");
    u32::try_from(place).expect("few")
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpds::Problem;
    use cpds_testing::shortest::fewest_steps;

    /// After one step of A, B needs two steps; after five steps of A, C needs one step. The first
    /// bad state that the exploration finds is C's.
    const DETOUR: &str = "shared 0..9; init 0|a,b,c; bad 9|*,*,*
        thread A { symbols a; (0,a) -> (1,a); (1,a) -> (2,a); (2,a) -> (3,a); (3,a) -> (4,a); (4,a) -> (5,a) }
        thread B { symbols b; (1,b) -> (6,b); (6,b) -> (9,b) }
        thread C { symbols c; (5,c) -> (9,c) }";

    /// Returns the number of steps of the trace, and the fewest steps by the naive search.
    fn steps_and_fewest(text: &str, budget: &SearchBudget) -> Option<(usize, usize)> {
        let problem: Problem = text.parse().unwrap();
        let mut reachable = Reachable::new(problem.system(), true, Tuning::SHIPPED);
        let bad = BadPatterns::new(problem.property(), reachable.symmetry());
        let violation = loop {
            assert!(reachable.advance(&mut |_| ControlFlow::<()>::Continue(())).is_continue());
            let set = reachable.visible().set();
            if let Some(violation) = bad.first_violation(set, 0..set.len()) {
                break violation;
            }
        };
        let trace = reachable.trace_to_bad(&bad, violation.0, violation.1, budget)?;
        let fewest = fewest_steps(&problem, trace.contexts.len(), 1000).unwrap();
        Some((steps(&trace), fewest))
    }

    #[test]
    fn the_last_context_may_be_longer_in_a_shorter_trace() {
        assert_eq!(steps_and_fewest(DETOUR, &SearchBudget::default()), Some((3, 3)));
    }

    #[test]
    fn without_a_budget_the_given_trace_is_the_result() {
        assert_eq!(steps_and_fewest(DETOUR, &SearchBudget::of_items(0)), Some((6, 3)));
    }
}
