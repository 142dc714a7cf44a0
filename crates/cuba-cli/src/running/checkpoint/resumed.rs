//! Reads the checkpoint of a run to continue it.

use crate::running::answer::VerbError;
use crate::running::checkpoint::format::{BlockReader, ChecksumReader, DAMAGED, cannot_be_read, read_parts};
use crate::running::checkpoint::header::Header;
use crate::running::checkpoint::{COORDINATOR_FILE, Checkpoint, Parts, SIDES};
use crate::running::output_files;
use crate::running::run::Run;
use crate::text::file_names::printable_path;
use cuba::checkpoint::StartPoint;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// A run to continue: its header and its checkpoint.
#[derive(Debug)]
pub(crate) struct ResumedRun {
    path: PathBuf,
    pub(crate) header: Header,
    pub(super) file: File,
}

impl ResumedRun {
    /// Reads the header.
    ///
    /// # Errors
    /// If the file is not a checkpoint, or if another run is using it.
    pub(crate) fn open(path: &Path) -> Result<Self, VerbError> {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let path = if path.is_dir() { path.join(COORDINATOR_FILE) } else { path };
        Self::open_locked(&path).map_err(|why| VerbError::Usage(format!("`{}` {why}", printable_path(&path))))
    }

    pub(super) fn open_locked(path: &Path) -> Result<Self, String> {
        let file = File::open(path).map_err(|error| cannot_be_read(&error))?;
        if !file.metadata().is_ok_and(|found| found.is_file()) {
            return Err("is not a checkpoint".to_owned());
        }
        output_files::try_lock(&file).map_err(|_| BUSY)?;
        if !output_files::is_at(path, &file) {
            return Err(BUSY.to_owned());
        }
        let header = ChecksumReader::new(&file).header()?;
        Ok(ResumedRun { path: path.to_owned(), header, file })
    }

    /// Checks that the checkpoint belongs to this problem.
    pub(super) fn check_problem(&self, problem: &str) -> Result<(), String> {
        if self.header.problem == problem {
            return Ok(());
        }
        Err(format!("`{}` is a checkpoint for a model that has been changed since", printable_path(&self.path)))
    }

    /// Restores the start of both searches, and opens the checkpoint to save them again. Checks
    /// that the checkpoint belongs to the problem.
    pub(crate) fn start(
        &self,
        run: &Arc<Run>,
        problem: &cpds::Problem,
        every: Duration,
    ) -> Result<(StartPoint, Checkpoint), String> {
        self.check_problem(&problem.fingerprint())?;
        let path = printable_path(&self.path);
        let parts = read_parts(&self.file).map_err(|why| format!("`{path}` {why}"))?;
        let mut start = StartPoint::default();
        for (&side, part) in SIDES.iter().zip(&parts).filter(|(_, part)| !part.is_empty()) {
            let read = BlockReader::of(&self.file, part).and_then(|mut input| start.read(side, &mut input));
            read.map_err(|error| format!("`{path}` {DAMAGED} ({error})"))?;
        }
        let file = self.file.try_clone().map_err(|error| format!("`{path}` {}", cannot_be_read(&error)))?;
        Ok((start, Checkpoint::of(run, &self.path, every, self.header.clone(), Parts { file, parts })))
    }
}

const BUSY: &str = "is the checkpoint of a run that has not ended";
