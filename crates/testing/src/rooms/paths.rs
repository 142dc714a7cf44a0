//! The paths in a file.

use super::tokens::{is_word, tokens};
use std::collections::BTreeSet;

/// A path to a name in this crate or in another one.
pub(super) struct NamePath {
    /// The modules in this file around the path, from the outermost.
    pub(super) inside: Vec<String>,
    pub(super) names: Vec<String>,
}

/// A `use`: it imports the path. A list in braces is several ones.
pub(super) struct Use {
    pub(super) path: NamePath,
    /// The name in this file, unless `use` stands for all names in a module.
    pub(super) name: Option<String>,
    pub(super) is_public: bool,
}

/// All paths in a file.
#[derive(Default)]
pub(super) struct Paths {
    pub(super) uses: Vec<Use>,
    /// The paths in all other code.
    pub(super) others: Vec<NamePath>,
    /// The words in all other code that are no paths.
    pub(super) words: BTreeSet<String>,
}

/// Reads a file. Leaves out its modules named `tests`.
pub(super) fn paths(text: &str) -> Paths {
    let tokens = tokens(text);
    let mut reader = Reader { tokens: &tokens, at: 0, depth: 0, inside: Vec::new(), paths: Paths::default() };
    while reader.at < tokens.len() {
        reader.item_or_token();
    }
    reader.paths
}

struct Reader<'a> {
    tokens: &'a [&'a str],
    at: usize,
    depth: usize,
    /// The modules around this place, each with the depth of its content.
    inside: Vec<(String, usize)>,
    paths: Paths,
}

impl<'a> Reader<'a> {
    /// Returns the token at a distance, or an empty text after the end.
    fn ahead(&self, distance: usize) -> &'a str {
        self.tokens.get(self.at + distance).copied().unwrap_or_default()
    }

    fn before(&self) -> &'a str {
        self.at.checked_sub(1).map_or("", |at| self.tokens[at])
    }

    fn item_or_token(&mut self) {
        match (self.ahead(0), self.ahead(1), self.ahead(2)) {
            ("mod", "tests", "{") => {
                self.at += 2;
                self.block();
            }
            ("mod", name, "{") => {
                self.depth += 1;
                self.inside.push((name.to_owned(), self.depth));
                self.at += 3;
            }
            ("{", ..) => {
                self.depth += 1;
                self.at += 1;
            }
            ("}", ..) => {
                self.inside.pop_if(|(_, depth)| *depth == self.depth);
                self.depth = self.depth.saturating_sub(1);
                self.at += 1;
            }
            // `pub(in crate::a)` imports nothing.
            ("pub", "(", _) => {
                while self.ahead(0) != ")" && self.at < self.tokens.len() {
                    self.at += 1;
                }
                self.at += 1;
                if self.ahead(0) == "use" {
                    self.use_item(true);
                }
            }
            ("pub", "use", _) => {
                self.at += 1;
                self.use_item(true);
            }
            // `use<'a>` is a bound.
            ("use", next, _) if next != "<" => self.use_item(false),
            (head, "::", _) if head.starts_with(is_word) && !matches!(self.before(), "::" | "$") => self.path(),
            (word, ..) => {
                if word.starts_with(is_word) {
                    self.paths.words.insert(word.to_owned());
                }
                self.at += 1;
            }
        }
    }

    /// Skips a block in braces.
    fn block(&mut self) {
        let mut depth = 0_usize;
        while self.at < self.tokens.len() {
            match self.ahead(0) {
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                break;
            }
        }
    }

    /// Reads a path outside of `use`.
    fn path(&mut self) {
        let mut names = vec![self.ahead(0).to_owned()];
        self.at += 1;
        while self.ahead(0) == "::" && self.ahead(1).starts_with(is_word) {
            names.push(self.ahead(1).to_owned());
            self.at += 2;
        }
        let path = self.here(names);
        self.paths.others.push(path);
    }

    fn use_item(&mut self, is_public: bool) {
        self.at += 1;
        if self.ahead(0) == "::" {
            self.at += 1;
        }
        self.use_tree(&[], is_public);
    }

    /// Reads the rest of a `use` after a prefix, up to a comma, a brace or a semicolon.
    fn use_tree(&mut self, prefix: &[String], is_public: bool) {
        let mut names = prefix.to_vec();
        let mut name = None;
        loop {
            match self.ahead(0) {
                "{" => {
                    self.at += 1;
                    while !matches!(self.ahead(0), "}" | "") {
                        self.use_tree(&names, is_public);
                        if self.ahead(0) == "," {
                            self.at += 1;
                        }
                    }
                    self.at += 1;
                    return;
                }
                "as" => {
                    name = Some(self.ahead(1).to_owned());
                    self.at += 2;
                }
                "," | "}" | ";" | "" => break,
                "self" if !prefix.is_empty() => {
                    name = names.last().cloned();
                    self.at += 1;
                }
                word if word.starts_with(is_word) => {
                    names.push(word.to_owned());
                    name = Some(word.to_owned());
                    self.at += 1;
                }
                "*" => {
                    name = None;
                    self.at += 1;
                }
                _ => self.at += 1,
            }
        }
        if !names.is_empty() {
            let path = self.here(names);
            self.paths.uses.push(Use { path, name, is_public });
        }
    }

    fn here(&self, names: Vec<String>) -> NamePath {
        NamePath { inside: self.inside.iter().map(|(name, _)| name.clone()).collect(), names }
    }
}
