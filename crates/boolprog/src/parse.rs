//! From tokens to a syntax tree: recursive descent, for both dialects. After a mistake it goes on behind the next `;` or bracket.

mod expression;
mod statement;

pub(crate) use statement::STARTS;

use crate::lex::{Lexeme, MOST_TOKENS, Token, is_name, lex};
use crate::syntax::{At, Dialect, Expr, Function, Name, Program, Variable};
use cpds::diagnostic::{Diagnostic, Diagnostics, Span, shortened};
use cpds::{MAX_NAME, Source};
use std::collections::BTreeSet;

/// A mistake that has been reported; the rest of the statement is to be skipped.
struct Reported;

type Parsed<T> = Result<T, Reported>;

/// The other keywords.
const OTHERS: [&str; 18] = [
    "thread_local",
    "void",
    "bool",
    "constrain",
    "then",
    "elsif",
    "else",
    "fi",
    "do",
    "od",
    "enforce",
    "schoose",
    "begin",
    "end",
    "true",
    "false",
    "dfs",
    "sync",
];

/// What nobody can be called.
fn is_keyword(word: &str) -> bool {
    STARTS.contains(&word) || OTHERS.contains(&word)
}

/// How deep blocks and expressions may be nested.
const DEEPEST: usize = 250;

struct Parser<'a> {
    text: &'a str,
    source: u32,
    lexemes: Vec<Lexeme>,
    at: usize,
    dialect: Dialect,
    /// The first bracket, which tells the dialect.
    told_by: Option<Span>,
    depth: usize,
    /// Words of what was not understood: they may have been declared there.
    unclear: BTreeSet<String>,
    /// The tokens whose words are among them.
    is_noted: Vec<bool>,
    diagnostics: &'a mut Diagnostics,
}

/// The syntax tree of a text; if there are mistakes, without what they are in, and the words of that.
pub(crate) fn parse(source: &Source, diagnostics: &mut Diagnostics) -> (Program, BTreeSet<String>) {
    let lexemes = lex(&source.text, 0);
    let text = |lexeme: &Lexeme| &source.text[lexeme.span.start as usize..lexeme.span.end as usize];
    let bracket = lexemes.iter().find(|lexeme| matches!(text(lexeme), "{" | "begin"));
    let dialect = if bracket.is_some_and(|lexeme| text(lexeme) == "begin") { Dialect::Slam } else { Dialect::Paper };
    let told_by = bracket.map(|lexeme| lexeme.span);
    if lexemes.len() > MOST_TOKENS {
        let last = lexemes[MOST_TOKENS].span;
        diagnostics.error(|| {
            Diagnostic::error("too large a program")
                .at(last, format!("more than {MOST_TOKENS} words and signs"))
                .help("leave out what the property does not depend on")
        });
        return (Program { dialect, variables: Vec::new(), functions: Vec::new() }, BTreeSet::new());
    }
    Parser { told_by, ..Parser::new((&source.text, 0), lexemes, dialect, diagnostics) }.program()
}

/// An expression that stands alone, for an option such as `--target`.
pub(crate) fn parse_expression(
    text: &str,
    source: u32,
    dialect: Dialect,
    diagnostics: &mut Diagnostics,
) -> Option<Expr> {
    let lexemes = lex(text, source);
    let mut parser = Parser::new((text, source), lexemes, dialect, diagnostics);
    let expr = parser.expression().ok()?;
    if parser.peek().is_some() {
        parser.expected("the end of the expression", "one expression is enough");
        return None;
    }
    Some(expr)
}

impl<'a> Parser<'a> {
    fn new(
        (text, source): (&'a str, u32),
        lexemes: Vec<Lexeme>,
        dialect: Dialect,
        diagnostics: &'a mut Diagnostics,
    ) -> Self {
        let (unclear, is_noted) = (BTreeSet::new(), vec![false; lexemes.len()]);
        Parser { text, source, lexemes, at: 0, dialect, told_by: None, depth: 0, unclear, is_noted, diagnostics }
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

    /// The next token's text; nothing at the end.
    fn next_text(&self) -> &'a str {
        self.text_at(self.at)
    }

    /// Where the next token stands; at the end, behind the last one.
    fn here(&self) -> Span {
        match self.lexemes.get(self.at) {
            Some(lexeme) => lexeme.span,
            None => self.behind(),
        }
    }

    /// Where the last token stands.
    fn last(&self) -> Span {
        let start = Span { source: self.source, start: 0, end: 0 };
        self.at.checked_sub(1).and_then(|last| self.lexemes.get(last)).map_or(start, |lexeme| lexeme.span)
    }

    fn behind(&self) -> Span {
        Span { start: self.last().end, ..self.last() }
    }

    /// Takes the next token if it is this keyword or sign.
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

    /// Reports that something else was expected here.
    fn expected(&mut self, what: &str, help: &str) -> Reported {
        let found = match self.peek() {
            None => "the end of the text".to_owned(),
            Some(Token::Unknown) if self.next_text().starts_with("/*") => "a comment without an end".to_owned(),
            Some(_) => format!("`{}`", shortened(self.next_text())),
        };
        // What is missing at the end of a line is missing there, not where the next line starts.
        let line_ends = self.text[self.last().end as usize..self.here().start as usize].contains('\n');
        let at = if line_ends && what == "`;`" { self.behind() } else { self.here() };
        self.diagnostics.error(|| {
            Diagnostic::error(format!("expected {what}, found {found}")).at(at, format!("expected {what}")).help(help)
        });
        Reported
    }

    fn report<T>(&mut self, make: impl FnOnce() -> Diagnostic) -> Parsed<T> {
        self.diagnostics.error(make);
        Err(Reported)
    }

    /// One level further down, if that is not too deep.
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
        match (word, self.dialect) {
            ("0" | "false", _) | ("F", Dialect::Slam) => Some(false),
            ("1" | "true", _) | ("T", Dialect::Slam) => Some(true),
            _ => None,
        }
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
        const LONGEST: usize = MAX_NAME / 2;
        if text.len() > LONGEST {
            let length = text.len();
            return self.report(|| {
                Diagnostic::error(format!("a name of {length} bytes"))
                    .at(span, format!("at most {LONGEST}"))
                    .help("choose a shorter one")
            });
        }
        Ok(Name { text: text.to_owned(), at: At(span) })
    }

    /// One or more, separated by commas.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = vec![item(self)?];
        while self.take(",").is_some() {
            items.push(item(self)?);
        }
        Ok(items)
    }

    /// A list in parentheses, which may be empty.
    fn in_parentheses<T>(&mut self, item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.expect("(", "a list in parentheses comes here; it may be empty")?;
        let items = if self.next_text() == ")" { Vec::new() } else { self.list(item)? };
        self.expect(")", "close the list")?;
        Ok(items)
    }

    /// Notes the words from this token on: a mistake was among them.
    fn not_understood(&mut self, from: usize) {
        for at in from..self.at {
            // Once each: blocks within blocks come here again and again.
            if !std::mem::replace(&mut self.is_noted[at], true)
                && matches!(self.lexemes[at].token, Token::Word | Token::Number)
            {
                self.unclear.insert(self.text_at(at).to_owned());
            }
        }
    }

    fn program(mut self) -> (Program, BTreeSet<String>) {
        let mut program = Program { dialect: self.dialect, variables: Vec::new(), functions: Vec::new() };
        while self.peek().is_some() {
            let before = self.at;
            let parsed =
                match self.next_text() {
                    "decl" | "thread_local" => self.declaration(true, &mut program.variables),
                    "void" | "bool" => self.function().map(|function| program.functions.push(function)),
                    ";" => {
                        self.at += 1;
                        Ok(())
                    }
                    "dfs" | "sync" => Err(self.refused()),
                    _ => Err(self
                        .expected("a declaration or a function", "variables: `decl x;`, functions: `void f() { … }`")),
                };
            if parsed.is_err() {
                self.at = self.at.max(before + 1);
                while self.peek().is_some()
                    && !matches!(self.next_text(), "decl" | "thread_local" | "void" | "bool" | "dfs" | "sync")
                {
                    self.at += 1;
                }
                self.not_understood(before);
            }
        }
        (program, self.unclear)
    }

    /// Refuses a keyword that has no meaning here.
    fn refused(&mut self) -> Reported {
        let (word, here) = (self.next_text(), self.here());
        self.diagnostics.error(|| {
            Diagnostic::error(format!("`{word}` is not supported"))
                .at(here, "no published text says what it means for concurrent programs")
                .help("leave it out, if the program means the same without it")
        });
        Reported
    }

    /// `decl x, y = 0;`
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
                    .at(span, "every call has its own variables anyway")
                    .help("declare it before the functions, or without `thread_local`")
            });
        }
        let is_thread_local = thread_local.is_some();
        let declared = self.list(|parser| {
            let name = parser.name("a variable")?;
            let value =
                if parser.take("=").or_else(|| parser.take(":=")).is_some() { parser.initial_value()? } else { None };
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
                self.expected("a constant", "`0`, `1`, or `*` for any value; assign anything else in the program")
            );
        }
        self.at += 1;
        Ok(value)
    }

    fn function(&mut self) -> Parsed<Function> {
        let results = if self.take("void").is_some() {
            0
        } else {
            self.expect("bool", "a function starts with `void` or `bool`")?;
            if self.take("<").is_some() { self.number_of_results()? } else { 1 }
        };
        let name = self.name("the name of a function")?;
        if matches!(self.next_text(), ";" | "," | "=" | ":=") {
            let span = name.at.0;
            return self.report(|| {
                Diagnostic::error("expected a function")
                    .at(span, "a variable?")
                    .help(format!("variables are declared with `decl {};`", name.text))
            });
        }
        let parameters = self.in_parentheses(|parser| parser.name("a parameter"))?;
        let (open, close) = match self.dialect {
            Dialect::Paper => ("{", "}"),
            Dialect::Slam => ("begin", "end"),
        };
        self.open(open)?;
        let (mut locals, mut enforce) = (Vec::new(), Vec::new());
        loop {
            let before = self.at;
            let parsed = match self.next_text() {
                "decl" | "thread_local" => self.declaration(false, &mut locals),
                "enforce" => self.enforced().map(|expr| enforce.push(expr)),
                _ => break,
            };
            if parsed.is_err() {
                self.skip_statement();
                self.not_understood(before);
            }
        }
        let body = self.statements(&[close]);
        let end = At(self.expect(close, "close the function")?);
        Ok(Function { name, results, parameters, locals, enforce, body, end })
    }

    fn number_of_results(&mut self) -> Parsed<usize> {
        let number = self.next_text().parse().ok().filter(|number| (1..=64).contains(number));
        let Some(number) = number else {
            return Err(self.expected("a number of results", "from 1 to 64; a function without results is `void`"));
        };
        self.at += 1;
        self.expect(">", "as in `bool<2>`")?;
        Ok(number)
    }

    fn enforced(&mut self) -> Parsed<Expr> {
        self.at += 1;
        let expr = self.expression()?;
        self.expect(";", "it ends with `;`")?;
        Ok(expr)
    }

    /// A bracket that opens a block, of the dialect of this file.
    fn open(&mut self, bracket: &str) -> Parsed<Span> {
        let (here, other) = (self.here(), self.next_text());
        if other != bracket
            && matches!(other, "{" | "begin" | "then" | "do")
            && let Some(told_by) = self.told_by
        {
            return self.report(|| {
                Diagnostic::error(format!("expected `{bracket}`, found `{other}`"))
                    .at(here, "of the other dialect")
                    .see(told_by, "this file is written in this one")
                    .help("keep to one of the two: `{ … }` or `begin … end`")
            });
        }
        self.expect(bracket, "a block starts here")
    }
}
