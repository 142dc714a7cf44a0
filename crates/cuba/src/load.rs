//! From a file name to a problem.

use crate::render;
use clap::Args;
use cpds::diagnostic::printable;
use cpds::{FromFile, Problem, ReadError, Reading, read_file};
use std::fs;
use std::path::{Path, PathBuf};

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
        let FromFile { reading, format, files } = read_file(&self.file, &self.init, &self.target)?;
        Ok(Loaded { reading, format: format.into(), files })
    }
}

impl From<cpds::Format> for Format {
    fn from(format: cpds::Format) -> Self {
        match format {
            cpds::Format::Cpds => Format::Cpds,
            cpds::Format::Pds => Format::Pds,
        }
    }
}

/// The format that the file's name stands for.
pub(crate) fn known_format(path: &Path) -> Option<Format> {
    cpds::Format::of_name(path).map(Format::from)
}

/// A path as it can be shown.
pub(crate) fn shown(path: &Path) -> String {
    printable(&path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpds::{Reader, Source, print_cpds, print_pds};
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
