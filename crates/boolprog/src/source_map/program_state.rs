//! Program states: a state of the system as data about the program.

use super::{SourceMap, StepKind, error_kind};
use crate::graph::{Node, Step};
use crate::states::{Frame, Handover, Shared};
use cpds::{GlobalState, ThreadId};

/// A state of the program. `None` is an open variable, which may have any value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramState {
    /// The error that has ended the run: its kind, and the first byte of the statement.
    pub error: Option<(StepKind, u32)>,
    /// Whether a thread is in the middle of a step, with a handover in the shared state.
    pub is_mid_step: bool,
    /// The shared variables.
    pub shared: Vec<Option<bool>>,
    /// The frames of each thread, top first.
    pub threads: Vec<Vec<ProgramFrame>>,
    /// The threads that were created and have not started: their pools and first frames.
    pub pending: Vec<(usize, ProgramFrame)>,
    /// The locks that are held, each with its thread; `None` if that thread has ended.
    pub locks: Vec<(String, Option<ThreadId>)>,
    /// The thread that is in an atomic section.
    pub atomic: Option<ThreadId>,
}

/// A frame of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramFrame {
    /// The number of the function.
    pub function: usize,
    /// The place in the function.
    pub place: FramePlace,
    /// Thread-local variables.
    pub thread_locals: Vec<Option<bool>>,
    /// Parameters, then the other local variables. Variables that are not live are open.
    pub locals: Vec<Option<bool>>,
}

/// A place in a function, given by the first byte of a statement.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum FramePlace {
    /// Before a statement, or at a closing bracket.
    Before(u32),
    /// In a call whose return stores a handover. In other calls, the place is the one to which the
    /// call returns.
    Calling(u32),
    /// After the return of a call, before the assignment of its results.
    Results(u32),
}

impl SourceMap {
    /// Translates a state of the system into a state of the program.
    pub fn program_state(&self, state: &GlobalState) -> ProgramState {
        let frame = |frame: &Frame| self.program_frame(frame);
        let threads =
            state.stacks.iter().map(|stack| stack.iter().map(|symbol| frame(self.meaning.frame(symbol))).collect());
        let threads: Vec<Vec<ProgramFrame>> = threads.collect();
        let now = self.synchronisation(state, None);
        match self.shared(state.shared) {
            Shared::Error(node) => {
                let it = &self.graph.nodes[node];
                let error = Some((error_kind(&it.step), it.span.start));
                let (shared, pending, locks) = (Vec::new(), Vec::new(), Vec::new());
                ProgramState { error, is_mid_step: false, shared, threads, pending, locks, atomic: None }
            }
            Shared::Running(running) => ProgramState {
                locks: now.locks.iter().map(|lock| (lock.name.to_owned(), lock.holder)).collect(),
                atomic: now.atomic,
                error: None,
                is_mid_step: running.handover != Handover::Nothing,
                shared: (0..self.graph.shared.len()).map(|number| running.variables.get(number)).collect(),
                threads,
                pending: running.pending.iter().map(|(pool, first)| (*pool as usize, frame(first))).collect(),
            },
        }
    }

    /// Computes, for each local variable, whether it is live at a place. Parameters come first.
    pub fn live_locals(&self, at: FramePlace) -> Vec<bool> {
        let Some(node) = self.graph.nodes.iter().position(|node| place(node) == at) else { return Vec::new() };
        let count = self.graph.functions[self.graph.nodes[node].function].locals.len();
        let is_live = |number: usize| self.live[node].contains(self.graph.thread_locals.len() + number);
        (0..count).map(is_live).collect()
    }

    fn program_frame(&self, frame: &Frame) -> ProgramFrame {
        let node = &self.graph.nodes[frame.node];
        let (count, locals) = (self.graph.thread_locals.len(), self.graph.functions[node.function].locals.len());
        ProgramFrame {
            function: node.function,
            place: place(node),
            thread_locals: (0..count).map(|number| frame.local.get(number)).collect(),
            locals: (count..count + locals).map(|number| frame.local.get(number)).collect(),
        }
    }
}

fn place(node: &Node) -> FramePlace {
    let at = node.span.start;
    match node.step {
        Step::Await { .. } => FramePlace::Calling(at),
        Step::Results { .. } => FramePlace::Results(at),
        _ => FramePlace::Before(at),
    }
}
