//! Renumbers the interchangeable threads of a trace in the order in which they first move.
//!
//! A permutation of interchangeable threads maps a trace to a trace. But a bad pattern may
//! distinguish these threads. Then each thread gets the least number with which the trace still
//! ends in a bad state. If several patterns fit, the first one that gives the least numbers
//! decides.

use cpds::{Context, GlobalState, Pattern, Problem, ThreadId, Trace, TraceStep, Wild};

/// Returns the renumbered trace, and the first bad pattern that its last state fits; `None` if the
/// last state fits no bad pattern in any order of the interchangeable threads.
pub(crate) fn numbered(problem: &Problem, trace: &Trace) -> Option<(Trace, usize)> {
    let system = problem.system();
    let first_context = |thread: ThreadId| trace.contexts.iter().position(|context| context.thread == thread);
    let in_order = |mut group: Vec<ThreadId>| {
        // Threads that never move come last, in their old order.
        group.sort_by_key(|&thread| (first_context(thread).unwrap_or(usize::MAX), thread));
        group
    };
    let groups: Vec<ThreadGroup> = system
        .symmetric_groups()
        .into_iter()
        .map(|group| {
            let mut places = group.clone();
            places.sort_unstable();
            ThreadGroup { places, threads: in_order(group) }
        })
        .collect();
    let last = trace.last();
    let fitting = |pattern: &Pattern| -> Option<Vec<(ThreadId, ThreadId)>> {
        let shared = matches!(pattern.shared, Wild::Any) || pattern.shared == Wild::Is(last.shared);
        let groups = groups.iter().map(|group| group.placed(pattern, last));
        shared.then(|| groups.collect::<Option<Vec<_>>>())?.map(|groups| groups.concat())
    };
    let places = problem.property().bad.iter().filter_map(fitting).min()?;
    let mut to = vec![ThreadId(0); system.thread_count()];
    for (thread, place) in places {
        to[thread.index()] = place;
    }
    let trace = permuted(problem, trace, &to);
    let last = trace.last().visible();
    let pattern = problem.property().bad.iter().position(|pattern| pattern.matches(&last))?;
    Some((trace, pattern))
}

/// A group of interchangeable threads, and its places in the system.
struct ThreadGroup {
    places: Vec<ThreadId>,
    /// In the order of their first move.
    threads: Vec<ThreadId>,
}

impl ThreadGroup {
    /// Returns each thread with its new place: the first place that leaves enough threads for the
    /// tops that the pattern names.
    fn placed(&self, pattern: &Pattern, last: &GlobalState) -> Option<Vec<(ThreadId, ThreadId)>> {
        let top = |thread: ThreadId| Wild::Is(last.stacks[thread.index()].top());
        let wanted = |place: ThreadId| pattern.tops[place.index()];
        let is_enough = |places: &[ThreadId], threads: &[ThreadId]| {
            places.iter().map(|&place| wanted(place)).filter(|top| *top != Wild::Any).all(|named| {
                let count = places.iter().filter(|&&place| wanted(place) == named).count();
                threads.iter().filter(|&&thread| top(thread) == named).count() >= count
            })
        };
        let mut free = self.places.clone();
        if !is_enough(&free, &self.threads) {
            return None;
        }
        let placed = self.threads.iter().enumerate().map(|(i, &thread)| {
            // At a place that names the thread's own top, enough threads are left for the rest. At
            // a place that names no top, the other threads have to be enough.
            let may_go_anywhere = is_enough(&free, &self.threads[i + 1..]);
            let fits =
                |&place: &ThreadId| wanted(place) == top(thread) || may_go_anywhere && wanted(place) == Wild::Any;
            let at = free.iter().position(fits)?;
            Some((thread, free.remove(at)))
        });
        placed.collect()
    }
}

/// Moves each thread of a trace to its new place. The programs of both places have the same
/// actions.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::squeeze::analysis::Conclusion;
    use crate::squeeze::question::{Options, Question};
    use crate::squeeze::search::search_unchecked;

    /// Renumbers the trace in which thread 3 of four moves first, then thread 1, then thread 3
    /// again.
    fn threads(bad: &str) -> (Vec<u32>, usize) {
        let text = format!(
            "shared 0..3; init 0|a,a,a,a; {bad}
            thread T * 4 {{ symbols a b c; (0,a) -> (1,b); (1,a) -> (2,b); (2,b) -> (3,c) }}"
        );
        let problem: Problem = text.parse().unwrap();
        let mut state = problem.system().initial()[0].clone();
        let mut trace = Trace { initial: state.clone(), contexts: Vec::new() };
        for thread in [2, 0, 2].map(ThreadId) {
            let step = problem.system().steps_of(thread, &state).next().unwrap();
            state = step.state;
            let steps = vec![TraceStep { rule: step.index, state: state.clone() }];
            trace.contexts.push(Context { thread, steps });
        }
        let (trace, pattern) = numbered(&problem, &trace).unwrap();
        assert_eq!(trace.replay(problem.system()), Ok(()));
        assert!(problem.property().bad[pattern].matches(&trace.last().visible()));
        (trace.contexts.iter().map(|context| context.thread.0).collect(), pattern)
    }

    #[test]
    fn threads_are_numbered_in_the_order_of_their_first_moves() {
        assert_eq!(threads("bad 3|*,*,*,*"), (vec![0, 1, 0], 0));
        assert_eq!(threads("bad 3|b,*,*,c; bad 3|c,b,*,*"), (vec![0, 1, 0], 1));
    }

    #[test]
    fn a_pattern_may_name_threads() {
        assert_eq!(threads("bad 3|*,c,*,*"), (vec![1, 0, 1], 0));
        assert_eq!(threads("bad 3|a,*,*,b"), (vec![1, 3, 1], 0));
        assert_eq!(threads("bad 3|b,*,*,c; bad 3|b,*,c,*"), (vec![2, 0, 2], 1), "the pattern with the lesser numbers");
    }

    #[test]
    fn a_state_that_is_not_bad_fits_no_pattern() {
        let problem: Problem =
            "shared 0 1; init 0|a,a; bad 1|*,*; thread T * 2 { symbols a; (0,a) -> (0,a) }".parse().unwrap();
        let trace = Trace { initial: problem.system().initial()[0].clone(), contexts: Vec::new() };
        assert_eq!(numbered(&problem, &trace), None);
    }

    /// Two programs have the same actions in another order. A thread with a new place fires the
    /// rule of its new program.
    #[test]
    fn rules_are_those_of_the_new_program() {
        let problem: Problem = "shared 0 1; init 0|a,a; bad 1|*,c
            thread A { symbols a c; (0,a) -> (1,c); (0,a) -> (0,a) }
            thread B { symbols a c; (0,a) -> (0,a); (0,a) -> (1,c) }"
            .parse()
            .unwrap();
        let analysis = search_unchecked(&problem, Question::Verify, &Options::default(), |_| ());
        let Conclusion::Unsafe { trace, .. } = analysis.conclusion else { panic!("it is unsafe") };
        let context = &trace.contexts[0];
        assert_eq!((context.thread, context.steps[0].rule), (ThreadId(1), 1));
        assert_eq!(trace.replay(problem.system()), Ok(()));
    }
}
