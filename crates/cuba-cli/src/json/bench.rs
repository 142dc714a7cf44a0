//! What `cuba bench` says of many models.

use cpds_models::Published;
use serde::Serialize;

/// `cuba bench`
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BenchJson {
    /// What every model was asked: `verify` or `reach`.
    pub question: &'static str,
    /// Whether every run was made; false if the user did not want to wait. Then `runs` has those
    /// that were.
    pub complete: bool,
    /// The runs, in the order of the models.
    pub runs: Vec<BenchRunJson>,
    /// How many came out how.
    pub summary: BenchSummaryJson,
}

/// One run of a model, in a process of its own.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BenchRunJson {
    /// The model.
    pub file: String,
    /// Of a Boolean program, `--instances`, if the run has it.
    pub instances: Option<String>,
    /// Of a Boolean program, `--threads`, if the run has it.
    pub max_threads: Option<u32>,
    /// How it came out.
    pub outcome: Outcome,
    /// `safe`, `unsafe`, `converged` or `unknown`; null if there was no answer at all.
    pub verdict: Option<String>,
    /// The verdict in words; if there was no answer, what went wrong.
    pub reason: String,
    /// What was expected, if anything was.
    pub expected: Option<BenchExpectedJson>,
    /// What else the answer says, as in the JSON of `verify` and `reach`; null if there was none.
    pub answer: Option<BenchAnswerJson>,
    /// The time that the process took, in seconds.
    pub time_s: f64,
    /// The most memory that it had; null if there was no answer, or where the operating system does
    /// not say.
    pub peak_memory_bytes: Option<u64>,
    /// Where the paper says something else, and why.
    pub note: Option<String>,
    /// The row of the paper's Table 2, as it is printed there: `program`, `threads`, `fcr`, `safe`,
    /// `reachable` and `visible` (where the sequences collapse), `time` and `memory`.
    #[cfg_attr(test, schemars(with = "Option<std::collections::BTreeMap<String, String>>"))]
    pub published: Option<Published>,
}

/// How a run came out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// As expected.
    AsExpected,
    /// There is another answer than the expected one.
    Wrong,
    /// The answer is `unknown`, although more was expected.
    Unknown,
    /// There is no answer: the model cannot be read, or the process did not end as it should.
    Failed,
    /// There is an answer, and nothing to compare it with.
    NotCompared,
}

impl Outcome {
    /// What it is called.
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

/// What is expected of a run.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BenchExpectedJson {
    /// `safe` or `unsafe`.
    pub verdict: &'static str,
    /// Whether no engine can decide it, so that `unknown` is as expected.
    pub undecided: bool,
    /// For `unsafe`, the least number of contexts.
    pub contexts: Option<usize>,
    /// |T(R)|.
    pub visible: Option<usize>,
    /// Where the sequences collapse.
    pub collapse: Option<BenchCollapseJson>,
}

/// What a run found.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BenchAnswerJson {
    /// How many threads there are.
    pub threads: usize,
    /// For `unsafe`, the least number of contexts; otherwise the last k for which R_k was computed.
    pub contexts: usize,
    /// What the proof rests on.
    pub proved_by: Option<String>,
    /// Whether finite context reachability holds.
    pub fcr: Option<bool>,
    /// |T(R_k)| for the last k that was finished; null if it has more than 128 bits.
    pub visible: Option<u128>,
    /// Where the sequences collapse; null where that is not known.
    pub collapse: BenchCollapseJson,
}

/// The least k from which on a sequence does not grow.
#[derive(Clone, Copy, Serialize, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BenchCollapseJson {
    /// (R_k); null if it diverges, or if that is not known.
    pub reachable: Option<usize>,
    /// (T(R_k)).
    pub visible: Option<usize>,
}

/// How many runs came out how.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct BenchSummaryJson {
    /// How many there are, made or not.
    pub runs: usize,
    /// As expected.
    pub as_expected: usize,
    /// Another answer than the expected one.
    pub wrong: usize,
    /// `unknown`, although more was expected.
    pub unknown: usize,
    /// No answer.
    pub failed: usize,
    /// An answer, and nothing to compare it with.
    pub not_compared: usize,
}
