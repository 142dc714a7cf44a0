//! Cycles of imports between the folders of a crate.
//!
//! A room is a folder of `src` with its subfolders. A path that begins with `crate::` is an import
//! of the room that it names first. The tests at the foot of a file do not count: reading stops at
//! `mod tests {`. Files directly in `src` are in no room, and may import from all rooms.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// From each room to the rooms that it imports, with the files that import them.
type Imports = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// Returns the cycles of imports between the rooms of a crate, each with its files.
///
/// # Panics
/// If the sources cannot be read.
pub fn cycles(src: &Path) -> Vec<String> {
    cycles_of(&imports(src))
}

fn imports(src: &Path) -> Imports {
    let rooms: Vec<PathBuf> = entries(src).into_iter().filter(|path| path.is_dir()).collect();
    let name = |path: &Path| path.file_name().expect("a room has a name").to_string_lossy().into_owned();
    let names: BTreeSet<String> = rooms.iter().map(|room| name(room)).collect();
    let mut imports = Imports::new();
    for room in &rooms {
        let from = imports.entry(name(room)).or_default();
        for file in sources(room) {
            let text = fs::read_to_string(&file).expect("a source file");
            let shown = file.strip_prefix(src).expect("the file is in `src`").display().to_string();
            for to in imported(&text).into_iter().filter(|to| *to != name(room) && names.contains(to)) {
                from.entry(to).or_default().insert(shown.clone());
            }
        }
    }
    imports
}

/// Returns the first names of all paths from the root of the crate: in `use crate::a::…`, in
/// `use crate::{a, b::…}`, and in expressions.
fn imported(text: &str) -> Vec<String> {
    let code: String = text
        .lines()
        .take_while(|line| line.trim() != "mod tests {")
        .filter(|line| !line.trim_start().starts_with("//"))
        .fold(String::new(), |code, line| code + line + "\n");
    let mut names = Vec::new();
    for (at, path) in code.match_indices("crate::") {
        // Neither `$crate::` nor a name that ends in `crate`.
        if code[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$')) {
            continue;
        }
        names.extend(first_names(&code[at + path.len()..]));
    }
    names
}

/// Returns the name at the beginning of a path, or the names in its braces.
fn first_names(path: &str) -> Vec<String> {
    let name = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let Some(list) = path.strip_prefix('{') else { return vec![name(path)] };
    let (mut depth, mut names, mut is_first) = (0_usize, Vec::new(), true);
    for (at, c) in list.char_indices() {
        match c {
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            '{' => depth += 1,
            ',' if depth == 0 => is_first = true,
            _ if is_first && !c.is_whitespace() => {
                names.push(name(&list[at..]));
                is_first = false;
            }
            _ => {}
        }
    }
    names
}

/// Returns for each import that is on a cycle a shortest such cycle, without duplicates.
fn cycles_of(imports: &Imports) -> Vec<String> {
    let mut cycles = BTreeMap::new();
    for (from, targets) in imports {
        for to in targets.keys() {
            if let Some(back) = path(imports, to, from) {
                let rooms: BTreeSet<String> = back.iter().cloned().collect();
                let mut round = vec![from.clone()];
                round.extend(back);
                cycles.entry(rooms).or_insert(round);
            }
        }
    }
    let step = |pair: &[String]| {
        let files: Vec<&str> = imports[&pair[0]][&pair[1]].iter().map(String::as_str).collect();
        format!("{} imports {} ({})", pair[0], pair[1], files.join(", "))
    };
    cycles.values().map(|round| round.windows(2).map(step).collect::<Vec<_>>().join("; ")).collect()
}

/// Returns a shortest path of imports, with both its ends.
fn path(imports: &Imports, from: &str, to: &str) -> Option<Vec<String>> {
    let mut before: BTreeMap<&str, Option<&str>> = BTreeMap::from([(from, None)]);
    let mut wave = vec![from];
    while !wave.is_empty() && !before.contains_key(to) {
        let mut next = Vec::new();
        for room in wave {
            for target in imports.get(room).into_iter().flatten().map(|(target, _)| target.as_str()) {
                before.entry(target).or_insert_with(|| {
                    next.push(target);
                    Some(room)
                });
            }
        }
        wave = next;
    }
    let mut rooms = vec![*before.get_key_value(to)?.0];
    while let Some(Some(room)) = before.get(rooms[rooms.len() - 1]) {
        rooms.push(room);
    }
    Some(rooms.into_iter().rev().map(str::to_owned).collect())
}

/// Returns all source files of a room.
fn sources(room: &Path) -> Vec<PathBuf> {
    let below = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![path] };
    let all = entries(room).into_iter().flat_map(below);
    all.filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut entries: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    entries.sort();
    entries
}
