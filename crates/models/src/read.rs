//! From the file beside a model to its runs.

use crate::{Expected, Published, Run};
use cpds::diagnostic::{Diagnostic, Span, printable, printable_lines};
use cpds::{ReadError, Source, read_text};
use serde::Deserialize;
use std::ops::Range;
use std::path::Path;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer, Error};

/// The runs of a model, from the TOML file beside it. Without such a file it is one run, of which
/// nothing is known.
pub fn runs(model: &Path) -> Result<Vec<Run>, ReadError> {
    let path = model.with_extension("toml");
    if !path.exists() {
        return Ok(vec![Run::default()]);
    }
    read(read_text(&path)?)
}

/// The longest text, and the most runs that it may tell of: what is said before the runs is kept
/// for each.
const MOST_BYTES: usize = 1 << 18;
const MOST_RUNS: usize = 256;

/// The runs that a TOML text tells of.
pub fn read(source: Source) -> Result<Vec<Run>, ReadError> {
    if source.text.len() > MOST_BYTES {
        let message = format!("`{}` is larger than {} KiB", source.name, MOST_BYTES >> 10);
        return Err(ReadError::new(Vec::new(), Diagnostic::error(message).help(HELP)));
    }
    read_runs(&source.text).map_err(|mistake| mistake.in_file(source))
}

/// What a run is started with, and what is told about it: the keys that are no answers.
#[derive(Deserialize)]
struct Told {
    instances: Option<String>,
    threads: Option<u32>,
    note: Option<String>,
    published: Option<Published>,
}

impl Told {
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
        // What stands before the runs is said of all.
        let mut all = file.get_ref().clone();
        all.extend(answers);
        run(Spanned::new(span, all))
    };
    runs.into_iter().map(read).collect()
}

fn run(table: Spanned<DeTable<'_>>) -> Result<Run, Mistake> {
    let span = table.span();
    let is_told = |key: &str| Told::KEYS.contains(&key);
    let (told, answers): (DeTable<'_>, DeTable<'_>) =
        table.into_inner().into_iter().partition(|(key, _)| is_told(key.get_ref()));
    let Told { instances, threads, note, published } =
        Told::deserialize(Deserializer::from(Spanned::new(span.clone(), told)))?;
    let expected = Expected::deserialize(Deserializer::from(Spanned::new(span, answers)))?;
    // They are shown in tables.
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

const HELP: &str = "the answers expected of a model need nothing but a `verdict`, \"safe\" or \"unsafe\"";

/// What is wrong, and where in the text.
#[derive(Debug)]
struct Mistake {
    message: String,
    span: Range<usize>,
}

/// So much of a message is shown.
const MOST_SHOWN: usize = 500;

impl From<Error> for Mistake {
    fn from(error: Error) -> Self {
        // What it quotes may be as long as the file.
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
        // Of a whole run, its first line.
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
    fn a_verdict_is_enough() {
        let [run] = &read_runs("verdict = 'safe'").unwrap()[..] else { panic!("one run") };
        let expected = run.expected.as_ref().unwrap();
        assert_eq!((expected.verdict, expected.contexts, &run.instances), (Verdict::Safe, None, &None));
        assert!(expected.contradiction().is_some(), "but not in the collection");
    }

    #[test]
    fn what_stands_before_the_runs_is_said_of_all_unless_they_say_otherwise() {
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

    /// What is said of a text, with the place.
    fn refused(text: &str) -> String {
        read(Source::new("m.toml", text)).unwrap_err().to_string()
    }

    #[test]
    fn mistakes_are_told_with_file_and_line() {
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
