//! The results of `cuba bench` as JSON.

use cpds_models::Published;
use serde::Serialize;

/// `cuba bench`
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BenchJson {
    /// The verb of every run: `verify` or `reach`.
    pub question: &'static str,
    /// Whether every run was made; false after Ctrl-C. Then `runs` has those that were made.
    pub complete: bool,
    /// The runs, in the order of the models.
    pub runs: Vec<BenchRunJson>,
    /// The number of runs with each outcome.
    pub summary: BenchSummaryJson,
}

/// One run of a model, in its own process.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BenchRunJson {
    /// The model.
    pub file: String,
    /// For a Boolean program, the value of `--instances`, if it was given.
    pub instances: Option<String>,
    /// For a Boolean program, the value of `--threads`, if it was given.
    pub max_threads: Option<u32>,
    /// How the answer compares with the expected one.
    pub outcome: Outcome,
    /// `safe`, `unsafe`, `converged` or `unknown`; null if the run failed.
    pub verdict: Option<String>,
    /// The verdict in words; if the run failed, the error.
    pub reason: String,
    /// The expected answer, if there is one.
    pub expected: Option<BenchExpectedJson>,
    /// More of the answer, as in the JSON of `verify` and `reach`; null if the run failed.
    pub answer: Option<BenchAnswerJson>,
    /// The time of the process, in seconds.
    pub time_s: f64,
    /// The peak memory of the process; null if the run failed, or if the operating system does not
    /// report it.
    pub peak_memory_bytes: Option<u64>,
    /// A note, for example why the answer differs from the paper.
    pub note: Option<String>,
    /// The row of the paper's Table 2: `program`, `threads`, `fcr`, `safe`,
    /// `reachable` and `visible` (where the sequences collapse), `time` and `memory`.
    #[cfg_attr(test, schemars(with = "Option<std::collections::BTreeMap<String, String>>"))]
    pub published: Option<Published>,
}

/// How the answer of a run compares with the expected one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// As expected.
    AsExpected,
    /// The answer is not the expected one.
    Wrong,
    /// The answer is `unknown`, but another one was expected.
    Unknown,
    /// There is no answer: the model cannot be read, or the process failed.
    Failed,
    /// There is an answer, but no expected one.
    NotCompared,
}

impl Outcome {
    /// Returns the name in JSON and CSV.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Outcome::AsExpected => "as-expected",
            Outcome::Wrong => "wrong",
            Outcome::Unknown => "unknown",
            Outcome::Failed => "failed",
            Outcome::NotCompared => "not-compared",
        }
    }
}

/// The expected answer of a run.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BenchExpectedJson {
    /// `safe` or `unsafe`.
    pub verdict: &'static str,
    /// Whether no engine can decide the question, so that `unknown` is as expected.
    pub undecided: bool,
    /// For `unsafe`, the least number of contexts.
    pub contexts: Option<usize>,
    /// |T(R)|.
    pub visible: Option<usize>,
    /// Where the sequences collapse.
    pub collapse: Option<BenchCollapseJson>,
}

/// The answer of a run.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BenchAnswerJson {
    /// The number of threads.
    pub threads: usize,
    /// For `unsafe`, the least number of contexts; otherwise the last k for which R_k was computed.
    pub contexts: usize,
    /// The basis of the proof.
    pub proved_by: Option<String>,
    /// Whether finite context reachability holds.
    pub fcr: Option<bool>,
    /// |T(R_k)| for the last complete k; null if it has more than 128 bits.
    pub visible: Option<u128>,
    /// Where the sequences collapse; null if that is not known.
    pub collapse: BenchCollapseJson,
}

/// The least k from which a sequence does not grow.
#[derive(Clone, Copy, Serialize, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BenchCollapseJson {
    /// (R_k); null if it diverges, or if this is not known.
    pub reachable: Option<usize>,
    /// (T(R_k)).
    pub visible: Option<usize>,
}

/// The number of runs with each outcome.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BenchSummaryJson {
    /// The number of runs, including those that were not made.
    pub runs: usize,
    /// Answers as expected.
    pub as_expected: usize,
    /// Answers that are not the expected one.
    pub wrong: usize,
    /// Answers `unknown` where another one was expected.
    pub unknown: usize,
    /// Runs without an answer.
    pub failed: usize,
    /// Answers without an expected one.
    pub not_compared: usize,
}
