//! Text in columns.

use crate::text::terminal::length;
use comfy_table::{Table, presets};

pub(crate) fn plain_table() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table
}

pub(crate) fn indented(table: &Table, indent: &str) -> String {
    table.lines().flat_map(|line| [indent, line.trim(), "\n"].map(str::to_owned)).collect()
}

/// The first and last `most` lines. `instead` gives a line for those between them.
pub(crate) fn elided<T>(mut lines: Vec<T>, most: usize, instead: impl Fn(usize) -> T) -> Vec<T> {
    if lines.len() > 2 * most {
        let left_out = lines.len() - 2 * most;
        lines.splice(most..most + left_out, [instead(left_out)]);
    }
    lines
}

/// Two aligned columns.
pub(crate) fn in_columns(lines: Vec<(String, String)>) -> String {
    let width = lines.iter().map(|(left, _)| length(left)).max().unwrap_or(0);
    let line = |(left, right): (String, String)| {
        let gap = width - length(&left) + 2;
        format!("{left}{:gap$}{right}", "").trim_end().to_owned() + "\n"
    };
    lines.into_iter().map(line).collect()
}
