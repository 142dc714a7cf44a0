//! Replays a trace. Its conditions: the first state is initial, every step is a step of the system,
//! the number of contexts is as claimed, and the last state is bad.

use crate::step::Effect;
use crate::unparsed_trace::{UnparsedContext, UnparsedStep, UnparsedTrace};
use crate::{Condition, Rejected};
use cpds::{Context, GlobalState, Problem, ThreadId, Trace, TraceStep, Wild};
use std::borrow::Cow;

/// A trace that gives its states one by one.
pub(crate) trait TraceSource {
    fn initial(&self) -> &GlobalState;

    /// The number of contexts.
    fn contexts(&self) -> usize;

    /// The thread of a context, and its number of steps.
    fn context(&self, context: usize) -> (ThreadId, usize);

    /// The rule of a step in a context, and the state after the step.
    fn step(&self, problem: &Problem, context: usize, step: usize) -> Result<(usize, Cow<'_, GlobalState>), Rejected>;
}

impl TraceSource for Trace {
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

impl TraceSource for UnparsedTrace {
    fn initial(&self) -> &GlobalState {
        &self.initial
    }

    fn contexts(&self) -> usize {
        self.contexts.len()
    }

    fn context(&self, context: usize) -> (ThreadId, usize) {
        let UnparsedContext { thread, steps } = &self.contexts[context];
        (*thread, steps.len())
    }

    fn step(&self, problem: &Problem, context: usize, step: usize) -> Result<(usize, Cow<'_, GlobalState>), Rejected> {
        let UnparsedStep { rule, state } = &self.contexts[context].steps[step];
        let read = problem.system().read_state(&**state);
        let state = read.map_err(|_| Rejected::Malformed("a text that is not a state of the model".to_owned()))?;
        Ok((*rule, Cow::Owned(state)))
    }
}

/// Replays a trace. `contexts` is the number of contexts that the evidence claims.
pub(crate) fn check(problem: &Problem, trace: &impl TraceSource, contexts: usize) -> Result<(), Rejected> {
    let system = problem.system();
    let violated = |condition, message: String| Err(Rejected::Violated(condition, message));
    if trace.contexts() != contexts {
        let found = trace.contexts();
        return violated(Condition::Contexts, format!("`context_count` is {contexts}, but the trace has {found}"));
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
            let message = format!("contexts[{number}] has no steps, or has the same thread as the context before");
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
                    format!("action {action} leads to {}, not to `state`", system.paper(&next))
                }
                Some((action, None)) => format!("action {action} is not enabled in {}", system.paper(&*state)),
                None => "the thread has no such action".to_owned(),
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
