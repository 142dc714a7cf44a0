//! Interchangeable threads, numbered in the order in which they first move.
//!
//! Permuting the threads of a symmetric group makes a trace of a trace. A bad pattern may tell them apart, though; then a thread has the
//! least number with which the trace still ends in a bad state, and the first pattern that gives the best numbers decides.

use cpds::{Context, GlobalState, Pattern, Problem, ThreadId, Trace, TraceStep, Wild};

/// The trace with its threads numbered, and the first bad pattern that its last state fits; none if it fits none in any order of its
/// interchangeable threads.
pub(super) fn numbered(problem: &Problem, trace: &Trace) -> Option<(Trace, usize)> {
    let system = problem.system();
    let first = |thread: ThreadId| trace.contexts.iter().position(|context| context.thread == thread);
    let in_order = |mut group: Vec<ThreadId>| {
        // Those that never move come last, as they are.
        group.sort_by_key(|&thread| (first(thread).unwrap_or(usize::MAX), thread));
        group
    };
    let groups: Vec<Group> = system.symmetric_groups().into_iter().map(|group| {
        let mut places = group.clone();
        places.sort_unstable();
        Group { places, threads: in_order(group) }
    }).collect();
    let last = trace.last();
    let placed = |pattern: &Pattern| -> Option<Vec<(ThreadId, ThreadId)>> {
        let shared = matches!(pattern.shared, Wild::Any) || pattern.shared == Wild::Is(last.shared);
        let groups = groups.iter().map(|group| group.placed(pattern, last));
        shared.then(|| groups.collect::<Option<Vec<_>>>())?.map(|groups| groups.concat())
    };
    let places = problem.property().bad.iter().filter_map(placed).min()?;
    let mut to = vec![ThreadId(0); system.thread_count()];
    places.into_iter().for_each(|(thread, place)| to[thread.index()] = place);
    let trace = permuted(problem, trace, &to);
    let last = trace.last().visible();
    let pattern = problem.property().bad.iter().position(|pattern| pattern.matches(&last))?;
    Some((trace, pattern))
}

/// Interchangeable threads, and their numbers.
struct Group {
    places: Vec<ThreadId>,
    /// In the order in which they are numbered.
    threads: Vec<ThreadId>,
}

impl Group {
    /// Each thread with its place: the first one that leaves enough threads for the tops that the pattern names.
    fn placed(&self, pattern: &Pattern, last: &GlobalState) -> Option<Vec<(ThreadId, ThreadId)>> {
        let top = |thread: ThreadId| Wild::Is(last.stacks[thread.index()].top());
        let wanted = |place: ThreadId| pattern.tops[place.index()];
        let is_enough = |places: &[ThreadId], threads: &[ThreadId]| {
            places.iter().map(|&place| wanted(place)).filter(|it| *it != Wild::Any).all(|named| {
                let count = places.iter().filter(|&&place| wanted(place) == named).count();
                threads.iter().filter(|&&thread| top(thread) == named).count() >= count
            })
        };
        let mut free = self.places.clone();
        if !is_enough(&free, &self.threads) {
            return None;
        }
        let placed = self.threads.iter().enumerate().map(|(i, &thread)| {
            // Where its own top is named, there is one less of each; otherwise the others have to be enough.
            let may_go_anywhere = is_enough(&free, &self.threads[i + 1..]);
            let fits = |&place: &ThreadId| {
                wanted(place) == top(thread) || may_go_anywhere && wanted(place) == Wild::Any
            };
            let at = free.iter().position(fits)?;
            Some((thread, free.remove(at)))
        });
        placed.collect()
    }
}

/// The trace in which each thread has another place, whose program has the same actions.
fn permuted(problem: &Problem, trace: &Trace, to: &[ThreadId]) -> Trace {
    let system = problem.system();
    let state = |state: &GlobalState| {
        let mut stacks = state.stacks.clone();
        for (stack, place) in state.stacks.iter().zip(to) {
            stacks[place.index()].clone_from(stack);
        }
        GlobalState { shared: state.shared, stacks }
    };
    let context = |context: &Context| {
        let thread = to[context.thread.index()];
        let (before, after) = (system.program(context.thread), system.program(thread));
        let rule = |rule: usize| {
            let action = before.rules()[rule].action;
            if system.program_index(context.thread) == system.program_index(thread) {
                return rule;
            }
            let same = after.rules().iter().position(|other| other.action == action);
            same.expect("interchangeable threads have the same actions")
        };
        let step = |step: &TraceStep| TraceStep { rule: rule(step.rule), state: state(&step.state) };
        Context { thread, steps: context.steps.iter().map(step).collect() }
    };
    Trace { initial: state(&trace.initial), contexts: trace.contexts.iter().map(context).collect() }
}
