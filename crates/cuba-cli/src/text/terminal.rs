//! The width of the terminal, and lines cut to it.

use anstream::adapter::strip_str;
use std::io::{self, IsTerminal};
use terminal_size::{Width, terminal_size_of};
use unicode_width::UnicodeWidthChar as _;

/// Returns the width of standard output, if it is a terminal.
pub(crate) fn width() -> Option<usize> {
    terminal_size_of(io::stdout()).filter(|_| !is_dumb()).map(|(Width(columns), _)| columns.into())
}

/// Returns the width of standard error, if it is a terminal on which lines can be drawn over. Some
/// terminals do not report their width.
pub(crate) fn progress_width() -> Option<usize> {
    const USUAL: usize = 80;
    let columns = || terminal_size_of(io::stderr()).map_or(USUAL, |(Width(columns), _)| columns.into());
    (io::stderr().is_terminal() && !is_dumb()).then(columns)
}

fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Cuts lines to `width`.
pub(crate) fn fitted(lines: &str, width: Option<usize>) -> String {
    let Some(width) = width else { return lines.to_owned() };
    lines
        .split_inclusive('\n')
        .map(|line| match line.strip_suffix('\n') {
            Some(line) => cut(line, width) + "\n",
            None => cut(line, width),
        })
        .collect()
}

/// Cuts a line to `width`, with `…` at the end. Colours have no width, and they end at the same
/// place.
pub(crate) fn cut(line: &str, width: usize) -> String {
    let columns = |c: char| c.width().unwrap_or(0);
    let plain = || strip_str(line).flat_map(str::chars);
    if plain().map(columns).sum::<usize>() <= width {
        return line.to_owned();
    }
    let mut left = width.saturating_sub(1);
    let mut is_full = false;
    let mut out = String::new();
    // `anstyle` writes ESC and then everything up to an m.
    let mut in_escape = false;
    for c in line.chars() {
        in_escape |= c == '\x1b';
        if in_escape {
            out.push(c);
            in_escape = c != 'm';
        } else if !is_full {
            is_full = columns(c) > left;
            left = left.saturating_sub(columns(c));
            out.extend(if is_full { (width > 0).then_some('…') } else { Some(c) });
        }
    }
    out
}

/// Counts the visible characters of a text.
pub(crate) fn length(text: &str) -> usize {
    strip_str(text).flat_map(str::chars).count()
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
        assert_eq!(fitted("abcd\n\nab\n", Some(3)), "ab…\n\nab\n");
        assert_eq!(fitted("abcd", Some(3)), "ab…");
        assert_eq!(fitted("abcd\n", None), "abcd\n");
    }

    #[test]
    fn colours_take_no_room() {
        let text = "\x1b[1mabc\x1b[0m def";
        assert_eq!(length(text), 7);
        assert_eq!(cut(text, 7), text);
        assert_eq!(cut(text, 5), "\x1b[1mabc\x1b[0m …");
        assert_eq!(cut(text, 3), "\x1b[1mab…\x1b[0m", "the text after it is not coloured");
    }
}
