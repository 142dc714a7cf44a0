//! `--checkpoint`: saves what a long run has, so that `cuba resume` can continue it.
//!
//! The file (`format.rs`) has a header that says of which run it is (`header.rs`), and what each of
//! the two searches has saved (`squeeze/checkpoint.rs`). It is written anew each time, beside the
//! old one, which it then replaces: whenever the process is killed, one of the two exists, and is
//! complete. A search that saves something copies what the other one saved before. A run has its
//! file open and locked: no other run continues from it meanwhile (`resumed.rs`). Of many
//! processes, each saves its shares of the states in a folder (`shares_folder.rs`).

mod format;
mod header;
mod resumed;
mod shares_folder;

pub(crate) use header::Header;
pub(crate) use resumed::Resumed;
pub(crate) use shares_folder::SharesFolder;

use crate::running::lock::lock;
use crate::running::output_files;
use crate::running::run::Run;
use crate::text::diagnostics;
use crate::text::file_names::shown;
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

/// The file of process 0 in a folder.
pub(crate) const RUN: &str = "run";

/// What `cuba resume` takes for this file: if it is in a folder, that.
fn name(path: &Path) -> String {
    let folder = path.parent().filter(|_| path.file_name() == Some(RUN.as_ref()));
    shown(folder.unwrap_or(path))
}

/// Where a run saves what it has.
pub(crate) struct Checkpoint {
    run: Arc<Run>,
    path: PathBuf,
    every: Duration,
    header: Header,
    start: Instant,
    file: Mutex<Parts>,
    ends: Mutex<[Kept; 2]>,
    /// Whether there is anything in the file to go on from.
    has_something: AtomicBool,
}

/// The file as it is now, and what each end has kept, as a part of it.
#[derive(Debug)]
struct Parts {
    file: File,
    parts: [Range<u64>; 2],
}

/// What is known of an end.
struct Kept {
    /// When it has kept something, or the run began; and how long that took.
    last: Instant,
    took: Duration,
    /// Why it could not.
    error: Option<String>,
}

/// The ends, in the order in which they are in the file.
const ENDS: [Side; 2] = [Side::Upper, Side::Lower];

impl Checkpoint {
    /// A new file for a run that begins.
    pub(crate) fn new(run: &Arc<Run>, path: &Path, every: Duration, header: Header) -> Result<Self, String> {
        let name = name(path);
        match run.files.resolve(path).symlink_metadata() {
            Ok(found) if found.is_file() => {
                return Err(format!(
                    "`{name}` is there already; go on from it with `cuba resume {name}`, or remove it"
                ));
            }
            Ok(_) => return Err(format!("`{name}` is there already, and no checkpoint; give another name")),
            Err(_) => {}
        }
        let file = output_files::replace(run, path, |out| write(out, &header, |_, part| part.nothing()).map(drop))
            .map_err(|error| format!("cannot write `{name}`: {error}"))?;
        Ok(Self::of(run, path, every, header, Parts { file, parts: [0..0, 0..0] }))
    }

    fn of(run: &Arc<Run>, path: &Path, every: Duration, header: Header, file: Parts) -> Self {
        let run = Arc::clone(run);
        let now = Instant::now();
        let ends = [(); 2].map(|()| Kept { last: now, took: Duration::ZERO, error: None });
        let has_something = AtomicBool::new(file.parts.iter().any(|part| !part.is_empty()));
        let (file, ends) = (Mutex::new(file), Mutex::new(ends));
        Checkpoint { run, path: path.to_owned(), every, header, start: now, file, ends, has_something }
    }

    /// How much time earlier runs have taken.
    pub(crate) fn time_before(&self) -> Duration {
        self.header.time
    }

    /// The run is over. If there is something left to do, says how; otherwise nobody has to go on
    /// from here once that was told.
    pub(crate) fn over(&self, conclusion: &Conclusion) -> Option<String> {
        use Reason::{Interrupted, Lost, Memory, TimeOut};
        if let Conclusion::Unknown(TimeOut | Interrupted | Memory | Lost) = conclusion {
            return Some(self.note());
        }
        *lock(&self.run.finished_checkpoint) = Some(self.run.files.resolve(&self.path).into_owned());
        None
    }

    /// How to go on from here; or why that is not possible.
    pub(crate) fn note(&self) -> String {
        let path = name(&self.path);
        match lock(&self.ends).iter().find_map(|end| end.error.as_deref()) {
            None if !self.has_something.load(Ordering::Relaxed) => {
                format!("note: nothing is in the checkpoint `{path}` yet; `cuba resume {path}` begins from the start\n")
            }
            None => format!("note: `cuba resume {path}` goes on from the last checkpoint\n"),
            Some(error) => format!("warning: not everything is in the checkpoint `{path}`: {error}\n"),
        }
    }

    /// Writes the file anew: what one end has to keep now, and what the other one has kept before.
    fn write(&self, end: Side, content: &dyn Fn(&mut dyn Write) -> Result<(), StorageError>) -> io::Result<()> {
        let mut current = lock(&self.file);
        let header = Header { time: self.header.time + self.start.elapsed(), ..self.header.clone() };
        let mut parts = [0..0, 0..0];
        let file = output_files::replace(&self.run, &self.path, |out| {
            parts = write(out, &header, |number, part| {
                let before = &current.parts[number];
                if ENDS[number] == end {
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
        self.has_something.store(true, Ordering::Relaxed);
        Ok(())
    }
}

impl CheckpointWriter for Checkpoint {
    fn begins(&self, end: Side) {
        self.run.fault_of_search(end);
    }

    fn is_due(&self, end: Side) -> bool {
        let kept = &lock(&self.ends)[end as usize];
        // The other one may be writing; then there is something better to do than to wait.
        kept.last.elapsed() >= self.every.max(kept.took) && self.file.try_lock().is_ok()
    }

    fn keep(&self, end: Side, write: &dyn Fn(&mut dyn Write) -> Result<(), StorageError>) -> bool {
        let start = Instant::now();
        let error = self.write(end, write).err().map(|error| error.to_string());
        let is_kept = error.is_none();
        let now = Instant::now();
        let before = std::mem::replace(
            &mut lock(&self.ends)[end as usize],
            Kept { last: now, took: now - start, error: error.clone() },
        );
        if let Some(error) = error.filter(|_| before.error.is_none()) {
            let _nothing_is_drawn = self.run.console.erase();
            self.run.console.remark(&diagnostics::plain_warning(&format!(
                "the checkpoint `{}` cannot be written: {error}",
                shown(&self.path)
            )));
        }
        self.run.fault("checkpoint");
        is_kept
    }
}
