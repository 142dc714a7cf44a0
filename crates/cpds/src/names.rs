//! The names of shared states and stack symbols.
//!
//! The model uses dense numbers. A [`Names`] table maps them to the names in the text. A number is
//! a name too: `shared 0..3` declares the four names `0`, `1`, `2`, `3`.

use hashbrown::HashTable;
use rustc_hash::FxHasher;
use std::fmt;
use std::hash::Hasher;

/// The length of the longest name, in bytes.
pub const MAX_NAME: usize = 255;

/// Distinct names in order of first insertion, each with its number.
///
/// All names are in one buffer, so they need little more memory than their text.
#[derive(Clone, Default)]
pub struct Names {
    text: String,
    /// `ends[i]` is the end of name `i` in `text`. It starts at the end of the name before.
    ends: Vec<u32>,
    /// Numbers of names, hashed by their text.
    table: HashTable<u32>,
}

impl Names {
    /// Returns the number of `name`. A new name is added at the end.
    pub fn insert(&mut self, name: &str) -> u32 {
        if let Some(number) = self.get(name) {
            return number;
        }
        let number = u32::try_from(self.ends.len()).expect("fewer than 2^32 names");
        self.text.push_str(name);
        self.ends.push(u32::try_from(self.text.len()).expect("names fit into 4 GiB"));
        let (text, ends) = (&self.text, &self.ends);
        self.table.insert_unique(hash(name), number, |&other| hash(slice(text, ends, other)));
        number
    }

    /// Returns the number of `name`, if the table has it.
    pub fn get(&self, name: &str) -> Option<u32> {
        self.table.find(hash(name), |&other| slice(&self.text, &self.ends, other) == name).copied()
    }

    /// Returns the name with this number.
    ///
    /// # Panics
    /// If no name has this number.
    pub fn name(&self, number: u32) -> &str {
        slice(&self.text, &self.ends, number)
    }

    /// Returns the number of names.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no names.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns all names, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> + Clone {
        (0..).zip(&self.ends).map(|(number, _)| self.name(number))
    }
}

/// A repeated name counts once.
impl<S: AsRef<str>> FromIterator<S> for Names {
    fn from_iter<I: IntoIterator<Item = S>>(iter: I) -> Self {
        let mut names = Names::default();
        for name in iter {
            names.insert(name.as_ref());
        }
        names
    }
}

impl PartialEq for Names {
    fn eq(&self, other: &Self) -> bool {
        // The table is a function of the other two fields.
        self.text == other.text && self.ends == other.ends
    }
}

impl Eq for Names {}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

fn slice<'a>(text: &'a str, ends: &[u32], number: u32) -> &'a str {
    let i = number as usize;
    let start = if i == 0 { 0 } else { ends[i - 1] };
    &text[start as usize..ends[i] as usize]
}

fn hash(name: &str) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(name.as_bytes());
    hasher.finish()
}

/// Whether `c` may be in a name: it is visible, and no format uses it as punctuation.
pub(crate) fn is_name_char(c: char) -> bool {
    if c.is_ascii_alphanumeric() {
        return true; // the fast path, for nearly all names
    }
    let bracket = matches!(c, '(' | ')' | '[' | ']' | '{' | '}' | '<' | '>' | '⟨' | '⟩');
    let mark = matches!(c, '|' | ',' | ';' | ':' | '*' | '#' | '"' | '`' | '-' | '→' | 'ε');
    !bracket && !mark && !c.is_whitespace() && !is_invisible(c)
}

/// Whether a character is invisible: a control or formatting character, or one without width.
///
/// With such characters, different names could look the same, and a message could control the
/// terminal. These are the categories Cc, Cf, Zl and Zp of Unicode, and its default-ignorable
/// characters.
pub(crate) fn is_invisible(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    let separators_and_marks = matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}');
    let ignorable = matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}');
    let formats = matches!(c,
        '\u{600}'..='\u{605}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}' | '\u{8e2}' | '\u{110bd}' | '\u{110cd}'
        | '\u{13430}'..='\u{1343f}');
    c.is_control() || separators_and_marks || ignorable || formats
}

/// Whether `text` can be written as a name in a `.cpds` file.
///
/// ```
/// assert!(cpds::is_name("17") && cpds::is_name("main.3") && cpds::is_name("⊥"));
/// assert!(["", "a b", "0..3", "ε"].into_iter().all(|text| !cpds::is_name(text)));
/// ```
pub fn is_name(text: &str) -> bool {
    let has_range = text.as_bytes().windows(2).any(|pair| pair == b"..");
    !text.is_empty() && text.len() <= MAX_NAME && text.chars().all(is_name_char) && !has_range
}

/// Returns the value of `name` if it is a number without leading zeros (`7`, not `07`).
pub(crate) fn plain_number(name: &str) -> Option<u32> {
    let plain = name == "0" || name.starts_with(|c: char| ('1'..='9').contains(&c));
    if plain && name.bytes().all(|b| b.is_ascii_digit()) { name.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_order_and_numbers_of_their_insertion() {
        let mut names = Names::default();
        assert_eq!((names.insert("b"), names.insert("a"), names.insert("b")), (0, 1, 0));
        assert_eq!(names.iter().collect::<Vec<_>>(), ["b", "a"]);
        assert_eq!((names.get("a"), names.get("c"), names.name(0), names.len()), (Some(1), None, "b", 2));
        assert_ne!(names, ["ba"].into_iter().collect());
    }

    #[test]
    fn a_table_that_grows_finds_all_names_again() {
        let names: Names = (0..5000).map(|i| i.to_string()).collect();
        assert!((0..5000).all(|i| names.get(&i.to_string()) == Some(i)));
    }

    #[test]
    fn names_and_texts_that_are_not_names() {
        let longest = "a".repeat(MAX_NAME);
        for name in ["17", "main.3", "⊥", "a.", ".", &longest] {
            assert!(is_name(name), "{name}");
        }
        for not in ["", "a b", "0..3", "..", "ε", "a|b", "a\u{202e}", "\n", &format!("{longest}a")] {
            assert!(!is_name(not), "{not:?}");
        }
    }

    #[test]
    fn plain_numbers() {
        assert_eq!(plain_number("0"), Some(0));
        assert_eq!(plain_number("17"), Some(17));
        for not in ["07", "", "+7", "a", "4294967296"] {
            assert_eq!(plain_number(not), None, "{not}");
        }
    }
}
