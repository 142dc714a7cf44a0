//! The expected answers of a model, and a check that they do not contradict each other.

use serde::{Deserialize, Serialize};

/// A way to start a model, with its expected answers.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Run {
    /// For a Boolean program, the functions to start instead of `main`: `f=1,g=2`.
    pub instances: Option<String>,
    /// For a Boolean program, the limit on created threads that exist at the same time.
    pub threads: Option<u32>,
    /// The differences from the paper, with the reasons.
    pub note: Option<String>,
    /// The paper's figures.
    pub published: Option<Published>,
    /// The expected answers, if the model has any.
    pub expected: Option<Expected>,
}

/// A row of the paper's Table 2, as printed there.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// The number and name: `1/Bluetooth-1`.
    pub program: String,
    /// The number of threads of each kind: `1 + 2`; • is a kind that does not recurse.
    pub threads: String,
    /// Whether finite context reachability holds: `●` or `○`.
    pub fcr: String,
    /// Whether the assertion holds: `✓`, `✗`, or `–` for no answer.
    pub safe: String,
    /// The k at which (R_k) collapses; `≥` if the run ended before.
    pub reachable: String,
    /// The k at which (T(R_k)) collapses and, in parentheses, the number of contexts of the error.
    pub visible: String,
    /// Seconds; `–` if the run did not finish.
    pub time: String,
    /// Megabytes; `OOM` if the memory was full.
    pub memory: String,
}

/// The expected answers of one run of a model.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// What the model shows.
    #[serde(default)]
    pub shows: String,
    /// The source of the model.
    #[serde(default)]
    pub source: String,
    /// The method by which the answers were found.
    #[serde(default)]
    pub found_by: String,
    /// Safe or unsafe.
    pub verdict: Verdict,
    /// For safe: the set that proves it with default options, such as `Z` or `matched-Z ∩ A_0`, or
    /// `R_k` or `S_k` (Scheme 1).
    pub proved_by: Option<String>,
    /// The reason why no engine can decide the model. The verdict is still true: it was found by
    /// hand.
    pub undecided: Option<String>,
    /// The reason why the tests of the engines skip the model. Then some of the following keys may
    /// be missing.
    pub too_large: Option<String>,
    /// For unsafe: the least number of contexts that reaches a bad state.
    pub contexts: Option<usize>,
    /// Whether finite context reachability holds (§5).
    pub fcr: Option<bool>,
    /// |R_k| for k = 0, 1, …, if each R_k is finite.
    pub reachable: Option<Vec<usize>>,
    /// |T(R_k)| for k = 0, 1, …, until (T(R_k)) has collapsed.
    #[serde(default)]
    pub visible: Vec<usize>,
    /// For models without FCR: a stack height with which the oracle finds all states of `visible`.
    pub height: Option<usize>,
    /// The last k of the oracle in a test, if a larger k takes too long.
    pub oracle_up_to: Option<usize>,
    /// The k at which the sequences collapse, by Table 1.
    pub collapse: Option<Collapse>,
    /// |T(R)|.
    pub visible_total: Option<usize>,
}

/// The k at which each sequence collapses.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Collapse {
    /// For (R_k); `None` if (R_k) diverges.
    pub reachable: Option<usize>,
    /// For (T(R_k)), which always converges.
    pub visible: usize,
}

/// The answer to the property.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the words say it")]
pub enum Verdict {
    Safe,
    Unsafe,
}

impl Verdict {
    /// Returns the verdict as a word.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Safe => "safe",
            Verdict::Unsafe => "unsafe",
        }
    }
}

impl Expected {
    /// Returns what is missing or contradictory in these answers, independently of the model.
    pub fn contradiction(&self) -> Option<&'static str> {
        let (Some(fcr), Some(collapse), Some(total)) = (self.fcr, self.collapse, self.visible_total) else {
            return Some("`fcr`, `collapse` or `visible_total` is missing");
        };
        let collapses = |counts: &[usize], k: usize| counts[k..].iter().all(|&n| n == counts[k]);
        let least = |counts: &[usize], k: usize| {
            k + 1 < counts.len() && collapses(counts, k) && (k == 0 || !collapses(counts, k - 1))
        };
        let grows = |counts: &[usize]| counts.windows(2).all(|pair| pair[0] < pair[1]);
        let is_described = ![&self.shows, &self.source, &self.found_by].iter().any(|text| text.is_empty());
        let checks = [
            (is_described, "`shows`, `source` or `found_by` is missing"),
            (
                (self.verdict == Verdict::Unsafe) == self.contexts.is_some(),
                "`contexts` is for unsafe models, and only for these",
            ),
            (
                (self.verdict == Verdict::Safe) == (self.proved_by.is_some() || self.undecided.is_some()),
                "a safe model has `proved_by` or `undecided`; an unsafe model has neither",
            ),
            (self.proved_by.is_none() || self.undecided.is_none(), "a model has both `proved_by` and `undecided`"),
            (fcr == self.reachable.is_some(), "`reachable` is for models with FCR, and only for these"),
            (fcr == self.height.is_none(), "`height` is for models without FCR, and only for these"),
            (self.contexts.is_none_or(|k| k < self.visible.len()), "`visible` ends before the bad state"),
            (self.visible.is_sorted(), "`visible` decreases"),
            (
                self.reachable.as_ref().is_none_or(|counts| {
                    counts.len() == self.visible.len() && counts.iter().zip(&self.visible).all(|(r, t)| t <= r)
                }),
                "`reachable` has another length than `visible`, or a smaller number",
            ),
            (collapse.reachable.is_none_or(|k| k >= collapse.visible), "(T(R_k)) collapses after (R_k)"),
            (least(&self.visible, collapse.visible), "(T(R_k)) does not collapse at this k"),
            (self.visible.last() == Some(&total), "`visible_total` is not the last number of `visible`"),
            (
                self.reachable.as_ref().is_none_or(|counts| match collapse.reachable {
                    Some(k) => least(counts, k),
                    None => grows(counts),
                }),
                "(R_k) does not collapse at this k, or does not diverge",
            ),
        ];
        checks.into_iter().find(|(holds, _)| !holds).map(|(_, message)| message)
    }
}
