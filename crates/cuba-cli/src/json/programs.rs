//! States and steps of Boolean programs as JSON.

use super::{
    ErrorJson, FrameJson, LockJson, OriginJson, PlaceJson, ProgramStateJson, ProgramStepJson, SourceJson, StackJson,
    StartJson, SynchronisationJson,
};
use crate::analysis::model::{LoadedModel, LoadedProgram};
use crate::text::program_trace::{statement, whole_step};
use boolprog::ProgramStep;
use boolprog::syntax::Origin;
use boolprog::{HeldLock, SourceFrame, SourceStep, StepKind, Synchronisation, SynchronisationEvent};
use cpds::diagnostic::Span;
use cpds::{GlobalState, ThreadId, Trace};
use std::collections::BTreeMap;

/// Translates a state of a program.
pub(crate) fn program_state(loaded: &LoadedModel, program: &LoadedProgram, state: &GlobalState) -> ProgramStateJson {
    let (system, map) = (loaded.problem().system(), &program.map);
    let owned = |variables: Vec<(&str, Option<bool>)>| {
        variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<BTreeMap<_, _>>()
    };
    let frame = |symbol| {
        let SourceFrame { function, line, variables, .. } = map.frame(symbol);
        FrameJson { function: function.to_owned(), line, variables: owned(variables) }
    };
    let stacks = system.threads().zip(&state.stacks);
    ProgramStateJson {
        text: map.state_text(state),
        shared: owned(map.shared_variables(state.shared)),
        threads: synchronisation(&map.synchronisation(state, None), &|thread| system.thread_name(thread)),
        stacks: stacks
            .map(|(thread, stack)| StackJson {
                thread: system.thread_name(thread),
                frames: stack.iter().map(frame).collect(),
            })
            .collect(),
    }
}

/// Translates every enabled step from a state.
pub(crate) fn program_successors(
    loaded: &LoadedModel,
    program: &LoadedProgram,
    state: &GlobalState,
) -> Vec<ProgramStepJson> {
    let system = loaded.problem().system();
    let before = program.map.synchronisation(state, None);
    let step = |step: cpds::Step<'_>| ProgramStepJson {
        step: program_step(
            loaded,
            &ProgramStep {
                context: 0,
                thread: step.thread,
                state: &step.state,
                step: program.map.step(step.thread, state, &step.state),
                now: program.map.synchronisation(&step.state, Some(&before)),
            },
        ),
        reached: program_state(loaded, program, &whole_step(loaded, program, &step.state).0),
    };
    system.steps(state).map(step).collect()
}

/// Translates a step of a trace.
pub(crate) fn program_step(
    loaded: &LoadedModel,
    ProgramStep { thread, step, now, .. }: &ProgramStep<'_>,
) -> SourceJson {
    let name = |thread: ThreadId| loaded.problem().system().thread_name(thread);
    let (mut locks, mut atomic, mut creates) = (BTreeMap::new(), None, Vec::new());
    for change in &step.synchronised {
        match change {
            SynchronisationEvent::Takes(lock) => drop(locks.insert((*lock).to_owned(), Some(name(*thread)))),
            SynchronisationEvent::Frees(lock) => drop(locks.insert((*lock).to_owned(), None)),
            SynchronisationEvent::Keeps(_) => {}
            SynchronisationEvent::EntersAtomic => atomic = Some(true),
            SynchronisationEvent::LeavesAtomic => atomic = Some(false),
            SynchronisationEvent::Creates(frame) => creates.push(start(frame)),
        }
    }
    SourceJson { locks, atomic, creates, threads: Some(synchronisation(now, &name)), ..step_alone(loaded, step) }
}

/// Translates a step of one thread, without the locks and other threads.
pub(crate) fn step_alone(loaded: &LoadedModel, step: &SourceStep<'_>) -> SourceJson {
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
        place: place(loaded, step.function, step.line, step.span, step.origin),
        depth: step.depth,
        changes,
        locks: BTreeMap::new(),
        atomic: None,
        creates: Vec::new(),
        threads: None,
    }
}

fn start(frame: &SourceFrame<'_>) -> StartJson {
    let variables = frame.variables.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
    StartJson { function: frame.function.to_owned(), line: frame.line, variables }
}

fn synchronisation(now: &Synchronisation<'_>, name: &dyn Fn(ThreadId) -> String) -> SynchronisationJson {
    let lock = |lock: &HeldLock<'_>| LockJson {
        lock: lock.name.to_owned(),
        thread: lock.holder.map(name),
        has_ended: lock.has_ended,
    };
    SynchronisationJson {
        locks: now.locks.iter().map(lock).collect(),
        atomic: now.atomic.map(name),
        waiting: now.waiting.iter().map(start).collect(),
    }
}

fn place(loaded: &LoadedModel, function: &str, line: usize, span: Span, origin: Option<&Origin>) -> PlaceJson {
    let origin = origin.map(|origin| OriginJson { file: origin.file.clone(), line: origin.line });
    PlaceJson { function: function.to_owned(), line, statement: statement(loaded, span), origin }
}

/// Returns the error at the end of a trace, if there is one.
pub(crate) fn error(loaded: &LoadedModel, program: &LoadedProgram, trace: &Trace) -> Option<ErrorJson> {
    let error = program.map.error(trace.last().shared)?;
    let kind = if error.kind == StepKind::Unlock { "unlock" } else { "assert" };
    Some(ErrorJson { kind, place: place(loaded, error.function, error.line, error.span, error.origin) })
}
