//! Back from the pushdown system to the program: what a state means, and what a step does.

use crate::graph::{Declared, Formula, Graph, Node, Step};
use crate::names::Lines;
use crate::set::Set;
use crate::state::{Frame, Handover, Shared};
use crate::store::{Bits, Stop, Store, evaluate};
use crate::synchronisation::Synchronised;
use crate::syntax::{Origin, StatementId};
use crate::table::SharedStates;
use crate::threads::Threads;
use crate::words::Places;
use cpds::diagnostic::Span;
use cpds::{GlobalState, SharedState, Stack, Symbol, ThreadId};

/// What shared states and symbols of a lowered program stand for.
#[derive(Debug)]
pub struct SourceMap {
    pub(crate) graph: Graph,
    threads: Threads,
    pub(crate) meaning: Meaning,
    /// For each node, the local variables that matter there.
    pub(crate) live: Vec<Set>,
}

/// A step of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceStep<'m> {
    /// The function.
    pub function: &'m str,
    /// Where the statement stands.
    pub span: Span,
    /// Its line, from 1.
    pub line: usize,
    /// The statement; none at the end of a function. Of a thread that starts, the one that it will
    /// execute first.
    pub statement: Option<StatementId>,
    /// Where it comes from, if the program was made from another one.
    pub origin: Option<&'m Origin>,
    /// How many calls the thread is in, apart from the outermost function.
    pub depth: usize,
    /// What kind of step it is.
    pub kind: StepKind,
    /// Variables that changed.
    pub changes: Vec<Change<'m>>,
    /// Locks, atomic sections and new threads.
    pub synchronised: Vec<Synchronised<'m>>,
    /// Whether the thread is in an atomic section after the step.
    pub is_in_atomic: bool,
}

/// The kinds of steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StepKind {
    /// A statement.
    Statement,
    /// The condition of an `if` or a `while`, and how it came out.
    Condition(bool),
    /// The end of a function without a `return`.
    EndOfFunction,
    /// The end of an atomic block.
    EndOfAtomic,
    /// The results of a call arrive.
    Results,
    /// A thread that was created starts.
    Start,
    /// A failed `assert`: the error.
    Assert,
    /// An `unlock` of a lock that the thread does not hold: the error.
    Unlock,
    /// Part of the step before it: nothing to be seen.
    Nothing,
}

/// A variable that changed. `None` is any value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change<'m> {
    /// The variable.
    pub name: &'m str,
    /// Which kind of variable it is: names are not enough, since a local variable may hide another
    /// one.
    pub kind: VariableKind,
    /// Its value before.
    pub before: Option<bool>,
    /// Its value after.
    pub after: Option<bool>,
}

/// The kinds of variables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum VariableKind {
    /// One for all threads.
    Shared,
    /// One for each thread.
    ThreadLocal,
    /// One for each call: a parameter or another local variable.
    Local,
}

/// A frame on a thread's stack.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceFrame<'m> {
    /// The function.
    pub function: &'m str,
    /// Whether it is at the beginning of the function.
    pub is_entry: bool,
    /// The line of the statement that it is at, from 1.
    pub line: usize,
    /// That statement; none at the end of a function.
    pub statement: Option<StatementId>,
    /// Thread-local and local variables, with their values. `None` is any value.
    pub variables: Vec<(&'m str, Option<bool>)>,
}

/// An error of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SourceError<'m> {
    /// `Assert` or `Unlock`.
    pub kind: StepKind,
    /// The function.
    pub function: &'m str,
    /// Where the statement stands.
    pub span: Span,
    /// Its line, from 1.
    pub line: usize,
    /// The statement.
    pub statement: Option<StatementId>,
    /// Where it comes from.
    pub origin: Option<&'m Origin>,
}

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

/// What shared states and symbols stand for, by their numbers.
#[derive(Debug)]
pub(crate) struct Meaning {
    pub(crate) shared: SharedStates,
    pub(crate) frames: Vec<Frame>,
    pub(crate) lines: Lines,
    pub(crate) places: Places,
}

impl Meaning {
    /// The shared states without their variables.
    pub(crate) fn rests(&self) -> impl Iterator<Item = (SharedState, &Shared)> {
        let numbers = 0..u32::try_from(self.shared.len()).expect("limited");
        numbers.map(|number| (SharedState(number), self.shared.rest(number)))
    }

    pub(crate) fn frame(&self, symbol: Symbol) -> &Frame {
        &self.frames[symbol.0 as usize]
    }
}

impl SourceMap {
    pub(crate) fn new(graph: Graph, threads: Threads, meaning: Meaning, live: Vec<Set>) -> Self {
        SourceMap { graph, threads, meaning, live }
    }

    /// The threads of the program.
    pub fn threads(&self) -> &Threads {
        &self.threads
    }

    pub(crate) fn shared(&self, q: SharedState) -> Shared {
        self.meaning.shared.get(q.0)
    }

    /// A shared state without its variables.
    pub(crate) fn rest(&self, q: SharedState) -> &Shared {
        self.meaning.shared.rest(q.0)
    }

    /// The error that a shared state stands for, if it does.
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

    /// What a thread did between two states.
    pub fn step(&self, thread: ThreadId, before: &GlobalState, after: &GlobalState) -> SourceStep<'_> {
        let thread = thread.index();
        self.step_alone((before.shared, &before.stacks[thread]), (after.shared, &after.stacks[thread]))
    }

    /// What a thread did between two states, of which only its own stack is given.
    pub fn step_alone(&self, (q, old): (SharedState, &Stack), (p, new): (SharedState, &Stack)) -> SourceStep<'_> {
        let (from, to) = (old.top().map(|top| self.meaning.frame(top)), new.top().map(|top| self.meaning.frame(top)));
        let frame = from.or(to).expect("only a thread that starts takes a step from the empty stack");
        let node = &self.graph.nodes[frame.node];
        let function = &self.graph.functions[node.function];
        let kind = match (&node.step, self.rest(q)) {
            _ if from.is_none() => StepKind::Start,
            (step, _) if matches!(self.rest(p), Shared::Error(_)) => error_kind(step),
            (Step::Await { .. }, Shared::Running(running)) if running.handover == Handover::End => StepKind::Nothing,
            (Step::Await { .. } | Step::Results { .. }, _) => StepKind::Results,
            (Step::Leave, _) => StepKind::EndOfAtomic,
            (Step::Branch(_, then, otherwise), _) if then != otherwise => {
                StepKind::Condition(to.is_some_and(|to| to.node == *then))
            }
            _ if function.end == frame.node => StepKind::EndOfFunction,
            _ => StepKind::Statement,
        };
        SourceStep {
            function: &function.name,
            span: node.span,
            line: self.meaning.lines.line(node.span.start),
            statement: node.statement,
            origin: node.origin.as_ref(),
            depth: old.height().max(1) - 1,
            kind,
            changes: match &node.step {
                Step::Assert(condition) if kind == StepKind::Assert => self.chosen(condition, q, frame),
                _ => self.changes([q, p], (old.height(), from), (new.height(), to)),
            },
            synchronised: self.synchronised((q, old), (p, new)),
            is_in_atomic: self.is_in_atomic(p, new),
        }
    }

    /// The open variables that had to be chosen for a condition to be false, and what was chosen.
    fn chosen(&self, condition: &Formula, before: SharedState, frame: &Frame) -> Vec<Change<'_>> {
        let Shared::Running(running) = self.shared(before) else { return Vec::new() };
        let (before, mut after) = (Store { shared: running.variables, local: frame.local.clone() }, None);
        // The first one is enough.
        let _ = before.cases(&mut |store| {
            if evaluate(condition, store, store)?.no {
                after = Some(store.clone());
                return Err(Stop::Enough);
            }
            Ok(())
        });
        let (after, mut changes) = (after.unwrap_or_else(|| before.clone()), Vec::new());
        let count = self.graph.thread_locals.len();
        let locals = &self.graph.functions[self.graph.nodes[frame.node].function].locals;
        compare(VariableKind::Shared, &self.graph.shared, [&before.shared, &after.shared], 0, None, &mut changes);
        compare(
            VariableKind::ThreadLocal,
            &self.graph.thread_locals,
            [&before.local, &after.local],
            0,
            None,
            &mut changes,
        );
        compare(VariableKind::Local, locals, [&before.local, &after.local], count, None, &mut changes);
        changes
    }

    fn changes(
        &self,
        [before, after]: [SharedState; 2],
        (old_height, from): (usize, Option<&Frame>),
        (new_height, to): (usize, Option<&Frame>),
    ) -> Vec<Change<'_>> {
        let (mut changes, none) = (Vec::new(), Bits::default());
        if let (Shared::Running(_), Shared::Running(_)) = (self.rest(before), self.rest(after)) {
            let variables = [before, after].map(|q| self.meaning.shared.variables(q.0));
            compare(VariableKind::Shared, &self.graph.shared, variables, 0, None, &mut changes);
        }
        if let (None, Some(to)) = (from, to) {
            // A thread starts: its arguments, and what it has of the thread that created it.
            let locals = &self.graph.functions[self.graph.nodes[to.node].function].locals;
            let (count, matters) = (self.graph.thread_locals.len(), Some(&self.live[to.node]));
            compare(VariableKind::ThreadLocal, &self.graph.thread_locals, [&none, &to.local], 0, matters, &mut changes);
            compare(VariableKind::Local, locals, [&none, &to.local], count, matters, &mut changes);
        }
        if let (Some(from), Some(to)) = (from, to)
            && old_height <= new_height
        {
            let (count, matters) = (self.graph.thread_locals.len(), Some(&self.live[to.node]));
            let function = &self.graph.functions[self.graph.nodes[to.node].function];
            // What a callee did to them has been told.
            if !matches!(self.graph.nodes[from.node].step, Step::Await { .. }) {
                compare(
                    VariableKind::ThreadLocal,
                    &self.graph.thread_locals,
                    [&from.local, &to.local],
                    0,
                    None,
                    &mut changes,
                );
            }
            if old_height == new_height {
                compare(VariableKind::Local, &function.locals, [&from.local, &to.local], count, matters, &mut changes);
            } else {
                // A call: its arguments.
                let arguments = &function.locals[..function.parameters];
                compare(VariableKind::Local, arguments, [&none, &to.local], count, matters, &mut changes);
            }
        }
        changes
    }

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

    /// The shared variables with their values; none after an error.
    pub fn shared_variables(&self, q: SharedState) -> Vec<(&str, Option<bool>)> {
        let Shared::Running(_) = self.rest(q) else { return Vec::new() };
        let (declared, variables) = (self.graph.shared.iter().enumerate(), self.meaning.shared.variables(q.0));
        declared.map(|(number, variable)| (&*variable.name, variables.get(number))).collect()
    }

    /// The frame that a symbol stands for: its function, the line of its next statement, and the
    /// variables that matter there.
    pub fn frame(&self, symbol: Symbol) -> SourceFrame<'_> {
        self.source_frame(self.meaning.frame(symbol))
    }

    pub(crate) fn source_frame(&self, frame: &Frame) -> SourceFrame<'_> {
        let node = &self.graph.nodes[frame.node];
        let function = &self.graph.functions[node.function];
        let variables = self.graph.thread_locals.iter().chain(&function.locals).enumerate();
        let matters = |number: usize| self.live[frame.node].contains(number);
        SourceFrame {
            function: &function.name,
            is_entry: frame.node == function.entry,
            line: self.meaning.lines.line(node.span.start),
            statement: node.statement,
            variables: variables
                .filter(|&(number, _)| matters(number))
                .map(|(number, variable)| (&*variable.name, frame.local.get(number)))
                .collect(),
        }
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

fn error_kind(step: &Step) -> StepKind {
    if let Step::Unlock(_) = step { StepKind::Unlock } else { StepKind::Assert }
}

/// The variables that differ, of those that matter.
fn compare<'m>(
    kind: VariableKind,
    declared: &'m [Declared],
    [before, after]: [&Bits; 2],
    from: usize,
    matters: Option<&Set>,
    changes: &mut Vec<Change<'m>>,
) {
    for (number, variable) in (from..).zip(declared) {
        let (before, after) = (before.get(number), after.get(number));
        if before != after && matters.is_none_or(|matters| matters.contains(number)) {
            changes.push(Change { name: &variable.name, kind, before, after });
        }
    }
}
