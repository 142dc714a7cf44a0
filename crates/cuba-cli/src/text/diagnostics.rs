//! Diagnostics as text: the message, the underlined place in the source, and a hint.

use crate::analysis::model::LoadedModel;
use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use cpds::Source;
use cpds::diagnostic::{
    Diagnostic, Diagnostics, Setting, Severity, Span, is_printable, plural, printable, printable_lines,
};
use std::fmt::Write as _;
use std::ops::Range;

/// Formats the errors, each in a block of its own. If there are too many, the last line counts the
/// others.
pub fn errors(sources: &[Source], diagnostics: &Diagnostics) -> String {
    blocks(sources, diagnostics, Severity::Error, diagnostics.errors(), "error")
}

/// Formats the warnings in the same way.
pub fn warnings(sources: &[Source], diagnostics: &Diagnostics) -> String {
    blocks(sources, diagnostics, Severity::Warning, diagnostics.warnings(), "warning")
}

impl LoadedModel {
    /// Formats the warnings.
    pub(crate) fn warnings(&self) -> String {
        warnings(&self.reading.sources, &self.reading.diagnostics)
    }
}

fn blocks(sources: &[Source], diagnostics: &Diagnostics, severity: Severity, count: usize, word: &str) -> String {
    const SHOW: usize = 20;
    let mut out = String::new();
    for diagnostic in diagnostics.kept().iter().filter(|d| d.severity == severity).take(SHOW) {
        out.push_str(&render(sources, diagnostic));
        out.push_str("\n\n");
    }
    if count > SHOW {
        let more = plural(count - SHOW, &format!("more {word}"));
        writeln!(out, "… and {more}\n").expect("writing to a string");
    }
    out
}

/// Formats an error without a place in a source.
pub(crate) fn plain_error(message: &str) -> String {
    render(&[], &Diagnostic::error(message)) + "\n"
}

/// Formats a warning without a place in a source.
pub(crate) fn plain_warning(message: &str) -> String {
    render(&[], &Diagnostic::warning(message)) + "\n"
}

/// Longer lines are not shown, only the messages about them.
const LONGEST: usize = 20_000;

fn render(sources: &[Source], diagnostic: &Diagnostic) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = Group::with_title(level.primary_title(printable_lines(&message(diagnostic))));
    let mut places: Vec<_> = diagnostic
        .label
        .iter()
        .map(|place| (place, AnnotationKind::Primary))
        .chain(diagnostic.related.iter().map(|place| (place, AnnotationKind::Context)))
        .collect();
    while !places.is_empty() {
        // Places that are near each other share a snippet, which has only their lines.
        let (first, _) = places[0].0;
        let (near, far): (Vec<_>, Vec<_>) =
            places.into_iter().partition(|((span, _), _)| are_near(sources, *first, *span));
        places = far;
        let source = &sources[first.source as usize];
        let starts = near.iter().map(|((span, _), _)| span.start).min().expect("the first is near itself");
        let ends = near.iter().map(|((span, _), _)| span.end).max().expect("the first is near itself");
        let lines = lines_around(&source.text, starts as usize..ends as usize);
        if lines.len() > LONGEST {
            let (line, column) = source.position(starts);
            group = group.element(Origin::path(printable(&source.name)).line(line).char_column(column));
            group = group.elements(near.into_iter().map(|((_, label), _)| Level::NOTE.message(printable_lines(label))));
            continue;
        }
        let (shown, places) = shown_lines(&source.text[lines.clone()]);
        let annotations = near.into_iter().map(|((span, label), kind)| {
            let range = places[span.start as usize - lines.start]..places[span.end as usize - lines.start];
            kind.span(range).label(printable_lines(label))
        });
        let snippet = Snippet::source(shown)
            .line_start(source.position(u32::try_from(lines.start).expect("within a source")).0)
            .path(printable(&source.name))
            .annotations(annotations);
        group = group.element(snippet);
    }
    if let Some(help) = help(diagnostic) {
        group = group.element(Level::HELP.message(printable_lines(&help)));
    }
    Renderer::styled().render(&[group])
}

/// Returns the command-line option for a setting of the library.
fn option(setting: Setting) -> &'static str {
    match setting {
        Setting::Initial => "--init",
        Setting::Target => "--target",
        Setting::Label => "--label",
        Setting::Instances => "--instances",
        Setting::Threads => "--threads",
    }
}

/// Formats the message, after the option that it concerns.
pub(crate) fn message(diagnostic: &Diagnostic) -> String {
    match diagnostic.about {
        Some(setting) => format!("{}: {}", option(setting), diagnostic.message),
        None => diagnostic.message.clone(),
    }
}

/// Formats the hint, with the options that it concerns: `…: --threads 2`, or ``… with `--threads`
/// or `--instances` ``.
fn help(diagnostic: &Diagnostic) -> Option<String> {
    let mut help = diagnostic.help.clone()?;
    for (i, &(setting, example)) in diagnostic.settings.iter().enumerate() {
        let option = option(setting);
        let _ = match example {
            Some(example) => write!(help, ": {option} {example}"),
            None if i == 0 => write!(help, " with `{option}`"),
            None => write!(help, " or `{option}`"),
        };
    }
    Some(help)
}

/// Escapes lines as [`printable_lines`] does. Also returns the new position of each byte and of the
/// end.
fn shown_lines(lines: &str) -> (String, Vec<usize>) {
    let (mut shown, mut places) = (String::with_capacity(lines.len()), Vec::with_capacity(lines.len() + 1));
    let mut rest = lines.chars().peekable();
    while let Some(c) = rest.next() {
        places.resize(places.len() + c.len_utf8(), shown.len());
        match c {
            '\r' if rest.peek() == Some(&'\n') => {}
            _ if is_printable(c) || matches!(c, '\n' | '\t') => shown.push(c),
            _ => shown.extend(c.escape_default()),
        }
    }
    places.push(shown.len());
    (shown, places)
}

fn are_near(sources: &[Source], a: Span, b: Span) -> bool {
    let between = a.start.min(b.start) as usize..a.start.max(b.start) as usize;
    a.source == b.source
        && between.len() < 1000
        && sources[a.source as usize].text.get(between).is_some_and(|text| text.matches('\n').count() <= 5)
}

/// Returns the range of the lines that overlap a range, without the last line end.
fn lines_around(text: &str, range: Range<usize>) -> Range<usize> {
    let start = text[..range.start].rfind('\n').map_or(0, |i| i + 1);
    let end = text[range.end..].find('\n').map_or(text.len(), |i| range.end + i);
    start..text[..end].trim_end_matches('\r').len().max(range.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_lines_that_are_shown_otherwise() {
        assert_eq!(shown_lines("aε"), ("aε".to_owned(), vec![0, 1, 1, 3]));
        assert_eq!(shown_lines("\u{7f}b\r\n\t\r"), ("\\u{7f}b\n\t\\r".to_owned(), vec![0, 6, 7, 7, 8, 9, 11]));
        let source = Source::new("m\u{202e}", "ab \u{202e}cd e");
        let place = |start, end| Span { source: 0, start, end };
        let error =
            Diagnostic::error("m\u{1b}").at(place(6, 8), "l\u{2066}").see(place(9, 10), "r\u{9b}").help("h\u{2028}");
        let text = crate::text::style::plain(&render(&[source], &error));
        assert!(text.chars().all(|c| is_printable(c) || c == '\n'), "{text:?}");
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[3].ends_with(r"ab \u{202e}cd e") && lines[4].ends_with("^^ - r\\u{9b}"), "{text}");
    }
}
