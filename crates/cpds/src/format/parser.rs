//! The common part of the parsers of both formats: a cursor over the tokens, which reports
//! unexpected tokens.

use super::lex::{Lexeme, Lexer, Token};
use super::syntax::{ActionNode, NameItem, text};
use crate::NotAnAction;
use crate::diagnostic::{Diagnostic, Diagnostics, Source, Span};
use crate::message_text::shortened;
use crate::names::MAX_NAME;

/// A mistake was reported, and the parser has to skip the rest of the statement.
pub(super) struct Reported;

pub(super) type Parsed<T> = Result<T, Reported>;

pub(super) struct Parser<'a> {
    sources: &'a [Source],
    pub(super) lexer: std::iter::Peekable<Lexer<'a>>,
    /// The last token, for messages about the place after it.
    pub(super) last: Span,
    diagnostics: &'a mut Diagnostics,
}

impl<'a> Parser<'a> {
    pub(super) fn new(sources: &'a [Source], source: u32, diagnostics: &'a mut Diagnostics) -> Self {
        let lexer = Lexer::new(source, &sources[source as usize].text).peekable();
        Parser { sources, lexer, last: Span { source, start: 0, end: 0 }, diagnostics }
    }

    /// Returns the next token; `None` at the end, or if there were too many mistakes.
    pub(super) fn peek(&mut self) -> Option<Token> {
        if self.diagnostics.are_many() {
            return None;
        }
        self.lexer.peek().map(|lexeme| lexeme.token)
    }

    pub(super) fn next(&mut self) -> Option<Lexeme> {
        let lexeme = self.lexer.next().filter(|_| !self.diagnostics.are_many())?;
        self.last = lexeme.span;
        Some(lexeme)
    }

    pub(super) fn text(&self, span: Span) -> &'a str {
        text(self.sources, span)
    }

    /// Takes the next token if it is this one.
    pub(super) fn take(&mut self, token: Token) -> Option<Span> {
        if self.peek() == Some(token) { self.next().map(|lexeme| lexeme.span) } else { None }
    }

    pub(super) fn expect(&mut self, token: Token, what: &str, help: &str) -> Parsed<Span> {
        self.take(token).ok_or_else(|| self.expected(what, help))
    }

    /// Reports that `what` was expected here.
    pub(super) fn expected(&mut self, what: &str, help: &str) -> Reported {
        let (span, found) = match self.lexer.peek().copied() {
            Some(Lexeme { token: Token::End, span }) if self.text(span) == "\n" => (span, "end of line".to_owned()),
            Some(Lexeme { span, .. }) => (span, format!("`{}`", shortened(self.text(span)))),
            None => (Span { start: self.last.end, ..self.last }, "end of text".to_owned()),
        };
        // An end has no width and may be on the next line, so the message has the place after the
        // last token.
        let at = if found.starts_with('`') { span } else { Span { start: self.last.end, end: self.last.end, ..span } };
        self.diagnostics.error(|| {
            Diagnostic::error(format!("expected {what}, found {found}")).at(at, format!("expected {what}")).help(help)
        });
        Reported
    }

    /// Reports a mistake in the current statement.
    pub(super) fn report<T>(&mut self, make: impl FnOnce() -> Diagnostic) -> Parsed<T> {
        self.diagnostics.error(make);
        Err(Reported)
    }

    pub(super) fn name(&mut self, what: &str) -> Parsed<Span> {
        let span = self.expect(Token::Name, what, "a name is a word or a number: `main`, `x.1`, `7`")?;
        self.short_enough(span)?;
        Ok(span)
    }

    pub(super) fn short_enough(&mut self, name: Span) -> Parsed<()> {
        let length = self.text(name).len();
        if length <= MAX_NAME {
            return Ok(());
        }
        self.report(|| {
            Diagnostic::error(format!("a name of {length} bytes"))
                .at(name, format!("at most {MAX_NAME}"))
                .help("choose a shorter one")
        })
    }

    pub(super) fn number(&mut self, what: &str) -> Parsed<(u64, Span)> {
        let span = self.expect(Token::Name, what, "write a number")?;
        self.as_number(span, what).map(|number| (number, span))
    }

    pub(super) fn as_number(&mut self, span: Span, what: &str) -> Parsed<u64> {
        let digits = self.text(span);
        if !digits.bytes().all(|b| b.is_ascii_digit()) {
            return self.report(|| {
                Diagnostic::error(format!("expected {what}, found `{}`", shortened(digits)))
                    .at(span, "not a number")
                    .help("write a number")
            });
        }
        digits.parse().or_else(|_| {
            self.report(|| {
                Diagnostic::error(format!("`{}` is too large a number", shortened(digits)))
                    .at(span, "more than 64 bits")
                    .help("write a smaller number")
            })
        })
    }

    /// Reads a number of copies, which is at least 1.
    pub(super) fn at_least_one(&mut self, what: &str) -> Parsed<u64> {
        match self.number(what)? {
            (0, span) => self.report(|| {
                Diagnostic::error("the number of copies is 0")
                    .at(span, "must be at least 1")
                    .help("write a larger number, or remove the item with its number")
            }),
            (number, _) => Ok(number),
        }
    }

    /// Makes a range of the names `low` to `high`, both included.
    pub(super) fn range(&mut self, (low, first): (u64, Span), (high, last): (u64, Span)) -> Parsed<NameItem> {
        let span = first.to(last);
        if low > high {
            return self.report(|| {
                Diagnostic::error("a range that runs backwards")
                    .at(span, "it has no elements")
                    .help(format!("the lower end comes first: {high}, then {low}"))
            });
        }
        Ok(NameItem::Range { low, high, span })
    }

    /// Makes the action (from,read) → (to,written), words top first; or reports why it is not an
    /// action.
    pub(super) fn as_action(
        &mut self,
        span: Span,
        label: Option<Span>,
        (from, read): (Span, &[Span]),
        (to, written): (Span, &[Span]),
    ) -> Parsed<ActionNode> {
        let Some(why) = NotAnAction::because(read.len(), written.len()) else {
            let written = [written.first().copied(), written.get(1).copied()];
            return Ok(ActionNode::new(span, label, (from, read.first().copied()), (to, written)));
        };
        let (word, text, help) = match why {
            NotAnAction::ReadsBelowTop => {
                (read, "only the top of the stack is seen", "name one symbol, or `-` for the empty stack")
            }
            NotAnAction::WritesTooMuch => {
                let help = "push in several actions, through intermediate symbols";
                (written, "at most the callee and its return point", help)
            }
            NotAnAction::PushesTwoOnEmpty => {
                let help = "push the lower symbol first, and the other one from there";
                (written, "there is no symbol to overwrite", help)
            }
        };
        let word = word[0].to(word[word.len() - 1]);
        self.report(|| Diagnostic::error(why.to_string()).at(word, text).help(help))
    }
}
