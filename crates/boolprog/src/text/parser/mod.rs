//! The parser: recursive descent, for both dialects.
//!
//! In: a text. Out: a syntax tree, diagnostics, and the words that the parser did not understand.
//!
//! After a mistake the parser continues after the next `;`, or at the next bracket (`recovery.rs`).
//! It reports at most one error for each statement, each declaration and each first line of a
//! function. For constructs of C, the error says what to write instead (`c_habits.rs`).

mod c_habits;
mod expression;
mod recovery;
mod statement;
mod top_level;

pub(crate) use c_habits::instead_of_constant;

use super::keywords::{is_constant, is_keyword};
use super::lexer::{Lexeme, Token, is_name, lex};
use crate::syntax::limits::{DEEPEST, LONGEST_NAME, MOST_TOKENS};
use crate::syntax::{At, Dialect, Expr, Name, Program};
use cpds::Source;
use cpds::diagnostic::{Diagnostic, Diagnostics, Span, shortened};
use recovery::OpenBlock;
use std::collections::{BTreeSet, HashSet};

/// A mistake has been reported. The caller skips the rest of the statement.
struct Reported;

type Parsed<T> = Result<T, Reported>;

struct Parser<'a> {
    text: &'a str,
    source: u32,
    lexemes: Vec<Lexeme>,
    at: usize,
    dialect: Dialect,
    /// The first bracket, which determines the dialect.
    dialect_bracket: Option<Span>,
    depth: usize,
    /// The number of statements begun so far.
    statements: u32,
    /// The functions that have a body.
    defined: HashSet<&'a str>,
    /// The blocks around the next token. The innermost one is the last.
    open: Vec<OpenBlock>,
    /// The brackets of the blocks of this function that are closed.
    closed: Vec<(Span, Span)>,
    /// Whether an unclosed block of this function has been reported.
    is_unclosed: bool,
    /// The first token of the current unit: a statement, a declaration or the head of a function.
    unit: usize,
    /// The unit of the last error. It gets no second error.
    reported: Option<usize>,
    /// The words of all units with errors. These units may declare the words as names.
    possibly_declared: BTreeSet<String>,
    /// For each token, whether its word has been added to these.
    is_noted: Vec<bool>,
    diagnostics: &'a mut Diagnostics,
}

/// Parses a text. Returns the syntax tree without the units that have errors, and the words of
/// these units.
pub(crate) fn parse(source: &Source, diagnostics: &mut Diagnostics) -> (Program, BTreeSet<String>) {
    let lexemes = lex(&source.text, 0);
    let text = |lexeme: &Lexeme| &source.text[lexeme.span.start as usize..lexeme.span.end as usize];
    let bracket = lexemes.iter().find(|lexeme| matches!(text(lexeme), "{" | "begin"));
    let dialect = if bracket.is_some_and(|lexeme| text(lexeme) == "begin") { Dialect::Slam } else { Dialect::Paper };
    let dialect_bracket = bracket.map(|lexeme| lexeme.span);
    if lexemes.len() > MOST_TOKENS {
        let last = lexemes[MOST_TOKENS].span;
        diagnostics.error(|| {
            Diagnostic::error("too large a program")
                .at(last, format!("more than {MOST_TOKENS} words and signs"))
                .help("leave out what the property does not depend on")
        });
        return (Program { dialect, variables: Vec::new(), functions: Vec::new() }, BTreeSet::new());
    }
    let lexemes = c_habits::without_directives(&source.text, lexemes, diagnostics);
    let mut parser = Parser { dialect_bracket, ..Parser::new((&source.text, 0), lexemes, dialect, diagnostics) };
    parser.defined = parser.functions_with_a_body();
    parser.program()
}

/// Parses a single expression, such as that of a target.
pub(crate) fn parse_expression(
    text: &str,
    source: u32,
    dialect: Dialect,
    diagnostics: &mut Diagnostics,
) -> Option<Expr> {
    let (lexemes, before) = (lex(text, source), diagnostics.errors());
    let mut parser = Parser::new((text, source), lexemes, dialect, diagnostics);
    let expr = parser.expression().ok()?;
    if parser.peek().is_some() {
        parser.expected("the end of the expression", "write a single expression");
    }
    (diagnostics.errors() == before).then_some(expr)
}

impl<'a> Parser<'a> {
    fn new(
        (text, source): (&'a str, u32),
        lexemes: Vec<Lexeme>,
        dialect: Dialect,
        diagnostics: &'a mut Diagnostics,
    ) -> Self {
        let (possibly_declared, is_noted) = (BTreeSet::new(), vec![false; lexemes.len()]);
        Parser {
            text,
            source,
            lexemes,
            at: 0,
            dialect,
            dialect_bracket: None,
            depth: 0,
            statements: 0,
            defined: HashSet::new(),
            open: Vec::new(),
            closed: Vec::new(),
            is_unclosed: false,
            unit: 0,
            reported: None,
            possibly_declared,
            is_noted,
            diagnostics,
        }
    }

    fn peek(&self) -> Option<Token> {
        self.lexemes.get(self.at).map(|lexeme| lexeme.token)
    }

    fn text_at(&self, index: usize) -> &'a str {
        self.lexemes.get(index).map_or("", |lexeme| self.text_of(lexeme.span))
    }

    fn text_of(&self, span: Span) -> &'a str {
        &self.text[span.start as usize..span.end as usize]
    }

    /// Returns the text of the next token. It is empty at the end.
    fn next_text(&self) -> &'a str {
        self.text_at(self.at)
    }

    /// Returns the place of the next token. At the end, returns the place after the last token.
    fn here(&self) -> Span {
        match self.lexemes.get(self.at) {
            Some(lexeme) => lexeme.span,
            None => self.behind(),
        }
    }

    /// Returns the place of the last token.
    fn last(&self) -> Span {
        let start = Span { source: self.source, start: 0, end: 0 };
        self.at.checked_sub(1).and_then(|last| self.lexemes.get(last)).map_or(start, |lexeme| lexeme.span)
    }

    fn behind(&self) -> Span {
        Span { start: self.last().end, ..self.last() }
    }

    /// Takes the next token if it has this text.
    fn take(&mut self, text: &str) -> Option<Span> {
        if self.next_text() != text {
            return None;
        }
        self.at += 1;
        Some(self.last())
    }

    fn expect(&mut self, text: &str, help: &str) -> Parsed<Span> {
        self.take(text).ok_or_else(|| self.expected(&format!("`{text}`"), help))
    }

    /// Reports that the parser expects `what` here.
    fn expected(&mut self, what: &str, help: &str) -> Reported {
        let found = match self.peek() {
            None => "the end of the text".to_owned(),
            Some(Token::Unknown) if self.next_text().starts_with("/*") => {
                self.is_unclosed = true; // the comment contains the closing brackets
                "a comment without an end".to_owned()
            }
            Some(_) => format!("`{}`", shortened(self.next_text())),
        };
        // A `;` that is missing at the end of a line is reported there, not on the next line.
        let line_ends = self.text[self.last().end as usize..self.here().start as usize].contains('\n');
        let at = if line_ends && what == "`;`" { self.behind() } else { self.here() };
        self.mistake(|| {
            Diagnostic::error(format!("expected {what}, found {found}")).at(at, format!("expected {what}")).help(help)
        })
    }

    /// Reports a mistake, unless the current unit has one already. A second one may be a
    /// consequence of the first.
    fn mistake(&mut self, make: impl FnOnce() -> Diagnostic) -> Reported {
        if self.reported != Some(self.unit) {
            self.reported = Some(self.unit);
            self.diagnostics.error(make);
        }
        Reported
    }

    fn report<T>(&mut self, make: impl FnOnce() -> Diagnostic) -> Parsed<T> {
        Err(self.mistake(make))
    }

    /// Parses one level deeper, up to the limit.
    fn deeper<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == DEEPEST {
            let here = self.here();
            return self.report(|| {
                Diagnostic::error("nested too deeply")
                    .at(here, format!("more than {DEEPEST} levels"))
                    .help("write a part of it as a function, or as a variable")
            });
        }
        self.depth += 1;
        let parsed = parse(self);
        self.depth -= 1;
        parsed
    }

    fn is_constant(&self, word: &str) -> Option<bool> {
        is_constant(word, self.dialect)
    }

    fn name(&mut self, what: &str) -> Parsed<Name> {
        let (span, text) = (self.here(), self.next_text());
        if is_keyword(text) || (self.peek() == Some(Token::Word) && self.is_constant(text).is_some()) {
            return self.report(|| {
                Diagnostic::error(format!("expected {what}, found the keyword `{text}`"))
                    .at(span, "a keyword")
                    .help("choose another name")
            });
        }
        if !is_name(text) {
            return Err(self.expected(what, "a name starts with a letter, `_` or `$`"));
        }
        self.at += 1;
        self.short_enough(text, span)
    }

    fn short_enough(&mut self, text: &str, span: Span) -> Parsed<Name> {
        if text.len() > LONGEST_NAME {
            let length = text.len();
            return self.report(|| {
                Diagnostic::error(format!("a name of {length} bytes"))
                    .at(span, format!("at most {LONGEST_NAME}"))
                    .help("choose a shorter one")
            });
        }
        Ok(Name { text: text.to_owned(), at: At(span) })
    }

    /// Parses a list with at least one item. Commas separate the items.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.take(",").is_some() {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// Parses a list in parentheses. It may be empty.
    fn in_parentheses<T>(&mut self, item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.expect("(", "a list in parentheses comes here; it may be empty")?;
        let items = if self.next_text() == ")" { Vec::new() } else { self.list(item)? };
        self.expect(")", "close the list")?;
        Ok(items)
    }
}
