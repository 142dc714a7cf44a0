//! The fewest steps to a bad state with so many contexts, straight from the definition:
//! breadth-first over all paths, by where they are, which thread moved last, and how many contexts
//! there were.
//!
//! Slow and obviously right; used by tests only.

use cpds::{GlobalState, Problem, ThreadId};
use std::collections::HashSet;

/// The fewest steps of a path to a bad state with at most so many contexts; none if there is no
/// such path, or if more than `most` places come up on the way.
pub fn fewest_steps(problem: &Problem, contexts: usize, most: usize) -> Option<usize> {
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
                let place = (step.state, Some(step.thread), used);
                if used <= contexts && known.insert(place.clone()) {
                    next.push(place);
                }
            }
        }
        if next.is_empty() || known.len() > most {
            return None;
        }
        wave = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Thread A may go to 2 alone, in five steps; with B's help it takes two, one context more
    /// each.
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
        assert_eq!(fewest_steps(&problem, 1, 3), None, "there are more places");
    }
}
