//! Text for messages: only visible characters, short texts, numbers with their nouns, and the
//! nearest name.

use crate::names::is_invisible;

/// Whether a character is visible and has no effect on a terminal or a browser.
pub fn is_printable(c: char) -> bool {
    !is_invisible(c)
}

/// Escapes all characters that are invisible or that control a terminal.
///
/// All text from a file or from the command line goes through this function or through
/// [`printable_lines`] before it is printed.
pub fn printable(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if is_invisible(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    shown
}

/// Like [`printable`], but keeps ends of lines and tabs.
pub fn printable_lines(text: &str) -> String {
    if text.chars().all(|c| is_printable(c) || matches!(c, '\n' | '\t')) {
        return text.to_owned(); // nearly always
    }
    let mut shown = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let end = if line.ends_with("\r\n") { 2 } else { usize::from(line.ends_with('\n')) };
        let (line, end) = line.split_at(line.len() - end);
        let parts: Vec<String> = line.split('\t').map(printable).collect();
        shown += &parts.join("\t");
        shown += if end.is_empty() { "" } else { "\n" };
    }
    shown
}

/// Returns the beginning of a text, on one line and without characters that control a terminal.
pub fn shortened(text: &str) -> String {
    const KEEP: usize = 40;
    match text.char_indices().nth(KEEP) {
        Some((end, _)) => printable(&text[..end]) + "…",
        None => printable(text),
    }
}

/// Writes a number with its noun: `1 state`, `2 states`.
pub fn plural(n: impl ToString + Copy, one: &str) -> String {
    let n = n.to_string();
    format!("{n} {one}{}", if n == "1" { "" } else { "s" })
}

/// Returns the candidate that is most similar to `name`, if one is similar enough.
///
/// A number is never suggested for a number, because most numbers are similar to each other.
pub fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // These limits keep the search short.
    const CANDIDATES: usize = 1000;
    const LENGTH: usize = 40;
    let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let length = name.chars().take(LENGTH + 1).count();
    let allowed = (length / 3).max(1);
    candidates
        .take(if length > LENGTH { 0 } else { CANDIDATES })
        .filter(|candidate| candidate.chars().take(2 * LENGTH).count().abs_diff(length) <= allowed)
        .filter(|candidate| !(is_number(name) && is_number(candidate)))
        .map(|candidate| (strsim::damerau_levenshtein(name, candidate), candidate))
        .filter(|&(distance, candidate)| distance <= allowed && distance < candidate.chars().count())
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_control_a_terminal_are_escaped() {
        assert_eq!(printable("aε\u{1b}[1m\u{202e}b"), "aε\\u{1b}[1m\\u{202e}b");
        assert_eq!(printable("a\r\n\tb"), "a\\r\\n\\tb");
        assert_eq!(printable_lines("a\r\n\tb\u{2066}\n\rc"), "a\n\tb\\u{2066}\n\\rc");
        assert_eq!(printable_lines("a\r\n"), "a\n");
        // Some of each block of the category Cf, the separators, and other invisible characters.
        let unseen = "\u{0}\u{7f}\u{9b}\u{ad}\u{600}\u{61c}\u{6dd}\u{70f}\u{891}\u{8e2}\u{180e}\u{200b}\u{200d}\u{200f}\u{2028}\u{2029}\u{202a}\
            \u{202e}\u{2060}\u{2066}\u{2069}\u{206f}\u{feff}\u{fff9}\u{fffb}\u{110bd}\u{110cd}\u{13430}\u{1bca0}\u{1d173}\u{e0001}\u{e007f}\
            \u{34f}\u{115f}\u{17b5}\u{3164}\u{fe0f}";
        assert!(unseen.chars().all(|c| !is_printable(c)) && printable(unseen).is_ascii());
        assert!("aε⟨語é\u{301}→ \u{fffd}😀".chars().all(is_printable));
    }

    #[test]
    fn only_one_is_singular() {
        assert_eq!([0, 1, 2, 11].map(|n| plural(n, "state")), ["0 states", "1 state", "2 states", "11 states"]);
    }

    #[test]
    fn the_nearest_name_is_close_or_none() {
        let known = ["idle", "busy", "1"];
        assert_eq!(nearest("idel", known.into_iter()), Some("idle"));
        assert_eq!(nearest("bussy", known.into_iter()), Some("busy"));
        assert_eq!(nearest("wait", known.into_iter()), None);
        assert_eq!(nearest("2", known.into_iter()), None);
        assert_eq!(nearest("x", known.into_iter()), None);
    }

    #[test]
    fn the_search_for_a_name_is_bounded() {
        let long = "x".repeat(41);
        assert_eq!(nearest(&long, std::iter::once("x".repeat(40).as_str())), None, "too long for the search");
        let many: Vec<String> = (0..1001).map(|i| format!("other{i}")).chain(["idle".to_owned()]).collect();
        assert_eq!(nearest("idel", many.iter().map(String::as_str)), None, "too many for the search");
        assert_eq!(nearest("idel", many[2..].iter().map(String::as_str)), Some("idle"));
    }
}
