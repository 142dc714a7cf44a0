//! The paths of outputs: resolves their names, and checks that files can be written there.

use crate::running::output_files::OutputFiles;
use crate::text::file_names::printable_path;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The destination that a name stands for.
pub(super) enum Target {
    Stdout,
    Stderr,
    /// A device, a pipe, or a file that is already open. It cannot be replaced.
    Open(PathBuf),
    File(PathBuf),
}

impl OutputFiles {
    /// Checks that the outputs can be written. Fails if there is no such folder, if the file is not
    /// writable, or if it is an input or another output.
    pub(crate) fn check_writable<'p>(
        &self,
        inputs: &[PathBuf],
        outputs: impl IntoIterator<Item = &'p PathBuf>,
    ) -> Result<(), String> {
        let inputs = inputs.iter().map(|input| self.resolve(input)).filter(|input| input.exists());
        let inputs: Vec<Identity> = inputs.filter_map(|input| identity(&input)).collect();
        let mut before = Vec::new();
        for output in outputs {
            let path = self.resolve(output);
            self.check_place(&path, output).map_err(|error| cannot_write(output, &error))?;
            let Some(identity) = identity(&path) else { continue };
            if inputs.contains(&identity) {
                return Err(format!("`{}` is an input; write to another file", printable_path(output)));
            }
            if before.contains(&identity) {
                return Err(format!("`{}` is given for two outputs", printable_path(output)));
            }
            before.push(identity);
        }
        Ok(())
    }

    /// Checks that the name of a file has one of the extensions, perhaps followed by `.gz`. A
    /// device or a pipe can have any name.
    pub(crate) fn check_extension(
        &self,
        path: &Path,
        option: &str,
        format: &str,
        extensions: &[&str],
    ) -> Result<(), String> {
        if !matches!(target(&self.resolve(path)), Ok(Target::File(_))) {
            return Ok(());
        }
        let plain = if is_compressed(path) { path.with_extension("") } else { path.to_owned() };
        let found = plain.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        if extensions.iter().any(|extension| extension.eq_ignore_ascii_case(found)) {
            return Ok(());
        }
        let endings: Vec<String> = extensions.iter().map(|extension| format!(".{extension}")).collect();
        let help = if path == Path::new("-") {
            "for standard output, use /dev/stdout".to_owned()
        } else {
            format!("use the name `{}`", printable_path(&path.with_extension(extensions[0])))
        };
        let (name, endings) = (printable_path(path), endings.join(" or "));
        Err(format!("{option} writes {format}, and the name `{name}` does not end in {endings}; {help}"))
    }

    /// Checks that a file can be written at this path, without writing it. `name` is the user's
    /// name of it.
    fn check_place(&self, path: &Path, name: &Path) -> io::Result<()> {
        let Target::File(target) = target(path)? else { return Ok(()) };
        match fs::metadata(&target) {
            Ok(found) if found.is_dir() => return Err(io::Error::other(IS_FOLDER)),
            Ok(_) => return OpenOptions::new().write(true).open(&target).map(drop),
            Err(_) => check_file_name(&target)?,
        }
        let folder = folder(&target);
        let named = self.folder_for_messages(&target, name);
        match fs::metadata(folder) {
            Ok(found) if found.is_dir() => Ok(()),
            Ok(_) => Err(io::Error::other(format!("`{}` is not a folder", printable_path(named)))),
            Err(error) if error.kind() == ErrorKind::NotFound => Err(no_folder(named)),
            Err(error) => Err(error),
        }
    }
}

/// Formats the message about a file that cannot be written.
pub(super) fn cannot_write(path: &Path, error: &io::Error) -> String {
    format!("cannot write `{}`: {error}", printable_path(path))
}

/// Returns whether the content of a file with this name is compressed.
pub(super) fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"))
}

pub(super) const IS_FOLDER: &str = "it is a folder; name a file in it";

pub(super) fn no_folder(folder: &Path) -> io::Error {
    io::Error::other(format!("there is no folder `{}`; create it, or name another file", printable_path(folder)))
}

/// Returns the folder of a file.
pub(super) fn folder(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Checks that a path is the name of a file. A path such as `folder/` or `folder/.` is not.
pub(super) fn check_file_name(target: &Path) -> io::Result<()> {
    let bytes = target.as_os_str().as_encoded_bytes();
    if target.file_name().is_none_or(|name| !bytes.ends_with(name.as_encoded_bytes())) {
        return Err(io::Error::other("this is not the name of a file"));
    }
    Ok(())
}

/// The identity of a file, to compare names.
#[derive(PartialEq)]
enum Identity {
    /// Device and inode, which hard links share.
    #[cfg(unix)]
    Inode(u64, u64),
    /// The folder without symbolic links, and the name.
    Path(PathBuf),
}

/// Returns the identity of a file, which need not exist. Returns `None` for a device or a pipe,
/// because several outputs may go to it.
fn identity(path: &Path) -> Option<Identity> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => return None,
        #[cfg(unix)]
        Ok(found) => {
            use std::os::unix::fs::MetadataExt as _;
            return Some(Identity::Inode(found.dev(), found.ino()));
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

/// Resolves a name, following symbolic links. The target need not exist.
pub(super) fn target(path: &Path) -> io::Result<Target> {
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
