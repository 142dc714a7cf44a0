//! Reads `.pds`, `.init` and `.spec`, the format of the published artifact.
//!
//! ```text
//! 4                # the shared states are 0..3
//! PDA 4 6          # a thread; its symbols are 4..6
//! 0 4 -> 0 -       # pop
//! 1 4 -> 2 5       # overwrite
//! 2 5 -> 3 4 6     # push: 4 on top of 6
//! 0 - -> 1 4       # from the empty stack
//! ```
//!
//! The other two files have one state for each line, `q|w1,…,wn`. Stacks are written **bottom to
//! top** with dots: `6.4` has 4 on top. The artifact's own files mention symbols outside the
//! declared range. Such symbols count as declared.

use super::lex::{Lexeme, Token};
use super::parser::{Parsed, Parser, Reported};
use super::syntax::{ActionNode, NameItem, StateNode, ThreadNode, Tree, WildNode, push_up_to};
use crate::diagnostic::{Diagnostic, Diagnostics, Source, Span};
use crate::message_text::shortened;
use crate::system::limits;

const ACTION: &str = "an action is written `q a -> q' b`";

/// Reads a `.pds` file into `tree`.
pub(super) fn parse_file(sources: &[Source], source: u32, tree: &mut Tree, diagnostics: &mut Diagnostics) {
    let mut parser = Parser::new(sources, source, diagnostics);
    tree.numeric = true;
    while parser.take_line_end() {}
    if parser.peek().is_some() {
        let shared = parser.shared_states(tree).and_then(|()| parser.end_of_line());
        tree.shared_unclear |= shared.is_err();
        parser.recover(&shared);
    }
    while parser.peek().is_some() {
        if !parser.take_line_end() {
            let parsed = parser.line(tree).and_then(|()| parser.end_of_line());
            parser.recover(&parsed);
        }
    }
}

/// Reads a `.init` or `.spec` file: one state for each line.
pub(super) fn parse_states(sources: &[Source], source: u32, diagnostics: &mut Diagnostics) -> (Vec<StateNode>, bool) {
    let mut parser = Parser::new(sources, source, diagnostics);
    let (mut states, mut unclear) = (Vec::new(), false);
    while parser.peek().is_some() {
        if !parser.take_line_end() {
            let state = parser.state().and_then(|state| parser.bottom_up(state));
            let state = state
                .and_then(|state| parser.end_of_line().map(|()| push_up_to(limits::STACK_CELLS, &mut states, state)));
            unclear |= state.is_err();
            parser.recover(&state);
        }
    }
    (states, unclear)
}

impl Parser<'_> {
    fn recover(&mut self, parsed: &Parsed<()>) {
        if parsed.is_err() {
            while !self.take_line_end() && self.next().is_some() {}
        }
    }

    fn take_line_end(&mut self) -> bool {
        let next = self.lexer.peek().copied();
        let found = next.is_some_and(|lexeme| lexeme.token == Token::End && self.text(lexeme.span) == "\n");
        if found {
            self.next();
        }
        found
    }

    fn end_of_line(&mut self) -> Parsed<()> {
        if self.take_line_end() || self.peek().is_none() {
            return Ok(());
        }
        Err(self.expected("the end of the line", "one action or one state a line"))
    }

    /// Reads the first line: the number of shared states.
    fn shared_states(&mut self, tree: &mut Tree) -> Parsed<()> {
        let (count, span) = self.number("the number of shared states")?;
        if count == 0 {
            return self.report(|| {
                Diagnostic::error("no shared states").at(span, "at least 1").help("they are called 0, 1, 2, …")
            });
        }
        tree.shared.push(NameItem::Range { low: 0, high: count - 1, span });
        Ok(())
    }

    /// Reads a line: `PDA low high`, or an action of the current thread.
    fn line(&mut self, tree: &mut Tree) -> Parsed<()> {
        if let Some(&Lexeme { token: Token::Name, span }) = self.lexer.peek()
            && !self.text(span).starts_with(|c: char| c.is_ascii_digit())
        {
            if self.text(span) != "PDA" {
                return Err(self.expected("`PDA` or an action", ACTION));
            }
            self.next();
            return self.pds_thread(span, tree);
        }
        let action = self.pds_action()?;
        if let Some(thread) = tree.threads.last_mut() {
            push_up_to(limits::of_text::ACTIONS, &mut thread.actions, action);
            return Ok(());
        }
        if tree.threads_unclear {
            return Err(Reported);
        }
        tree.threads_unclear = true; // the mistake is reported only once
        self.report(|| {
            Diagnostic::error("an action before the first thread")
                .at(action.span, "this action belongs to no thread")
                .help("open a thread before it: `PDA low high`")
        })
    }

    fn pds_thread(&mut self, name: Span, tree: &mut Tree) -> Parsed<()> {
        // The following actions belong to this thread even if its range is wrong.
        let thread =
            ThreadNode { name, copies: 1, any: None, symbols: Vec::new(), symbols_unclear: true, actions: Vec::new() };
        push_up_to(limits::THREADS, &mut tree.threads, thread);
        let low = self.number("the lowest symbol")?;
        let high = self.number("the highest symbol")?;
        self.numeric(low.1)?;
        self.numeric(high.1)?;
        let range = self.range(low, high)?;
        let thread = tree.threads.last_mut().expect("it was pushed, or the list is full");
        thread.symbols.push(range);
        thread.symbols_unclear = false;
        Ok(())
    }

    /// Reads an action: `q w -> q' w'`.
    fn pds_action(&mut self) -> Parsed<ActionNode> {
        let from = self.pds_number("a shared state")?;
        let read = match self.take(Token::Epsilon) {
            Some(_) => None,
            None => Some(self.pds_number("a symbol, or `-` for the empty stack")?),
        };
        self.expect(Token::Arrow, "`->`", ACTION)?;
        let to = self.pds_number("a shared state")?;
        let mut written = Vec::new();
        if self.take(Token::Epsilon).is_none() {
            written.push(self.pds_number("symbols, or `-` for none")?);
            while self.peek() == Some(Token::Name) {
                let symbol = self.pds_number("a symbol")?;
                // More than two symbols are too many. Then the last one gives the end of the place.
                written.truncate(2);
                written.push(symbol);
            }
        }
        self.as_action(from.to(self.last), None, (from, read.as_slice()), (to, &written))
    }

    fn pds_number(&mut self, what: &str) -> Parsed<Span> {
        let span = self.expect(Token::Name, what, ACTION)?;
        self.numeric(span).map(|()| span)
    }

    fn numeric(&mut self, span: Span) -> Parsed<()> {
        let digits = self.text(span);
        if digits.bytes().all(|b| b.is_ascii_digit()) && digits.parse::<u32>().is_ok() {
            return Ok(());
        }
        self.report(|| {
            let message = match digits {
                "" => "a dot without a symbol".to_owned(),
                digits => format!("`{}` is not a number below 2^32", shortened(digits)),
            };
            let help = "in this format shared states and symbols are numbers";
            Diagnostic::error(message).at(span, "expected a number").help(help)
        })
    }

    /// Turns stacks written bottom to top with dots into stacks written top first.
    fn bottom_up(&mut self, mut state: StateNode) -> Parsed<StateNode> {
        if let WildNode::Is(shared) = state.shared {
            self.numeric(shared)?;
        }
        for stack in &mut state.stacks {
            let WildNode::Is(word) = &mut stack.word else { continue };
            if let [first, .., last] = word[..] {
                return self.report(|| {
                    Diagnostic::error("a stack written with blanks")
                        .at(first.to(last), "the order of the symbols is not clear")
                        .help("in `.init` and `.spec` files write it bottom to top, with dots: `1.2` has 2 on top")
                });
            }
            let Some(&dotted) = word.first() else { continue };
            word.clear();
            let mut start = dotted.start;
            for part in self.text(dotted).split('.') {
                let end = start + u32::try_from(part.len()).expect("part of a span");
                push_up_to(limits::STACK_CELLS, word, Span { start, end, ..dotted });
                start = end + 1;
            }
            word.reverse();
            for &symbol in word.iter() {
                self.numeric(symbol)?;
            }
        }
        state.declares = true;
        Ok(state)
    }
}
