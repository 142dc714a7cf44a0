//! The report as one HTML file that needs no other.
//!
//! The report comes from the same data as the text and the JSON. Its script only shows these data.

use super::data::ScriptData;
use crate::analysis::exploration::Exploration;
use crate::analysis::model::LoadedModel;
use crate::analysis::summary::abridged;
use crate::json;
use crate::pictures;
use crate::pictures::automaton::Automaton;
use crate::pictures::picture::QUICK_BUDGET;
use crate::text::overapproximations::outcome_words;
use crate::text::state_notation::StateNotation;
use crate::text::style::plain;
use crate::text::{levels, pumping_loop, statistics};
use cpds::diagnostic::{plural, printable_lines};
use cpds::{ActionKind, Program, Source, ThreadId};
use cuba::{Conclusion, Outcome, PumpingLoop, RungResult};
use minijinja::Environment;
use minijinja::value::Serde;
use serde::Serialize;
use std::time::Duration;

/// The question and the answer in words.
pub(crate) struct ReportHeader<'a> {
    pub(crate) file: &'a str,
    pub(crate) question: &'a str,
    /// The bad patterns or labels of the question.
    pub(crate) patterns: Vec<String>,
    pub(crate) verdict: &'a str,
}

/// A store automaton with more transitions than this is not drawn.
const MOST_TRANSITIONS: usize = 2000;

/// A store automaton with more states than this is folded.
const SMALL: usize = 24;

/// With more programs than this, all automata are folded.
const FEW: usize = 4;

/// A longer table of overapproximations shows only this many rows at its beginning and at its end.
const RUNGS: usize = 100;

/// A longer model is not shown.
const MODEL_BYTES: usize = 1 << 18;

// A report takes less than two seconds for any system. So all its parts have limits. No limit is a
// time.

/// The number of automata in the report.
const AUTOMATA: usize = 50;

/// The number of loops that are shortened.
const SHORTENED: usize = 4;

/// The limit for the stack symbols of all loops that are written out.
const LOOP_SYMBOLS: usize = 50_000;

/// The content of the report.
#[derive(Serialize)]
pub(crate) struct Page<'a> {
    file: &'a str,
    version: &'static str,
    /// `safe`, `unsafe`, `converged` or `unknown`.
    word: &'a str,
    /// The verdict without that word, in parts. Every second part is code.
    verdict: Vec<&'a str>,
    question: &'a str,
    /// The bad patterns or labels of the question.
    patterns: &'a [String],
    /// The engine, the proof, the limits and the time.
    facts: Vec<Fact>,
    evidence: EvidenceFact,
    /// The last k that was explored.
    k: usize,
    chart: String,
    levels: String,
    rungs: Vec<RungRow>,
    /// The ladder in words, if the question is open.
    squeezed: Option<String>,
    has_trace: bool,
    has_source: bool,
    programs: Vec<ProgramRow>,
    automata: Vec<AutomatonFigure>,
    /// The number of programs without an automaton in the report.
    automata_left_out: usize,
    shared_states: usize,
    threads: usize,
    groups: Vec<String>,
    /// The names and the texts of the files of the model.
    sources: Vec<(&'a str, &'a str)>,
    /// The files that are too long to show.
    long_sources: Vec<&'a str>,
    warnings: Vec<json::WarningJson>,
    data: String,
    style: &'static str,
    script: &'static str,
}

#[derive(Serialize)]
struct Fact {
    name: &'static str,
    value: String,
    /// Whether the value differs between runs.
    varies: bool,
}

#[derive(Serialize)]
struct EvidenceFact {
    text: String,
    /// `accepted`, `not checked` or `none`.
    check: &'static str,
    time: Option<String>,
}

#[derive(Serialize)]
struct RungRow {
    name: String,
    visible: String,
    left: String,
    remark: String,
}

#[derive(Serialize)]
struct ProgramRow {
    name: String,
    copies: u32,
    symbols: usize,
    actions: Vec<usize>,
}

#[derive(Serialize)]
struct AutomatonFigure {
    name: String,
    finite: Option<bool>,
    /// The picture, unless it is too large.
    svg: Option<String>,
    size: String,
    is_small: bool,
    /// The loop in words and as a picture, unless it is too long.
    run: Option<String>,
    loop_svg: Option<String>,
}

impl<'a> Page<'a> {
    pub(crate) fn new(
        header: &'a ReportHeader<'_>,
        explored: &'a Exploration<'_>,
        loaded: &'a LoadedModel,
        chart: String,
    ) -> Self {
        let (system, analysis, words) = (explored.system(), &explored.analysis, StateNotation::of(loaded));
        let (word, verdict) = header.verdict.split_once(": ").unwrap_or((header.verdict, ""));
        let trace = match &analysis.conclusion {
            Conclusion::Unsafe { trace, .. } => Some(trace),
            _ => None,
        };
        let data = serde_json::to_string(&ScriptData::new(explored, trace, loaded)).expect("numbers and text");
        let data = json::visible(data);
        let groups = system.symmetric_groups();
        let is_short = |it: &&Source| it.text.len() <= MODEL_BYTES;
        let (sources, long_sources): (Vec<_>, Vec<_>) = loaded.reading.sources.iter().partition(is_short);
        let automata = automata(explored, loaded);
        let names = |group: &Vec<ThreadId>| {
            group.iter().map(|&thread| system.thread_name(thread)).collect::<Vec<_>>().join(", ")
        };
        Page {
            file: header.file,
            version: env!("CARGO_PKG_VERSION"),
            word,
            verdict: verdict.split('`').collect(),
            question: header.question,
            patterns: &header.patterns,
            facts: facts(explored),
            evidence: evidence(explored),
            k: analysis.k(),
            chart,
            levels: plain(&levels::table(&explored.summary())),
            rungs: abridged(&analysis.rungs, RUNGS, RungResult::rules_out).into_iter().map(rung).collect(),
            squeezed: explored.is_open().then(|| plain(&explored.summary().squeezed(None, words.map))),
            has_trace: trace.is_some(),
            has_source: trace.is_some() && loaded.program.is_some(),
            programs: system.programs().iter().map(program).collect(),
            automata_left_out: system.programs().len() - automata.len(),
            automata,
            shared_states: system.shared_names().len(),
            threads: system.thread_count(),
            groups: groups.iter().filter(|group| group.len() > 1).map(names).collect(),
            sources: sources.into_iter().map(|it| (&*it.name, &*it.text)).collect(),
            long_sources: long_sources.into_iter().map(|it| &*it.name).collect(),
            warnings: json::warnings(&loaded.reading),
            // `</script>` would end the script.
            data: data.replace('<', "\\u003c"),
            style: include_str!("style.css"),
            script: include_str!("script.js"),
        }
    }

    pub(crate) fn html(&self) -> String {
        let mut environment = Environment::new();
        environment.add_template("page.html", include_str!("page.html")).expect("our own template");
        let template = environment.get_template("page.html").expect("it was added");
        // The text of the model may have special characters, too.
        printable_lines(&template.render(Serde(self)).expect("our own template"))
    }
}

fn facts(explored: &Exploration<'_>) -> Vec<Fact> {
    let (analysis, options) = (&explored.analysis, &explored.options);
    let fixed = |name, value| Fact { name, value, varies: false };
    let contexts = match &analysis.conclusion {
        Conclusion::Unsafe { trace, .. } if trace.contexts.is_empty() => "0: an initial state is bad".to_owned(),
        Conclusion::Unsafe { trace, .. } => {
            plural(trace.contexts.len(), "context") + ", and no fewer, reach a bad state"
        }
        _ => format!("explored up to k = {}", analysis.k()),
    };
    let mut facts = vec![fixed("contexts", contexts)];
    facts.extend(analysis.proved_by().map(|by| fixed("proved by", by)));
    let engine = if explored.level_letter() == 'R' {
        "explicit: states one by one"
    } else {
        "symbolic: tuples of stack languages"
    };
    facts.push(fixed("engine", engine.to_owned()));
    let fcr = analysis.fcr.as_ref().and_then(|fcr| Some((fcr.holds()?, fcr.by()?)));
    let fcr = match fcr {
        Some((true, by)) => format!("holds: every context is finite, by {by}"),
        Some((false, by)) => format!("does not hold: {by} has a pumping head"),
        None => "not known".to_owned(),
    };
    facts.push(fixed("finite context reachability", fcr));
    let mut limits = vec![format!("memory {}", explored.limits.memory)];
    limits.extend(options.timeout.map(|time| format!("time {} s", time.as_secs_f64())));
    limits.extend(options.max_contexts.map(|k| plural(k, "context")));
    limits.extend(options.max_depth.map(|depth| format!("A_{depth}")));
    limits.extend(options.max_tuples.map(|tuples| plural(tuples, "tuple")));
    facts.push(fixed("limits", limits.join(", ")));
    let took = explored.statistics();
    facts.push(Fact { name: "cost", value: took.trim_end().to_owned(), varies: true });
    facts
}

fn evidence(explored: &Exploration<'_>) -> EvidenceFact {
    let Some(made) = &explored.evidence else {
        let is_open = matches!(explored.analysis.conclusion, Conclusion::Unknown(_));
        let why = match explored.summary().unconfirmed() {
            Some(_) => "none that was checked",
            None if is_open => "none: there is no answer",
            None => "none was made (--no-check)",
        };
        return EvidenceFact { text: why.to_owned(), check: "none", time: None };
    };
    let ms = |time: Duration| match time.as_secs_f64() * 1000.0 {
        ms if ms < 0.1 => "less than 0.1 ms".to_owned(),
        ms => format!("{ms:.1} ms"),
    };
    EvidenceFact {
        text: statistics::evidence(made),
        check: if made.check.is_some() { "accepted" } else { "not checked" },
        time: made.check.map(ms),
    }
}

fn rung(result: Option<&RungResult>) -> RungRow {
    let Some(RungResult { rung, outcome }) = result else {
        let [visible, left, remark] = [(); 3].map(|()| String::new());
        return RungRow { name: "…".to_owned(), visible, left, remark };
    };
    let (visible, left, remark) = match outcome {
        Outcome::Bound(bound) => {
            let remark = if bound.is_exact { "nothing was widened: this is T(R)" } else { "" };
            (bound.visible.to_string(), bound.left.to_string(), remark.to_owned())
        }
        given_up => ("–".to_owned(), "–".to_owned(), outcome_words(given_up)),
    };
    RungRow { name: rung.to_string(), visible, left, remark }
}

fn program(program: &Program) -> ProgramRow {
    ProgramRow {
        name: program.name().to_owned(),
        copies: program.copies(),
        symbols: program.alphabet().len(),
        actions: ActionKind::ALL.iter().map(|&kind| program.count(kind)).collect(),
    }
}

/// Formats the loop step by step, if its states fit into the limit.
fn loop_text(loaded: &LoadedModel, program: &Program, found: &PumpingLoop, room: &mut usize) -> Option<String> {
    for (_, stack) in found.run.iter().flat_map(|run| run.states(program)) {
        *room = room.checked_sub(1 + stack.height())?;
    }
    Some(plain(&pumping_loop::steps(loaded, program, found, None, None)))
}

/// Draws the store automata of the first programs, and their loops.
fn automata(explored: &Exploration<'_>, loaded: &LoadedModel) -> Vec<AutomatonFigure> {
    let (system, fcr) = (explored.system(), explored.analysis.fcr.as_ref());
    let mut threads = system.threads();
    let mut figures: Vec<AutomatonFigure> = Vec::new();
    let (mut budget, mut symbols, mut loops) = (QUICK_BUDGET, LOOP_SYMBOLS, 0);
    for (number, program) in system.programs().iter().enumerate().take(AUTOMATA) {
        let Some(thread) = threads.find(|&thread| std::ptr::eq(system.program(thread), program)) else { continue };
        let found = fcr.and_then(|fcr| fcr.pumping.a_loop(number).cloned());
        loops += usize::from(found.is_some());
        let found = found.map(|found| if loops > SHORTENED { found } else { found.shortened(program) });
        let picture =
            Automaton::of_contexts(&StateNotation::of(loaded), thread, MOST_TRANSITIONS).ok().map(|it| it.picture());
        let size = picture.as_ref().map_or((0, 0), |picture| (picture.nodes.len(), picture.edges.len()));
        let svg = picture.and_then(|picture| picture.svg_within(&mut budget).ok());
        // Names within a picture must be unique in the whole page.
        let own = |svg: String, kind: &str| svg.replace("picture-head", &format!("picture-{kind}-{number}"));
        figures.push(AutomatonFigure {
            name: program.name().to_owned(),
            finite: fcr.and_then(|fcr| fcr.programs[number].is_finite()),
            size: format!("{}, {}", plural(size.0, "state"), plural(size.1, "arrow")),
            is_small: size.0 <= SMALL && system.programs().len() <= FEW,
            svg: svg.map(|svg| own(svg, "automaton")),
            run: found.as_ref().and_then(|found| loop_text(loaded, program, found, &mut symbols)),
            loop_svg: found
                .as_ref()
                .and_then(|found| pictures::pumping_loop::picture(loaded, program, found)?.svg_within(&mut budget).ok())
                .map(|svg| own(svg, "loop")),
        });
    }
    figures
}
