//! Random statements and expressions, from the names that a function can use.

use super::labels::{RawLabel, distinct, nested_blocks, settle_labels};
use super::{ProgramShape, name, nowhere};
use boolprog::syntax::{Expr, ExprKind, Name, Operator, Statement, StatementId, StatementKind, Target};
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;

/// The names that the statements of a function can use, and the number of the function's results.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    pub(super) shape: ProgramShape,
    pub(super) variables: Vec<Name>,
    pub(super) functions: Vec<Callable>,
    pub(super) results: usize,
}

/// A function that statements can call.
#[derive(Clone, Debug)]
pub(super) struct Callable {
    pub(super) name: Name,
    pub(super) results: usize,
    pub(super) parameters: usize,
}

/// Generates the body of a function.
pub(super) fn body(scope: &Scope, is_main: bool) -> impl Strategy<Value = Vec<Statement>> + use<> {
    let most = scope.shape.statements;
    let pieces = vec(piece(scope), 1..=most.min(6)).prop_map(|pieces| pieces.concat());
    let starts = is_main && scope.shape.creation && scope.shape.starting_main && !scope.functions.is_empty();
    let starting = if starts { vec(statement(start_thread(scope)), 1..=3).boxed() } else { Just(Vec::new()).boxed() };
    prop_oneof![3 => pieces, u32::from(starts) => starting].prop_map(move |mut body| {
        prune(&mut body, &mut most.clone());
        settle_labels(&mut body);
        body
    })
}

/// Generates a statement, or several that belong together.
fn piece(scope: &Scope) -> impl Strategy<Value = Vec<Statement>> + use<> {
    let single = statement(simple(scope)).prop_map(|statement| vec![statement]);
    let (scope, depth) = (scope.clone(), scope.shape.depth);
    single.prop_recursive(depth, 8, 2, move |inner| {
        let block =
            || prop_oneof![1 => Just(Vec::new()), 7 => vec(inner.clone(), 1..=2).prop_map(|pieces| pieces.concat())];
        let condition = || expr(&scope, false);
        let mut kinds = vec![
            (14, inner.clone().boxed()),
            (
                3,
                compound((condition(), block(), block()).prop_map(|(condition, then, otherwise)| StatementKind::If {
                    condition,
                    then,
                    otherwise,
                })),
            ),
            (
                3,
                compound((condition(), block()).prop_map(|(condition, body)| StatementKind::While { condition, body })),
            ),
        ];
        if scope.shape.atomic {
            kinds.push((3, compound(block().prop_map(|body| StatementKind::Atomic { body, end: nowhere() }))));
            kinds.push((1, around(Just((StatementKind::AtomicBegin, StatementKind::AtomicEnd)), block())));
        }
        if scope.shape.locks {
            let pair = lock().prop_map(|lock| (StatementKind::Lock(lock.clone()), StatementKind::Unlock(lock)));
            kinds.push((2, around(pair, block())));
        }
        Union::new_weighted(kinds)
    })
}

fn compound(kind: impl Strategy<Value = StatementKind> + 'static) -> BoxedStrategy<Vec<Statement>> {
    statement(kind).prop_map(|statement| vec![statement]).boxed()
}

/// Generates a block between two statements.
fn around(
    pair: impl Strategy<Value = (StatementKind, StatementKind)> + 'static,
    block: impl Strategy<Value = Vec<Statement>> + 'static,
) -> BoxedStrategy<Vec<Statement>> {
    let join = |((before, after), block)| [vec![unlabelled(before)], block, vec![unlabelled(after)]].concat();
    (pair, block).prop_map(join).boxed()
}

/// Generates a statement, rarely with a label that no `goto` uses.
fn statement(kind: impl Strategy<Value = StatementKind>) -> impl Strategy<Value = Statement> {
    (kind, prop::bool::weighted(0.1)).prop_map(|(kind, is_labelled)| {
        let labels = if is_labelled { vec![name("unused".to_string())] } else { Vec::new() };
        Statement { labels, ..unlabelled(kind) }
    })
}

fn simple(scope: &Scope) -> impl Strategy<Value = StatementKind> + use<> {
    let shape = &scope.shape;
    let e = || expr(scope, false);
    let mut kinds: Vec<(u32, BoxedStrategy<StatementKind>)> = vec![
        (2, Just(StatementKind::Skip).boxed()),
        (16, assignment(scope).boxed()),
        (2, e().prop_map(StatementKind::Assume).boxed()),
        (1, e().prop_map(StatementKind::AbortIf).boxed()),
        (1, vec(e(), scope.results).prop_map(StatementKind::Return).boxed()),
        (1, Just(StatementKind::EndThread).boxed()),
    ];
    if !scope.variables.is_empty() {
        kinds.push((
            1,
            vec(select(scope.variables.clone()), 1..=2).prop_map(distinct).prop_map(StatementKind::Dead).boxed(),
        ));
    }
    if shape.asserts {
        kinds.push((2, e().prop_map(StatementKind::Assert).boxed()));
    }
    if shape.gotos {
        kinds.push((2, vec(raw_label(), 1..=2).prop_map(StatementKind::Goto).boxed()));
    }
    if shape.calls && !scope.functions.is_empty() {
        kinds.push((9, call(scope).boxed()));
    }
    if shape.creation {
        kinds.push((1, raw_label().prop_map(StatementKind::StartGoto).boxed()));
        if !scope.functions.is_empty() {
            kinds.push((5, start_thread(scope).boxed()));
        }
    }
    if shape.locks {
        kinds.push((1, lock().prop_map(StatementKind::Lock).boxed()));
        kinds.push((1, lock().prop_map(StatementKind::Unlock).boxed()));
    }
    if shape.atomic {
        kinds.push((1, Just(StatementKind::AtomicBegin).boxed()));
        kinds.push((1, Just(StatementKind::AtomicEnd).boxed()));
    }
    Union::new_weighted(kinds)
}

fn assignment(scope: &Scope) -> impl Strategy<Value = StatementKind> + use<> {
    let constrain = prop_oneof![3 => Just(None), 1 => expr(scope, true).prop_map(Some)];
    (vec((target(scope), expr(scope, false)), 1..=2), constrain).prop_map(|(sides, constrain)| {
        let (targets, values) = sides.into_iter().unzip();
        StatementKind::Assign { targets: distinct_targets(targets), values, constrain }
    })
}

fn call(scope: &Scope) -> impl Strategy<Value = StatementKind> + use<> {
    let targets = vec(target(scope), most(scope, |function| function.results));
    let arguments = vec(expr(scope, false), most(scope, |function| function.parameters));
    let parts = (select(scope.functions.clone()), targets, arguments, prop::bool::weighted(0.1));
    parts.prop_map(|(function, mut targets, mut arguments, is_discarded)| {
        // A call without targets discards its results.
        targets.truncate(if is_discarded { 0 } else { function.results });
        arguments.truncate(function.parameters);
        StatementKind::Call { targets: distinct_targets(targets), function: function.name, arguments }
    })
}

fn start_thread(scope: &Scope) -> impl Strategy<Value = StatementKind> + use<> {
    let arguments = vec(expr(scope, false), most(scope, |function| function.parameters));
    let parts = (select(scope.functions.clone()), arguments);
    parts.prop_map(|(function, mut arguments)| {
        arguments.truncate(function.parameters);
        StatementKind::StartThread { function: function.name, arguments }
    })
}

/// Returns the largest count over all functions.
fn most(scope: &Scope, count: impl Fn(&Callable) -> usize) -> usize {
    scope.functions.iter().map(count).max().unwrap_or(0)
}

fn target(scope: &Scope) -> BoxedStrategy<Target> {
    let nothing = Just(Target::Nothing(nowhere()));
    let names = scope.variables.clone();
    if names.is_empty() {
        return nothing.boxed();
    }
    prop_oneof![1 => nothing, 7 => select(names).prop_map(Target::Variable)].boxed()
}

/// Replaces a repeated variable by `_`.
fn distinct_targets(targets: Vec<Target>) -> Vec<Target> {
    let mut distinct: Vec<Target> = Vec::new();
    for target in targets {
        distinct.push(if distinct.contains(&target) { Target::Nothing(nowhere()) } else { target });
    }
    distinct
}

/// Generates the name of a lock. A lock may have the name of a variable.
fn lock() -> impl Strategy<Value = Option<Name>> {
    of(select(vec!["m0", "s0"])).prop_map(|lock| lock.map(|lock| name(lock.to_string())))
}

/// Generates an expression; `primed` tells whether it may have `'x`.
pub(super) fn expr(scope: &Scope, primed: bool) -> impl Strategy<Value = Expr> + use<> {
    let constant = |value| Just(ExprKind::Constant(value)).boxed();
    let mut leaves = vec![(2, constant(true)), (1, constant(false)), (3, Just(ExprKind::Choice).boxed())];
    if !scope.variables.is_empty() {
        leaves.push((8, select(scope.variables.clone()).prop_map(ExprKind::Variable).boxed()));
        if primed {
            leaves.push((8, select(scope.variables.clone()).prop_map(ExprKind::Primed).boxed()));
        }
    }
    let leaf = Union::new_weighted(leaves).prop_map(expr_of);
    leaf.prop_recursive(3, 4, 2, |inner| {
        let sub = || inner.clone().prop_map(Box::new);
        let binary = (operator(), sub(), sub()).prop_map(|(operator, a, b)| ExprKind::Binary(operator, a, b));
        let compound = prop_oneof![
            3 => sub().prop_map(ExprKind::Not),
            5 => binary,
            1 => (sub(), sub(), sub()).prop_map(|(a, b, c)| ExprKind::IfElse(a, b, c)),
            1 => (sub(), sub()).prop_map(|(a, b)| ExprKind::Schoose(a, b)),
        ];
        prop_oneof![inner.clone(), compound.prop_map(expr_of)]
    })
}

fn operator() -> impl Strategy<Value = Operator> {
    use Operator::{And, Equal, Iff, Implies, NotEqual, Or, Xor};
    select(vec![And, Or, Xor, Equal, NotEqual, Implies, Iff])
}

fn raw_label() -> impl Strategy<Value = Name> {
    any::<RawLabel>().prop_map(|raw| name(raw.to_string()))
}

/// Removes statements from the end, so that at most `left` remain.
fn prune(body: &mut Vec<Statement>, left: &mut usize) {
    body.retain_mut(|statement| {
        let is_kept = *left > 0;
        *left = left.saturating_sub(1);
        for block in nested_blocks(&mut statement.kind) {
            prune(block, left);
        }
        is_kept
    });
}

fn unlabelled(kind: StatementKind) -> Statement {
    Statement::new(StatementId::default(), kind)
}

fn expr_of(kind: ExprKind) -> Expr {
    Expr { kind, at: nowhere() }
}
