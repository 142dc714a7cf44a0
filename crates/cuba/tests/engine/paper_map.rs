//! The table in `docs/paper-map.md`: each term leads to a file whose first line has the term.

use std::fs;
use std::path::{Path, PathBuf};

/// Terms that the table must have.
const REQUIRED: [&str; 10] =
    ["R_k", "T(R_k)", "Z", "G", "A_d", "S_k", "post*", "FCR", "certificate's conditions", "race of both searches"];

struct Row {
    term: String,
    file: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the rows of the first table of a page, without its head.
fn rows(page: &str) -> Vec<Row> {
    let table = page.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let cells = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect::<Vec<_>>();
    let row = |line| match <[String; 3]>::try_from(cells(line)) {
        Ok([term, _, file]) => Row { term, file: file.trim_matches('`').to_owned() },
        Err(cells) => panic!("a row has three cells: {cells:?}"),
    };
    table.skip(2).map(row).collect()
}

/// Returns the first line of the comment at the top of a file, or the title of a page.
fn first_line(path: &str, text: &str) -> String {
    let marker = match Path::new(path).extension().and_then(|extension| extension.to_str()) {
        Some("rs") => "//! ",
        Some("cpds" | "md") => "# ",
        _ => panic!("{path} is of no known kind"),
    };
    text.lines().next().and_then(|line| line.strip_prefix(marker)).unwrap_or_default().to_owned()
}

/// Whether a text has a term as a whole word, perhaps with a capital or in the plural.
fn has_term(text: &str, term: &str) -> bool {
    let mut letters = term.chars();
    let capital: String = letters.next().into_iter().flat_map(char::to_uppercase).chain(letters).collect();
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    [term, &capital].into_iter().any(|term| {
        text.match_indices(term).any(|(at, _)| {
            let rest = &text[at + term.len()..];
            let rest = rest.strip_prefix('s').unwrap_or(rest);
            !text[..at].ends_with(is_part) && !rest.starts_with(is_part)
        })
    })
}

#[test]
fn each_term_of_the_paper_map_is_in_the_first_line_of_its_file() {
    let page = fs::read_to_string(root().join("docs/paper-map.md")).expect("the page exists");
    let rows = rows(&page);
    let mut faults = Vec::new();
    for Row { term, file } in &rows {
        match fs::read_to_string(root().join(file)) {
            Err(error) => faults.push(format!("{term}: {file}: {error}")),
            Ok(text) if !has_term(&first_line(file, &text), term) => {
                faults.push(format!("{term} is not in the first line of {file}"));
            }
            Ok(_) => {}
        }
    }
    for required in REQUIRED {
        if !rows.iter().any(|row| row.term == required) {
            faults.push(format!("{required} is not in the table"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn a_term_is_a_whole_word() {
    assert!(has_term("Generators, G: where pops lead", "G"));
    assert!(has_term("Pumping heads: ..", "pumping head"));
    assert!(has_term("T(R_0) ⊆ … ⊆ T(R_k), level by level", "T(R_k)"));
    assert!(!has_term("Generators", "G"));
    assert!(!has_term("Z_z: stacks of height z", "Z"));
    assert!(!has_term("matched", "match"));
}
