//! Traces as data: what the threads of a program did, step by step.

use super::{SourceMap, SourceStep, Synchronisation};
use cpds::{Cpds, GlobalState, ThreadId, Trace};

/// A trace of a lowered system, as a run of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramTrace<'t> {
    /// What threads have to do with each other at the start.
    pub initial: Synchronisation<'t>,
    /// The contexts; in each of them one thread runs.
    pub contexts: Vec<ProgramContext<'t>>,
}

/// Consecutive steps of one thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramContext<'t> {
    /// The thread.
    pub thread: ThreadId,
    /// What it is called: the function that it starts with, with a number where there are several.
    pub name: String,
    /// Its steps.
    pub steps: Vec<ProgramStep<'t>>,
}

/// A step of a program in a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramStep<'t> {
    /// The context, from 0.
    pub context: usize,
    /// The thread.
    pub thread: ThreadId,
    /// What it did: the statement and its place, what changed, how deep in calls.
    pub step: SourceStep<'t>,
    /// What threads have to do with each other after the step: locks, atomic sections, threads that
    /// wait to start.
    pub now: Synchronisation<'t>,
    /// The state of the system that the step leads to.
    pub state: &'t GlobalState,
}

impl<'t> ProgramTrace<'t> {
    /// All steps, one after the other.
    pub fn steps(&self) -> impl Iterator<Item = &ProgramStep<'t>> {
        self.contexts.iter().flat_map(|context| &context.steps)
    }

    /// The same, without the contexts.
    pub fn into_steps(self) -> impl Iterator<Item = ProgramStep<'t>> {
        self.contexts.into_iter().flat_map(|context| context.steps)
    }
}

impl SourceMap {
    /// A trace of this system, as a run of the program that it was made from.
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
