//! The last context of a trace: how many steps a thread needs to make a state bad, if all others
//! stay as they are.
//!
//! What other threads have to show for that, a bad pattern says; whether one thread can come to the
//! rest of it, and with how many steps, depends on its own thread state alone. There are far fewer
//! thread states than states. So the steps are counted for them: forwards to what can be reached
//! with so many steps at all, and backwards from where a pattern is fulfilled.

use crate::explicit::reachable::Reachable;
use crate::explicit::stack_table::{StackId, Stacks};
use crate::tables::step_cache::ThreadState;
use crate::trace::backwards::Levels;
use crate::trace::fewest_steps::Patience;
use crate::visible::bad_patterns::{BadPatterns, Shown};
use crate::visible::levels::top_number;
use crate::visible::symmetry::Symmetry;
use cpds::{Cpds, Program, SharedState};
use rustc_hash::{FxHashMap, FxHashSet};

/// One way to become bad by a context of one thread.
pub(crate) struct Way {
    /// The first position of the group whose thread moves.
    pub(crate) group: usize,
    /// What the others have to show.
    pub(crate) others: Vec<Shown>,
    /// Where the thread may start, and how many steps it needs from there.
    pub(crate) steps: Vec<(ThreadState, usize)>,
}

/// A state that is a context away from a bad one: with how many steps, its shared state, and its
/// stacks by position.
pub(crate) type Near = (usize, u32, Vec<StackId>);

/// All ways to become bad by one more context after this level, with at most so many steps; nothing
/// if there is too much to look at.
pub(crate) fn ways<L: Levels>(
    (system, symmetry, bad): (&Cpds, &Symmetry, &BadPatterns),
    (levels, stacks): (&mut L, &mut Stacks),
    level: usize,
    (steps, patience): (usize, &Patience),
) -> Result<Option<Vec<Way>>, L::Error> {
    let programs = symmetry.programs(system);
    let starts = levels.thread_states(level, patience.most, stacks)?;
    if !starts.iter().all(|starts| patience.has_room_for(starts.len())) {
        return Ok(None);
    }
    let (ends, mut ways, mut work) = (bad.ends(), Vec::new(), 0);
    for (group, starts) in symmetry.groups().zip(starts) {
        let ends = ends.iter().filter(|((of, _), _)| *of == group.start);
        let program = &system.programs()[programs[group.start]];
        let mut graph = None;
        for ((_, others), ends) in ends {
            let graph = match &graph {
                Some(graph) => graph,
                None => match Graph::new(program, &starts, steps, stacks, patience) {
                    Some(new) => graph.insert(new),
                    None => return Ok(None),
                },
            };
            let ends: FxHashSet<_> = ends.iter().copied().collect();
            let is_end = |&(shared, stack): &ThreadState| {
                let (q, top) = (Some(shared), Some(top_number(stacks.top(stack))));
                [(q, top), (q, None), (None, top)].iter().any(|end| ends.contains(end))
            };
            ways.push(Way {
                group: group.start,
                others: others.clone(),
                steps: graph.steps(starts.len(), steps, is_end),
            });
            work += graph.states.len();
            if !patience.has_room_for(work) {
                return Ok(None);
            }
        }
    }
    Ok(Some(ways))
}

/// What one thread can reach alone.
struct Graph {
    /// Where it may start, and then the others.
    states: Vec<ThreadState>,
    /// For each, where one step leads to it from.
    before: Vec<Vec<u32>>,
}

impl Graph {
    /// What can be reached from these, each given once, with so many steps; nothing if it is too
    /// much.
    fn new(
        program: &Program,
        starts: &[ThreadState],
        steps: usize,
        stacks: &mut Stacks,
        patience: &Patience,
    ) -> Option<Graph> {
        let mut graph = Graph { states: starts.to_vec(), before: vec![Vec::new(); starts.len()] };
        let mut numbers: FxHashMap<ThreadState, u32> = starts.iter().copied().zip(0..).collect();
        let mut wave = 0..starts.len();
        for _ in 0..steps {
            for id in wave.clone() {
                let (shared, stack) = graph.states[id];
                for (_, rule) in program.rules_from(SharedState(shared), stacks.top(stack)) {
                    let (to, written) = rule.action.target();
                    let after = (to.0, stacks.replace_top(stack, written));
                    let next = u32::try_from(graph.states.len()).expect("it ends before");
                    let number = *numbers.entry(after).or_insert(next);
                    if number == next {
                        graph.states.push(after);
                        graph.before.push(Vec::new());
                    }
                    graph.before[number as usize].push(u32::try_from(id).expect("it ends before"));
                }
                if graph.states.len() > patience.most {
                    return None;
                }
            }
            if !patience.has_room_for(graph.states.len()) {
                return None;
            }
            wave = wave.end..graph.states.len();
        }
        Some(graph)
    }

    /// How many steps the first so many thread states need to such an end, if at most so many.
    fn steps(&self, starts: usize, most: usize, is_end: impl Fn(&ThreadState) -> bool) -> Vec<(ThreadState, usize)> {
        let mut known = vec![false; self.states.len()];
        let mut wave: Vec<usize> = (0..self.states.len()).filter(|&id| is_end(&self.states[id])).collect();
        for &id in &wave {
            known[id] = true;
        }
        let mut found = Vec::new();
        for steps in 1..=most {
            let mut next = Vec::new();
            for id in wave {
                for &before in &self.before[id] {
                    let before = before as usize;
                    if !std::mem::replace(&mut known[before], true) {
                        next.push(before);
                        if before < starts {
                            found.push((self.states[before], steps));
                        }
                    }
                }
            }
            wave = next;
        }
        found
    }
}

impl Reachable<'_> {
    /// For each group, in order, the thread states of its threads in the states of this level, each
    /// once; if there are more than `most`, a few more than that.
    pub(crate) fn thread_states(&self, level: usize, most: usize) -> Vec<Vec<ThreadState>> {
        let layout = self.states.layout();
        let mut groups: Vec<Vec<ThreadState>> = Vec::new();
        for group in self.symmetry.groups() {
            let mut found: FxHashSet<ThreadState> = FxHashSet::default();
            for row in self.range(level).map(|id| self.states.row(id)) {
                found.extend(group.clone().map(|position| (layout.shared(row), layout.local(row, position))));
                if found.len() > most {
                    break;
                }
            }
            groups.push(found.into_iter().collect());
        }
        groups
    }

    /// The states of this level that can become bad in one of these ways, with the fewest steps of
    /// any of them; if there are more than `most`, one more than that.
    pub(crate) fn near(&self, level: usize, ways: &[Way], most: usize) -> Vec<Near> {
        let mut by_start: FxHashMap<(usize, ThreadState), Vec<(usize, usize)>> = FxHashMap::default();
        for (number, way) in ways.iter().enumerate() {
            for &(start, steps) in &way.steps {
                by_start.entry((way.group, start)).or_default().push((steps, number));
            }
        }
        for ways in by_start.values_mut() {
            ways.sort_unstable();
        }
        let layout = self.states.layout();
        let mut near = Vec::new();
        for row in self.range(level).map(|id| self.states.row(id)) {
            let shown_by_others = |position: usize, &(group, top, times): &Shown| {
                let others = self.symmetry.group(group).filter(|&other| other != position);
                let tops = others.map(|other| top_number(self.stacks.top(layout.local(row, other))));
                tops.filter(|&other| other == top).count() >= times
            };
            let steps = |position: usize| {
                let start = (layout.shared(row), layout.local(row, position));
                let ways_from = by_start.get(&(self.symmetry.group(position).start, start))?;
                let fits = |&&(_, way): &&(usize, usize)| {
                    ways[way].others.iter().all(|shown| shown_by_others(position, shown))
                };
                ways_from.iter().find(fits).map(|&(steps, _)| steps)
            };
            let positions = (0..self.programs.len()).filter(|&i| self.symmetry.stands_for_itself(layout, row, i));
            if let Some(steps) = positions.filter_map(steps).min() {
                near.push((steps, layout.shared(row), layout.locals(row).collect()));
                if near.len() > most {
                    break;
                }
            }
        }
        near
    }

    /// The level of this state, if it has been found; its stacks are sorted.
    pub(crate) fn level_of(&self, shared: u32, stacks: &[StackId]) -> Option<usize> {
        if stacks.iter().any(|&stack| stack as usize >= self.stacks.len()) {
            return None;
        }
        let mut row = vec![0; self.states.layout().words()];
        self.states.layout().pack(&mut row, shared, stacks.iter().copied());
        let id = self.states.find(&row)?;
        Some(self.levels.partition_point(|&start| start <= id) - 1)
    }
}
