//! Traces: every step is one of the system, and the last state is bad.

use crate::step::Effect;
use crate::written::{Written, WrittenContext, WrittenStep};
use crate::{Condition, Rejected};
use cpds::{Context, GlobalState, Problem, ThreadId, Trace, TraceStep, Wild};
use std::borrow::Cow;

/// A trace whose states are made when they are asked for.
pub(crate) trait Path {
    fn initial(&self) -> &GlobalState;

    /// How many contexts there are.
    fn contexts(&self) -> usize;

    /// The thread of a context, and how many steps it has.
    fn context(&self, context: usize) -> (ThreadId, usize);

    /// The rule of a step in a context, and the state that it leads to.
    fn step(&self, problem: &Problem, context: usize, step: usize) -> Result<(usize, Cow<'_, GlobalState>), Rejected>;
}

impl Path for Trace {
    fn initial(&self) -> &GlobalState {
        &self.initial
    }

    fn contexts(&self) -> usize {
        self.contexts.len()
    }

    fn context(&self, context: usize) -> (ThreadId, usize) {
        let Context { thread, steps } = &self.contexts[context];
        (*thread, steps.len())
    }

    fn step(&self, _: &Problem, context: usize, step: usize) -> Result<(usize, Cow<'_, GlobalState>), Rejected> {
        let TraceStep { rule, state } = &self.contexts[context].steps[step];
        Ok((*rule, Cow::Borrowed(state)))
    }
}

impl Path for Written {
    fn initial(&self) -> &GlobalState {
        &self.initial
    }

    fn contexts(&self) -> usize {
        self.contexts.len()
    }

    fn context(&self, context: usize) -> (ThreadId, usize) {
        let WrittenContext { thread, steps } = &self.contexts[context];
        (*thread, steps.len())
    }

    fn step(&self, problem: &Problem, context: usize, step: usize) -> Result<(usize, Cow<'_, GlobalState>), Rejected> {
        let WrittenStep { rule, state } = &self.contexts[context].steps[step];
        let read = problem.system().read_state(&**state);
        let state = read.map_err(|_| Rejected::Malformed("a state that is none of the model".to_owned()))?;
        Ok((*rule, Cow::Owned(state)))
    }
}

/// Replays a trace that is said to have so many contexts.
pub(crate) fn check(problem: &Problem, trace: &impl Path, contexts: usize) -> Result<(), Rejected> {
    let system = problem.system();
    let violated = |condition, message: String| Err(Rejected::Violated(condition, message));
    if trace.contexts() != contexts {
        let found = trace.contexts();
        return violated(Condition::Contexts, format!("it says that it has {contexts} contexts, and has {found}"));
    }
    if !system.initial().contains(trace.initial()) {
        return violated(Condition::Initial, "the first state is not initial".to_owned());
    }
    let (mut state, mut before) = (Cow::Borrowed(trace.initial()), None);
    for number in 0..contexts {
        let (id, steps) = trace.context(number);
        let thread = id.index();
        if thread >= system.thread_count() {
            return violated(Condition::Contexts, format!("contexts[{number}]: there is no thread {}", thread + 1));
        }
        if steps == 0 || before.replace(thread) == Some(thread) {
            let message = format!("contexts[{number}] has no steps, or is of the same thread as the one before");
            return violated(Condition::Contexts, message);
        }
        for at in 0..steps {
            let (rule, to) = trace.step(problem, number, at)?;
            let rule = system.program(id).rules().get(rule);
            let next = rule.map(|rule| (system.paper(&rule.action), Effect::of(&rule.action).apply(&state, thread)));
            let what = match next {
                Some((_, Some(next))) if next == *to => {
                    state = to;
                    continue;
                }
                Some((action, Some(next))) => {
                    format!("action {action} leads to {}, and not to `state`", system.paper(&next))
                }
                Some((action, None)) => format!("action {action} is not enabled in {}", system.paper(&*state)),
                None => "there is no such action".to_owned(),
            };
            let (thread, name) = (thread + 1, system.thread_name(id));
            let message = format!("contexts[{number}].steps[{at}], thread {thread} ({name}): {what}");
            return violated(Condition::Step, message);
        }
    }
    let is_bad = problem.property().bad.iter().any(|pattern| {
        let fits_shared = pattern.shared == Wild::Any || pattern.shared == Wild::Is(state.shared);
        let tops = state.stacks.iter().map(|stack| stack.iter().next());
        fits_shared && tops.zip(&pattern.tops).all(|(top, wanted)| *wanted == Wild::Any || *wanted == Wild::Is(top))
    });
    if is_bad {
        Ok(())
    } else {
        violated(Condition::Bad, format!("the last state, {}, is not bad", system.paper(&*state)))
    }
}
