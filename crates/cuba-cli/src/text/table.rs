//! Text in columns.

use crate::text::terminal::length;
use unicode_width::UnicodeWidthStr as _;

/// A table without borders. A column is as wide as its widest cell, and at least one character
/// wide.
#[derive(Default)]
pub struct Table {
    rows: Vec<Vec<String>>,
    /// The numbers of the columns that are aligned to the right.
    right_aligned: Vec<usize>,
}

impl Table {
    /// Creates a table without rows.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a row. Cells that are missing at its end are empty.
    pub fn add_row<T: ToString>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(|cell| cell.to_string()).collect());
    }

    /// Aligns these columns to the right. All others are aligned to the left.
    pub fn align_right(&mut self, columns: impl IntoIterator<Item = usize>) {
        self.right_aligned.extend(columns);
    }

    /// Formats the rows as lines that start with `indent`. Removes the blanks at the end of a line.
    pub fn lines(&self, indent: &str) -> String {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max();
        let widths: Vec<usize> = (0..count).map(|column| width(column).unwrap_or(0).max(1)).collect();
        let mut out = String::new();
        for row in &self.rows {
            let cells = (0..).zip(row).zip(&widths).map(|((column, cell), width)| {
                let blanks = " ".repeat(width - cell.width());
                if self.right_aligned.contains(&column) { blanks + cell } else { cell.to_owned() + &blanks }
            });
            let line = cells.collect::<Vec<_>>().join("  ");
            out.extend([indent, line.trim_end(), "\n"]);
        }
        out
    }
}

/// Replaces the lines between the first and the last `most` lines by one line, which `instead`
/// makes from their number.
pub(crate) fn elided<T>(mut lines: Vec<T>, most: usize, instead: impl Fn(usize) -> T) -> Vec<T> {
    if lines.len() > 2 * most {
        let left_out = lines.len() - 2 * most;
        lines.splice(most..most + left_out, [instead(left_out)]);
    }
    lines
}

/// Aligns lines in two columns.
pub(crate) fn in_columns(lines: Vec<(String, String)>) -> String {
    let width = lines.iter().map(|(left, _)| length(left)).max().unwrap_or(0);
    let line = |(left, right): (String, String)| {
        let gap = width - length(&left) + 2;
        format!("{left}{:gap$}{right}", "").trim_end().to_owned() + "\n"
    };
    lines.into_iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_cells() {
        let mut table = Table::new();
        assert_eq!(table.lines(""), "");
        table.add_row(["model", "|R_k|", "≤"]);
        table.add_row(["語", "7", "–"]);
        table.add_row(["a longer one"]);
        table.align_right([1]);
        assert_eq!(table.lines("# "), "# model         |R_k|  ≤\n# 語                7  –\n# a longer one\n");
    }
}
