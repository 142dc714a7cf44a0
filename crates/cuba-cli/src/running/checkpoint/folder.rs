//! Of many processes, what each keeps of its shares of the states: files in a folder, each like a checkpoint.
//!
//! All shares are kept after the same level; then process 0 writes of which one, in a file of its own. Until then, what was kept before
//! stays. So whoever is killed when, there is a level of which everything is there.

use super::{DAMAGED, Header, Part, Resumed, write};
use crate::arguments::model::shown;
use crate::running::output_files::{self, LEFT};
use crate::running::panic_hook::lock;
use cuba::NotKept;
use cuba::distributed::Store;
use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Where a process keeps its shares of the states, each in a file of its own.
pub(crate) struct Folder {
    path: PathBuf,
    header: Header,
    /// The parts that are here.
    parts: Mutex<BTreeSet<usize>>,
}

impl Folder {
    pub(super) fn new(path: &Path, header: Header) -> Result<Self, String> {
        fs::create_dir_all(path).map_err(|error| format!("--checkpoint: `{}`: {error}", shown(path)))?;
        Ok(Folder { path: path.to_owned(), header, parts: Mutex::default() })
    }

    fn file(&self, part: usize, k: usize) -> PathBuf {
        lock(&self.parts).insert(part);
        self.path.join(format!("part-{part}-level-{k}"))
    }

    /// Removes the files with these names.
    fn clear(&self, is_meant: impl Fn(&str) -> bool) {
        for entry in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            if entry.file_name().to_str().is_some_and(&is_meant) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Nobody will go on from here. The last process removes the folder, with what may be left of others that were killed.
    pub(crate) fn remove(&self) {
        let parts = lock(&self.parts);
        let is_ours = |name: &str| kept(name).is_some_and(|(part, _)| parts.contains(&part));
        self.clear(|name| is_ours(name) || name.starts_with(LEFT));
        let _ = fs::remove_dir(&self.path);
    }
}

/// The part and the level of which a file has this name.
fn kept(name: &str) -> Option<(usize, usize)> {
    let (part, level) = name.strip_prefix("part-")?.split_once("-level-")?;
    Some((part.parse().ok()?, level.parse().ok()?))
}

impl Store for Folder {
    fn keep(
        &self,
        part: usize,
        k: usize,
        but: Option<usize>,
        content: &dyn Fn(&mut dyn Write) -> Result<(), NotKept>,
    ) -> Result<(), String> {
        self.clear(|name| kept(name).is_some_and(|(its, level)| its == part && Some(level) != but));
        let put = |out: &mut dyn Write| {
            let put = |number, to: Part<'_, '_>| if number == 0 { to.compress(content) } else { to.nothing() };
            write(out, &self.header, put).map(drop)
        };
        let path = self.file(part, k);
        output_files::replace(&path, put).map(drop).map_err(|error| format!("`{}`: {error}", shown(&path)))
    }

    fn read(
        &self,
        part: usize,
        k: usize,
        read: &mut dyn FnMut(&mut dyn Read) -> Result<(), NotKept>,
    ) -> Result<(), String> {
        let path = self.file(part, k);
        let why = |why: String| format!("`{}` {why}", shown(&path));
        let kept = Resumed::opened(&path).map_err(why)?;
        kept.must_be_of(&self.header.problem)?;
        let [place, _] = kept.parts().map_err(why)?;
        kept.unblocked(&place)
            .and_then(|mut input| read(&mut input))
            .map_err(|error| why(format!("{DAMAGED} ({error})")))
    }
}
