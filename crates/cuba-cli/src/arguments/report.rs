//! The options `--report` and `--plot`.

use crate::arguments::heading;
use crate::running::output_files::OutputFiles;
use clap::Args;
use std::path::PathBuf;

/// The report and the chart.
#[derive(Args, Debug)]
pub(crate) struct ReportArgs {
    /// Write an HTML report to this file
    ///
    /// The report shows the verdict, the chart, the table of states, the trace and the automata. It
    /// needs no other file.
    #[arg(long, value_name = "FILE.html", help_heading = heading::PICTURES)]
    pub(crate) report: Option<PathBuf>,
    /// Write the chart alone to this file, as SVG
    ///
    /// The chart shows how |R_k| and |T(R_k)| grow with k, and the sizes of the overapproximations.
    #[arg(long, value_name = "FILE.svg", help_heading = heading::PICTURES)]
    pub(crate) plot: Option<PathBuf>,
}

impl ReportArgs {
    /// Returns the files to write.
    pub(crate) fn outputs(&self) -> impl Iterator<Item = &PathBuf> {
        self.report.iter().chain(&self.plot)
    }

    /// Checks that the names of the files have the right extensions.
    pub(crate) fn check_names(&self, files: &OutputFiles) -> Result<(), String> {
        let check = |path: &Option<PathBuf>, option, format, extensions| {
            path.as_ref().map_or(Ok(()), |path| files.check_extension(path, option, format, extensions))
        };
        check(&self.report, "--report", "HTML", &["html", "htm"])?;
        check(&self.plot, "--plot", "SVG", &["svg"])
    }
}
