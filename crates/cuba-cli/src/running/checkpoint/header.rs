//! The header of a checkpoint: the run to which it belongs.

use crate::running::run::Run;
use cpds::diagnostic::printable;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;
use std::time::Duration;

/// The run to which a checkpoint belongs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Header {
    /// The version of cuba. Another version cannot read the file.
    pub(super) cuba: String,
    /// The command line.
    pub(crate) arguments: Vec<String>,
    /// The folder in which the run began.
    pub(crate) folder: String,
    /// The fingerprint of the problem.
    pub(super) problem: String,
    /// The time that the run has taken so far.
    pub(crate) time: Duration,
}

impl Header {
    /// Creates the header for this run.
    pub(crate) fn new(run: &Run, problem: &cpds::Problem) -> Result<Self, String> {
        let text = |word: OsString| {
            word.into_string()
                .map_err(|word| format!("--checkpoint: `{}` is not UTF-8", printable(&word.to_string_lossy())))
        };
        let folder = match run.files.folder() {
            Some(folder) => folder.to_owned(),
            None => std::env::current_dir().map_err(|error| format!("the current folder: {error}"))?,
        };
        Ok(Header {
            cuba: env!("CARGO_PKG_VERSION").to_owned(),
            arguments: run.arguments.iter().cloned().map(text).collect::<Result<_, _>>()?,
            folder: text(folder.into_os_string())?,
            problem: problem.fingerprint(),
            time: Duration::ZERO,
        })
    }
}
