//! JSON output: one object for each verb, described in `docs/json.md`.
//!
//! In: data about a model or an analysis. Out: types that serialise to the output. Their doc
//! comments are the descriptions in `docs/schema`.

mod answers;
mod bench;
mod evidence;
mod fcr;
mod itf;
mod programs;
mod sequences;
mod statistics;

pub use answers::*;
pub use bench::*;
pub use evidence::*;
pub use fcr::*;
pub use itf::*;
pub use sequences::*;

use crate::analysis::model::{Format, LoadedModel};
use crate::text::diagnostics;
use cpds::diagnostic::{Severity, is_printable};
use cpds::{ActionKind, Cpds, GlobalState, Problem, Program, Reading, Rule, Step};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// `cuba show`
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ShowJson {
    /// The file that was read.
    pub file: String,
    /// Its format.
    pub format: Format,
    /// The model.
    pub model: ModelJson,
    /// The summary.
    pub summary: SummaryJson,
    /// The first hundred warnings.
    pub warnings: Vec<WarningJson>,
}

/// The model; names are the file's own.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ModelJson {
    /// Q.
    pub shared: Vec<String>,
    /// The initial states, written `q|w1,…,wn`, stacks top first.
    pub initial: Vec<String>,
    /// The bad patterns, written `q|s1,…,sn`.
    pub bad: Vec<String>,
    /// The programs. One or more threads run each of them.
    pub programs: Vec<ProgramJson>,
}

/// A program.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProgramJson {
    /// Its name.
    pub name: String,
    /// The number of threads that run it.
    pub copies: u32,
    /// Σ_i.
    pub symbols: Vec<String>,
    /// Δ_i.
    pub actions: Vec<ActionJson>,
}

/// An action (q,w) → (q',w').
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ActionJson {
    /// Its label, if it has one.
    pub label: Option<String>,
    /// `pop`, `overwrite`, `push`, `empty-overwrite` or `empty-push`.
    pub kind: &'static str,
    /// (q,w).
    pub from: SideJson,
    /// (q',w').
    pub to: SideJson,
}

/// One side of an action.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SideJson {
    /// The shared state.
    pub shared: String,
    /// The symbols, top first.
    pub word: Vec<String>,
}

/// The size of a model.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SummaryJson {
    /// |Q|.
    pub shared_states: usize,
    /// n.
    pub threads: usize,
    /// The names of the threads, in order.
    pub thread_names: Vec<String>,
    /// Groups of interchangeable threads, counted from 1.
    pub symmetric_groups: Vec<Vec<usize>>,
    /// |Σ_i| for each thread.
    pub symbols: Vec<usize>,
    /// The number of actions of each kind in all threads together.
    pub actions: BTreeMap<&'static str, usize>,
}

/// `cuba show --successors`
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SuccessorsJson {
    /// The file that was read.
    pub file: String,
    /// The state.
    pub state: String,
    /// For a Boolean program, the state in words of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<ProgramStateJson>,
    /// Every enabled step, by thread.
    pub successors: Vec<StepJson>,
    /// The first hundred warnings.
    pub warnings: Vec<WarningJson>,
}

/// A step.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StepJson {
    /// The thread of the step, counted from 1.
    pub thread: usize,
    /// Its name.
    pub thread_name: String,
    /// The action that fires.
    pub action: ActionJson,
    /// The state that the step leads to.
    pub state: String,
    /// For a Boolean program, the statement and the state that it leads to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<ProgramStepJson>,
}

/// A step of a Boolean program from the given state.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProgramStepJson {
    /// The statement.
    #[serde(flatten)]
    pub step: SourceJson,
    /// The state that the statement leads to. For a return, which is two or more actions, the state
    /// after all of them.
    pub reached: ProgramStateJson,
}

/// A state of a Boolean program.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProgramStateJson {
    /// The state as text, in the notation of `--successors`.
    pub text: String,
    /// The shared variables; null is any value. Empty after an error.
    pub shared: BTreeMap<String, Option<bool>>,
    /// The locks, the atomic section and the waiting threads.
    pub threads: SynchronisationJson,
    /// The calls of each thread.
    pub stacks: Vec<StackJson>,
}

/// The calls of a thread.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StackJson {
    /// The thread.
    pub thread: String,
    /// Its calls, innermost first; empty if it is not running.
    pub frames: Vec<FrameJson>,
}

/// A call.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FrameJson {
    /// The function.
    pub function: String,
    /// The current line, counted from 1.
    pub line: usize,
    /// The live thread-local and local variables; null is any value.
    pub variables: BTreeMap<String, Option<bool>>,
}

/// `cuba show --psa`
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PsaJson {
    /// The file that was read.
    pub file: String,
    /// The title of the automaton.
    pub title: String,
    /// Whether it accepts finitely many states; otherwise it has a loop.
    pub finite: bool,
    /// Its states.
    pub states: Vec<PsaStateJson>,
    /// Its transitions.
    pub transitions: Vec<PsaTransitionJson>,
    /// The first hundred warnings.
    pub warnings: Vec<WarningJson>,
}

/// A state of a store automaton.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PsaStateJson {
    /// Its name: `q` for the state of a shared state, `(q,σ)` for a state that was made for calls
    /// that lead to q and σ.
    pub name: String,
    /// `shared`, `inner` or `accepting`.
    pub kind: &'static str,
    /// For a Boolean program, the state in words of the program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// A transition of a store automaton.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PsaTransitionJson {
    /// The state where it starts, as a position in `states`, counted from 0.
    pub from: usize,
    /// The symbol; null for ε.
    pub symbol: Option<String>,
    /// The state where it ends.
    pub to: usize,
    /// Whether it is part of the loop that is shown.
    pub on_loop: bool,
    /// For a Boolean program, the function, line and variables of the symbol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

/// `cuba convert`
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ConvertJson {
    /// The file that was read.
    pub file: String,
    /// The output format.
    pub to: Format,
    /// The output texts, one for each file.
    pub output: Vec<OutputJson>,
    /// The first hundred warnings.
    pub warnings: Vec<WarningJson>,
}

/// An output text of a conversion.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OutputJson {
    /// `cpds`, `pds`, `init` or `spec`.
    pub extension: &'static str,
    /// The file to which it was written, with `-o`.
    pub path: Option<String>,
    /// The text, without `-o`.
    pub text: Option<String>,
}

/// A warning about the input.
#[derive(Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WarningJson {
    /// The text of the warning.
    pub message: String,
    /// The file.
    pub file: Option<String>,
    /// The line, counted from 1.
    pub line: Option<usize>,
    /// The column, counted in characters from 1.
    pub column: Option<usize>,
}

pub(crate) fn model(problem: &Problem) -> ModelJson {
    let system = problem.system();
    ModelJson {
        shared: system.shared_names().iter().map(str::to_owned).collect(),
        initial: system.initial().iter().map(|state| system.text(state).to_string()).collect(),
        bad: problem.property().bad.iter().map(|pattern| system.text(pattern).to_string()).collect(),
        programs: system.programs().iter().map(|program| self::program(system, program)).collect(),
    }
}

fn program(system: &Cpds, program: &Program) -> ProgramJson {
    ProgramJson {
        name: program.name().to_owned(),
        copies: program.copies(),
        symbols: program.alphabet().iter().map(|symbol| system.symbol_name(symbol).to_owned()).collect(),
        actions: program.rules().iter().map(|rule| action(system, rule)).collect(),
    }
}

fn action(system: &Cpds, Rule { label, action }: &Rule) -> ActionJson {
    let side = |shared, word: &mut dyn Iterator<Item = cpds::Symbol>| SideJson {
        shared: system.shared_name(shared).to_owned(),
        word: word.map(|symbol| system.symbol_name(symbol).to_owned()).collect(),
    };
    let (from, read) = action.source();
    let (to, mut written) = action.target();
    ActionJson {
        label: label.as_deref().map(str::to_owned),
        kind: action.kind().word(),
        from: side(from, &mut read.into_iter()),
        to: side(to, &mut written),
    }
}

pub(crate) fn summary(system: &Cpds) -> SummaryJson {
    let total = |kind: ActionKind| system.threads().map(|thread| system.program(thread).count(kind)).sum();
    let groups = system.symmetric_groups();
    SummaryJson {
        shared_states: system.shared_names().len(),
        threads: system.thread_count(),
        thread_names: system.threads().map(|thread| system.thread_name(thread)).collect(),
        symmetric_groups: groups.iter().map(|group| group.iter().map(|thread| thread.index() + 1).collect()).collect(),
        symbols: system.threads().map(|thread| system.program(thread).alphabet().len()).collect(),
        actions: ActionKind::ALL.iter().map(|&kind| (kind.word(), total(kind))).collect(),
    }
}

/// Builds the list of all steps from a state.
pub(crate) fn successors(
    file: String,
    loaded: &LoadedModel,
    state: &GlobalState,
    warnings: Vec<WarningJson>,
) -> SuccessorsJson {
    let (system, program) = (loaded.problem().system(), loaded.program.as_ref());
    let mut successors: Vec<StepJson> = system.steps(state).map(|it| step(system, &it)).collect();
    if let Some(program) = program {
        for (step, source) in successors.iter_mut().zip(programs::program_successors(loaded, program, state)) {
            step.source = Some(source);
        }
    }
    SuccessorsJson {
        file,
        state: system.text(state).to_string(),
        source: program.map(|program| programs::program_state(loaded, program, state)),
        successors,
        warnings,
    }
}

fn step(system: &Cpds, step: &Step<'_>) -> StepJson {
    StepJson {
        thread: step.thread.index() + 1,
        thread_name: system.thread_name(step.thread),
        action: action(system, step.rule),
        state: system.text(&step.state).to_string(),
        source: None,
    }
}

pub(crate) fn warnings(Reading { sources, diagnostics, .. }: &Reading) -> Vec<WarningJson> {
    let warnings = diagnostics.kept().iter().filter(|diagnostic| diagnostic.severity == Severity::Warning);
    let place = |span: cpds::diagnostic::Span| {
        let source = &sources[span.source as usize];
        let (line, column) = source.position(span.start);
        (source.name.clone(), line, column)
    };
    warnings
        .map(|diagnostic| {
            let place = diagnostic.label.as_ref().map(|(span, _)| place(*span));
            WarningJson {
                message: diagnostics::message(diagnostic),
                file: place.as_ref().map(|(file, _, _)| file.clone()),
                line: place.as_ref().map(|(_, line, _)| *line),
                column: place.as_ref().map(|(_, _, column)| *column),
            }
        })
        .collect()
}

/// Formats the object as text with a line end.
pub(crate) fn print(object: &impl Serialize) -> String {
    visible(serde_json::to_string_pretty(object).expect("plain data")) + "\n"
}

/// Escapes the characters that a terminal interprets. In JSON, such characters occur only in
/// strings.
pub(crate) fn visible(json: String) -> String {
    let is_hidden = |c: char| c >= '\u{7f}' && !is_printable(c);
    if !json.contains(is_hidden) {
        return json;
    }
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        if is_hidden(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}").expect("writing to a string");
            }
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpds_testing::corpus::repository;
    use std::fs;

    /// The published schemas match the types. To update them: `UPDATE_SCHEMAS=1 cargo test -p
    /// cuba-cli --lib`.
    #[test]
    fn the_published_schemas_are_those_of_the_types() {
        let schemas = [
            ("show", schemars::schema_for!(ShowJson)),
            ("show-successors", schemars::schema_for!(SuccessorsJson)),
            ("convert", schemars::schema_for!(ConvertJson)),
            ("analysis", schemars::schema_for!(AnalysisJson)),
            ("trace", schemars::schema_for!(TraceJson)),
            ("certificate", schemars::schema_for!(CertificateJson<'_>)),
            ("itf", schemars::schema_for!(ItfJson)),
            ("fcr", schemars::schema_for!(FcrJson)),
            ("show-psa", schemars::schema_for!(PsaJson)),
            ("bench", schemars::schema_for!(BenchJson)),
        ];
        for (name, schema) in schemas {
            let path = repository().join(format!("docs/schema/{name}.schema.json"));
            let derived = print(&schema);
            if std::env::var_os("UPDATE_SCHEMAS").is_some() {
                fs::write(&path, &derived).unwrap();
            }
            let published = fs::read_to_string(&path).unwrap_or_default();
            assert!(published == derived, "docs/schema/{name}.schema.json is not up to date");
        }
    }
}
