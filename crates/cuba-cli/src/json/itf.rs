//! Traces in the Informal Trace Format (ITF), for viewers of other tools. Traces of systems have
//! the names of the system, those of programs have lines and variables.

use crate::analysis::model::{LoadedModel, LoadedProgram};
use crate::text::program_trace;
use crate::text::state_notation::StateNotation;
use crate::text::style::plain;
use boolprog::{ProgramStep, SourceFrame, Synchronisation};
use cpds::{Cpds, GlobalState, Stack, Trace};
use serde::Serialize;
use std::collections::BTreeMap;

/// A trace in the Informal Trace Format (ITF) of Apalache and Quint. `--trace` writes it to a file
/// `*.itf.json`.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ItfJson {
    /// About the file.
    #[serde(rename = "#meta")]
    pub meta: ItfMetaJson,
    /// The variables of a state.
    pub vars: Vec<String>,
    /// The states.
    pub states: Vec<ItfStateJson>,
}

/// About the file.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ItfMetaJson {
    /// `ITF`
    pub format: &'static str,
    /// The address of a description of the format.
    #[serde(rename = "format-description")]
    pub format_description: &'static str,
    /// The model.
    pub source: String,
    /// A description of the trace.
    pub description: String,
}

/// A state.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ItfStateJson {
    /// A state of a pushdown system.
    System(ItfSystemStateJson),
    /// A state of a Boolean program.
    Program(ItfProgramStateJson),
}

/// A state of a pushdown system.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ItfSystemStateJson {
    /// `index`: its number.
    #[serde(rename = "#meta")]
    pub meta: BTreeMap<&'static str, usize>,
    /// The context in which the state is reached, counted from 1; 0 for the initial state.
    pub context: ItfNumberJson,
    /// The thread of the step; empty for the initial state.
    pub thread: String,
    /// The action of the step; empty for the initial state.
    pub action: String,
    /// The shared state.
    pub shared: String,
    /// The stack of each thread, top first.
    pub stacks: ItfMapJson<Vec<String>>,
}

/// A state of a Boolean program.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ItfProgramStateJson {
    /// `index`: its number.
    #[serde(rename = "#meta")]
    pub meta: BTreeMap<&'static str, usize>,
    /// The context in which the state is reached, counted from 1; 0 for the initial state.
    pub context: ItfNumberJson,
    /// The thread of the step; empty for the initial state.
    pub thread: String,
    /// The function of the statement; empty for the initial state.
    pub function: String,
    /// The line of the statement; 0 for the initial state.
    pub line: ItfNumberJson,
    /// The statement.
    pub statement: String,
    /// The effect of the statement, in words: changes, the value of a condition, or a failure.
    pub effect: String,
    /// The calls of each thread, innermost first: function and line, `f:12`.
    pub stacks: ItfMapJson<Vec<String>>,
    /// The live thread-local and local variables of each thread, in its innermost call.
    pub locals: ItfMapJson<ItfMapJson<ItfBooleanJson>>,
    /// The thread that holds each lock; empty if the lock is free.
    pub locks: ItfMapJson<String>,
    /// The thread that is in an atomic section; empty if there is none.
    pub atomic: String,
    /// The places of the threads that were created and have not started.
    pub waiting: Vec<String>,
    /// The shared variables by name; `shared:NAME` if that is the name of another member.
    #[serde(flatten)]
    pub shared: BTreeMap<String, ItfBooleanJson>,
}

/// The value of a Boolean variable.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ItfBooleanJson {
    /// This value.
    Known(bool),
    /// Any value.
    Open(ItfOpenJson),
}

/// A value that is still open.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ItfOpenJson {
    /// `*`
    #[serde(rename = "#unserializable")]
    pub text: &'static str,
}

/// A number.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ItfNumberJson {
    /// The number, in decimal digits.
    #[serde(rename = "#bigint")]
    pub number: String,
}

/// A map from names.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ItfMapJson<T> {
    /// The pairs.
    #[serde(rename = "#map")]
    pub pairs: Vec<(String, T)>,
}

/// The variables of a state of a pushdown system.
const OF_SYSTEM: [&str; 5] = ["context", "thread", "action", "shared", "stacks"];

/// The variables of a state of a program, without those of the program itself.
const OF_PROGRAM: [&str; 11] =
    ["context", "thread", "function", "line", "statement", "effect", "stacks", "locals", "locks", "atomic", "waiting"];

pub(crate) fn itf(loaded: &LoadedModel, trace: &Trace, source: &str) -> ItfJson {
    let (vars, states) = match &loaded.program {
        Some(program) => {
            let own = program.map.shared_variables(trace.initial.shared);
            (own.into_iter().map(|(name, _)| variable(name)).collect(), of_program(loaded, program, trace))
        }
        None => (Vec::new(), of_system(loaded.problem().system(), trace)),
    };
    let fixed: &[&str] = if loaded.program.is_some() { &OF_PROGRAM } else { &OF_SYSTEM };
    ItfJson {
        meta: ItfMetaJson {
            format: "ITF",
            format_description: "https://apalache-mc.org/docs/adr/015adr-trace.html",
            source: source.to_owned(),
            description: format!("a trace to the bad state {}", bad(loaded, trace)),
        },
        vars: fixed.iter().map(|&name| name.to_owned()).chain(vars).collect(),
        states,
    }
}

/// Formats the bad state.
fn bad(loaded: &LoadedModel, trace: &Trace) -> String {
    match loaded.program {
        Some(_) => StateNotation::of(loaded).state(trace.last()),
        None => loaded.problem().system().text(trace.last()).to_string(),
    }
}

/// Returns the name of a shared variable. No program has a name with a colon.
fn variable(name: &str) -> String {
    if OF_PROGRAM.contains(&name) { format!("shared:{name}") } else { name.to_owned() }
}

/// The last statement: its context, thread, function, line, text and effects.
#[derive(Default)]
struct LastStatement {
    context: usize,
    thread: String,
    function: String,
    line: usize,
    statement: String,
    effects: Vec<String>,
}

fn of_program(loaded: &LoadedModel, program: &LoadedProgram, trace: &Trace) -> Vec<ItfStateJson> {
    let (system, map) = (loaded.problem().system(), &program.map);
    let mut shared = map.shared_variables(trace.initial.shared);
    let mut states = Vec::new();
    let initial = map.synchronisation(&trace.initial, None);
    states.push(program_state(loaded, program, (0, &trace.initial), (&shared, &initial), LastStatement::default()));
    let mut done: Option<LastStatement> = None;
    for ProgramStep { context, thread, state, step, now } in map.trace(system, trace).into_steps() {
        let name = system.thread_name(thread);
        // A step that is part of the step before has no description of its own.
        let (text, effect) = program_trace::describe_step(loaded, &step, &name)
            .unwrap_or_else(|| (program_trace::statement(loaded, step.span), String::new()));
        let done_now = done.get_or_insert_with(|| LastStatement {
            context: context + 1,
            thread: name,
            function: step.function.to_owned(),
            line: step.line,
            statement: text,
            effects: Vec::new(),
        });
        done_now.effects.extend(Some(plain(&effect)).filter(|effect| !effect.is_empty()));
        // A return has intermediate states, which are not states of the program.
        if map.is_mid_step(state.shared) {
            continue;
        }
        if map.error(state.shared).is_none() {
            shared = map.shared_variables(state.shared);
        }
        let done = done.take().unwrap_or_default();
        states.push(program_state(loaded, program, (states.len(), state), (&shared, &now), done));
    }
    states
}

fn program_state(
    loaded: &LoadedModel,
    program: &LoadedProgram,
    (index, state): (usize, &GlobalState),
    (shared, now): (&[(&str, Option<bool>)], &Synchronisation<'_>),
    done: LastStatement,
) -> ItfStateJson {
    let (system, map) = (loaded.problem().system(), &program.map);
    let boolean = |value: Option<bool>| match value {
        Some(value) => ItfBooleanJson::Known(value),
        None => ItfBooleanJson::Open(ItfOpenJson { text: "*" }),
    };
    let threads = || system.threads().zip(&state.stacks).map(|(thread, stack)| (system.thread_name(thread), stack));
    let place = |SourceFrame { function, line, .. }: SourceFrame<'_>| format!("{function}:{line}");
    let locals = |stack: &Stack| {
        let variables = stack.top().map(|top| map.frame(top).variables).into_iter().flatten();
        ItfMapJson { pairs: variables.map(|(name, value)| (name.to_owned(), boolean(value))).collect() }
    };
    let holder = |lock: &str| {
        let held = now.locks.iter().find(|held| held.name == lock);
        held.map_or(String::new(), |held| program_trace::holder(held, &|thread| system.thread_name(thread)))
    };
    ItfStateJson::Program(ItfProgramStateJson {
        meta: BTreeMap::from([("index", index)]),
        context: number(done.context),
        thread: done.thread,
        function: done.function,
        line: number(done.line),
        statement: done.statement,
        effect: done.effects.join(", "),
        stacks: ItfMapJson {
            pairs: threads()
                .map(|(name, stack)| (name, stack.iter().map(|symbol| place(map.frame(symbol))).collect()))
                .collect(),
        },
        locals: ItfMapJson { pairs: threads().map(|(name, stack)| (name, locals(stack))).collect() },
        locks: ItfMapJson { pairs: map.lock_names().map(|lock| (lock.to_owned(), holder(lock))).collect() },
        atomic: now.atomic.map_or(String::new(), |thread| system.thread_name(thread)),
        waiting: now.waiting.iter().map(|frame| place(frame.clone())).collect(),
        shared: shared.iter().map(|&(name, value)| (variable(name), boolean(value))).collect(),
    })
}

fn number(number: usize) -> ItfNumberJson {
    ItfNumberJson { number: number.to_string() }
}

fn of_system(system: &Cpds, trace: &Trace) -> Vec<ItfStateJson> {
    let mut states = vec![itf_state(system, 0, 0, (String::new(), String::new()), &trace.initial)];
    for (number, context) in (1..).zip(&trace.contexts) {
        for step in &context.steps {
            let rule = context.rule(system, step);
            let label = rule.label.as_ref().map_or(String::new(), |label| format!("{label}: "));
            let moved = (system.thread_name(context.thread), label + &system.text(&rule.action).to_string());
            states.push(itf_state(system, states.len(), number, moved, &step.state));
        }
    }
    states
}

fn itf_state(
    system: &Cpds,
    index: usize,
    context: usize,
    (thread, action): (String, String),
    state: &GlobalState,
) -> ItfStateJson {
    let names = |stack: &cpds::Stack| stack.iter().map(|symbol| system.symbol_name(symbol).to_owned()).collect();
    let stacks = system.threads().zip(&state.stacks).map(|(thread, stack)| (system.thread_name(thread), names(stack)));
    ItfStateJson::System(ItfSystemStateJson {
        meta: BTreeMap::from([("index", index)]),
        context: number(context),
        thread,
        action,
        shared: system.shared_name(state.shared).to_owned(),
        stacks: ItfMapJson { pairs: stacks.collect() },
    })
}
