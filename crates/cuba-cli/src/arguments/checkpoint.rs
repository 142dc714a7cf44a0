//! `--checkpoint`: where a run saves what it has, and how often.

use crate::analysis::phase::Phase;
use crate::arguments::heading;
use crate::arguments::values::duration;
use crate::running::checkpoint::{Checkpoint, Header, RUN, Resumed, SharesFolder};
use crate::running::run::Run;
use clap::Args;
use cuba::checkpoint::StartPoint;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How a run saves what it has.
#[derive(Args, Debug)]
pub(crate) struct CheckpointArgs {
    /// Keep in this file what there is, to go on with `cuba resume`
    ///
    /// It is removed when there is an answer. There must be no such file yet. Of many processes,
    /// each keeps its share in a folder of this name.
    #[arg(long, value_name = "FILE", help_heading = heading::LIMITS)]
    checkpoint: Option<PathBuf>,
    /// How often that is written
    ///
    /// Also what may be lost if the process is killed. At most half of the time is spent with that.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration, requires = "checkpoint", help_heading = heading::LIMITS)]
    checkpoint_every: Duration,
    /// What `cuba resume` goes on from.
    #[arg(skip)]
    resumed: Option<Resumed>,
}

impl CheckpointArgs {
    /// The file, if it is a new one.
    pub(crate) fn output(&self, is_shared: bool) -> Option<&PathBuf> {
        self.checkpoint.as_ref().filter(|_| self.resumed.is_none() && !is_shared)
    }

    /// Where this process saves its shares of the states, if the user wants that.
    pub(crate) fn folder(&self, run: &Arc<Run>, problem: &cpds::Problem) -> Result<Option<SharesFolder>, String> {
        let Some(path) = &self.checkpoint else { return Ok(None) };
        SharesFolder::new(run, path, Header::new(run, problem)?).map(Some)
    }

    /// Continues this run.
    pub(crate) fn resume(&mut self, resumed: Resumed) {
        self.resumed = Some(resumed);
    }

    /// What both searches start with, and where they save what they have, if the user wants that.
    pub(crate) fn begin(
        &self,
        run: &Arc<Run>,
        problem: &cpds::Problem,
        is_shared: bool,
    ) -> Result<(StartPoint, Option<Checkpoint>), String> {
        let every = self.checkpoint_every;
        match (&self.resumed, &self.checkpoint) {
            (Some(resumed), _) => {
                run.enter(Phase::Restoring);
                resumed.start(run, problem, every).map(|(start, checkpoint)| (start, Some(checkpoint)))
            }
            (None, Some(path)) => {
                let path = if is_shared { &path.join(RUN) } else { path };
                let header = Header::new(run, problem)?;
                Ok((StartPoint::default(), Some(Checkpoint::new(run, path, every, header)?)))
            }
            (None, None) => Ok((StartPoint::default(), None)),
        }
    }
}
