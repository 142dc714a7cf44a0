//! Reads a model from files: from a path to a problem.

use crate::diagnostic::{Diagnostic, printable};
use crate::{ReadError, Reader, Reading, Source};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// The size of the largest file that is read.
const MAX_BYTES: u64 = 16 << 20;

/// The file formats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Our own.
    Cpds,
    /// The published tool's.
    Pds,
}

impl Format {
    /// Returns the format of a file, by its name.
    pub fn of_name(path: &Path) -> Option<Format> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "cpds" => Some(Format::Cpds),
            "pds" => Some(Format::Pds),
            _ => None,
        }
    }
}

/// Whether a file is a Boolean program, by its name. This crate does not read such files.
pub fn is_program(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("bp"))
}

/// A model, with the files from which it was read.
#[derive(Debug)]
pub struct FromFile {
    /// The model.
    pub reading: Reading,
    /// The format of the file.
    pub format: Format,
    /// The file, and the files next to it that were read.
    pub files: Vec<PathBuf>,
}

/// Reads a model: a `.cpds` file; or a `.pds` file with a `.init` file and perhaps a `.spec` file
/// of the same name next to it. The texts in `initial` and `bad` replace the initial states and the
/// bad patterns of the files. `instances` has the number of threads for each template.
pub fn read_file(
    file: &Path,
    initial: &[Source],
    bad: &[Source],
    instances: &[(String, u32)],
) -> Result<FromFile, ReadError> {
    let (format, mut files) = (format_of(file)?, vec![file.to_owned()]);
    let source = read_text(file)?;
    let mut reader = match format {
        Format::Cpds => Reader::cpds(source),
        Format::Pds => Reader::pds(source),
    };
    let mut neighbour = |extension: &str, replaced: bool| -> Result<Option<Source>, ReadError> {
        let path = file.with_extension(extension);
        if format != Format::Pds || replaced || !path.exists() {
            return Ok(None);
        }
        files.push(path.clone());
        read_text(&path).map(Some)
    };
    if let Some(init) = neighbour("init", !initial.is_empty())? {
        reader.init_file(init);
    }
    if let Some(spec) = neighbour("spec", !bad.is_empty())? {
        reader.spec_file(spec);
    }
    if !initial.is_empty() {
        reader.replace_initial(initial.iter().cloned());
    }
    if !bad.is_empty() {
        reader.replace_bad(bad.iter().cloned());
    }
    reader.instances(instances.iter().cloned());
    Ok(FromFile { reading: reader.finish()?, format, files })
}

fn format_of(path: &Path) -> Result<Format, ReadError> {
    if let Some(format) = Format::of_name(path) {
        return Ok(format);
    }
    Err(if path.is_dir() {
        refused(path, "is a directory", "name a file in it")
    } else if !path.exists() {
        missing(path)
    } else if is_program(path) {
        refused(path, "is a Boolean program, and no system", "make a system of it first")
    } else {
        refused(path, "has no known format", "the name of a model ends in .bp, .cpds or .pds")
    })
}

/// Returns a path in a printable form.
fn shown(path: &Path) -> String {
    printable(&path.display().to_string())
}

fn refused(path: &Path, why: &str, help: &str) -> ReadError {
    ReadError::new(Vec::new(), Diagnostic::error(format!("`{}` {why}", shown(path))).help(help))
}

fn missing(path: &Path) -> ReadError {
    let error = Diagnostic::error(format!("there is no file `{}`", shown(path)));
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let wanted = path.file_name().unwrap_or_default().to_string_lossy();
    let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).take(10_000).collect();
    names.sort(); // the operating system gives them in any order
    let near = names
        .iter()
        .filter(|name| Format::of_name(Path::new(name)).is_some() || is_program(Path::new(name)))
        .map(|name| (strsim::damerau_levenshtein(name, &wanted), name))
        .filter(|&(distance, _)| distance <= 3)
        .min_by_key(|&(distance, _)| distance);
    let help = match near {
        Some((_, name)) => format!("did you mean `{}`?", shown(&path.with_file_name(name))),
        None if folder.is_dir() => "give the path of a .bp, .cpds or .pds file".to_owned(),
        None => format!("there is no folder `{}` either", shown(folder)),
    };
    ReadError::new(Vec::new(), error.help(help))
}

/// Reads a text file: UTF-8, with or without a byte order mark.
pub fn read_text(path: &Path) -> Result<Source, ReadError> {
    Source::decode(shown(path), read_bytes(path)?)
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, ReadError> {
    // Opening a pipe would block until another process opens its other end.
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => return Err(refused(path, "is a directory", "name a file in it")),
        Ok(found) if !found.is_file() => return Err(refused(path, "is not a file", "name a regular file")),
        _ => {}
    }
    let read = || -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    match read() {
        Ok(bytes) if bytes.len() as u64 > MAX_BYTES => {
            let why = format!("is larger than {} MiB", MAX_BYTES >> 20);
            Err(refused(path, &why, "no analysis could explore a system that large"))
        }
        Ok(bytes) => Ok(bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(missing(path)),
        Err(error) => Err(refused(path, &format!("cannot be read: {error}"), "check its permissions")),
    }
}
