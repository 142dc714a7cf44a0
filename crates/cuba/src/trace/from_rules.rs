//! Builds a trace from the rules that fire.

use cpds::{Context, Cpds, GlobalState, ThreadId, Trace, TraceStep};

/// The most stack symbols in all states of a trace together. Each stack counts as
/// `SYMBOLS_PER_STACK` more symbols.
const MAX_SYMBOLS_FROM_RULES: usize = 1 << 24;

/// The number of symbols that a stack counts for, in addition to its own.
const SYMBOLS_PER_STACK: usize = 8;

/// Builds the trace in which these threads fire these rules. Returns `None` if its states have too
/// many symbols.
pub(crate) fn trace_from_rules(
    system: &Cpds,
    initial: GlobalState,
    contexts: &[(ThreadId, Vec<usize>)],
) -> Option<Trace> {
    let mut trace = Trace { initial, contexts: Vec::new() };
    let mut state = trace.initial.clone();
    let mut symbols = 0;
    for &(thread, ref rules) in contexts {
        let mut steps = Vec::new();
        for &rule in rules {
            let action = &system.program(thread).rules()[rule].action;
            let stack = &mut state.stacks[thread.index()];
            (state.shared, *stack) = action.apply(state.shared, stack).expect("the rules of a run are enabled");
            symbols += state.stacks.iter().map(|stack| SYMBOLS_PER_STACK + stack.height()).sum::<usize>();
            if symbols > MAX_SYMBOLS_FROM_RULES {
                return None;
            }
            steps.push(TraceStep { rule, state: state.clone() });
        }
        trace.contexts.push(Context { thread, steps });
    }
    Some(trace)
}
