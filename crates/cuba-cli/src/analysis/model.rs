//! A loaded model: a system, and for a Boolean program the map to its source.

use boolprog::{BadStates, SourceMap};
use cpds::{Problem, Reading, is_program};
use std::path::Path;

/// The file formats, by extension.
#[derive(Clone, Copy, PartialEq, Eq, Debug, serde::Serialize, clap::ValueEnum)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// The format of cuba
    Cpds,
    /// The format of the published tool, with .init and .spec files
    Pds,
    /// A formatted Boolean program; only from a Boolean program
    Bp,
}

impl Format {
    /// Returns the format of a file with this name.
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

/// A problem with the diagnostics of its text.
pub(crate) struct LoadedModel {
    pub(crate) reading: Reading,
    pub(crate) format: Format,
    /// The Boolean program, if the model is one.
    pub(crate) program: Option<LoadedProgram>,
}

/// A lowered Boolean program.
pub(crate) struct LoadedProgram {
    pub(crate) map: SourceMap,
    /// The bad states.
    pub(crate) property: BadStates,
    /// The assumptions that the answer depends on.
    pub(crate) assumptions: Vec<String>,
}

impl LoadedModel {
    pub(crate) fn problem(&self) -> &Problem {
        &self.reading.problem
    }

    /// Returns the assumptions that the answer depends on, if the program may do more than was
    /// analysed.
    pub(crate) fn assumptions(&self) -> &[String] {
        self.program.as_ref().map_or(&[], |program| &program.assumptions)
    }

    /// Formats the assumptions as the end of a verdict.
    pub(crate) fn assuming(&self) -> String {
        match self.assumptions() {
            [] => String::new(),
            assumptions => format!("; assuming {}", assumptions.join(", ")),
        }
    }
}
