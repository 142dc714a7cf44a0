//! What somebody needs to find out why two engines contradict each other, or the checker: the model, the question, and what each of
//! them said.

use crate::explore::Explored;
use crate::json;
use crate::json::TraceJson;
use cpds::{Trace, print_cpds};
use serde::Serialize;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The report.
#[derive(Serialize)]
struct Bundle<'a> {
    cuba: &'static str,
    contradiction: &'a str,
    /// The model, with the property.
    model: String,
    /// The options of the analysis.
    options: String,
    /// |T(R_k)| for each k.
    levels: Vec<String>,
    /// The overapproximations, and what came of them.
    rungs: Vec<String>,
    /// The way to the state, if it is a bad one.
    trace: Option<TraceJson>,
}

/// Writes a report to a new file in a folder, and gives its path.
pub(crate) fn write(
    folder: &Path,
    explored: &Explored<'_>,
    what: &str,
    trace: Option<&(Trace, usize)>,
) -> io::Result<PathBuf> {
    let analysis = &explored.analysis;
    let trace = trace.map(|(trace, pattern)| json::trace(explored.problem, trace, *pattern, None));
    let bundle = Bundle {
        cuba: env!("CARGO_PKG_VERSION"),
        contradiction: what,
        model: print_cpds(explored.problem),
        options: format!("{:?}", explored.options),
        levels: analysis.levels.iter().map(|level| format!("k = {}: {}", level.k, level.visible)).collect(),
        rungs: analysis.rungs.iter().map(|climbed| format!("{}: {:?}", climbed.rung, climbed.outcome)).collect(),
        trace,
    };
    let text = json::print(&bundle);
    for number in 1..1000 {
        let path = folder.join(format!("cuba-contradiction-{number}.json"));
        match File::create_new(&path) {
            Ok(mut file) => return file.write_all(text.as_bytes()).map(|()| path),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("there are a thousand reports already"))
}
