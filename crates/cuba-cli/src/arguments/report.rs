//! `--report` and `--plot`.

use crate::arguments::heading;
use crate::running::output_files::OutputFiles;
use clap::Args;
use std::path::PathBuf;

/// What to draw.
#[derive(Args, Debug)]
pub(crate) struct ReportArgs {
    /// Write a page to look at to this file
    ///
    /// One HTML file, which needs nothing else: verdict, chart, table of states, trace, automata
    #[arg(long, value_name = "FILE.html", help_heading = heading::PICTURES)]
    pub(crate) report: Option<PathBuf>,
    /// Draw the chart alone to this file
    ///
    /// How |R_k| and |T(R_k)| grow with k, and what the overapproximations leave, as SVG
    #[arg(long, value_name = "FILE.svg", help_heading = heading::PICTURES)]
    pub(crate) plot: Option<PathBuf>,
}

impl ReportArgs {
    /// The files to be written.
    pub(crate) fn outputs(&self) -> impl Iterator<Item = &PathBuf> {
        self.report.iter().chain(&self.plot)
    }

    /// Whether the names of the files say what is written to them.
    pub(crate) fn check_names(&self, files: &OutputFiles) -> Result<(), String> {
        let check = |path: &Option<PathBuf>, option, format, extensions| {
            path.as_ref().map_or(Ok(()), |path| files.has_extension(path, option, format, extensions))
        };
        check(&self.report, "--report", "HTML", &["html", "htm"])?;
        check(&self.plot, "--plot", "SVG", &["svg"])
    }
}
