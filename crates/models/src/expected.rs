//! What is expected of a model.

use serde::{Deserialize, Serialize};

/// One way to start a model, with what is known of it then.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Run {
    /// Of a Boolean program, the functions to start instead of `main`: `f=1,g=2`.
    pub instances: Option<String>,
    /// Of a Boolean program, how many threads that it creates may be there at a time.
    pub threads: Option<u32>,
    /// Where the paper says something else, and why.
    pub note: Option<String>,
    /// What the paper says of it.
    pub published: Option<Published>,
    /// The expected answers, if there are any.
    pub expected: Option<Expected>,
}

/// A row of the paper's Table 2, as it is printed there.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// Its number and its name: `1/Bluetooth-1`.
    pub program: String,
    /// How many threads of each kind: `1 + 2`; • is a kind that does not recurse.
    pub threads: String,
    /// Whether finite context reachability holds: `●` or `○`.
    pub fcr: String,
    /// Whether the assertion holds: `✓`, `✗`, or `–` for no answer.
    pub safe: String,
    /// Where (R_k) collapses; `≥` if it was not waited for.
    pub reachable: String,
    /// Where (T(R_k)) collapses and, in parentheses, with how many contexts the error is found.
    pub visible: String,
    /// Seconds; `–` if it was not finished.
    pub time: String,
    /// Megabytes; `OOM` if there were not enough.
    pub memory: String,
}

/// The answers expected of one run of a model.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// What the model shows.
    #[serde(default)]
    pub shows: String,
    /// Where it comes from.
    #[serde(default)]
    pub source: String,
    /// How the answers were found.
    #[serde(default)]
    pub found_by: String,
    /// Safe or unsafe.
    pub verdict: Verdict,
    /// For safe: what proves it if nothing is asked for by name, `Z` or `matched-Z ∩ A_0`, or `R_k`
    /// or `S_k` (Scheme 1).
    pub proved_by: Option<String>,
    /// Why no engine can decide it, where none can. The verdict is the truth all the same, found by
    /// hand.
    pub undecided: Option<String>,
    /// Why the tests of the engines leave it out, if they do: then only some of what follows is
    /// known.
    pub too_large: Option<String>,
    /// For unsafe: the least number of contexts that reaches a bad state.
    pub contexts: Option<usize>,
    /// Whether finite context reachability holds (§5).
    pub fcr: Option<bool>,
    /// |R_k| for k = 0, 1, …, where it is finite.
    pub reachable: Option<Vec<usize>>,
    /// |T(R_k)| for k = 0, 1, …, until it has collapsed.
    #[serde(default)]
    pub visible: Vec<usize>,
    /// For models without FCR: explored up to this stack height, all of `visible` is seen.
    pub height: Option<usize>,
    /// Where the oracle should stop in a test, because it takes too long to see everything.
    pub oracle_up_to: Option<usize>,
    /// Where the sequences collapse, by Table 1.
    pub collapse: Option<Collapse>,
    /// |T(R)|.
    pub visible_total: Option<usize>,
}

/// Where the sequences collapse.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Collapse {
    /// (R_k); nothing if it diverges.
    pub reachable: Option<usize>,
    /// (T(R_k)), which always converges.
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
    /// What it is called.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Safe => "safe",
            Verdict::Unsafe => "unsafe",
        }
    }
}

impl Expected {
    /// What is missing in these answers, or wrong with them as they stand, whatever the model is.
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
            ((self.verdict == Verdict::Unsafe) == self.contexts.is_some(), "contexts are for unsafe, and only for it"),
            (
                (self.verdict == Verdict::Safe) == (self.proved_by.is_some() || self.undecided.is_some()),
                "what is safe is proved by something, or undecided, and nothing else is",
            ),
            (self.proved_by.is_none() || self.undecided.is_none(), "what is undecided is not proved by anything"),
            (fcr == self.reachable.is_some(), "|R_k| is for models with FCR, and only for them"),
            (fcr == self.height.is_none(), "a height is for models without FCR, and only for them"),
            (self.contexts.is_none_or(|k| k < self.visible.len()), "|T(R_k)| is listed up to the bad state at least"),
            (self.visible.is_sorted(), "T(R_k) does not shrink"),
            (
                self.reachable.as_ref().is_none_or(|counts| {
                    counts.len() == self.visible.len() && counts.iter().zip(&self.visible).all(|(r, t)| t <= r)
                }),
                "|R_k| is listed as far as |T(R_k)|, and is at least as large",
            ),
            (collapse.reachable.is_none_or(|k| k >= collapse.visible), "T(R_k) collapses no later than R_k"),
            (least(&self.visible, collapse.visible), "T(R_k) does not collapse there"),
            (self.visible.last() == Some(&total), "|T(R)| is not the last |T(R_k)|"),
            (
                self.reachable.as_ref().is_none_or(|counts| match collapse.reachable {
                    Some(k) => least(counts, k),
                    None => grows(counts),
                }),
                "R_k does not collapse there, or does not diverge",
            ),
        ];
        checks.into_iter().find(|(fine, _)| !fine).map(|(_, message)| message)
    }
}
