//! What there is to know of the terminal: how wide it is, and how a line is made to fit.

use std::io;
use terminal_size::{Height, Width, terminal_size_of};
use unicode_width::UnicodeWidthChar as _;

/// How wide standard error is, if it is a terminal on which lines can be drawn anew. Some do not know their own width.
pub(crate) fn drawable() -> Option<usize> {
    const USUAL: usize = 80;
    let stderr = io::stderr();
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    (io::IsTerminal::is_terminal(&stderr) && !is_dumb).then(|| columns(terminal_size_of(stderr)).unwrap_or(USUAL))
}

fn columns(size: Option<(Width, Height)>) -> Option<usize> {
    size.map(|(Width(columns), _)| columns.into())
}

/// A line in so many columns: what is too long ends in `…`.
pub(crate) fn cut(line: &str, width: usize) -> String {
    let columns = |c: char| c.width().unwrap_or(0);
    if line.chars().map(columns).sum::<usize>() <= width {
        return line.to_owned();
    }
    let mut left = width.saturating_sub(1);
    let fits = |c: &char| {
        let fits = columns(*c) <= left;
        left = left.saturating_sub(columns(*c));
        fits
    };
    let mut kept: String = line.chars().take_while(fits).collect();
    kept.extend((width > 0).then_some('…'));
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_fit() {
        assert_eq!(cut("⟨0|1,4⟩", 7), "⟨0|1,4⟩");
        assert_eq!(cut("⟨0|1,4⟩", 6), "⟨0|1,…");
        assert_eq!(cut("ab", 1), "…");
        assert_eq!(cut("ab", 0), "");
        assert_eq!(cut("語語語", 5), "語語…");
        assert_eq!(cut("語語語", 4), "語…", "a wide character is not cut in two");
    }
}
