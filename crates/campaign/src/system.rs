//! Checks a system: makes every comparison.

use crate::tally::Tally;
use crate::truth::Truth;
use crate::{Checked, answers, formats, levels, limits, rungs};
use cpds::Problem;

/// The source of the truth: the oracle; or a wrong oracle, to test that the campaign finds
/// mistakes.
pub type Oracle<'a> = &'a dyn Fn(&Problem) -> Truth;

/// Makes every comparison. If there are too many configurations, `turn` selects some of them.
pub fn check(problem: &Problem, oracle: Oracle<'_>, turn: u64, tally: &mut Tally) -> Checked {
    let truth = oracle(problem);
    count_levels(&truth, tally);
    levels::check(problem, &truth, tally)?;
    rungs::check(problem, &truth, turn, tally)?;
    let agreed = answers::check(problem, &truth, turn, tally)?;
    limits::check(problem, &truth, &agreed, turn, tally)?;
    formats::check(problem, &truth, turn, tally)
}

/// Counts how many levels the oracle has computed.
fn count_levels(truth: &Truth, tally: &mut Tally) {
    let known = match (truth.levels.collapse(), truth.levels.is_exact(truth.levels.k())) {
        (Some(_), _) => "all of R",
        (None, true) => "exact up to some k",
        (None, false) => "a part, because stacks are high",
    };
    tally.count("known by the oracle", known);
    let bad = if truth.bad.is_some() { "a bad state" } else { "no bad state" };
    tally.count("found by the oracle", bad);
    tally.highest("k of the oracle", truth.levels.k());
    tally.highest("k of a first bad state", truth.bad.unwrap_or(0));
    let collapses = truth.levels.new_visible.iter().rposition(|new| !new.is_empty()).unwrap_or(0);
    tally.highest("k with a new visible state", collapses);
    let plateau = truth.levels.new_visible[..=collapses].split(|new| !new.is_empty()).map(<[_]>::len).max();
    tally.highest("length of a plateau of T(R_k) before a growth", plateau.unwrap_or(0));
}
