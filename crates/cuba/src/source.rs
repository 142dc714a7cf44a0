//! Traces of Boolean programs: in lines of the program, and variables that changed.

use crate::json::{ErrorJson, OriginJson, PlaceJson, SourceJson};
use crate::load::{Loaded, LoadedProgram};
use crate::style::{BOLD, DIM, WRONG, of_thread, paint};
use crate::terminal::{cut, fitted, length};
use boolprog::syntax::Origin;
use boolprog::{Asked, Change, SourceStep, StepKind};
use cpds::diagnostic::Span;
use cpds::{GlobalState, ThreadId, Trace};
use std::fmt::Write as _;

/// One line of a trace.
struct Line {
    place: String,
    function: String,
    text: String,
    changes: String,
}

/// The widest column of statements, where there is no other limit: in a longer one, nobody finds the next column.
const TEXT: usize = 60;

/// A trace, context by context: the line, the function, the statement as it is written, and what it changed; in so many columns, if
/// that matters.
pub(crate) fn steps(loaded: &Loaded, program: &LoadedProgram, trace: &Trace, columns: Option<usize>) -> String {
    let system = loaded.problem().system();
    let mut blocks: Vec<(ThreadId, Vec<Line>)> = Vec::new();
    let mut before = &trace.initial;
    for context in &trace.contexts {
        let mut lines = Vec::new();
        for step in &context.steps {
            lines.extend(line(loaded, program, context.thread, before, &step.state));
            before = &step.state;
        }
        blocks.push((context.thread, lines));
    }
    let width = |part: fn(&Line) -> &String| {
        blocks.iter().flat_map(|(_, lines)| lines).map(|line| length(part(line))).max().unwrap_or(0)
    };
    let (place, function, text) = (width(|line| &line.place), width(|line| &line.function), width(|line| &line.text));
    // Where it is narrow, statements are shortened first, and what they changed only if that is long.
    let room = columns.map(|columns| {
        let changes = width(|line| &line.changes).min(columns / 3);
        columns.saturating_sub(2 + place + 2 + function + 2 + 2 + changes).max(columns / 4)
    });
    let text = text.min(room.unwrap_or(TEXT));
    let mut out = String::new();
    if blocks.is_empty() {
        out.push_str("  no step: the initial state is bad\n");
    }
    for (number, (thread, lines)) in (1..).zip(&blocks) {
        let colour = of_thread(*thread);
        let heading = format!("context {number}: {}", system.thread_name(*thread));
        let _ = writeln!(out, "{}", paint(colour.bold(), heading));
        for line in lines {
            let at = paint(DIM, format!("{:>place$}", line.place));
            let function = paint(colour, format!("{:<function$}", line.function));
            // What changes nothing has all the room to itself.
            let room = room.filter(|_| !line.changes.is_empty());
            let statement = room.map_or_else(|| line.text.clone(), |room| cut(&line.text, room));
            let shown = format!("  {at}  {function}  {statement:<text$}  {}", line.changes);
            let _ = writeln!(out, "{}", shown.trim_end());
        }
    }
    format!("{}\n{}\n", loaded.reading.sources[0].name, fitted(&out, columns))
}

/// A step, unless it is part of the one before.
fn line(
    loaded: &Loaded,
    program: &LoadedProgram,
    thread: ThreadId,
    before: &GlobalState,
    after: &GlobalState,
) -> Option<Line> {
    let step = program.map.step(thread, before, after);
    let (text, changes) = told(loaded, &step)?;
    let text = format!("{:indent$}{text}", "", indent = 2 * step.depth.min(20));
    Some(Line { place: place(&step), function: step.function.to_owned(), text, changes })
}

/// What was done and what it changed, in words; nothing for a step that is part of the one before.
pub(crate) fn told(loaded: &Loaded, step: &SourceStep<'_>) -> Option<(String, String)> {
    let changes: Vec<String> = step.changes.iter().map(change).collect();
    let changes = paint(BOLD, changes.join(", "));
    let fails = paint(WRONG, "fails");
    Some(match step.kind {
        StepKind::Nothing => return None,
        StepKind::Results if changes.is_empty() => return None,
        StepKind::Start => ("the thread starts".to_owned(), changes),
        StepKind::EndOfFunction => (format!("end of {}", step.function), changes),
        StepKind::EndOfAtomic => ("end of atomic".to_owned(), changes),
        StepKind::Assert if changes.is_empty() => (statement(loaded, step.span), fails),
        StepKind::Assert => (statement(loaded, step.span), format!("{fails}: {changes}")),
        StepKind::Unlock => (statement(loaded, step.span), format!("{fails}: the lock is not held")),
        StepKind::Condition(value) => {
            let value = if value { "yes" } else { "no" };
            let chosen = if changes.is_empty() { value.to_owned() } else { format!("{value}: {changes}") };
            (statement(loaded, step.span), chosen)
        }
        StepKind::Statement | StepKind::Results => (statement(loaded, step.span), changes),
    })
}

/// `12`, or `(main.c:7) 12` if the program was made from another one.
fn place(step: &SourceStep<'_>) -> String {
    match step.origin {
        Some(origin) => format!("({}:{}) {}", origin.file, origin.line, step.line),
        None => step.line.to_string(),
    }
}

/// `x = 1`; `x = *` if it may be anything now.
fn change(change: &Change<'_>) -> String {
    let value = change.after.map_or("*", |value| if value { "1" } else { "0" });
    format!("{} = {value}", change.name)
}

/// The text of a statement, on one line.
pub(crate) fn statement(loaded: &Loaded, span: Span) -> String {
    let text = &loaded.reading.sources[span.source as usize].text[span.start as usize..span.end as usize];
    let words: Vec<&str> = text.split_whitespace().collect();
    cpds::diagnostic::printable(&words.join(" "))
}

/// A step as JSON has it.
pub(crate) fn json(
    loaded: &Loaded,
    program: &LoadedProgram,
    thread: ThreadId,
    before: &GlobalState,
    after: &GlobalState,
) -> SourceJson {
    let step = program.map.step(thread, before, after);
    let kind = match step.kind {
        StepKind::Statement => "statement",
        StepKind::Condition(_) => "condition",
        StepKind::Results => "call returned",
        StepKind::EndOfFunction => "end of function",
        StepKind::EndOfAtomic => "end of atomic",
        StepKind::Start => "thread starts",
        StepKind::Assert => "assert fails",
        StepKind::Unlock => "unlock fails",
        StepKind::Nothing => "handover",
    };
    let changes = step.changes.iter().map(|change| (change.name.to_owned(), change.after)).collect();
    SourceJson {
        kind,
        place: place_json(loaded, step.function, step.line, step.span, step.origin),
        depth: step.depth,
        changes,
    }
}

fn place_json(loaded: &Loaded, function: &str, line: usize, span: Span, origin: Option<&Origin>) -> PlaceJson {
    let origin = origin.map(|origin| OriginJson { file: origin.file.clone(), line: origin.line });
    PlaceJson { function: function.to_owned(), line, statement: statement(loaded, span), origin }
}

/// The error that a trace ends with, if it ends with one.
pub(crate) fn error(loaded: &Loaded, program: &LoadedProgram, trace: &Trace) -> Option<ErrorJson> {
    let error = program.map.error(trace.last().shared)?;
    let kind = if error.kind == StepKind::Unlock { "unlock" } else { "assert" };
    Some(ErrorJson { kind, place: place_json(loaded, error.function, error.line, error.span, error.origin) })
}

/// What is bad, in words of the program; nothing if it can only be told as a state.
pub(crate) fn bad(loaded: &Loaded, program: &LoadedProgram, trace: &Trace) -> String {
    let system = loaded.problem().system();
    let file = &loaded.reading.sources[0].name;
    if let Some(error) = program.map.error(trace.last().shared) {
        let place = format!("{file}:{}", error.line);
        let origin = error.origin.map_or(String::new(), |origin| format!(" ({}:{})", origin.file, origin.line));
        let text = statement(loaded, error.span);
        return match error.kind {
            StepKind::Unlock => {
                format!("`{text}` at {place}{origin} in {} gives up a lock that is not held,", error.function)
            }
            _ => format!("`{text}` at {place}{origin} in {} fails", error.function),
        };
    }
    match &program.asked {
        Asked::Labels(labels) => format!("a thread stands at {}", labels.join(" or ")),
        _ => format!("the bad state {} is reachable", system.paper(trace.last())),
    }
}
