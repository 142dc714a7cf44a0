//! Compares R_k and T(R_k) of both engines with the oracle, level by level, with and without
//! symmetry.

use crate::answers::has_symmetry;
use crate::tally::Tally;
use crate::truth::Truth;
use crate::{Checked, contexts, ensure};
use cpds::{GlobalState, Pattern, Problem, Property, VisibleState, Wild};
use cuba::{Conclusion, Options, Question, search_unchecked};
use cuba::{Count, Engine, Fcr, Ladder, Reachable, Symbolic, SymbolicOptions, Tuning};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// The limit on states or tuples.
const LIMIT: usize = 2500;

/// The number of states of a level that are looked up in tuples.
const LOOKED_UP: usize = 50;

/// Compares the levels of both engines with the oracle.
pub fn check(problem: &Problem, truth: &Truth, tally: &mut Tally) -> Checked {
    let fcr = Fcr::new(problem.system());
    contexts::check(problem, &fcr, truth, tally)?;
    for symmetry in [true, false].into_iter().filter(|&symmetry| symmetry || has_symmetry(problem)) {
        if fcr.holds() == Some(true) {
            explicit(problem, symmetry, truth, tally)?;
        }
        // First tuples in a list, then in diagrams.
        for diagram_groups in [usize::MAX, 1] {
            symbolic(problem, (symmetry, diagram_groups), truth, tally)?;
        }
    }
    Ok(())
}

/// Describes the difference of two sets: for each set, the first state that only it has.
fn difference<T: Ord + std::fmt::Debug>(found: &BTreeSet<T>, expected: &BTreeSet<T>) -> String {
    let first = |a: &BTreeSet<T>, b: &BTreeSet<T>| format!("{:?}", a.difference(b).next());
    format!("only the engine has {}, only the oracle has {}", first(found, expected), first(expected, found))
}

fn explicit(problem: &Problem, symmetry: bool, truth: &Truth, tally: &mut Tally) -> Checked {
    let mut reachable = Reachable::new(problem.system(), symmetry, Tuning::SHIPPED);
    let (mut states, mut visible) = (BTreeSet::new(), BTreeSet::new());
    for k in 0..=truth.levels.k() {
        let enough = &mut |reachable: &Reachable<'_>| match reachable.kept() {
            ..LIMIT => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        };
        if k > 0 && reachable.advance(enough).is_break() {
            tally.count("levels", "explicit, too large");
            break;
        }
        let (new, new_visible) = (reachable.states(k), reachable.visible().states(k));
        let counted = reachable.new_states(k) == Count::from(new.len())
            && reachable.visible().count(k) == Count::from(new_visible.len())
            && reachable.has_new_states(k) != new.is_empty();
        ensure("explicit-counts", counted, || format!("k = {k}, symmetry {symmetry}"))?;
        if truth.levels.is_exact(k) {
            let expected = (&truth.levels.new[k], &truth.levels.new_visible[k]);
            let detail = |what: String| format!("k = {k}, symmetry {symmetry}: {what}");
            ensure("explicit-states", new == *expected.0, || detail(difference(&new, expected.0)))?;
            ensure("explicit-visible", new_visible == *expected.1, || detail(difference(&new_visible, expected.1)))?;
            tally.count("levels", "explicit, equal");
        } else {
            states.extend(new);
            visible.extend(new_visible);
            let has =
                |state: &&GlobalState| truth.levels.new[..truth.levels.exact].iter().any(|it| it.contains(*state));
            let lost = truth.levels.new[k].iter().find(|state| !states.contains(*state) && !has(state));
            ensure("explicit-states", lost.is_none(), || format!("k = {k}, symmetry {symmetry}: lost {lost:?}"))?;
            tally.count("levels", "explicit, a superset");
        }
    }
    Ok(())
}

fn symbolic(problem: &Problem, (symmetry, diagram_groups): (bool, usize), truth: &Truth, tally: &mut Tally) -> Checked {
    let tuning = Tuning { diagram_groups, ..Tuning::SHIPPED };
    let options = SymbolicOptions::exact(symmetry, 1 << 24, tuning);
    let mut tuples = Symbolic::new(problem.system(), options);
    let (mut seen, mut expected): (BTreeSet<VisibleState>, BTreeSet<VisibleState>) = Default::default();
    for k in 0..=truth.levels.k() {
        let enough = &mut |tuples: &Symbolic<'_>| match tuples.kept() {
            ..LIMIT => ControlFlow::Continue(()),
            _ => ControlFlow::Break(()),
        };
        if k > 0 && tuples.advance(enough).is_err() {
            tally.count("levels", "symbolic, too large");
            break;
        }
        let new = tuples.visible().states(k);
        let is_counted = tuples.visible().count(k) == Count::from(new.len());
        ensure("symbolic-counts", is_counted, || format!("k = {k}, symmetry {symmetry}"))?;
        let is_exact = truth.levels.is_exact(k);
        if is_exact {
            let detail = || format!("k = {k}, symmetry {symmetry}: {}", difference(&new, &truth.levels.new_visible[k]));
            ensure("symbolic-visible", new == truth.levels.new_visible[k], detail)?;
        }
        let extra = new.iter().find(|state| !truth.levels.new_visible[k].contains(*state)).cloned();
        seen.extend(new);
        expected.extend(truth.levels.new_visible[k].iter().cloned());
        let lost = expected.difference(&seen).next();
        ensure("symbolic-visible", lost.is_none(), || format!("k = {k}, symmetry {symmetry}: lost {lost:?}"))?;
        for state in truth.levels.new[k].iter().take(LOOKED_UP) {
            let is_new = !is_exact || k == 0 || !tuples.contains(k - 1, state);
            let detail = || format!("k = {k}, symmetry {symmetry}: {state:?}, new {is_new}");
            ensure("symbolic-states", is_new && tuples.contains(k, state), detail)?;
        }
        tally.count("levels", if is_exact { "symbolic, equal" } else { "symbolic, a superset" });
        if let Some(state) = extra.filter(|_| !is_exact && symmetry) {
            is_reachable(problem, &state, k, tally)?;
        }
        if !tuples.grew(k) && k > 0 {
            let collapse = tuples.collapse_of_states(k - 1);
            let known = truth.levels.collapse();
            let detail = || format!("collapse of R_k at {collapse:?}, by the oracle at {known:?}");
            ensure("symbolic-collapse", known.is_none() || collapse == known, detail)?;
            break;
        }
    }
    Ok(())
}

/// Checks that a visible state that the oracle did not find has a trace with k contexts.
fn is_reachable(problem: &Problem, state: &VisibleState, k: usize, tally: &mut Tally) -> Checked {
    let tops = state.tops.iter().map(|&top| Wild::Is(top)).collect();
    let bad = vec![Pattern { shared: Wild::Is(state.shared), tops }];
    let target = Problem::new(problem.system().clone(), Property { bad }).expect("it fits");
    let options = Options {
        engine: Some(Engine::Symbolic),
        ladder: Ladder::None,
        max_contexts: Some(k),
        jobs: 1,
        ..Options::default()
    };
    let found = search_unchecked(&target, Question::Verify, &options, |_| ());
    let is_trace = match &found.conclusion {
        Conclusion::Unsafe { trace, .. } => {
            let is_run = trace.replay(target.system()) == Ok(()) && trace.last().visible() == *state;
            is_run && trace.contexts.len() == k
        }
        _ => false,
    };
    tally.count("levels", "states with higher stacks than the oracle's, each with a trace");
    ensure("symbolic-trace", is_trace, || format!("k = {k}: {state:?} is visible, but {:?}", found.conclusion))
}
