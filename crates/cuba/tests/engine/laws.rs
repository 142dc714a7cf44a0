//! Laws on random systems.

use cpds::{GlobalState, Problem, VisibleState};
use cpds_testing::oracle::{self, Levels};
use cpds_testing::overapproximation::overapproximation;
use cpds_testing::random::{Shape, problem};
use cpds_testing::renaming::renamed;
use cuba::{Analysis, Conclusion, Options, Proof, Question, search_unchecked};
use cuba::{Count, Fcr, LevelStore, ObservationSequence, Overapproximation, Reachable, Rung, Tuning};
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

const MAX_K: usize = 6;
const MAX_STATES: usize = 300;

/// The new states of R_0, R_1, …; only R_0 if finite context reachability does not hold.
struct Explored {
    states: Vec<BTreeSet<GlobalState>>,
    visible: Vec<BTreeSet<VisibleState>>,
    highest: usize,
    /// The k with R_k = R_{k-1}, and the number of expansions so far.
    collapsed: Option<(usize, u64)>,
}

fn explore(problem: &Problem, symmetry: bool) -> Explored {
    let mut reachable = Reachable::new(problem.system(), symmetry, Tuning::SHIPPED);
    let mut collapsed = None;
    let finite = Fcr::new(problem.system()).holds() == Some(true);
    while finite && reachable.k() < MAX_K && reachable.kept() < MAX_STATES && collapsed.is_none() {
        let done = reachable.advance(&mut |_| ControlFlow::<()>::Continue(()));
        assert!(done.is_continue(), "the search is not stopped");
        let k = reachable.k();
        assert_eq!(reachable.new_states(k), Count::from(reachable.states(k).len()));
        assert_eq!(reachable.visible().count(k), Count::from(reachable.visible().states(k).len()));
        if reachable.new_states(k) == Count::ZERO {
            collapsed = Some((k, reachable.expansions()));
        }
    }
    let levels = 0..=reachable.k();
    Explored {
        states: levels.clone().map(|k| reachable.states(k)).collect(),
        visible: levels.map(|k| reachable.visible().states(k)).collect(),
        highest: reachable.highest() as usize,
        collapsed,
    }
}

fn z(problem: &Problem, symmetry: bool) -> Overapproximation<'_> {
    Overapproximation::new(problem.system(), symmetry)
}

/// Generates systems with many steps, but small enough for the oracle.
pub(crate) fn shapes() -> impl Strategy<Value = Problem> {
    let small = Shape { programs: 1..=3, copies: 1..=1, ..Shape::default() };
    let copies = Shape {
        programs: 1..=2,
        copies: 1..=2,
        shared: 1..=3,
        actions: 1..=6,
        copies_start_alike: true,
        ..Shape::default()
    };
    let busy =
        Shape { programs: 2..=2, copies: 1..=1, actions: 6..=14, symbols: 2..=5, bad: 1..=1, ..Shape::default() };
    prop_oneof![problem(&small), problem(&copies), problem(&busy)]
}

/// Checks a law on many systems. Returns the number of systems that are interesting for the law.
fn law(cases: u32, check: impl Fn(&Problem) -> bool) -> u32 {
    law_on(&shapes(), cases, check)
}

/// Checks a law on many random values. Returns the number of values that are interesting for the
/// law.
pub(crate) fn law_on<S: Strategy>(strategy: &S, cases: u32, check: impl Fn(&S::Value) -> bool) -> u32 {
    let worth_it = Cell::new(0);
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let outcome = TestRunner::new_with_rng(config, deterministic()).run(strategy, |value| {
        worth_it.set(worth_it.get() + u32::from(check(&value)));
        Ok(())
    });
    outcome.unwrap_or_else(|e| panic!("{e}"));
    worth_it.get()
}

/// Returns the random numbers: the same in each run, unless the variable `SEED` is set.
fn deterministic() -> proptest::test_runner::TestRng {
    use proptest::test_runner::{RngAlgorithm, TestRng};
    let seed: u8 = std::env::var("SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
    TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32])
}

/// Computes R_k and T(R_k) with the oracle, up to the highest stack of the engine.
fn by_definition(problem: &Problem, explored: &Explored) -> Levels {
    let levels = oracle::levels(problem.system(), explored.states.len() - 1, explored.highest);
    assert!(levels.exact, "no stack is higher than those of the engine");
    levels
}

#[test]
fn the_explicit_engine_has_the_levels_of_the_oracle() {
    let worth_it = law(1500, |problem| {
        let explored = explore(problem, true);
        let levels = by_definition(problem, &explored);
        for k in 0..explored.states.len() {
            let (mut new, mut new_visible) = (levels.reachable[k].clone(), levels.visible(k));
            if k > 0 {
                new.retain(|state| !levels.reachable[k - 1].contains(state));
                let before = levels.visible(k - 1);
                new_visible.retain(|state| !before.contains(state));
            }
            assert_eq!(explored.states[k], new, "R_{k}");
            assert_eq!(explored.visible[k], new_visible, "T(R_{k})");
        }
        explored.states.iter().filter(|new| !new.is_empty()).count() > 2
    });
    assert!(worth_it > 250, "only {worth_it} systems had more than two levels");
}

/// Each pair of a state and a thread is expanded once. So when R_k has collapsed, there was one
/// expansion for each step of R.
#[test]
fn expansions_are_the_steps_of_r() {
    let worth_it = law(2000, |problem| {
        let explored = explore(problem, false);
        let Some((_, expansions)) = explored.collapsed else { return false };
        let steps = |state: &GlobalState| problem.system().steps(state).count() as u64;
        assert_eq!(expansions, explored.states.iter().flatten().map(steps).sum::<u64>());
        expansions > 5
    });
    assert!(worth_it > 200, "only {worth_it} systems had steps and collapsed");
}

#[test]
fn symmetry_does_not_change_the_levels() {
    let worth_it = law(1200, |problem| {
        let (on, off) = (explore(problem, true), explore(problem, false));
        // With symmetry there are fewer states, so the exploration may reach a later level.
        for (on, off) in on.states.iter().zip(&off.states) {
            assert_eq!(on, off);
        }
        for (on, off) in on.visible.iter().zip(&off.visible) {
            assert_eq!(on, off);
        }
        if on.states.len() == off.states.len() {
            assert_eq!(on.collapsed.map(|(k, _)| k), off.collapsed.map(|(k, _)| k));
        }
        let (with, without) = (z(problem, true), z(problem, false));
        assert_eq!(with.states(), without.states());
        assert_eq!(with.generators(), without.generators());
        assert_eq!(with.pop_targets(), without.pop_targets());
        let (with, without) = (verify(problem, true), verify(problem, false));
        assert_eq!(kind(&with.conclusion), kind(&without.conclusion));
        let groups = problem.system().symmetric_groups();
        groups.len() < problem.system().thread_count() && on.states.len() > 2
    });
    assert!(worth_it > 100, "only {worth_it} systems had interchangeable threads with steps");
}

#[test]
fn z_is_that_of_the_definition_and_contains_all_visible_states() {
    law(1200, |problem| {
        let (z, naive) = (z(problem, true), overapproximation(problem.system()));
        assert_eq!(z.states(), naive.z);
        assert_eq!(z.generators(), naive.generators);
        assert_eq!(z.pop_targets(), naive.popped);
        assert!(naive.popped.is_subset(&naive.generators));
        assert_eq!(z.size(), Count::from(naive.z.len()));
        assert_eq!(z.generator_count(), Count::from(naive.generators.len()));
        assert_eq!(z.pop_target_count(), Count::from(naive.popped.len()));
        let bad = naive.z.iter().any(|state| problem.property().violation(state).is_some());
        let safe_at_once = verify(problem, true).conclusion == Conclusion::Safe(Proof::Bounded(vec![Rung::Z]));
        assert_eq!(safe_at_once, !bad, "safe before anything is explored, exactly if Z has no bad state");
        assert!(explore(problem, true).visible.iter().flatten().all(|state| naive.z.contains(state)), "T(R) ⊆ Z");
        true
    });
}

/// At a plateau, three conditions are equivalent: the generator test of Alg. 3, the same test with
/// the smaller set of targets of pops, and T(R_k) = Z.
#[test]
fn both_generator_tests_succeed_exactly_if_all_of_z_is_reached() {
    let (yes, no) = (Cell::new(0), Cell::new(0));
    law(1500, |problem| {
        let explored = explore(problem, true);
        let z = z(problem, true);
        let mut sequence = ObservationSequence::default();
        let mut visible = explored.visible[0].clone();
        for new in &explored.visible[1..] {
            visible.extend(new.iter().cloned());
            sequence.observe(!new.is_empty());
            if sequence.plateau().is_some() {
                let everything = visible == z.states();
                assert_eq!(z.generators().is_subset(&visible), everything);
                assert_eq!(z.pop_targets().is_subset(&visible), everything);
                let seen = if everything { &yes } else { &no };
                seen.set(seen.get() + 1);
            }
        }
        true
    });
    assert!(yes.get() > 100 && no.get() > 100, "{} plateaus with all of Z, {} without", yes.get(), no.get());
}

fn verify(problem: &Problem, symmetry: bool) -> Analysis<'_> {
    let options = Options {
        symmetry,
        max_contexts: Some(MAX_K),
        max_depth: Some(1),
        max_tuples: Some(200),
        memory: 1 << 24,
        ..Options::default()
    };
    search_unchecked(problem, Question::Verify, &options, |_| ())
}

/// Returns the kind of an answer; for unsafe, with the number of contexts.
fn kind(conclusion: &Conclusion) -> String {
    match conclusion {
        Conclusion::Unsafe { trace, .. } => format!("unsafe, {} contexts", trace.contexts.len()),
        Conclusion::Safe(_) => "safe".to_owned(),
        Conclusion::Unknown(_) => "unknown".to_owned(),
        Conclusion::Converged(_) | Conclusion::Contradiction(_) => panic!("a conclusion of another question"),
    }
}

/// Every trace replays and has the least number of contexts. A safe system has no bad state.
#[test]
fn verdicts_are_those_of_the_oracle() {
    let (safe, unsafe_, unknown) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let count = |cell: &Cell<u32>| cell.set(cell.get() + 1);
    law(1500, |problem| {
        let found = verify(problem, true);
        match &found.conclusion {
            Conclusion::Unsafe { trace, pattern } => {
                assert_eq!(trace.replay(problem.system()), Ok(()));
                assert!(problem.property().bad[*pattern].matches(&trace.last().visible()));
                let contexts = trace.contexts.len();
                assert!(contexts == found.level_store.k() || contexts == found.level_store.k() + 1);
                if let Some(before) = contexts.checked_sub(1) {
                    // The highest stack up to this level; if languages are infinite, some height.
                    let height = match &found.level_store {
                        LevelStore::Explicit(reachable) => reachable.highest() as usize,
                        LevelStore::Symbolic(_) => 4,
                        LevelStore::Shares(_) => unreachable!("the search is in one process"),
                    };
                    let levels = oracle::levels(problem.system(), before, height);
                    assert_eq!(levels.first_violation(problem), None, "fewer contexts are not enough");
                }
                count(&unsafe_);
            }
            Conclusion::Safe(_) => {
                let levels = oracle::levels(problem.system(), 3, 4);
                assert_eq!(levels.first_violation(problem), None);
                count(&safe);
            }
            Conclusion::Unknown(_) => {
                let k = found.level_store.k();
                let levels = oracle::levels(problem.system(), k.min(3), 4);
                assert_eq!(levels.first_violation(problem), None, "safe up to {k} contexts");
                count(&unknown);
            }
            Conclusion::Converged(_) | Conclusion::Contradiction(_) => panic!("a conclusion of another question"),
        }
        true
    });
    let (safe, unsafe_, unknown) = (safe.get(), unsafe_.get(), unknown.get());
    assert!(safe > 100 && unsafe_ > 100 && unknown > 2, "{safe} safe, {unsafe_} unsafe, {unknown} unknown");
}

/// Results do not depend on the order of threads, on numbers, or on which threads share a program.
#[test]
fn other_numbers_change_nothing() {
    law(1500, |problem| {
        let n = problem.system().thread_count();
        let shared = u32::try_from(problem.system().shared_names().len()).unwrap();
        let threads: Vec<usize> = (0..n).rev().collect();
        let rotated: Vec<u32> = (0..shared).map(|q| (q + 1) % shared).collect();
        let other = renamed(problem, &threads, &rotated);
        let (here, there) = (explore(problem, true), explore(&other.problem, true));
        assert_eq!(here.states.len(), there.states.len());
        for (here, there) in here.states.iter().zip(&there.states) {
            assert_eq!(&here.iter().map(|state| other.state(state)).collect::<BTreeSet<_>>(), there);
        }
        let translate = |states: BTreeSet<VisibleState>| -> BTreeSet<_> {
            states.iter().map(|state| other.visible(state)).collect()
        };
        for (here, there) in here.visible.iter().zip(there.visible) {
            assert_eq!(translate(here.clone()), there);
        }
        assert_eq!(translate(z(problem, true).generators()), z(&other.problem, true).generators());
        assert_eq!(kind(&verify(problem, true).conclusion), kind(&verify(&other.problem, true).conclusion));
        true
    });
}
