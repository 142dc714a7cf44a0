//! Reads the TOML file of a model: its runs, with their expected answers.

use crate::{Expected, Published, Run};
use cpds::diagnostic::{Diagnostic, Span, printable, printable_lines};
use cpds::{ReadError, Source, read_text};
use serde::Deserialize;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer, Error};

/// Reads the runs of a model from the TOML file next to it. Without such a file, the model has one
/// run without expected answers.
pub fn runs(model: &Path) -> Result<Vec<Run>, ReadError> {
    let path = model.with_extension("toml");
    if !path.exists() {
        return Ok(vec![Run::default()]);
    }
    read(read_text(&path)?)
}

/// The limit on the length of a TOML text. The keys before the first run are copied into each run.
const MOST_BYTES: usize = 1 << 18;

/// The limit on the runs of a TOML text.
const MOST_RUNS: usize = 256;

/// Reads the runs of a TOML text.
pub fn read(source: Source) -> Result<Vec<Run>, ReadError> {
    if source.text.len() > MOST_BYTES {
        let message = format!("`{}` is larger than {} KiB", source.name, MOST_BYTES >> 10);
        return Err(ReadError::new(Vec::new(), Diagnostic::error(message).help(HELP)));
    }
    read_runs(&source.text).map_err(|mistake| mistake.in_file(source))
}

/// The keys of a run that are not answers: how the run starts, and remarks about it.
#[derive(Deserialize)]
struct RunDescription {
    instances: Option<String>,
    threads: Option<u32>,
    note: Option<String>,
    published: Option<Published>,
}

impl RunDescription {
    const KEYS: [&str; 4] = ["instances", "threads", "note", "published"];
}

fn read_runs(text: &str) -> Result<Vec<Run>, Mistake> {
    let no_run = |span: Range<usize>| Mistake { message: "a run begins with [[run]]".to_owned(), span };
    let mut file = DeTable::parse(text)?;
    let Some(runs) = file.get_mut().remove("run") else { return Ok(vec![run(file)?]) };
    let span = runs.span();
    let DeValue::Array(runs) = runs.into_inner() else { return Err(no_run(span)) };
    if runs.len() > MOST_RUNS {
        return Err(Mistake { message: format!("more than {MOST_RUNS} runs"), span });
    }
    let read = |value: Spanned<DeValue<'_>>| {
        let span = value.span();
        let DeValue::Table(answers) = value.into_inner() else { return Err(no_run(span)) };
        // Keys before the first run hold for all runs.
        let mut all = file.get_ref().clone();
        all.extend(answers);
        run(Spanned::new(span, all))
    };
    runs.into_iter().map(read).collect()
}

fn run(table: Spanned<DeTable<'_>>) -> Result<Run, Mistake> {
    let span = table.span();
    let (description, answers): (DeTable<'_>, DeTable<'_>) =
        table.into_inner().into_iter().partition(|(key, _)| RunDescription::KEYS.contains(&&**key.get_ref()));
    let RunDescription { instances, threads, note, published } =
        RunDescription::deserialize(Deserializer::from(Spanned::new(span.clone(), description)))?;
    let expected = Expected::deserialize(Deserializer::from(Spanned::new(span, answers)))?;
    // These texts are shown in tables.
    let note = note.as_deref().map(printable_lines);
    let published = published.map(|it| Published {
        program: printable(&it.program),
        threads: printable(&it.threads),
        fcr: printable(&it.fcr),
        safe: printable(&it.safe),
        reachable: printable(&it.reachable),
        visible: printable(&it.visible),
        time: printable(&it.time),
        memory: printable(&it.memory),
    });
    Ok(Run { instances, threads, note, published, expected: Some(expected) })
}

const HELP: &str = "the expected answers of a model need only a `verdict`, \"safe\" or \"unsafe\"";

/// A mistake in a TOML text, and its place.
#[derive(Debug)]
struct Mistake {
    message: String,
    span: Range<usize>,
}

/// The number of characters of a message that are shown.
const MOST_SHOWN: usize = 500;

impl From<Error> for Mistake {
    fn from(error: Error) -> Self {
        // The message may quote the whole file.
        let mut message: String = error.message().chars().take(MOST_SHOWN).collect();
        if message.len() < error.message().len() {
            message.push('…');
        }
        Mistake { message, span: error.span().unwrap_or_default() }
    }
}

impl Mistake {
    fn in_file(self, source: Source) -> ReadError {
        let Range { start, end } = self.span;
        // For a mistake in a whole run, the place is its first line.
        let line_end = source.text.get(start..).and_then(|rest| rest.find('\n')).map_or(end, |length| start + length);
        let narrow = |offset: usize| u32::try_from(offset).unwrap_or(u32::MAX);
        let span = Span { source: 0, start: narrow(start), end: narrow(end.min(line_end)) };
        ReadError::new(vec![source], Diagnostic::error(self.message).at(span, "").help(HELP))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Collapse, Verdict};

    #[test]
    fn only_a_verdict_is_required() {
        let [run] = &read_runs("verdict = 'safe'").unwrap()[..] else { panic!("one run") };
        let expected = run.expected.as_ref().unwrap();
        assert_eq!((expected.verdict, expected.contexts, &run.instances), (Verdict::Safe, None, &None));
        assert!(expected.contradiction().is_some(), "in the collection, more is required");
    }

    #[test]
    fn keys_before_the_runs_hold_for_all_runs_without_these_keys() {
        let text = "
            fcr = true
            verdict = 'safe'
            [[run]]
            threads = 2
            collapse = { visible = 3 }
            [[run]]
            instances = 'f=1,g=2'
            note = 'why'
            verdict = 'unsafe'
            contexts = 5
        ";
        let [first, second] = &read_runs(text).unwrap()[..] else { panic!("two runs") };
        assert_eq!((first.threads, &first.instances, &first.note), (Some(2), &None, &None));
        assert_eq!((second.threads, second.instances.as_deref()), (None, Some("f=1,g=2")));
        assert_eq!(second.note.as_deref(), Some("why"));
        let [first, second] = [first, second].map(|run| run.expected.as_ref().unwrap());
        assert_eq!((first.verdict, first.contexts, first.fcr), (Verdict::Safe, None, Some(true)));
        assert_eq!(first.collapse, Some(Collapse { reachable: None, visible: 3 }));
        assert_eq!((second.verdict, second.contexts, second.fcr), (Verdict::Unsafe, Some(5), Some(true)));
        assert_eq!(second.collapse, None);
    }

    /// Returns the errors of a text, with their places.
    fn refused(text: &str) -> String {
        read(Source::new("m.toml", text)).unwrap_err().to_string()
    }

    #[test]
    fn mistakes_are_reported_with_file_and_line() {
        let runs = "shows = 'x'\n[[run]]\nverdict = 'safe'\n";
        let refusals = [
            ("verdict =".to_owned(), "m.toml:1:10: error: string values must be quoted"),
            ("verdict = 'safe'\nvisible = [1, 2".to_owned(), "m.toml:2:16: error: unclosed array"),
            ("verdict = 'maybe'".to_owned(), "m.toml:1:11: error: unknown variant `maybe`"),
            ("\ncontexts = 3\n".to_owned(), "m.toml:1:1: error: missing field `verdict`"),
            ("verdict = 'safe'\ncontxts = 3\n".to_owned(), "m.toml:2:1: error: unknown field `contxts`"),
            (format!("{runs}contexts = 'many'"), "m.toml:4:12: error: invalid type: string \"many\""),
            (
                format!("{runs}[[run]]\nthreads = -1\nverdict = 'safe'"),
                "m.toml:5:11: error: invalid value: integer `-1`",
            ),
            (format!("{runs}[[run]]\ninstances = 'f=1'"), "m.toml:4:1: error: missing field `verdict`"),
            (format!("{runs}published = {{ program = '1' }}"), "m.toml:4:13: error: missing field `threads`"),
            ("verdict = 'safe'\nrun = [1]".to_owned(), "m.toml:2:8: error: a run begins with [[run]]"),
            ("verdict = 'safe'\n[run]\nthreads = 2".to_owned(), "m.toml:2:1: error: a run begins with [[run]]"),
        ];
        assert_eq!(refused(&" ".repeat(1 << 19)), "error: `m.toml` is larger than 256 KiB");
        assert!(
            refused(&format!("verdict = 'safe'\n{}", "[[run]]\n".repeat(257))).ends_with("error: more than 256 runs")
        );
        for (text, start) in refusals {
            let refusal = refused(&text);
            assert!(refusal.starts_with(start), "{refusal}");
        }
    }
}
