//! The loop that refutes finite context reachability (paper §5), step by step.

use crate::analysis::model::LoadedModel;
use crate::text::program_trace;
use crate::text::state_notation::{StateNotation, labelled};
use crate::text::style::{BOLD, paint};
use crate::text::table::{elided, in_columns};
use cpds::{Program, SharedState, Stack};
use cuba::PumpingLoop;

/// A longer loop shows only this many steps at its beginning and at its end.
const STEPS: usize = 500;

/// Formats the run step by step. For a program: its statements. For a system: the actions on the
/// left, the states after them on the right. The heading says whether the start is reachable.
pub(crate) fn steps(
    loaded: &LoadedModel,
    program: &Program,
    found: &PumpingLoop,
    reachable: Option<&str>,
    width: Option<usize>,
) -> String {
    let words = StateNotation::of(loaded);
    let state = |(shared, stack): &(SharedState, Stack)| words.thread_state((*shared, stack));
    let [start, end] = found.ends();
    let name = paint(BOLD, program.name());
    let reachable = reachable.map_or(String::new(), |reachable| format!("; {reachable}"));
    let heading = format!("{name}: {} →⁺ {}, and so on for ever{reachable}\n", state(&start), state(&end));
    let Some(run) = &found.run else { return heading + "  (the run is too long to be written out)\n" };
    let states = || std::iter::once(run.start.clone()).chain(run.states(program));
    if let Some(of_program) = &loaded.program {
        let all: Vec<_> = states().collect();
        let thread = words.system.threads().find(|&thread| std::ptr::eq(words.system.program(thread), program));
        let thread = (thread.expect("every program has a thread"), program.name());
        return heading + &program_trace::run(loaded, of_program, thread, &all, (STEPS, width));
    }
    let actions = run.rules.iter().map(|&rule| format!("  {}", labelled(words.system, &program.rules()[rule])));
    let lines = std::iter::once(String::new()).chain(actions).zip(states().map(|to| state(&to)));
    heading + &in_columns(elided(lines.collect(), STEPS, |left_out| (format!("  … {left_out} steps …"), String::new())))
}
