//! Writes the evidence for an answer to files.

use crate::analysis::exploration::Exploration;
use crate::analysis::model::LoadedModel;
use crate::json;
use crate::running::output_files::write;
use crate::running::run::Run;
use cpds_check::Evidence;
use cuba::Conclusion;
use std::io::Write;
use std::path::Path;

/// Writes the certificate to its file. Returns a note if there is none.
pub(crate) fn write_certificate(run: &Run, path: &Path, explored: &Exploration<'_>) -> Result<String, String> {
    match (explored.analysis.proved_by(), explored.evidence.as_ref().map(|made| &made.evidence)) {
        (Some(proved_by), Some(Evidence::Certificate(certificate))) => {
            let write_to = |out: &mut dyn Write| json::write_certificate(out, explored.problem, proved_by, certificate);
            write(run, path, write_to).map(|()| String::new())
        }
        (Some(_), _) => Err(format!("{}: the certificate needs too much memory", run.files.not_written(path))),
        (None, _) => Ok(format!("note: {}: there is no certificate\n", run.files.not_written(path))),
    }
}

/// Writes the trace to its file. Returns a note if there is none.
pub(crate) fn write_trace(
    run: &Run,
    path: &Path,
    explored: &Exploration<'_>,
    loaded: &LoadedModel,
    source: &str,
) -> Result<String, String> {
    let Conclusion::Unsafe { trace, pattern } = &explored.analysis.conclusion else {
        return Ok(format!("note: {}: there is no trace\n", run.files.not_written(path)));
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let text = if name.trim_end_matches(".gz").ends_with(".itf.json") {
        json::print(&json::itf(loaded, trace, source))
    } else {
        json::print(&json::trace(explored.problem, trace, *pattern, Some(loaded)))
    };
    write(run, path, |out| out.write_all(text.as_bytes())).map(|()| String::new())
}
