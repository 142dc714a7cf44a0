//! The lexer: divides a text into tokens.

use crate::diagnostic::Span;
use crate::names::is_name_char;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Token {
    Name,
    /// `..`
    Range,
    /// `->` or `→`
    Arrow,
    /// `-` or `ε`
    Epsilon,
    Star,
    Comma,
    Bar,
    Colon,
    Open,
    Close,
    OpenBrace,
    CloseBrace,
    /// `⟨`
    OpenAngle,
    /// `⟩`
    CloseAngle,
    /// The end of a line, or `;`
    End,
    /// A character that no token has.
    Unknown,
}

/// A token with its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Lexeme {
    pub(super) token: Token,
    pub(super) span: Span,
}

/// Divides a text into tokens. Comments and blanks are skipped.
#[derive(Clone)]
pub(super) struct Lexer<'a> {
    text: &'a str,
    source: u32,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(source: u32, text: &'a str) -> Self {
        Lexer { text, source, at: 0 }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_blanks(&mut self) {
        while let Some(c) = self.rest().chars().next() {
            if c == '#' {
                self.at += self.rest().find('\n').unwrap_or(self.rest().len());
            } else if c != '\n' && c.is_whitespace() {
                self.at += c.len_utf8();
            } else {
                return;
            }
        }
    }

    fn name_length(&self) -> usize {
        let rest = self.rest();
        let stop = rest.char_indices().find(|&(i, c)| !is_name_char(c) || rest[i..].starts_with(".."));
        stop.map_or(rest.len(), |(i, _)| i)
    }
}

impl Iterator for Lexer<'_> {
    type Item = Lexeme;

    fn next(&mut self) -> Option<Lexeme> {
        self.skip_blanks();
        let rest = self.rest();
        let c = rest.chars().next()?;
        let (token, length) = if rest.starts_with("->") {
            (Token::Arrow, 2)
        } else if rest.starts_with("..") {
            (Token::Range, 2)
        } else {
            let token = match c {
                '→' => Token::Arrow,
                '-' | 'ε' => Token::Epsilon,
                '*' => Token::Star,
                ',' => Token::Comma,
                '|' => Token::Bar,
                ':' => Token::Colon,
                '(' => Token::Open,
                ')' => Token::Close,
                '{' => Token::OpenBrace,
                '}' => Token::CloseBrace,
                '⟨' => Token::OpenAngle,
                '⟩' => Token::CloseAngle,
                '\n' | ';' => Token::End,
                c if is_name_char(c) => Token::Name,
                _ => Token::Unknown,
            };
            (token, if token == Token::Name { self.name_length() } else { c.len_utf8() })
        };
        let start = self.at;
        self.at += length;
        let narrow = |offset| u32::try_from(offset).expect("a source is shorter than 4 GiB");
        Some(Lexeme { token, span: Span { source: self.source, start: narrow(start), end: narrow(self.at) } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<(Token, &str)> {
        Lexer::new(0, text).map(|l| (l.token, &text[l.span.start as usize..l.span.end as usize])).collect()
    }

    #[test]
    fn an_action_needs_no_blanks() {
        use Token::{Arrow, Close, Comma, Epsilon, Name, Open};
        let expected = [Open, Name, Comma, Epsilon, Close, Arrow, Open, Name, Comma, Name, Name, Close];
        assert_eq!(tokens("(0,-)->(1,4 6)").iter().map(|t| t.0).collect::<Vec<_>>(), expected);
        assert_eq!(tokens("(0,ε) → (1,4 6)").iter().map(|t| t.0).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn ranges_and_dotted_names() {
        use Token::{Name, Range};
        assert_eq!(tokens("0..3"), [(Name, "0"), (Range, ".."), (Name, "3")]);
        assert_eq!(tokens("main.3 .. x"), [(Name, "main.3"), (Range, ".."), (Name, "x")]);
    }

    #[test]
    fn comments_end_with_their_line() {
        use Token::{End, Name};
        assert_eq!(tokens("a # b\r\nc;"), [(Name, "a"), (End, "\n"), (Name, "c"), (End, ";")]);
        assert_eq!(tokens("\u{1}⊥").iter().map(|t| t.0).collect::<Vec<_>>(), [Token::Unknown, Name]);
    }
}
