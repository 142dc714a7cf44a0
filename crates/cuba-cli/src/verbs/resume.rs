//! `cuba resume`: goes on with a run from its checkpoint.

use crate::arguments::model::shown;
use crate::running::checkpoint::Resumed;
use crate::running::crash_report;
use crate::running::limits::LimitArgs;
use crate::verbs::command_line::{Answer, Cli, Stopped, Verb, remark};
use crate::verbs::{reach, verify};
use clap::{Args, Parser as _};
use std::env;
use std::path::{Path, PathBuf};

#[derive(Args, Debug)]
#[command(after_long_help = "\
Everything is as it was asked for when the run began: in the same folder, with
the same options; only what limits it may be other.

Examples:
  cuba verify big.cpds --checkpoint big.checkpoint
  cuba resume big.checkpoint
  cuba resume big.checkpoint --timeout 2h --memory 16G

Exit codes: those of the run that goes on")]
pub(crate) struct Resume {
    /// The file that --checkpoint has written
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    limits: LimitArgs,
}

pub(crate) fn answer(args: &Resume, quiet: bool) -> Result<Answer, Stopped> {
    let resumed = Resumed::open(&args.file)?;
    let (file, folder) = (shown(&args.file), Path::new(&resumed.header.folder));
    let asked = Cli::try_parse_from(&resumed.header.arguments);
    // Another program may take over, where this one was started.
    match asked.as_ref().map(|asked| &asked.verb) {
        Ok(Verb::Verify(verify)) => verify.explore.cluster.hand_over()?,
        Ok(Verb::Reach(reach)) => reach.explore.cluster.hand_over()?,
        _ => {}
    }
    let is_here = env::current_dir().is_ok_and(|here| here == folder);
    if !is_here {
        env::set_current_dir(folder).map_err(|error| {
            Stopped::Usage(format!("the run of `{file}` was begun in `{}`, and there: {error}", shown(folder)))
        })?;
        if !quiet {
            remark(&format!("note: everything is read and written in `{}`, where the run began\n", shown(folder)));
        }
    }
    crash_report::has_options(format!("{args:?}, {asked:?}"));
    match asked.map(|asked| (asked.quiet || quiet, asked.verb)) {
        Ok((quiet, Verb::Verify(mut verify))) => {
            verify.explore.go_on(resumed, args.limits);
            verify::answer(&verify, quiet)
        }
        Ok((quiet, Verb::Reach(mut reach))) => {
            reach.explore.go_on(resumed, args.limits);
            reach::answer(&reach, quiet)
        }
        _ => Err(Stopped::Usage(format!("`{file}` is of a run that cannot go on"))),
    }
}
