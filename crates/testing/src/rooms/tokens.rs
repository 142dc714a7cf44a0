//! The tokens of a Rust text, as far as paths need them.

/// Returns the words, the signs `::`, and all other signs one by one. Leaves out comments and
/// literals.
pub(super) fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (length, is_token) = match first {
            _ if rest.starts_with("//") => (rest.find('\n').unwrap_or(rest.len()), false),
            _ if rest.starts_with("/*") => (rest.find("*/").map_or(rest.len(), |end| end + 2), false),
            _ if rest.starts_with("::") => (2, true),
            _ if is_raw_string(rest) => (raw_string(rest), false),
            '"' => (string(rest), false),
            '\'' => (character_or_lifetime(rest), false),
            _ if is_word(first) => (rest.find(|c| !is_word(c)).unwrap_or(rest.len()), true),
            _ => (first.len_utf8(), !first.is_whitespace()),
        };
        if is_token {
            tokens.push(&rest[..length]);
        }
        rest = &rest[length..];
    }
    tokens
}

/// Returns whether a character may be in a word.
pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn is_raw_string(text: &str) -> bool {
    let quoted = text.strip_prefix("br").or_else(|| text.strip_prefix('r'));
    quoted.is_some_and(|quoted| quoted.trim_start_matches('#').starts_with('"'))
}

fn raw_string(text: &str) -> usize {
    let quote = text.find('"').expect("a quotation mark");
    let end = format!("\"{}", "#".repeat(text[..quote].matches('#').count()));
    let start = quote + 1;
    text[start..].find(&end).map_or(text.len(), |length| start + length + end.len())
}

fn string(text: &str) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !is_escaped => return at + 1,
            _ => is_escaped = c == '\\' && !is_escaped,
        }
    }
    text.len()
}

fn character_or_lifetime(text: &str) -> usize {
    let mut characters = text.char_indices().skip(1);
    match (characters.next(), characters.next()) {
        // The character after the backslash may be a quotation mark.
        (Some((_, '\\')), Some((at, c))) => {
            let start = at + c.len_utf8();
            text[start..].find('\'').map_or(text.len(), |length| start + length + 1)
        }
        (_, Some((at, '\''))) => at + 1,
        _ => 1,
    }
}
