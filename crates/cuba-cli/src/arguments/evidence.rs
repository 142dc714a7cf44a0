//! Evidence for an answer: made, checked by `cpds-check`, and written to files.

use crate::analysis::finding::Check;
use crate::arguments::model::Loaded;
use crate::json;
use crate::running::output_files::{not_written, write};
use crate::verbs::command_line::{Answer, heading};
use crate::verbs::exploration::Explored;
use crate::verbs::show::plural;
use clap::Args;
use cpds_check::Evidence;
use cuba::Conclusion;
use cuba::{EvidencePolicy, MadeEvidence};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What the evidence took, in words.
pub(crate) fn statistics(made: &MadeEvidence) -> String {
    let ms = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1000.0);
    let check = made.check.map_or("not checked".to_owned(), |time| format!("checked in {}", ms(time)));
    format!("{}, made in {}, {check}\n", in_words(made), ms(made.time))
}

/// What kind of evidence it is, and how much of it.
pub(crate) fn in_words(made: &MadeEvidence) -> String {
    match &made.evidence {
        Evidence::Trace { .. } | Evidence::WrittenTrace { .. } => "trace".to_owned(),
        Evidence::Certificate(certificate) => {
            let tuples = plural(certificate.tuples().len(), "tuple");
            format!("certificate with {tuples} over {}", plural(certificate.automaton.len(), "language"))
        }
    }
}

/// What to do with the evidence for the answer.
#[derive(Args, Debug, Default)]
pub(crate) struct EvidenceArgs {
    /// Write the proof, if there is one, to this file
    ///
    /// As JSON for `cuba-check`; compressed, if its name ends in .gz.
    #[arg(long, value_name = "FILE", help_heading = heading::EVIDENCE)]
    certificate: Option<PathBuf>,
    /// Do not check the evidence for the answer
    #[arg(long, help_heading = heading::EVIDENCE)]
    no_check: bool,
}

impl EvidenceArgs {
    /// Where the certificate is to be written.
    pub(crate) fn certificate(&self) -> Option<&PathBuf> {
        self.certificate.as_ref()
    }

    /// How far the check of the evidence is, when the search is over.
    pub(crate) fn check(&self) -> Check {
        if self.no_check { Check::Skipped } else { Check::Pending }
    }

    /// What evidence is made, and whether it is checked.
    pub(crate) fn policy(&self) -> EvidencePolicy {
        match (self.no_check, &self.certificate) {
            (false, _) => EvidencePolicy::Checked,
            (true, Some(_)) => EvidencePolicy::Unchecked,
            (true, None) => EvidencePolicy::TraceOnly,
        }
    }

    /// What is to be said of an answer that was not checked.
    pub(crate) fn doubt(&self, explored: &Explored<'_>) -> &'static str {
        let is_answer = !matches!(explored.analysis.conclusion, Conclusion::Unknown(_));
        if self.no_check && is_answer { "; not checked" } else { "" }
    }

    /// Writes the certificate, if that is wanted.
    pub(crate) fn write(&self, explored: &Explored<'_>, answer: &mut Answer) {
        if let Some(path) = &self.certificate {
            answer.wrote(path, write_certificate(path, explored));
        }
    }
}

/// Writes the certificate to its file. Gives what there is to say: a note if there is none, or an error.
fn write_certificate(path: &Path, explored: &Explored<'_>) -> Result<String, String> {
    match (explored.analysis.proved_by(), explored.made.as_ref().map(|made| &made.evidence)) {
        (Some(proved_by), Some(Evidence::Certificate(certificate))) => {
            let write_to = |out: &mut dyn Write| json::write_certificate(out, explored.problem, proved_by, certificate);
            write(path, write_to).map(|()| String::new())
        }
        (Some(_), _) => Err(format!("{}: the certificate takes too much memory", not_written(path))),
        (None, _) => Ok(format!("note: {}: there is no certificate\n", not_written(path))),
    }
}

/// Writes the trace to a file, likewise.
pub(crate) fn write_trace(
    path: &Path,
    explored: &Explored<'_>,
    loaded: &Loaded,
    source: &str,
) -> Result<String, String> {
    let Conclusion::Unsafe { trace, pattern } = &explored.analysis.conclusion else {
        return Ok(format!("note: {}: there is no trace\n", not_written(path)));
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let text = if name.trim_end_matches(".gz").ends_with(".itf.json") {
        json::print(&json::itf(loaded, trace, source))
    } else {
        json::print(&json::trace(explored.problem, trace, *pattern, Some(loaded)))
    };
    write(path, |out| out.write_all(text.as_bytes())).map(|()| String::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::finding::Found;
    use crate::running::limits::{Ended, Phase};
    use cpds_check::Rejected;
    use cuba::{Halt, Options, Question, search};

    fn explored(problem: &cpds::Problem) -> Explored<'_> {
        let analysis = search(problem, Question::Verify, &Options::default(), |_| ());
        Explored::new((problem, Question::Verify), analysis, Options::default(), Duration::ZERO)
    }

    /// What is said of an answer whose evidence was not checked, for this reason.
    fn unconfirmed(text: &str, why: Halt, phase: Phase) -> String {
        let problem: cpds::Problem = text.parse().unwrap();
        let mut explored = explored(&problem);
        let found = Found::of(Question::Verify, &explored.analysis, Check::Pending);
        explored.leave_unconfirmed(found, Ended { why, phase });
        assert!(!explored.is_open(), "a proof is not open, nor is a trace");
        crate::verbs::verify::unknown(&explored.outline())
    }

    const SAFE: &str = include_str!("../../../../models/squeeze/get-and-put.cpds");

    #[test]
    fn an_answer_without_evidence() {
        let told = unconfirmed(SAFE, Halt::Memory, Phase::MakingEvidence);
        assert!(told.starts_with("unknown: a proof was found (matched-Z ∩ A_0 has no bad state) that no bad state is reachable, but it was not checked: making the evidence does not fit into the memory of "), "{told}");
        assert!(
            told.ends_with("; rerun with more of it, or with `--no-check` to accept the unchecked proof"),
            "{told}"
        );
        assert_eq!(
            unconfirmed(include_str!("../../../../models/paper/fig1.cpds"), Halt::TimeOut, Phase::CheckingEvidence),
            "unknown: a trace was found to a bad state with 4 contexts, and with no fewer, but it was not checked: --timeout ends it while checking \
             the evidence; rerun with a longer `--timeout`, or with `--no-check` to accept the unchecked trace"
        );
    }

    /// So far no evidence was ever rejected: here, the checker's answer is made up.
    #[test]
    fn a_wrong_answer_is_not_told() {
        let problem: cpds::Problem = SAFE.parse().unwrap();
        let rejected = Rejected::Violated(cpds_check::Condition::Bad, "it has bad states".to_owned());
        let folder = tempfile::tempdir().unwrap();
        let answer = explored(&problem).rejected(folder.path(), &rejected, String::new());
        assert_eq!(answer.code, crate::verbs::command_line::exit::INTERNAL);
        assert!(answer.stdout.starts_with("error: the evidence for the answer does not pass the check: rejected: "));
        assert!(answer.errors.contains("please report it"), "{}", answer.errors);
        assert!(folder.path().join("cuba-contradiction-1.json").exists());
    }
}
