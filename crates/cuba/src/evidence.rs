//! Evidence for an answer: made, checked by `cpds-check`, and written to files.

use crate::cli::{Answer, heading};
use crate::engine::analysis::Conclusion;
use crate::engine::{Cancel, Halt};
use crate::explore::Explored;
use crate::fault;
use crate::found::{Check, Found};
use crate::json;
use crate::limits::{self, Ended, Phase};
use crate::load::Loaded;
use crate::output::{not_written, write};
use crate::show::plural;
use clap::Args;
use cpds_check::{Claim, Evidence, Rejected, check};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Evidence, and what it took.
pub(crate) struct Made {
    pub(crate) evidence: Evidence,
    /// The time it took to make it.
    pub(crate) time: Duration,
    /// The time it took to check it, if it was checked.
    pub(crate) check: Option<Duration>,
}

impl Made {
    /// What it took, in words.
    pub(crate) fn statistics(&self) -> String {
        let ms = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1000.0);
        let check = self.check.map_or("not checked".to_owned(), |time| format!("checked in {}", ms(time)));
        format!("{}, made in {}, {check}\n", self.evidence_in_words(), ms(self.time))
    }

    /// What kind of evidence it is, and how much of it.
    pub(crate) fn evidence_in_words(&self) -> String {
        match &self.evidence {
            Evidence::Trace { .. } | Evidence::WrittenTrace { .. } => "trace".to_owned(),
            Evidence::Certificate(certificate) => {
                let tuples = plural(certificate.tuples().len(), "tuple");
                format!("certificate with {tuples} over {}", plural(certificate.automaton.len(), "language"))
            }
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

    /// What the search has found, before its evidence is made.
    pub(crate) fn found(&self, explored: &Explored<'_>) -> Option<Found> {
        Found::of(explored, if self.no_check { Check::Skipped } else { Check::Pending })
    }

    /// Makes evidence for the answer, if there is an answer, and checks it if that is wanted. What cannot be checked for lack of memory or
    /// time is no answer, but [unconfirmed](Explored::unconfirmed).
    ///
    /// # Errors
    /// If the evidence is rejected: then there is a mistake in an engine, or in the checker.
    pub(crate) fn make(&self, explored: &mut Explored<'_>) -> Result<Option<Made>, Rejected> {
        let is_checked = !self.no_check;
        let start = Instant::now();
        let left = explored.options.timeout.map(|timeout| timeout.saturating_sub(explored.time));
        let cancel = Cancel::when(explored.options.interrupt, left);
        limits::enter(Phase::MakingEvidence);
        fault::here("evidence");
        // What is not stopped lacks memory.
        let ended = |phase| Ended { why: cancel.why().unwrap_or(Halt::Memory), phase };
        let (evidence, claim) = match &explored.analysis.conclusion {
            Conclusion::Unsafe { trace, .. } => {
                (Evidence::Trace { trace: trace.clone(), contexts: trace.contexts.len() }, Claim::Verdict)
            }
            Conclusion::Safe(proof) | Conclusion::Converged(proof) if is_checked || self.certificate.is_some() => {
                let is_exact = matches!(explored.analysis.conclusion, Conclusion::Converged(_));
                let claim = if is_exact { Claim::Exact } else { Claim::Verdict };
                // The tables are still there, and have three quarters of the memory at most.
                let tables = explored.analysis.statistics.table_bytes();
                let tables = tables.saturating_sub(explored.analysis.lower.bytes_elsewhere());
                let room = (explored.options.memory / 3 * 4).saturating_sub(tables);
                match explored.analysis.certificate(proof, room, &cancel) {
                    Ok(certificate) => (Evidence::Certificate(certificate), claim),
                    Err(_) if is_checked => {
                        explored.leave_unconfirmed(self.found(explored), ended(Phase::MakingEvidence));
                        return Ok(None);
                    }
                    Err(_) => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        let time = start.elapsed();
        let mut made = Made { evidence, time, check: None };
        if is_checked {
            let start = Instant::now();
            limits::enter(Phase::CheckingEvidence);
            match check(explored.problem, &made.evidence, claim, &|_| cancel.why().is_none()) {
                Ok(()) => made.check = Some(start.elapsed()),
                Err(Rejected::Stopped) => {
                    explored.leave_unconfirmed(self.found(explored), ended(Phase::CheckingEvidence));
                    return Ok(None);
                }
                Err(rejected) => return Err(rejected),
            }
        }
        Ok(Some(made))
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
    use crate::engine::analysis::{Options, Question, Reason, analyse};

    const SAFE: &str = include_str!("../../../models/squeeze/get-and-put.cpds");

    fn explored<'a>(problem: &'a cpds::Problem, of: &'a cpds::Problem, options: Options) -> Explored<'a> {
        let analysis = analyse(of, Question::Verify, Options::default(), |_| ());
        assert!(matches!(analysis.conclusion, Conclusion::Safe(_)));
        Explored::new((problem, Question::Verify), analysis, options, Duration::ZERO)
    }

    const CHECKED: EvidenceArgs = EvidenceArgs { certificate: None, no_check: false };

    /// Two overapproximations together take some memory.
    #[test]
    fn without_memory_for_the_evidence_there_is_no_answer() {
        let problem: cpds::Problem = SAFE.parse().unwrap();
        let mut explored = explored(&problem, &problem, Options { memory: 1000, ..Options::default() });
        assert!(matches!(CHECKED.make(&mut explored), Ok(None)));
        assert_eq!(explored.analysis.conclusion, Conclusion::Unknown(Reason::Memory));
        let told = explored.outline().unconfirmed().expect("there is a proof").told();
        assert!(told.starts_with("a proof was found (matched-Z ∩ A_0 has no bad state) that no bad state is reachable, but it was not checked: making the evidence does not fit into the memory of "), "{told}");
        assert!(
            told.ends_with("; rerun with more of it, or with `--no-check` to accept the unchecked proof"),
            "{told}"
        );
    }

    #[test]
    fn without_time_for_the_check_there_is_no_answer() {
        let problem: cpds::Problem = SAFE.parse().unwrap();
        let options = Options { timeout: Some(Duration::ZERO), ..Options::default() };
        let mut explored = explored(&problem, &problem, options);
        assert!(matches!(CHECKED.make(&mut explored), Ok(None)));
        assert_eq!(explored.analysis.conclusion, Conclusion::Unknown(Reason::TimeOut));
        let told = explored.outline().unconfirmed().expect("there is a proof").told();
        assert!(told.contains(", but it was not checked: --timeout ends it while "), "{told}");
        assert!(!explored.is_open(), "a proof is not open");
    }

    /// A trace is not called open either.
    #[test]
    fn a_trace_that_was_not_checked() {
        let problem: cpds::Problem = include_str!("../../../models/paper/fig1.cpds").parse().unwrap();
        let analysis = analyse(&problem, Question::Verify, Options::default(), |_| ());
        let mut explored = Explored::new((&problem, Question::Verify), analysis, Options::default(), Duration::ZERO);
        let ended = Ended { why: Halt::TimeOut, phase: Phase::CheckingEvidence };
        explored.leave_unconfirmed(CHECKED.found(&explored), ended);
        assert!(!explored.is_open());
        assert_eq!(
            crate::verify::unknown(&explored.outline()),
            "unknown: a trace was found to a bad state with 4 contexts, and with no fewer, but it was not checked: --timeout ends it while checking \
             the evidence; rerun with a longer `--timeout`, or with `--no-check` to accept the unchecked trace"
        );
    }

    /// So far no evidence was ever rejected: here, the answer is one to another question.
    #[test]
    fn a_wrong_answer_is_not_told() {
        let problem: cpds::Problem = SAFE.parse().unwrap();
        let everything = SAFE.lines().map(|line| if line.starts_with("bad") { "bad *|*,*" } else { line });
        let unsafe_problem: cpds::Problem = everything.collect::<Vec<_>>().join("\n").parse().unwrap();
        let mut explored = explored(&unsafe_problem, &problem, Options::default());
        let rejected = CHECKED.make(&mut explored).err().expect("it has bad states");
        assert!(matches!(rejected, Rejected::Violated(cpds_check::Condition::Bad, _)), "{rejected}");
        let folder = tempfile::tempdir().unwrap();
        let answer = explored.rejected(folder.path(), &rejected, String::new());
        assert_eq!(answer.code, crate::cli::exit::INTERNAL);
        assert!(answer.stdout.starts_with("error: the evidence for the answer does not pass the check: rejected: "));
        assert!(answer.errors.contains("please report it"), "{}", answer.errors);
        assert!(folder.path().join("cuba-contradiction-1.json").exists());
    }
}
