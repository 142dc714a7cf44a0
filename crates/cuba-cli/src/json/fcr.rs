//! The answer of `cuba fcr` as JSON.

use super::answers::Usage;
use super::programs;
use super::{TraceJson, TraceStepJson, WarningJson, action};
use crate::analysis::fcr_answer::FcrAnswer;
use crate::analysis::model::LoadedModel;
use crate::text::state_notation::thread_state;
use cpds::{Program, SharedState, Stack};
use cuba::{PumpingLoop, ThreadRun};
use serde::Serialize;

/// `cuba fcr`
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FcrJson {
    /// The file that was read.
    pub file: String,
    /// Whether finite context reachability holds; null if that is not known.
    pub fcr: Option<bool>,
    /// The proof of it, as for `verify`.
    pub fcr_by: Option<String>,
    /// The verdict in words.
    pub reason: String,
    /// The programs; none if a limit ended the run before they were analysed.
    pub programs: Vec<ContextsJson>,
    /// If it does not hold, the trace to the start of a loop; `bad` is the pattern of its head.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceJson>,
    /// The assumptions that the answer depends on, as for `verify`.
    pub assumptions: Vec<String>,
    /// The time of the run, in seconds.
    pub time_s: f64,
    /// The peak memory of the process; null if the operating system does not report it.
    pub peak_memory_bytes: Option<u64>,
    /// The memory limit: `--memory`, or a share of the memory of the machine.
    pub memory_limit_bytes: usize,
    /// The first hundred warnings.
    pub warnings: Vec<WarningJson>,
}

/// The contexts of the threads of a program.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ContextsJson {
    /// The name of the program.
    pub name: String,
    /// Whether each thread of it alone reaches only finitely many states from every reachable
    /// state; null if that is not known.
    pub finite: Option<bool>,
    /// The proof of it, as for `verify`.
    pub by: Option<String>,
    /// A run that the thread can repeat without end, if there is one, even if it is not reachable.
    pub r#loop: Option<LoopJson>,
}

/// A run from ⟨q|σ⟩ to ⟨q|σw⟩, where w is not empty.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LoopJson {
    /// ⟨q|σ⟩, a state of the thread alone: `q|σ`.
    pub start: String,
    /// Whether a state with this start is reachable; null if that is not known.
    pub reachable: Option<bool>,
    /// ⟨q|σw⟩.
    pub end: String,
    /// The steps; null if there are too many.
    pub steps: Option<Vec<TraceStepJson>>,
}

pub(crate) fn fcr(
    file: String,
    loaded: &LoadedModel,
    decided: Option<&FcrAnswer>,
    reason: &str,
    usage: Usage,
) -> FcrJson {
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

/// Builds the answer of `fcr` if nothing is known.
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
