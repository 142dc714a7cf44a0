//! What `verify`, `reach` and `fcr` answer.

use super::programs;
use super::statistics::StatisticsJson;
use super::{TraceJson, TraceStepJson, WarningJson, action};
use crate::analysis::exploration::Exploration;
use crate::analysis::fcr_answer::FcrAnswer;
use crate::analysis::finding::{Check, Unconfirmed};
use crate::analysis::model::Loaded;
use crate::analysis::phase::Phase;
use crate::analysis::summary::{Summary, listed};
use crate::text::state_notation::thread_state;
use cpds::{Program, SharedState, Stack, VisibleState};
use cpds_check::Evidence;
use cuba::distributed::Sent;
use cuba::{Conclusion, Count, Engine, Halt, ObservationSequence, Outcome, Pause, PumpingLoop, RungResult, ThreadRun};
use serde::Serialize;
use std::collections::BTreeSet;
use std::time::Duration;

/// Of more overapproximations, so many are listed at the beginning, and as many at the end.
const ENDS: usize = 1000;

/// What a run took so far, and the most memory that it may have.
#[derive(Clone, Copy)]
pub(crate) struct Usage {
    pub(crate) time: Duration,
    pub(crate) peak_memory_bytes: Option<u64>,
    pub(crate) memory_limit_bytes: usize,
}

/// `cuba verify` and `cuba reach`
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AnalysisJson {
    /// The file that was read.
    pub file: String,
    /// `safe`, `unsafe` or `unknown`; for `reach`, `converged` or `unknown`.
    pub verdict: &'static str,
    /// The verdict in words, with its reason.
    pub reason: String,
    /// How many threads the system has; null if a limit came before that was known.
    pub threads: Option<usize>,
    /// For `unsafe`, the least number of contexts with which a bad state is reachable. Otherwise
    /// the last k for which R_k was computed: for `unknown`, no bad state is reachable with up to
    /// that many contexts; null if there is no such k.
    pub contexts: Option<usize>,
    /// The engine that answered: `explicit` or `symbolic`; null if a limit came before that was
    /// known.
    pub engine: Option<&'static str>,
    /// For `unknown`: the answer that was found, if the evidence for it could not be made, checked
    /// or told before a limit. It is no answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unconfirmed: Option<UnconfirmedJson>,
    /// What the proof rests on: an overapproximation, such as `Z`, `matched-Z` or `A_1`, or what
    /// several have in common, such as `matched-Z ∩ A_1`; or `R_k` or `S_k` (Scheme 1).
    pub proved_by: Option<String>,
    /// Whether finite context reachability holds: true, false, or null if that is not known.
    pub fcr: Option<bool>,
    /// How that is known: if it holds, `Thm. 17`, or `T(R)` or an overapproximation of it, such as
    /// `Z` or `matched-Z ∩ A_1`, which has no pumping head; if not, `T(R_k)` for the first k that
    /// has one. Null if it is not known.
    pub fcr_by: Option<String>,
    /// For each k, as far as R_k was computed.
    pub sequence: Vec<LevelJson>,
    /// Where the sequences collapse, by Table 1.
    pub collapse: CollapseJson,
    /// Where the sequences pause.
    pub pauses: PausesJson,
    /// Overapproximations of T(R) that were tried, in this order; none for `unsafe`. Of more than
    /// two thousand, the first thousand and the last thousand, and in between those that rule
    /// something out.
    pub upper: Vec<UpperJson>,
    /// How many are left out there; not there if these are all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper_left_out: Option<usize>,
    /// For `unknown`, the visible states that are neither reached nor ruled out, if an
    /// overapproximation was finished.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub between: Option<BetweenJson>,
    /// T(R_k) for the last k, with `--states`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visible_states: Option<Vec<String>>,
    /// For `unsafe`, the way to the bad state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceJson>,
    /// What the answer rests on, if that is less than everything that a Boolean program may do: how
    /// many threads it may have.
    pub assumptions: Vec<String>,
    /// For `unsafe`, and a Boolean program, the error: what fails, and where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorJson>,
    /// The evidence for the answer, if there is an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<EvidenceJson>,
    /// What the exploration took; these numbers depend on `--no-symmetry`. Null if a limit ended it
    /// from outside.
    pub statistics: Option<StatisticsJson>,
    /// If the states are in several processes: how, and what was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shares: Option<SharesJson>,
    /// The time for the analysis, in seconds.
    pub time_s: f64,
    /// The most memory that the process has had; null where the operating system does not say.
    pub peak_memory_bytes: Option<u64>,
    /// The most that it may have: `--memory`, or a share of what the machine has.
    pub memory_limit_bytes: usize,
    /// What there is to remark; the first hundred.
    pub warnings: Vec<WarningJson>,
}

/// An answer that was found, but not told.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UnconfirmedJson {
    /// What the verdict would be: `safe`, `unsafe` or `converged`.
    pub verdict: &'static str,
    /// What the proof rests on, as in `proved_by` of an answer; null for `unsafe`.
    pub proved_by: Option<String>,
    /// For `unsafe`, the least number of contexts with which a bad state is reachable; otherwise
    /// null.
    pub contexts: Option<usize>,
    /// Whether an independent checker has accepted the evidence, so that all that was missing was
    /// to tell it.
    pub checked: bool,
    /// What was being done when it was ended: `making-evidence`, `checking-evidence` or `writing`.
    pub phase: &'static str,
    /// What ended it: `timeout`, `memory`, `interrupt`, or `process`: another one that is gone.
    pub ended_by: &'static str,
}

/// States that are in several processes.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SharesJson {
    /// How many shares there are: so many jobs in each process.
    pub parts: usize,
    /// How often all of them worked at the same time, each then with what others had sent.
    pub supersteps: u64,
    /// States sent from one share to another, each with the thread that reached it.
    pub states_sent: u64,
    /// Stacks sent, each as a top and the number of the rest.
    pub stacks_sent: u64,
    /// The bytes of all that.
    pub bytes_sent: u64,
    /// In so many blocks.
    pub blocks_sent: u64,
}

/// An error of a Boolean program.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ErrorJson {
    /// `assert`, or `unlock` of a lock that is not held.
    pub kind: &'static str,
    /// Where it happens.
    #[serde(flatten)]
    pub place: PlaceJson,
}

/// A place in a Boolean program.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlaceJson {
    /// The function.
    pub function: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The statement as it is written, on one line.
    pub statement: String,
    /// The file and line of another program that the statement comes from, if a comment says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<OriginJson>,
}

/// A place in the program that a Boolean program was made from.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OriginJson {
    /// The file.
    pub file: String,
    /// The line.
    pub line: u32,
}

/// Evidence for an answer.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EvidenceJson {
    /// `trace` or `certificate`.
    pub kind: &'static str,
    /// How many tuples the certificate has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tuples: Option<usize>,
    /// Over how many languages: how many states its automaton has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub languages: Option<usize>,
    /// The time it took to make it, in seconds.
    pub time_s: f64,
    /// Whether an independent checker has accepted it; false only with `--no-check`.
    pub checked: bool,
    /// The time that took, in seconds.
    pub check_time_s: Option<f64>,
}

/// R_k and T(R_k) for one k.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LevelJson {
    /// k.
    pub k: usize,
    /// |R_k|; null if it has more than 128 bits, or if the engine keeps tuples of languages.
    pub reachable: Option<u128>,
    /// How many tuples S_k has that no other one covers, if the engine keeps these; null if more
    /// than 128 bits have room for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbolic: Option<Option<u128>>,
    /// |T(R_k)|; null if it has more than 128 bits.
    pub visible: Option<u128>,
    /// How many visible states no overapproximation had ruled out when the level was finished; null
    /// if none was finished, or if that number has more than 128 bits.
    pub upper: Option<u128>,
    /// R_k \ R_{k-1}, with `--states`, if the engine keeps states.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_states: Option<Vec<String>>,
    /// T(R_k) \ T(R_{k-1}), with `--states`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_visible_states: Option<Vec<String>>,
}

/// The least k from which on a sequence does not grow; null if that is not known.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CollapseJson {
    /// (R_k).
    pub reachable: Option<usize>,
    /// (S_k), which may collapse later than (R_k); null if the engine keeps states.
    pub symbolic: Option<usize>,
    /// (T(R_k)).
    pub visible: Option<usize>,
}

/// Where the sequences pause or stop growing.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PausesJson {
    /// (R_k), if the engine keeps states.
    pub reachable: Vec<PauseJson>,
    /// (S_k), if it keeps tuples of languages.
    pub symbolic: Vec<PauseJson>,
    /// (T(R_k)).
    pub visible: Vec<PauseJson>,
}

/// A sequence grows up to k, and not from k to k+1.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PauseJson {
    /// k.
    pub k: usize,
    /// `stutter` if it grows again later, `collapse` if it is known that it does not, otherwise
    /// `plateau`.
    pub kind: &'static str,
}

/// An overapproximation of T(R).
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UpperJson {
    /// `Z`, `matched-Z`, `Z_2` and so on, or `A_0`, `A_1` and so on.
    pub abstraction: String,
    /// How many visible states it has; null if it has more than 128 bits, or if it was given up.
    pub visible: Option<u128>,
    /// How many visible states it was the first to rule out; null likewise.
    pub ruled_out: Option<u128>,
    /// Why it was given up: `tuples` or `memory`; null if it was not.
    pub given_up: Option<&'static str>,
    /// For `Z`, how many of its states are generators: |G ∩ Z|.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generators: Option<u128>,
    /// For `Z`, how many of its states a pop taken from Z leads to: a tighter set of generators.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub popped: Option<u128>,
}

/// The visible states that are neither reached with the last k nor ruled out by an
/// overapproximation.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BetweenJson {
    /// How many there are; null if that number has more than 128 bits.
    pub count: Option<u128>,
    /// Which they are; of more, as many as have a million tops together.
    pub states: Vec<String>,
    /// For `verify`, those of them that are bad; likewise.
    pub bad: Vec<String>,
}

/// `cuba fcr`
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FcrJson {
    /// The file that was read.
    pub file: String,
    /// Whether finite context reachability holds: true, false, or null if that was not found out.
    pub fcr: Option<bool>,
    /// How that is known, as for `verify`.
    pub fcr_by: Option<String>,
    /// The verdict in words.
    pub reason: String,
    /// For each program, unless a limit came before that.
    pub programs: Vec<ContextsJson>,
    /// If it does not hold, the way to the start of a loop; `bad` is the pattern of its head.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceJson>,
    /// What the answer rests on, as for `verify`.
    pub assumptions: Vec<String>,
    /// The time it took, in seconds.
    pub time_s: f64,
    /// The most memory that the process has had; null where the operating system does not say.
    pub peak_memory_bytes: Option<u64>,
    /// The most that it may have: `--memory`, or a share of what the machine has.
    pub memory_limit_bytes: usize,
    /// What there is to remark; the first hundred.
    pub warnings: Vec<WarningJson>,
}

/// What one context of a program can do.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ContextsJson {
    /// What the program is called.
    pub name: String,
    /// Whether each thread of it alone reaches finitely many states from every reachable state;
    /// null if that was not found out.
    pub finite: Option<bool>,
    /// How that is known, as for `verify`.
    pub by: Option<String>,
    /// A run that can be repeated for ever, if it has any, reachable or not.
    pub r#loop: Option<LoopJson>,
}

/// A run from ⟨q|σ⟩ to ⟨q|σw⟩, where w is not empty.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LoopJson {
    /// ⟨q|σ⟩, of the thread alone: `q|σ`.
    pub start: String,
    /// Whether a state with this start is reachable; null if that was not found out.
    pub reachable: Option<bool>,
    /// ⟨q|σw⟩.
    pub end: String,
    /// The steps; null if there are too many to be written out.
    pub steps: Option<Vec<TraceStepJson>>,
}

pub(crate) fn fcr(file: String, loaded: &Loaded, decided: Option<&FcrAnswer>, reason: &str, usage: Usage) -> FcrJson {
    let system = loaded.problem().system();
    let state = |(shared, stack): &(SharedState, Stack)| system.text(&thread_state(*shared, stack)).to_string();
    let found = |program: &Program, found: &PumpingLoop, reachable: Option<bool>| {
        let [start, end] = found.ends();
        let steps = |run: &ThreadRun| {
            let mut before = run.start.clone();
            let step = |(&rule, to): (&usize, (SharedState, Stack))| {
                let source = loaded.program.as_ref().map(|of_program| {
                    let step = of_program.map.step_alone((before.0, &before.1), (to.0, &to.1));
                    programs::step_alone(loaded, &step)
                });
                before = to;
                TraceStepJson { action: action(system, &program.rules()[rule]), state: state(&before), source }
            };
            run.rules.iter().zip(run.states(program)).map(step).collect()
        };
        LoopJson { start: state(&start), reachable, end: state(&end), steps: found.run.as_ref().map(steps) }
    };
    let contexts = |decided: &FcrAnswer, number: usize, program: &Program| {
        let contexts = &decided.fcr.programs[number];
        let finite = contexts.is_finite();
        ContextsJson {
            name: program.name().to_owned(),
            finite,
            by: contexts.by(),
            r#loop: decided.loops[number].as_ref().map(|it| found(program, it, finite.map(|finite| !finite))),
        }
    };
    let programs = decided.into_iter().flat_map(|decided| {
        system.programs().iter().enumerate().map(move |(number, program)| contexts(decided, number, program))
    });
    let reached = decided.and_then(|decided| decided.reached.as_ref());
    FcrJson {
        fcr: decided.and_then(|decided| decided.fcr.holds()),
        fcr_by: decided.and_then(|decided| decided.fcr.by()),
        programs: programs.collect(),
        trace: reached.map(|(question, trace)| super::trace(question, trace, 0, Some(loaded))),
        assumptions: loaded.assumptions().to_vec(),
        warnings: super::warnings(&loaded.reading),
        ..no_fcr(file, reason, usage)
    }
}

/// If a limit has ended it from outside.
pub(crate) fn no_fcr(file: String, reason: &str, usage: Usage) -> FcrJson {
    FcrJson {
        file,
        fcr: None,
        fcr_by: None,
        reason: reason.to_owned(),
        programs: Vec::new(),
        trace: None,
        assumptions: Vec::new(),
        time_s: usage.time.as_secs_f64(),
        peak_memory_bytes: usage.peak_memory_bytes,
        memory_limit_bytes: usage.memory_limit_bytes,
        warnings: Vec::new(),
    }
}

pub(crate) fn analysis(
    file: String,
    explored: &Exploration<'_>,
    reason: &str,
    states: bool,
    loaded: &Loaded,
    usage: Usage,
) -> AnalysisJson {
    let (system, analysis) = (explored.system(), &explored.analysis);
    let lower = &analysis.level_store;
    let verdict = match &analysis.conclusion {
        Conclusion::Safe(_) => "safe",
        Conclusion::Converged(_) => "converged",
        Conclusion::Unsafe { .. } => "unsafe",
        Conclusion::Unknown(_) | Conclusion::Contradiction(_) => "unknown",
    };
    let trace = match &analysis.conclusion {
        Conclusion::Unsafe { trace, pattern } => Some(super::trace(explored.problem, trace, *pattern, Some(loaded))),
        _ => None,
    };
    let error = match (&analysis.conclusion, &loaded.program) {
        (Conclusion::Unsafe { trace, .. }, Some(program)) => programs::error(loaded, program, trace),
        _ => None,
    };
    let visible = |states: &BTreeSet<VisibleState>| states.iter().map(|state| system.text(state).to_string()).collect();
    let new_states = |k: usize| {
        let states = lower.states(k)?;
        Some(states.iter().map(|state| system.text(state).to_string()).collect())
    };
    let mut object = summarised(file, &explored.summary(), reason, usage);
    for level in object.sequence.iter_mut().filter(|_| states) {
        level.new_states = new_states(level.k);
        level.new_visible_states = Some(visible(&lower.visible().states(level.k)));
    }
    AnalysisJson {
        verdict,
        threads: Some(system.thread_count()),
        contexts: trace.as_ref().map(|trace| trace.contexts.len()).or(object.contexts),
        proved_by: analysis.proved_by(),
        between: analysis.between.as_ref().map(|between| BetweenJson {
            count: between.count.exact(),
            states: visible(&between.states),
            bad: visible(&between.bad),
        }),
        visible_states: states.then(|| visible(&(0..=analysis.k()).flat_map(|k| lower.visible().states(k)).collect())),
        trace,
        assumptions: loaded.assumptions().to_vec(),
        error,
        evidence: explored.evidence.as_ref().map(evidence),
        statistics: Some(analysis.statistics.into()),
        shares: lower.sent().map(shares),
        warnings: super::warnings(&loaded.reading),
        ..object
    }
}

fn shares((parts, supersteps, sent): (usize, u64, Sent)) -> SharesJson {
    let Sent { states, stacks, bytes, blocks, .. } = sent;
    SharesJson { parts, supersteps, states_sent: states, stacks_sent: stacks, bytes_sent: bytes, blocks_sent: blocks }
}

/// What is known of an analysis that a limit has ended from outside.
pub(crate) fn interim(
    file: String,
    summary: &Summary<'_>,
    reason: &str,
    model: Option<&ModelFacts>,
    usage: Usage,
) -> AnalysisJson {
    let object = summarised(file, summary, reason, usage);
    let Some(ModelFacts { threads, assumptions, warnings }) = model else { return object };
    AnalysisJson { threads: Some(*threads), assumptions: assumptions.clone(), warnings: warnings.clone(), ..object }
}

/// What an answer says of its model.
pub(crate) struct ModelFacts {
    threads: usize,
    assumptions: Vec<String>,
    warnings: Vec<WarningJson>,
}

pub(crate) fn model_facts(loaded: &Loaded) -> ModelFacts {
    ModelFacts {
        threads: loaded.problem().system().thread_count(),
        assumptions: loaded.assumptions().to_vec(),
        warnings: super::warnings(&loaded.reading),
    }
}

/// What every answer has.
fn summarised(file: String, summary: &Summary<'_>, reason: &str, usage: Usage) -> AnalysisJson {
    let is_symbolic = summary.engine == Some(Engine::Symbolic);
    let sequence = summary.levels.iter().map(|level| LevelJson {
        k: level.k,
        reachable: level.reachable.and_then(Count::exact),
        symbolic: level.tuples.map(Count::exact),
        visible: level.visible.exact(),
        upper: level.upper.and_then(|(left, _)| left.exact()),
        new_states: None,
        new_visible_states: None,
    });
    let upper: Vec<UpperJson> =
        listed(summary.rungs, ENDS, RungResult::rules_out).into_iter().flatten().map(upper).collect();
    let left_out = summary.rungs.len() - upper.len();
    let pauses_if = |wanted: bool| if wanted { pauses(&summary.lower_sequence) } else { Vec::new() };
    AnalysisJson {
        file,
        verdict: "unknown",
        reason: reason.to_owned(),
        threads: None,
        contexts: summary.last().map(|level| level.k),
        engine: summary.engine.map(|_| if is_symbolic { "symbolic" } else { "explicit" }),
        unconfirmed: summary.unconfirmed().map(unconfirmed),
        proved_by: None,
        fcr: summary.fcr,
        fcr_by: summary.fcr_by.clone(),
        sequence: sequence.collect(),
        collapse: CollapseJson {
            reachable: summary.collapse_of_states,
            symbolic: summary.lower_sequence.collapse().filter(|_| is_symbolic),
            visible: summary.visible_sequence.collapse(),
        },
        pauses: PausesJson {
            reachable: pauses_if(!is_symbolic),
            symbolic: pauses_if(is_symbolic),
            visible: pauses(&summary.visible_sequence),
        },
        upper,
        upper_left_out: (left_out > 0).then_some(left_out),
        between: None,
        visible_states: None,
        trace: None,
        assumptions: Vec::new(),
        error: None,
        evidence: None,
        statistics: None,
        shares: None,
        time_s: usage.time.as_secs_f64(),
        peak_memory_bytes: usage.peak_memory_bytes,
        memory_limit_bytes: usage.memory_limit_bytes,
        warnings: Vec::new(),
    }
}

fn unconfirmed(Unconfirmed { finding, ended }: Unconfirmed<'_>) -> UnconfirmedJson {
    UnconfirmedJson {
        verdict: finding.verdict,
        proved_by: finding.proved_by.clone(),
        contexts: finding.contexts,
        checked: finding.check == Check::Passed,
        phase: match ended.phase {
            Phase::CheckingEvidence => "checking-evidence",
            Phase::Writing => "writing",
            _ => "making-evidence",
        },
        ended_by: match ended.why {
            Halt::TimeOut => "timeout",
            Halt::Memory => "memory",
            Halt::Interrupted | Halt::Superseded => "interrupt",
            Halt::Lost => "process",
        },
    }
}

fn evidence(made: &cuba::TimedEvidence) -> EvidenceJson {
    let certificate = if let Evidence::Certificate(certificate) = &made.evidence { Some(certificate) } else { None };
    EvidenceJson {
        kind: if certificate.is_some() { "certificate" } else { "trace" },
        tuples: certificate.map(|certificate| certificate.tuples().len()),
        languages: certificate.map(|certificate| certificate.automaton.len()),
        time_s: made.time.as_secs_f64(),
        checked: made.check.is_some(),
        check_time_s: made.check.map(|time| time.as_secs_f64()),
    }
}

fn upper(RungResult { rung, outcome }: &RungResult) -> UpperJson {
    let (bound, given_up) = match outcome {
        Outcome::Bound(bound) => (Some(bound), None),
        Outcome::TooManyTuples(_) | Outcome::TooManyInitial(_) => (None, Some("tuples")),
        Outcome::TooLarge => (None, Some("memory")),
    };
    let generators = bound.and_then(|bound| bound.generators);
    UpperJson {
        abstraction: rung.to_string(),
        visible: bound.and_then(|bound| bound.visible.exact()),
        ruled_out: bound.and_then(|bound| bound.ruled_out.exact()),
        given_up,
        generators: generators.and_then(|(generators, _)| generators.exact()),
        popped: generators.and_then(|(_, popped)| popped.exact()),
    }
}

fn pauses(sequence: &ObservationSequence) -> Vec<PauseJson> {
    let kind = |pause| match pause {
        Pause::Plateau => "plateau",
        Pause::Stutter => "stutter",
        Pause::Collapse => "collapse",
    };
    sequence.pauses().map(|(k, pause)| PauseJson { k, kind: kind(pause) }).collect()
}
