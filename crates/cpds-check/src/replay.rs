//! Traces: every step is one of the system, and the last state is bad.

use crate::step::Effect;
use crate::{Condition, Rejected};
use cpds::{Problem, Trace, Wild};

/// Replays a trace that is said to have so many contexts.
pub(crate) fn check(problem: &Problem, trace: &Trace, contexts: usize) -> Result<(), Rejected> {
    let system = problem.system();
    let violated = |condition, message: String| Err(Rejected::Violated(condition, message));
    if trace.contexts.len() != contexts {
        let found = trace.contexts.len();
        return violated(Condition::Contexts, format!("it says that it has {contexts} contexts, and has {found}"));
    }
    if !system.initial().contains(&trace.initial) {
        return violated(Condition::Initial, "the first state is not initial".to_owned());
    }
    let (mut state, mut before) = (&trace.initial, None);
    for (number, context) in trace.contexts.iter().enumerate() {
        let thread = context.thread.index();
        if thread >= system.thread_count() {
            return violated(Condition::Contexts, format!("contexts[{number}]: there is no thread {}", thread + 1));
        }
        if context.steps.is_empty() || before.replace(thread) == Some(thread) {
            let message = format!("contexts[{number}] has no steps, or is of the same thread as the one before");
            return violated(Condition::Contexts, message);
        }
        for (at, step) in context.steps.iter().enumerate() {
            let rule = system.program(context.thread).rules().get(step.rule);
            let next = rule.map(|rule| (system.paper(&rule.action), Effect::of(&rule.action).apply(state, thread)));
            let what = match next {
                Some((_, Some(next))) if next == step.state => {
                    state = &step.state;
                    continue;
                }
                Some((action, Some(next))) => {
                    format!("action {action} leads to {}, and not to `state`", system.paper(&next))
                }
                Some((action, None)) => format!("action {action} is not enabled in {}", system.paper(state)),
                None => "there is no such action".to_owned(),
            };
            let (thread, name) = (thread + 1, system.thread_name(context.thread));
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
        violated(Condition::Bad, format!("the last state, {}, is not bad", system.paper(state)))
    }
}
