//! Random Boolean programs that are valid and shrink: towards fewer functions, fewer and simpler
//! statements.
//!
//! Every node of the syntax tree comes up, in both dialects (other ways to write the same are for
//! tests of the parser). Nothing stands anywhere: all places are the same. To run a program, print
//! it and read it again.

use boolprog::syntax::{
    At, Dialect, Expr, ExprKind, Function, Name, Operator, Program, Statement, StatementId, StatementKind, Target,
    Variable,
};
use cpds::diagnostic::Span;
use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Union;
use std::ops::RangeInclusive;

/// What the programs should look like.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each construct with or without, in any combination")]
pub struct Shape {
    /// How they are written; nothing: either way.
    pub dialect: Option<Dialect>,
    /// How many shared variables.
    pub shared: RangeInclusive<usize>,
    /// How many thread-local variables.
    pub thread_locals: RangeInclusive<usize>,
    /// How many functions besides `main`.
    pub functions: RangeInclusive<usize>,
    /// How many results of a function; `main` has none.
    pub results: RangeInclusive<usize>,
    /// How many parameters of a function; `main` has none.
    pub parameters: RangeInclusive<usize>,
    /// How many other variables of a function.
    pub locals: RangeInclusive<usize>,
    /// How many statements a function has at most, those within others included.
    pub statements: usize,
    /// How deep statements are within others, at most.
    pub depth: u32,
    /// Whether there are calls.
    pub calls: bool,
    /// Whether threads are created. Nothing keeps them from being created without end.
    pub creation: bool,
    /// Whether `main` may do nothing but start functions, where threads are created.
    pub starting_main: bool,
    /// Whether there are locks.
    pub locks: bool,
    /// Whether there are atomic sections.
    pub atomic: bool,
    /// Whether there is `enforce`.
    pub enforce: bool,
    /// Whether there is `assert`.
    pub asserts: bool,
    /// Whether there is `goto`.
    pub gotos: bool,
}

impl Default for Shape {
    /// Tiny, and with a little of everything.
    fn default() -> Self {
        Shape {
            dialect: None,
            shared: 1..=2,
            thread_locals: 0..=1,
            functions: 1..=2,
            results: 0..=2,
            parameters: 0..=1,
            locals: 0..=1,
            statements: 10,
            depth: 2,
            calls: true,
            creation: true,
            starting_main: true,
            locks: true,
            atomic: true,
            enforce: true,
            asserts: true,
            gotos: true,
        }
    }
}

/// A program of this shape: functions `f0`, `f1`, …, and `main`.
pub fn program(shape: &Shape) -> impl Strategy<Value = Program> + use<> {
    let shape = shape.clone();
    let dialect = shape.dialect.map_or(select(vec![Dialect::Paper, Dialect::Slam]).boxed(), |d| Just(d).boxed());
    let functions = vec(signature(&shape), shape.functions.clone());
    let main = signature(&Shape { results: 0..=0, parameters: 0..=0, ..shape.clone() });
    let (shared, thread_locals) = (vec(value(), shape.shared.clone()), vec(value(), shape.thread_locals.clone()));
    (dialect, any::<bool>(), shared, thread_locals, functions, main).prop_flat_map(
        move |(dialect, odd, shared, thread_locals, mut signatures, main)| {
            signatures.push(main);
            let shared = shared.iter().enumerate().map(|(i, &value)| variable(shared_name(i, odd, dialect), value));
            let thread_locals = thread_locals
                .iter()
                .enumerate()
                .map(|(i, &value)| Variable { is_thread_local: true, ..variable(format!("t{i}"), value) });
            let variables: Vec<Variable> = thread_locals.chain(shared).collect();
            let callable: Vec<Callable> = signatures[..signatures.len() - 1].iter().enumerate().map(callable).collect();
            let functions: Vec<_> = signatures
                .iter()
                .enumerate()
                .map(|(i, signature)| function(&shape, &variables, &callable, i, signature))
                .collect();
            functions.prop_map(move |functions| Program { dialect, variables: variables.clone(), functions })
        },
    )
}

/// What is known of a function before it has a body.
#[derive(Clone, Debug)]
struct Signature {
    results: usize,
    parameters: usize,
    locals: Vec<Option<bool>>,
    /// Whether its first variable has the name of a shared one.
    hides: bool,
}

/// What is known of a function where it is called.
#[derive(Clone, Debug)]
struct Callable {
    name: Name,
    results: usize,
    parameters: usize,
}

/// What a statement can speak about.
#[derive(Clone, Debug)]
struct Scope {
    shape: Shape,
    variables: Vec<Name>,
    functions: Vec<Callable>,
    results: usize,
}

/// A label before it is known what can be labelled: a number, modulo how many statements there are
/// to choose from.
type RawLabel = u8;

fn signature(shape: &Shape) -> impl Strategy<Value = Signature> + use<> {
    let locals = vec(value(), shape.locals.clone());
    (shape.results.clone(), shape.parameters.clone(), locals, prop::bool::weighted(0.2))
        .prop_map(|(results, parameters, locals, hides)| Signature { results, parameters, locals, hides })
}

fn callable((i, signature): (usize, &Signature)) -> Callable {
    Callable { name: name(format!("f{i}")), results: signature.results, parameters: signature.parameters }
}

/// What a variable starts with.
fn value() -> impl Strategy<Value = Option<bool>> {
    prop_oneof![3 => Just(Some(false)), 1 => Just(Some(true)), 1 => Just(None)]
}

fn shared_name(i: usize, odd: bool, dialect: Dialect) -> String {
    let odd_names = if dialect == Dialect::Paper { ["T", "F"] } else { ["$s.0", "_s"] };
    match odd_names.get(i) {
        Some(name) if odd => (*name).to_string(),
        _ => format!("s{i}"),
    }
}

fn function(
    shape: &Shape,
    variables: &[Variable],
    functions: &[Callable],
    i: usize,
    signature: &Signature,
) -> impl Strategy<Value = Function> + use<> {
    let mut parameters: Vec<Name> = (0..signature.parameters).map(|i| name(format!("p{i}"))).collect();
    let locals = signature.locals.iter().enumerate();
    let mut locals: Vec<Variable> = locals.map(|(i, &value)| variable(format!("x{i}"), value)).collect();
    let hidden = variables.last().filter(|_| signature.hides).map(|variable| &variable.name);
    let first = parameters.first_mut().or(locals.first_mut().map(|variable| &mut variable.name));
    if let (Some(first), Some(hidden)) = (first, hidden) {
        first.clone_from(hidden);
    }
    let mut visible: Vec<Name> = parameters.clone();
    visible.extend(locals.iter().map(|variable| variable.name.clone()));
    let others = variables.iter().map(|variable| &variable.name).filter(|name| !visible.contains(name));
    let visible = others.cloned().chain(visible.iter().cloned()).collect();

    let (is_main, results) = (i == functions.len(), signature.results);
    let name = functions.get(i).map_or(name("main".to_string()), |function| function.name.clone());
    let scope = Scope { shape: shape.clone(), variables: visible, functions: functions.to_vec(), results };
    let enforce = u32::from(shape.enforce);
    let enforce = prop_oneof![4 => Just(Vec::new()), enforce => vec(expr(&scope, false), 1..=2)];
    (body(&scope, is_main), enforce).prop_map(move |(body, enforce)| Function {
        name: name.clone(),
        results,
        parameters: parameters.clone(),
        locals: locals.clone(),
        enforce,
        body,
        end: nowhere(),
    })
}

fn body(scope: &Scope, is_main: bool) -> impl Strategy<Value = Vec<Statement>> + use<> {
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

/// A statement, or a few that belong together.
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

/// A block between two statements.
fn around(
    pair: impl Strategy<Value = (StatementKind, StatementKind)> + 'static,
    block: impl Strategy<Value = Vec<Statement>> + 'static,
) -> BoxedStrategy<Vec<Statement>> {
    let join = |((before, after), block)| [vec![unlabelled(before)], block, vec![unlabelled(after)]].concat();
    (pair, block).prop_map(join).boxed()
}

/// A statement, rarely with a label that nobody goes to.
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
    parts.prop_map(|(function, mut targets, mut arguments, is_unwanted)| {
        // Results that nobody wants need no targets.
        targets.truncate(if is_unwanted { 0 } else { function.results });
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

/// How many are enough for each function.
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

/// A variable that comes again becomes `_`.
fn distinct_targets(targets: Vec<Target>) -> Vec<Target> {
    let mut distinct: Vec<Target> = Vec::new();
    for target in targets {
        distinct.push(if distinct.contains(&target) { Target::Nothing(nowhere()) } else { target });
    }
    distinct
}

/// Locks have names of their own: this one may also be a variable's.
fn lock() -> impl Strategy<Value = Option<Name>> {
    of(select(vec!["m0", "s0"])).prop_map(|lock| lock.map(|lock| name(lock.to_string())))
}

/// An expression; with `'x` or without.
fn expr(scope: &Scope, primed: bool) -> impl Strategy<Value = Expr> + use<> {
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

/// Leaves this many statements.
fn prune(body: &mut Vec<Statement>, left: &mut usize) {
    body.retain_mut(|statement| {
        let keep = *left > 0;
        *left = left.saturating_sub(1);
        for block in blocks(&mut statement.kind) {
            prune(block, left);
        }
        keep
    });
}

/// The statements within a statement.
fn blocks(kind: &mut StatementKind) -> Vec<&mut Vec<Statement>> {
    match kind {
        StatementKind::If { then, otherwise, .. } => vec![then, otherwise],
        StatementKind::While { body, .. } | StatementKind::Atomic { body, .. } => vec![body],
        _ => Vec::new(),
    }
}

/// Makes labels of raw labels, and puts them where they belong: outside of all atomic blocks that
/// are not around the `goto`.
fn settle_labels(body: &mut [Statement]) {
    let mut around = Vec::new();
    visit(body, &mut |_, blocks| around.push(blocks.to_vec()));
    let mut used = vec![false; around.len()];
    let mut settle = |label: &mut Name, blocks: &[usize]| {
        let allowed: Vec<usize> = (0..around.len()).filter(|&i| blocks.starts_with(&around[i])).collect();
        let raw: RawLabel = label.text.parse().expect("a raw label");
        let target = allowed[usize::from(raw) % allowed.len()];
        used[target] = true;
        label.text = label_of(target);
    };
    visit(body, &mut |statement, blocks| match &mut statement.kind {
        StatementKind::Goto(labels) => {
            for label in labels.iter_mut() {
                settle(label, blocks);
            }
            *labels = distinct(std::mem::take(labels));
        }
        // A new thread is in no section.
        StatementKind::StartGoto(label) => settle(label, &[]),
        _ => {}
    });
    let mut i = 0;
    visit(body, &mut |statement, _| {
        statement.labels.iter_mut().for_each(|label| label.text = format!("unused{i}"));
        if used[i] {
            statement.labels.push(name(label_of(i)));
        }
        i += 1;
    });
}

/// The label of a statement of a function; sometimes a number.
fn label_of(statement: usize) -> String {
    if statement % 3 == 2 { statement.to_string() } else { format!("L{statement}") }
}

/// Every statement, in order, with the numbers of the atomic blocks around it.
fn visit(body: &mut [Statement], f: &mut impl FnMut(&mut Statement, &[usize])) {
    visit_from(body, &mut 0, &mut Vec::new(), f);
}

fn visit_from(
    body: &mut [Statement],
    count: &mut usize,
    around: &mut Vec<usize>,
    f: &mut impl FnMut(&mut Statement, &[usize]),
) {
    for statement in body {
        f(statement, around);
        let number = *count;
        *count += 1;
        let is_atomic = matches!(statement.kind, StatementKind::Atomic { .. });
        around.extend(is_atomic.then_some(number));
        for block in blocks(&mut statement.kind) {
            visit_from(block, count, around, f);
        }
        around.truncate(around.len() - usize::from(is_atomic));
    }
}

fn distinct(names: Vec<Name>) -> Vec<Name> {
    let mut distinct: Vec<Name> = Vec::new();
    for name in names {
        if !distinct.contains(&name) {
            distinct.push(name);
        }
    }
    distinct
}

fn nowhere() -> At {
    At(Span { source: 0, start: 0, end: 0 })
}

fn name(text: String) -> Name {
    Name { text, at: nowhere() }
}

fn variable(text: String, value: Option<bool>) -> Variable {
    Variable { name: name(text), is_thread_local: false, value }
}

fn unlabelled(kind: StatementKind) -> Statement {
    Statement::new(StatementId::default(), kind)
}

fn expr_of(kind: ExprKind) -> Expr {
    Expr { kind, at: nowhere() }
}
