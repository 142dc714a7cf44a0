//! The levels of an analysis as tables: the number of states in each, and the new states.

use crate::analysis::exploration::Exploration;
use crate::analysis::summary::Summary;
use crate::text::state_notation::StateNotation;
use crate::text::style::headed;
use crate::text::table::Table;
use cuba::{Count, Engine, Level};

/// A longer table shows only this many rows at its beginning and at its end.
const ROWS: usize = 1000;

/// Formats the reachability table.
pub(crate) fn table(summary: &Summary<'_>) -> String {
    let mut table = Table::new();
    // If there were too many states, the last levels have tuples.
    let is_counted = |count: fn(&Level) -> Option<Count>| summary.levels.iter().any(|level| count(level).is_some());
    let (states, tuples) = (is_counted(|level| level.reachable), is_counted(|level| level.tuples));
    let s = summary.level_letter();
    let mut heading = vec!["k".to_owned()];
    heading.extend(states.then_some(["|R_k|", "new"]).into_iter().flatten().map(str::to_owned));
    heading.extend(tuples.then(|| "|S_k|".to_owned()));
    heading.extend([format!("|T({s}_k)|"), "new".to_owned(), "|T(R)| ≤".to_owned(), String::new()]);
    table.add_row(&heading);
    let sequences = [(format!("{s}_k"), &summary.lower_sequence), (format!("T({s}_k)"), &summary.visible_sequence)];
    let mut pauses = sequences.map(|(name, sequence)| (name, sequence.pauses().peekable()));
    let count = summary.levels.len();
    let mut by = None;
    for level in summary.levels {
        let mut remarks = Vec::new();
        if let Some((_, rung)) = level.upper.filter(|(_, rung)| by.replace(*rung) != Some(*rung)) {
            remarks.push(format!("by {rung}"));
        }
        for (name, pauses) in &mut pauses {
            if let Some((k, pause)) = pauses.next_if(|&(k, _)| k == level.k) {
                remarks.push(format!("{name} {pause} at {k}"));
            }
        }
        if level.k == ROWS && count > 2 * ROWS {
            table.add_row(vec!["…"; heading.len() - 1]);
        }
        if level.k < ROWS || level.k + ROWS >= count {
            let shown = |count: Option<Count>| count.map_or("–".to_owned(), |count| count.to_string());
            let mut row = vec![level.k.to_string()];
            row.extend(states.then_some([level.reachable, level.new_reachable]).into_iter().flatten().map(shown));
            row.extend(tuples.then(|| shown(level.tuples)));
            let left = level.upper.map(|(left, _)| left);
            row.extend([Some(level.visible), Some(level.new_visible), left].map(shown));
            row.push(remarks.join(", "));
            table.add_row(row);
        }
    }
    table.align_right(0..heading.len() - 1);
    headed(&table.lines(""))
}

/// Lists T(R_k) \ T(R_{k-1}) for each k. With the explicit engine, also lists R_k \ R_{k-1}.
pub(crate) fn new_states(explored: &Exploration<'_>, words: &StateNotation<'_>) -> String {
    let lower = &explored.analysis.level_store;
    let (mut heading, s) = (vec!["k".to_owned()], explored.level_letter());
    if lower.engine() == Engine::Explicit {
        heading.push("R_k \\ R_{k-1}".to_owned());
    }
    heading.push(format!("T({s}_k) \\ T({s}_{{k-1}})"));
    let mut table = Table::new();
    table.add_row(heading);
    table.align_right([0]);
    for k in 0..=explored.analysis.k() {
        let mut columns = Vec::new();
        if let Some(states) = lower.states(k) {
            columns.push(states.iter().map(|state| words.state(state)).collect::<Vec<_>>());
        }
        columns.push(lower.visible().states(k).iter().map(|state| words.visible(state)).collect());
        let height = columns.iter().map(Vec::len).max().unwrap_or(0).max(1);
        for i in 0..height {
            let (first, none) = if i == 0 { (k.to_string(), "–") } else { (String::new(), "") };
            let cells = columns.iter().map(|column| column.get(i).map_or(none, String::as_str).to_owned());
            table.add_row(std::iter::once(first).chain(cells));
        }
    }
    headed(&table.lines(""))
}
