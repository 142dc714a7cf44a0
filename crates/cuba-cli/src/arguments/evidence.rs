//! The options `--certificate` and `--no-check`.

use crate::analysis::exploration::Exploration;
use crate::analysis::finding::Check;
use crate::arguments::heading;
use clap::Args;
use cuba::{Conclusion, EvidencePolicy};
use std::path::PathBuf;

/// The options for the evidence.
#[derive(Args, Debug, Default)]
pub(crate) struct EvidenceArgs {
    /// Write the certificate, if there is one, to this file
    ///
    /// The file is JSON for `cuba-check`. It is compressed if its name ends in .gz.
    #[arg(long, value_name = "FILE", help_heading = heading::EVIDENCE)]
    certificate: Option<PathBuf>,
    /// Skip the check of the evidence
    ///
    /// The verdict then says that the evidence was not checked.
    #[arg(long, help_heading = heading::EVIDENCE)]
    no_check: bool,
}

impl EvidenceArgs {
    /// Returns the file of the certificate.
    pub(crate) fn certificate(&self) -> Option<&PathBuf> {
        self.certificate.as_ref()
    }

    /// Returns the state of the check when the search is over.
    pub(crate) fn check(&self) -> Check {
        if self.no_check { Check::Skipped } else { Check::Pending }
    }

    /// Returns the evidence policy for the library.
    pub(crate) fn policy(&self) -> EvidencePolicy {
        match (self.no_check, &self.certificate) {
            (false, _) => EvidencePolicy::Checked,
            (true, Some(_)) => EvidencePolicy::Unchecked,
            (true, None) => EvidencePolicy::TraceOnly,
        }
    }

    /// Returns the end of a verdict whose trace is not checked. (Other verdicts name their proof,
    /// and whether it was checked.)
    pub(crate) fn unchecked_trace_note(&self, explored: &Exploration<'_>) -> &'static str {
        let is_trace = matches!(explored.analysis.conclusion, Conclusion::Unsafe { .. });
        if self.no_check && is_trace { "; trace not checked" } else { "" }
    }
}
