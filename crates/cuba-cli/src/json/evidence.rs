//! Evidence as JSON: certificates and traces. `docs/evidence.md` describes the formats.

use super::programs;
use super::{ActionJson, PlaceJson, action};
use crate::analysis::model::LoadedModel;
use cpds::{Certificate, Problem, Symbol, Trace};
use serde::{Serialize, Serializer};
use serde_json::ser::Formatter;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The version of the formats of traces and certificates.
const VERSION: u32 = 1;

/// An inductive invariant: a set of states that no step leaves. `--certificate` writes it.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct CertificateJson<'a> {
    /// `cuba-certificate`
    #[cfg_attr(test, schemars(extend("const" = "cuba-certificate")))]
    pub format: &'static str,
    /// The version of the format: 1.
    #[cfg_attr(test, schemars(extend("const" = 1)))]
    pub version: u32,
    /// The model with its bad states: `sha256:` and the hash of the output of `cuba convert --to
    /// cpds`.
    pub model: String,
    /// The version of cuba that made it.
    pub cuba: &'static str,
    /// The basis of the proof: `Z`, `A_1`, `R_k` and so on.
    pub proved_by: String,
    /// The names of shared states; elsewhere in this object a shared state is a position in this
    /// list.
    pub shared: Vec<&'a str>,
    /// The names of stack symbols, after `-` for the empty word; elsewhere in this object a symbol
    /// is a position in this list.
    pub symbols: Vec<&'a str>,
    /// The threads, counted from 1, in groups. Within a group, the languages of a tuple may be
    /// permuted.
    pub groups: Vec<Vec<usize>>,
    /// A deterministic automaton. For each state: 1 if it is accepting, otherwise 0; then, for each
    /// transition, its symbol and its target state. A state stands for the language of the words
    /// that lead from it to an accepting state.
    pub automaton: Lines<'a>,
    /// The tuples, each with the shared state and, for each thread, a state of the automaton.
    pub tuples: Lines<'a>,
    /// The visible states of the tuples, up to permutations within groups, each with the shared
    /// state and, for each thread, the top symbol. In a certificate of `cuba reach`, these are the
    /// reachable ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visible: Option<Lines<'a>>,
}

/// Lists of numbers. Each list is computed when it is written.
pub struct Lines<'a>(Box<dyn Fn() -> Box<dyn Iterator<Item = Vec<u32>> + 'a> + 'a>);

impl<'a> Lines<'a> {
    fn new<I: Iterator<Item = Vec<u32>> + 'a>(lines: impl Fn() -> I + 'a) -> Self {
        Lines(Box::new(move || Box::new(lines())))
    }
}

impl Serialize for Lines<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

#[cfg(test)]
impl schemars::JsonSchema for Lines<'_> {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Lines".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        <Vec<Vec<u32>>>::json_schema(generator)
    }
}

pub(crate) fn write_certificate(
    out: &mut dyn Write,
    problem: &Problem,
    proved_by: String,
    certificate: &Certificate,
) -> io::Result<()> {
    let json = self::certificate(problem, proved_by, certificate);
    json.serialize(&mut serde_json::Serializer::with_formatter(&mut *out, ByLine::default()))?;
    Ok(())
}

/// A certificate for a problem.
pub fn certificate<'a>(problem: &'a Problem, proved_by: String, certificate: &'a Certificate) -> CertificateJson<'a> {
    let system = problem.system();
    let number = |top: Option<Symbol>| top.map_or(0, |symbol| symbol.0 + 1);
    let automaton = move || {
        (0..).take(certificate.automaton.len()).map(move |state| {
            let out = certificate.automaton.out(state).iter();
            let transitions = out.flat_map(|&(symbol, to)| [number(Some(symbol)), to]);
            std::iter::once(u32::from(certificate.automaton.is_accepting(state))).chain(transitions).collect()
        })
    };
    let tuples = move || {
        certificate.tuples().map(|(q, languages)| std::iter::once(q.0).chain(languages.iter().copied()).collect())
    };
    let visible = certificate.visible.as_ref().map(|visible| {
        Lines::new(move || {
            let tops = move |tops: &'a [Option<Symbol>]| tops.iter().map(move |&top| number(top));
            visible.iter().map(move |state| std::iter::once(state.shared.0).chain(tops(&state.tops)).collect())
        })
    });
    CertificateJson {
        format: "cuba-certificate",
        version: VERSION,
        model: problem.fingerprint(),
        cuba: env!("CARGO_PKG_VERSION"),
        proved_by,
        shared: system.shared_names().iter().collect(),
        symbols: std::iter::once("-").chain(system.symbol_names().iter()).collect(),
        groups: certificate
            .groups
            .iter()
            .map(|group| group.iter().map(|thread| thread.index() + 1).collect())
            .collect(),
        automaton: Lines::new(automaton),
        tuples: Lines::new(tuples),
        visible,
    }
}

/// Formats JSON compactly, with a line for each member of the object and for each list in it.
#[derive(Default)]
struct ByLine {
    depth: usize,
}

impl Formatter for ByLine {
    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth += 1;
        out.write_all(b"{")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        out.write_all(if first { b"\n" } else { b",\n" })
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth -= 1;
        out.write_all(b"\n}\n")
    }

    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth += 1;
        out.write_all(if self.depth > 2 { b"\n[" } else { b"[" })
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth -= 1;
        out.write_all(b"]")
    }
}

/// A trace to a bad state. `--trace` writes it.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TraceJson {
    /// `cuba-trace`
    #[cfg_attr(test, schemars(extend("const" = "cuba-trace")))]
    pub format: &'static str,
    /// The version of the format: 1.
    #[cfg_attr(test, schemars(extend("const" = 1)))]
    pub version: u32,
    /// The model with its bad states: `sha256:` and the hash of the output of `cuba convert --to
    /// cpds`.
    pub model: String,
    /// The number of contexts.
    pub context_count: usize,
    /// The bad pattern that the last state fits.
    pub bad: String,
    /// The last state.
    pub state: String,
    /// The initial state.
    pub initial: String,
    /// The contexts.
    pub contexts: Vec<ContextJson>,
}

/// Consecutive steps of one thread.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ContextJson {
    /// The thread, counted from 1.
    pub thread: usize,
    /// Its name.
    pub thread_name: String,
    /// Its steps.
    pub steps: Vec<TraceStepJson>,
}

/// A step of a trace.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct TraceStepJson {
    /// The action that fires.
    pub action: ActionJson,
    /// The state that the step leads to.
    pub state: String,
    /// For a Boolean program, the statement. It is not part of the evidence, and the checker
    /// ignores it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SourceJson>,
}

/// A step of a Boolean program.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SourceJson {
    /// The kind of step: `statement`, `condition`, `call returned`, `end of function`, `end of
    /// atomic`, `thread starts`, `assert fails`, `unlock fails`, or `handover`, which is part of
    /// the step before.
    pub kind: &'static str,
    /// The place of the statement.
    #[serde(flatten)]
    pub place: PlaceJson,
    /// The depth of calls; 0 in the outermost function.
    pub depth: usize,
    /// The variables that have changed, with their new values; null is any value.
    pub changes: BTreeMap<String, Option<bool>>,
    /// The locks that the thread has taken, with its name, or freed, with null; absent if there are
    /// none.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub locks: BTreeMap<String, Option<String>>,
    /// True if the thread has entered an atomic section, false if it has left one; otherwise
    /// absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub atomic: Option<bool>,
    /// The created thread, which waits to start; absent if there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub creates: Vec<StartJson>,
    /// The locks, the atomic section and the waiting threads after the step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<SynchronisationJson>,
}

/// The place where a thread starts.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StartJson {
    /// The function.
    pub function: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The values of the live variables there, which include the arguments; null is any value.
    pub variables: BTreeMap<String, Option<bool>>,
}

/// The locks, the atomic section and the waiting threads in a state of a Boolean program.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SynchronisationJson {
    /// The locks that are held.
    pub locks: Vec<LockJson>,
    /// The thread that is in an atomic section; null if there is none.
    pub atomic: Option<String>,
    /// The threads that were created and have not started.
    pub waiting: Vec<StartJson>,
}

/// A lock that is held.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LockJson {
    /// The name of the lock; `lock` if it has none.
    pub lock: String,
    /// The thread that holds the lock; null if that thread has ended and is not known.
    pub thread: Option<String>,
    /// Whether this thread has ended, so that the lock is never freed. Another thread may now have
    /// its name.
    pub has_ended: bool,
}

/// A trace as JSON, with the statements of a program.
pub(crate) fn trace(problem: &Problem, trace: &Trace, pattern: usize, loaded: Option<&LoadedModel>) -> TraceJson {
    let system = problem.system();
    let program = loaded.and_then(|loaded| loaded.program.as_ref().map(|program| (loaded, program)));
    let mut sources = program
        .map(|(loaded, it)| it.map.trace(system, trace).into_steps().map(|step| programs::program_step(loaded, &step)));
    let mut contexts = Vec::new();
    for context in &trace.contexts {
        let mut steps = Vec::new();
        for step in &context.steps {
            let source = sources.as_mut().and_then(Iterator::next);
            let action = action(system, context.rule(system, step));
            steps.push(TraceStepJson { action, state: system.text(&step.state).to_string(), source });
        }
        contexts.push(ContextJson {
            thread: context.thread.index() + 1,
            thread_name: system.thread_name(context.thread),
            steps,
        });
    }
    TraceJson {
        format: "cuba-trace",
        version: VERSION,
        model: problem.fingerprint(),
        context_count: trace.contexts.len(),
        bad: system.text(&problem.property().bad[pattern]).to_string(),
        state: system.text(trace.last()).to_string(),
        initial: system.text(&trace.initial).to_string(),
        contexts,
    }
}
