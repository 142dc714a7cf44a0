//! The options `--checkpoint` and `--checkpoint-every`.

use crate::analysis::phase::Phase;
use crate::arguments::heading;
use crate::arguments::values::duration;
use crate::running::checkpoint::{COORDINATOR_FILE, Checkpoint, Header, ResumedRun, SharesFolder};
use crate::running::run::Run;
use clap::Args;
use cuba::checkpoint::StartPoint;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Where and how often a run saves its checkpoint.
#[derive(Args, Debug)]
pub(crate) struct CheckpointArgs {
    /// Save the run to this file, to continue it with `cuba resume`
    ///
    /// The file must not exist yet. It is removed when the answer is printed. With many processes,
    /// it is a folder in which each process saves its shares of the states.
    #[arg(long, value_name = "FILE", help_heading = heading::LIMITS)]
    checkpoint: Option<PathBuf>,
    /// Set the time between two checkpoints
    ///
    /// A process that is killed loses the work since the last checkpoint. At most half of the time
    /// is spent on saving.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration, requires = "checkpoint", help_heading = heading::LIMITS)]
    checkpoint_every: Duration,
    /// The checkpoint from which `cuba resume` continues.
    #[arg(skip)]
    resumed: Option<ResumedRun>,
}

impl CheckpointArgs {
    /// Returns the checkpoint file, if this run creates it.
    pub(crate) fn output(&self, is_shared: bool) -> Option<&PathBuf> {
        self.checkpoint.as_ref().filter(|_| self.resumed.is_none() && !is_shared)
    }

    /// Opens the folder in which this process saves its shares of the states, if the user wants
    /// checkpoints.
    pub(crate) fn folder(&self, run: &Arc<Run>, problem: &cpds::Problem) -> Result<Option<SharesFolder>, String> {
        let Some(path) = &self.checkpoint else { return Ok(None) };
        SharesFolder::new(run, path, Header::new(run, problem)?).map(Some)
    }

    /// Sets the checkpoint from which the run continues.
    pub(crate) fn resume(&mut self, resumed: ResumedRun) {
        self.resumed = Some(resumed);
    }

    /// Prepares the start of both searches, and the checkpoint to save, if the user wants one.
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
                let path = if is_shared { &path.join(COORDINATOR_FILE) } else { path };
                let header = Header::new(run, problem)?;
                Ok((StartPoint::default(), Some(Checkpoint::new(run, path, every, header)?)))
            }
            (None, None) => Ok((StartPoint::default(), None)),
        }
    }
}
