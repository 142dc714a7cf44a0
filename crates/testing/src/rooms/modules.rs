//! The modules of a crate, their rooms, and the modules that paths lead to.

use super::Sources;
use super::paths::{NamePath, Paths, Use, paths};
use std::collections::{BTreeMap, BTreeSet};

/// The limit for re-exports of re-exports. Only texts that do not compile have a cycle of them.
const MOST_REEXPORTS: usize = 16;

/// A module that has a file.
struct Module<'a> {
    file: &'a str,
    paths: Paths,
}

/// The modules by their names from the root, which has no name.
pub(super) struct Modules<'a> {
    modules: BTreeMap<Vec<String>, Module<'a>>,
    /// The folders with a file that is not only for tests.
    folders: BTreeSet<String>,
}

impl<'a> Modules<'a> {
    pub(super) fn new(sources: &'a Sources) -> Self {
        let (mut modules, mut folders) = (BTreeMap::new(), BTreeSet::new());
        for (file, text) in sources {
            let mut names: Vec<String> = file.trim_end_matches(".rs").split('/').map(str::to_owned).collect();
            // Beside `lib.rs`, the file `main.rs` is a crate of its own.
            if names.iter().any(|name| name == "tests") || file == "main.rs" && sources.contains_key("lib.rs") {
                continue;
            }
            if let Some((folder, _)) = file.rsplit_once('/') {
                folders.insert(folder.to_owned());
            }
            if matches!(names.last().map(String::as_str), Some("mod" | "lib" | "main")) {
                names.pop();
            }
            modules.insert(names, Module { file, paths: paths(text) });
        }
        Self { modules, folders }
    }

    /// Returns the imports of all modules: the file, its room, and the room that it imports.
    pub(super) fn imports(&self) -> Vec<(&str, &str, &str)> {
        let mut imports = Vec::new();
        for (module, Module { file, paths }) in &self.modules {
            let Some(from) = self.room(module) else { continue };
            let is_reexport = |used: &Use, target: &[String]| {
                let is_needed = used.name.as_ref().is_some_and(|name| paths.words.contains(name));
                used.is_public && target.starts_with(module) && !is_needed
            };
            let used = paths
                .uses
                .iter()
                .filter_map(|used| self.target(module, &used.path, false).filter(|target| !is_reexport(used, target)));
            let others = paths.others.iter().filter_map(|path| self.target(module, path, true));
            for target in used.chain(others) {
                imports.extend(self.room(&target).map(|to| (*file, from, to)));
            }
        }
        imports
    }

    /// Returns the room of a module: its folder, or its file directly in `src`. The root has none.
    fn room(&self, module: &[String]) -> Option<&str> {
        let (_, around) = module.split_last()?;
        let folder = self.folders.get(&module.join("/")).or_else(|| self.folders.get(&around.join("/")));
        Some(folder.map_or(self.modules[module].file, String::as_str))
    }

    /// Returns the module that a path leads to, unless it leads out of the crate. `may_be_used`
    /// tells whether its first name may be one that the module uses.
    fn target(&self, module: &[String], path: &NamePath, may_be_used: bool) -> Option<Vec<String>> {
        if let Some((start, names)) = self.start(module, path) {
            return Some(self.follow(start, names, MOST_REEXPORTS));
        }
        let used = self.used(module, &path.names[0]).filter(|_| may_be_used)?;
        let (start, names) = self.start(module, &used.path)?;
        Some(self.follow(start, &[names, &path.names[1..]].concat(), MOST_REEXPORTS))
    }

    /// Returns the module in which a path starts, and the names after it.
    fn start<'p>(&self, module: &[String], path: &'p NamePath) -> Option<(Vec<String>, &'p [String])> {
        let mut around = [module, &path.inside].concat();
        let mut names = path.names.as_slice();
        match names[0].as_str() {
            "crate" => return Some((Vec::new(), &names[1..])),
            "self" => names = &names[1..],
            "super" => {
                while names.first().is_some_and(|name| name == "super") {
                    around.pop();
                    names = &names[1..];
                }
            }
            child if self.modules.contains_key(&[module, &[child.to_owned()]].concat()) => {}
            _ => return None,
        }
        // A module in braces belongs to the module of its file.
        around.truncate(around.len().min(module.len()));
        Some((around, names))
    }

    /// Returns the module that the names lead to, through at most so many re-exports.
    fn follow(&self, start: Vec<String>, names: &[String], reexports: usize) -> Vec<String> {
        let mut module = start;
        for (at, name) in names.iter().enumerate() {
            module.push(name.clone());
            if self.modules.contains_key(&module) {
                continue;
            }
            module.pop();
            if reexports > 0
                && let Some(used) = self.used(&module, name)
                && let Some((start, first)) = self.start(&module, &used.path)
            {
                return self.follow(start, &[first, &names[at + 1..]].concat(), reexports - 1);
            }
            break;
        }
        module
    }

    /// Returns the `use` that gives a module a name.
    fn used(&self, module: &[String], name: &str) -> Option<&Use> {
        let uses = &self.modules.get(module)?.paths.uses;
        uses.iter().find(|used| used.path.inside.is_empty() && used.name.as_deref() == Some(name))
    }
}
