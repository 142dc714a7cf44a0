//! A state in terms of the program, as data.

use super::{SourceMap, StepKind, error_kind};
use crate::graph::{Node, Step};
use crate::states::{Frame, Handover, Shared};
use cpds::{GlobalState, ThreadId};

/// A state in terms of the program. Values that are open are `None`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct View {
    /// The error that has ended the run: its kind, and where the statement starts.
    pub error: Option<(StepKind, u32)>,
    /// Whether a thread is between two frames, in the middle of a step.
    pub is_between: bool,
    /// The shared variables.
    pub shared: Vec<Option<bool>>,
    /// The frames of each thread, top first.
    pub threads: Vec<Vec<FrameView>>,
    /// Threads that were created and have not started: their pools and frames.
    pub pending: Vec<(usize, FrameView)>,
    /// The locks that are held, and by which thread; none, if it has ended.
    pub locks: Vec<(String, Option<ThreadId>)>,
    /// The thread that is in an atomic section.
    pub atomic: Option<ThreadId>,
}

/// A frame in terms of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FrameView {
    /// The function, by its number.
    pub function: usize,
    /// Where it is.
    pub place: FramePlace,
    /// Thread-local variables.
    pub thread_locals: Vec<Option<bool>>,
    /// Parameters, then the other variables. What does not matter any more is open.
    pub locals: Vec<Option<bool>>,
}

/// A place in a function, by the byte at which the statement starts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum FramePlace {
    /// Before a statement, or at a bracket.
    Before(u32),
    /// In a call, which hands something over when it returns; otherwise it is where the call
    /// returns to.
    Calling(u32),
    /// A call has returned, and its results are not assigned.
    Results(u32),
}

impl SourceMap {
    /// A state in terms of the program.
    pub fn view(&self, state: &GlobalState) -> View {
        let frame = |frame: &Frame| self.frame_view(frame);
        let threads =
            state.stacks.iter().map(|stack| stack.iter().map(|symbol| frame(self.meaning.frame(symbol))).collect());
        let threads: Vec<Vec<FrameView>> = threads.collect();
        let now = self.synchronisation(state, None);
        match self.shared(state.shared) {
            Shared::Error(node) => {
                let it = &self.graph.nodes[node];
                let error = Some((error_kind(&it.step), it.span.start));
                let (shared, pending, locks) = (Vec::new(), Vec::new(), Vec::new());
                View { error, is_between: false, shared, threads, pending, locks, atomic: None }
            }
            Shared::Running(running) => View {
                locks: now.locks.iter().map(|lock| (lock.name.to_owned(), lock.holder)).collect(),
                atomic: now.atomic,
                error: None,
                is_between: running.handover != Handover::Nothing,
                shared: (0..self.graph.shared.len()).map(|number| running.variables.get(number)).collect(),
                threads,
                pending: running.pending.iter().map(|(pool, first)| (*pool as usize, frame(first))).collect(),
            },
        }
    }

    /// For each local variable, parameters first, whether it matters at a place: whether it may be
    /// read before it is written.
    pub fn matters(&self, at: FramePlace) -> Vec<bool> {
        let Some(node) = self.graph.nodes.iter().position(|node| place(node) == at) else { return Vec::new() };
        let count = self.graph.functions[self.graph.nodes[node].function].locals.len();
        let matters = |number: usize| self.live[node].contains(self.graph.thread_locals.len() + number);
        (0..count).map(matters).collect()
    }

    fn frame_view(&self, frame: &Frame) -> FrameView {
        let node = &self.graph.nodes[frame.node];
        let (count, locals) = (self.graph.thread_locals.len(), self.graph.functions[node.function].locals.len());
        FrameView {
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
