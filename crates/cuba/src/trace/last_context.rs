//! The last context of a trace: in how many steps one thread makes a state bad.
//!
//! A bad pattern requires some tops of the other threads, which do not move. The number of steps in
//! which the moving thread fulfils the rest of the pattern depends only on its thread state. There
//! are far fewer thread states than states, so the search counts steps for thread states. It goes
//! forwards to all thread states within the allowed number of steps, and then backwards from those
//! that fulfil the pattern.

use crate::explicit::reachable::Reachable;
use crate::explicit::tables::stack_table::{StackId, Stacks};
use crate::tables::step_cache::ThreadState;
use crate::trace::backwards::LevelQueries;
use crate::trace::search_budget::SearchBudget;
use crate::trace::thread_steps::steps_from;
use crate::visible::bad_patterns::{BadPatterns, RequiredTop};
use crate::visible::levels::top_number;
use crate::visible::symmetry::Symmetry;
use cpds::{Cpds, Program};
use rustc_hash::{FxHashMap, FxHashSet};

/// The contexts of one thread that make a state bad, for the same tops of the other threads.
pub(crate) struct LastContext {
    /// The first position in the group of the moving thread.
    pub(crate) group: usize,
    /// The tops that the other threads need.
    pub(crate) others: Vec<RequiredTop>,
    /// The thread states in which the context may start, with the number of its steps.
    pub(crate) steps: Vec<(ThreadState, usize)>,
}

/// A state in which a last context may start: the number of steps, the shared state, and the stacks
/// by position.
pub(crate) type LastContextStart = (usize, u32, Vec<StackId>);

/// Computes all last contexts of at most so many steps that may start in states of this level.
/// Returns `None` if the budget is used up.
pub(super) fn last_contexts<L: LevelQueries>(
    (system, symmetry, bad): (&Cpds, &Symmetry, &BadPatterns),
    (levels, stacks): (&mut L, &mut Stacks),
    level: usize,
    (steps, budget): (usize, &SearchBudget),
) -> Result<Option<Vec<LastContext>>, L::Error> {
    let programs = symmetry.programs(system);
    let starts = levels.thread_states(level, budget.max_items, stacks)?;
    if !starts.iter().all(|starts| budget.has_room_for(starts.len())) {
        return Ok(None);
    }
    let (ends, mut last_contexts, mut work) = (bad.ends(), Vec::new(), 0);
    for (group, starts) in symmetry.groups().zip(starts) {
        let ends = ends.iter().filter(|((of, _), _)| *of == group.start);
        let program = &system.programs()[programs[group.start]];
        let mut graph = None;
        for ((_, others), ends) in ends {
            let graph = match &graph {
                Some(graph) => graph,
                None => match ThreadGraph::new(program, &starts, steps, stacks, budget) {
                    Some(new) => graph.insert(new),
                    None => return Ok(None),
                },
            };
            let ends: FxHashSet<_> = ends.iter().copied().collect();
            let is_end = |&(shared, stack): &ThreadState| {
                let (q, top) = (Some(shared), Some(top_number(stacks.top(stack))));
                [(q, top), (q, None), (None, top)].iter().any(|end| ends.contains(end))
            };
            last_contexts.push(LastContext {
                group: group.start,
                others: others.clone(),
                steps: graph.steps(starts.len(), steps, is_end),
            });
            work += graph.states.len();
            if !budget.has_room_for(work) {
                return Ok(None);
            }
        }
    }
    Ok(Some(last_contexts))
}

/// The thread states that one thread reaches alone, with the steps between them.
struct ThreadGraph {
    /// The starts come first.
    states: Vec<ThreadState>,
    /// For each thread state, its predecessors.
    before: Vec<Vec<u32>>,
}

impl ThreadGraph {
    /// Builds the graph of the thread states that are reachable from `starts` (without duplicates)
    /// in at most so many steps. Returns `None` if the budget is used up.
    fn new(
        program: &Program,
        starts: &[ThreadState],
        steps: usize,
        stacks: &mut Stacks,
        budget: &SearchBudget,
    ) -> Option<ThreadGraph> {
        let mut graph = ThreadGraph { states: starts.to_vec(), before: vec![Vec::new(); starts.len()] };
        let mut numbers: FxHashMap<ThreadState, u32> = starts.iter().copied().zip(0..).collect();
        let mut wave = 0..starts.len();
        for _ in 0..steps {
            for id in wave.clone() {
                for (_, after) in steps_from(program, graph.states[id], stacks) {
                    let next = u32::try_from(graph.states.len()).expect("the budget is smaller");
                    let number = *numbers.entry(after).or_insert(next);
                    if number == next {
                        graph.states.push(after);
                        graph.before.push(Vec::new());
                    }
                    graph.before[number as usize].push(u32::try_from(id).expect("the budget is smaller"));
                }
                if graph.states.len() > budget.max_items {
                    return None;
                }
            }
            if !budget.has_room_for(graph.states.len()) {
                return None;
            }
            wave = wave.end..graph.states.len();
        }
        Some(graph)
    }

    /// Returns the number of steps from each of the first `starts` thread states to an end, if it
    /// is at most `max_steps`.
    fn steps(
        &self,
        starts: usize,
        max_steps: usize,
        is_end: impl Fn(&ThreadState) -> bool,
    ) -> Vec<(ThreadState, usize)> {
        let mut is_reached = vec![false; self.states.len()];
        let mut wave: Vec<usize> = (0..self.states.len()).filter(|&id| is_end(&self.states[id])).collect();
        for &id in &wave {
            is_reached[id] = true;
        }
        let mut steps_of_starts = Vec::new();
        for steps in 1..=max_steps {
            let mut next = Vec::new();
            for id in wave {
                for &before in &self.before[id] {
                    let before = before as usize;
                    if !std::mem::replace(&mut is_reached[before], true) {
                        next.push(before);
                        if before < starts {
                            steps_of_starts.push((self.states[before], steps));
                        }
                    }
                }
            }
            wave = next;
        }
        steps_of_starts
    }
}

impl Reachable<'_> {
    /// Returns, for each group in order, the thread states of its threads in the states of this
    /// level, without duplicates. If there are more than `most`, the list ends soon after `most`.
    pub(crate) fn thread_states(&self, level: usize, most: usize) -> Vec<Vec<ThreadState>> {
        let layout = self.sorted_states().layout();
        let mut groups: Vec<Vec<ThreadState>> = Vec::new();
        for group in self.symmetry().groups() {
            let mut distinct: FxHashSet<ThreadState> = FxHashSet::default();
            for row in self.range(level).map(|id| self.sorted_states().row(id)) {
                distinct.extend(group.clone().map(|position| (layout.shared(row), layout.local(row, position))));
                if distinct.len() > most {
                    break;
                }
            }
            groups.push(distinct.into_iter().collect());
        }
        groups
    }

    /// Returns the states of this level in which one of these last contexts can start, each with
    /// the fewest steps. If there are more than `most`, the list has one more than `most`.
    pub(crate) fn near(&self, level: usize, ways: &[LastContext], most: usize) -> Vec<LastContextStart> {
        let mut by_start: FxHashMap<(usize, ThreadState), Vec<(usize, usize)>> = FxHashMap::default();
        for (number, way) in ways.iter().enumerate() {
            for &(start, steps) in &way.steps {
                by_start.entry((way.group, start)).or_default().push((steps, number));
            }
        }
        for ways in by_start.values_mut() {
            ways.sort_unstable();
        }
        let layout = self.sorted_states().layout();
        let mut near = Vec::new();
        for row in self.range(level).map(|id| self.sorted_states().row(id)) {
            let others_have = |position: usize, &(group, top, times): &RequiredTop| {
                let others = self.symmetry().group(group).filter(|&other| other != position);
                let tops = others.map(|other| top_number(self.stacks().top(layout.local(row, other))));
                tops.filter(|&other| other == top).count() >= times
            };
            let steps = |position: usize| {
                let start = (layout.shared(row), layout.local(row, position));
                let last_contexts = by_start.get(&(self.symmetry().group(position).start, start))?;
                let fits = |&&(_, way): &&(usize, usize)| {
                    ways[way].others.iter().all(|required| others_have(position, required))
                };
                last_contexts.iter().find(fits).map(|&(steps, _)| steps)
            };
            let positions =
                (0..self.system().thread_count()).filter(|&i| self.symmetry().stands_for_itself(layout, row, i));
            if let Some(steps) = positions.filter_map(steps).min() {
                near.push((steps, layout.shared(row), layout.locals(row).collect()));
                if near.len() > most {
                    break;
                }
            }
        }
        near
    }

    /// Returns the level of a state, if the levels contain it. Its stacks have to be sorted.
    pub(crate) fn level_of(&self, shared: u32, stacks: &[StackId]) -> Option<usize> {
        if stacks.iter().any(|&stack| stack as usize >= self.stacks().len()) {
            return None;
        }
        let mut row = vec![0; self.sorted_states().layout().words()];
        self.sorted_states().layout().pack(&mut row, shared, stacks.iter().copied());
        let id = self.sorted_states().find(&row)?;
        Some(self.level_of_number(id))
    }
}
