//! Statements.

use super::{Parsed, Parser, is_keyword};
use crate::lex::Token;
use crate::syntax::{At, Dialect, Expr, Name, Statement, StatementKind, Target};
use cpds::diagnostic::{Diagnostic, Span, nearest};

/// What a statement can start with.
pub(crate) const STARTS: [&str; 20] = [
    "skip",
    "goto",
    "assume",
    "assert",
    "abortif",
    "call",
    "return",
    "if",
    "while",
    "atomic",
    "lock",
    "unlock",
    "thread_create",
    "create_thread",
    "start_thread",
    "end_thread",
    "atomic_begin",
    "atomic_end",
    "dead",
    "decl",
];

impl Parser<'_> {
    /// Statements up to one of these brackets, which is not taken, or up to the end of the file.
    pub(super) fn statements(&mut self, until: &[&str]) -> Vec<Statement> {
        let mut found = Vec::new();
        while self.peek().is_some() && !until.contains(&self.next_text()) {
            if self.take(";").is_some() {
                continue;
            }
            // What is left of a statement in which a mistake has been reported.
            if !self.diagnostics.is_ok() && matches!(self.next_text(), "then" | "do" | "fi" | "od") {
                self.at += 1;
                continue;
            }
            // A function that was not closed: the next one is not part of it.
            if matches!(self.next_text(), "void" | "bool") {
                break;
            }
            let before = self.at;
            if let Ok(statement) = self.statement() {
                found.push(statement);
                continue;
            }
            if self.at == before && !matches!(self.next_text(), ";" | "}" | "end") {
                self.at += 1;
            }
            self.skip_statement();
            if self.at == before && !until.contains(&self.next_text()) {
                self.at += 1; // a bracket of the other kind
            }
            self.not_understood(before);
        }
        found
    }

    /// Goes on behind the next `;`, or before the next bracket.
    pub(super) fn skip_statement(&mut self) {
        while self.peek().is_some()
            && !matches!(self.next_text(), "}" | "end" | "fi" | "od" | "else" | "elsif" | "void" | "bool")
        {
            self.at += 1;
            if self.text_of(self.last()) == ";" {
                return;
            }
        }
    }

    fn statement(&mut self) -> Parsed<Statement> {
        self.deeper(Self::statement_here)
    }

    fn statement_here(&mut self) -> Parsed<Statement> {
        let first = self.at;
        let mut labels = Vec::new();
        while self.text_at(self.at + 1) == ":" && matches!(self.peek(), Some(Token::Word | Token::Number)) {
            labels.push(self.label()?);
            self.at += 1;
        }
        let origin =
            self.lexemes[first..].iter().take(self.at - first + 1).rev().find_map(|lexeme| lexeme.origin.clone());
        let start = self.here();
        let (kind, end) = match self.next_text() {
            "if" | "while" | "atomic" => {
                let (kind, head) = self.compound()?;
                self.take(";");
                (kind, head)
            }
            // A label alone.
            ";" => {
                self.at += 1;
                (StatementKind::Skip, start)
            }
            "}" | "end" if !labels.is_empty() => {
                return Err(self.expected("a statement behind the label", "`skip;` does nothing"));
            }
            _ => {
                let is_async = labels.iter().any(|label| label.text.starts_with("ASYNC_"));
                let kind = self.simple(is_async)?;
                let end = self.last();
                self.expect(";", "a statement ends with `;`")?;
                (kind, end)
            }
        };
        Ok(Statement { labels, kind, at: At(start.to(end)), origin })
    }

    fn label(&mut self) -> Parsed<Name> {
        let (span, text) = (self.here(), self.next_text());
        if self.peek() == Some(Token::Number) {
            self.at += 1;
            return self.short_enough(text, span);
        }
        self.name("a label")
    }

    /// An `if`, `while` or `atomic`, and the end of its head.
    fn compound(&mut self) -> Parsed<(StatementKind, Span)> {
        match self.next_text() {
            "if" => {
                self.at += 1;
                self.branches()
            }
            "while" => {
                self.at += 1;
                let (condition, head) = self.condition()?;
                let body = match self.dialect {
                    Dialect::Paper => self.block()?,
                    Dialect::Slam => {
                        self.open("do")?;
                        let body = self.statements(&["od"]);
                        self.expect("od", "close the loop")?;
                        body
                    }
                };
                Ok((StatementKind::While { condition, body }, head))
            }
            _ => {
                self.at += 1;
                let head = self.last();
                let close = if self.dialect == Dialect::Paper { "}" } else { "end" };
                self.open(if self.dialect == Dialect::Paper { "{" } else { "begin" })?;
                let body = self.statements(&[close]);
                let end = At(self.expect(close, "close the atomic block")?);
                Ok((StatementKind::Atomic { body, end }, head))
            }
        }
    }

    /// The condition of an `if` or a `while`, and its end.
    fn condition(&mut self) -> Parsed<(Expr, Span)> {
        let condition = match self.dialect {
            Dialect::Paper => {
                let help = "the condition stands in parentheses, and then comes `{`: this file is not written with `then` and `do`";
                self.expect("(", help)?;
                let condition = self.expression()?;
                self.expect(")", "close the condition")?;
                condition
            }
            Dialect::Slam => self.expression()?,
        };
        Ok((condition, self.last()))
    }

    /// What comes after `if` or `elsif`.
    fn branches(&mut self) -> Parsed<(StatementKind, Span)> {
        let (condition, head) = self.condition()?;
        let (then, otherwise) = match self.dialect {
            Dialect::Paper => {
                let then = self.block()?;
                (then, if self.take("else").is_some() { self.block()? } else { Vec::new() })
            }
            Dialect::Slam => {
                self.open("then")?;
                let then = self.statements(&["fi", "else", "elsif"]);
                let (start, origin) = (self.here(), self.lexemes.get(self.at).and_then(|lexeme| lexeme.origin.clone()));
                if self.take("elsif").is_some() {
                    let (kind, head) = self.deeper(Self::branches)?;
                    let nested = Statement { labels: Vec::new(), kind, at: At(start.to(head)), origin };
                    return Ok((StatementKind::If { condition, then, otherwise: vec![nested] }, head));
                }
                let otherwise = if self.take("else").is_some() { self.statements(&["fi"]) } else { Vec::new() };
                self.expect("fi", "close the `if`")?;
                (then, otherwise)
            }
        };
        Ok((StatementKind::If { condition, then, otherwise }, head))
    }

    /// A block in braces, or one statement.
    fn block(&mut self) -> Parsed<Vec<Statement>> {
        match self.next_text() {
            "{" => {
                self.at += 1;
                let body = self.statements(&["}"]);
                self.expect("}", "close the block")?;
                Ok(body)
            }
            ";" => {
                self.at += 1;
                Ok(Vec::new())
            }
            "then" | "do" | "begin" => self.open("{").map(|_| Vec::new()),
            _ => Ok(vec![self.statement()?]),
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
                StatementKind::Return(if self.next_text() == ";" { Vec::new() } else { self.list(Self::expression)? })
            }
            "dead" => StatementKind::Dead(self.list(|parser| parser.name("a variable"))?),
            "lock" => StatementKind::Lock(self.lock_name()?),
            "unlock" => StatementKind::Unlock(self.lock_name()?),
            "thread_create" | "create_thread" => {
                self.expect("(", "as in `thread_create(&f)`")?;
                self.take("&");
                let function = self.name("a function")?;
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
                    Diagnostic::error(format!("`{word}` behind a statement"))
                        .at(start, "too late")
                        .help("declarations stand at the beginning of their function")
                });
            }
            _ => {
                self.at -= 1;
                return Err(self.expected("a statement", "see docs/boolean-programs.md for what there is"));
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
