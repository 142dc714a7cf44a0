//! Traces: paths of a system, split into contexts (paper §2.3), as evidence that a state is
//! reachable.

use crate::{Cpds, GlobalState, Rule, ThreadId};

/// A path from an initial state, as a list of contexts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trace {
    /// The first state.
    pub initial: GlobalState,
    /// The contexts.
    pub contexts: Vec<Context>,
}

/// Consecutive steps of one thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Context {
    /// The thread.
    pub thread: ThreadId,
    /// The steps; at least one.
    pub steps: Vec<TraceStep>,
}

impl Context {
    /// Returns the rule of one of the steps.
    pub fn rule<'s>(&self, system: &'s Cpds, step: &TraceStep) -> &'s Rule {
        &system.program(self.thread).rules()[step.rule]
    }
}

/// A step of a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TraceStep {
    /// The position of the rule in [`Program::rules`](crate::Program::rules).
    pub rule: usize,
    /// The state after the step.
    pub state: GlobalState,
}

/// The reason why a path is not a trace of a system. Contexts and steps are counted from 1.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum NotATrace {
    #[error("the first state is not initial")]
    NotInitial,
    #[error("the system has no thread for context {context}")]
    NoSuchThread { context: usize },
    #[error("context {context} has no steps, or is of the same thread as the one before")]
    NotAContext { context: usize },
    #[error("step {step} of context {context} is not a step of the system")]
    NotAStep { context: usize, step: usize },
}

impl Trace {
    /// Returns the last state.
    pub fn last(&self) -> &GlobalState {
        let steps = self.contexts.iter().flat_map(|context| &context.steps);
        steps.last().map_or(&self.initial, |step| &step.state)
    }

    /// Checks that each step is in the step relation, and that each context has steps and another
    /// thread than the context before.
    pub fn replay(&self, system: &Cpds) -> Result<(), NotATrace> {
        if !system.initial().contains(&self.initial) {
            return Err(NotATrace::NotInitial);
        }
        let (mut state, mut before) = (&self.initial, None);
        for (context, Context { thread, steps }) in (1..).zip(&self.contexts) {
            if thread.index() >= system.thread_count() {
                return Err(NotATrace::NoSuchThread { context });
            }
            if steps.is_empty() || before.replace(thread) == Some(thread) {
                return Err(NotATrace::NotAContext { context });
            }
            for (step, TraceStep { rule, state: next }) in (1..).zip(steps) {
                if !system.steps_of(*thread, state).any(|found| found.index == *rule && &found.state == next) {
                    return Err(NotATrace::NotAStep { context, step });
                }
                state = next;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Problem;

    /// ⟨0|1,4⟩, f1 of thread 1, then b2 and b3 of thread 2.
    fn fig_1() -> (Problem, Trace) {
        let problem: Problem = include_str!("../../../models/paper/fig1.cpds").parse().unwrap();
        let state = |text: &str| problem.system().read_state(text).unwrap();
        let context = |thread, steps: &[(usize, &str)]| Context {
            thread: ThreadId(thread),
            steps: steps.iter().map(|&(rule, text)| TraceStep { rule, state: state(text) }).collect(),
        };
        let trace = Trace {
            initial: state("0|1,4"),
            contexts: vec![context(0, &[(0, "1|2,4")]), context(1, &[(1, "2|2,5"), (2, "3|2,4 6")])],
        };
        (problem, trace)
    }

    #[test]
    fn a_trace_replays() {
        let (problem, trace) = fig_1();
        assert_eq!(trace.replay(problem.system()), Ok(()));
        assert_eq!(trace.last(), &problem.system().read_state("3|2,4 6").unwrap());
        let no_step = Trace { contexts: Vec::new(), ..trace };
        assert_eq!(no_step.replay(problem.system()), Ok(()));
        assert_eq!(no_step.last(), &no_step.initial);
    }

    #[test]
    fn paths_that_are_not_traces() {
        let (problem, trace) = fig_1();
        let wrong = |change: fn(&mut Trace)| {
            let mut trace = trace.clone();
            change(&mut trace);
            trace.replay(problem.system()).unwrap_err()
        };
        assert_eq!(wrong(|t| t.initial = t.last().clone()), NotATrace::NotInitial);
        assert_eq!(wrong(|t| t.contexts[0].thread = ThreadId(2)), NotATrace::NoSuchThread { context: 1 });
        assert_eq!(wrong(|t| t.contexts[0].thread = ThreadId(1)), NotATrace::NotAStep { context: 1, step: 1 });
        assert_eq!(wrong(|t| t.contexts[0].steps.clear()), NotATrace::NotAContext { context: 1 });
        assert_eq!(wrong(|t| t.contexts[1].steps[1].rule = 0), NotATrace::NotAStep { context: 2, step: 2 });
        assert_eq!(wrong(|t| drop(t.contexts[1].steps.remove(0))), NotATrace::NotAStep { context: 2, step: 1 });
        let split = |t: &mut Trace| {
            let steps = t.contexts[1].steps.split_off(1);
            t.contexts.push(Context { thread: ThreadId(1), steps });
        };
        assert_eq!(wrong(split), NotATrace::NotAContext { context: 3 });
    }
}
