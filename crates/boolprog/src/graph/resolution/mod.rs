//! Name resolution: builds the graph of a program.
//!
//! In: a syntax tree. Out: a [`Graph`], and diagnostics for all errors.

mod body;

use crate::graph::{Declaration, Formula, FunctionGraph, Graph, Var};
use crate::syntax::limits::MOST_VARIABLES;
use crate::syntax::{Expr, ExprKind, Function, Name, Program, Variable};
use body::Body;
use cpds::diagnostic::{Diagnostic, Diagnostics, Span};
use std::collections::{BTreeMap, BTreeSet};

/// Builds the graph of a program. If this reports an error, the graph has no meaning.
///
/// `possibly_declared` are words of statements that the parser did not understand. Such a statement
/// may declare them, so they are not reported as unknown.
pub(crate) fn resolve(program: &Program, possibly_declared: &BTreeSet<String>, diagnostics: &mut Diagnostics) -> Graph {
    let graph = declare(program);
    let (variables, locks, functions) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
    let mut resolver = Resolver { program, possibly_declared, diagnostics, graph, variables, locks, functions };
    resolver.top_level();
    for (index, function) in program.functions.iter().enumerate() {
        Body::new(&mut resolver, index, function).build();
    }
    resolver.locks_and_variables();
    resolver.graph
}

fn declared(variable: &Variable) -> Declaration {
    Declaration { name: variable.name.text.clone(), value: variable.value }
}

/// Builds the declarations of the graph, without nodes.
fn declare(program: &Program) -> Graph {
    let (thread_locals, shared): (Vec<_>, Vec<_>) =
        program.variables.iter().partition(|variable| variable.is_thread_local);
    let function = |function: &Function| {
        let parameters = function.parameters.iter().map(|name| Declaration { name: name.text.clone(), value: None });
        FunctionGraph {
            name: function.name.text.clone(),
            results: function.results,
            parameters: function.parameters.len(),
            locals: parameters.chain(function.locals.iter().map(declared)).collect(),
            enforce: None,
            entry: 0,
            end: 0,
            labels: Vec::new(),
        }
    };
    Graph {
        shared: shared.into_iter().map(declared).collect(),
        thread_locals: thread_locals.into_iter().map(declared).collect(),
        locks: Vec::new(),
        functions: program.functions.iter().map(function).collect(),
        nodes: Vec::new(),
    }
}

struct Resolver<'a> {
    program: &'a Program,
    /// Words of statements that the parser did not understand.
    possibly_declared: &'a BTreeSet<String>,
    diagnostics: &'a mut Diagnostics,
    graph: Graph,
    /// The variables that are declared at the top level.
    variables: BTreeMap<&'a str, Var>,
    /// The numbers of the locks found so far.
    locks: BTreeMap<String, usize>,
    functions: BTreeMap<&'a str, usize>,
}

/// Reports names that occur more than once. `says` makes the message.
fn distinct<'a>(
    names: impl Iterator<Item = &'a Name>,
    says: impl Fn(&str) -> String,
    help: &str,
    diagnostics: &mut Diagnostics,
) {
    let mut seen: BTreeMap<&str, Span> = BTreeMap::new();
    for name in names {
        if let Some(first) = seen.insert(&name.text, name.at.0) {
            diagnostics.error(|| {
                Diagnostic::error(says(&name.text)).at(name.at.0, "again").see(first, "here first").help(help)
            });
        }
    }
}

/// Reports names that are declared more than once.
fn declared_once<'a>(what: &str, names: impl Iterator<Item = &'a Name>, diagnostics: &mut Diagnostics) {
    let says = |name: &str| format!("{what} `{name}` is declared twice");
    distinct(names, says, "remove or rename one of them", diagnostics);
}

impl Resolver<'_> {
    fn top_level(&mut self) {
        let Program { variables, functions, .. } = self.program;
        declared_once("variable", variables.iter().map(|variable| &variable.name), self.diagnostics);
        declared_once("function", functions.iter().map(|function| &function.name), self.diagnostics);
        self.functions = functions.iter().enumerate().map(|(i, function)| (function.name.text.as_str(), i)).collect();
        let (mut shared, mut local) = (0.., 0..);
        for Variable { name, is_thread_local, .. } in variables {
            let number = if *is_thread_local { local.next().map(Var::Local) } else { shared.next().map(Var::Shared) };
            self.variables.insert(name.text.as_str(), number.expect("there is always another number"));
        }
        for (what, is_thread_local) in [("shared", false), ("thread-local", true)] {
            let mut of_kind = variables.iter().filter(|variable| variable.is_thread_local == is_thread_local);
            if let Some(variable) = of_kind.nth(MOST_VARIABLES) {
                self.diagnostics.error(|| {
                    Diagnostic::error(format!("more than {MOST_VARIABLES} {what} variables"))
                        .at(variable.name.at.0, "beyond the limit")
                        .help("leave out variables that the property does not depend on")
                });
            }
        }
    }

    fn locks_and_variables(&mut self) {
        let mut variables: BTreeMap<&str, &Variable> = BTreeMap::new();
        for variable in &self.program.variables {
            variables.entry(&variable.name.text).or_insert(variable);
        }
        for lock in &self.graph.locks {
            if let Some(variable) = variables.get(lock.as_str()) {
                self.diagnostics.warning(|| {
                    Diagnostic::warning(format!("`{lock}` is a variable and a lock"))
                        .at(variable.name.at.0, "locking neither reads nor changes this variable")
                        .help("give one of them another name to avoid confusion")
                });
            }
        }
    }
}

/// Resolves an expression. `look_up` resolves a variable, and gets whether it is primed. It has
/// reported the error if it returns `None`.
pub(crate) fn formula(expr: &Expr, look_up: &mut impl FnMut(&Name, bool) -> Option<Formula>) -> Formula {
    let mut inner = |expr: &Expr| Box::new(formula(expr, look_up));
    match &expr.kind {
        ExprKind::Constant(value) => Formula::Constant(*value),
        ExprKind::Choice => Formula::Choice,
        ExprKind::Not(a) => Formula::Not(inner(a)),
        ExprKind::Binary(operator, a, b) => Formula::Binary(*operator, inner(a), inner(b)),
        ExprKind::IfElse(a, b, c) => Formula::IfElse(inner(a), inner(b), inner(c)),
        ExprKind::Schoose(a, b) => Formula::Schoose(inner(a), inner(b)),
        ExprKind::Variable(name) => look_up(name, false).unwrap_or(Formula::Choice),
        ExprKind::Primed(name) => look_up(name, true).unwrap_or(Formula::Choice),
    }
}
