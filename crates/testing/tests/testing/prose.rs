//! The prose of the project: plain words in comments, messages, help texts and pages, short lines
//! in pages and comments, and names that say what they name.

use cpds_testing::corpus::{all_files, files, repository};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Words and phrases that treat a component as a person, or that a reader has to read twice. Each
/// has a hint for the correction.
const BANNED: &[(&str, &str)] = &[
    ("who", "name the component: the worker, the owner, the caller"),
    ("whom", "name the component"),
    ("whoever", "name the component"),
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
    ("what both", "both searches, both levels"),
    ("read back and", "restored"),
    ("kept and read", "saved and restored"),
    ("has the word", "may print the answer"),
    ("have the word", "may print the answer"),
    ("that is none", "that is not …"),
    ("that are none", "that are not …"),
    ("which is none", "which is not …"),
    ("which are none", "which are not …"),
    ("for each one", "name the noun: for each thread, for each level"),
    ("do not use that", "disable …"),
    ("or believe it", "or accept the unchecked …"),
    ("what leaves a", "the wire format, the message"),
    ("none of them bad", "no bad state is in …"),
];

/// Names of files and types that do not say what they name.
const BAD_NAMES: &[&str] = &[
    "ahead", "asked", "awake", "below", "drawn", "found", "hands", "keep", "kept", "known", "made", "misc", "outlet",
    "outline", "ranks", "told", "util", "utils",
];

/// The extensions of files with prose. Scripts have no extension.
const EXTENSIONS: [&str; 11] = ["", "rs", "md", "toml", "py", "js", "css", "html", "xml", "cpds", "bp"];

/// The folders and files with our own texts, from the root of the repository.
const PLACES: [&str; 11] = [
    ".ci",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "Cargo.toml",
    "README.md",
    "contrib",
    "crates",
    "docs",
    "fuzz",
    "justfile",
    "models",
];

/// Folders that tools write, and the inputs of the fuzzer.
const OTHER_FOLDERS: [&str; 7] =
    ["target", "corpus", "dictionaries", "artifacts", "coverage", "node_modules", "__pycache__"];

/// The length of the longest line of prose or of a command on a page, and of the longest comment in
/// Rust code, in characters.
const WIDTH: usize = 100;

/// Returns all our own files with one of these extensions.
fn texts(extensions: &[&str]) -> Vec<PathBuf> {
    let root = repository();
    let mut all = Vec::new();
    for place in PLACES.iter().map(|place| root.join(place)) {
        all.extend(if place.is_dir() { all_files(&place) } else { vec![place] });
    }
    all.retain(|path| {
        let relative = path.strip_prefix(&root).expect("the file is in the repository");
        let extension = path.extension().unwrap_or_default();
        extensions.iter().any(|wanted| extension == *wanted)
            && !relative.components().any(|part| OTHER_FOLDERS.iter().any(|other| part.as_os_str() == *other))
    });
    all
}

/// Returns the words of a text in lower case, each with the number of its line.
///
/// Markers of comments, quotes, and the ends of lines separate words, so a phrase may be broken
/// over the lines of a comment or of a string. Escapes in strings separate words too. The parts of
/// an identifier are separate words, and the ending `'s` is no part of a word.
fn words(text: &str) -> Vec<(String, usize)> {
    let mut words = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let line = line.replace("\\n", " ").replace("\\t", " ").replace("’", "'");
        let parts = line.split(|c: char| !c.is_alphanumeric() && c != '\'');
        let parts = parts.map(|word| word.trim_matches('\'')).map(|word| word.strip_suffix("'s").unwrap_or(word));
        words.extend(parts.filter(|word| !word.is_empty()).map(|word| (word.to_lowercase(), number)));
    }
    words
}

/// Returns the banned phrases of a text, each with its line and its hint.
fn banned(text: &str) -> Vec<(usize, &'static str, &'static str)> {
    let words = words(text);
    let mut all = Vec::new();
    for &(phrase, hint) in BANNED {
        let parts: Vec<&str> = phrase.split(' ').collect();
        for place in words.windows(parts.len()) {
            if place.iter().map(|(word, _)| word.as_str()).eq(parts.iter().copied()) {
                all.push((place[0].1, phrase, hint));
            }
        }
    }
    all
}

/// Whether a line of text can be broken. A row of a table cannot, and neither can a line without a
/// blank, such as a long link.
fn is_breakable(text: &str) -> bool {
    let text = text.trim();
    !text.starts_with('|') && text.contains(' ')
}

/// Returns the length of a line, if the line is too long.
fn too_long(line: &str) -> Option<usize> {
    Some(line.chars().count()).filter(|&length| length > WIDTH)
}

/// Returns the lines of prose and of commands on a page that are too long, with their lengths.
///
/// Commands are the lines of `sh` blocks. In `console` blocks they are the lines after `$ `, and
/// the lines on which a command continues after a backslash. All other lines of blocks are code or
/// copied output, which cannot be broken.
fn long_lines(page: &str) -> Vec<(usize, usize)> {
    let mut block: Option<&str> = None;
    let mut is_continued = false;
    let mut long = Vec::new();
    for (line, number) in page.lines().zip(1..) {
        if let Some(language) = line.trim_start().strip_prefix("```") {
            (block, is_continued) = (if block.is_some() { None } else { Some(language) }, false);
            continue;
        }
        let is_command = match block {
            Some("sh") => true,
            Some("console") => is_continued || line.trim_start().starts_with("$ "),
            None | Some(_) => false,
        };
        is_continued = is_command && line.ends_with('\\');
        let is_held = if block.is_some() { is_command } else { is_breakable(line) };
        long.extend(too_long(line).filter(|_| is_held).map(|length| (number, length)));
    }
    long
}

/// Returns the lines of comments in Rust code that are too long, with their lengths. A comment
/// after code belongs to the line of code, which `rustfmt` checks.
fn long_comments(code: &str) -> Vec<(usize, usize)> {
    let mut long = Vec::new();
    for (line, number) in code.lines().zip(1..) {
        let Some(comment) = line.trim_start().strip_prefix("//") else { continue };
        let is_held = is_breakable(comment.trim_start_matches(['/', '!']));
        long.extend(too_long(line).filter(|_| is_held).map(|length| (number, length)));
    }
    long
}

/// Returns the path of a file from the root of the repository.
fn shown(path: &Path) -> String {
    path.strip_prefix(repository()).expect("the file is in the repository").display().to_string()
}

#[test]
fn texts_have_no_banned_words() {
    let texts = texts(&EXTENSIONS);
    for name in ["justfile", "fuzz/run", "crates/cuba-cli/src/main.rs", "docs/glossary.md", "models/README.md"] {
        assert!(texts.iter().any(|path| shown(path) == name), "{name} is not among the texts");
    }
    let mut faults = Vec::new();
    // This file contains the banned words.
    for path in texts.iter().filter(|path| !path.ends_with("testing/tests/testing/prose.rs")) {
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let fault = |(line, phrase, hint)| format!("{}:{line}: `{phrase}`: {hint}", shown(path));
        faults.extend(banned(&text).into_iter().map(fault));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Checks the lines of all files with this extension.
fn lines_are_short(extension: &str, long: impl Fn(&str) -> Vec<(usize, usize)>) {
    let mut faults = Vec::new();
    for path in texts(&[extension]) {
        let text = fs::read_to_string(&path).expect("a text");
        let fault = |(line, length)| format!("{}:{line}: {length} characters", shown(&path));
        faults.extend(long(&text).into_iter().map(fault));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn pages_have_short_lines() {
    lines_are_short("md", long_lines);
}

#[test]
fn comments_have_short_lines() {
    lines_are_short("rs", long_comments);
}

/// Unclear sentences, each of which must be found.
#[test]
fn unclear_sentences_are_found() {
    let sentences = [
        "what both ends have, kept and read back",
        "Whose a state is, and what leaves a share of the states for others",
        "Who has the word speaks",
        "The memory is had when it is first written: by all who work here",
        "rows that are none",
        "Do not use that threads are interchangeable",
        "or believe it with --no-check",
    ];
    for sentence in sentences {
        assert!(!banned(sentence).is_empty(), "{sentence}");
    }
    let clear = [
        "Saves and restores both searches.",
        "Which worker owns a state, and the wire format for sending it.",
        "Claims the right to print the final answer; blocks if the guard has it.",
        "Zeroed in parallel, so that each core faults in its own pages.",
        "row data is not a multiple of the row width",
        "Disable symmetry reduction",
        "or rerun with `--no-check` to accept the unchecked proof",
        "the whole hat is handed over",
    ];
    for sentence in clear {
        assert_eq!(banned(sentence), [], "{sentence}");
    }
}

#[test]
fn phrases_may_be_broken_over_lines() {
    let line = |text: &str| banned(text).first().map(|found| found.0);
    let broken = [
        // A comment, in Rust and in a script.
        "//! Saves it.\n/// The memory is\n    /// had late.",
        "echo 1\n# The memory is\n# had late.",
        // A string with a continued line, a string with an end of line, and two strings.
        "print(\n\"the memory is \\\n had late\")",
        "\n\"late: the memory is\\nhad\"",
        "concat!(\n\"the memory is\",\n\" had late\")",
        // An attribute of an argument, and a name.
        "\n#[arg(help = \"the memory is had late\")]",
        "\nfn memory_is_had_late() {",
    ];
    for text in broken {
        assert_eq!(line(text), Some(2), "{text}");
    }
    assert_eq!(line("this is nobody's mistake"), Some(1));
    assert_eq!(line("Nobody’s mistake"), Some(1));
}

#[test]
fn long_lines_of_prose_are_found() {
    let long = ["word"; 30].join(" ");
    let page = format!("{long}\n| {long} |\n```\n{long}\n```\n{}\n  {long}\n", "x".repeat(200));
    assert_eq!(long_lines(&page), [(1, 149), (7, 151)]);
}

#[test]
fn long_commands_are_found() {
    let long = ["word"; 30].join(" ");
    let page = format!(
        "```sh\n{long}\n```\n{long}\n```console\n$ {long}\n{long}\n$ a \\\n  {long}\n{long}\n```\n```text\n{long}\n```\n"
    );
    assert_eq!(long_lines(&page), [(2, 149), (4, 149), (6, 151), (9, 151)]);
}

#[test]
fn long_comments_are_found() {
    let (long, link) = (["word"; 30].join(" "), "x".repeat(200));
    let code = format!(
        "//! {long}\n    /// {long}\n// {long}\n{long} // {long}\n// | {long} |\n//! {link}\n/// {}\n",
        "σ".repeat(49) + &" σ".repeat(23)
    );
    assert_eq!(long_comments(&code), [(1, 153), (2, 157), (3, 152)]);
}

/// Returns the types that a source file declares, without those of tests.
fn types(path: &Path) -> Vec<String> {
    let mut types = Vec::new();
    if path.extension().is_none_or(|extension| extension != "rs") || path.ends_with("tests.rs") {
        return types;
    }
    let text = fs::read_to_string(path).expect("a source file");
    for line in text.lines().take_while(|line| line.trim() != "mod tests {") {
        let mut words = line.split_whitespace().filter(|word| !word.starts_with("pub"));
        // An indented `type` belongs to an implementation of a trait.
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

/// Names of files and of types say what they name.
#[test]
fn names_are_clear() {
    let mut faults = Vec::new();
    for path in texts(&["", "rs", "py", "js", "css", "html"]) {
        let stem = path.file_stem().expect("a file").to_string_lossy().into_owned();
        if BAD_NAMES.contains(&&*stem) {
            faults.push(format!("{}: the name of the file is unclear", shown(&path)));
        }
        for name in types(&path).iter().filter(|name| BAD_NAMES.contains(&&*name.to_lowercase())) {
            faults.push(format!("{}: the name `{name}` is unclear", shown(&path)));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Two types of one crate never have the same name.
#[test]
fn types_of_a_crate_have_different_names() {
    let mut faults = Vec::new();
    for entry in fs::read_dir(repository().join("crates")).expect("the crates") {
        let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for path in files(&entry.expect("a crate").path().join("src"), "rs") {
            for name in types(&path) {
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
