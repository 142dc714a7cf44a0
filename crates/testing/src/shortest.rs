//! The length of a shortest path to a bad state within a number of contexts, directly from the
//! definition.
//!
//! The search is breadth-first over triples: a state, the thread of the last step, and the number
//! of contexts. Slow and obviously correct.

use cpds::{GlobalState, Problem, ThreadId};
use std::collections::HashSet;

/// Returns the number of steps of a shortest path to a bad state with at most this many contexts.
/// Returns `None` if there is no such path, or if the search has more than `max_triples` triples.
pub fn fewest_steps(problem: &Problem, contexts: usize, max_triples: usize) -> Option<usize> {
    let system = problem.system();
    let start = |state: &GlobalState| (state.clone(), None, 0);
    let mut wave: Vec<(GlobalState, Option<ThreadId>, usize)> = system.initial().iter().map(start).collect();
    let mut known: HashSet<_> = wave.iter().cloned().collect();
    for steps in 0.. {
        if wave.iter().any(|(state, ..)| problem.is_bad(state)) {
            return Some(steps);
        }
        let mut next = Vec::new();
        for (state, last, used) in wave {
            for step in system.steps(&state) {
                let used = used + usize::from(last != Some(step.thread));
                let triple = (step.state, Some(step.thread), used);
                if used <= contexts && known.insert(triple.clone()) {
                    next.push(triple);
                }
            }
        }
        if next.is_empty() || known.len() > max_triples {
            return None;
        }
        wave = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Thread A reaches shared state 2 alone in five steps and one context. With a step of B first,
    /// it takes two steps and two contexts.
    #[test]
    fn fewer_contexts_may_take_more_steps() {
        let problem: Problem = "shared 0 1 2; init 0|a,b; bad 2|*,*
            thread A { symbols a c d e f; (0,a) -> (0,c); (0,c) -> (0,d); (0,d) -> (0,e); (0,e) -> (0,f)
                       (0,f) -> (2,f); (1,a) -> (2,a) }
            thread B { symbols b; (0,b) -> (1,b) }"
            .parse()
            .unwrap();
        let steps = |contexts| fewest_steps(&problem, contexts, usize::MAX);
        assert_eq!([0, 1, 2, 3].map(steps), [None, Some(5), Some(2), Some(2)]);
        assert_eq!(fewest_steps(&problem, 1, 3), None, "there are more than three triples");
    }
}
