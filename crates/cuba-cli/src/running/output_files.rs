//! The one way in which cuba writes files: all of it, or nothing.
//!
//! What is written goes to a new file in the same folder, which then takes the place of the one that was asked for. So whatever ends us, that
//! one has its old content or all of its new one. What may stay behind, if we are killed, is called `cuba-unfinished-…`.
//!
//! A verb checks its outputs before it does anything else ([`may_write`], [`has_extension`]), and then lists them ([`expect`]). Whatever ends
//! the process later, the list says which of them were not written ([`missing`]).

use crate::arguments::model::shown;
use crate::running::faults;
use crate::text::diagnostics::plain_warning;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{process, thread};

/// How the name begins of what may stay behind.
pub(crate) const LEFT: &str = "cuba-unfinished-";

/// Writes a file; compressed, if its name says so.
pub(crate) fn write(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), String> {
    prepare(path, content)?.finish()
}

/// Writes everything, except that a file that is there already keeps its content until the end.
pub(crate) fn prepare(
    path: &Path,
    content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<Prepared<'_>, String> {
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
        faults::here("writing");
        out.flush()
    };
    let file = to(path, put).map_err(|error| cannot(path, &error))?;
    if file.is_none() {
        settle(path);
    }
    Ok(Prepared { path, file })
}

fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"))
}

/// Writes a file anew that nobody else is to write or to read meanwhile: it is given open and locked. It is never written in place.
pub(crate) fn replace(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<File> {
    let Target::File(target) = target(path)? else { return Err(io::Error::other("it is not a regular file")) };
    let mut new = Unfinished::beside(&target)?;
    if let Ok(old) = fs::metadata(&target) {
        keep(&new.file, &old)?;
    }
    let mut out = BufWriter::with_capacity(1 << 16, &mut new.file);
    content(&mut out)?;
    out.flush()?;
    drop(out);
    new.file.sync_all()?;
    let file = new.file.try_clone()?;
    lock(&file)?;
    new.replaces(&target, path)?;
    Ok(file)
}

/// Locks a file until it is closed, unless another process has. Where files cannot be locked, nobody has.
pub(crate) fn lock(file: &File) -> io::Result<()> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(io::Error::other("another process is at work on it")),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

/// Whether a file that is open still has this name.
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

fn cannot(path: &Path, error: &io::Error) -> String {
    format!("cannot write `{}`: {error}", shown(path))
}

/// A file that has everything but its place.
pub(crate) struct Prepared<'p> {
    path: &'p Path,
    /// Nothing, if it has that, too.
    file: Option<(Unfinished, PathBuf)>,
}

impl Prepared<'_> {
    /// Puts it into its place.
    pub(crate) fn finish(self) -> Result<(), String> {
        let Some((file, target)) = self.file else { return Ok(()) };
        file.replaces(&target, self.path).map_err(|error| cannot(self.path, &error))
    }
}

fn to(path: &Path, put: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<Option<(Unfinished, PathBuf)>> {
    let target = match target(path)? {
        Target::Stdout => return put(&mut io::stdout().lock()).map(|()| None),
        Target::Stderr => return put(&mut io::stderr().lock()).map(|()| None),
        Target::Open(name) => return put(&mut OpenOptions::new().write(true).open(name)?).map(|()| None),
        Target::File(target) => target,
    };
    let old = match fs::metadata(&target) {
        Ok(old) if old.is_dir() => return Err(io::Error::other(IS_FOLDER)),
        // What may not be written is not replaced either.
        Ok(old) => Some((OpenOptions::new().write(true).open(&target)?, old)),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(error),
    };
    match (Unfinished::beside(&target), old) {
        // In this folder we may write to what is there, but not make anything new.
        (Err(error), Some((mut file, _))) if error.kind() == ErrorKind::PermissionDenied => {
            file.set_len(0)?;
            put(&mut file)?;
            file.sync_all().map(|()| None)
        }
        (Err(error), _) => Err(error),
        (Ok(mut new), old) => {
            if let Some((_, old)) = old {
                keep(&new.file, &old)?;
            }
            put(&mut new.file)?;
            new.file.sync_all()?;
            Ok(Some((new, target)))
        }
    }
}

/// What is to be written.
enum Target {
    Stdout,
    Stderr,
    /// A device, a pipe, or what somebody has opened for us: there is nothing to be replaced.
    Open(PathBuf),
    File(PathBuf),
}

/// Whether outputs can go to these files. Otherwise says why: there is no such folder, the file may not be written, or it would replace an
/// input, or another output.
pub(crate) fn may_write<'p>(inputs: &[PathBuf], outputs: impl IntoIterator<Item = &'p PathBuf>) -> Result<(), String> {
    let inputs: Vec<Identity> = inputs.iter().filter(|input| input.exists()).filter_map(|it| identity(it)).collect();
    let mut before = Vec::new();
    for output in outputs {
        has_place(output).map_err(|error| cannot(output, &error))?;
        let Some(identity) = identity(output) else { continue };
        if inputs.contains(&identity) {
            return Err(format!("`{}` is an input; write to another file", shown(output)));
        }
        if before.contains(&identity) {
            return Err(format!("`{}` is the name of two outputs", shown(output)));
        }
        before.push(identity);
    }
    Ok(())
}

/// Whether a file could be written there now. Nothing is written.
fn has_place(path: &Path) -> io::Result<()> {
    let Target::File(target) = target(path)? else { return Ok(()) };
    match fs::metadata(&target) {
        Ok(found) if found.is_dir() => return Err(io::Error::other(IS_FOLDER)),
        Ok(_) => return OpenOptions::new().write(true).open(&target).map(drop),
        Err(_) => has_file_name(&target)?,
    }
    let folder = folder(&target);
    match fs::metadata(folder) {
        Ok(found) if found.is_dir() => Ok(()),
        Ok(_) => Err(io::Error::other(format!("`{}` is no folder", shown(folder)))),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(no_folder(folder)),
        Err(error) => Err(error),
    }
}

const IS_FOLDER: &str = "it is a folder; name a file in it";

fn no_folder(folder: &Path) -> io::Error {
    io::Error::other(format!("there is no folder `{}`; create it, or name another file", shown(folder)))
}

/// The folder of a file.
fn folder(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// A name can end in a separator, as in `folder/` or `folder/.`. Then it is not the name of a file.
fn has_file_name(target: &Path) -> io::Result<()> {
    let bytes = target.as_os_str().as_encoded_bytes();
    if target.file_name().is_none_or(|name| !bytes.ends_with(name.as_encoded_bytes())) {
        return Err(io::Error::other("that is not the name of a file"));
    }
    Ok(())
}

/// Whether the name of a file says what an option writes to it: it ends in one of these, and perhaps in `.gz`. A device or a pipe can have
/// any name.
pub(crate) fn has_extension(path: &Path, option: &str, format: &str, extensions: &[&str]) -> Result<(), String> {
    if !matches!(target(path), Ok(Target::File(_))) {
        return Ok(());
    }
    let plain = if is_compressed(path) { path.with_extension("") } else { path.to_owned() };
    let found = plain.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if extensions.iter().any(|extension| extension.eq_ignore_ascii_case(found)) {
        return Ok(());
    }
    let endings: Vec<String> = extensions.iter().map(|extension| format!(".{extension}")).collect();
    let help = if path == Path::new("-") {
        "for standard output, name /dev/stdout".to_owned()
    } else {
        format!("call it `{}`", shown(&path.with_extension(extensions[0])))
    };
    let (name, endings) = (shown(path), endings.join(" or "));
    Err(format!("{option} writes {format}, and the name `{name}` does not end in {endings}; {help}"))
}

/// What makes two names those of one file.
#[derive(PartialEq)]
enum Identity {
    /// Device and inode: also of hard links.
    #[cfg(unix)]
    There(u64, u64),
    /// The folder without links, and the name.
    Path(PathBuf),
}

/// The identity of a file that is there, or would be. Devices and pipes may be written by everybody.
fn identity(path: &Path) -> Option<Identity> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => return None,
        #[cfg(unix)]
        Ok(found) => {
            use std::os::unix::fs::MetadataExt as _;
            return Some(Identity::There(found.dev(), found.ino()));
        }
        _ => {}
    }
    let Ok(Target::File(target)) = target(path) else { return None };
    let folder = folder(&target);
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    Some(Identity::Path(
        fs::canonicalize(&target).unwrap_or_else(|_| folder.join(target.file_name().unwrap_or_default())),
    ))
}

/// The file that a name stands for, through symbolic links, which stay; it need not be there.
fn target(path: &Path) -> io::Result<Target> {
    let mut target = path.to_owned();
    for _ in 0..40 {
        match target.to_str() {
            Some("/dev/stdout" | "/dev/fd/1" | "/proc/self/fd/1") => return Ok(Target::Stdout),
            Some("/dev/stderr" | "/dev/fd/2" | "/proc/self/fd/2") => return Ok(Target::Stderr),
            _ => {}
        }
        let is_open = ["/dev/fd", "/proc"].iter().any(|folder| target.starts_with(folder));
        if is_open || fs::metadata(&target).is_ok_and(|found| !found.is_file() && !found.is_dir()) {
            return Ok(Target::Open(target));
        }
        match fs::read_link(&target) {
            Ok(link) => target = target.parent().unwrap_or(Path::new("")).join(link),
            Err(_) => return Ok(Target::File(target)),
        }
    }
    Err(io::Error::other("there are too many symbolic links"))
}

/// A file keeps its permissions and, if we may give it away, its owner.
fn keep(new: &File, old: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt as _, fchown};
        let _ = fchown(new, Some(old.uid()), Some(old.gid()));
    }
    new.set_permissions(old.permissions())
}

/// What the process knows about the files that it writes.
struct Files {
    /// Those that are being written, under the names that they have until they are complete.
    unfinished: Vec<PathBuf>,
    /// Those that the user asked for and that are neither written nor explained.
    expected: Vec<PathBuf>,
    /// Whether the user wants no warnings.
    is_quiet: bool,
    /// The process ends: nothing new is begun.
    is_over: bool,
}

static FILES: Mutex<Files> =
    Mutex::new(Files { unfinished: Vec::new(), expected: Vec::new(), is_quiet: false, is_over: false });

fn files() -> MutexGuard<'static, Files> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The same for a thread that is about to change files. When the process ends, it waits here for that.
fn files_to_write() -> MutexGuard<'static, Files> {
    loop {
        let files = files();
        if !files.is_over {
            return files;
        }
        drop(files);
        thread::park();
    }
}

/// From now on, [`missing`] names these outputs until they are written or explained.
pub(crate) fn expect<'p>(outputs: impl IntoIterator<Item = &'p PathBuf>, quiet: bool) {
    let mut files = files();
    files.expected.extend(outputs.into_iter().cloned());
    files.is_quiet = quiet;
}

/// An output is written, or the answer says why it is not.
pub(crate) fn settle(path: &Path) {
    files().expected.retain(|expected| expected != path);
}

/// Whether there are outputs that were not written so far.
pub(crate) fn is_incomplete() -> bool {
    !files().expected.is_empty()
}

/// A warning for each output that was not written.
pub(crate) fn missing() -> String {
    let missing = match &*files() {
        files if files.is_quiet => Vec::new(),
        files => files.expected.clone(),
    };
    let warning = |path: &PathBuf| plain_warning(&format!("{}, because the run ended first", not_written(path)));
    missing.iter().map(warning).collect()
}

/// That an output was not written; and if there is a file of this name, that it has nothing to do with this run.
pub(crate) fn not_written(path: &Path) -> String {
    let old =
        if fs::metadata(path).is_ok_and(|found| found.is_file()) { " (the file there is an older one)" } else { "" };
    format!("`{}` was not written{old}", shown(path))
}

/// Removes what is being written, for a thread that ends the process while others are at work. Nothing new is begun, and nothing else gets
/// its place.
pub(crate) fn abandon() {
    let mut files = files();
    files.is_over = true;
    for path in files.unfinished.drain(..) {
        let _ = fs::remove_file(path);
    }
}

/// A new file that is being written. It is gone if it is not finished.
struct Unfinished {
    file: File,
    path: PathBuf,
}

impl Unfinished {
    fn beside(target: &Path) -> io::Result<Self> {
        static NUMBER: AtomicUsize = AtomicUsize::new(1);
        has_file_name(target)?;
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = target.with_file_name(format!("{LEFT}{}-{number}", process::id()));
            let mut files = files_to_write();
            match File::create_new(&path) {
                Ok(file) => {
                    files.unfinished.push(path.clone());
                    return Ok(Unfinished { file, path });
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) if error.kind() == ErrorKind::NotFound => return Err(no_folder(folder(target))),
                Err(error) => return Err(error),
            }
        }
    }

    /// Takes the place of a file, which the user knows under this name.
    fn replaces(&self, target: &Path, name: &Path) -> io::Result<()> {
        let mut files = files_to_write();
        fs::rename(&self.path, target)?;
        // Under the same lock, so that a file that has its place is never called missing.
        files.expected.retain(|expected| expected != name);
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        // By now it may have its place, or be abandoned.
        let _ = fs::remove_file(&self.path);
        files().unfinished.retain(|path| *path != self.path);
    }
}
