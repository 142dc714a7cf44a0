//! Diagnostics as text: the place underlined, what is wrong with it, and what to do.

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use cpds::Source;
use cpds::diagnostic::{Diagnostic, Diagnostics, Severity, Span};
use std::fmt::Write as _;
use std::ops::Range;

/// The errors, each a block of its own, then how many there are where not all are shown.
pub fn errors(sources: &[Source], diagnostics: &Diagnostics) -> String {
    blocks(sources, diagnostics, Severity::Error, diagnostics.errors(), "error")
}

/// The warnings, in the same way.
pub fn warnings(sources: &[Source], diagnostics: &Diagnostics) -> String {
    blocks(sources, diagnostics, Severity::Warning, diagnostics.warnings(), "warning")
}

fn blocks(sources: &[Source], diagnostics: &Diagnostics, severity: Severity, count: usize, word: &str) -> String {
    const SHOW: usize = 20;
    let mut out = String::new();
    for diagnostic in diagnostics.kept().iter().filter(|d| d.severity == severity).take(SHOW) {
        out.push_str(&one(sources, diagnostic));
        out.push_str("\n\n");
    }
    if count > SHOW {
        let more = count - SHOW;
        let plural = if more == 1 { "" } else { "s" };
        writeln!(out, "… and {more} more {word}{plural}\n").expect("writing to a string");
    }
    out
}

/// An error that is about no text.
pub(crate) fn plain_error(message: &str) -> String {
    one(&[], &Diagnostic::error(message)) + "\n"
}

/// A warning that is about no text.
pub(crate) fn plain_warning(message: &str) -> String {
    one(&[], &Diagnostic::warning(message)) + "\n"
}

/// Longer lines are not shown; what there is to say of them is.
const LONGEST: usize = 20_000;

fn one(sources: &[Source], diagnostic: &Diagnostic) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = Group::with_title(level.primary_title(&diagnostic.message));
    let mut places: Vec<_> = diagnostic
        .label
        .iter()
        .map(|place| (place, AnnotationKind::Primary))
        .chain(diagnostic.related.iter().map(|place| (place, AnnotationKind::Context)))
        .collect();
    while !places.is_empty() {
        // Places that are near each other share a snippet. Only their lines are handed over: a file can be long.
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
            group = group.element(Origin::path(&source.name).line(line).char_column(column));
            group = group.elements(near.into_iter().map(|((_, label), _)| Level::NOTE.message(label)));
            continue;
        }
        let annotations = near.into_iter().map(|((span, label), kind)| {
            let range = span.start as usize - lines.start..span.end as usize - lines.start;
            kind.span(range).label(label)
        });
        let snippet = Snippet::source(&source.text[lines.clone()])
            .line_start(source.position(u32::try_from(lines.start).expect("within a source")).0)
            .path(&source.name)
            .annotations(annotations);
        group = group.element(snippet);
    }
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help));
    }
    Renderer::styled().render(&[group])
}

fn are_near(sources: &[Source], a: Span, b: Span) -> bool {
    let between = a.start.min(b.start) as usize..a.start.max(b.start) as usize;
    a.source == b.source
        && between.len() < 1000
        && sources[a.source as usize].text.get(between).is_some_and(|text| text.matches('\n').count() <= 5)
}

/// The lines that a range touches, without the last line's end.
fn lines_around(text: &str, range: Range<usize>) -> Range<usize> {
    let start = text[..range.start].rfind('\n').map_or(0, |i| i + 1);
    let end = text[range.end..].find('\n').map_or(text.len(), |i| range.end + i);
    start..text[..end].trim_end_matches('\r').len().max(range.end)
}
