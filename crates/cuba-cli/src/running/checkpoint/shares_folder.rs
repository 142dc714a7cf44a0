//! The folder in which a process saves its shares of the states. Each file has the format of a
//! checkpoint.
//!
//! All shares are saved after the same level. Then process 0 writes the number of this level to its
//! own file. Until then, the older files stay. So all shares of one level exist whenever a process
//! is killed.

use crate::running::checkpoint::format::{BlockReader, DAMAGED, Part, read_parts, write};
use crate::running::checkpoint::{Header, ResumedRun};
use crate::running::lock::lock;
use crate::running::output_files::{self, UNFINISHED};
use crate::running::run::Run;
use crate::text::file_names::printable_path;
use cuba::StorageError;
use cuba::distributed::ShareStore;
use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

/// The folder in which a process saves its shares of the states, each in its own file.
pub(crate) struct SharesFolder {
    run: Arc<Run>,
    path: PathBuf,
    header: Header,
    /// The parts of this process.
    parts: Mutex<BTreeSet<usize>>,
}

impl SharesFolder {
    pub(crate) fn new(run: &Arc<Run>, path: &Path, header: Header) -> Result<Self, String> {
        fs::create_dir_all(run.files.resolve(path))
            .map_err(|error| format!("--checkpoint: `{}`: {error}", printable_path(path)))?;
        Ok(SharesFolder { run: Arc::clone(run), path: path.to_owned(), header, parts: Mutex::default() })
    }

    fn file(&self, part: usize, k: usize) -> PathBuf {
        lock(&self.parts).insert(part);
        self.path.join(format!("part-{part}-level-{k}"))
    }

    /// Removes the files with these names.
    fn clear(&self, is_meant: impl Fn(&str) -> bool) {
        for entry in fs::read_dir(self.run.files.resolve(&self.path)).into_iter().flatten().flatten() {
            if entry.file_name().to_str().is_some_and(&is_meant) {
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    /// Removes the files of this process. The last process removes the folder, with the files of
    /// processes that were killed.
    pub(crate) fn remove(&self) {
        let parts = lock(&self.parts);
        let is_ours = |name: &str| part_and_level(name).is_some_and(|(part, _)| parts.contains(&part));
        self.clear(|name| is_ours(name) || name.starts_with(UNFINISHED));
        let _ = fs::remove_dir(self.run.files.resolve(&self.path));
    }
}

/// Reads the part and the level from the name of a file.
fn part_and_level(name: &str) -> Option<(usize, usize)> {
    let (part, level) = name.strip_prefix("part-")?.split_once("-level-")?;
    Some((part.parse().ok()?, level.parse().ok()?))
}

impl ShareStore for SharesFolder {
    fn save(
        &self,
        part: usize,
        k: usize,
        complete: Option<usize>,
        content: &dyn Fn(&mut dyn Write) -> Result<(), StorageError>,
    ) -> Result<(), String> {
        self.clear(|name| part_and_level(name).is_some_and(|(its, level)| its == part && Some(level) != complete));
        let put = |out: &mut dyn Write| {
            let put = |number, to: Part<'_, '_>| if number == 0 { to.compress(content) } else { to.nothing() };
            write(out, &self.header, put).map(drop)
        };
        let path = self.file(part, k);
        output_files::replace(&self.run, &path, put)
            .map(drop)
            .map_err(|error| format!("`{}`: {error}", printable_path(&path)))
    }

    fn load(
        &self,
        part: usize,
        k: usize,
        read: &mut dyn FnMut(&mut dyn Read) -> Result<(), StorageError>,
    ) -> Result<(), String> {
        let path = self.file(part, k);
        let why = |why: String| format!("`{}` {why}", printable_path(&path));
        let saved = ResumedRun::open_locked(&self.run.files.resolve(&path)).map_err(why)?;
        saved.check_problem(&self.header.problem)?;
        let [part_of_file, _] = read_parts(&saved.file).map_err(why)?;
        BlockReader::of(&saved.file, &part_of_file)
            .and_then(|mut input| read(&mut input))
            .map_err(|error| why(format!("{DAMAGED} ({error})")))
    }
}
