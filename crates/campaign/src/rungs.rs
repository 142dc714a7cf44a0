//! Checks the rungs of the ladder: each contains all reachable visible states, and the inclusions
//! between rungs hold.
//!
//! The inclusions are T(Z_{z+1}) ⊆ T(Z_z) ⊆ matched-Z ⊆ Z, T(A_d) ⊆ Z, and T(A_d) ⊆ T(Z_{d+1}) for
//! d ≥ 1. The inclusion T(A_{d+1}) ⊆ T(A_d) need not hold; it is only counted.

use crate::answers::has_symmetry;
use crate::tally::Tally;
use crate::truth::Truth;
use crate::{Checked, ensure};
use cpds::{Problem, VisibleState};
use cpds_testing::overapproximation::cut_off;
use cuba::{Abstraction, AbstractionError, AbstractionLimits, Cut, Overapproximation};
use std::collections::BTreeSet;

const LIMITS: AbstractionLimits = AbstractionLimits { tuples: 150, memory: 1 << 24 };

/// If Z_z has more states than this, Z_{z+1} is not computed.
const LIMIT: usize = 400;

/// Checks every rung, with and without symmetry.
pub fn check(problem: &Problem, truth: &Truth, turn: u64, tally: &mut Tally) -> Checked {
    let (system, is_symmetric) = (problem.system(), has_symmetry(problem));
    let mut cuts: Vec<BTreeSet<VisibleState>> = Vec::new();
    for (height, cut) in [Cut::Z, Cut::matched(1), Cut::matched(2), Cut::matched(3)].into_iter().enumerate() {
        if cuts.last().is_some_and(|before| before.len() > LIMIT) {
            break;
        }
        let found = Overapproximation::cut_off(system, cut, true).states();
        if is_symmetric {
            let other = Overapproximation::cut_off(system, cut, false).states();
            ensure("cut-symmetry", found == other, || format!("height {height}"))?;
        }
        if height == 0 {
            ensure("z-definition", found == truth.z, || "Z differs from its definition".to_owned())?;
        } else if (turn + height as u64).is_multiple_of(4) && truth.z.len() <= 60 {
            ensure("cut-definition", found == cut_off(system, height), || format!("height {height}"))?;
            tally.count("rungs", "cut off, equal to the definition");
        }
        if let Some(before) = cuts.last() {
            ensure("cut-order", found.is_subset(before), || format!("height {height}"))?;
        }
        has_everything(&found, truth, &format!("height {height}"))?;
        tally.count("rungs", "cut off");
        cuts.push(found);
    }
    let mut before: Option<BTreeSet<VisibleState>> = None;
    for depth in 0..=2 {
        let Some(found) = widened(problem, depth, true)? else {
            tally.count("rungs", "widened, too many tuples or too large");
            break;
        };
        let states = found.states();
        if is_symmetric && let Some(other) = widened(problem, depth, false)? {
            ensure("a-symmetry", states == other.states(), || format!("A_{depth}"))?;
        }
        has_everything(&states, truth, &format!("A_{depth}"))?;
        ensure("a-order", states.is_subset(&cuts[0]), || format!("A_{depth} is not a subset of Z"))?;
        if let Some(cut) = cuts.get(depth + 1).filter(|_| depth > 0) {
            ensure("a-order", states.is_subset(cut), || format!("A_{depth} is not a subset of Z_{}", depth + 1))?;
        }
        if found.is_exact && truth.levels.collapse().is_some() {
            let visible: BTreeSet<_> = truth.visible().cloned().collect();
            ensure("a-exact", states == visible, || format!("A_{depth} is not exact"))?;
            tally.count("rungs", "widened, exact");
        }
        let is_tighter = before.is_none_or(|before| states.is_subset(&before));
        tally.count("rungs", if is_tighter { "widened" } else { "widened, not a subset of the rung before" });
        before = Some(states);
    }
    Ok(())
}

fn has_everything(rung: &BTreeSet<VisibleState>, truth: &Truth, name: &str) -> Checked {
    let lost = truth.visible().find(|state| !rung.contains(*state));
    ensure("rung-has-everything", lost.is_none(), || format!("{name} does not have {lost:?}"))
}

fn widened(problem: &Problem, depth: usize, symmetry: bool) -> Result<Option<Abstraction>, crate::Disagreement> {
    match Abstraction::new(problem.system(), depth, symmetry, LIMITS) {
        Ok(found) => Ok(Some(found)),
        // Even few tuples may have languages that need all the memory.
        Err(AbstractionError::TooManyTuples | AbstractionError::TooLarge) => Ok(None),
        Err(other) => {
            ensure("a-limits", false, || format!("A_{depth}: {other:?}"))?;
            Ok(None)
        }
    }
}
