//! Compares a Boolean program with the system to which it was lowered.
//!
//! [`compare`] compares the naive interpreter of the syntax tree with the naive exploration of the
//! system, level by level. [`replay`] runs a trace of the system on the program.

use crate::bounded::{self, Bounds};
use crate::interpreter::{self, ErrorKind, Limits, Machine, Place, ProjectedFrame, Projection};
use boolprog::{FramePlace, Lowered, ProgramFrame, ProgramState, SourceMap, StepKind};
use cpds::{ThreadId, Trace};
use std::collections::{BTreeMap, BTreeSet};

/// The part of a frame that is compared: its function, its place if it is the innermost frame, and
/// its live variables.
pub type ComparedFrame = (usize, Option<FramePlace>, Vec<bool>);

/// The part of a state that is compared.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ComparedState {
    /// An error, and the offset of its statement.
    Error(ErrorKind, u32),
    /// A state without an error.
    Running {
        /// The shared variables.
        shared: Vec<bool>,
        /// The stack of each thread, innermost call first.
        threads: Vec<Vec<ComparedFrame>>,
        /// The threads that have not started, each with its pool.
        pending: Vec<(usize, ComparedFrame)>,
        /// The locked locks, each with the thread that holds it; `None` if that thread has ended.
        locks: BTreeMap<String, Option<usize>>,
        /// The thread that is in an atomic section.
        atomic: Option<usize>,
    },
}

/// Converts a state of the interpreter, whose stacks have the outermost call first.
fn interpreted(projection: &Projection, map: &SourceMap) -> ComparedState {
    if let Some((kind, at)) = projection.error {
        return ComparedState::Error(kind, at);
    }
    let frame = |frame: &ProjectedFrame, is_top: bool| {
        let place = match frame.place {
            Place::Results(at) => FramePlace::Results(at),
            Place::Calling(at) => FramePlace::Calling(at),
            Place::At(at) | Place::End(at) | Place::LeaveAtomic(at) => FramePlace::Before(at),
        };
        let thread_locals = frame.thread_locals.iter().filter(|_| is_top).copied();
        let locals = frame.locals.iter().zip(map.live_locals(place)).map(|(value, matters)| *value && matters);
        (frame.function, is_top.then_some(place), thread_locals.chain(locals).collect())
    };
    let stack = |stack: &Vec<ProjectedFrame>| {
        stack.iter().rev().enumerate().map(|(depth, it)| frame(it, depth == 0)).collect::<Vec<ComparedFrame>>()
    };
    let starts = projection.pending.iter().enumerate();
    let mut pending: Vec<_> =
        starts.flat_map(|(pool, starts)| starts.iter().map(move |it| (pool, frame(it, true)))).collect();
    pending.sort();
    ComparedState::Running {
        shared: projection.shared.clone(),
        threads: projection.threads.iter().map(stack).collect(),
        pending,
        locks: projection.locks.clone(),
        atomic: projection.atomic,
    }
}

/// Returns the program states that a state of the system stands for, one for each choice of values
/// of the open variables that are live.
pub fn stood_for(view: &ProgramState, map: &SourceMap) -> Vec<ComparedState> {
    if let Some((kind, at)) = view.error {
        let kind = if kind == StepKind::Unlock { ErrorKind::Unlock } else { ErrorKind::Assert };
        return vec![ComparedState::Error(kind, at)];
    }
    let values = |frame: &ProgramFrame, is_top: bool| {
        let thread_locals = frame.thread_locals.iter().filter(|_| is_top).copied();
        let local = |(value, matters): (&Option<bool>, bool)| if matters { *value } else { Some(false) };
        thread_locals.chain(frame.locals.iter().zip(map.live_locals(frame.place)).map(local)).collect::<Vec<_>>()
    };
    // First all values go into one row. Then each choice is read back from the row.
    let mut row: Vec<Option<bool>> = view.shared.clone();
    for (depth, frame) in view.threads.iter().flat_map(|stack| stack.iter().enumerate()) {
        row.extend(values(frame, depth == 0));
    }
    row.extend(view.pending.iter().flat_map(|(_, frame)| values(frame, true)));
    let open: Vec<usize> = (0..row.len()).filter(|&i| row[i].is_none()).collect();
    assert!(open.len() < 16, "small programs");
    let choice = |choice: usize| {
        let bit = |i: usize| row[i].unwrap_or_else(|| choice >> open.iter().position(|&at| at == i).unwrap() & 1 == 1);
        let mut rest = (0..row.len()).map(bit);
        let mut take = |count: usize| rest.by_ref().take(count).collect::<Vec<bool>>();
        let shared = take(view.shared.len());
        let mut frame = |frame: &ProgramFrame, is_top: bool| {
            (frame.function, is_top.then_some(frame.place), take(values(frame, is_top).len()))
        };
        let mut threads = Vec::new();
        for stack in &view.threads {
            threads.push(stack.iter().enumerate().map(|(depth, it)| frame(it, depth == 0)).collect());
        }
        let mut pending: Vec<_> = view.pending.iter().map(|(pool, it)| (*pool, frame(it, true))).collect();
        pending.sort();
        let locks = view.locks.iter().map(|(lock, holder)| (lock.clone(), holder.map(ThreadId::index))).collect();
        ComparedState::Running { shared, threads, pending, locks, atomic: view.atomic.map(ThreadId::index) }
    };
    (0..1 << open.len()).map(choice).collect()
}

/// Compares a program with its system, level by level, and returns the program's levels. Returns
/// `None` if the program has too many states.
///
/// # Errors
/// A state that only the program or only the system has.
pub fn compare(program: &Lowered, limits: Limits) -> Result<Option<interpreter::ProgramLevels>, String> {
    let (system, map) = (program.reading.problem.system(), &program.map);
    let Some(run) = interpreter::levels(&program.program, map.threads(), limits) else { return Ok(None) };
    let bounds = Bounds { contexts: limits.contexts, height: limits.height, states: usize::MAX };
    let levels = bounded::levels(system, bounds);
    let mut found: BTreeSet<ComparedState> = BTreeSet::new();
    for k in 0..=limits.contexts {
        let expected: BTreeSet<ComparedState> = run.projections(k).iter().map(|it| interpreted(it, map)).collect();
        // The system may have fewer levels: they end after one without new states.
        let new = levels.new.get(k).into_iter().flatten();
        let views = new.map(|state| map.program_state(state)).filter(|view| !view.is_mid_step);
        found.extend(views.flat_map(|view| stood_for(&view, map)));
        if let Some(missing) = expected.difference(&found).next() {
            return Err(format!("k = {k}: the system does not have {missing:?}"));
        }
        if let Some(extra) = found.difference(&expected).next() {
            return Err(format!("k = {k}: the program does not have {extra:?}"));
        }
    }
    Ok(Some(run))
}

/// Runs the program along a trace of the system.
///
/// After each step of the trace, the program must be able to reach a state that the system's state
/// stands for. States in the middle of a statement are skipped. A step of the system is at most two
/// steps of the program.
///
/// # Errors
/// The step that the program cannot take. Contexts and steps are counted from 1.
pub fn replay(program: &Lowered, trace: &Trace) -> Result<(), String> {
    let map = &program.map;
    let machine = Machine::new(&program.program, map.threads());
    let fitting = |states: BTreeSet<interpreter::State>, state: &cpds::GlobalState| {
        let view = map.program_state(state);
        if view.is_mid_step {
            return states;
        }
        let wanted: BTreeSet<ComparedState> = stood_for(&view, map).into_iter().collect();
        states.into_iter().filter(|state| wanted.contains(&interpreted(&state.projection(), map))).collect()
    };
    let mut states = fitting(machine.initial(), &trace.initial);
    for (number, context) in (1..).zip(&trace.contexts) {
        for (step, after) in (1..).zip(&context.steps) {
            let mut reached = states.clone();
            for _ in 0..2 {
                let steps = reached.iter().flat_map(|state| machine.steps(state, context.thread.index()));
                reached = steps.collect::<BTreeSet<_>>().union(&reached).cloned().collect();
            }
            states = fitting(reached, &after.state);
            if states.is_empty() {
                return Err(format!("the program cannot take step {step} of context {number}"));
            }
        }
    }
    Ok(())
}
