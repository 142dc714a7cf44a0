//! Error recovery: skips text after a mistake, and finds blocks that are not closed.

use super::{Parsed, Parser, Reported};
use crate::syntax::{At, Dialect, Expr, ExprKind, Statement};
use crate::text::lexer::Token;
use cpds::diagnostic::{Diagnostic, Span};
use std::collections::HashSet;

/// A block that is being parsed.
pub(super) struct OpenBlock {
    /// The words that may end it.
    closers: &'static [&'static str],
}

/// The most tokens that are searched for a closing parenthesis.
const FAR: usize = 1000;

/// Counts the blanks and tabs at the start of the line of this place.
fn indentation(text: &str, place: u32) -> usize {
    let line = &text[text[..place as usize].rfind('\n').map_or(0, |end| end + 1)..];
    line.len() - line.trim_start_matches([' ', '\t']).len()
}

/// Returns whether only blanks and tabs are before this place in its line.
fn starts_line(text: &str, place: u32) -> bool {
    let before = text[..place as usize].trim_end_matches([' ', '\t']);
    before.is_empty() || before.ends_with('\n')
}

impl<'a> Parser<'a> {
    /// Records the words from this token up to the current one as possible names, because the
    /// parser did not understand them.
    pub(super) fn record_possible_names(&mut self, from: usize) {
        for at in from..self.at {
            // Each token once: nested blocks lead here repeatedly.
            if !std::mem::replace(&mut self.is_noted[at], true)
                && matches!(self.lexemes[at].token, Token::Word | Token::Number)
            {
                self.possibly_declared.insert(self.text_at(at).to_owned());
            }
        }
    }

    /// Returns the names of the functions that have a body.
    pub(super) fn functions_with_a_body(&self) -> HashSet<&'a str> {
        let mut defined = HashSet::new();
        // The name before the current list of parameters.
        let mut name = None;
        for at in 0..self.lexemes.len() {
            match self.text_at(at) {
                "(" => {
                    let is_typed = at.checked_sub(2).is_some_and(|type_at| {
                        let before = self.text_at(type_at);
                        matches!(before, ">" | "*") || super::c_habits::is_type(before)
                    });
                    name = at.checked_sub(1).filter(|_| is_typed).map(|at| self.text_at(at));
                }
                ")" => {
                    if let Some(name) = name.take()
                        && matches!(self.text_at(at + 1), "{" | "begin")
                    {
                        defined.insert(name);
                    }
                }
                ";" | "{" | "}" => name = None,
                _ => {}
            }
        }
        defined
    }

    /// Returns whether a function starts here. Inside a function, this means that its end is
    /// missing.
    pub(super) fn starts_function(&self) -> bool {
        self.function_starts_at(self.at)
    }

    fn function_starts_at(&self, at: usize) -> bool {
        let mut name = self.type_end(at);
        if name == at {
            return false;
        }
        if self.text_at(name) == "<" && self.text_at(name + 2) == ">" {
            name += 3;
        }
        self.is_word(name) && self.text_at(name + 1) == "("
    }

    /// Skips to the end of the statement: after the next `;`, or before the next bracket.
    pub(super) fn skip_statement(&mut self) {
        while self.peek().is_some()
            && !matches!(self.next_text(), "{" | "}" | "begin" | "end" | "fi" | "od" | "else" | "elsif")
            && !self.starts_function()
        {
            self.at += 1;
            if self.text_of(self.last()) == ";" {
                return;
            }
        }
    }

    /// Skips a declaration or a function.
    pub(super) fn skip_item(&mut self) {
        let mut depth = 0_usize;
        while self.peek().is_some() && !self.starts_function() {
            match self.next_text() {
                "decl" | "thread_local" | "dfs" | "sync" if depth == 0 => return,
                "{" | "begin" => depth += 1,
                "}" | "end" if depth <= 1 => {
                    self.at += 1;
                    return;
                }
                "}" | "end" => depth -= 1,
                ";" if depth == 0 => {
                    self.at += 1;
                    return;
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    /// Skips to this bracket, if it comes before the end of the statement.
    pub(super) fn skip_to(&mut self, bracket: &str) -> bool {
        let stops = |parser: &Self, at| {
            let text = parser.text_at(at);
            text == bracket
                || matches!(text, ";" | "{" | "}" | "begin" | "end" | "then" | "do" | "decl")
                || parser.function_starts_at(at)
        };
        let found = (self.at..self.lexemes.len()).find(|&at| stops(self, at));
        let found = found.filter(|&at| self.text_at(at) == bracket);
        self.at = found.unwrap_or(self.at);
        found.is_some()
    }

    /// Skips to the token after the parenthesis that closes the one at `open`, if it comes before
    /// the end of the statement.
    fn skip_behind_parenthesis(&mut self, open: usize) -> bool {
        let mut depth = 0_usize;
        for at in (open..self.lexemes.len()).take(FAR) {
            match self.text_at(at) {
                "(" => depth += 1,
                ")" if depth <= 1 => {
                    self.at = at + 1;
                    return true;
                }
                ")" => depth -= 1,
                "{" | "}" | "begin" | "end" | "then" | "do" => return false,
                _ => {}
            }
        }
        false
    }

    /// Skips the list in parentheses that starts here.
    pub(super) fn skip_parentheses(&mut self) {
        let open = self.at;
        if self.next_text() == "(" && self.skip_behind_parenthesis(open) {
            self.record_possible_names(open);
        }
    }

    /// Skips the block in braces that starts here.
    pub(super) fn skip_braces(&mut self) {
        let (before, mut depth) = (self.at, 0_usize);
        while self.peek().is_some() && !self.starts_function() {
            match self.next_text() {
                "{" => depth += 1,
                "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 && self.next_text() != "}" {
                break;
            }
            self.at += 1;
            if depth == 0 {
                break;
            }
        }
        self.record_possible_names(before);
    }

    /// Skips the rest of an expression, and returns an expression in its place.
    pub(super) fn skip_expression(&mut self, start: Span) -> Expr {
        let mut depth = 0_usize;
        while self.peek().is_some() {
            match self.next_text() {
                "(" | "[" => depth += 1,
                ")" | "]" | "," | "?" | ":" if depth == 0 => break,
                ")" | "]" => depth -= 1,
                ";" | ":=" | "{" | "}" | "begin" | "end" | "constrain" | "then" | "do" | "fi" | "od" | "else"
                | "elsif" => break,
                _ => {}
            }
            self.at += 1;
        }
        Expr { kind: ExprKind::Choice, at: At(start.to(self.last())) }
    }

    /// Skips a condition, and returns an expression in its place, so that the block after it is
    /// parsed.
    pub(super) fn skip_condition(&mut self, first: usize) -> Parsed<Expr> {
        let start = self.lexemes.get(first).map_or_else(|| self.behind(), |lexeme| lexeme.span);
        let is_over = match self.dialect {
            Dialect::Paper => (self.text_at(first) == "(" && self.skip_behind_parenthesis(first)) || self.skip_to("{"),
            Dialect::Slam => self.skip_to("then") || self.skip_to("do"),
        };
        self.record_possible_names(first);
        if is_over { Ok(Expr { kind: ExprKind::Choice, at: At(start.to(self.last())) }) } else { Err(Reported) }
    }

    /// Parses the statements of a block, up to one of the closers.
    pub(super) fn inside(&mut self, closers: &'static [&'static str]) -> Vec<Statement> {
        self.open.push(OpenBlock { closers });
        let statements = self.statements();
        self.open.pop();
        statements
    }

    /// Returns whether the innermost block ends here: at its own closer, or at the closer of a
    /// block around it.
    pub(super) fn ends_block(&self) -> bool {
        let text = self.next_text();
        match text {
            "}" | "end" | "fi" | "od" | "else" | "elsif" => {
                self.open.iter().rev().any(|block| block.closers.contains(&text))
            }
            _ => self.peek().is_none() || self.starts_function(),
        }
    }

    /// Parses a block that belongs to no statement, after a mistake.
    pub(super) fn nested(&mut self) -> Vec<Statement> {
        let closers: &[&str] = if self.next_text() == "{" { &["}"] } else { &["end"] };
        let before = self.at;
        let body = self.deeper(|parser| {
            parser.at += 1;
            let opened = parser.last();
            let body = parser.inside(closers);
            parser.close(opened, closers[0]);
            Ok(body)
        });
        self.at = self.at.max(before + 1);
        body.unwrap_or_default()
    }

    /// Takes the closer of a block, or reports which block is not closed.
    pub(super) fn close(&mut self, opened: Span, closer: &str) -> Span {
        if let Some(span) = self.take(closer) {
            self.closed.push((opened, span));
            return span;
        }
        let here = self.here();
        let is_over = self.peek().is_none() || self.starts_function();
        if is_over && std::mem::replace(&mut self.is_unclosed, true) {
            return here; // one report is enough
        }
        // If a closing bracket is further left than the start of its block, it was probably meant
        // to close a block around it.
        let text = self.text;
        let is_odd = |&&(open, close): &&(Span, Span)| {
            starts_line(text, close.start) && indentation(text, close.start) < indentation(text, open.start)
        };
        let odd = self.closed.iter().find(is_odd).filter(|_| is_over);
        let (opened, closer, see, what) = match odd {
            Some(&(opened, bracket)) => {
                let closer = self.text_of(bracket);
                (opened, closer, bracket, format!("this `{closer}` is further left: does it close another block?"))
            }
            None if self.peek().is_none() => (opened, closer, self.behind(), "the text ends here".to_owned()),
            None if is_over => (opened, closer, here, "the next function starts here".to_owned()),
            None => (opened, closer, here, format!("expected `{closer}`")),
        };
        let opening = self.text_of(opened);
        self.unit = self.at;
        self.mistake(|| {
            Diagnostic::error(format!("`{opening}` without `{closer}`"))
                .at(opened, "this block is not closed")
                .see(see, what)
                .help(format!("write `{closer}` where the block ends"))
        });
        here
    }
}
