//! Traces with changes: the engines find a trace of a small system, then the trace and the system
//! are changed.
//!
//! The checker must accept the result exactly if it is a trace by the step relation of `cpds` and
//! leads to a bad state.

use super::changes::{Choices, Draft, limits};
use cpds::{Problem, SharedState, Stack, Symbol, ThreadId, Trace};
use cpds_check::{Claim, Evidence, check};
use cpds_testing::oracle;
use cuba::{Conclusion, Question, search_unchecked};

/// The bytes choose a system and the changes.
pub fn trace(bytes: &[u8]) {
    let mut choices = Choices(bytes);
    let mut draft = Draft::new(&mut choices);
    let problem = draft.problem();
    let Conclusion::Unsafe { mut trace, .. } =
        search_unchecked(&problem, Question::Verify, &limits(), |_| ()).conclusion
    else {
        return;
    };
    assert_eq!(accepted(&problem, &trace, trace.contexts.len()), Ok(()));
    for _ in 0..choices.below(2) {
        draft.grow(&mut choices);
    }
    let problem = draft.problem();
    let mut contexts = trace.contexts.len();
    while !choices.is_over() {
        change(&problem, &mut trace, &mut contexts, &mut choices);
    }
    let is_trace =
        contexts == trace.contexts.len() && trace.replay(problem.system()).is_ok() && problem.is_bad(trace.last());
    let checked = accepted(&problem, &trace, contexts);
    assert_eq!(checked.is_ok(), is_trace, "{checked:?}: {trace:?}");
    let states =
        trace.contexts.iter().flat_map(|context| &context.steps).map(|step| &step.state).chain([&trace.initial]);
    let highest = states.flat_map(|state| &state.stacks).map(Stack::height).max().unwrap_or(0);
    if is_trace && contexts <= 3 && highest <= 2 {
        assert!(
            oracle::levels(problem.system(), contexts, highest)
                .first_violation(&problem)
                .is_some_and(|k| k <= contexts)
        );
    }
}

fn accepted(problem: &Problem, trace: &Trace, contexts: usize) -> Result<(), cpds_check::Rejected> {
    check(problem, &Evidence::Trace { trace: trace.clone(), contexts }, Claim::Verdict, &|_| true)
}

/// Makes one change.
fn change(problem: &Problem, trace: &mut Trace, contexts: &mut usize, choices: &mut Choices<'_>) {
    let system = problem.system();
    let kind = choices.below(9);
    let at = choices.below(trace.contexts.len());
    match (kind, trace.contexts.get_mut(at)) {
        (0, _) => *contexts = choices.below(4),
        (1, _) => trace.initial.shared = some_shared(problem, choices),
        (2, Some(_)) => drop(trace.contexts.remove(at)),
        (3, Some(context)) => context.thread = ThreadId(u32::try_from(choices.below(5)).expect("small")),
        (4, Some(context)) => {
            let again = context.clone();
            trace.contexts.push(again);
        }
        (5, Some(context)) => drop(context.steps.pop()),
        (kind, Some(context)) => {
            let Some(step) = choices.one_of(&mut context.steps) else { return };
            match kind {
                6 => step.rule = choices.below(10),
                7 => step.state.shared = some_shared(problem, choices),
                _ => {
                    let Some(stack) = choices.one_of(&mut step.state.stacks) else { return };
                    let symbols: Vec<Symbol> = stack.iter().collect();
                    let top = u32::try_from(choices.below(system.symbol_names().len())).expect("small");
                    *stack = match choices.below(2) {
                        0 => Stack::from_top(symbols.into_iter().skip(1)),
                        _ => Stack::from_top([Symbol(top)].into_iter().chain(symbols)),
                    };
                }
            }
        }
        (_, None) => {}
    }
}

fn some_shared(problem: &Problem, choices: &mut Choices<'_>) -> SharedState {
    SharedState(u32::try_from(choices.below(problem.system().shared_names().len())).expect("small"))
}
