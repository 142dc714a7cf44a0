//! The keywords and constants of Boolean programs.

use crate::syntax::Dialect;

/// The keywords with which a statement or a declaration starts.
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

/// Returns whether a word is a keyword. A keyword cannot be a name.
pub(crate) fn is_keyword(word: &str) -> bool {
    STARTS.contains(&word) || OTHERS.contains(&word)
}

/// Returns the value of a word, if it is a constant.
pub(crate) fn is_constant(word: &str, dialect: Dialect) -> Option<bool> {
    match (word, dialect) {
        ("0" | "false", _) | ("F", Dialect::Slam) => Some(false),
        ("1" | "true", _) | ("T", Dialect::Slam) => Some(true),
        _ => None,
    }
}
