//! Parses the top level of a program: declarations and functions.

use super::{Parsed, Parser, Reported};
use crate::syntax::limits::MOST_VARIABLES;
use crate::syntax::{At, Dialect, Expr, Function, Name, Program, Variable};
use cpds::diagnostic::{Diagnostic, Span};
use std::collections::BTreeSet;

impl Parser<'_> {
    pub(super) fn program(mut self) -> (Program, BTreeSet<String>) {
        let mut program = Program { dialect: self.dialect, variables: Vec::new(), functions: Vec::new() };
        // Of several units in a row that do not belong here, only the first is reported.
        let mut is_stray = false;
        while self.peek().is_some() {
            let before = self.at;
            self.unit = before;
            let (parsed, was_stray) = match self.next_text() {
                "decl" | "thread_local" => (self.declaration(true, &mut program.variables), false),
                ";" => {
                    self.at += 1;
                    (Ok(()), is_stray)
                }
                "dfs" | "sync" => (Err(self.refused()), false),
                _ if self.starts_typed() => (Err(self.typed_variable("declare it: ")), true),
                word if self.starts_function() || matches!(word, "void" | "bool") => {
                    let function = self.function();
                    let is_stray = function.is_err();
                    (function.map(|function| program.functions.push(function)), is_stray)
                }
                _ if is_stray => (Err(Reported), true),
                _ => {
                    let help = "variables: `decl x;`, functions: `void f() { … }`";
                    (Err(self.expected("a declaration or a function", help)), true)
                }
            };
            is_stray = was_stray;
            if parsed.is_err() {
                self.at = self.at.max(before + 1);
                self.skip_item();
                self.record_possible_names(before);
            }
        }
        (program, self.possibly_declared)
    }

    /// Reports a keyword of other tools that is not supported.
    pub(super) fn refused(&mut self) -> Reported {
        let (word, here) = (self.next_text(), self.here());
        self.mistake(|| {
            Diagnostic::error(format!("`{word}` is not supported"))
                .at(here, "its meaning for concurrent programs is not published")
                .help("leave it out, if this does not change the meaning of the program")
        })
    }

    /// Parses a declaration: `decl x, y = 0;`.
    fn declaration(&mut self, is_top: bool, variables: &mut Vec<Variable>) -> Parsed<()> {
        let mut thread_local = None;
        while let "decl" | "thread_local" = self.next_text() {
            self.at += 1;
            if self.text_of(self.last()) == "thread_local" {
                thread_local = Some(self.last());
            }
        }
        if let (Some(span), false) = (thread_local, is_top) {
            return self.report(|| {
                Diagnostic::error("a thread-local variable inside a function")
                    .at(span, "each call has its own variables")
                    .help("declare it before the functions, or without `thread_local`")
            });
        }
        let is_thread_local = thread_local.is_some();
        let declared = self.list(|parser| {
            if parser.starts_typed() {
                return Err(parser.typed_variable("leave the type out: "));
            }
            let name = parser.name("a variable")?;
            let value =
                if parser.take("=").or_else(|| parser.take(":=")).is_some() { parser.initial_value()? } else { None };
            if parser.next_text() == "[" {
                return Err(parser.c_operator_here());
            }
            Ok(Variable { name, is_thread_local, value })
        })?;
        variables.extend(declared);
        self.expect(";", "a declaration ends with `;`")?;
        Ok(())
    }

    fn initial_value(&mut self) -> Parsed<Option<bool>> {
        let text = self.next_text();
        let value = if text == "*" { None } else { self.is_constant(text) };
        if value.is_none() && text != "*" {
            return Err(
                self.expected("a constant", "`0`, `1`, or `*` for any value; assign any other value in a statement")
            );
        }
        self.at += 1;
        Ok(value)
    }

    fn function(&mut self) -> Parsed<Function> {
        (self.closed, self.is_unclosed) = (Vec::new(), false);
        let head = self.head();
        let (open, closers) = self.brackets();
        // The mistakes in the body are reported also if the head has a mistake.
        let opened = match &head {
            Ok(_) => self.open(open)?,
            Err(Reported) if self.skip_to(open) => self.open(open)?,
            Err(Reported) => return Err(Reported),
        };
        let (mut locals, mut enforce) = (Vec::new(), Vec::new());
        loop {
            let before = self.at;
            self.unit = before;
            let parsed = match self.next_text() {
                "decl" | "thread_local" => self.declaration(false, &mut locals),
                "enforce" => self.enforced().map(|expr| enforce.push(expr)),
                _ if self.starts_typed() && !self.starts_function() => Err(self.typed_variable("declare it: ")),
                _ => break,
            };
            if parsed.is_err() {
                self.skip_statement();
                self.record_possible_names(before);
            }
        }
        let body = self.inside(closers);
        let end = At(self.close(opened, closers[0]));
        let (name, results, parameters) = head?;
        Ok(Function { name, results, parameters, locals, enforce, body, end })
    }

    /// Parses the head of a function: name, number of results, and parameters.
    fn head(&mut self) -> Parsed<(Name, usize, Vec<Name>)> {
        self.check_has_body()?;
        let results = self.results()?;
        let name = self.name("the name of a function")?;
        let parameters = self.parameters()?;
        if self.reported == Some(self.unit) {
            self.possibly_declared.insert(name.text.clone());
        }
        Ok((name, results, parameters))
    }

    pub(super) fn number_of_results(&mut self) -> Parsed<usize> {
        let number = self.next_text().parse().ok().filter(|number| (1..=MOST_VARIABLES).contains(number));
        let Some(number) = number else {
            let help = format!("from 1 to {MOST_VARIABLES}; a function without results is `void`");
            return Err(self.expected("a number of results", &help));
        };
        self.at += 1;
        self.expect(">", "as in `bool<2>`")?;
        Ok(number)
    }

    fn enforced(&mut self) -> Parsed<Expr> {
        self.at += 1;
        let expr = self.expression()?;
        self.expect(";", "an `enforce` ends with `;`")?;
        Ok(expr)
    }

    /// Returns the bracket that opens a block in this dialect, and those that close it.
    pub(super) fn brackets(&self) -> (&'static str, &'static [&'static str]) {
        match self.dialect {
            Dialect::Paper => ("{", &["}"]),
            Dialect::Slam => ("begin", &["end"]),
        }
    }

    /// Takes a bracket that opens a block. Reports that of the other dialect.
    pub(super) fn open(&mut self, bracket: &str) -> Parsed<Span> {
        let (here, other) = (self.here(), self.next_text());
        if other != bracket
            && matches!(other, "{" | "begin" | "then" | "do")
            && let Some(dialect_bracket) = self.dialect_bracket
        {
            return self.report(|| {
                Diagnostic::error(format!("expected `{bracket}`, found `{other}`"))
                    .at(here, "of the other dialect")
                    .see(dialect_bracket, "this file uses this dialect")
                    .help("use one dialect in a file: `{ … }` or `begin … end`")
            });
        }
        self.expect(bracket, "a block starts here")
    }
}
