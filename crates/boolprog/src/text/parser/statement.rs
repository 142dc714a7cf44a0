//! Parses statements.

use super::{Parsed, Parser, Reported};
use crate::syntax::{At, Dialect, Expr, Name, Statement, StatementId, StatementKind, Target};
use crate::text::keywords::{STARTS, is_keyword};
use crate::text::lexer::Token;
use cpds::diagnostic::{Diagnostic, Span, nearest, shortened};
use std::collections::HashSet;

impl Parser<'_> {
    /// Parses the statements of the innermost block, up to its end.
    pub(super) fn statements(&mut self) -> Vec<Statement> {
        let mut found = Vec::new();
        while !self.ends_block() {
            if self.take(";").is_some() {
                continue;
            }
            // The rest of a statement with a mistake that has been reported.
            if !self.diagnostics.is_ok()
                && matches!(self.next_text(), "then" | "do" | "fi" | "od" | "else" | "elsif")
                && (self.next_text(), self.text_at(self.at + 1)) != ("do", "{")
            {
                self.at += 1;
                if matches!(self.next_text(), "{" | "begin") {
                    found.extend(self.nested());
                }
                continue;
            }
            let before = self.at;
            if let Some(statement) = self.statement_if_understood() {
                found.push(statement);
                continue;
            }
            if self.at == before && !matches!(self.next_text(), "{" | "begin") {
                self.at += 1; // no statement starts with this token
                self.record_possible_names(before);
            }
            if matches!(self.next_text(), "{" | "begin") {
                found.extend(self.nested());
            }
        }
        found
    }

    /// Parses a statement. Skips it if it has a mistake.
    fn statement_if_understood(&mut self) -> Option<Statement> {
        let before = self.at;
        self.unit = before;
        let statement = self.statement().ok();
        if statement.is_none() {
            self.skip_statement();
            self.record_possible_names(before);
        }
        statement
    }

    fn statement(&mut self) -> Parsed<Statement> {
        self.deeper(Self::statement_here)
    }

    fn statement_here(&mut self) -> Parsed<Statement> {
        let (first, id) = (self.at, self.next_id());
        let (mut labels, mut seen) = (Vec::new(), HashSet::new());
        while self.text_at(self.at + 1) == ":" && matches!(self.peek(), Some(Token::Word | Token::Number)) {
            let label = self.label()?;
            // SLAM's tools print some labels twice.
            if seen.insert(label.text.clone()) {
                labels.push(label);
            }
            self.at += 1;
        }
        let origin =
            self.lexemes[first..].iter().take(self.at - first + 1).rev().find_map(|lexeme| lexeme.origin.clone());
        let start = self.here();
        if let Some(kind) = self.c_statement()? {
            self.take(";");
            return Ok(Statement { id, labels, kind, at: At(start), origin });
        }
        let (kind, end) = match self.next_text() {
            "if" | "while" | "atomic" => {
                let (kind, head) = self.compound()?;
                self.take(";");
                (kind, head)
            }
            // A label without a statement.
            ";" => {
                self.at += 1;
                (StatementKind::Skip, start)
            }
            "}" | "end" if !labels.is_empty() => {
                return Err(self.expected("a statement after the label", "`skip;` does nothing"));
            }
            _ => {
                let is_async = labels.iter().any(|label| label.text.starts_with("ASYNC_"));
                let kind = self.simple(is_async)?;
                let end = self.last();
                if !self.is_last() {
                    self.expect(";", "a statement ends with `;`")?;
                }
                (kind, end)
            }
        };
        Ok(Statement { id, labels, kind, at: At(start.to(end)), origin })
    }

    /// Assigns the id of the next statement.
    fn next_id(&mut self) -> StatementId {
        let id = StatementId(self.statements);
        self.statements += 1;
        id
    }

    /// Returns whether the statement ends here without a `;`. In SLAM's dialect, `;` separates
    /// statements. So the last statement of a block needs none. (At the end of the text, the end of
    /// a block is missing instead.)
    fn is_last(&self) -> bool {
        let is_end = self.peek().is_none() || matches!(self.next_text(), "fi" | "od" | "end" | "else" | "elsif");
        self.dialect == Dialect::Slam && is_end
    }

    fn label(&mut self) -> Parsed<Name> {
        let (span, text) = (self.here(), self.next_text());
        if self.peek() == Some(Token::Number) {
            self.at += 1;
            return self.short_enough(text, span);
        }
        self.name("a label")
    }

    /// Parses an `if`, `while` or `atomic`. Returns it with the end of its head.
    fn compound(&mut self) -> Parsed<(StatementKind, Span)> {
        match self.next_text() {
            "if" => {
                self.at += 1;
                self.branches()
            }
            "while" => {
                let start = self.here();
                self.at += 1;
                let (condition, head) = self.condition()?;
                let body = match self.dialect {
                    Dialect::Paper => self.block()?,
                    Dialect::Slam => {
                        self.open("do")?;
                        let body = self.inside(&["od"]);
                        self.close(start, "od");
                        body
                    }
                };
                Ok((StatementKind::While { condition, body }, head))
            }
            _ => {
                self.at += 1;
                let head = self.last();
                let (open, closers) = self.brackets();
                let opened = self.open(open)?;
                let body = self.inside(closers);
                let end = At(self.close(opened, closers[0]));
                Ok((StatementKind::Atomic { body, end }, head))
            }
        }
    }

    /// Parses the condition of an `if` or a `while`. Returns it with its end.
    fn condition(&mut self) -> Parsed<(Expr, Span)> {
        let first = self.at;
        let condition = match self.dialect {
            Dialect::Paper => self.condition_in_parentheses(),
            Dialect::Slam => self.expression(),
        };
        let condition = match condition {
            Ok(condition) => condition,
            Err(Reported) => self.skip_condition(first)?,
        };
        Ok((condition, self.last()))
    }

    fn condition_in_parentheses(&mut self) -> Parsed<Expr> {
        let help = "the condition is in parentheses, followed by `{`: this file does not use `then` and `do`";
        self.expect("(", help)?;
        let condition = self.expression()?;
        self.expect(")", "close the condition")?;
        Ok(condition)
    }

    /// Parses the rest of an `if` or `elsif`.
    fn branches(&mut self) -> Parsed<(StatementKind, Span)> {
        let opened = self.last();
        let (condition, head) = self.condition()?;
        let (then, otherwise) = match self.dialect {
            Dialect::Paper => {
                let then = self.block()?;
                (then, if self.take("else").is_some() { self.block()? } else { Vec::new() })
            }
            Dialect::Slam => {
                self.open("then")?;
                let then = self.inside(&["fi", "else", "elsif"]);
                let (start, origin) = (self.here(), self.lexemes.get(self.at).and_then(|lexeme| lexeme.origin.clone()));
                if self.take("elsif").is_some() {
                    let id = self.next_id();
                    let (kind, head) = self.deeper(Self::branches)?;
                    let nested = Statement { id, labels: Vec::new(), kind, at: At(start.to(head)), origin };
                    return Ok((StatementKind::If { condition, then, otherwise: vec![nested] }, head));
                }
                let otherwise = if self.take("else").is_some() { self.inside(&["fi"]) } else { Vec::new() };
                self.close(opened, "fi");
                (then, otherwise)
            }
        };
        Ok((StatementKind::If { condition, then, otherwise }, head))
    }

    /// Parses a block in braces, or a single statement.
    fn block(&mut self) -> Parsed<Vec<Statement>> {
        match self.next_text() {
            "{" => {
                self.at += 1;
                let opened = self.last();
                let body = self.inside(&["}"]);
                self.close(opened, "}");
                Ok(body)
            }
            ";" => {
                self.at += 1;
                Ok(Vec::new())
            }
            "then" | "do" | "begin" => self.open("{").map(|_| Vec::new()),
            _ => Ok(self.statement_if_understood().into_iter().collect()),
        }
    }

    fn simple(&mut self, is_async: bool) -> Parsed<StatementKind> {
        let (word, start) = (self.next_text(), self.here());
        if !is_keyword(word) || word == "call" {
            return self.assignment_or_call(is_async);
        }
        if matches!(word, "dfs" | "sync") {
            return Err(self.refused());
        }
        self.at += 1;
        Ok(match word {
            "skip" => StatementKind::Skip,
            "goto" => StatementKind::Goto(self.list(Self::label)?),
            "assume" => StatementKind::Assume(self.expression()?),
            "abortif" => StatementKind::AbortIf(self.expression()?),
            "assert" => StatementKind::Assert(self.expression()?),
            "return" => {
                let is_empty = self.next_text() == ";" || self.is_last();
                StatementKind::Return(if is_empty { Vec::new() } else { self.list(Self::expression)? })
            }
            "dead" => StatementKind::Dead(self.list(|parser| parser.name("a variable"))?),
            "lock" => StatementKind::Lock(self.lock_name()?),
            "unlock" => StatementKind::Unlock(self.lock_name()?),
            "thread_create" | "create_thread" => {
                self.expect("(", "as in `thread_create(&f)`")?;
                self.take("&");
                let function = self.name("a function")?;
                if self.next_text() == "," {
                    let (here, name) = (self.here(), shortened(&function.text));
                    return self.report(|| {
                        Diagnostic::error(format!("`{word}` passes no arguments"))
                            .at(here, "expected `)`")
                            .help(format!("with arguments, a thread is started like this: `start_thread {name}(x);`"))
                    });
                }
                self.expect(")", "as in `thread_create(&f)`; for arguments: `start_thread f(x)`")?;
                StatementKind::StartThread { function, arguments: Vec::new() }
            }
            "start_thread" => {
                if self.take("goto").is_some() {
                    StatementKind::StartGoto(self.label()?)
                } else {
                    let function = self.name("a function")?;
                    StatementKind::StartThread { function, arguments: self.in_parentheses(Self::expression)? }
                }
            }
            "end_thread" => StatementKind::EndThread,
            "atomic_begin" => StatementKind::AtomicBegin,
            "atomic_end" => StatementKind::AtomicEnd,
            "decl" | "enforce" => {
                return self.report(|| {
                    Diagnostic::error(format!("`{word}` after a statement"))
                        .at(start, "not allowed here")
                        .help("declarations come first in their function")
                });
            }
            _ => {
                self.at -= 1;
                return Err(self.expected("a statement", "docs/boolean-programs.md lists all statements"));
            }
        })
    }

    fn lock_name(&mut self) -> Parsed<Option<Name>> {
        if self.take("(").is_none() {
            return Ok(None);
        }
        if self.take(")").is_some() {
            return Ok(None);
        }
        if self.next_text() == "&" {
            return Err(self.no_pointers("a lock is named without it: `lock(m);`"));
        }
        let name = self.name("the name of a lock")?;
        self.expect(")", "as in `lock(m)`")?;
        Ok(Some(name))
    }

    fn target(&mut self) -> Parsed<Target> {
        match self.take("_") {
            Some(span) => Ok(Target::Nothing(At(span))),
            None => self.name("a variable").map(Target::Variable),
        }
    }

    fn assignment_or_call(&mut self, is_async: bool) -> Parsed<StatementKind> {
        let start = self.here();
        let starts_call = |parser: &Self| {
            parser.next_text() == "call" || (parser.peek() == Some(Token::Word) && parser.text_at(parser.at + 1) == "(")
        };
        if starts_call(self) {
            return self.call(Vec::new(), is_async);
        }
        let targets = self.list(Self::target)?;
        if self.take(":=").is_none() {
            let (word, here) = (self.text_of(start), self.here());
            if self.next_text() == "=" {
                return self.report(|| {
                    Diagnostic::error("expected `:=`, found `=`")
                        .at(here, "compares")
                        .help("an assignment is written `x := e;`")
                });
            }
            if self.is_assigned_as_in_c() {
                return Err(self.c_operator_here());
            }
            let help = match nearest(word, STARTS.into_iter()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "an assignment is written `x := e;`, a call `call f(e);`".to_owned(),
            };
            return Err(self.expected("`:=`", &help));
        }
        if starts_call(self) {
            return self.call(targets, is_async);
        }
        let values = self.list(Self::expression)?;
        let constrain = if self.take("constrain").is_some() { Some(self.expression()?) } else { None };
        Ok(StatementKind::Assign { targets, values, constrain })
    }

    fn call(&mut self, targets: Vec<Target>, is_async: bool) -> Parsed<StatementKind> {
        self.take("call");
        let function = self.name("a function")?;
        if let Some(reported) = self.c_function(&function.text, function.at.0) {
            return Err(reported);
        }
        let arguments = self.in_parentheses(Self::expression)?;
        if self.operator().is_some() || self.next_text() == "?" {
            return Err(self.call_inside(&function));
        }
        if is_async && !targets.is_empty() {
            return self.report(|| {
                Diagnostic::error("a call labelled `ASYNC_…` starts a thread, which has no results")
                    .at(function.at.0, "results are assigned")
                    .help("call it without an assignment, or give it another label")
            });
        }
        if is_async {
            return Ok(StatementKind::StartThread { function, arguments });
        }
        Ok(StatementKind::Call { targets, function, arguments })
    }
}
