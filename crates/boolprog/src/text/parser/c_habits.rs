//! Recognises constructs of C, so that the error says what to write instead.
//!
//! All of these constructs are errors in any case. No additional word is reserved. A call of a
//! function that the program defines is never reported as a call of a C function.

use super::{Parsed, Parser, Reported};
use crate::syntax::{At, Dialect, Expr, ExprKind, Name, StatementKind};
use crate::text::keywords::is_keyword;
use crate::text::lexer::{Lexeme, Token};
use cpds::diagnostic::{Diagnostic, Diagnostics, Span, shortened};

/// Words of types in C.
const TYPES: [&str; 22] = [
    "void", "bool", "int", "unsigned", "signed", "char", "short", "long", "float", "double", "_Bool", "const",
    "volatile", "static", "extern", "register", "inline", "auto", "struct", "union", "enum", "typedef",
];

/// The limit for the number of words of a type.
const LONGEST_TYPE: usize = 8;

pub(super) fn is_type(word: &str) -> bool {
    TYPES.contains(&word) || (word.len() > 2 && word.ends_with("_t"))
}

/// Operators of C that do not exist here. A longer operator comes before its prefixes.
const OPERATORS: [&str; 26] = [
    "<<=", ">>=", "++", "--", "+=", "-=", "*=", "/=", "%=", "|=", "&=", "^=", "<<", ">>", "<=", ">=", "->", "+", "-",
    "*", "/", "%", "<", ">", "[", ".",
];

/// The help for a pointer.
const USE_RESULTS: &str = "use the variable itself; functions return results: `x, y := call f(x);`";

/// Suggests a replacement for an operator of C.
fn instead_of_operator(operator: &str) -> String {
    let bits = "a number is one variable for each bit";
    match operator {
        "++" | "+=" | "+" => format!("{bits}: `b1, b0 := b1 ^ b0, !b0;` adds 1 to two bits"),
        "--" | "-=" | "-" => format!("{bits}: `b1, b0 := b1 ^ !b0, !b0;` subtracts 1 from two bits"),
        "<" => format!("of two Boolean values, `x < y` is `!x & y`; {bits}"),
        ">" => format!("of two Boolean values, `x > y` is `x & !y`; {bits}"),
        "<=" => format!("of two Boolean values, `x <= y` is `x => y`; {bits}"),
        ">=" => format!("of two Boolean values, `x >= y` is `y => x`; {bits}"),
        "|=" | "&=" | "^=" => format!("write `x := x {} y;`", &operator[..1]),
        "->" | "." => "there are no structures: declare one variable for each field".to_owned(),
        "[" => "there are no arrays: declare one variable for each element".to_owned(),
        _ => format!("{bits}; compute each bit with `!`, `&`, `|` and `^`"),
    }
}

/// Suggests a replacement for a call of a C function.
fn instead_of_function(name: &str) -> Option<&'static str> {
    Some(match name {
        _ if name.to_ascii_lowercase().contains("nondet") => "any value is written `*`: `x := *;`, `if (*) …`",
        "rand" | "random" => "any value is written `*`: `x := *;`, `if (*) …`",
        "pthread_create" | "thrd_create" => {
            "a thread is created with `thread_create(&f);`, with arguments `start_thread f(x);`"
        }
        "pthread_join" | "thrd_join" => "let the thread end with `done := 1;`, and wait for it with `assume(done);`",
        "pthread_exit" | "thrd_exit" => "a thread ends with `end_thread;`",
        "pthread_mutex_lock" | "mtx_lock" | "mutex_lock" | "spin_lock" => "a lock is taken with `lock(m);`",
        "pthread_mutex_unlock" | "mtx_unlock" | "mutex_unlock" | "spin_unlock" => {
            "a lock is released with `unlock(m);`"
        }
        "pthread_mutex_init" | "pthread_mutex_destroy" | "mtx_init" => "leave it out: locks need no declaration",
        "__VERIFIER_assume" => "write `assume(e);`",
        "__VERIFIER_assert" => "write `assert(e);`",
        "__VERIFIER_error" | "reach_error" => "an error is a failed assertion: `assert(0);`",
        "__VERIFIER_atomic_begin" => "write `atomic_begin;`, or `atomic { … }` around all of it",
        "__VERIFIER_atomic_end" => "write `atomic_end;`, or `atomic { … }` around all of it",
        "printf" | "fprintf" | "puts" | "putchar" | "sleep" | "usleep" | "sched_yield" => {
            "leave it out: it changes no variable"
        }
        _ => return None,
    })
}

/// Suggests a replacement for a constant of C.
pub(crate) fn instead_of_constant(name: &str) -> Option<&'static str> {
    match name {
        "TRUE" | "True" => Some("the constants are `1` and `0`, or `true` and `false`"),
        "FALSE" | "False" => Some("the constants are `0` and `1`, or `false` and `true`"),
        "NULL" | "nullptr" => Some("there are no pointers: a variable is `0` or `1`"),
        _ => None,
    }
}

/// Removes lines such as `#include`. Reports the first of several in a row.
pub(super) fn without_directives(text: &str, mut lexemes: Vec<Lexeme>, diagnostics: &mut Diagnostics) -> Vec<Lexeme> {
    let mut was_directive = false;
    lexemes.retain(|lexeme| {
        let found = &text[lexeme.span.start as usize..lexeme.span.end as usize];
        let is_directive = lexeme.token == Token::Unknown && found.starts_with('#');
        if is_directive && !was_directive {
            diagnostics.error(|| {
                Diagnostic::error(format!("`{}` is for the C preprocessor", shortened(found)))
                    .at(lexeme.span, "there is no preprocessor")
                    .help("remove such lines; one file contains the whole program")
            });
        }
        was_directive = is_directive;
        !is_directive
    });
    lexemes
}

impl Parser<'_> {
    pub(super) fn is_word(&self, at: usize) -> bool {
        self.lexemes.get(at).is_some_and(|lexeme| lexeme.token == Token::Word)
    }

    /// Returns the position after the type that starts at this token. This is mostly the position
    /// of the name of a variable or a function.
    pub(super) fn type_end(&self, from: usize) -> usize {
        let mut at = from;
        // A word before a parenthesis is the name of a function.
        while at - from < LONGEST_TYPE
            && ((is_type(self.text_at(at)) && self.text_at(at + 1) != "(") || (at > from && self.text_at(at) == "*"))
        {
            let is_tagged = matches!(self.text_at(at), "struct" | "union" | "enum") && self.is_word(at + 1);
            at += if is_tagged { 2 } else { 1 };
        }
        at
    }

    /// Returns whether a declaration of a variable with a type starts here.
    pub(super) fn starts_typed(&self) -> bool {
        let name = self.type_end(self.at);
        let is_named = || self.is_word(name) && matches!(self.text_at(name + 1), ";" | "," | "=" | ":=" | "[");
        name > self.at && (is_named() || self.text_at(name) == "{")
    }

    /// Reports a variable with a type, and skips the text up to the `;`.
    pub(super) fn typed_variable(&mut self, how: &str) -> Reported {
        let (first, name) = (self.here(), self.type_end(self.at));
        let help = if self.is_word(name) {
            let text = shortened(self.text_at(name));
            match (self.text_at(name + 1), self.is_constant(self.text_at(name + 2))) {
                ("=", Some(value)) => format!("{how}`decl {text} = {};`", u8::from(value)),
                ("=", None) => format!("{how}`decl {text};`; its value is assigned in a statement: `{text} := …;`"),
                ("[", _) => "there are no arrays: declare one variable for each element".to_owned(),
                _ => format!("{how}`decl {text};`"),
            }
        } else if self.text_at(self.at) == "enum" {
            "declare one variable for each bit of its values: `decl x, y;`".to_owned()
        } else {
            "declare one variable for each field: `decl x, y;`".to_owned()
        };
        let types = first.to(self.lexemes[name - 1].span);
        let reported = self
            .mistake(|| Diagnostic::error("a variable with a type").at(types, "all variables are Boolean").help(help));
        while self.peek().is_some() && !matches!(self.next_text(), ";" | "}") {
            if self.next_text() == "{" {
                self.skip_braces();
            } else {
                self.at += 1;
            }
        }
        reported
    }

    /// Reports a function that is declared without a body.
    pub(super) fn check_has_body(&mut self) -> Parsed<()> {
        let name = self.type_end(self.at);
        let end = (name + 2..self.lexemes.len()).take(100).find(|&at| matches!(self.text_at(at), ")" | ";" | "{"));
        if self.text_at(name + 1) != "("
            || end.is_none_or(|end| (self.text_at(end), self.text_at(end + 1)) != (")", ";"))
        {
            return Ok(());
        }
        let (span, text) = (self.lexemes[name].span, self.text_at(name));
        self.at = end.map_or(self.at, |end| end + 1);
        self.report(|| {
            Diagnostic::error(format!("`{}` has no body", shortened(text)))
                .at(span, "only declared")
                .help("leave the declaration out: a function may be used before it is defined")
        })
    }

    /// Parses the number of results at the start of a function.
    pub(super) fn results(&mut self) -> Parsed<usize> {
        let (first, start, end) = (self.at, self.here(), self.type_end(self.at));
        if end <= first + 1
            && let Some(results) = ["void", "bool"].iter().position(|word| *word == self.next_text())
        {
            self.at += 1;
            return if results == 1 && self.take("<").is_some() { self.number_of_results() } else { Ok(results) };
        }
        let words = || (first..end).map(|at| self.text_at(at));
        let is_void = words().any(|word| word == "void") && !words().any(|word| word == "*");
        self.at = end;
        let types = start.to(self.last());
        self.mistake(|| {
            Diagnostic::error("expected `void` or `bool` before the name of the function")
                .at(types, "all values are Boolean")
                .help("a function without a result is `void f()`, one with a result `bool f()`")
        });
        Ok(usize::from(!is_void))
    }

    pub(super) fn parameters(&mut self) -> Parsed<Vec<Name>> {
        if self.text_at(self.at + 1) == "void" && self.text_at(self.at + 2) == ")" {
            let span = self.lexemes[self.at + 1].span;
            self.mistake(|| {
                Diagnostic::error("`void` as a parameter")
                    .at(span, "not a name")
                    .help("without parameters, the parentheses are empty: `()`")
            });
            self.at += 3;
            return Ok(Vec::new());
        }
        self.in_parentheses(Self::parameter)
    }

    fn parameter(&mut self) -> Parsed<Name> {
        let (first, start) = (self.at, self.here());
        let goes_on = |parser: &Self| matches!(parser.peek(), Some(Token::Word)) || parser.next_text() == "*";
        while goes_on(self) {
            self.at += 1;
        }
        let name = self.at.saturating_sub(1);
        if name <= first || !self.is_word(name) {
            self.at = first;
            return self.name("a parameter");
        }
        self.at = name;
        let (types, text) = (start.to(self.last()), self.text_at(name));
        self.mistake(|| {
            Diagnostic::error("a parameter with a type")
                .at(types, "all parameters are Boolean")
                .help(format!("leave the type out: `{}`", shortened(text)))
        });
        let name = self.name("a parameter")?;
        while self.peek().is_some() && !matches!(self.next_text(), "," | ")" | ";" | "{" | "}") {
            self.at += 1; // `[]`
        }
        Ok(name)
    }

    /// Returns the C operator at the current position, if this language does not have it.
    fn c_operator(&self) -> Option<&'static str> {
        // `/*` may start a comment without an end.
        if self.peek().is_none() || self.next_text() == "<=>" || self.next_text().starts_with("/*") {
            return None;
        }
        let rest = self.text.get(self.here().start as usize..)?;
        OPERATORS.into_iter().find(|operator| rest.starts_with(operator))
    }

    /// Returns whether a C operator starts here that may follow an assigned variable: `+=`, `++`,
    /// `->`.
    pub(super) fn is_assigned_as_in_c(&self) -> bool {
        self.c_operator().is_some_and(|operator| !matches!(operator, "*" | "<" | ">"))
    }

    /// Reports the operator of C that is here.
    pub(super) fn c_operator_here(&mut self) -> Reported {
        let operator = self.c_operator().expect("there is one");
        let here = self.here();
        let length = u32::try_from(operator.len()).expect("short");
        let at = Span { end: here.start + length, ..here };
        self.mistake(|| {
            Diagnostic::error(format!("`{operator}` is not an operator of this language"))
                .at(at, "an operator of C")
                .help(instead_of_operator(operator))
        })
    }

    /// Reports a C operator that follows an expression, and skips the rest. Returns the expression
    /// without it.
    pub(super) fn without_c_operator(&mut self, expr: Expr) -> Expr {
        if self.c_operator().is_none() {
            return expr;
        }
        self.c_operator_here();
        self.skip_expression(expr.at.0)
    }

    /// Reports an operand of C, if it starts here. Returns an expression in its place.
    pub(super) fn c_operand(&mut self) -> Option<Expr> {
        let (start, word, next) = (self.here(), self.next_text(), self.text_at(self.at + 1));
        let choice = |parser: &Self| Expr { kind: ExprKind::Choice, at: At(start.to(parser.last())) };
        match word {
            "+" | "-" => {
                self.c_operator_here();
                Some(self.skip_expression(start))
            }
            "&" => {
                self.no_pointers(USE_RESULTS);
                Some(self.skip_expression(start))
            }
            "*" if self.is_before_operand() => {
                self.no_pointers(USE_RESULTS);
                Some(self.skip_expression(start))
            }
            "(" if matches!(next, "void" | "bool") || (is_type(next) && self.is_cast()) => {
                self.at += 1;
                let types = self.here();
                self.mistake(|| {
                    Diagnostic::error("a type in an expression")
                        .at(types, "all values are Boolean")
                        .help("leave it out, with its parentheses")
                });
                self.at -= 1;
                self.skip_parentheses();
                Some(self.skip_expression(start))
            }
            _ if self.peek() == Some(Token::Number) && self.is_constant(word).is_none() => {
                self.mistake(|| {
                    Diagnostic::error(format!("`{}` is not a value of this language", shortened(word)))
                        .at(start, "all values are Boolean: `0` or `1`")
                        .help("a number is one variable for each bit: 2 is `b1, b0 := 1, 0;`")
                });
                self.at += 1;
                Some(choice(self))
            }
            _ => None,
        }
    }

    /// Returns whether a cast starts here: a type in parentheses before an operand.
    fn is_cast(&self) -> bool {
        let end = self.type_end(self.at + 1);
        let is_operand = self.is_word(end + 1) && !is_keyword(self.text_at(end + 1));
        self.text_at(end) == ")" && (end > self.at + 2 || is_operand || self.text_at(end + 1) == "(")
    }

    /// Returns whether an operand follows this sign without a blank.
    fn is_before_operand(&self) -> bool {
        let next = self.text_at(self.at + 1);
        let is_near = self.lexemes.get(self.at + 1).is_some_and(|lexeme| lexeme.span.start == self.here().end);
        is_near && (next == "(" || (self.is_word(self.at + 1) && !is_keyword(next)))
    }

    pub(super) fn no_pointers(&mut self, help: &str) -> Reported {
        let (here, sign) = (self.here(), self.next_text());
        self.mistake(|| {
            Diagnostic::error(format!("`{sign}` before a variable")).at(here, "there are no pointers").help(help)
        })
    }

    /// Reports a call of a function of C that this program does not define.
    pub(super) fn c_function(&mut self, name: &str, at: Span) -> Option<Reported> {
        let help = instead_of_function(name).filter(|_| !self.defined.contains(name))?;
        Some(
            self.mistake(|| {
                Diagnostic::error(format!("there is no function `{name}`")).at(at, "not defined").help(help)
            }),
        )
    }

    /// Reports a statement of C, if it starts here. Returns a statement in its place.
    pub(super) fn c_statement(&mut self) -> Parsed<Option<StatementKind>> {
        let (word, next, here) = (self.next_text(), self.text_at(self.at + 1), self.here());
        let slam = self.dialect == Dialect::Slam;
        let help = match (word, next) {
            ("for", "(") if slam => "loops are written `while e do … od`; `while *` may end at any time",
            ("for", "(") => "loops are written `while (e) { … }`; `while (*)` may end at any time",
            ("do", "{" | "begin") => "write a `while` loop, and its body once before it",
            ("switch", "(") if slam => "write `if e then … elsif e then … else … fi`",
            ("switch", "(") => "write `if (e) { … } else if (e) { … } else { … }`",
            ("break", ";") => "write `goto done;`, and `done: skip;` after the loop",
            ("continue", ";") => "write `goto next;`, and `next: skip;` at the end of the loop's body",
            ("{" | "begin", _) => "remove its brackets; in an `atomic` block, no other thread takes a step",
            ("+" | "-", _) => return Err(self.c_operator_here()),
            ("*", _) => return Err(self.no_pointers(USE_RESULTS)),
            _ if self.starts_typed() => {
                return Err(self.typed_variable("at the beginning of the function, write "));
            }
            _ => return Ok(None),
        };
        if self.defined.contains(word) {
            return Ok(None);
        }
        let is_block = matches!(word, "{" | "begin");
        let (what, label) = if is_block {
            ("a block that belongs to no statement".to_owned(), "expected a statement")
        } else {
            (format!("there is no statement `{word}`"), "a statement of C")
        };
        self.mistake(|| Diagnostic::error(what).at(here, label).help(help));
        let before = self.at;
        self.at += usize::from(!is_block);
        if matches!(word, "for" | "switch") {
            self.skip_parentheses();
        }
        if word == "switch" {
            self.skip_braces();
        }
        self.record_possible_names(before);
        let body = if matches!(self.next_text(), "{" | "begin") { self.nested() } else { Vec::new() };
        if word == "do" && self.next_text() == "while" {
            self.skip_statement();
        }
        Ok(Some(StatementKind::While { condition: Expr { kind: ExprKind::Choice, at: At(here) }, body }))
    }
}
