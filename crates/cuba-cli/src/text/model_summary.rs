//! The summary of a model, and the steps from one of its states.

use crate::analysis::model::LoadedModel;
use crate::text::table::Table;
use crate::text::terminal::fitted;
use cpds::diagnostic::plural;
use cpds::{ActionKind, Cpds, GlobalState};
use std::fmt::Write as _;

/// Lists every enabled step, by thread, in the paper's notation.
pub(crate) fn successors(system: &Cpds, state: &GlobalState, width: Option<usize>) -> String {
    let mut table = Table::new();
    let mut count = 0;
    for thread in system.threads() {
        let before = count;
        for step in system.steps_of(thread, state) {
            count += 1;
            let label = step.rule.label.as_ref().map_or(String::new(), |label| format!("{label}:"));
            let (action, target) = (system.paper(&step.rule.action), system.paper(&step.state));
            table.add_row([system.thread_name(thread), label, action.to_string(), target.to_string()]);
        }
        if count == before {
            table.add_row([&*system.thread_name(thread), "", "no step", ""]);
        }
    }
    let steps = plural(count, "successor");
    let lines = fitted(&table.lines("  "), width);
    format!("{} has {steps}\n{lines}", system.paper(state))
}

/// Formats the size of the model as comments, so that the whole output can be read as a model.
pub(crate) fn summary(loaded: &LoadedModel) -> String {
    let system = loaded.problem().system();
    let mut out = String::new();
    let mut line = |text: String| writeln!(out, "# {text}").expect("writing to a string");
    line(format!(
        "|Q| = {}, {}, {}, {}",
        system.shared_names().len(),
        plural(system.thread_count(), "thread"),
        plural(system.initial().len(), "initial state"),
        plural(loaded.problem().property().bad.len(), "bad pattern"),
    ));
    let groups: Vec<String> = system
        .symmetric_groups()
        .iter()
        .filter(|group| group.len() > 1)
        .map(|group| group.iter().map(|&thread| system.thread_name(thread)).collect::<Vec<_>>().join(" "))
        .map(|names| format!("{{{names}}}"))
        .collect();
    line(match groups.len() {
        0 => "no symmetric threads".to_owned(),
        1 => format!("symmetric group: {}", groups[0]),
        _ => format!("symmetric groups: {}", groups.join(" ")),
    });
    let mut table = Table::new();
    let kinds = ActionKind::ALL.iter().map(|kind| kind.word());
    table.add_row(["thread", "copies", "|Σ|", "actions"].into_iter().chain(kinds));
    for program in system.programs() {
        let counts = [program.copies() as usize, program.alphabet().len(), program.rules().len()];
        let counts = counts.into_iter().chain(ActionKind::ALL.iter().map(|&kind| program.count(kind)));
        table.add_row(std::iter::once(program.name().to_owned()).chain(counts.map(|n| n.to_string())));
    }
    table.align_right(1..4 + ActionKind::ALL.len());
    out + &table.lines("# ")
}
