//! Reads `.cpds`, our own format (grammar in `docs/formats.md`).
//!
//! A statement ends with its line, or with `;`. After a mistake the parser continues with the next
//! statement, so it reports all mistakes of a file.

use super::lex::{Lexeme, Token};
use super::parser::{Parsed, Parser, Reported};
use super::syntax::{ActionNode, NameItem, StackNode, StateNode, ThreadNode, Tree, WildNode, push_up_to};
use crate::diagnostic::{Diagnostic, Diagnostics, Source, Span};
use crate::message_text::{nearest, shortened};
use crate::names::plain_number;
use crate::system::limits;

const STATE: &str = "a state is written `q|w1,…,wn`";
const ACTION: &str = "an action is written `(q,a) -> (q',b)`";

/// Reads a whole file into `tree`.
pub(super) fn parse_file(sources: &[Source], source: u32, tree: &mut Tree, diagnostics: &mut Diagnostics) {
    let mut parser = Parser::new(sources, source, diagnostics);
    while parser.peek().is_some() {
        parser.statement(tree);
    }
}

/// Reads a single state or pattern, such as the value of an option.
pub(super) fn parse_state(sources: &[Source], source: u32, diagnostics: &mut Diagnostics) -> Option<StateNode> {
    let mut parser = Parser::new(sources, source, diagnostics);
    let state = parser.state().and_then(|state| parser.end_of_statement().map(|()| state));
    match state {
        Ok(state) if parser.peek().is_none() => Some(state),
        Ok(_) => {
            parser.expected("the end of the state", STATE);
            None
        }
        Err(Reported) => None,
    }
}

impl Parser<'_> {
    /// A statement outside a thread.
    fn statement(&mut self, tree: &mut Tree) {
        const KEYWORDS: [&str; 4] = ["shared", "init", "bad", "thread"];
        if self.take(Token::End).is_some() {
            return;
        }
        let parsed = match self.lexer.peek().copied() {
            Some(Lexeme { token: Token::Name, span }) if KEYWORDS.contains(&self.text(span)) => {
                self.next();
                match self.text(span) {
                    "shared" => {
                        let names = self.names(&mut tree.shared).and_then(|()| self.end_of_statement());
                        tree.shared_unclear |= names.is_err();
                        names
                    }
                    "init" => {
                        let state = self.state().map(|state| push_up_to(limits::STACK_CELLS, &mut tree.initial, state));
                        tree.initial_unclear |= state.is_err();
                        state.and_then(|()| self.end_of_statement())
                    }
                    "bad" => {
                        let state = self.state().map(|state| push_up_to(limits::STACK_CELLS, &mut tree.bad, state));
                        state.and_then(|()| self.end_of_statement())
                    }
                    _ => {
                        let thread = self.thread(tree); // ends with its brace
                        tree.threads_unclear |= thread.is_err();
                        thread
                    }
                }
            }
            Some(Lexeme { token: Token::Open, span }) => self.report(|| {
                Diagnostic::error("an action outside a thread")
                    .at(span, "this action belongs to no thread")
                    .help("put it into a `thread NAME { … }`")
            }),
            other => {
                let known = other.and_then(|lexeme| nearest(self.text(lexeme.span), KEYWORDS.into_iter()));
                let help = known
                    .map_or("a system is made of these statements; see docs/formats.md".to_owned(), |known| {
                        format!("did you mean `{known}`?")
                    });
                tree.threads_unclear |= known == Some("thread");
                tree.shared_unclear |= known == Some("shared");
                tree.initial_unclear |= known == Some("init");
                Err(self.expected("`shared`, `init`, `bad` or `thread`", &help))
            }
        };
        if parsed.is_err() {
            self.skip_statement();
        }
    }

    /// Reads the end of a statement: the end of a line, `;`, or a token that cannot continue the
    /// statement.
    pub(super) fn end_of_statement(&mut self) -> Parsed<()> {
        match self.peek() {
            None | Some(Token::CloseBrace) => Ok(()),
            Some(Token::End) => {
                self.next();
                Ok(())
            }
            _ => Err(self.expected("the end of the line", "one statement a line, or `;` between them")),
        }
    }

    /// Skips the rest of a statement after a mistake. A block in the rest is skipped as a whole, so
    /// that its actions are not read as statements.
    fn skip_statement(&mut self) {
        let mut depth = 0_u32;
        while let Some(lexeme) = self.next() {
            match lexeme.token {
                Token::OpenBrace => depth += 1,
                Token::CloseBrace => depth = depth.saturating_sub(1),
                Token::End if depth == 0 => return,
                _ => {}
            }
        }
    }

    /// Skips the rest of a statement in a thread after a mistake, but not the end of the block.
    fn skip_within_block(&mut self) {
        while let Some(token) = self.peek() {
            if token == Token::CloseBrace {
                return;
            }
            self.next();
            if token == Token::End {
                return;
            }
        }
    }

    /// Reads a list of names: `a, b 4..7`.
    fn names(&mut self, items: &mut Vec<NameItem>) -> Parsed<()> {
        loop {
            let first = self.name("a name")?;
            if self.take(Token::Range).is_some() {
                let low = self.as_number(first, "a number before `..`")?;
                let high = self.number("a number after `..`")?;
                if let Some(padded) = [first, high.1].into_iter().find(|&end| plain_number(self.text(end)).is_none()) {
                    return self.report(|| {
                        Diagnostic::error("the end of a range is a number below 2^32, without leading zeros")
                            .at(padded, "not of that form")
                            .help("names that look otherwise must be listed one by one")
                    });
                }
                let range = self.range((low, first), high)?;
                push_up_to(limits::of_text::SYMBOLS.max(limits::of_text::SHARED_STATES), items, range);
            } else {
                push_up_to(limits::of_text::SYMBOLS.max(limits::of_text::SHARED_STATES), items, NameItem::One(first));
            }
            if let Some(&Lexeme { token: Token::Epsilon | Token::Arrow, span }) = self.lexer.peek() {
                let found = self.text(span);
                return self.report(|| {
                    Diagnostic::error(format!("`{found}` in a list of names"))
                        .at(span, "not part of a name")
                        .help("a range is written `0..3`; in a name, use `_` or `.`")
                });
            }
            let comma = self.take(Token::Comma).is_some();
            if !comma && self.peek() != Some(Token::Name) {
                return Ok(());
            }
        }
    }

    /// Reads a state: `q|w1,…,wn`, with or without angle brackets.
    pub(super) fn state(&mut self) -> Parsed<StateNode> {
        let bracket = self.take(Token::OpenAngle);
        let shared = match self.take(Token::Star) {
            Some(star) => WildNode::Any(star),
            None => WildNode::Is(self.expect(Token::Name, "a shared state", STATE)?),
        };
        let start = match shared {
            WildNode::Any(span) | WildNode::Is(span) => span,
        };
        self.expect(Token::Bar, "`|` after the shared state", STATE)?;
        let mut stacks = vec![self.stack()?];
        while self.take(Token::Comma).is_some() {
            let stack = self.stack()?;
            push_up_to(limits::STACK_CELLS, &mut stacks, stack);
        }
        let span = start.to(self.last);
        if bracket.is_some() {
            self.expect(Token::CloseAngle, "`⟩` at the end of the state", STATE)?;
        }
        Ok(StateNode { span, shared, stacks, declares: false })
    }

    /// Reads a stack: `*`, `-`, or symbols from the top down. After it, `* 3` repeats the stack for
    /// three threads.
    fn stack(&mut self) -> Parsed<StackNode> {
        let word = if let Some(star) = self.take(Token::Star) {
            WildNode::Any(star)
        } else {
            WildNode::Is(self.word("a stack", "write `-` for the empty stack")?)
        };
        let first = match &word {
            WildNode::Any(span) => *span,
            WildNode::Is(symbols) => symbols.first().copied().unwrap_or(self.last),
        };
        let (mut times, mut any) = (1, false);
        if self.take(Token::Star).is_some() {
            any = self.any().is_some();
            if !any {
                times = self.at_least_one("how many times, or `any`")?;
            }
        }
        Ok(StackNode { span: first.to(self.last), word, times, any })
    }

    /// Reads a word: `-`, or symbols, top first.
    fn word(&mut self, what: &str, help: &str) -> Parsed<Vec<Span>> {
        if self.take(Token::Epsilon).is_some() {
            return Ok(Vec::new());
        }
        if self.peek() != Some(Token::Name) {
            return Err(self.expected(what, help));
        }
        let mut symbols = Vec::new();
        while let Some(symbol) = self.take(Token::Name) {
            push_up_to(limits::STACK_CELLS, &mut symbols, symbol);
        }
        Ok(symbols)
    }

    /// Takes the word `any`.
    fn any(&mut self) -> Option<Span> {
        let next = self.lexer.peek().copied().filter(|next| next.token == Token::Name)?;
        let is_any = self.text(next.span) == "any";
        is_any.then(|| {
            self.next();
            next.span
        })
    }

    /// Reads a thread after its keyword: `NAME [* copies] { … }`, or `NAME * any { … }`.
    fn thread(&mut self, tree: &mut Tree) -> Parsed<()> {
        let name = self.name("a name for the thread")?;
        let (mut copies, mut any) = (1, None);
        if self.take(Token::Star).is_some() {
            any = self.any();
            if any.is_none() {
                let number = self.at_least_one("the number of copies, or `any`")?;
                copies = u32::try_from(number).unwrap_or(u32::MAX); // beyond the limit either way
            }
        }
        if self.after_line_ends() == Some(Token::OpenBrace) {
            while self.take(Token::End).is_some() {}
        }
        let brace = self.expect(Token::OpenBrace, "`{`", "a thread is written `thread NAME { … }`")?;
        let mut thread =
            ThreadNode { name, copies, any, symbols: Vec::new(), symbols_unclear: false, actions: Vec::new() };
        while self.take(Token::CloseBrace).is_none() {
            if self.peek().is_none() || self.another_thread_begins() {
                let message = format!("thread `{}` is not closed", self.text(name));
                let _ = self.report::<()>(|| Diagnostic::error(message).at(brace, "opened here").help("add a `}`"));
                break;
            }
            if self.statement_of_thread(&mut thread).is_err() {
                self.skip_within_block();
            }
        }
        push_up_to(limits::THREADS, &mut tree.threads, thread);
        Ok(())
    }

    /// Returns the next token after ends of lines.
    fn after_line_ends(&self) -> Option<Token> {
        self.lexer.clone().map(|lexeme| lexeme.token).find(|&token| token != Token::End)
    }

    /// Whether another thread begins here: `thread NAME`. Then the thread before it is not closed.
    fn another_thread_begins(&self) -> bool {
        let mut ahead = self.lexer.clone();
        let thread = ahead.next().is_some_and(|l| l.token == Token::Name && self.text(l.span) == "thread");
        thread && ahead.next().is_some_and(|l| l.token == Token::Name)
    }

    fn statement_of_thread(&mut self, thread: &mut ThreadNode) -> Parsed<()> {
        if self.take(Token::End).is_some() {
            return Ok(());
        }
        let word = self.take(Token::Name);
        match word {
            Some(symbols) if self.peek() != Some(Token::Colon) && self.text(symbols) == "symbols" => {
                let names = self.names(&mut thread.symbols).and_then(|()| self.end_of_statement());
                thread.symbols_unclear |= names.is_err();
                names
            }
            Some(word) if self.peek() != Some(Token::Colon) => {
                let meant = nearest(self.text(word), std::iter::once("symbols")).is_some();
                thread.symbols_unclear |= meant;
                let found = shortened(self.text(word));
                self.report(|| {
                    Diagnostic::error(format!("expected `symbols` or an action, found `{found}`"))
                        .at(word, "expected `symbols` or an action")
                        .help(if meant { "did you mean `symbols`?" } else { ACTION })
                })
            }
            label => {
                if let Some(label) = label {
                    self.short_enough(label)?;
                    self.next(); // the colon
                }
                let action = self.action(label)?;
                push_up_to(limits::of_text::ACTIONS, &mut thread.actions, action);
                self.end_of_statement()
            }
        }
    }

    /// Reads an action: `(q,w) -> (q',w')`.
    fn action(&mut self, label: Option<Span>) -> Parsed<ActionNode> {
        let open = self.expect(Token::Open, "an action", ACTION)?;
        let (from, read) = self.side()?;
        self.expect(Token::Arrow, "`->`", ACTION)?;
        self.expect(Token::Open, "`(`", ACTION)?;
        let (to, written) = self.side()?;
        self.as_action(open.to(self.last), label, (from, &read), (to, &written))
    }

    /// Reads one side of an action after its bracket: `q,w)`.
    fn side(&mut self) -> Parsed<(Span, Vec<Span>)> {
        let shared = self.expect(Token::Name, "a shared state", ACTION)?;
        self.expect(Token::Comma, "`,` after the shared state", ACTION)?;
        let word = self.word("a stack symbol", "write `-` for no symbol")?;
        self.expect(Token::Close, "`)`", ACTION)?;
        Ok((shared, word))
    }
}
