//! The prose of the project: plain words in comments, messages, help and pages; short lines in
//! pages.

use cpds_testing::corpus::{files, repository};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Words that make a person of a component, or that a reader has to read twice; each with what to
/// write instead. A phrase may be broken over lines.
const BANNED: &[(&str, &str)] = &[
    ("who", "name the component: the worker, the owner, the caller"),
    ("whom", "name the component"),
    ("whose a", "which worker owns a …"),
    ("nobody", "no thread, no worker, no reader"),
    ("somebody", "a thread, a worker, a reader"),
    ("someone", "a thread, a worker, a reader"),
    ("everybody", "all workers, all readers"),
    ("everyone", "all workers, all readers"),
    ("anybody", "any thread, any worker"),
    ("anyone", "any thread, any worker"),
    ("is had", "is allocated"),
    ("are had", "are allocated"),
    ("was had", "was allocated"),
    ("what both", "say what it is: both searches, both levels"),
    ("read back and", "restored"),
    ("kept and read", "saved and restored"),
    ("has the word", "may print the answer"),
    ("have the word", "may print the answer"),
    ("that are none", "that are not …"),
    ("do not use that", "disable …"),
    ("or believe it", "or accept the unchecked …"),
    ("what leaves a", "say what it is: the wire format, the message"),
    ("none of them bad", "no bad state is in …"),
];

/// Names of files and types that do not say what they name.
const NO_NAMES: &[&str] = &[
    "ahead", "asked", "awake", "below", "drawn", "found", "hands", "keep", "kept", "known", "made", "misc", "outlet",
    "outline", "ranks", "told", "util", "utils",
];

/// The files that have prose in them, by extension.
const EXTENSIONS: [&str; 9] = ["rs", "md", "toml", "py", "js", "css", "html", "cpds", "bp"];

/// The folders and files with our own texts, from the root of the repository.
const PLACES: [&str; 9] =
    [".ci", "ARCHITECTURE.md", "CHANGELOG.md", "README.md", "contrib", "crates", "docs", "fuzz", "models"];

/// All our own files with one of these extensions; not what cargo or Python build beside them.
fn texts(extensions: &[&str]) -> Vec<PathBuf> {
    let root = repository();
    let mut all = Vec::new();
    for place in PLACES.iter().map(|place| root.join(place)) {
        if place.is_dir() {
            all.extend(extensions.iter().flat_map(|extension| files(&place, extension)));
        } else if place.extension().is_some_and(|it| extensions.iter().any(|extension| it == *extension)) {
            all.push(place);
        }
    }
    let built = ["target", "corpus", "artifacts", "node_modules"];
    let is_ours = |path: &PathBuf| {
        let below = path.strip_prefix(&root).expect("it is below");
        !below.components().any(|part| built.iter().any(|built| part.as_os_str() == *built))
    };
    all.retain(is_ours);
    assert!(all.len() > 20, "{} files", all.len());
    all
}

/// The words of a text in small letters, each with its line. Markers of comments are no words.
fn words(text: &str) -> Vec<(String, usize)> {
    let mut words = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let parts = line.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '\'');
        words.extend(parts.filter(|word| !word.is_empty()).map(|word| (word.to_lowercase(), number)));
    }
    words
}

/// The lines of a text that have a banned phrase.
fn banned(text: &str) -> Vec<(usize, &'static str, &'static str)> {
    let words = words(text);
    let mut all = Vec::new();
    for &(phrase, instead) in BANNED {
        let parts: Vec<&str> = phrase.split(' ').collect();
        for place in words.windows(parts.len()) {
            if place.iter().map(|(word, _)| word.as_str()).eq(parts.iter().copied()) {
                all.push((place[0].1, phrase, instead));
            }
        }
    }
    all
}

fn shown(path: &Path) -> String {
    path.strip_prefix(repository()).expect("it is below").display().to_string()
}

#[test]
fn plain_words() {
    let mut faults = Vec::new();
    for path in texts(&EXTENSIONS) {
        if path.ends_with("testing/tests/prose.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a text");
        let fault = |(line, phrase, instead)| format!("{}:{line}: `{phrase}`: {instead}", shown(&path));
        faults.extend(banned(&text).into_iter().map(fault));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_banned_phrase_may_be_broken_over_lines() {
    assert_eq!(banned("//! Saves it.\n/// The memory is\n/// had late.")[0].0, 2);
    assert_eq!(banned("the whole hat is handed over"), []);
}

/// Prose has lines of at most 100 characters; blocks, tables and links may be longer.
#[test]
fn short_lines() {
    let mut faults = Vec::new();
    for path in texts(&["md"]) {
        let text = fs::read_to_string(&path).expect("a text");
        let mut is_block = false;
        for (line, number) in text.lines().zip(1..) {
            is_block ^= line.trim_start().starts_with("```");
            let is_prose = !is_block && !line.starts_with('|') && line.contains(' ');
            if is_prose && line.chars().count() > 100 {
                faults.push(format!("{}:{number}: {} characters", shown(&path), line.chars().count()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// The types that a source file declares, tests apart.
fn types(text: &str) -> Vec<String> {
    let mut types = Vec::new();
    for line in text.lines().take_while(|line| line.trim() != "mod tests {") {
        let mut words = line.split_whitespace().filter(|word| !word.starts_with("pub"));
        // Types of implementations of traits are indented.
        let is_type = match words.next() {
            Some("struct" | "enum" | "trait" | "union") => true,
            Some("type") => !line.starts_with(' '),
            _ => false,
        };
        let name = |word: &str| word.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
        types.extend(words.next().filter(|_| is_type).map(name));
    }
    types
}

/// In a crate two types never share a name, and names of files and types say what they name.
#[test]
fn names_of_types_and_files() {
    let mut faults = Vec::new();
    for crate_folder in fs::read_dir(repository().join("crates")).expect("the crates").map(|entry| entry.unwrap()) {
        let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for path in files(&crate_folder.path().join("src"), "rs") {
            let stem = path.file_stem().expect("a file").to_string_lossy().into_owned();
            if NO_NAMES.contains(&&*stem) {
                faults.push(format!("{}: what is in this file?", shown(&path)));
            }
            for name in types(&fs::read_to_string(&path).expect("a source file")) {
                if NO_NAMES.contains(&&*name.to_lowercase()) {
                    faults.push(format!("{}: what is `{name}`?", shown(&path)));
                }
                if !places.entry(name.clone()).or_default().insert(shown(&path)) {
                    faults.push(format!("{}: two types `{name}`", shown(&path)));
                }
            }
        }
        for (name, places) in places.iter().filter(|(_, places)| places.len() > 1) {
            faults.push(format!("`{name}` is in {}", places.iter().cloned().collect::<Vec<_>>().join(", ")));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
