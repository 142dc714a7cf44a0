//! Reads evidence from JSON (`docs/evidence.md`), as a stream: the text is never in memory as a
//! whole.

use crate::limited_text::{LimitedReader, NumberLists, ShortList};
use crate::unparsed_trace::{UnparsedContext, UnparsedStep, UnparsedTrace};
use crate::{Condition, Evidence, Rejected};
use cpds::diagnostic::printable;
use cpds::{Action, Automaton, Certificate, Cpds, Problem, SharedState, Symbol, ThreadId, VisibleState};
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::io::{BufReader, Read};

const VERSION: u32 = 1;

/// The members of a trace and of a certificate.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EvidenceJson {
    format: String,
    version: u32,
    model: String,
    // A certificate. No condition depends on the program that made it, or on its proof.
    #[serde(rename = "cuba")]
    _cuba: Option<String>,
    #[serde(rename = "proved_by")]
    _proved_by: Option<String>,
    shared: Option<ShortList<String>>,
    symbols: Option<ShortList<String>>,
    groups: Option<NumberLists>,
    automaton: Option<NumberLists>,
    tuples: Option<NumberLists>,
    visible: Option<NumberLists>,
    // A trace.
    context_count: Option<usize>,
    bad: Option<String>,
    state: Option<String>,
    initial: Option<String>,
    contexts: Option<Vec<ContextJson>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ContextJson {
    thread: u32,
    thread_name: String,
    steps: Vec<StepJson>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StepJson {
    action: ActionJson,
    state: String,
    /// For users: the step in the program from which the model was made. It is not checked.
    #[serde(rename = "source")]
    _source: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ActionJson {
    label: Option<String>,
    kind: String,
    from: SideJson,
    to: SideJson,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SideJson {
    shared: String,
    word: ShortList<String>,
}

/// Reads evidence about a problem.
///
/// # Errors
/// If it is malformed, or belongs to another problem.
pub fn read(problem: &Problem, text: impl Read) -> Result<Evidence, Rejected> {
    let evidence: EvidenceJson = serde_json::from_reader(BufReader::with_capacity(1 << 16, LimitedReader::new(text)))
        .map_err(|error| Rejected::Malformed(shortened(&error.to_string())))?;
    if evidence.version != VERSION {
        return malformed(format!("version {}; this checker reads version {VERSION}", evidence.version));
    }
    let ours = problem.fingerprint();
    if evidence.model != ours {
        return Err(Rejected::OtherProblem(format!(
            "the evidence is for {}, and the model is {ours}",
            shown(&evidence.model)
        )));
    }
    let for_certificate = evidence.shared.is_some()
        || evidence.symbols.is_some()
        || evidence.groups.is_some()
        || [&evidence.automaton, &evidence.tuples, &evidence.visible].into_iter().any(Option::is_some);
    let for_trace = evidence.contexts.is_some()
        || evidence.context_count.is_some()
        || [&evidence.bad, &evidence.state, &evidence.initial].into_iter().any(Option::is_some);
    if for_certificate && for_trace {
        return malformed("members of a certificate and of a trace".to_owned());
    }
    match evidence.format.as_str() {
        "cuba-certificate" => certificate(problem.system(), evidence).map(Evidence::Certificate),
        "cuba-trace" => trace(problem, evidence),
        other => malformed(format!("format `{}`, which is neither cuba-certificate nor cuba-trace", shown(other))),
    }
}

fn malformed<T>(what: String) -> Result<T, Rejected> {
    Err(Rejected::Malformed(what))
}

/// The beginning and the end of a message, which may quote a long text. The end has the position.
fn shortened(message: &str) -> String {
    let count = message.chars().count();
    if count <= 500 {
        return printable(message);
    }
    let end: String = message.chars().skip(count - 100).collect();
    printable(&format!("{}…{end}", message.chars().take(200).collect::<String>()))
}

/// The beginning of a text, without characters that control a terminal.
fn shown(text: &str) -> String {
    printable(&text.chars().take(100).collect::<String>())
}

fn required<T>(member: Option<T>, name: &str) -> Result<T, Rejected> {
    member.ok_or_else(|| Rejected::Malformed(format!("the member `{name}` is missing")))
}

fn certificate(system: &Cpds, evidence: EvidenceJson) -> Result<Certificate, Rejected> {
    // Translates the numbers of the file to those of the model.
    let mut shared = Vec::new();
    for name in required(evidence.shared, "shared")?.0 {
        shared.push(shared_state(system, &name)?);
    }
    let symbols = required(evidence.symbols, "symbols")?.0;
    if symbols.first().map(String::as_str) != Some("-") {
        return malformed("symbols: the first is not `-`, the empty word".to_owned());
    }
    let mut tops = vec![None];
    for name in &symbols[1..] {
        tops.push(Some(symbol(system, name)?));
    }
    let shared = |number: u32| shared.get(number as usize).copied();
    let top = |number: u32| tops.get(number as usize).copied();

    let mut groups = Vec::new();
    for group in required(evidence.groups, "groups")?.iter() {
        let threads: Option<Vec<ThreadId>> = group.iter().map(|thread| thread.checked_sub(1).map(ThreadId)).collect();
        groups.push(threads.ok_or_else(|| Rejected::Malformed("groups: threads are counted from 1".to_owned()))?);
    }
    if groups.iter().map(Vec::len).sum::<usize>() != system.thread_count() {
        return malformed("groups: not every thread of the model is in exactly one group".to_owned());
    }
    let mut automaton = Automaton::default();
    for (number, state) in required(evidence.automaton, "automaton")?.iter().enumerate() {
        let (pairs, rest) = state.get(1..).unwrap_or_default().as_chunks::<2>();
        let transitions = pairs.iter().map(|&[label, to]| Some((top(label)??, to))).collect::<Option<Vec<_>>>();
        match (state.first(), transitions, rest) {
            (Some(&accepting @ (0 | 1)), Some(mut transitions), []) => {
                transitions.sort_unstable();
                automaton.push(accepting == 1, transitions);
            }
            _ => return malformed(format!("automaton[{number}] is not 0 or 1 and then pairs of a symbol and a state")),
        }
    }
    let mut tuples = Vec::new();
    for (number, tuple) in required(evidence.tuples, "tuples")?.iter().enumerate() {
        match tuple.split_first().and_then(|(&q, languages)| Some((shared(q)?, languages))) {
            Some((q, languages)) if languages.len() == system.thread_count() => {
                tuples.push(q.0);
                tuples.extend(languages);
            }
            _ => return malformed(format!("tuples[{number}] is not a shared state and one language for each thread")),
        }
    }
    let visible_state = |row: &[u32]| {
        let (&q, tops) = row.split_first()?;
        let tops = tops.iter().map(|&number| top(number)).collect::<Option<Vec<_>>>()?;
        Some(VisibleState { shared: shared(q)?, tops }).filter(|state| state.tops.len() == system.thread_count())
    };
    let visible = match evidence.visible {
        None => None,
        Some(rows) => match rows.iter().map(visible_state).collect() {
            None => return malformed("visible: not a shared state and a symbol for each thread".to_owned()),
            visible => visible,
        },
    };
    Ok(Certificate { groups, automaton, tuples, visible })
}

fn shared_state(system: &Cpds, name: &str) -> Result<SharedState, Rejected> {
    let found = system.shared_names().get(name).map(SharedState);
    found.ok_or_else(|| Rejected::Malformed(format!("the model has no shared state `{}`", shown(name))))
}

fn symbol(system: &Cpds, name: &str) -> Result<Symbol, Rejected> {
    let found = system.symbol_names().get(name).map(Symbol);
    found.ok_or_else(|| Rejected::Malformed(format!("the model has no stack symbol `{}`", shown(name))))
}

fn trace(problem: &Problem, evidence: EvidenceJson) -> Result<Evidence, Rejected> {
    let system = problem.system();
    let state = |text: &str| {
        let refused = |_| Rejected::Malformed(format!("`{}` is not a state of the model", shown(text)));
        system.read_state(text).map_err(refused)
    };
    let mut last = None;
    let mut contexts = Vec::new();
    for (number, context) in required(evidence.contexts, "contexts")?.into_iter().enumerate() {
        let thread =
            context.thread.checked_sub(1).map(ThreadId).filter(|thread| thread.index() < system.thread_count());
        let Some(thread) = thread.filter(|&thread| system.thread_name(thread) == context.thread_name) else {
            let (number, name) = (context.thread, shown(&context.thread_name));
            return malformed(format!("the model has no thread {number} with the name `{name}`"));
        };
        let mut steps = Vec::new();
        for (at, step) in context.steps.into_iter().enumerate() {
            let Some(rule) = rule(system, thread, &step.action)? else {
                let message = format!("contexts[{number}].steps[{at}]: the thread has no such action");
                return Err(Rejected::Violated(Condition::Step, message));
            };
            last = Some(state(&step.state)?);
            steps.push(UnparsedStep { rule, state: step.state.into_boxed_str() });
        }
        contexts.push(UnparsedContext { thread, steps });
    }
    let initial = state(&required(evidence.initial, "initial")?)?;
    let last = last.as_ref().unwrap_or(&initial);
    let violated = |what: &str| Err(Rejected::Violated(Condition::Bad, what.to_owned()));
    if state(&required(evidence.state, "state")?)? != *last {
        return violated("`state` is not the last state of the trace");
    }
    let bad = required(evidence.bad, "bad")?;
    let pattern = problem.property().bad.iter().find(|pattern| system.text(*pattern).to_string() == bad);
    if !pattern.is_some_and(|pattern| pattern.matches(&last.visible())) {
        return violated("`bad` is not a bad pattern of the model, or the last state does not fit it");
    }
    let trace = UnparsedTrace { initial, contexts };
    Ok(Evidence::UnparsedTrace { trace, contexts: required(evidence.context_count, "context_count")? })
}

/// The position of an action among those of a thread.
fn rule(system: &Cpds, thread: ThreadId, action: &ActionJson) -> Result<Option<usize>, Rejected> {
    let side = |side: &SideJson| -> Result<_, Rejected> {
        let word = side.word.0.iter().map(|name| symbol(system, name)).collect::<Result<Vec<_>, _>>()?;
        Ok((shared_state(system, &side.shared)?, word))
    };
    let ((q, read), (to, written)) = (side(&action.from)?, side(&action.to)?);
    let Ok(wanted) = Action::new((q, &read), (to, &written)) else { return Ok(None) };
    Ok(system.program(thread).rules().iter().position(|rule| {
        rule.action == wanted && rule.label.as_deref() == action.label.as_deref() && wanted.kind().word() == action.kind
    }))
}
