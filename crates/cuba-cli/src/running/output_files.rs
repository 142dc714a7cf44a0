//! Writes output files: completely or not at all.
//!
//! The content goes to a new file in the same folder, which then replaces the file that the user
//! named. So that file has either its old content or all of its new content, even if the process is
//! killed. Then a file `cuba-unfinished-…` may be left.
//!
//! A verb first checks its outputs (`output_paths.rs`) and then lists them
//! ([`OutputFiles::expect`]). When the process ends, the list has the outputs that were not written
//! ([`OutputFiles::missing`]).

use crate::running::lock::lock;
use crate::running::output_paths::{
    IS_FOLDER, Target, cannot_write, check_file_name, folder, is_compressed, no_folder, target,
};
use crate::running::run::Run;
use crate::text::diagnostics::plain_warning;
use crate::text::file_names::printable_path;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::borrow::Cow;
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::{process, thread};

/// The beginning of the name of an unfinished file.
pub(crate) const UNFINISHED: &str = "cuba-unfinished-";

/// The output files of a run.
#[derive(Default)]
pub(crate) struct OutputFiles {
    /// The folder of relative names, if it is not the current one.
    folder: OnceLock<PathBuf>,
    state: Mutex<State>,
    /// The number of unfinished files so far.
    number: AtomicUsize,
}

#[derive(Default)]
struct State {
    /// The temporary names of the files that are being written.
    unfinished: Vec<PathBuf>,
    /// The outputs that are neither written nor explained yet.
    expected: Vec<PathBuf>,
    /// Whether `--quiet` is given.
    is_quiet: bool,
    /// Whether the process is ending: no file may be changed any more.
    is_over: bool,
}

impl OutputFiles {
    /// Sets the folder of relative names.
    pub(crate) fn set_folder(&self, folder: &Path) {
        let _ = self.folder.set(folder.to_owned());
    }

    /// Returns the folder of relative names, if it is not the current one.
    pub(crate) fn folder(&self) -> Option<&Path> {
        self.folder.get().map(PathBuf::as_path)
    }

    /// Returns the path of the file with this name.
    pub(crate) fn resolve<'p>(&self, path: &'p Path) -> Cow<'p, Path> {
        self.folder().map_or(Cow::Borrowed(path), |folder| Cow::Owned(folder.join(path)))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Returns the state for a thread that changes files next. If the process is ending, this never
    /// returns.
    fn state_to_write(&self) -> MutexGuard<'_, State> {
        loop {
            let state = self.state();
            if !state.is_over {
                return state;
            }
            drop(state);
            thread::park();
        }
    }

    /// Adds outputs that [`OutputFiles::missing`] names until they are written or explained.
    pub(crate) fn expect<'p>(&self, outputs: impl IntoIterator<Item = &'p PathBuf>, quiet: bool) {
        let mut state = self.state();
        state.expected.extend(outputs.into_iter().cloned());
        state.is_quiet = quiet;
    }

    /// Removes an output that is written, or explained by the answer.
    pub(crate) fn remove_expected(&self, path: &Path) {
        self.state().expected.retain(|expected| expected != path);
    }

    /// Returns whether some outputs are not written yet.
    pub(crate) fn is_incomplete(&self) -> bool {
        !self.state().expected.is_empty()
    }

    /// Formats a warning for each output that was not written.
    pub(crate) fn missing(&self) -> String {
        let missing = match &*self.state() {
            state if state.is_quiet => Vec::new(),
            state => state.expected.clone(),
        };
        let warning =
            |path: &PathBuf| plain_warning(&format!("{}, because the run ended first", self.not_written(path)));
        missing.iter().map(warning).collect()
    }

    /// Formats the message that an output was not written. The message says if an older file has
    /// this name.
    pub(crate) fn not_written(&self, path: &Path) -> String {
        let is_file = fs::metadata(self.resolve(path)).is_ok_and(|found| found.is_file());
        let old = if is_file { " (the file there is an older one)" } else { "" };
        format!("`{}` was not written{old}", printable_path(path))
    }

    /// Removes all unfinished files before the process ends. No other thread can write or replace a
    /// file after this call.
    pub(crate) fn abandon(&self) {
        let mut state = self.state();
        state.is_over = true;
        for path in state.unfinished.drain(..) {
            let _ = fs::remove_file(path);
        }
    }
}

/// Writes a file, compressed if its name ends in `.gz`.
pub(crate) fn write(
    run: &Run,
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), String> {
    prepare(run, path, content)?.finish()
}

/// Writes the content to a temporary file, which [`PreparedFile::finish`] renames.
pub(crate) fn prepare<'r>(
    run: &'r Run,
    path: &'r Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<PreparedFile<'r>, String> {
    let is_compressed = is_compressed(path);
    let put = |out: &mut dyn Write| -> io::Result<()> {
        let mut out = BufWriter::with_capacity(1 << 16, out);
        if is_compressed {
            let mut compressed = GzEncoder::new(&mut out, Compression::default());
            content(&mut compressed)?;
            compressed.finish()?;
        } else {
            content(&mut out)?;
        }
        run.fault("writing");
        out.flush()
    };
    let file = write_unfinished(run, path, put).map_err(|error| cannot_write(path, &error))?;
    if file.is_none() {
        run.files.remove_expected(path);
    }
    Ok(PreparedFile { path, file })
}

/// Replaces a file by a new one, and returns it open and locked, so that no other process uses it.
/// The file is never written in place.
pub(crate) fn replace(
    run: &Run,
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<File> {
    let Target::File(target) = target(&run.files.resolve(path))? else {
        return Err(io::Error::other("it is not a regular file"));
    };
    let mut new = UnfinishedFile::beside(&run.files, &target, path)?;
    if let Ok(old) = fs::metadata(&target) {
        keep_permissions(&new.file, &old)?;
    }
    let mut out = BufWriter::with_capacity(1 << 16, &mut new.file);
    content(&mut out)?;
    out.flush()?;
    drop(out);
    new.file.sync_all()?;
    let file = new.file.try_clone()?;
    try_lock(&file)?;
    new.rename_to(&target, path)?;
    Ok(file)
}

/// Locks a file until it is closed. Fails if another process has locked it. Does nothing if the
/// file system has no locks.
pub(crate) fn try_lock(file: &File) -> io::Result<()> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(io::Error::other("another process is using it")),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

/// Returns whether an open file still has this name.
pub(crate) fn is_at(path: &Path, file: &File) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let same = |open: Metadata, named: Metadata| (open.dev(), open.ino()) == (named.dev(), named.ino());
        file.metadata().ok().zip(fs::metadata(path).ok()).is_some_and(|(open, named)| same(open, named))
    }
    #[cfg(not(unix))]
    {
        let _ = (path, file);
        true
    }
}

/// A complete file under a temporary name.
pub(crate) struct PreparedFile<'r> {
    path: &'r Path,
    /// `None` if the file already has its name.
    file: Option<(UnfinishedFile<'r>, PathBuf)>,
}

impl PreparedFile<'_> {
    /// Gives the file its name.
    pub(crate) fn finish(self) -> Result<(), String> {
        let Some((file, target)) = self.file else { return Ok(()) };
        file.rename_to(&target, self.path).map_err(|error| cannot_write(self.path, &error))
    }
}

fn write_unfinished<'r>(
    run: &'r Run,
    path: &Path,
    put: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<Option<(UnfinishedFile<'r>, PathBuf)>> {
    let target = match target(&run.files.resolve(path))? {
        Target::Stdout => return run.console.write_stdout(put).map(|()| None),
        Target::Stderr => return run.console.write_stderr(put).map(|()| None),
        Target::Open(name) => return put(&mut OpenOptions::new().write(true).open(name)?).map(|()| None),
        Target::File(target) => target,
    };
    let old = match fs::metadata(&target) {
        Ok(old) if old.is_dir() => return Err(io::Error::other(IS_FOLDER)),
        // A file without write permission is not replaced either.
        Ok(old) => Some((OpenOptions::new().write(true).open(&target)?, old)),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    match (UnfinishedFile::beside(&run.files, &target, path), old) {
        // The folder does not allow new files, but the old one can be written.
        (Err(error), Some((mut file, _))) if error.kind() == ErrorKind::PermissionDenied => {
            file.set_len(0)?;
            put(&mut file)?;
            file.sync_all().map(|()| None)
        }
        (Err(error), _) => Err(error),
        (Ok(mut new), old) => {
            if let Some((_, old)) = old {
                keep_permissions(&new.file, &old)?;
            }
            put(&mut new.file)?;
            new.file.sync_all()?;
            Ok(Some((new, target)))
        }
    }
}

/// Gives the new file the permissions of the old one and, if possible, its owner.
fn keep_permissions(new: &File, old: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, fchown};
        let _ = fchown(new, Some(old.uid()), Some(old.gid()));
    }
    new.set_permissions(old.permissions())
}

/// A new file that is being written. Removed when it is dropped, unless it has got its name.
struct UnfinishedFile<'r> {
    files: &'r OutputFiles,
    file: File,
    path: PathBuf,
}

impl<'r> UnfinishedFile<'r> {
    /// Creates a new file in the folder of `target`. `name` is the user's name of the target.
    fn beside(files: &'r OutputFiles, target: &Path, name: &Path) -> io::Result<Self> {
        check_file_name(target)?;
        loop {
            let number = files.number.fetch_add(1, Ordering::Relaxed) + 1;
            let path = target.with_file_name(format!("{UNFINISHED}{}-{number}", process::id()));
            let mut state = files.state_to_write();
            match File::create_new(&path) {
                Ok(file) => {
                    state.unfinished.push(path.clone());
                    drop(state);
                    return Ok(UnfinishedFile { files, file, path });
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    return Err(no_folder(files.folder_for_messages(target, name)));
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Replaces the target. `name` is the user's name of it.
    fn rename_to(&self, target: &Path, name: &Path) -> io::Result<()> {
        let mut state = self.files.state_to_write();
        fs::rename(&self.path, target)?;
        // This is under the same lock, so that a complete file is never reported as missing.
        state.expected.retain(|expected| expected != name);
        Ok(())
    }
}

impl Drop for UnfinishedFile<'_> {
    fn drop(&mut self) {
        // The file may already be renamed or removed.
        let _ = fs::remove_file(&self.path);
        self.files.state().unfinished.retain(|path| *path != self.path);
    }
}

impl OutputFiles {
    /// Returns the folder of a file for messages: the folder of the user's name, unless a link
    /// leads elsewhere.
    pub(super) fn folder_for_messages<'p>(&self, target: &'p Path, name: &'p Path) -> &'p Path {
        if *target == *self.resolve(name) { folder(name) } else { folder(target) }
    }
}
