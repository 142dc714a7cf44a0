//! Program traces: a trace of the system as data about the program, step by step.

use super::{SourceMap, SourceStep, Synchronisation};
use cpds::{Cpds, GlobalState, ThreadId, Trace};

/// A trace of a lowered system as a run of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramTrace<'t> {
    /// Locks, atomic sections and waiting threads in the initial state.
    pub initial: Synchronisation<'t>,
    /// The contexts of the trace.
    pub contexts: Vec<ProgramContext<'t>>,
}

/// Consecutive steps of one thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramContext<'t> {
    /// The thread.
    pub thread: ThreadId,
    /// The thread's name: the function that it starts with, and a number if it has copies.
    pub name: String,
    /// Its steps.
    pub steps: Vec<ProgramStep<'t>>,
}

/// A step of a program in a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramStep<'t> {
    /// The context, counted from 0.
    pub context: usize,
    /// The thread.
    pub thread: ThreadId,
    /// The statement and its place, the changes, and the call depth.
    pub step: SourceStep<'t>,
    /// Locks, atomic sections and waiting threads after the step.
    pub now: Synchronisation<'t>,
    /// The state of the system that the step leads to.
    pub state: &'t GlobalState,
}

impl<'t> ProgramTrace<'t> {
    /// Iterates over all steps of all contexts.
    pub fn steps(&self) -> impl Iterator<Item = &ProgramStep<'t>> {
        self.contexts.iter().flat_map(|context| &context.steps)
    }

    /// Iterates over all steps of all contexts, by value.
    pub fn into_steps(self) -> impl Iterator<Item = ProgramStep<'t>> {
        self.contexts.into_iter().flat_map(|context| context.steps)
    }
}

impl SourceMap {
    /// Translates a trace of the lowered system into a run of the program.
    pub fn trace<'t>(&'t self, system: &Cpds, trace: &'t Trace) -> ProgramTrace<'t> {
        let initial = self.synchronisation(&trace.initial, None);
        let (mut before, mut now) = (&trace.initial, initial.clone());
        let mut contexts = Vec::new();
        for (context, taken) in trace.contexts.iter().enumerate() {
            let thread = taken.thread;
            let mut steps = Vec::new();
            for cpds::TraceStep { state, .. } in &taken.steps {
                let step = self.step(thread, before, state);
                now = self.synchronisation(state, Some(&now));
                steps.push(ProgramStep { context, thread, step, now: now.clone(), state });
                before = state;
            }
            contexts.push(ProgramContext { thread, name: system.thread_name(thread), steps });
        }
        ProgramTrace { initial, contexts }
    }
}
