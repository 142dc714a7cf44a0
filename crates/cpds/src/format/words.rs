//! Helpers for messages: the nearest name, and short lists of names.

use crate::diagnostic::printable;
use crate::names::plain_number;

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

/// Returns the beginning of a text, on one line and without characters that control a terminal.
pub fn shortened(text: &str) -> String {
    const KEEP: usize = 40;
    match text.char_indices().nth(KEEP) {
        Some((end, _)) => printable(&text[..end]) + "…",
        None => printable(text),
    }
}

/// Writes names as in a text, with three or more consecutive numbers as `low..high`.
pub(crate) fn with_ranges<'a>(names: impl Iterator<Item = &'a str>) -> impl Iterator<Item = String> {
    let mut names = names.peekable();
    std::iter::from_fn(move || {
        let first = names.next()?;
        let Some(low) = plain_number(first) else { return Some(first.to_owned()) };
        let mut high = low;
        while names.next_if(|&next| plain_number(next).is_some_and(|n| n.checked_sub(1) == Some(high))).is_some() {
            high += 1;
        }
        Some(match high - low {
            0 => first.to_owned(),
            1 => format!("{low} {high}"),
            _ => format!("{low}..{high}"),
        })
    })
}

/// Writes a short list of names, for a message.
pub(crate) fn summary<'a>(names: impl Iterator<Item = &'a str>) -> String {
    const SHOW: usize = 8;
    let mut items = with_ranges(names);
    let mut shown: Vec<String> = items.by_ref().take(SHOW).collect();
    if shown.is_empty() {
        return "nothing".to_owned();
    }
    if items.next().is_some() {
        shown.push("…".to_owned());
    }
    shown.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn runs_of_numbers_become_ranges() {
        let list = |names: &[&str]| with_ranges(names.iter().copied()).collect::<Vec<_>>().join(" ");
        assert_eq!(list(&["1", "2", "4", "5", "6", "a", "7"]), "1 2 4..6 a 7");
        assert_eq!(list(&["3", "2", "1"]), "3 2 1");
        assert_eq!(list(&["08", "9", "10"]), "08 9 10");
        assert_eq!(list(&["4294967295", "4294967296"]), "4294967295 4294967296");
    }
}
