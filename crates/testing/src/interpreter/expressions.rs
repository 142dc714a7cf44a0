//! Expressions and variables: the values that an expression can have in a state, and reading and
//! assigning variables.

use super::{Machine, State};
use boolprog::syntax::{Expr, ExprKind, Name, Target};

/// The position of a variable among the variables of its kind.
pub(super) enum Slot {
    Shared(usize),
    ThreadLocal(usize),
    Local(usize),
}

/// The input of an evaluation: a thread and a state; for primed variables, also the state after the
/// statement.
#[derive(Clone, Copy)]
pub(super) struct Evaluation<'s> {
    pub(super) thread: usize,
    pub(super) before: &'s State,
    pub(super) after: &'s State,
}

impl Machine<'_> {
    /// Returns all combinations of values that these expressions can have.
    pub(super) fn values(&self, state: &State, thread: usize, exprs: &[Expr]) -> Vec<Vec<bool>> {
        let evaluation = Evaluation { thread, before: state, after: state };
        let value = |e| match (self.can(evaluation, e, true), self.can(evaluation, e, false)) {
            (true, true) => None,
            (value, _) => Some(value),
        };
        // Each `*` is a choice of its own, so the expressions are independent.
        choices(exprs.iter().map(value))
    }

    /// Whether an expression can have this value. Its parts are independent: no two of them share a
    /// `*`.
    pub(super) fn can(&self, evaluation: Evaluation<'_>, e: &Expr, value: bool) -> bool {
        let can = |e: &Expr, value| self.can(evaluation, e, value);
        match &e.kind {
            ExprKind::Constant(constant) => *constant == value,
            ExprKind::Choice => true,
            ExprKind::Variable(name) => self.read(evaluation.before, evaluation.thread, name) == value,
            ExprKind::Primed(name) => self.read(evaluation.after, evaluation.thread, name) == value,
            ExprKind::Not(a) => can(a, !value),
            ExprKind::Binary(operator, a, b) => {
                BOTH.iter().any(|&x| BOTH.iter().any(|&y| can(a, x) && can(b, y) && operator.apply(x, y) == value))
            }
            ExprKind::IfElse(a, b, c) => can(a, true) && can(b, value) || can(a, false) && can(c, value),
            ExprKind::Schoose(a, b) => {
                let (yes, no, choice) = (can(a, true), can(a, false) && can(b, true), can(a, false) && can(b, false));
                if value { yes || choice } else { no || choice }
            }
        }
    }

    fn read(&self, state: &State, thread: usize, name: &Name) -> bool {
        match self.slot(state, thread, name) {
            Slot::Shared(i) => state.shared[i],
            Slot::ThreadLocal(i) => state.threads[thread].thread_locals[i],
            Slot::Local(i) => state.top(thread).locals[i],
        }
    }

    pub(super) fn write(&self, state: &mut State, thread: usize, name: &Name, value: bool) {
        match self.slot(state, thread, name) {
            Slot::Shared(i) => state.shared[i] = value,
            Slot::ThreadLocal(i) => state.threads[thread].thread_locals[i] = value,
            Slot::Local(i) => state.top_mut(thread).locals[i] = value,
        }
    }

    /// Assigns values to targets, except to `_`. A call may have no targets; then nothing is
    /// assigned.
    pub(super) fn assign(&self, state: &mut State, thread: usize, targets: &[Target], values: &[bool]) {
        for (target, &value) in targets.iter().zip(values) {
            if let Target::Variable(name) = target {
                self.write(state, thread, name, value);
            }
        }
    }

    /// Finds the variable of a name in the innermost call. A local variable hides the others.
    pub(super) fn slot(&self, state: &State, thread: usize, name: &Name) -> Slot {
        let function = self.code(state, thread).function;
        let mut locals = function.parameters.iter().chain(function.locals.iter().map(|variable| &variable.name));
        let global = |is_thread_local| self.variables(is_thread_local).position(|variable| variable.name == *name);
        let local = locals.position(|local| local == name).map(Slot::Local);
        let other = || global(true).map(Slot::ThreadLocal).or_else(|| global(false).map(Slot::Shared));
        local.or_else(other).expect("names are declared")
    }
}

const BOTH: [bool; 2] = [false, true];

/// Returns all combinations of values, in which `None` may be either value.
pub(super) fn choices(values: impl Iterator<Item = Option<bool>>) -> Vec<Vec<bool>> {
    values.fold(vec![Vec::new()], |chosen, value| {
        let extended = |chosen: Vec<bool>| {
            BOTH.iter()
                .filter(|&&v| value.is_none_or(|value| value == v))
                .map(|&v| [&*chosen, &[v]].concat())
                .collect::<Vec<_>>()
        };
        chosen.into_iter().flat_map(extended).collect()
    })
}
