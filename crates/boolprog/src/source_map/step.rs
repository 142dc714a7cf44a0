//! Source steps: what a step of the system does in the program.

use super::{SourceMap, SynchronisationEvent, error_kind};
use crate::graph::{Declaration, Formula, Step};
use crate::states::{Frame, Handover, NumberSet, Shared, Stop, Store, Valuation, evaluate};
use crate::syntax::{Origin, StatementId};
use cpds::diagnostic::Span;
use cpds::{GlobalState, SharedState, Stack, ThreadId};

/// A step of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceStep<'m> {
    /// The function.
    pub function: &'m str,
    /// The place of the statement in the text.
    pub span: Span,
    /// Its line, counted from 1.
    pub line: usize,
    /// The statement. The end of a function has none. When a thread starts, this is its first
    /// statement.
    pub statement: Option<StatementId>,
    /// The place in another program that the statement was made from, if the text has it.
    pub origin: Option<&'m Origin>,
    /// The call depth: the number of frames below the topmost one.
    pub depth: usize,
    /// The kind of the step.
    pub kind: StepKind,
    /// The variables that changed.
    pub changes: Vec<Change<'m>>,
    /// Changes of locks and atomic sections, and created threads.
    pub synchronised: Vec<SynchronisationEvent<'m>>,
    /// Whether the thread is in an atomic section after the step.
    pub is_in_atomic: bool,
}

/// The kinds of steps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum StepKind {
    /// A statement.
    Statement,
    /// The condition of an `if` or a `while`, and its value.
    Condition(bool),
    /// The end of a function without a `return`.
    EndOfFunction,
    /// The end of an atomic block.
    EndOfAtomic,
    /// The results of a call are assigned.
    Results,
    /// A created thread starts.
    Start,
    /// An error: a failed `assert`.
    Assert,
    /// An error: an `unlock` of a lock that the thread does not hold.
    Unlock,
    /// A part of the step before it, without any visible effect.
    Nothing,
}

/// A variable that changed. `None` is any value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change<'m> {
    /// The variable.
    pub name: &'m str,
    /// The kind of the variable. A local variable may hide a shared one with the same name.
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

impl SourceMap {
    /// Translates the step of a thread between two states.
    pub fn step(&self, thread: ThreadId, before: &GlobalState, after: &GlobalState) -> SourceStep<'_> {
        let thread = thread.index();
        self.step_alone((before.shared, &before.stacks[thread]), (after.shared, &after.stacks[thread]))
    }

    /// Translates the step of a thread between two states. Each state has only the stack of this
    /// thread.
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
                Step::Assert(condition) if kind == StepKind::Assert => self.failing_values(condition, q, frame),
                _ => self.changes([q, p], (old.height(), from), (new.height(), to)),
            },
            synchronised: self.synchronised((q, old), (p, new)),
            is_in_atomic: self.is_in_atomic(p, new),
        }
    }

    /// Chooses values of open variables for which a condition is false.
    fn failing_values(&self, condition: &Formula, before: SharedState, frame: &Frame) -> Vec<Change<'_>> {
        let Shared::Running(running) = self.shared(before) else { return Vec::new() };
        let (before, mut after) = (Store { shared: running.variables, local: frame.local.clone() }, None);
        // One case is enough.
        let _ = before.cases(&mut |store| {
            if evaluate(condition, store, store)?.no {
                after = Some(store.clone());
                return Err(Stop::Cutoff);
            }
            Ok(())
        });
        let (after, mut changes) = (after.unwrap_or_else(|| before.clone()), Vec::new());
        let count = self.graph.thread_locals.len();
        let locals = &self.graph.functions[self.graph.nodes[frame.node].function].locals;
        add_differences(
            VariableKind::Shared,
            &self.graph.shared,
            [&before.shared, &after.shared],
            0,
            None,
            &mut changes,
        );
        add_differences(
            VariableKind::ThreadLocal,
            &self.graph.thread_locals,
            [&before.local, &after.local],
            0,
            None,
            &mut changes,
        );
        add_differences(VariableKind::Local, locals, [&before.local, &after.local], count, None, &mut changes);
        changes
    }

    fn changes(
        &self,
        [before, after]: [SharedState; 2],
        (old_height, from): (usize, Option<&Frame>),
        (new_height, to): (usize, Option<&Frame>),
    ) -> Vec<Change<'_>> {
        let (mut changes, none) = (Vec::new(), Valuation::default());
        if let (Shared::Running(_), Shared::Running(_)) = (self.rest(before), self.rest(after)) {
            let variables = [before, after].map(|q| self.meaning.shared.variables(q.0));
            add_differences(VariableKind::Shared, &self.graph.shared, variables, 0, None, &mut changes);
        }
        if let (None, Some(to)) = (from, to) {
            // A thread starts: its arguments, and the values copied from its creator.
            let locals = &self.graph.functions[self.graph.nodes[to.node].function].locals;
            let (count, live) = (self.graph.thread_locals.len(), Some(&self.live[to.node]));
            add_differences(
                VariableKind::ThreadLocal,
                &self.graph.thread_locals,
                [&none, &to.local],
                0,
                live,
                &mut changes,
            );
            add_differences(VariableKind::Local, locals, [&none, &to.local], count, live, &mut changes);
        }
        if let (Some(from), Some(to)) = (from, to)
            && old_height <= new_height
        {
            let (count, live) = (self.graph.thread_locals.len(), Some(&self.live[to.node]));
            let function = &self.graph.functions[self.graph.nodes[to.node].function];
            // Changes by the callee were changes of earlier steps.
            if !matches!(self.graph.nodes[from.node].step, Step::Await { .. }) {
                add_differences(
                    VariableKind::ThreadLocal,
                    &self.graph.thread_locals,
                    [&from.local, &to.local],
                    0,
                    None,
                    &mut changes,
                );
            }
            if old_height == new_height {
                add_differences(
                    VariableKind::Local,
                    &function.locals,
                    [&from.local, &to.local],
                    count,
                    live,
                    &mut changes,
                );
            } else {
                // A call: its arguments.
                let arguments = &function.locals[..function.parameters];
                add_differences(VariableKind::Local, arguments, [&none, &to.local], count, live, &mut changes);
            }
        }
        changes
    }
}

/// Adds the live variables that differ.
fn add_differences<'m>(
    kind: VariableKind,
    declared: &'m [Declaration],
    [before, after]: [&Valuation; 2],
    from: usize,
    live: Option<&NumberSet>,
    changes: &mut Vec<Change<'m>>,
) {
    for (number, variable) in (from..).zip(declared) {
        let (before, after) = (before.get(number), after.get(number));
        if before != after && live.is_none_or(|live| live.contains(number)) {
            changes.push(Change { name: &variable.name, kind, before, after });
        }
    }
}
