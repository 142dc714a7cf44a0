//! The options of a search, common to `cuba verify` and `cuba reach`.

use crate::analysis::limits::MemoryLimit;
use crate::arguments::checkpoint::CheckpointArgs;
use crate::arguments::cluster::ClusterArgs;
use crate::arguments::evidence::EvidenceArgs;
use crate::arguments::heading;
use crate::arguments::limits::LimitArgs;
use crate::arguments::model::ModelArgs;
use crate::arguments::report::ReportArgs;
use crate::arguments::values::positive;
use crate::running::checkpoint::ResumedRun;
use crate::running::machine;
use clap::Args;
use cuba::{Engine, Ladder, Options, Rung, Tuning};
use std::str::FromStr;

/// The options of a search.
#[derive(Args, Debug)]
pub(crate) struct SearchArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Stop after K contexts
    ///
    /// The answer is `unknown` if K contexts do not decide the question.
    #[arg(long, value_name = "K", help_heading = heading::LIMITS)]
    max_contexts: Option<usize>,
    /// Choose the engine or one overapproximation
    ///
    /// auto chooses by itself. explicit (states one by one) and symbolic (tuples of stack
    /// languages) are engines of the lower search. abstract uses only the overapproximations A_0,
    /// A_1, …. Z, matched-Z, Z_2, Z_3, …, A_0, A_1, … use a single overapproximation.
    #[arg(long, value_name = "ENGINE", default_value = "auto", help_heading = heading::SEARCH)]
    pub(crate) engine: EngineChoice,
    /// Stop the overapproximations after A_D
    ///
    /// A_D is the overapproximation of depth D. With this option, --max-contexts does not stop the
    /// overapproximations earlier.
    #[arg(long, value_name = "D", help_heading = heading::LIMITS)]
    max_depth: Option<usize>,
    /// Give up an A_d with more than N tuples
    ///
    /// Also give up a Z_z with more than N states. The search continues with the next
    /// overapproximation [default: 100000]. Without --max-contexts, --max-depth and --max-tuples, a
    /// given-up overapproximation is tried again with more tuples. If the initial states alone are
    /// more than N tuples, no deeper A_d is tried.
    #[arg(long, value_name = "N", help_heading = heading::LIMITS)]
    max_tuples: Option<usize>,
    /// Disable symmetry reduction
    ///
    /// The answers are the same.
    #[arg(long, help_heading = heading::SEARCH)]
    no_symmetry: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// Use at most N worker threads at a time [default: one for each core]
    ///
    /// The answers are the same.
    #[arg(long, short, value_name = "N", value_parser = positive, help_heading = heading::SEARCH)]
    pub(crate) jobs: Option<usize>,
    /// Print statistics to standard error
    #[arg(long)]
    pub(crate) stats: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) evidence: EvidenceArgs,
    #[command(flatten)]
    pub(crate) report: ReportArgs,
    #[command(flatten)]
    pub(crate) checkpoint: CheckpointArgs,
    #[command(flatten)]
    pub(crate) cluster: ClusterArgs,
}

/// The values of `--engine`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EngineChoice {
    Auto,
    Lower(Engine),
    Abstract,
    Upper(Rung),
}

impl FromStr for EngineChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match &*text.to_ascii_lowercase() {
            "auto" => Ok(EngineChoice::Auto),
            "explicit" => Ok(EngineChoice::Lower(Engine::Explicit)),
            "symbolic" => Ok(EngineChoice::Lower(Engine::Symbolic)),
            "abstract" => Ok(EngineChoice::Abstract),
            _ => text.parse().map(EngineChoice::Upper).map_err(|_| {
                "expected one of auto, explicit, symbolic, abstract, Z, matched-Z, Z_2, Z_3, …, A_0, A_1, …".to_owned()
            }),
        }
    }
}

impl SearchArgs {
    /// Builds the options for the library.
    pub(crate) fn options(&self, memory: MemoryLimit) -> Options {
        let (engine, ladder) = match self.engine {
            EngineChoice::Auto => (None, Ladder::All),
            EngineChoice::Lower(engine) => (Some(engine), Ladder::All),
            EngineChoice::Abstract => (None, Ladder::Abstract),
            EngineChoice::Upper(rung) => (None, Ladder::Only(rung)),
        };
        Options {
            engine,
            ladder,
            symmetry: !self.no_symmetry,
            evidence: self.evidence.policy(),
            max_contexts: self.max_contexts,
            max_depth: self.max_depth,
            max_tuples: self.max_tuples,
            memory: memory.for_tables(),
            // With many processes, process 0 needs two workers: it runs both searches while it
            // waits for the other processes.
            jobs: self.jobs.unwrap_or_else(machine::cores).max(if self.cluster.is_wanted() { 2 } else { 1 }),
            timeout: self.limits.timeout(),
            tuning: Tuning::default(),
        }
    }

    /// Takes the checkpoint of a run that continues, and its new limits.
    pub(crate) fn resume(&mut self, resumed: ResumedRun, limits: LimitArgs) {
        self.cluster.resume(&resumed.header.arguments);
        self.checkpoint.resume(resumed);
        self.limits = limits.or(self.limits);
    }
}
