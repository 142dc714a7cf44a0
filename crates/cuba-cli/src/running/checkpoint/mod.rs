//! Checkpoints: saves a long run to a file, so that `cuba resume` can continue it.
//!
//! In: the states of both searches, as bytes. Out: a file, from which a later run starts.
//!
//! The file (`format.rs`) has a header with the run to which it belongs (`header.rs`), and a part
//! for each of the two searches (`squeeze/checkpoint.rs` of `cuba`). Each time, a new file is
//! written beside the old one, which it then replaces. So one of the two files is complete whenever
//! the process is killed. A search that saves its part copies the part of the other search. A run
//! has its file open and locked, so that no other run continues from it (`resumed.rs`). With many
//! processes, each one saves its shares of the states in a folder (`shares_folder.rs`).

mod format;
mod header;
mod resumed;
mod shares_folder;

pub(crate) use header::Header;
pub(crate) use resumed::ResumedRun;
pub(crate) use shares_folder::SharesFolder;

use crate::running::lock::lock;
use crate::running::output_files;
use crate::running::run::Run;
use crate::text::diagnostics;
use crate::text::file_names::printable_path;
use cuba::checkpoint::CheckpointWriter;
use cuba::{Conclusion, Reason, Side, StorageError};
use format::write;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The name of the checkpoint file of process 0 in a folder.
pub(crate) const COORDINATOR_FILE: &str = "run";

/// Returns the argument of `cuba resume` for this file: the file itself, or its folder if there are
/// many processes.
fn name(path: &Path) -> String {
    let folder = path.parent().filter(|_| path.file_name() == Some(COORDINATOR_FILE.as_ref()));
    printable_path(folder.unwrap_or(path))
}

/// The checkpoint of a run.
pub(crate) struct Checkpoint {
    run: Arc<Run>,
    path: PathBuf,
    every: Duration,
    header: Header,
    start: Instant,
    file: Mutex<Parts>,
    last_saves: Mutex<[LastSave; 2]>,
    /// Whether the file has at least one part.
    has_part: AtomicBool,
}

/// The current file, and the positions of the parts of both searches.
#[derive(Debug)]
struct Parts {
    file: File,
    parts: [Range<u64>; 2],
}

/// The last time that a search saved its part.
struct LastSave {
    /// When it was saved, or when the run began; and how long that took.
    last: Instant,
    took: Duration,
    /// Why saving failed.
    error: Option<String>,
}

/// The searches, in the order of their parts in the file.
const SIDES: [Side; 2] = [Side::Upper, Side::Lower];

impl Checkpoint {
    /// Creates the checkpoint file of a new run.
    pub(crate) fn new(run: &Arc<Run>, path: &Path, every: Duration, header: Header) -> Result<Self, String> {
        let name = name(path);
        match run.files.resolve(path).symlink_metadata() {
            Ok(found) if found.is_file() => {
                return Err(format!(
                    "`{name}` already exists; continue from it with `cuba resume {name}`, or remove it"
                ));
            }
            Ok(_) => return Err(format!("`{name}` already exists and is not a checkpoint; use another name")),
            Err(_) => {}
        }
        let file = output_files::replace(run, path, |out| write(out, &header, |_, part| part.nothing()).map(drop))
            .map_err(|error| format!("cannot write `{name}`: {error}"))?;
        Ok(Self::of(run, path, every, header, Parts { file, parts: [0..0, 0..0] }))
    }

    fn of(run: &Arc<Run>, path: &Path, every: Duration, header: Header, file: Parts) -> Self {
        let run = Arc::clone(run);
        let now = Instant::now();
        let last_saves = [(); 2].map(|()| LastSave { last: now, took: Duration::ZERO, error: None });
        let has_part = AtomicBool::new(file.parts.iter().any(|part| !part.is_empty()));
        let (file, last_saves) = (Mutex::new(file), Mutex::new(last_saves));
        Checkpoint { run, path: path.to_owned(), every, header, start: now, file, last_saves, has_part }
    }

    /// Returns the time of the earlier runs.
    pub(crate) fn time_before(&self) -> Duration {
        self.header.time
    }

    /// Ends the use of the checkpoint at the end of the run. Returns a note about how to continue.
    /// If the run has an answer, the checkpoint is removed after the answer is printed.
    pub(crate) fn finish(&self, conclusion: &Conclusion) -> Option<String> {
        use Reason::{Interrupted, Lost, Memory, TimeOut};
        if let Conclusion::Unknown(TimeOut | Interrupted | Memory | Lost) = conclusion {
            return Some(self.note());
        }
        *lock(&self.run.finished_checkpoint) = Some(self.run.files.resolve(&self.path).into_owned());
        None
    }

    /// Returns a note about how to continue, or a warning that this is not possible.
    pub(crate) fn note(&self) -> String {
        let path = name(&self.path);
        match lock(&self.last_saves).iter().find_map(|save| save.error.as_deref()) {
            None if !self.has_part.load(Ordering::Relaxed) => {
                format!(
                    "note: the checkpoint `{path}` is still empty; `cuba resume {path}` starts from the beginning\n"
                )
            }
            None => format!("note: `cuba resume {path}` continues from the last checkpoint\n"),
            Some(error) => format!("warning: the checkpoint `{path}` is incomplete: {error}\n"),
        }
    }

    /// Writes a new file with the new part of one search and the old part of the other one.
    fn write(&self, side: Side, content: &dyn Fn(&mut dyn Write) -> Result<(), StorageError>) -> io::Result<()> {
        let mut current = lock(&self.file);
        let header = Header { time: self.header.time + self.start.elapsed(), ..self.header.clone() };
        let mut parts = [0..0, 0..0];
        let file = output_files::replace(&self.run, &self.path, |out| {
            parts = write(out, &header, |number, part| {
                let before = &current.parts[number];
                if SIDES[number] == side {
                    part.compress(content)
                } else if before.is_empty() {
                    part.nothing()
                } else {
                    let mut old = &current.file;
                    old.seek(SeekFrom::Start(before.start))?;
                    part.copy(&mut old.take(before.end - before.start))
                }
            })?;
            Ok(())
        })?;
        *current = Parts { file, parts };
        self.has_part.store(true, Ordering::Relaxed);
        Ok(())
    }
}

impl CheckpointWriter for Checkpoint {
    fn begins(&self, side: Side) {
        self.run.fault_of_search(side);
    }

    fn is_due(&self, side: Side) -> bool {
        let save = &lock(&self.last_saves)[side as usize];
        // If the other search is writing, this search continues instead of waiting.
        save.last.elapsed() >= self.every.max(save.took) && self.file.try_lock().is_ok()
    }

    fn save(&self, side: Side, write: &dyn Fn(&mut dyn Write) -> Result<(), StorageError>) -> bool {
        let start = Instant::now();
        let error = self.write(side, write).err().map(|error| error.to_string());
        let is_saved = error.is_none();
        let now = Instant::now();
        let before = std::mem::replace(
            &mut lock(&self.last_saves)[side as usize],
            LastSave { last: now, took: now - start, error: error.clone() },
        );
        if let Some(error) = error.filter(|_| before.error.is_none()) {
            let _drawing_lock = self.run.console.erase();
            self.run.console.remark(&diagnostics::plain_warning(&format!(
                "the checkpoint `{}` cannot be written: {error}",
                printable_path(&self.path)
            )));
        }
        self.run.fault("checkpoint");
        is_saved
    }
}
