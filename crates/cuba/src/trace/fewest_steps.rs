//! Fewer steps: of all traces with the fewest contexts, one with the fewest steps.
//!
//! Some trace is known (`trace/backwards.rs`). What is looked for takes fewer steps, with as many
//! contexts k. No trace to a bad state has fewer contexts; so the state after the j-th context of
//! any such trace is new at level j, and all states within the context are new at level j or at
//! level j-1. All of them but those of the last context are in the table, whose levels up to k-1
//! are finished.
//!
//! So the search goes backwards, from all bad states at once, by the number of steps that are left
//! (Dijkstra):
//! - The last context starts in a state of level k-1. What the thread that moves needs from there
//!   does not depend on the other threads: they only have to show what a bad pattern asks of them
//!   (`trace/last_context.rs`).
//! - Before that, every action is undone, and what the table does not have at one of the two levels
//!   is left out.
//!
//! A step back costs one. A state of level j-1 may start the j-th context, and then the context
//! before ends there, which costs nothing. The first state of level 0 that comes up is the start of
//! a trace with the fewest steps. What cannot get below the steps of the known trace is left out,
//! counting one step for each context that is still missing.
//!
//! # What the same thread may do
//! No two contexts in a row are of the same thread: they would be one, and the last state of the
//! second one would not be new at its level.
//!
//! # What is not searched
//! More states than [`Patience`] has, a million at most. Then the trace stays the one that is
//! known. What is counted does not depend on the order in which states were found, nor on where
//! they are; so the trace is always the same. Only a run that is to stop at once takes what it has.

use crate::explicit::reachable::Reachable;
use crate::explicit::stack_table::{StackId, Stacks};
use crate::limits::Cancel;
use crate::tables::step_cache::ThreadState;
use crate::trace::backwards::Levels;
use crate::tuning::Tuning;
use crate::visible::bad_patterns::BadPatterns;
use crate::visible::levels::top_number;
use crate::visible::symmetry::Symmetry;
use cpds::{Context, Cpds, GlobalState, Program, SharedState, Stack, Symbol, ThreadId, Trace, TraceStep};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::ops::ControlFlow;

/// What a search may take.
pub(crate) struct Patience {
    /// How many states are looked at, how many places in them, and how many thread states.
    pub(crate) most: usize,
    cancel: Cancel,
}

/// So many are looked at in any case; more than so many never.
const LEAST: usize = 1 << 16;
const MOST: usize = 1 << 20;

/// About so many bytes does each of them take.
const BYTES: usize = 1 << 8;

impl Default for Patience {
    fn default() -> Self {
        Patience { most: MOST, cancel: Cancel::default() }
    }
}

impl Patience {
    /// An eighth of so much memory; and if everything is to stop, the trace that is known has to
    /// do.
    pub(crate) fn within(memory: usize, cancel: &Cancel) -> Self {
        Patience { most: (memory / 8 / BYTES).clamp(LEAST, MOST), cancel: cancel.clone() }
    }

    /// Looks at next to nothing.
    #[cfg(test)]
    pub(crate) fn in_haste() -> Self {
        Patience { most: 6, cancel: Cancel::default() }
    }

    /// Whether the search goes on after it has looked at so many.
    pub(crate) fn has_room_for(&self, looked_at: usize) -> bool {
        looked_at <= self.most && self.cancel.why().is_none()
    }
}

/// A trace with more stack symbols in all its states than this is not written out; a stack counts
/// for a few.
const MOST_SYMBOLS: usize = 1 << 24;
const SYMBOLS_A_STACK: usize = 8;

/// A state as the levels have it: its shared state, and its stacks by position, sorted.
pub(crate) type Sorted = (u32, Vec<StackId>);

/// A trace with the fewest steps of those with as many contexts as this one, which is one with the
/// fewest contexts. It leads to a state that fits a bad pattern once its interchangeable threads
/// are permuted.
pub(crate) fn with_fewest_steps<L: Levels>(
    (system, symmetry): (&Cpds, &Symmetry),
    bad: &BadPatterns,
    levels: L,
    patience: &Patience,
    known: Trace,
) -> Result<Trace, L::Error> {
    let (contexts, steps) = (known.contexts.len(), steps(&known));
    if steps == contexts {
        return Ok(known);
    }
    let search = Search {
        system,
        symmetry,
        bad,
        programs: symmetry.programs(system),
        into: system.programs().iter().map(Into::new).collect(),
        stacks: levels.stacks(),
        levels,
        steps,
        patience,
        states: Vec::new(),
        numbers: FxHashMap::default(),
        left: FxHashMap::default(),
        open: BTreeMap::new(),
    };
    Ok(search.trace(contexts)?.unwrap_or(known))
}

/// The same for a trace that was found in another way, by levels of states that are explored for
/// this only. If that takes more than so many steps, as it does where contexts are infinite, only
/// traces count whose stacks are no higher than those of this one; and if that takes as many, the
/// trace stays as it is.
pub(crate) fn with_fewest_steps_by_states(
    (system, symmetry): (&Cpds, &Symmetry),
    bad: &BadPatterns,
    (enough, tuning): (u64, Tuning),
    patience: &Patience,
    known: Trace,
) -> Trace {
    let Some(last) = known.contexts.len().checked_sub(1).filter(|_| steps(&known) > known.contexts.len()) else {
        return known;
    };
    let states = known.contexts.iter().flat_map(|context| &context.steps).map(|step| &step.state);
    let stacks = states.chain([&known.initial]).flat_map(|state| &state.stacks);
    let highest = stacks.map(Stack::height).max().unwrap_or(0);
    let is_enough = &mut |reachable: &Reachable<'_>| match reachable.expansions() {
        expansions if expansions > enough || patience.cancel.why().is_some() => ControlFlow::Break(()),
        _ => ControlFlow::Continue(()),
    };
    let highest = u32::try_from(highest).unwrap_or(u32::MAX);
    for ceiling in [u32::MAX, highest] {
        let mut reachable = Reachable::new(system, symmetry.has_groups(), tuning);
        reachable.goes_no_higher_than(ceiling);
        while reachable.k() < last && reachable.advance(is_enough).is_continue() {}
        if reachable.k() == last {
            let Ok(trace): Result<_, Infallible> =
                with_fewest_steps((system, symmetry), bad, &reachable, patience, known);
            return trace;
        }
        if reachable.highest() <= highest {
            // Nothing would be left out the next time.
            break;
        }
    }
    known
}

/// How many steps a trace has.
fn steps(trace: &Trace) -> usize {
    trace.contexts.iter().map(|context| context.steps.len()).sum()
}

/// The trace in which these threads fire these rules; none if its states have too many symbols.
pub(crate) fn written(system: &Cpds, initial: GlobalState, contexts: &[(ThreadId, Vec<usize>)]) -> Option<Trace> {
    let mut trace = Trace { initial, contexts: Vec::new() };
    let mut state = trace.initial.clone();
    let mut symbols = 0;
    for &(thread, ref rules) in contexts {
        let mut steps = Vec::new();
        for &rule in rules {
            let action = &system.program(thread).rules()[rule].action;
            let stack = &mut state.stacks[thread.index()];
            (state.shared, *stack) = action.apply(state.shared, stack).expect("a rule of a run is enabled");
            symbols += state.stacks.iter().map(|stack| SYMBOLS_A_STACK + stack.height()).sum::<usize>();
            if symbols > MOST_SYMBOLS {
                return None;
            }
            steps.push(TraceStep { rule, state: state.clone() });
        }
        trace.contexts.push(Context { thread, steps });
    }
    Some(trace)
}

/// The actions of a program by what they lead to: the shared state, and the top that is written, if
/// any.
struct Into(FxHashMap<(SharedState, Option<Symbol>), Vec<usize>>);

impl Into {
    fn new(program: &Program) -> Self {
        let mut into: FxHashMap<_, Vec<usize>> = FxHashMap::default();
        for (rule, action) in program.rules().iter().map(|rule| rule.action).enumerate() {
            let (to, mut written) = action.target();
            into.entry((to, written.next())).or_default().push(rule);
        }
        Into(into)
    }

    /// Where one step of the program leads to this thread state from.
    fn before(&self, program: &Program, (shared, stack): ThreadState, stacks: &mut Stacks) -> Vec<ThreadState> {
        let mut before = Vec::new();
        let (to, top) = (SharedState(shared), stacks.top(stack));
        let rules = [None, top].into_iter().take(1 + usize::from(top.is_some())).map(|top| self.0.get(&(to, top)));
        for &rule in rules.flatten().flatten() {
            let action = program.rules()[rule].action;
            let ((from, read), (_, mut written)) = (action.source(), action.target());
            let rest =
                written.try_fold(stack, |rest, symbol| (stacks.top(rest) == Some(symbol)).then(|| stacks.rest(rest)));
            match (rest, read) {
                (Some(rest), Some(read)) => before.push((from.0, stacks.push(read, rest))),
                (Some(rest), None) if stacks.height(rest) == 0 => before.push((from.0, rest)),
                _ => {}
            }
        }
        before
    }
}

/// A place on the way.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum At {
    /// A context ends in this state: the one with the number of its level.
    End(u32),
    /// The thread at this position of the state is within this context.
    Inside { state: u32, position: u32, context: u32 },
}

struct Search<'s, L> {
    system: &'s Cpds,
    symmetry: &'s Symmetry,
    bad: &'s BadPatterns,
    /// By position.
    programs: Vec<usize>,
    /// By program.
    into: Vec<Into>,
    stacks: Stacks,
    levels: L,
    /// Fewer steps than this are looked for.
    steps: usize,
    patience: &'s Patience,
    /// Every state that came up, and its level if it has one.
    states: Vec<(Sorted, Option<usize>)>,
    numbers: FxHashMap<Sorted, u32>,
    /// How many steps are left from where, as far as it is known.
    left: FxHashMap<At, usize>,
    /// What is to be looked at, by the steps that are left.
    open: BTreeMap<usize, Vec<At>>,
}

impl<L: Levels> Search<'_, L> {
    /// A trace with so many contexts and the fewest steps; none if there is none with fewer steps,
    /// or too much to look at.
    fn trace(mut self, contexts: usize) -> Result<Option<Trace>, L::Error> {
        let last = contexts - 1;
        let Some(ways) = crate::trace::last_context::ways(
            (self.system, self.symmetry, self.bad),
            (&mut self.levels, &mut self.stacks),
            last,
            (self.steps - contexts, self.patience),
        )?
        else {
            return Ok(None);
        };
        let near = self.levels.near(last, &ways, self.patience.most, &mut self.stacks)?;
        if !self.patience.has_room_for(near.len()) {
            return Ok(None);
        }
        for (steps, shared, mut stacks) in near {
            self.symmetry.sort(&mut stacks);
            let state = self.number((shared, stacks));
            self.states[state as usize].1 = Some(last);
            self.arrive(At::End(state), steps);
        }
        while let Some((left, mut batch)) = self.open.pop_first() {
            batch.retain(|at| self.left[at] == left);
            let is_initial = |at: &At| match *at {
                At::End(state) if self.states[state as usize].1 == Some(0) => Some(state),
                _ => None,
            };
            if let Some(first) = batch.iter().filter_map(is_initial).min_by_key(|&state| self.content(state)) {
                return Ok(self.walk(first, last));
            }
            self.back(left, batch)?;
            if !self.patience.has_room_for(self.states.len().max(self.left.len())) {
                return Ok(None);
            }
        }
        Ok(None)
    }

    /// What is on the stacks of a state, by position, with those of interchangeable threads in
    /// order.
    fn content(&self, state: u32) -> (u32, Vec<Stack>) {
        let (shared, stacks) = &self.states[state as usize].0;
        let mut stacks: Vec<Stack> = stacks.iter().map(|&stack| self.stacks.stack(stack)).collect();
        for group in self.symmetry.groups() {
            stacks[group].sort_unstable();
        }
        (*shared, stacks)
    }

    /// The number of a state.
    fn number(&mut self, state: Sorted) -> u32 {
        let next = u32::try_from(self.states.len()).expect("the search ends before");
        *self.numbers.entry(state).or_insert_with_key(|state| {
            self.states.push((state.clone(), None));
            next
        })
    }

    /// Notes a way with so many steps left, if it is the shortest so far and can be short enough in
    /// the end.
    fn arrive(&mut self, at: At, left: usize) {
        // One step of each context that is missing, and of this one if it has begun before.
        let (At::End(state) | At::Inside { state, .. }) = at;
        let missing = self.states[state as usize].1.expect("a state of a level");
        if left + missing < self.steps && self.left.get(&at).is_none_or(|&known| left < known) {
            self.left.insert(at, left);
            self.open.entry(left).or_default().push(at);
        }
    }

    /// One step back from all of these.
    fn back(&mut self, left: usize, batch: Vec<At>) -> Result<(), L::Error> {
        let (mut before, mut unknown) = (Vec::new(), FxHashSet::default());
        for at in batch {
            match at {
                At::End(state) => {
                    let context = u32::try_from(self.states[state as usize].1.expect("it has one")).expect("few");
                    for position in 0..self.programs.len() {
                        let (_, stacks) = &self.states[state as usize].0;
                        if position == self.symmetry.group(position).start || stacks[position - 1] != stacks[position] {
                            let position = u32::try_from(position).expect("few");
                            self.arrive(At::Inside { state, position, context }, left);
                        }
                    }
                }
                At::Inside { state, position, context } => {
                    let (shared, stacks) = &self.states[state as usize].0;
                    let (position, others) = (position as usize, stacks.clone());
                    let from = (*shared, others[position]);
                    let program = self.programs[position];
                    let rules = &self.system.programs()[program];
                    for (shared, stack) in self.into[program].before(rules, from, &mut self.stacks) {
                        let mut stacks = others.clone();
                        stacks[position] = stack;
                        self.symmetry.sort(&mut stacks);
                        let position = place_of(self.symmetry, &stacks, position, stack);
                        let known = self.states.len();
                        let state = self.number((shared, stacks));
                        if state as usize >= known {
                            unknown.insert(state);
                        }
                        before.push((state, position, context));
                    }
                }
            }
        }
        let mut unknown: Vec<u32> = unknown.into_iter().collect();
        unknown.sort_unstable();
        let asked: Vec<&Sorted> = unknown.iter().map(|&state| &self.states[state as usize].0).collect();
        let levels = self.levels.levels_of(&asked, &self.stacks)?;
        for (state, level) in unknown.into_iter().zip(levels) {
            self.states[state as usize].1 = level;
        }
        for (state, position, context) in before {
            let Some(level) = self.states[state as usize].1.and_then(|level| u32::try_from(level).ok()) else {
                continue;
            };
            if level == context || level + 1 == context {
                self.arrive(At::Inside { state, position, context }, left + 1);
            }
            if level + 1 == context {
                self.arrive(At::End(state), left + 1);
            }
        }
        Ok(())
    }

    /// From this state of level 0 to a bad one, always one step nearer; of several threads and
    /// rules the first. None if there are too many symbols on the way.
    fn walk(mut self, first: u32, last: usize) -> Option<Trace> {
        let (mut shared, stacks) = self.content(first);
        let stacks: Vec<StackId> = stacks.iter().map(|stack| self.stacks.intern(stack)).collect();
        let mut by_thread = self.symmetry.by_thread(stacks);
        let initial = GlobalState {
            shared: SharedState(shared),
            stacks: by_thread.iter().map(|&stack| self.stacks.stack(stack)).collect(),
        };
        let mut left = self.left[&At::End(first)];
        let mut contexts = Vec::new();
        for context in 1..=last {
            let is_on_the_way = |&thread: &ThreadId| self.inside(shared, &by_thread, thread, context) == Some(left);
            let thread = self.system.threads().find(is_on_the_way).expect("some thread goes on");
            let mut rules = Vec::new();
            // As long as it is no longer altogether, the context goes on.
            while left > 0 {
                let stack = by_thread[thread.index()];
                let next = self.successors(thread, (shared, stack)).into_iter().find(|&(_, (shared, stack))| {
                    by_thread[thread.index()] = stack;
                    self.inside(shared, &by_thread, thread, context).is_some_and(|there| there + 1 == left)
                });
                by_thread[thread.index()] = stack;
                let Some((rule, (to, stack))) = next else { break };
                rules.push(rule);
                left -= 1;
                (shared, by_thread[thread.index()]) = (to, stack);
            }
            contexts.push((thread, rules));
        }
        contexts.push(self.last_context(shared, &by_thread, left));
        written(self.system, initial, &contexts)
    }

    /// How many steps are left from this state, within a context of this thread; if it came up.
    fn inside(&self, shared: u32, by_thread: &[StackId], thread: ThreadId, context: usize) -> Option<usize> {
        let mut stacks = self.symmetry.placed(by_thread);
        self.symmetry.sort(&mut stacks);
        let stack = by_thread[thread.index()];
        let position = place_of(self.symmetry, &stacks, self.symmetry.position(thread), stack);
        let state = *self.numbers.get(&(shared, stacks))?;
        let at = At::Inside { state, position, context: u32::try_from(context).ok()? };
        self.left.get(&at).copied()
    }

    /// Where the steps of a thread lead, with their rules.
    fn successors(&mut self, thread: ThreadId, (shared, stack): ThreadState) -> Vec<(usize, ThreadState)> {
        let rules = self.system.program(thread).rules_from(SharedState(shared), self.stacks.top(stack));
        let step = |(index, rule): (usize, &cpds::Rule)| {
            let (to, written) = rule.action.target();
            (index, (to.0, self.stacks.replace_top(stack, written)))
        };
        rules.map(step).collect()
    }

    /// The first thread that comes to a bad state with so many steps, and its rules.
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
            // Where each thread state was come to from, by which rule.
            let mut from: FxHashMap<ThreadState, Option<(ThreadState, usize)>> = FxHashMap::default();
            from.insert(start, None);
            let mut wave = vec![start];
            for _ in 0..steps {
                let mut next = Vec::new();
                for before in wave {
                    for (rule, after) in self.successors(thread, before) {
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
        unreachable!("some thread comes to a bad state")
    }
}

/// The first position in the group of this one that has this stack.
fn place_of(symmetry: &Symmetry, stacks: &[StackId], position: usize, stack: StackId) -> u32 {
    let mut group = symmetry.group(position);
    let place = group.find(|&i| stacks[i] == stack).expect("it is one of them");
    u32::try_from(place).expect("few")
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpds::Problem;
    use cpds_testing::shortest::fewest_steps;

    /// After one step of A, B needs two; after five steps of A, C needs one. The first bad state
    /// that comes up is C's.
    const DETOUR: &str = "shared 0..9; init 0|a,b,c; bad 9|*,*,*
        thread A { symbols a; (0,a) -> (1,a); (1,a) -> (2,a); (2,a) -> (3,a); (3,a) -> (4,a); (4,a) -> (5,a) }
        thread B { symbols b; (1,b) -> (6,b); (6,b) -> (9,b) }
        thread C { symbols c; (5,c) -> (9,c) }";

    fn with(text: &str, patience: &Patience) -> Option<(usize, usize)> {
        let problem: Problem = text.parse().unwrap();
        let mut reachable = Reachable::new(problem.system(), true, Tuning::SHIPPED);
        let bad = BadPatterns::new(problem.property(), &reachable.symmetry);
        let first = loop {
            assert!(reachable.advance(&mut |_| ControlFlow::<()>::Continue(())).is_continue());
            let set = reachable.visible().set();
            if let Some(first) = bad.first_violation(set, 0..set.len()) {
                break first;
            }
        };
        let trace = reachable.trace_to_bad(&bad, first.0, first.1, patience)?;
        let fewest = fewest_steps(&problem, trace.contexts.len(), 1000).unwrap();
        Some((steps(&trace), fewest))
    }

    #[test]
    fn the_last_context_may_be_longer_in_a_shorter_trace() {
        assert_eq!(with(DETOUR, &Patience::default()), Some((3, 3)));
    }

    /// The trace that is known has to do.
    #[test]
    fn without_patience_there_is_a_trace_all_the_same() {
        let none = || Patience { most: 0, cancel: Cancel::default() };
        assert_eq!(with(DETOUR, &none()), Some((6, 3)));
    }
}
