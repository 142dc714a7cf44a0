//! Traces of Boolean programs as text: the statements, and the variables that each one changes.

use crate::analysis::model::{LoadedModel, LoadedProgram};
use crate::text::state_notation::StateNotation;
use crate::text::style::{BOLD, DIM, WRONG, of_thread, paint};
use crate::text::table::elided;
use crate::text::terminal::{cut, fitted, length};
use boolprog::{
    BadStates, Change, HeldLock, ProgramStep, SourceFrame, SourceStep, StepKind, Synchronisation, SynchronisationEvent,
};
use cpds::diagnostic::{Span, plural};
use cpds::{GlobalState, SharedState, Stack, ThreadId, Trace};
use std::fmt::Write as _;

/// One line of a program trace.
struct TraceLine {
    place: String,
    function: String,
    text: String,
    changes: String,
    /// The state that the step leads to, if it is shown.
    state: Option<String>,
}

/// Steps of one thread under a heading.
struct Block {
    thread: ThreadId,
    heading: Option<String>,
    lines: Vec<TraceLine>,
}

/// The largest width of the column of statements, if the terminal sets no other limit.
const TEXT: usize = 60;

/// Formats a trace, context by context: the line, the function, the statement, and its changes.
/// Lines are cut to `columns`.
pub(crate) fn steps(loaded: &LoadedModel, program: &LoadedProgram, trace: &Trace, columns: Option<usize>) -> String {
    let system = loaded.problem().system();
    let mut blocks: Vec<Block> = Vec::new();
    let mut now = program.map.synchronisation(&trace.initial, None);
    for ProgramStep { context, thread, step, now: after, .. } in program.map.trace(system, trace).into_steps() {
        let before = std::mem::replace(&mut now, after);
        if blocks.len() == context {
            let name = system.thread_name(thread);
            let heading = paint(of_thread(thread).bold(), format!("context {}: {name}", context + 1));
            // A thread that starts here no longer waits.
            let there = if step.kind == StepKind::Start { &now } else { &before };
            let state = synchronisation(there, &|thread| system.thread_name(thread));
            let state = if state.is_empty() { state } else { paint(DIM, format!("  ({state})")) };
            blocks.push(Block { thread, heading: Some(heading + &state), lines: Vec::new() });
        }
        blocks[context].lines.extend(line(loaded, &step, &system.thread_name(thread)));
    }
    let text = if blocks.is_empty() {
        "  no step: the initial state is bad\n".to_owned()
    } else {
        layout_blocks(&blocks, columns)
    };
    format!("{}\n{text}\n", loaded.reading.sources[0].name)
}

/// Formats a run of one thread alone, like a context of a trace without a heading. The states have
/// only the stack of this thread. If there are more than twice `most` steps, those in the middle
/// are omitted.
pub(crate) fn run(
    loaded: &LoadedModel,
    program: &LoadedProgram,
    (thread, name): (ThreadId, &str),
    states: &[(SharedState, Stack)],
    (most, columns): (usize, Option<usize>),
) -> String {
    let lines = states.windows(2).filter_map(|pair| {
        let [(q, old), (p, new)] = pair else { unreachable!("windows of two") };
        line(loaded, &program.map.step_alone((*q, old), (*p, new)), name)
    });
    let gap = |left_out: usize| TraceLine {
        place: "…".to_owned(),
        function: String::new(),
        text: format!("{left_out} steps"),
        changes: String::new(),
        state: None,
    };
    let lines = elided(lines.collect(), most, gap);
    layout_blocks(&[Block { thread, heading: None, lines }], columns)
}

/// Arranges lines in columns, under their headings.
fn layout_blocks(blocks: &[Block], columns: Option<usize>) -> String {
    let width = |part: fn(&TraceLine) -> &String| {
        blocks.iter().flat_map(|block| &block.lines).map(|line| length(part(line))).max().unwrap_or(0)
    };
    let (place, function, text) = (width(|line| &line.place), width(|line| &line.function), width(|line| &line.text));
    // On a narrow terminal, statements are shortened first. Changes are shortened only if they take
    // more than a third of the columns.
    let room = columns.map(|columns| {
        let changes = width(|line| &line.changes).min(columns / 3);
        columns.saturating_sub(2 + place + 2 + function + 2 + 2 + changes).max(columns / 4)
    });
    let text = text.min(room.unwrap_or(TEXT));
    let mut out = String::new();
    for Block { thread, heading, lines } in blocks {
        if let Some(heading) = heading {
            let _ = writeln!(out, "{heading}");
        }
        for line in lines {
            let at = paint(DIM, format!("{:>place$}", line.place));
            let function = paint(of_thread(*thread), format!("{:<function$}", line.function));
            // A statement that changes nothing may use the whole line.
            let room = room.filter(|_| !line.changes.is_empty());
            let statement = room.map_or_else(|| line.text.clone(), |room| cut(&line.text, room));
            let shown = format!("  {at}  {function}  {statement:<text$}  {}", line.changes);
            let _ = writeln!(out, "{}", shown.trim_end());
            if let Some(state) = &line.state {
                let _ = writeln!(out, "  {:place$}  {state}", "");
            }
        }
    }
    fitted(&out, columns)
}

/// Formats a step as a line. Returns nothing for a step that is part of the step before.
fn line(loaded: &LoadedModel, step: &SourceStep<'_>, thread: &str) -> Option<TraceLine> {
    let (text, changes) = describe_step(loaded, step, thread)?;
    let text = format!("{:indent$}{text}", "", indent = 2 * step.depth.min(20));
    Some(TraceLine { place: place(step), function: step.function.to_owned(), text, changes, state: None })
}

/// Describes the statement of a step and its changes. Returns nothing for a step that is part of
/// the step before. `thread` is the name of the thread.
pub(crate) fn describe_step(loaded: &LoadedModel, step: &SourceStep<'_>, thread: &str) -> Option<(String, String)> {
    let mut changes: Vec<String> = step.changes.iter().map(change).collect();
    let is_end = step.kind == StepKind::EndOfAtomic;
    if is_end && step.is_in_atomic {
        changes.push("still in atomic".to_owned());
    }
    // The statement `end of atomic` already says that the thread leaves.
    let described = step.synchronised.iter().filter(|it| !(is_end && **it == SynchronisationEvent::LeavesAtomic));
    changes.extend(described.map(|it| synchronised(it, thread)));
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

/// Describes a change of a lock, of an atomic section or of a created thread.
fn synchronised(change: &SynchronisationEvent<'_>, thread: &str) -> String {
    match change {
        SynchronisationEvent::Takes(lock) => format!("{lock} held by {thread}"),
        SynchronisationEvent::Frees(lock) => format!("{lock} free"),
        SynchronisationEvent::Keeps(lock) => format!("{lock} held for ever: {thread} ends"),
        SynchronisationEvent::EntersAtomic => "in atomic".to_owned(),
        SynchronisationEvent::LeavesAtomic => "out of atomic".to_owned(),
        SynchronisationEvent::Creates(frame) => waits(frame),
    }
}

/// Describes a created thread: its function or the place where it starts, with the variables that
/// have a value there.
pub(crate) fn waits(frame: &SourceFrame<'_>) -> String {
    format!("{} waits to start", starting(frame))
}

/// Formats the function or the place where a thread starts: `f`, `f(a=1)`, `main:12`.
pub(crate) fn starting(frame: &SourceFrame<'_>) -> String {
    let place = if frame.is_entry { frame.function.to_owned() } else { format!("{}:{}", frame.function, frame.line) };
    let value = |&(name, value): &(&str, Option<bool>)| Some(format!("{name}={}", u8::from(value?)));
    let values: Vec<String> = frame.variables.iter().filter_map(value).collect();
    if values.is_empty() { place } else { format!("{place}({})", values.join(", ")) }
}

/// Describes the threads that wait to start. Equal threads share an item: `f waits to start`, `3 ×
/// f wait to start`.
pub(crate) fn waiting(frames: &[SourceFrame<'_>]) -> Vec<String> {
    let mut alike: Vec<(&SourceFrame<'_>, usize)> = Vec::new();
    for frame in frames {
        match alike.iter_mut().find(|(other, _)| *other == frame) {
            Some((_, count)) => *count += 1,
            None => alike.push((frame, 1)),
        }
    }
    let words = |(frame, count): (&SourceFrame<'_>, usize)| match count {
        1 => waits(frame),
        _ => format!("{count} × {} wait to start", starting(frame)),
    };
    alike.into_iter().map(words).collect()
}

/// Describes the held locks, the atomic section and the waiting threads. `name` gives the names of
/// threads.
pub(crate) fn synchronisation(now: &Synchronisation<'_>, name: &dyn Fn(ThreadId) -> String) -> String {
    let locks = now.locks.iter().map(|lock| held(lock, name));
    let atomic = now.atomic.iter().map(|&thread| format!("{} in atomic", name(thread)));
    locks.chain(atomic).chain(waiting(&now.waiting)).collect::<Vec<_>>().join(", ")
}

/// Describes a held lock: `m held by consumer#2`.
pub(crate) fn held(lock: &HeldLock<'_>, name: &dyn Fn(ThreadId) -> String) -> String {
    format!("{} held by {}", lock.name, holder(lock, name))
}

/// Describes the thread that holds a lock.
pub(crate) fn holder(lock: &HeldLock<'_>, name: &dyn Fn(ThreadId) -> String) -> String {
    match (lock.holder, lock.has_ended) {
        (Some(holder), false) => name(holder),
        (Some(holder), true) => format!("{}, which has ended", name(holder)),
        (None, _) => "a thread that has ended".to_owned(),
    }
}

/// Formats the line of a step: `12`, or `(main.c:7) 12` if the program was made from a C program.
fn place(step: &SourceStep<'_>) -> String {
    match step.origin {
        Some(origin) => format!("({}:{}) {}", origin.file, origin.line, step.line),
        None => step.line.to_string(),
    }
}

/// Formats a change of a variable: `x = 1`, or `x = *` if x may now have any value.
fn change(change: &Change<'_>) -> String {
    let value = change.after.map_or("*", |value| if value { "1" } else { "0" });
    format!("{} = {value}", change.name)
}

/// Computes the state after all actions of a step. Also describes the changes by the actions after
/// the first one.
pub(crate) fn whole_step(
    loaded: &LoadedModel,
    program: &LoadedProgram,
    state: &GlobalState,
) -> (GlobalState, Vec<String>) {
    let (system, mut state, mut changes) = (loaded.problem().system(), state.clone(), Vec::new());
    while program.map.is_mid_step(state.shared) {
        // Only the returning thread can make a step, and only one step.
        let Some(next) = system.steps(&state).next() else { break };
        let step = program.map.step(next.thread, &state, &next.state);
        changes.extend(describe_step(loaded, &step, &system.thread_name(next.thread)).map(|(_, changes)| changes));
        state = next.state;
    }
    (state, changes)
}

/// Lists every enabled step from a state, by thread, as in a trace. The state after a step follows
/// the step.
pub(crate) fn successors(loaded: &LoadedModel, program: &LoadedProgram, state: &GlobalState) -> String {
    let (system, words) = (loaded.problem().system(), StateNotation::of(loaded));
    let (mut blocks, mut count) = (Vec::new(), 0);
    for thread in system.threads() {
        let name = system.thread_name(thread);
        let mut lines = Vec::new();
        for step in system.steps_of(thread, state) {
            let taken = program.map.step(thread, state, &step.state);
            let (reached, further) = whole_step(loaded, program, &step.state);
            // A step that is part of the step before has no description of its own.
            let (text, changes) =
                describe_step(loaded, &taken, &name).unwrap_or_else(|| (statement(loaded, taken.span), String::new()));
            let changes = std::iter::once(changes).chain(further).filter(|changes| !changes.is_empty());
            lines.push(TraceLine {
                place: place(&taken),
                function: taken.function.to_owned(),
                text,
                changes: changes.collect::<Vec<_>>().join(", "),
                state: Some(words.state(&reached)),
            });
        }
        count += lines.len();
        let no_step = if lines.is_empty() { "  no step" } else { "" };
        let heading = Some(paint(of_thread(thread).bold(), name) + no_step);
        blocks.push(Block { thread, heading, lines });
    }
    format!("{} has {}\n{}", words.state(state), plural(count, "successor"), layout_blocks(&blocks, None))
}

/// Returns the text of a statement, on one line.
pub(crate) fn statement(loaded: &LoadedModel, span: Span) -> String {
    let text = &loaded.reading.sources[span.source as usize].text[span.start as usize..span.end as usize];
    let words: Vec<&str> = text.split_whitespace().collect();
    cpds::diagnostic::printable(&words.join(" "))
}

/// Describes the bad state of a trace in words of the program.
pub(crate) fn bad(loaded: &LoadedModel, program: &LoadedProgram, trace: &Trace) -> String {
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
    match &program.property {
        BadStates::Labels(labels) => format!("a thread stands at {}", labels.join(" or ")),
        _ => format!("the bad state {} is reachable", StateNotation::of(loaded).state(trace.last())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::model::Format;
    use anstream::adapter::strip_str;

    /// A recursive thread that takes and frees a lock. The text is as in a trace, without other
    /// threads.
    #[test]
    fn a_run_of_one_thread() {
        let text = "decl x;\nvoid f() {\n  lock(m); x := 1;\n  unlock(m);\n  call f();\n}\n\
            void g() { lock(m); unlock(m); }\nvoid main() { thread_create(&f); thread_create(&g); }";
        let source = cpds::Source::new("p.bp", text);
        let lowered = boolprog::read(source, &boolprog::Options::default()).expect("a program");
        let program = LoadedProgram { map: lowered.map, property: BadStates::Errors, assumptions: Vec::new() };
        let loaded = LoadedModel { reading: lowered.reading, format: Format::Bp, program: Some(program) };
        let (system, program) = (loaded.problem().system(), loaded.program.as_ref().expect("a program"));
        let thread = ThreadId(0);
        let mut state = system.initial()[0].clone();
        let mut states = vec![(state.shared, state.stacks[0].clone())];
        for _ in 0..5 {
            let next = system.steps_of(thread, &state).next().expect("there is a step").state;
            state = next;
            states.push((state.shared, state.stacks[0].clone()));
        }
        let described = run(&loaded, program, (thread, "f"), &states, (10, None));
        let expected = [
            "  3  f  lock(m)    m held by f",
            "  3  f  x := 1     x = 1",
            "  4  f  unlock(m)  m free",
            "  5  f  call f()",
            "  3  f    lock(m)  m held by f",
        ];
        assert_eq!(strip_str(&described).to_string().lines().collect::<Vec<_>>(), expected);
        let words = StateNotation::of(&loaded);
        assert_eq!(words.thread_state((states[4].0, &states[4].1)), "⟨x=1|f:3 f:5(calling)⟩");
    }
}
