//! A system, put to every test.

use crate::tally::Tally;
use crate::truth::Truth;
use crate::{Checked, answers, formats, levels, limits, rungs};
use cpds::Problem;

/// Where the truth comes from: the oracle, or, to see whether it is noticed, a wrong one.
pub type Oracle<'a> = &'a dyn Fn(&Problem) -> Truth;

/// Every comparison there is. `turn` chooses where there are too many ways to try them all.
pub fn check(problem: &Problem, oracle: Oracle<'_>, turn: u64, tally: &mut Tally) -> Checked {
    let truth = oracle(problem);
    known(&truth, tally);
    levels::check(problem, &truth, tally)?;
    rungs::check(problem, &truth, turn, tally)?;
    let agreed = answers::check(problem, &truth, turn, tally)?;
    limits::check(problem, &truth, &agreed, turn, tally)?;
    formats::check(problem, &truth, turn, tally)
}

/// How far the truth goes.
fn known(truth: &Truth, tally: &mut Tally) {
    let known = match (truth.levels.collapse(), truth.levels.is_exact(truth.levels.k())) {
        (Some(_), _) => "everything",
        (None, true) => "exactly, up to some k",
        (None, false) => "in part, where stacks are high",
    };
    tally.count("known by the oracle", known);
    let bad = if truth.bad.is_some() { "a bad state" } else { "no bad state" };
    tally.count("seen by the oracle", bad);
    tally.highest("k of the oracle", truth.levels.k());
    tally.highest("k of a first bad state", truth.bad.unwrap_or(0));
    let collapses = truth.levels.new_visible.iter().rposition(|new| !new.is_empty()).unwrap_or(0);
    tally.highest("k at which something is newly visible", collapses);
    let plateau = truth.levels.new_visible[..=collapses].split(|new| !new.is_empty()).map(<[_]>::len).max();
    tally.highest("plateau of T(R_k) that did not last", plateau.unwrap_or(0));
}
