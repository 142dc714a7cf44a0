//! Cycles of imports between the rooms of a crate.
//!
//! Each folder below `src` is a room, which consists of the files directly in it. A file `x.rs`
//! beside a folder `x` belongs to that folder. Each other file directly in `src` is a room, too,
//! except `lib.rs` and `main.rs`, which may import from all rooms.
//!
//! A room imports the rooms to which the paths in its files lead:
//!
//! - Paths from the root of the crate, from the module itself and from its parents count, in `use`
//!   and in expressions.
//! - A path to a name that a module re-exports leads to the room that defines the name. Re-exports
//!   with `*` are not followed: the path leads to the module that re-exports the name.
//! - A re-export from a module below is no import, unless other code of the file needs the name.
//! - Tests do not count: all modules with the name `tests`. A folder with nothing else is no room.

mod cycles;
mod modules;
mod paths;
mod tokens;

use cycles::{Imports, cycles_of};
use modules::Modules;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The source files of a crate: from each path below `src`, with `/`, to the text.
pub type Sources = BTreeMap<String, String>;

/// Returns the cycles of imports between the rooms of a crate, each with its files. `src` is the
/// folder of its sources.
///
/// # Panics
/// If the sources cannot be read.
pub fn cycles(src: &Path) -> Vec<String> {
    cycles_in(&sources(src))
}

/// Returns the cycles of imports between the rooms, each with its files.
pub fn cycles_in(sources: &Sources) -> Vec<String> {
    let mut imports = Imports::new();
    for (file, from, to) in Modules::new(sources).imports().into_iter().filter(|(_, from, to)| from != to) {
        imports.entry(from.to_owned()).or_default().entry(to.to_owned()).or_default().insert(file.to_owned());
    }
    cycles_of(&imports)
}

fn sources(src: &Path) -> Sources {
    let mut sources = Sources::new();
    let mut open = vec![src.to_owned()];
    while let Some(folder) = open.pop() {
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for path in entries.map(|entry| entry.expect("an entry").path()) {
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let below = path.strip_prefix(src).expect("the file is in `src`");
                let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
                sources.insert(parts.join("/"), fs::read_to_string(&path).expect("a source file"));
            }
        }
    }
    sources
}
