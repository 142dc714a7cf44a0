//! Lists of names: with ranges of numbers, as in a text, and short ones for messages.

use crate::names::plain_number;

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
    fn runs_of_numbers_become_ranges() {
        let list = |names: &[&str]| with_ranges(names.iter().copied()).collect::<Vec<_>>().join(" ");
        assert_eq!(list(&["1", "2", "4", "5", "6", "a", "7"]), "1 2 4..6 a 7");
        assert_eq!(list(&["3", "2", "1"]), "3 2 1");
        assert_eq!(list(&["08", "9", "10"]), "08 9 10");
        assert_eq!(list(&["4294967295", "4294967296"]), "4294967295 4294967296");
    }
}
