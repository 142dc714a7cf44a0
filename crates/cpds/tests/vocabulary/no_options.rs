//! Libraries do not name options of a command line: no string literal in them has `--` and a
//! letter. A diagnostic contains a setting as data, and the command line prints its option.

use std::fs;
use std::path::{Path, PathBuf};

/// The libraries. In `cpds-check`, `main.rs` is a command line and is not tested.
const LIBRARIES: [&str; 5] = ["boolprog", "cpds", "cpds-check", "cuba", "models"];
const COMMAND_LINE: &str = "cpds-check/src/main.rs";

/// Returns the string literals of Rust code, each with its line.
fn literals(code: &str) -> Vec<(usize, String)> {
    let (mut found, mut at) = (Vec::new(), 0);
    let skip_to = |from: usize, end: &str| code[from..].find(end).map_or(code.len(), |found| from + found + end.len());
    while let Some(first) = code[at..].chars().next() {
        let rest = &code[at..];
        let hashes = rest.strip_prefix('r').map_or(0, |raw| raw.len() - raw.trim_start_matches('#').len());
        if rest.starts_with("//") {
            at = skip_to(at, "\n");
        } else if rest.starts_with("/*") {
            at = skip_to(at, "*/");
        } else if rest.starts_with("'\"'") || rest.starts_with("'\\") {
            at = skip_to(at + 2, "'");
        } else if rest.starts_with('r') && rest[1 + hashes..].starts_with('"') {
            let (start, end) = (at + hashes + 2, format!("\"{}", "#".repeat(hashes)));
            at = skip_to(start, &end);
            found.push((start, code[start..at - end.len()].to_owned()));
        } else if first == '"' {
            let mut escaped = false;
            let ends = |c: char| {
                let is_end = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                is_end
            };
            let length = rest[1..].find(ends).expect("every literal ends");
            found.push((at, rest[1..=length].to_owned()));
            at += length + 2;
        } else if first.is_alphanumeric() || first == '_' {
            // A whole word is skipped, so that an `r` at its end does not start a raw string.
            at += rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        } else {
            at += first.len_utf8();
        }
    }
    found.into_iter().map(|(at, text)| (code[..at].matches('\n').count() + 1, text)).collect()
}

/// Adds the Rust files in a folder and its subfolders.
fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

fn names_an_option(text: &str) -> bool {
    text.match_indices("--").any(|(at, _)| text[at + 2..].starts_with(|c: char| c.is_ascii_alphabetic()))
}

#[test]
fn libraries_name_no_options() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut all = Vec::new();
    for name in LIBRARIES {
        files(&crates.join(name).join("src"), &mut all);
    }
    assert!(all.len() > 40, "only {} source files", all.len());
    let mut found = Vec::new();
    for file in all.iter().filter(|file| !file.ends_with(COMMAND_LINE)) {
        let code = fs::read_to_string(file).unwrap();
        let named = literals(&code).into_iter().filter(|(_, text)| names_an_option(text));
        found.extend(named.map(|(line, text)| format!("{}:{line}: {text}", file.display())));
    }
    assert_eq!(found, Vec::<String>::new());
    // The test finds options where they are: in the command line.
    let code = fs::read_to_string(crates.join(COMMAND_LINE)).unwrap();
    assert!(literals(&code).iter().filter(|(_, text)| names_an_option(text)).count() > 5);
}

#[test]
fn literals_of_code() {
    let code = "a('\"', '\\'', b\"x\\\"y\", r#\"--\"z\"#) // \"no\"\n/* \"no\" */ &'a \"end\" for";
    let texts: Vec<(usize, String)> = literals(code);
    let expected = [(1, "x\\\"y"), (1, "--\"z"), (2, "end")];
    assert_eq!(texts, expected.map(|(line, text)| (line, text.to_owned())));
}
