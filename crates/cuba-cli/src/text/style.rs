//! Colour and emphasis. They change no word, because `anstream` may remove them when a run prints.

use anstream::adapter::strip_str;
use anstyle::{AnsiColor, Style};
use cpds::ThreadId;
use std::fmt::Display;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const WRONG: Style = AnsiColor::Red.on_default().bold();
const RIGHT: Style = AnsiColor::Green.on_default().bold();
const OPEN: Style = AnsiColor::Yellow.on_default().bold();

/// Returns the colour of a thread. (Red comes last, because it also marks errors.)
pub(crate) fn of_thread(thread: ThreadId) -> Style {
    use AnsiColor::{Blue, Cyan, Green, Magenta, Red, Yellow};
    const PALETTE: [AnsiColor; 6] = [Cyan, Magenta, Yellow, Blue, Green, Red];
    PALETTE[thread.index() % PALETTE.len()].on_default()
}

/// Adds a style to a text. An empty text stays empty.
pub(crate) fn paint(style: Style, text: impl Display) -> String {
    match text.to_string() {
        text if text.is_empty() => text,
        text => format!("{style}{text}{style:#}"),
    }
}

/// Removes all styles from a text.
pub(crate) fn plain(text: &str) -> String {
    strip_str(text).to_string()
}

/// Colours the first word of a verdict.
pub(crate) fn verdict(text: &str) -> String {
    let Some((word, rest)) = text.split_once(':') else { return text.to_owned() };
    let style = match word {
        "safe" | "converged" | "holds" => RIGHT,
        "unsafe" | "refuted" => WRONG,
        _ => OPEN,
    };
    format!("{}:{rest}", paint(style, word))
}

/// Emphasises the first line of a table.
pub(crate) fn headed(table: &str) -> String {
    let (heading, rows) = table.split_once('\n').unwrap_or((table, ""));
    format!("{}\n{rows}", paint(BOLD, heading))
}
