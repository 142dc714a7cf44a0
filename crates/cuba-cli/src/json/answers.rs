//! The answers of `cuba verify` and `cuba reach` as JSON.

use super::programs;
use super::sequences::{BetweenJson, CollapseJson, LevelJson, PausesJson, UpperJson, pauses, upper};
use super::statistics::StatisticsJson;
use super::{TraceJson, WarningJson};
use crate::analysis::exploration::Exploration;
use crate::analysis::finding::{Check, Unconfirmed};
use crate::analysis::model::LoadedModel;
use crate::analysis::phase::Phase;
use crate::analysis::summary::{Summary, abridged};
use cpds::VisibleState;
use cpds_check::Evidence;
use cuba::distributed::Sent;
use cuba::{Conclusion, Count, Engine, Halt, RungResult};
use serde::Serialize;
use std::collections::BTreeSet;
use std::time::Duration;

/// A longer list of overapproximations has only this many at its beginning and at its end.
const ENDS: usize = 1000;

/// The time and the memory of a run so far, and its memory limit.
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
    /// The number of threads of the system; null if a limit ended the run before it was known.
    pub threads: Option<usize>,
    /// For `unsafe`, the least number of contexts with which a bad state is reachable. Otherwise
    /// the last k for which R_k was computed: for `unknown`, no bad state is reachable with up to
    /// that many contexts; null if there is no such k.
    pub contexts: Option<usize>,
    /// The engine of the lower search: `explicit` or `symbolic`; null if a limit ended the run
    /// before it was known.
    pub engine: Option<&'static str>,
    /// For `unknown`: the answer that the search found, if its evidence was not made, checked and
    /// written before a limit. It is not an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unconfirmed: Option<UnconfirmedJson>,
    /// The basis of the proof: an overapproximation, such as `Z`, `matched-Z` or `A_1`; an
    /// intersection of several, such as `matched-Z ∩ A_1`; or `R_k` or `S_k` (Scheme 1).
    pub proved_by: Option<String>,
    /// Whether finite context reachability holds; null if that is not known.
    pub fcr: Option<bool>,
    /// The proof of `fcr`. If it holds: `Thm. 17`, or a set without pumping heads, which is `T(R)`
    /// or an overapproximation such as `Z` or `matched-Z ∩ A_1`. If it does not hold: `T(R_k)` for
    /// the first k with a pumping head. Null if it is not known.
    pub fcr_by: Option<String>,
    /// The levels, for each k for which R_k was computed.
    pub sequence: Vec<LevelJson>,
    /// Where the sequences collapse (paper, Table 1).
    pub collapse: CollapseJson,
    /// Where the sequences pause.
    pub pauses: PausesJson,
    /// The overapproximations of T(R) that were tried, in this order; none for `unsafe`. If there
    /// are more than two thousand: the first thousand, the last thousand, and all others that rule
    /// something out.
    pub upper: Vec<UpperJson>,
    /// The number of overapproximations that `upper` omits; absent if it omits none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub upper_left_out: Option<usize>,
    /// For `unknown`, the visible states that are neither reached nor ruled out, if at least one
    /// overapproximation was computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub between: Option<BetweenJson>,
    /// T(R_k) for the last k, with `--states`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visible_states: Option<Vec<String>>,
    /// For `unsafe`, the trace to the bad state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceJson>,
    /// The assumptions that the answer depends on, if a Boolean program may do more than was
    /// analysed: limits for the number of its threads.
    pub assumptions: Vec<String>,
    /// For `unsafe` and a Boolean program, the error: what fails, and where.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorJson>,
    /// The evidence for the answer, if there is an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<EvidenceJson>,
    /// The statistics of the lower search, which depend on `--no-symmetry`. Null if the guard ended
    /// the run at a limit.
    pub statistics: Option<StatisticsJson>,
    /// If the states are distributed over several processes: the number of shares and the traffic.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shares: Option<SharesJson>,
    /// The time for the analysis, in seconds.
    pub time_s: f64,
    /// The peak memory of the process; null if the operating system does not report it.
    pub peak_memory_bytes: Option<u64>,
    /// The memory limit: `--memory`, or a share of the memory of the machine.
    pub memory_limit_bytes: usize,
    /// The first hundred warnings.
    pub warnings: Vec<WarningJson>,
}

/// An answer of the search that was not confirmed.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UnconfirmedJson {
    /// The verdict that checked evidence would give: `safe`, `unsafe` or `converged`.
    pub verdict: &'static str,
    /// The basis of the proof, as in `proved_by` of an answer; null for `unsafe`.
    pub proved_by: Option<String>,
    /// For `unsafe`, the least number of contexts with which a bad state is reachable; otherwise
    /// null.
    pub contexts: Option<usize>,
    /// Whether the independent checker has accepted the evidence, so that only writing it was
    /// missing.
    pub checked: bool,
    /// The phase that was ended: `making-evidence`, `checking-evidence` or `writing`.
    pub phase: &'static str,
    /// The cause of the end: `timeout`, `memory`, `interrupt`, or `process` for the loss of another
    /// process.
    pub ended_by: &'static str,
}

/// States that are distributed over several processes.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SharesJson {
    /// The number of shares: one for each job of each process.
    pub parts: usize,
    /// The number of supersteps, in which all shares work at the same time and then exchange
    /// states.
    pub supersteps: u64,
    /// The states sent from one share to another, each with the thread that reached it.
    pub states_sent: u64,
    /// The stacks sent, each as a top symbol and the number of the rest.
    pub stacks_sent: u64,
    /// The bytes sent.
    pub bytes_sent: u64,
    /// The number of blocks sent.
    pub blocks_sent: u64,
}

/// An error of a Boolean program.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ErrorJson {
    /// `assert`, or `unlock` of a lock that is not held.
    pub kind: &'static str,
    /// The place of the error.
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
    /// The text of the statement, on one line.
    pub statement: String,
    /// The file and line of the C program that the statement comes from, if a comment says so.
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
    /// The number of tuples of a certificate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tuples: Option<usize>,
    /// The number of languages of a certificate, which is the number of states of its automaton.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub languages: Option<usize>,
    /// The time for making the evidence, in seconds.
    pub time_s: f64,
    /// Whether the independent checker has accepted it; false only with `--no-check`.
    pub checked: bool,
    /// The time for the check, in seconds.
    pub check_time_s: Option<f64>,
}

pub(crate) fn analysis(
    file: String,
    explored: &Exploration<'_>,
    reason: &str,
    states: bool,
    loaded: &LoadedModel,
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

/// Builds the answer for an analysis that the guard has ended at a limit.
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

/// The facts about the model in an answer.
pub(crate) struct ModelFacts {
    threads: usize,
    assumptions: Vec<String>,
    warnings: Vec<WarningJson>,
}

pub(crate) fn model_facts(loaded: &LoadedModel) -> ModelFacts {
    ModelFacts {
        threads: loaded.problem().system().thread_count(),
        assumptions: loaded.assumptions().to_vec(),
        warnings: super::warnings(&loaded.reading),
    }
}

/// Builds the part that every answer has.
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
        abridged(summary.rungs, ENDS, RungResult::rules_out).into_iter().flatten().map(upper).collect();
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
