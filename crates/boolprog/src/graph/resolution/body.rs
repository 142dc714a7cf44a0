//! Builds the nodes of a function from its statements.

use super::{Resolver, declared_once, distinct, formula};
use crate::graph::{Formula, Node, Step, Var};
use crate::syntax::limits::{MOST_LOCKS, MOST_VARIABLES};
use crate::syntax::{Expr, Function, Name, Operator, Origin, Statement, StatementId, StatementKind, Target, balanced};
use crate::text::{STARTS, instead_of_constant};
use cpds::diagnostic::{Diagnostic, Diagnostics, Span, nearest};
use std::collections::{BTreeMap, BTreeSet};

/// The function that is being built.
pub(super) struct Body<'c, 'a> {
    resolver: &'c mut Resolver<'a>,
    index: usize,
    function: &'a Function,
    /// Parameters and local variables.
    variables: BTreeMap<&'a str, Var>,
    /// The node and the place of each label. It is complete when all statements are built.
    labels: BTreeMap<&'a str, (usize, Span)>,
    /// The jumps: nodes, and the labels that they lead to. They are resolved at the end.
    jumps: Vec<(usize, &'a [Name])>,
    /// The `atomic` blocks around the current statement.
    blocks: Vec<usize>,
}

/// The place of a statement in the text, and its origin.
#[derive(Clone)]
struct Place {
    statement: Option<StatementId>,
    span: Span,
    origin: Option<Origin>,
}

impl<'c, 'a> Body<'c, 'a> {
    pub(super) fn new(resolver: &'c mut Resolver<'a>, index: usize, function: &'a Function) -> Self {
        let names = || function.parameters.iter().chain(function.locals.iter().map(|variable| &variable.name));
        declared_once("variable", names(), resolver.diagnostics);
        let first = resolver.graph.thread_locals.len();
        let variables = names().zip(first..).map(|(name, number)| (name.text.as_str(), Var::Local(number))).collect();
        if names().count() > MOST_VARIABLES {
            let span = function.name.at.0;
            resolver.diagnostics.error(|| {
                Diagnostic::error(format!("function `{}` has more than {MOST_VARIABLES} variables", function.name.text))
                    .at(span, "parameters included")
                    .help("split it, or leave out what the property does not depend on")
            });
        }
        Body { resolver, index, function, variables, labels: BTreeMap::new(), jumps: Vec::new(), blocks: Vec::new() }
    }

    fn error(&mut self, make: impl FnOnce() -> Diagnostic) {
        self.resolver.diagnostics.error(make);
    }

    pub(super) fn build(mut self) {
        let function = self.function;
        let enforce = function.enforce.iter().map(|expr| self.formula(expr, None));
        let enforce: Vec<_> = enforce.collect();
        self.resolver.graph.functions[self.index].enforce =
            balanced(enforce, |a, b| Formula::Binary(Operator::And, Box::new(a), Box::new(b)));
        let end = Place { statement: None, span: function.end.0, origin: None };
        let end = self.node(Step::Return(vec![Formula::Choice; function.results]), 0, &end);
        let entry = self.statements(&function.body, end);
        self.resolver.graph.functions[self.index].entry = entry;
        self.resolver.graph.functions[self.index].end = end;
        for (node, names) in std::mem::take(&mut self.jumps) {
            self.jump(node, names);
        }
        let labels = self.labels.iter().map(|(label, &(node, _))| ((*label).to_owned(), node)).collect();
        self.resolver.graph.functions[self.index].labels = labels;
        if function.results > 0 && self.resolver.diagnostics.is_ok() && self.resolver.graph.reach(entry).contains(&end)
        {
            self.resolver.diagnostics.warning(|| {
                Diagnostic::warning(format!("the end of `{}` is reached without a `return`", function.name.text))
                    .at(function.end.0, "returns any value")
                    .help("add a `return`")
            });
        }
    }

    fn node(&mut self, step: Step, next: usize, place: &Place) -> usize {
        let Place { statement, span, origin } = place.clone();
        let nodes = &mut self.resolver.graph.nodes;
        nodes.push(Node { function: self.index, step, next, blocks: self.blocks.clone(), statement, span, origin });
        nodes.len() - 1
    }

    /// Builds statements from the last to the first. Returns the node of the first one.
    fn statements(&mut self, statements: &'a [Statement], after: usize) -> usize {
        statements.iter().rev().fold(after, |next, statement| self.statement(statement, next))
    }

    fn statement(&mut self, statement: &'a Statement, next: usize) -> usize {
        let place = Place { statement: Some(statement.id), span: statement.at.0, origin: statement.origin.clone() };
        let node = self.kind(&statement.kind, next, &place);
        for label in &statement.labels {
            if let Some((_, first)) = self.labels.insert(&label.text, (node, label.at.0)) {
                self.error(|| {
                    Diagnostic::error(format!("label `{}` occurs twice in one function", label.text))
                        .at(label.at.0, "here")
                        .see(first, "and here")
                        .help("rename one of them")
                });
            }
        }
        node
    }

    fn kind(&mut self, kind: &'a StatementKind, next: usize, place: &Place) -> usize {
        let step = match kind {
            StatementKind::Skip => Step::Skip,
            StatementKind::Assume(expr) => Step::Assume(self.formula(expr, None)),
            StatementKind::AbortIf(expr) => Step::Assume(Formula::Not(Box::new(self.formula(expr, None)))),
            StatementKind::Assert(expr) => Step::Assert(self.formula(expr, None)),
            StatementKind::Goto(labels) => {
                let node = self.node(Step::Goto(Vec::new()), next, place);
                self.jumps.push((node, labels));
                return node;
            }
            StatementKind::StartGoto(label) => {
                let node = self.node(Step::StartAt(0, label.text.clone()), next, place);
                self.jumps.push((node, std::slice::from_ref(label)));
                return node;
            }
            StatementKind::Assign { targets, values, constrain } => {
                self.assign(targets, values, constrain.as_ref(), place)
            }
            StatementKind::Dead(names) => {
                distinct_targets(names.iter(), self.resolver.diagnostics);
                let targets: Vec<_> = names.iter().map(|name| self.variable(name)).collect();
                Step::Assign { values: vec![Formula::Choice; targets.len()], targets, constrain: None }
            }
            StatementKind::Call { targets, function, arguments } => {
                return self.call(targets, function, arguments, next, place);
            }
            StatementKind::StartThread { function, arguments } => {
                let arguments = self.formulas(arguments);
                let function = self.callee(function, arguments.len());
                Step::Start { function: function.unwrap_or(0), arguments }
            }
            StatementKind::Return(values) => {
                let before = self.resolver.diagnostics.errors();
                let formulas = self.formulas(values);
                let (found, wanted) = (formulas.len(), self.function.results);
                let is_clear = !self.resolver.possibly_declared.contains(&self.function.name.text)
                    && before == self.resolver.diagnostics.errors();
                if found != wanted && is_clear {
                    let name = &self.function.name;
                    self.resolver.diagnostics.error(|| {
                        Diagnostic::error(format!("`{}` has {}, not {found}", name.text, counted(wanted, "result")))
                            .at(place.span, format!("{} returned here", counted(found, "value")))
                            .see(name.at.0, "declared here")
                            .help(if wanted == 0 {
                                "a `void` function returns nothing".to_owned()
                            } else {
                                format!("return {}", counted(wanted, "value"))
                            })
                    });
                }
                Step::Return(formulas)
            }
            StatementKind::Lock(name) => Step::Lock(self.lock(name.as_ref(), place)),
            StatementKind::Unlock(name) => Step::Unlock(self.lock(name.as_ref(), place)),
            StatementKind::EndThread => Step::EndThread,
            StatementKind::AtomicBegin => Step::AtomicBegin,
            StatementKind::AtomicEnd => Step::AtomicEnd,
            StatementKind::If { condition, then, otherwise } => {
                let condition = self.formula(condition, None);
                let otherwise = self.statements(otherwise, next);
                let then = self.statements(then, next);
                Step::Branch(condition, then, otherwise)
            }
            StatementKind::While { condition, body } => {
                let condition = self.formula(condition, None);
                let head = self.node(Step::Skip, next, place);
                let body = self.statements(body, head);
                self.resolver.graph.nodes[head].step = Step::Branch(condition, body, next);
                return head;
            }
            StatementKind::Atomic { body, end } => {
                let leave = self.resolver.graph.nodes.len();
                self.blocks.push(leave);
                self.node(Step::Leave, next, &Place { span: end.0, origin: None, ..*place });
                let body = self.statements(body, leave);
                self.blocks.pop();
                return self.node(Step::Enter(leave), body, place);
            }
        };
        self.node(step, next, place)
    }

    fn assign(
        &mut self,
        targets: &'a [Target],
        values: &'a [Expr],
        constrain: Option<&'a Expr>,
        place: &Place,
    ) -> Step {
        if targets.len() != values.len() {
            let (left, right) = (counted(targets.len(), "variable"), counted(values.len(), "value"));
            self.error(|| {
                Diagnostic::error(format!("an assignment of {right} to {left}"))
                    .at(place.span, "as many on the right as on the left")
                    .help("use `_` for a value that is not wanted, `*` for any value")
            });
        }
        let targets = self.targets(targets);
        let values = self.formulas(values);
        let constrain = constrain.map(|expr| self.formula(expr, Some(&targets)));
        Step::Assign { targets, values, constrain }
    }

    fn targets(&mut self, targets: &'a [Target]) -> Vec<Option<Var>> {
        let name = |target: &'a Target| match target {
            Target::Variable(name) => Some(name),
            Target::Nothing(_) => None,
        };
        distinct_targets(targets.iter().filter_map(name), self.resolver.diagnostics);
        targets.iter().map(|target| name(target).and_then(|name| self.variable(name))).collect()
    }

    fn call(
        &mut self,
        targets: &'a [Target],
        function: &'a Name,
        arguments: &'a [Expr],
        next: usize,
        place: &Place,
    ) -> usize {
        let arguments = self.formulas(arguments);
        let callee = self.callee(function, arguments.len());
        if let Some(callee) = callee.map(|callee| &self.resolver.program.functions[callee])
            && !targets.is_empty()
            && targets.len() != callee.results
            && !self.resolver.possibly_declared.contains(&callee.name.text)
        {
            let results = counted(callee.results, "result");
            let help = match callee.results {
                0 => format!("call it without an assignment: `call {}(…);`", callee.name.text),
                _ => "use `_` for a result that is not wanted".to_owned(),
            };
            let found = counted(targets.len(), "variable");
            let see = callee.name.at.0;
            self.error(|| {
                Diagnostic::error(format!("`{}` has {results}", function.text))
                    .at(place.span, format!("assigned to {found}"))
                    .see(see, "declared here")
                    .help(help)
            });
        }
        let targets = self.targets(targets);
        let thread_locals = self.resolver.graph.thread_locals.len();
        let is_seen = |target: &Option<Var>| match target {
            Some(Var::Shared(_)) => true,
            Some(Var::Local(number)) => *number < thread_locals,
            None => false,
        };
        let is_step = targets.iter().any(is_seen) || !self.function.enforce.is_empty();
        let assign = is_step.then(|| self.node(Step::Results { targets: targets.clone() }, next, place));
        let returned = self.node(Step::Await { targets, assign }, next, place);
        self.node(Step::Call { function: callee.unwrap_or(0), arguments, returned }, next, place)
    }

    /// Returns the function with this name, if it has this number of parameters.
    fn callee(&mut self, name: &'a Name, arguments: usize) -> Option<usize> {
        let Some(&index) = self.resolver.functions.get(name.text.as_str()) else {
            if self.resolver.possibly_declared.contains(&name.text) {
                return None;
            }
            let known = self.resolver.functions.keys().copied().chain(STARTS);
            let help = match nearest(&name.text, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("define it: `void {}() …`", name.text),
            };
            self.error(|| {
                Diagnostic::error(format!("unknown function `{}`", name.text)).at(name.at.0, "not defined").help(help)
            });
            return None;
        };
        let callee = &self.resolver.program.functions[index];
        let wanted = callee.parameters.len();
        if wanted != arguments && self.resolver.possibly_declared.contains(&name.text) {
            return None;
        }
        if wanted != arguments {
            self.error(|| {
                Diagnostic::error(format!("`{}` takes {}", name.text, counted(wanted, "argument")))
                    .at(name.at.0, format!("called with {arguments}"))
                    .see(callee.name.at.0, "declared here")
                    .help("pass one value for each parameter; `*` is any value")
            });
            return None;
        }
        Some(index)
    }

    fn lock(&mut self, name: Option<&Name>, place: &Place) -> usize {
        let name = name.map_or("lock", |name| &name.text);
        if let Some(&lock) = self.resolver.locks.get(name) {
            return lock;
        }
        let lock = self.resolver.graph.locks.len();
        if lock == MOST_LOCKS {
            self.error(|| {
                Diagnostic::error(format!("more than {MOST_LOCKS} locks"))
                    .at(place.span, "beyond the limit")
                    .help("use fewer")
            });
            return 0;
        }
        self.resolver.locks.insert(name.to_owned(), lock);
        self.resolver.graph.locks.push(name.to_owned());
        lock
    }

    /// Resolves the labels of a node.
    fn jump(&mut self, node: usize, names: &'a [Name]) {
        let mut nodes = Vec::new();
        for name in names {
            let Some(&(target, span)) = self.labels.get(name.text.as_str()) else {
                if self.resolver.possibly_declared.contains(&name.text) {
                    continue;
                }
                let elsewhere =
                    self.resolver.program.functions.iter().find(|function| has_label(&function.body, &name.text));
                let help = match (nearest(&name.text, self.labels.keys().copied()), elsewhere) {
                    (_, Some(function)) => {
                        format!("it is a label of `{}`, and a jump stays in its function", function.name.text)
                    }
                    (Some(near), None) => format!("did you mean `{near}`?"),
                    (None, None) => format!("write `{}:` before a statement of this function", name.text),
                };
                self.error(|| {
                    Diagnostic::error(format!("unknown label `{}`", name.text))
                        .at(name.at.0, "not in this function")
                        .help(help)
                });
                continue;
            };
            let graph = &self.resolver.graph;
            let is_start = matches!(graph.nodes[node].step, Step::StartAt(..));
            let (from, to) = (&graph.nodes[node].blocks, &graph.nodes[target].blocks);
            if to.iter().any(|block| is_start || !from.contains(block)) {
                self.error(|| {
                    Diagnostic::error(format!("`{}` is inside an atomic block", name.text))
                        .at(name.at.0, "from outside")
                        .see(span, "inside")
                        .help("put the label before the block")
                });
            }
            nodes.push(target);
        }
        let step = &mut self.resolver.graph.nodes[node].step;
        match step {
            Step::StartAt(target, _) => *target = nodes.first().copied().unwrap_or(0),
            _ => *step = Step::Goto(nodes),
        }
    }

    fn variable(&mut self, name: &Name) -> Option<Var> {
        let global = || self.resolver.variables.get(name.text.as_str());
        let found = self.variables.get(name.text.as_str()).or_else(global).copied();
        let constant = instead_of_constant(&name.text);
        if found.is_none() && (constant.is_some() || !self.resolver.possibly_declared.contains(&name.text)) {
            let help = match (constant, nearest(&name.text, self.known_variables())) {
                (Some(constant), _) => constant.to_owned(),
                (None, None) if matches!(name.text.as_str(), "T" | "F") => {
                    "in a file that is written with `{ … }`, the constants are `0` and `1`".to_owned()
                }
                (None, Some(near)) => format!("did you mean `{near}`?"),
                (None, None) => format!("declare it: `decl {};`", name.text),
            };
            self.error(|| {
                Diagnostic::error(format!("undeclared variable `{}`", name.text))
                    .at(name.at.0, "not declared")
                    .help(help)
            });
        }
        found
    }

    /// Returns the variables that are visible here, in the order of their names.
    fn known_variables(&self) -> impl Iterator<Item = &'a str> {
        let names: BTreeSet<&str> = self.resolver.variables.keys().chain(self.variables.keys()).copied().collect();
        names.into_iter()
    }

    fn formulas(&mut self, exprs: &[Expr]) -> Vec<Formula> {
        exprs.iter().map(|expr| self.formula(expr, None)).collect()
    }

    /// Resolves an expression. Primed variables are allowed only after `constrain`, where `targets`
    /// are given.
    fn formula(&mut self, expr: &Expr, targets: Option<&[Option<Var>]>) -> Formula {
        formula(expr, &mut |name, is_primed| {
            let Some(targets) = targets.filter(|_| is_primed) else {
                if is_primed {
                    self.error(|| {
                        Diagnostic::error(format!("`'{}` outside of `constrain`", name.text))
                            .at(name.at.0, "there is no assignment here")
                            .help(format!("for the value now, write `{}`", name.text))
                    });
                    return None;
                }
                return self.variable(name).map(Formula::Variable);
            };
            let variable = self.variable(name)?;
            // A variable that is not assigned keeps its value.
            Some(if targets.contains(&Some(variable)) {
                Formula::Primed(variable)
            } else {
                Formula::Variable(variable)
            })
        })
    }
}

fn distinct_targets<'a>(names: impl Iterator<Item = &'a Name>, diagnostics: &mut Diagnostics) {
    let says = |name: &str| format!("`{name}` is assigned twice in one statement");
    distinct(names, says, "use `_` for a value that is not wanted", diagnostics);
}

fn has_label(statements: &[Statement], label: &str) -> bool {
    statements.iter().any(|statement| {
        statement.labels.iter().any(|name| name.text == label)
            || match &statement.kind {
                StatementKind::If { then, otherwise, .. } => has_label(then, label) || has_label(otherwise, label),
                StatementKind::While { body, .. } | StatementKind::Atomic { body, .. } => has_label(body, label),
                _ => false,
            }
    })
}

/// Formats a number with its noun: `1 result`, `2 results`, `no results`.
fn counted(number: usize, what: &str) -> String {
    match number {
        0 => format!("no {what}s"),
        1 => format!("1 {what}"),
        more => format!("{more} {what}s"),
    }
}
