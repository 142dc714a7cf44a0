//! A model as it was read: a system, and the way back to a program.

use boolprog::{BadStates, SourceMap};
use cpds::{Problem, Reading, is_program};
use std::path::Path;

/// The file formats, by extension.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, clap::ValueEnum)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// Our own
    Cpds,
    /// The published tool's, with .init and .spec beside it
    Pds,
    /// A Boolean program, formatted; from a Boolean program only
    Bp,
}

impl Format {
    /// The format that a file's name stands for.
    pub(crate) fn of_name(path: &Path) -> Option<Format> {
        if is_program(path) {
            return Some(Format::Bp);
        }
        cpds::Format::of_name(path).map(Format::from)
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

/// A problem, with the remarks on its text.
pub(crate) struct Loaded {
    pub(crate) reading: Reading,
    pub(crate) format: Format,
    /// Of a Boolean program: the way back to it.
    pub(crate) program: Option<LoadedProgram>,
}

/// A Boolean program.
pub(crate) struct LoadedProgram {
    pub(crate) map: SourceMap,
    /// The question about it.
    pub(crate) asked: BadStates,
    /// What the answer rests on.
    pub(crate) assumptions: Vec<String>,
}

impl Loaded {
    pub(crate) fn problem(&self) -> &Problem {
        &self.reading.problem
    }

    /// What the answer rests on, if that is less than everything that the program may do.
    pub(crate) fn assumptions(&self) -> &[String] {
        self.program.as_ref().map_or(&[], |program| &program.assumptions)
    }

    /// The same as the end of a verdict.
    pub(crate) fn assuming(&self) -> String {
        match self.assumptions() {
            [] => String::new(),
            assumptions => format!("; assuming {}", assumptions.join(", ")),
        }
    }
}
