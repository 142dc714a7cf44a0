//! `cuba resume`: continues a run from its checkpoint.

use crate::arguments::limits::LimitArgs;
use crate::running::answer::{Answer, VerbError};
use crate::running::checkpoint::ResumedRun;
use crate::running::run::Run;
use crate::text::file_names::printable_path;
use crate::verbs::command_line::{Cli, Verb};
use crate::verbs::{reach, verify};
use clap::{Args, Parser as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs};

#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  cuba verify big.cpds --checkpoint big.checkpoint
  cuba resume big.checkpoint
  cuba resume big.checkpoint --timeout 2h --memory 16G

Exit codes: those of the continued run")]
pub(crate) struct Resume {
    /// The file of --checkpoint
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    limits: LimitArgs,
}

pub(crate) fn answer(args: &Resume, run: &Arc<Run>, quiet: bool) -> Result<Answer, VerbError> {
    let resumed = ResumedRun::open(&args.file)?;
    let (file, folder) = (printable_path(&args.file), Path::new(&resumed.header.folder));
    let cli = Cli::try_parse_from(&resumed.header.arguments);
    // `cuba-cluster` may take over. It must start in the current folder of this process.
    let of_cluster_program = match cli.as_ref().map(|cli| &cli.verb) {
        Ok(Verb::Verify(verify)) => verify.search.cluster.run_cluster_program(run)?,
        Ok(Verb::Reach(reach)) => reach.search.cluster.run_cluster_program(run)?,
        _ => None,
    };
    if let Some(answer) = of_cluster_program {
        return Ok(answer);
    }
    let is_here = env::current_dir().is_ok_and(|here| here == folder);
    if !is_here {
        // With the dot, this fails unless the folder can be entered.
        fs::metadata(folder.join(".")).map_err(|error| {
            VerbError::Usage(format!(
                "cannot enter the folder `{}`, in which the run of `{file}` began: {error}",
                printable_path(folder)
            ))
        })?;
        run.files.set_folder(folder);
        if !quiet {
            let note =
                format!("note: files are read and written in `{}`, where the run began\n", printable_path(folder));
            run.remark(&note);
        }
    }
    run.record_options(format!("{args:?}, {cli:?}"));
    match cli.map(|cli| (cli.quiet || quiet, cli.verb)) {
        Ok((quiet, Verb::Verify(mut verify))) => {
            verify.search.resume(resumed, args.limits);
            verify::answer(&verify, run, quiet)
        }
        Ok((quiet, Verb::Reach(mut reach))) => {
            reach.search.resume(resumed, args.limits);
            reach::answer(&reach, run, quiet)
        }
        _ => Err(VerbError::Usage(format!("the run of `{file}` cannot be continued"))),
    }
}
