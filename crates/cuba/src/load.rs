//! From a file name to a problem.

use crate::render;
use clap::Args;
use cpds::diagnostic::{Diagnostic, printable};
use cpds::{Problem, ReadError, Reader, Reading, Source};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// Larger files are refused before they fill the memory.
const MAX_BYTES: u64 = 64 << 20;

/// Which model: the same for every verb.
#[derive(Args, Debug)]
pub(crate) struct ModelArgs {
    /// The model: a .cpds file, or a .pds file with a .init and perhaps a .spec of the same name beside it
    pub(crate) file: PathBuf,
    /// Start here instead of where the file says, e.g. '0|1,4 6' (stacks top first); repeatable
    #[arg(long, value_name = "STATE")]
    init: Vec<String>,
    /// Take this as bad instead of what the file says, e.g. '0|1,*' ('*' anything, '-' empty); repeatable
    #[arg(long, value_name = "PATTERN")]
    target: Vec<String>,
}

/// The file formats, by extension.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, clap::ValueEnum)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Our own
    Cpds,
    /// The published tool's, with .init and .spec beside it
    Pds,
}

/// A problem, with what there is to say about its text.
pub(crate) struct Loaded {
    pub(crate) reading: Reading,
    pub(crate) format: Format,
    /// The files that were read.
    pub(crate) files: Vec<PathBuf>,
}

impl Loaded {
    pub(crate) fn problem(&self) -> &Problem {
        &self.reading.problem
    }

    /// Whether an output may go to this file; if not, because it would replace an input, says so.
    pub(crate) fn may_write(&self, path: &Path) -> Result<(), String> {
        let same =
            |input: &PathBuf| fs::canonicalize(input).is_ok_and(|a| fs::canonicalize(path).is_ok_and(|b| a == b));
        if self.files.iter().any(same) {
            return Err(format!("`{}` is an input; write to another file", shown(path)));
        }
        Ok(())
    }

    /// The warnings, as text.
    pub(crate) fn warnings(&self) -> String {
        render::warnings(&self.reading.sources, &self.reading.diagnostics)
    }
}

impl ModelArgs {
    /// Reads the model and its neighbours.
    pub(crate) fn load(&self) -> Result<Loaded, ReadError> {
        let file = self.file.as_path();
        let (format, mut files) = (format_of(file)?, vec![file.to_owned()]);
        let source = read(file)?;
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
            read(&path).map(Some)
        };
        if let Some(init) = neighbour("init", !self.init.is_empty())? {
            reader.init_file(init);
        }
        if let Some(spec) = neighbour("spec", !self.target.is_empty())? {
            reader.spec_file(spec);
        }
        let option = |name: &'static str| move |text: &String| Source::new(name, text.clone());
        if !self.init.is_empty() {
            reader.replace_initial(self.init.iter().map(option("--init")));
        }
        if !self.target.is_empty() {
            reader.replace_bad(self.target.iter().map(option("--target")));
        }
        Ok(Loaded { reading: reader.finish()?, format, files })
    }
}

fn format_of(path: &Path) -> Result<Format, ReadError> {
    if let Some(format) = known_format(path) {
        return Ok(format);
    }
    Err(if path.is_dir() {
        refused(path, "is a directory", "name a file in it")
    } else if !path.exists() {
        missing(path)
    } else if path.extension().is_some_and(|extension| extension == "bp") {
        refused(path, "is a Boolean program, which this version cannot read", "write it as a .cpds file")
    } else {
        refused(path, "has no known format", "the name of a model ends in .cpds or .pds")
    })
}

/// The format that the file's name stands for.
pub(crate) fn known_format(path: &Path) -> Option<Format> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "cpds" => Some(Format::Cpds),
        "pds" => Some(Format::Pds),
        _ => None,
    }
}

/// A path as it can be shown.
pub(crate) fn shown(path: &Path) -> String {
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
    names.sort(); // the folder's own order is nobody's
    let near = names
        .iter()
        .filter(|name| known_format(Path::new(name)).is_some())
        .map(|name| (strsim::damerau_levenshtein(name, &wanted), name))
        .filter(|&(distance, _)| distance <= 3)
        .min_by_key(|&(distance, _)| distance);
    let help = match near {
        Some((_, name)) => format!("did you mean `{}`?", shown(&path.with_file_name(name))),
        None if folder.is_dir() => "give the path of a .cpds or .pds file".to_owned(),
        None => format!("there is no folder `{}` either", shown(folder)),
    };
    ReadError::new(Vec::new(), error.help(help))
}

/// Reads a text file: UTF-8, with or without a byte order mark.
fn read(path: &Path) -> Result<Source, ReadError> {
    Source::decode(shown(path), &read_bytes(path)?)
}

fn read_bytes(path: &Path) -> Result<Vec<u8>, ReadError> {
    // Opening a pipe would wait for its other end.
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

#[cfg(test)]
mod tests {
    use super::*;
    use cpds::{print_cpds, print_pds};
    use cpds_testing::random::{Shape, problem};
    use proptest::prelude::*;

    /// Reads bytes as every kind of file and shows what there is to say. Nothing may panic.
    fn answers(bytes: &[u8]) {
        let source = match Source::decode("fuzz", bytes) {
            Ok(source) => source,
            Err(ReadError { sources, diagnostics }) => {
                assert!(render::errors(&sources, &diagnostics).contains("not UTF-8"));
                return;
            }
        };
        let small = || Reader::pds(Source::new("small", "1\nPDA 0 0\n"));
        let mut with_init = small();
        with_init.init_file(source.clone());
        let mut with_option = small();
        with_option.replace_initial([source.clone()]);
        for reader in [Reader::cpds(source.clone()), Reader::pds(source), with_init, with_option] {
            match reader.finish() {
                Ok(Reading { sources, diagnostics, .. }) => assert_eq!(render::errors(&sources, &diagnostics), ""),
                Err(ReadError { sources, diagnostics }) => assert_ne!(render::errors(&sources, &diagnostics), ""),
            }
        }
    }

    proptest! {
        #[test]
        fn any_bytes_get_an_answer(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            answers(&bytes);
        }

        #[test]
        fn mutated_files_get_an_answer(
            problem in problem(&Shape::default()),
            pds in any::<bool>(),
            edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        ) {
            let text = if pds { print_pds(&problem).pds } else { print_cpds(&problem) };
            let mut bytes = text.into_bytes();
            for (place, byte) in edits {
                let at = place.index(bytes.len());
                bytes[at] = byte;
            }
            answers(&bytes);
        }
    }
}
