//! Checks that a syntax tree that was built in code has the properties that the grammar ensures for
//! a parsed tree.
//!
//! Then the tree can be printed. It has no positions before that, so these diagnostics have none.
//! All other checks come after printing, and their diagnostics have positions in the printed text.

use super::keywords::{is_constant, is_keyword};
use super::lexer::is_name;
use crate::syntax::limits::{DEEPEST, LONGEST_NAME, MOST_VARIABLES};
use crate::syntax::{Dialect, Expr, ExprKind, Function, Name, Program, Statement, StatementKind};
use cpds::diagnostic::{Diagnostic, Diagnostics, is_printable, shortened};

/// The greatest depth of an expression. Recursive functions walk over it.
const DEEPEST_EXPRESSION: usize = 1000;

/// The most statements, expressions and names of a program.
const MOST_PARTS: usize = 1 << 22;

/// Checks a tree, and reports all errors.
pub(crate) fn check_built_tree(program: &Program, diagnostics: &mut Diagnostics) {
    let mut tree_checker = TreeChecker { dialect: program.dialect, function: None, count: 0, diagnostics };
    for variable in &program.variables {
        tree_checker.check_name(&variable.name);
    }
    for function in &program.functions {
        tree_checker.function(function);
    }
}

struct TreeChecker<'c> {
    dialect: Dialect,
    /// The current function.
    function: Option<&'c str>,
    /// The number of statements, expressions and names so far.
    count: usize,
    diagnostics: &'c mut Diagnostics,
}

impl<'c> TreeChecker<'c> {
    fn error(&mut self, what: &str, help: &str) {
        let place = self.function.map_or(String::new(), |function| format!("function `{}`: ", shortened(function)));
        self.diagnostics.error(|| Diagnostic::error(format!("{place}{what}")).help(help));
    }

    /// Adds to the count. Returns whether it is within the limit.
    fn count_parts(&mut self, more: usize) -> bool {
        let before = self.count;
        self.count = before.saturating_add(more);
        if before <= MOST_PARTS && self.count > MOST_PARTS {
            let what = format!("too large a program: more than {MOST_PARTS} statements, expressions and names");
            self.error(&what, "leave out what the property does not depend on");
        }
        self.count <= MOST_PARTS
    }

    /// Checks a name that is declared.
    fn check_name(&mut self, Name { text, .. }: &Name) {
        let name = shortened(text);
        if is_keyword(text) || is_constant(text, self.dialect).is_some() {
            self.error(&format!("the keyword `{name}` as a name"), "choose another name");
        } else if !is_name(text) {
            let help = "a name starts with a letter, `_` or `$`, and continues with these, digits and `.`";
            self.error(&format!("`{name}` is not a name"), help);
        } else if text.len() > LONGEST_NAME {
            let help = format!("at most {LONGEST_NAME}: choose a shorter one");
            self.error(&format!("a name of {} bytes", text.len()), &help);
        }
    }

    fn label(&mut self, label: &Name) {
        let is_number = !label.text.is_empty() && label.text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number || label.text.len() > LONGEST_NAME {
            self.check_name(label);
        }
    }

    fn function(&mut self, function: &'c Function) {
        self.function = None;
        self.check_name(&function.name);
        self.function = Some(&function.name.text);
        if function.results > MOST_VARIABLES {
            self.error(&format!("{} results", function.results), &format!("at most {MOST_VARIABLES}"));
        }
        function.parameters.iter().for_each(|name| self.check_name(name));
        for variable in &function.locals {
            self.check_name(&variable.name);
            if variable.is_thread_local {
                self.error("a thread-local variable inside a function", "declare it at the top level of the program");
            }
        }
        self.expressions(&function.enforce);
        // Without recursion, since the nesting may be deeper than the limit.
        let mut left: Vec<(&Statement, usize)> = function.body.iter().map(|statement| (statement, 1)).collect();
        while let Some((statement, depth)) = left.pop() {
            if !self.count_parts(1 + statement.labels.len()) {
                return;
            }
            if depth > DEEPEST {
                let help = "write a part of it as a function";
                return self.error(&format!("statements nested more than {DEEPEST} levels deep"), help);
            }
            self.statement(statement);
            let within: [&[Statement]; 2] = match &statement.kind {
                StatementKind::If { then, otherwise, .. } => [then, otherwise],
                StatementKind::While { body, .. } | StatementKind::Atomic { body, .. } => [body, &[]],
                _ => [&[], &[]],
            };
            left.extend(within.into_iter().flatten().map(|statement| (statement, depth + 1)));
        }
    }

    /// Checks a statement, without the statements inside it.
    fn statement(&mut self, statement: &Statement) {
        statement.labels.iter().for_each(|label| self.label(label));
        if statement.origin.as_ref().is_some_and(|origin| !origin.file.chars().all(is_printable)) {
            self.error("the name of a file with a character that cannot be shown", "leave it out");
        }
        let is_empty = match &statement.kind {
            StatementKind::Goto(names) | StatementKind::Dead(names) => {
                self.count_parts(names.len());
                names.is_empty()
            }
            StatementKind::Assign { targets, values, constrain } => {
                self.count_parts(targets.len());
                self.expressions(values);
                self.expressions(constrain.as_slice());
                targets.is_empty() || values.is_empty()
            }
            StatementKind::Assume(expr) | StatementKind::AbortIf(expr) | StatementKind::Assert(expr) => {
                self.expression(expr);
                false
            }
            StatementKind::Call { targets, arguments, .. } => {
                self.count_parts(targets.len());
                self.expressions(arguments);
                if statement.labels.iter().any(|label| label.text.starts_with("ASYNC_")) {
                    self.error("a call labelled `ASYNC_…`", "start a thread, or give the call another label");
                }
                false
            }
            StatementKind::StartThread { arguments: exprs, .. } | StatementKind::Return(exprs) => {
                self.expressions(exprs);
                false
            }
            StatementKind::If { condition, .. } | StatementKind::While { condition, .. } => {
                self.expression(condition);
                false
            }
            StatementKind::Lock(name) | StatementKind::Unlock(name) => {
                if let Some(name) = name {
                    self.check_name(name);
                }
                false
            }
            StatementKind::Skip
            | StatementKind::StartGoto(_)
            | StatementKind::EndThread
            | StatementKind::AtomicBegin
            | StatementKind::AtomicEnd
            | StatementKind::Atomic { .. } => false,
        };
        if is_empty {
            self.error("an assignment, `goto` or `dead` without a target", "leave it out, or name one");
        }
    }

    fn expressions(&mut self, exprs: &[Expr]) {
        for expr in exprs {
            self.expression(expr);
        }
    }

    fn expression(&mut self, expr: &Expr) {
        let mut left = vec![(expr, 1)];
        while let Some((expr, depth)) = left.pop() {
            if !self.count_parts(1) {
                return;
            }
            if depth > DEEPEST_EXPRESSION {
                let help = "assign a part of it to a variable first; build long ones with `Expr::all` and `Expr::any`";
                return self.error(&format!("an expression that is more than {DEEPEST_EXPRESSION} levels deep"), help);
            }
            let parts: [Option<&Expr>; 3] = match &expr.kind {
                ExprKind::Constant(_) | ExprKind::Choice | ExprKind::Variable(_) | ExprKind::Primed(_) => [None; 3],
                ExprKind::Not(a) => [Some(a), None, None],
                ExprKind::Binary(_, a, b) | ExprKind::Schoose(a, b) => [Some(a), Some(b), None],
                ExprKind::IfElse(a, b, c) => [Some(a), Some(b), Some(c)],
            };
            left.extend(parts.into_iter().flatten().map(|part| (part, depth + 1)));
        }
    }
}
