//! The source map: translates the system back to the program.
//!
//! In: states and steps of the lowered system. Out: states and steps of the program, as data
//! ([`ProgramState`], [`SourceStep`], [`ProgramTrace`]) or as text. It also reads states from text.

mod places;
mod program_state;
mod program_trace;
mod state_reader;
mod state_text;
mod step;
mod synchronisation;

pub(crate) use places::{LineStarts, Places};
pub use program_state::{FramePlace, ProgramFrame, ProgramState};
pub use program_trace::{ProgramContext, ProgramStep, ProgramTrace};
pub use step::{Change, SourceStep, StepKind, VariableKind};
pub use synchronisation::{HeldLock, Synchronisation, SynchronisationEvent};

use crate::graph::{Graph, Step};
use crate::states::{Frame, NumberSet, Shared, SharedStates};
use crate::syntax::{Origin, StatementId};
use crate::threads::Threads;
use cpds::diagnostic::Span;
use cpds::{SharedState, Symbol};

/// Translates states and steps of a lowered program back.
#[derive(Debug)]
pub struct SourceMap {
    pub(crate) graph: Graph,
    threads: Threads,
    pub(crate) meaning: Meaning,
    /// For each node, the live local variables.
    pub(crate) live: Vec<NumberSet>,
}

/// A frame of a thread's stack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceFrame<'m> {
    /// The function.
    pub function: &'m str,
    /// Whether it is at the entry of the function.
    pub is_entry: bool,
    /// The line of its next statement, counted from 1.
    pub line: usize,
    /// Its next statement. There is none at the end of a function.
    pub statement: Option<StatementId>,
    /// The live thread-local and local variables with their values. `None` is any value.
    pub variables: Vec<(&'m str, Option<bool>)>,
}

/// An error of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SourceError<'m> {
    /// `Assert` or `Unlock`.
    pub kind: StepKind,
    /// The function.
    pub function: &'m str,
    /// The place of the statement in the text.
    pub span: Span,
    /// Its line, counted from 1.
    pub line: usize,
    /// The statement.
    pub statement: Option<StatementId>,
    /// The origin of the statement.
    pub origin: Option<&'m Origin>,
}

/// The tables of the source map: shared states and frames by their numbers, and places of nodes.
#[derive(Debug)]
pub(crate) struct Meaning {
    pub(crate) shared: SharedStates,
    pub(crate) frames: Vec<Frame>,
    pub(crate) lines: LineStarts,
    pub(crate) places: Places,
}

impl Meaning {
    /// Iterates over all shared states, without their variables.
    pub(crate) fn rests(&self) -> impl Iterator<Item = (SharedState, &Shared)> {
        let numbers = 0..u32::try_from(self.shared.len()).expect("limited");
        numbers.map(|number| (SharedState(number), self.shared.rest(number)))
    }

    pub(crate) fn frame(&self, symbol: Symbol) -> &Frame {
        &self.frames[symbol.0 as usize]
    }
}

impl SourceMap {
    pub(crate) fn new(graph: Graph, threads: Threads, meaning: Meaning, live: Vec<NumberSet>) -> Self {
        SourceMap { graph, threads, meaning, live }
    }

    /// Returns the threads of the program.
    pub fn threads(&self) -> &Threads {
        &self.threads
    }

    pub(crate) fn shared(&self, q: SharedState) -> Shared {
        self.meaning.shared.get(q.0)
    }

    /// Returns a shared state without its variables.
    pub(crate) fn rest(&self, q: SharedState) -> &Shared {
        self.meaning.shared.rest(q.0)
    }

    /// Returns the error of a shared state, if the run ends with an error there.
    pub fn error(&self, q: SharedState) -> Option<SourceError<'_>> {
        let Shared::Error(node) = *self.rest(q) else { return None };
        let it = &self.graph.nodes[node];
        Some(SourceError {
            kind: error_kind(&it.step),
            function: &self.graph.functions[it.function].name,
            span: it.span,
            line: self.meaning.lines.line(it.span.start),
            statement: it.statement,
            origin: it.origin.as_ref(),
        })
    }

    /// Returns the shared variables with their values. There are none after an error.
    pub fn shared_variables(&self, q: SharedState) -> Vec<(&str, Option<bool>)> {
        let Shared::Running(_) = self.rest(q) else { return Vec::new() };
        let (declared, variables) = (self.graph.shared.iter().enumerate(), self.meaning.shared.variables(q.0));
        declared.map(|(number, variable)| (&*variable.name, variables.get(number))).collect()
    }

    /// Returns the frame of a symbol.
    pub fn frame(&self, symbol: Symbol) -> SourceFrame<'_> {
        self.source_frame(self.meaning.frame(symbol))
    }

    pub(crate) fn source_frame(&self, frame: &Frame) -> SourceFrame<'_> {
        let node = &self.graph.nodes[frame.node];
        let function = &self.graph.functions[node.function];
        let variables = self.graph.thread_locals.iter().chain(&function.locals).enumerate();
        let is_live = |number: usize| self.live[frame.node].contains(number);
        SourceFrame {
            function: &function.name,
            is_entry: frame.node == function.entry,
            line: self.meaning.lines.line(node.span.start),
            statement: node.statement,
            variables: variables
                .filter(|&(number, _)| is_live(number))
                .map(|(number, variable)| (&*variable.name, frame.local.get(number)))
                .collect(),
        }
    }
}

fn error_kind(step: &Step) -> StepKind {
    if let Step::Unlock(_) = step { StepKind::Unlock } else { StepKind::Assert }
}
