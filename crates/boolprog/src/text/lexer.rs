//! Tokens of the text of a Boolean program.
//!
//! Comments are skipped, except for comments such as `// file main.c line 12`. In these, SatAbs
//! writes the position in the C program from which it has made the next statement.

use crate::syntax::Origin;
use crate::syntax::limits::MOST_TOKENS;
use cpds::diagnostic::{Span, is_printable, printable};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Token {
    /// A name or a keyword.
    Word,
    /// A word that starts with a digit.
    Number,
    /// A sign, as one of [`SIGNS`].
    Sign(&'static str),
    /// Text that belongs to no token: a character, a comment without an end, a string, or a line
    /// that starts with `#`.
    Unknown,
}

/// A token and its place.
#[derive(Clone, Debug)]
pub(crate) struct Lexeme {
    pub(crate) token: Token,
    pub(crate) span: Span,
    /// The origin that a comment before it gives.
    pub(crate) origin: Option<Origin>,
}

/// The signs. A longer sign comes before its prefixes.
const SIGNS: [&str; 28] = [
    "<=>", ":=", "=>", "==", "!=", "&&", "||", "(", ")", "{", "}", "[", "]", "<", ">", "=", "!", "~", "&", "|", "^",
    "*", "?", ":", ";", ",", "'", "_",
];

fn starts_name(c: char) -> bool {
    (c.is_alphabetic() || matches!(c, '_' | '$')) && is_printable(c)
}

fn continues_name(c: char) -> bool {
    (c.is_alphanumeric() || matches!(c, '_' | '$' | '.')) && is_printable(c)
}

/// Returns whether a text has the form of a name.
pub(crate) fn is_name(text: &str) -> bool {
    text.starts_with(starts_name) && text.chars().all(continues_name) && !text.contains("..") && text != "_"
}

/// Splits a text into tokens, at most one more than the limit.
pub(crate) fn lex(text: &str, source: u32) -> Vec<Lexeme> {
    let (mut found, mut at, mut origin) = (Vec::new(), 0, None);
    while found.len() <= MOST_TOKENS
        && let Some(c) = text[at..].chars().next()
    {
        let rest = &text[at..];
        if c.is_whitespace() {
            at += c.len_utf8();
            continue;
        }
        if rest.starts_with("//") {
            let end = rest.find('\n').unwrap_or(rest.len());
            origin = origin_in(&rest[2..end]).or(origin);
            at += end;
            continue;
        }
        if let Some(comment) = rest.strip_prefix("/*")
            && let Some(end) = comment.find("*/")
        {
            at += end + 4;
            continue;
        }
        let word = || rest.find(|c| !continues_name(c)).unwrap_or(rest.len());
        let (token, length) = if starts_name(c) {
            (if word() == 1 && c == '_' { Token::Sign("_") } else { Token::Word }, word())
        } else if c.is_ascii_digit() {
            (Token::Number, word())
        } else if rest.starts_with("/*") {
            (Token::Unknown, rest.len())
        } else if c == '#' {
            (Token::Unknown, rest.find('\n').map_or(rest, |end| &rest[..end]).trim_end().len())
        } else if c == '"'
            && let Some(end) = rest[1..].find(['"', '\n'])
            && rest[1 + end..].starts_with('"')
        {
            (Token::Unknown, end + 2)
        } else if let Some(sign) = SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
            (Token::Sign(sign), sign.len())
        } else {
            (Token::Unknown, c.len_utf8())
        };
        let narrow = |offset| u32::try_from(offset).expect("a source is shorter than 4 GiB");
        let span = Span { source, start: narrow(at), end: narrow(at + length) };
        found.push(Lexeme { token, span, origin: origin.take() });
        at += length;
    }
    found
}

/// Reads the origin from a comment such as `file main.c line 12 function f`.
fn origin_in(comment: &str) -> Option<Origin> {
    let (file, after) = comment.trim().strip_prefix("file ")?.rsplit_once(" line ")?;
    let line = after.split_whitespace().next()?.parse().ok()?;
    Some(Origin { file: printable(file), line })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        lex(text, 0).iter().map(|lexeme| &text[lexeme.span.start as usize..lexeme.span.end as usize]).collect()
    }

    #[test]
    fn signs_are_as_long_as_they_can_be() {
        assert_eq!(
            words("a<=>b=>c:=d!=e ? f:g;_,_x"),
            ["a", "<=>", "b", "=>", "c", ":=", "d", "!=", "e", "?", "f", ":", "g", ";", "_", ",", "_x"]
        );
        assert_eq!(words("bool<2> c$$f('x)"), ["bool", "<", "2", ">", "c$$f", "(", "'", "x", ")"]);
    }

    #[test]
    fn comments_are_not_tokens() {
        assert_eq!(words("a // b\n/* c\n * */ d"), ["a", "d"]);
        assert_eq!(words("a /* b"), ["a", "/* b"]);
        assert_eq!(words("//"), [""; 0]);
    }

    #[test]
    fn lines_of_the_preprocessor_and_strings_are_one_token() {
        assert_eq!(
            words("#include <a.h> \r\nf(\"a;b\", \"c\n);"),
            ["#include <a.h>", "f", "(", "\"a;b\"", ",", "\"", "c", ")", ";"]
        );
    }

    #[test]
    fn an_origin_belongs_to_the_next_token() {
        let found = lex("a; // file ./my file.c line 12 function f\n// FROM x\n b; c // file x line\n d", 0);
        let origins: Vec<_> = found.iter().map(|lexeme| lexeme.origin.clone()).collect();
        let origin = Origin { file: "./my file.c".to_owned(), line: 12 };
        assert_eq!(origins, [None, None, Some(origin), None, None, None]);
    }

    /// Origins are shown in terminals and browsers, so control characters are escaped.
    #[test]
    fn an_origin_can_be_seen() {
        let found = lex("// file \u{202e}c.\u{1b}[2Jniam line 1\na", 0);
        assert_eq!(found[0].origin.as_ref().unwrap().file, "\\u{202e}c.\\u{1b}[2Jniam");
        assert!(!is_name("a\u{3164}") && words("a\u{3164}b") == ["a", "\u{3164}", "b"]);
    }
}
