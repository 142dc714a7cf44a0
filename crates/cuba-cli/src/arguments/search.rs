//! The options that `cuba verify` and `cuba reach` have in common.

use crate::analysis::limits::MemoryLimit;
use crate::arguments::checkpoint::CheckpointArgs;
use crate::arguments::cluster::ClusterArgs;
use crate::arguments::evidence::EvidenceArgs;
use crate::arguments::heading;
use crate::arguments::limits::LimitArgs;
use crate::arguments::model::ModelArgs;
use crate::arguments::report::ReportArgs;
use crate::arguments::values::jobs;
use crate::running::checkpoint::Resumed;
use crate::running::machine;
use clap::Args;
use cuba::{Engine, Ladder, Options, Rung, Tuning};
use std::str::FromStr;

/// The options of an exploration.
#[derive(Args, Debug)]
pub(crate) struct SearchArgs {
    #[command(flatten)]
    pub(crate) model: ModelArgs,
    /// Stop after K contexts
    ///
    /// What is safe up to K contexts is not called safe.
    #[arg(long, value_name = "K", help_heading = heading::LIMITS)]
    max_contexts: Option<usize>,
    /// What to work with, from below or from above
    ///
    /// auto; or from below explicit (states one by one) or symbolic (tuples of stack languages); or
    /// from above abstract (A_0, A_1, …) or one overapproximation: Z, matched-Z, Z_2, Z_3, …, A_0,
    /// A_1, …
    #[arg(long, value_name = "ENGINE", default_value = "auto", help_heading = heading::SEARCH)]
    pub(crate) engine: Choice,
    /// Go on up to A_D, and no further
    ///
    /// A_D is the overapproximation of depth D. --max-contexts does not end this earlier.
    #[arg(long, value_name = "D", help_heading = heading::LIMITS)]
    max_depth: Option<usize>,
    /// Give up an A_d that has more than N tuples
    ///
    /// Or a Z_z of more states, and go on with the next one [default: 100000; with no limit at all,
    /// it is tried again with more]. If the initial states alone are more, no deeper one is tried.
    #[arg(long, value_name = "N", help_heading = heading::LIMITS)]
    max_tuples: Option<usize>,
    /// Do not use that threads are interchangeable
    ///
    /// The answers are the same.
    #[arg(long, help_heading = heading::SEARCH)]
    no_symmetry: bool,
    #[command(flatten)]
    pub(crate) limits: LimitArgs,
    /// How many threads may work at a time [default: one for each core]
    ///
    /// The answers are the same.
    #[arg(long, short, value_name = "N", value_parser = jobs, help_heading = heading::SEARCH)]
    pub(crate) jobs: Option<usize>,
    /// Say on standard error what it took
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

/// What can be asked for with `--engine`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Choice {
    Auto,
    Below(Engine),
    Abstract,
    Above(Rung),
}

impl FromStr for Choice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match &*text.to_ascii_lowercase() {
            "auto" => Ok(Choice::Auto),
            "explicit" => Ok(Choice::Below(Engine::Explicit)),
            "symbolic" => Ok(Choice::Below(Engine::Symbolic)),
            "abstract" => Ok(Choice::Abstract),
            _ => text.parse().map(Choice::Above).map_err(|_| {
                "one of auto, explicit, symbolic, abstract, Z, matched-Z, Z_2, Z_3, …, A_0, A_1, …".to_owned()
            }),
        }
    }
}

impl SearchArgs {
    /// The options of the analysis.
    pub(crate) fn options(&self, memory: MemoryLimit) -> Options {
        let (engine, ladder) = match self.engine {
            Choice::Auto => (None, Ladder::All),
            Choice::Below(engine) => (Some(engine), Ladder::All),
            Choice::Abstract => (None, Ladder::Abstract),
            Choice::Above(rung) => (None, Ladder::Only(rung)),
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
            // Of many processes, those that have the states wait for none of the ends.
            jobs: self.jobs.unwrap_or_else(machine::cores).max(if self.cluster.is_wanted() { 2 } else { 1 }),
            timeout: self.limits.timeout(),
            tuning: Tuning::default(),
        }
    }

    /// Continues a run with these options. Its limits may be other.
    pub(crate) fn resume(&mut self, resumed: Resumed, limits: LimitArgs) {
        self.cluster.resume(&resumed.header.arguments);
        self.checkpoint.resume(resumed);
        self.limits = limits.or(self.limits);
    }
}
