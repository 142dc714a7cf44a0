//! Random Boolean programs. They are valid, and they shrink towards fewer functions and to fewer
//! and simpler statements.
//!
//! The programs have every kind of node of the syntax tree, in both dialects. Spellings that give
//! the same tree are for tests of the parser. The nodes have no positions in a text: to run a
//! program, print it and parse the text.

mod labels;
mod statements;

use boolprog::syntax::{At, Dialect, Function, Name, Program, Variable};
use cpds::diagnostic::Span;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use statements::{Callable, Scope, body, expr};
use std::ops::RangeInclusive;

/// The shape of random programs.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each construct with or without, in any combination")]
pub struct ProgramShape {
    /// The dialect; `None` for any.
    pub dialect: Option<Dialect>,
    /// The number of shared variables.
    pub shared: RangeInclusive<usize>,
    /// The number of thread-local variables.
    pub thread_locals: RangeInclusive<usize>,
    /// The number of functions besides `main`.
    pub functions: RangeInclusive<usize>,
    /// The number of results of a function; `main` has none.
    pub results: RangeInclusive<usize>,
    /// The number of parameters of a function; `main` has none.
    pub parameters: RangeInclusive<usize>,
    /// The number of other variables of a function.
    pub locals: RangeInclusive<usize>,
    /// The largest number of statements of a function, with nested statements.
    pub statements: usize,
    /// The largest depth of nested statements.
    pub depth: u32,
    /// Whether programs have calls.
    pub calls: bool,
    /// Whether programs create threads. The number of threads may be unlimited.
    pub creation: bool,
    /// Whether `main` may have no other statements than those that start functions. It needs
    /// `creation`.
    pub starting_main: bool,
    /// Whether programs have locks.
    pub locks: bool,
    /// Whether programs have atomic sections.
    pub atomic: bool,
    /// Whether programs have `enforce`.
    pub enforce: bool,
    /// Whether programs have `assert`.
    pub asserts: bool,
    /// Whether programs have `goto`.
    pub gotos: bool,
}

impl Default for ProgramShape {
    /// A very small program that may have every construct.
    fn default() -> Self {
        ProgramShape {
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

/// Generates a program of this shape, with functions `f0`, `f1`, …, and `main`.
pub fn program(shape: &ProgramShape) -> impl Strategy<Value = Program> + use<> {
    let shape = shape.clone();
    let dialect = shape.dialect.map_or(select(vec![Dialect::Paper, Dialect::Slam]).boxed(), |d| Just(d).boxed());
    let functions = vec(signature(&shape), shape.functions.clone());
    let main = signature(&ProgramShape { results: 0..=0, parameters: 0..=0, ..shape.clone() });
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

/// A function before it has a body.
#[derive(Clone, Debug)]
struct Signature {
    results: usize,
    parameters: usize,
    locals: Vec<Option<bool>>,
    /// Whether its first variable has the name of a shared one.
    hides: bool,
}

fn signature(shape: &ProgramShape) -> impl Strategy<Value = Signature> + use<> {
    let locals = vec(value(), shape.locals.clone());
    (shape.results.clone(), shape.parameters.clone(), locals, prop::bool::weighted(0.2))
        .prop_map(|(results, parameters, locals, hides)| Signature { results, parameters, locals, hides })
}

fn callable((i, signature): (usize, &Signature)) -> Callable {
    Callable { name: name(format!("f{i}")), results: signature.results, parameters: signature.parameters }
}

/// Generates the initial value of a variable; `None` for any value.
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
    shape: &ProgramShape,
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

/// Returns the position of all nodes: the nodes have no text.
fn nowhere() -> At {
    At(Span { source: 0, start: 0, end: 0 })
}

fn name(text: String) -> Name {
    Name { text, at: nowhere() }
}

fn variable(text: String, value: Option<bool>) -> Variable {
    Variable { name: name(text), is_thread_local: false, value }
}
