//! Whether R_k is finite, for k = 0, 1, …, directly from the definition (paper §5).
//!
//! Slow and obviously correct: each thread runs alone from every state of R_k. This module shares
//! only the step relation with the engines.
//!
//! # When a context is infinite
//! Let h be the height of a thread's stack at the start of a context. Let p be the number of
//! thread-visible states (q,σ) that a push of this thread starts from. Let a run of the thread
//! build a stack higher than max(h, 1) + p. For each height from max(h, 1) + 1 up to the highest,
//! take the last push to this height. Two of these pushes start from the same (q,σ), so the run has
//! a part ⟨q|σ⟩ →* ⟨q|σw⟩ with w ≠ ε. The thread can repeat this part, so the context reaches
//! infinitely many states. If no run builds such a stack, the context has finitely many states.

use cpds::{Action, Cpds, GlobalState, ThreadId};
use std::collections::{BTreeSet, VecDeque};

/// Which of R_0, R_1, … are finite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FiniteLevels {
    /// A k for which R_0, …, R_k are finite.
    pub up_to: usize,
    /// Whether R_{k+1} is infinite.
    pub then_infinite: bool,
    /// Whether R_k is R.
    pub is_all: bool,
}

impl FiniteLevels {
    /// Returns the first k for which R_k is infinite; `None` if the levels do not show it.
    pub fn infinite(&self) -> Option<usize> {
        self.then_infinite.then_some(self.up_to + 1)
    }
}

/// Computes levels until R_k is infinite, or is R, or exceeds a limit.
pub fn finite_levels(system: &Cpds, max_k: usize, max_states: usize) -> FiniteLevels {
    let mut new: BTreeSet<GlobalState> = system.initial().iter().cloned().collect();
    let mut all = new.clone();
    let mut levels = FiniteLevels { up_to: 0, then_infinite: false, is_all: false };
    while levels.up_to < max_k {
        let mut next = BTreeSet::new();
        for state in &new {
            for thread in system.threads() {
                match context(system, thread, state, max_states) {
                    Context::Finite(states) => next.extend(states.into_iter().filter(|state| !all.contains(state))),
                    Context::Infinite => return FiniteLevels { then_infinite: true, ..levels },
                    Context::TooLarge => return levels,
                }
            }
        }
        levels.up_to += 1;
        if next.is_empty() {
            return FiniteLevels { is_all: true, ..levels };
        }
        all.extend(next.iter().cloned());
        if all.len() > max_states {
            return levels;
        }
        new = next;
    }
    levels
}

enum Context {
    Finite(BTreeSet<GlobalState>),
    Infinite,
    TooLarge,
}

/// Computes the states that a thread alone reaches from a state.
fn context(system: &Cpds, thread: ThreadId, start: &GlobalState, max_states: usize) -> Context {
    let rules = system.program(thread).rules().iter();
    let pushes = rules.filter(|rule| matches!(rule.action, Action::Push { .. })).map(|rule| rule.action.source());
    let highest = start.stacks[thread.index()].height().max(1) + pushes.collect::<BTreeSet<_>>().len();
    let mut reached = BTreeSet::from([start.clone()]);
    let mut queue = VecDeque::from([start.clone()]);
    while let Some(state) = queue.pop_front() {
        for step in system.steps_of(thread, &state) {
            if step.state.stacks[thread.index()].height() > highest {
                return Context::Infinite;
            }
            if reached.insert(step.state.clone()) {
                queue.push_back(step.state);
            }
        }
        if reached.len() > max_states {
            return Context::TooLarge;
        }
    }
    Context::Finite(reached)
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpds::Problem;

    fn levels(text: &str) -> FiniteLevels {
        let problem: Problem = text.parse().unwrap();
        finite_levels(problem.system(), 6, 1000)
    }

    /// The second thread can push without end in one shared state: the initial one, the one that
    /// the first thread sets, or an unreachable one.
    #[test]
    fn infinite_from_the_first_context_on_or_from_the_second_or_never() {
        let two = |pushes_at: u32| {
            format!(
                "shared 0 1 2; init 0|a,b; thread A {{ symbols a; (0,a) -> (1,a) }}
                thread B {{ symbols b; ({pushes_at},b) -> ({pushes_at},b b) }}"
            )
        };
        assert_eq!(levels(&two(0)).infinite(), Some(1));
        assert_eq!(levels(&two(1)).infinite(), Some(2));
        assert_eq!(levels(&two(2)), FiniteLevels { up_to: 2, then_infinite: false, is_all: true });
    }

    /// The first thread pops its high stack before it pushes again. In the second system the stack
    /// grows by one symbol in each context, so every R_k is finite.
    #[test]
    fn a_high_stack_need_not_mean_an_infinite_context() {
        let text =
            "shared 0 1; init 0|a b b b; thread A { symbols a b; (0,a) -> (0,-); (0,b) -> (0,-); (0,-) -> (0,a) }";
        assert!(levels(text).is_all);
        let text =
            "shared 0 1; init 0|a,c; thread A { symbols a; (0,a) -> (1,a a) }\nthread B { symbols c; (1,c) -> (0,c) }";
        assert_eq!(levels(text), FiniteLevels { up_to: 6, then_infinite: false, is_all: false });
    }
}
