//! Prints the runs as an aligned table, as Markdown or as CSV.

use crate::json::{BenchJson, BenchRunJson, BenchSummaryJson, Outcome};
use crate::text::style::{self, headed, paint};
use crate::text::table::Table;
use cpds::diagnostic::plural;
use std::fmt::Write as _;

/// The cell of an unknown or missing value.
const NONE: &str = "–";

/// The cell of an answer that is not the expected one.
const WRONG: &str = "✗ WRONG";

fn or_none(value: Option<impl ToString>) -> String {
    value.map_or(NONE.to_owned(), |value| value.to_string())
}

/// Returns the names of the columns, and whether they have numbers.
fn columns(bench: &BenchJson) -> [(&'static str, bool); 10] {
    let visible = if bench.question == "reach" { "|T(R)|" } else { "last |T(R_k)|" };
    [
        ("model", false),
        ("threads", false),
        ("verdict", false),
        ("expected", false),
        ("k", true),
        ("proved by", false),
        (visible, true),
        ("time, s", true),
        ("memory, MB", true),
        ("", false),
    ]
}

fn cells(bench: &BenchJson, run: &BenchRunJson) -> [String; 10] {
    let answer = run.answer.as_ref();
    let is_reach = bench.question == "reach";
    let is_open = is_reach && run.verdict.as_deref() == Some("unknown");
    let limit = run.max_threads.map(|threads| format!("≤ {threads} created"));
    let started = [run.instances.clone(), limit].into_iter().flatten().collect::<Vec<_>>().join(", ");
    let threads = answer.map(|answer| answer.threads.to_string());
    let expected = run.expected.as_ref().map(|expected| match (expected.contexts, expected.visible) {
        _ if expected.undecided => "undecided".to_owned(),
        (_, Some(visible)) if is_reach => visible.to_string(),
        _ if is_reach => NONE.to_owned(),
        (Some(contexts), _) => format!("{} ({contexts})", expected.verdict),
        (None, _) => expected.verdict.to_owned(),
    });
    let visible = answer.and_then(|answer| answer.visible);
    #[expect(clippy::cast_precision_loss, reason = "two decimals are shown")]
    let megabytes = run.peak_memory_bytes.map(|bytes| format!("{:.2}", bytes as f64 / 1e6));
    [
        run.file.clone(),
        or_none(Some(started).filter(|started| !started.is_empty()).or(threads)),
        run.verdict.clone().unwrap_or_else(|| "failed".to_owned()),
        or_none(expected),
        or_none(answer.map(|answer| answer.contexts)),
        or_none(answer.and_then(|answer| answer.proved_by.as_ref())),
        or_none(visible.map(|visible| format!("{}{visible}", if is_open { "≥ " } else { "" }))),
        format!("{:.3}", run.time_s),
        or_none(megabytes),
        match run.outcome {
            Outcome::AsExpected => "✓",
            Outcome::Wrong => WRONG,
            Outcome::Unknown | Outcome::Failed | Outcome::NotCompared => NONE,
        }
        .to_owned(),
    ]
}

/// Formats the last line: `42 runs: 42 as expected, 0 wrong, 0 unknown, 0 failed`.
pub(super) fn last_line(bench: &BenchJson) -> String {
    let BenchSummaryJson { runs, as_expected, wrong, unknown, failed, not_compared } = bench.summary;
    let mut line = plural(runs, "run");
    if !bench.complete {
        line = format!("incomplete, {} of {line}", bench.runs.len());
    }
    let _ = write!(line, ": {as_expected} as expected, {wrong} wrong, {unknown} unknown, {failed} failed");
    if not_compared > 0 {
        let _ = write!(line, ", {not_compared} with nothing to compare");
    }
    line + "\n"
}

pub(super) fn table(bench: &BenchJson) -> String {
    let mut table = Table::new();
    table.add_row(columns(bench).map(|(name, _)| name));
    for run in &bench.runs {
        table.add_row(cells(bench, run));
    }
    table.align_right((0..).zip(columns(bench)).filter(|(_, (_, is_number))| *is_number).map(|(column, _)| column));
    let rows = headed(&table.lines("")).replace(WRONG, &paint(style::WRONG, WRONG));
    format!("{rows}\n{}", last_line(bench))
}

/// Formats a page: an introduction, the table with the published values, and the notes.
pub(super) fn markdown(bench: &BenchJson, folder: Option<&str>, command: &str) -> String {
    let mut out = match folder {
        Some(folder) => format!("# Results: {folder}\n\n"),
        None => "# Results\n\n".to_owned(),
    };
    let _ = write!(
        out,
        "\
This page has the answers of `cuba {}`. Each run is a process of its own. The page is written by
`{command}`.

For `unsafe`, k is the least number of contexts with which a bad state is reachable. Otherwise, k is
the last k for which R_k was computed before the answer, which may come from an overapproximation.
Time and memory are those of the whole process. They were measured once, on a machine with other
load. Everything else is the same in each run, unless a run reaches its time limit.
",
        bench.question
    );
    let is_published = bench.runs.iter().any(|run| run.published.is_some());
    let has_notes = bench.runs.iter().any(|run| run.note.is_some());
    let mut header: Vec<(&str, bool)> = columns(bench).to_vec();
    if is_published {
        out += "
The columns R_k and T(R_k) say where these sequences collapse, ∞ for never. A value in parentheses
is the expected one: the run had its answer before it found the value. ● means that finite context
reachability holds, ○ that it does not. The columns *in italics* have the published values: Table 2
of the paper, as it is printed there. The published system may differ from the model. If that
matters, a note says how.
";
        header.extend([("FCR", false), ("R_k", true), ("T(R_k)", true), ("*Table 2*", false), ("*threads*", false)]);
        header.extend([("*verdict*", false), ("*FCR*", false), ("*R_k*", true), ("*T(R_k)*", true)]);
        header.extend([("*time, s*", true), ("*memory, MB*", true)]);
    }
    header.extend(has_notes.then_some(("note", true)));
    out += "\n";
    out += &row(header.iter().map(|(name, _)| (*name).to_owned()));
    out += &row(header.iter().map(|(_, is_number)| if *is_number { "--:" } else { "---" }.to_owned()));
    let mut notes = Vec::new();
    for run in &bench.runs {
        let mut cells = cells(bench, run).to_vec();
        let name = folder.and_then(|folder| run.file.strip_prefix(folder)).map(|rest| rest.trim_start_matches('/'));
        cells[0] = format!("`{}`", name.unwrap_or(&run.file));
        if is_published {
            cells.extend(collapses(run));
            cells.extend(published(run));
        }
        if has_notes {
            cells.push(run.note.as_ref().map_or(String::new(), |note| {
                notes.push((cells[0].clone(), run.instances.as_ref(), note));
                notes.len().to_string()
            }));
        }
        out += &row(cells);
    }
    if has_notes {
        out += "\n";
    }
    for (number, (model, instances, note)) in (1..).zip(notes) {
        let instances = instances.map_or(String::new(), |instances| format!(" {instances}"));
        out += &filled(&format!("{model}{instances}: {note}."), &format!("{number}. "));
    }
    out + "\n" + &last_line(bench)
}

/// The length of the longest line of prose on a page, in characters.
const WIDTH: usize = 100;

/// Fills lines with the words of a text. The first line begins with `marker`, and the other ones
/// are indented to the same column.
///
/// No line begins with a word that Markdown reads as a marker, and code is not broken over lines.
fn filled(text: &str, marker: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    let mut is_code = false;
    for word in text.split_whitespace() {
        match words.last_mut() {
            Some(last) if is_code || is_marker(word) => last.extend([" ", word]),
            _ => words.push(word.to_owned()),
        }
        is_code ^= word.matches('`').count() % 2 == 1;
    }
    let indent = " ".repeat(marker.chars().count());
    let (mut lines, mut line) = (String::new(), marker.to_owned());
    let mut is_empty = true;
    for word in words {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines += &line;
            lines.push('\n');
            (line, is_empty) = (indent.clone(), true);
        }
        if !is_empty {
            line.push(' ');
        }
        line += &word;
        is_empty = false;
    }
    lines + &line + "\n"
}

/// Returns whether Markdown reads a word at the beginning of a line as a marker, such as that of a list.
fn is_marker(word: &str) -> bool {
    let is_number = |digits: &str| !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
    matches!(word, "-" | "+" | "*" | "=")
        || word.starts_with(['#', '>', '|'])
        || word.starts_with("---")
        || word.strip_suffix(['.', ')']).is_some_and(is_number)
}

/// Formats a row of a table in Markdown.
fn row(cells: impl IntoIterator<Item = String>) -> String {
    cells.into_iter().fold("|".to_owned(), |line, cell| format!("{line} {} |", on_one_line(&cell).replace('|', "\\|")))
        + "\n"
}

fn on_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Formats whether finite context reachability holds, and where R_k and T(R_k) collapse: the
/// results of the run, or the expected values in brackets.
fn collapses(run: &BenchRunJson) -> [String; 3] {
    let fcr = run.answer.as_ref().and_then(|answer| answer.fcr);
    let found = run.answer.as_ref().map(|answer| answer.collapse);
    let expected = run.expected.as_ref().and_then(|expected| expected.collapse).filter(|_| found.is_some());
    let known = |k: Option<usize>| k.map(|k| k.to_string());
    let reachable = known(found.and_then(|found| found.reachable))
        .or(expected.map(|expected| format!("({})", expected.reachable.map_or("∞".to_owned(), |k| k.to_string()))));
    let visible = known(found.and_then(|found| found.visible))
        .or(expected.and_then(|expected| expected.visible).map(|k| format!("({k})")));
    [or_none(fcr.map(|holds| if holds { "●" } else { "○" })), or_none(reachable), or_none(visible)]
}

/// Returns the published values; empty if the model is not from Table 2.
fn published(run: &BenchRunJson) -> [String; 8] {
    let Some(published) = &run.published else { return <[String; 8]>::default() };
    let verdict = match &*published.safe {
        "✓" => "safe",
        "✗" => "unsafe",
        other => other,
    };
    let published = published.clone();
    let verdict = verdict.to_owned();
    [
        published.program,
        published.threads,
        verdict,
        published.fcr,
        published.reachable,
        published.visible,
        published.time,
        published.memory,
    ]
}

/// The names of the columns in CSV.
const NAMES: [&str; 15] = [
    "file",
    "instances",
    "max_threads",
    "threads",
    "outcome",
    "verdict",
    "expected_verdict",
    "contexts",
    "expected_contexts",
    "proved_by",
    "fcr",
    "visible",
    "time_s",
    "peak_memory_bytes",
    "reason",
];

/// Formats the runs as values separated by commas. Unknown values are empty.
pub(super) fn csv(bench: &BenchJson) -> String {
    fn text(value: Option<impl ToString>) -> String {
        value.map_or(String::new(), |value| value.to_string())
    }
    let values = |run: &BenchRunJson| -> [String; NAMES.len()] {
        let (answer, expected) = (run.answer.as_ref(), run.expected.as_ref());
        [
            run.file.clone(),
            text(run.instances.as_ref()),
            text(run.max_threads),
            text(answer.map(|answer| answer.threads)),
            run.outcome.word().to_owned(),
            text(run.verdict.as_ref()),
            text(expected.map(|expected| expected.verdict)),
            text(answer.map(|answer| answer.contexts)),
            text(expected.and_then(|expected| expected.contexts)),
            text(answer.and_then(|answer| answer.proved_by.as_ref())),
            text(answer.and_then(|answer| answer.fcr)),
            text(answer.and_then(|answer| answer.visible)),
            format!("{:.3}", run.time_s),
            text(run.peak_memory_bytes),
            run.reason.clone(),
        ]
    };
    bench.runs.iter().fold(record(&NAMES), |out, run| out + &record(&values(run)))
}

/// Formats a line of values, quoted if necessary (RFC 4180).
fn record(values: &[impl AsRef<str>]) -> String {
    let quoted = |value: &str| {
        if value.contains([',', '"', '\r', '\n']) {
            format!("\"{}\"", value.replace('"', "\"\""))
        } else {
            value.to_owned()
        }
    };
    values.iter().map(|value| quoted(value.as_ref())).collect::<Vec<_>>().join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_has_short_lines() {
        let text = "ab ".repeat(40);
        let lines = filled(&text, "12. ");
        let lines: Vec<&str> = lines.lines().collect();
        assert_eq!(lines.iter().map(|line| line.chars().count()).collect::<Vec<_>>(), [99, 27]);
        assert!(lines[0].starts_with("12. ab ab") && lines[1].starts_with("    ab ab"), "{lines:?}");
        // No line begins with a marker, and code is not broken.
        let text = format!("{} 5. {} `a b c` d", "x".repeat(97), "y".repeat(94));
        let expected = format!("{} 5.\n{}\n`a b c` d\n", "x".repeat(97), "y".repeat(94));
        assert_eq!(filled(&text, ""), expected);
        // A word that is too long has a line of its own.
        assert_eq!(filled(&format!("a {} b", "x".repeat(120)), ""), format!("a\n{}\nb\n", "x".repeat(120)));
    }

    #[test]
    fn values_are_quoted_where_they_have_to_be() {
        assert_eq!(record(&["a", "", "b c"]), "a,,b c\n");
        assert_eq!(
            record(&["f=1,g=2", "say \"x\"", "two\nlines", "\r"]),
            "\"f=1,g=2\",\"say \"\"x\"\"\",\"two\nlines\",\"\r\"\n"
        );
    }

    #[test]
    fn cells_do_not_end_a_column() {
        assert_eq!(row(["|T(R_k)|".to_owned(), "two\nlines".to_owned()]), "| \\|T(R_k)\\| | two lines |\n");
    }
}
