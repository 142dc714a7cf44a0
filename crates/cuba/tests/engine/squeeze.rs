//! The ladder and the squeeze: laws on random systems.
//!
//! T(R_k) is a subset of every rung. The inclusions between rungs are T(Z_{z+1}) ⊆ T(Z_z) ⊆
//! matched-Z ⊆ Z, T(A_d) ⊆ Z, and T(A_d) ⊆ T(Z_{d+1}) for d ≥ 1. The inclusion T(A_{d+1}) ⊆ T(A_d)
//! need not hold, so it is not tested.

use crate::laws::{law_on, shapes};
use cpds::{Problem, VisibleState};
use cpds_testing::oracle;
use cpds_testing::overapproximation::cut_off;
use cpds_testing::renaming::renamed;
use cuba::{
    Abstraction, AbstractionError, AbstractionLimits, Count, Cut, Engine, Halt, Ladder, Outcome, Overapproximation,
    Rung, RungResult,
};
use cuba::{
    Analysis, Cancel, Conclusion, Control, Event, Options, Question, Reason, search_unchecked, search_unchecked_with,
};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

const LIMITS: AbstractionLimits = AbstractionLimits { tuples: 150, memory: 1 << 24 };

fn z(problem: &Problem, cut: Cut, symmetry: bool) -> BTreeSet<VisibleState> {
    Overapproximation::cut_off(problem.system(), cut, symmetry).states()
}

/// Returns T(A_d); `None` if A_d has too many tuples.
fn a(problem: &Problem, depth: usize, symmetry: bool) -> Option<BTreeSet<VisibleState>> {
    match Abstraction::new(problem.system(), depth, symmetry, LIMITS) {
        Ok(found) => Some(found.states()),
        Err(AbstractionError::TooManyTuples) => None,
        Err(other) => panic!("{other:?}"),
    }
}

/// Returns the visible states that the oracle finds with few contexts and low stacks.
fn reached(problem: &Problem) -> BTreeSet<VisibleState> {
    let levels = oracle::levels(problem.system(), 3, 4);
    levels.visible(levels.reachable.len() - 1)
}

#[test]
fn every_rung_contains_every_reachable_state() {
    every_rung_contains_every_reachable_state_in(400);
}

#[test]
#[ignore = "a long version: `just long`"]
fn every_rung_contains_every_reachable_state_long() {
    every_rung_contains_every_reachable_state_in(2000);
}

fn every_rung_contains_every_reachable_state_in(cases: u32) {
    let tight = Cell::new([0; 7]);
    let worth_it = law_on(&shapes(), cases, |problem| {
        let reached = reached(problem);
        let cuts = [Cut::Z, Cut::matched(1), Cut::matched(2), Cut::matched(3)].map(|cut| Some(z(problem, cut, true)));
        let widened = [0, 1, 2].map(|depth| a(problem, depth, true));
        let z = cuts[0].clone().expect("always");
        let mut counts = tight.get();
        for (rung, count) in cuts.iter().chain(&widened).zip(&mut counts) {
            if let Some(rung) = rung {
                assert!(reached.is_subset(rung), "T(R_k) is a subset of each rung");
                assert!(rung.is_subset(&z), "each rung is a subset of Z");
                *count += usize::from(*rung == reached);
            }
        }
        tight.set(counts);
        for pair in cuts.windows(2) {
            assert!(
                pair[1].as_ref().unwrap().is_subset(pair[0].as_ref().unwrap()),
                "each cut-off is a subset of the one before"
            );
        }
        for (widened, cut) in widened[1..].iter().zip(&cuts[2..]) {
            assert!(widened.as_ref().is_none_or(|a| a.is_subset(cut.as_ref().unwrap())), "T(A_d) ⊆ T(Z_{{d+1}})");
        }
        z.len() > reached.len()
    });
    assert!(worth_it > cases / 5, "only {worth_it} systems have unreachable states in Z");
    let [z, matched, _, _, a_0, a_1, _] = tight.get();
    assert!(
        z < matched && matched < a_0 && a_0 < a_1,
        "the number of systems in which each rung is exact: {:?}",
        tight.get()
    );
}

#[test]
fn z_z_is_that_of_the_definition() {
    law_on(&shapes(), 1500, |problem| {
        for height in 1..=3 {
            let expected = cut_off(problem.system(), height);
            for symmetry in [true, false] {
                assert_eq!(z(problem, Cut::matched(height), symmetry), expected, "height {height}");
            }
        }
        true
    });
}

/// T(A_d) does not depend on symmetry, on numbers, or on orders.
#[test]
fn symmetry_and_names_do_not_change_a_d() {
    let worth_it = law_on(&shapes(), 1500, |problem| {
        let (n, shared) = (problem.system().thread_count(), problem.system().shared_names().len());
        let threads: Vec<usize> = (0..n).rev().collect();
        let rotated: Vec<u32> = (0..shared).map(|q| u32::try_from((q + 1) % shared).unwrap()).collect();
        let other = renamed(problem, &threads, &rotated);
        for depth in 0..=2 {
            let (Some(here), Some(without), Some(there)) =
                (a(problem, depth, true), a(problem, depth, false), a(&other.problem, depth, true))
            else {
                return false;
            };
            assert_eq!(here, without, "A_{depth}");
            assert_eq!(here.iter().map(|state| other.visible(state)).collect::<BTreeSet<_>>(), there, "A_{depth}");
        }
        true
    });
    assert!(worth_it > 800, "only {worth_it} systems have few tuples");
}

/// If widening changes no language, A_d is T(R).
#[test]
fn an_exact_a_d_is_t_of_r() {
    let worth_it = law_on(&shapes(), 1500, |problem| {
        let Ok(found) = Abstraction::new(problem.system(), 3, true, LIMITS) else { return false };
        let options = Options {
            engine: Some(Engine::Symbolic),
            ladder: Ladder::None,
            max_contexts: Some(12),
            ..Options::default()
        };
        let reached = search_unchecked(problem, Question::Reachable, &options, |_| ());
        let is_closed = matches!(reached.conclusion, Conclusion::Converged(_));
        if found.is_exact {
            if !is_closed {
                return false;
            }
            let visible: BTreeSet<_> =
                (0..=reached.k()).flat_map(|k| reached.level_store.visible().states(k)).collect();
            assert_eq!(found.states(), visible);
        }
        found.is_exact
    });
    assert!(worth_it > 500, "only {worth_it} systems have an A_3 that is exact");
}

fn options(jobs: usize) -> Options {
    Options {
        jobs,
        max_contexts: Some(6),
        max_depth: Some(2),
        max_tuples: Some(200),
        memory: 1 << 24,
        ..Options::default()
    }
}

/// Returns everything that the analysis reports, as text.
fn complete_text(found: &Analysis<'_>) -> String {
    let Analysis {
        levels,
        statistics,
        rungs,
        lower_sequence,
        visible_sequence,
        collapse_of_states,
        between,
        conclusion,
        ..
    } = found;
    let sequences = (lower_sequence, visible_sequence, collapse_of_states);
    format!("{conclusion:?}\n{levels:?}\n{statistics:?}\n{rungs:?}\n{sequences:?}\n{between:?}")
}

/// Every run has the same answer with the same reason and the same table, with any number of
/// workers and any schedule.
#[test]
fn every_run_has_the_same_results() {
    for question in [Question::Verify, Question::Visible, Question::Reachable] {
        let kinds = Cell::new([0; 3]);
        law_on(&shapes(), 250, |problem| {
            let first = search_unchecked(problem, question, &options(1), |_| ());
            for jobs in [2, 2, 1, 4] {
                assert_eq!(
                    complete_text(&search_unchecked(problem, question, &options(jobs), |_| ())),
                    complete_text(&first),
                    "--jobs {jobs}"
                );
            }
            let kind = match first.conclusion {
                Conclusion::Safe(_) | Conclusion::Converged(_) => 0,
                Conclusion::Unsafe { .. } => 1,
                _ => 2,
            };
            let mut counts = kinds.get();
            counts[kind] += 1;
            kinds.set(counts);
            true
        });
        assert!(kinds.get()[0] > 20, "{question:?}: {:?}", kinds.get());
    }
}

#[test]
fn answers_do_not_contradict_the_oracle() {
    answers_do_not_contradict_the_oracle_in(400);
}

#[test]
#[ignore = "a long version: `just long`"]
fn answers_do_not_contradict_the_oracle_long() {
    answers_do_not_contradict_the_oracle_in(2000);
}

/// With the whole ladder, no answer contradicts the oracle.
fn answers_do_not_contradict_the_oracle_in(cases: u32) {
    let (converged, open) = (Cell::new(0), Cell::new(0));
    law_on(&shapes(), cases, |problem| {
        let reached = reached(problem);
        let bad = reached.iter().any(|state| problem.property().violation(state).is_some());
        match search_unchecked(problem, Question::Verify, &options(2), |_| ()).conclusion {
            Conclusion::Safe(proof) => assert!(!bad, "{proof:?}"),
            Conclusion::Unsafe { trace, .. } => assert_eq!(trace.replay(problem.system()), Ok(())),
            Conclusion::Unknown(_) => {}
            other => panic!("{other:?}"),
        }
        let found = search_unchecked(problem, Question::Visible, &options(2), |_| ());
        let visible: BTreeSet<_> = (0..=found.k()).flat_map(|k| found.level_store.visible().states(k)).collect();
        let count = |cell: &Cell<u32>| cell.set(cell.get() + 1);
        match found.conclusion {
            Conclusion::Converged(proof) => {
                assert!(reached.is_subset(&visible), "{proof:?}");
                count(&converged);
            }
            Conclusion::Unknown(Reason::ContextBound | Reason::Memory) => {
                let between = found.between.expect("Z is small");
                assert!(!between.states.is_empty() && between.states.is_disjoint(&visible));
                assert_eq!(between.count, Count::from(between.states.len()));
                for state in reached.difference(&visible) {
                    assert!(between.states.contains(state), "a state that is reached later is not ruled out");
                }
                count(&open);
            }
            other => panic!("{other:?}"),
        }
        true
    });
    assert!(converged.get() > cases * 7 / 10 && open.get() > 0, "{} converged, {} open", converged.get(), open.get());
}

fn problem(text: &str) -> Problem {
    text.parse().unwrap()
}

/// A system on which an analysis without limits does not end: the two stacks have the same height,
/// and no rung can express this.
const MIRROR: &str = include_str!("../../../../models/squeeze/mirror.cpds");

/// A run without limits continues until it is cancelled, and then reports its results so far. Both
/// searches are in a `thread::scope`, so the call returns only after they have ended.
#[test]
fn an_endless_run_can_be_cancelled() {
    let problem = problem(MIRROR);
    for jobs in [1, 2] {
        let options = Options { jobs, ..Options::default() };
        let cancel = Cancel::new();
        let control = Control { cancel: cancel.clone(), ..Control::default() };
        let seen = Cell::new((0, 0));
        // The run is cancelled, as by Ctrl-C, after both searches have made progress.
        let found = search_unchecked_with(control, &problem, Question::Verify, &options, |event| {
            let (mut k, mut depth) = seen.get();
            match event {
                Event::Level(level) => k = level.k,
                Event::Rung(RungResult { rung: Rung::Abstract(d), .. }) => depth = d,
                _ => {}
            }
            seen.set((k, depth));
            if k > 20 && depth > 5 {
                cancel.stop(Halt::Interrupted);
            }
        });
        assert_eq!(found.conclusion, Conclusion::Unknown(Reason::Interrupted));
        assert!(found.k() >= 20, "safe up to {} contexts", found.k());
        assert!(found.rungs.iter().any(|climbed| climbed.rung == Rung::Abstract(5)), "both k and d were raised");
        assert!(!found.between.expect("Z is known").bad.is_empty());
    }
}

#[test]
fn a_timeout_of_zero_gives_no_answer() {
    let problem = problem(MIRROR);
    let start = Instant::now();
    let options = Options { timeout: Some(Duration::from_millis(200)), ..Options::default() };
    let found = search_unchecked(&problem, Question::Verify, &options, |_| ());
    assert_eq!(found.conclusion, Conclusion::Unknown(Reason::TimeOut));
    assert!(start.elapsed() >= Duration::from_millis(200));
}

/// If A_d has too many tuples, the upper search continues with the next depth.
#[test]
fn a_depth_with_too_many_tuples_is_skipped() {
    let problem = problem(MIRROR);
    let options = Options { max_contexts: Some(3), max_depth: Some(2), max_tuples: Some(2), ..Options::default() };
    let found = search_unchecked(&problem, Question::Visible, &options, |_| ());
    let of = |rung| &found.rungs.iter().find(|climbed| climbed.rung == rung).expect("the rung was tried").outcome;
    assert_eq!(*of(Rung::Abstract(0)), Outcome::TooManyTuples(2));
    assert_eq!(*of(Rung::Abstract(2)), Outcome::TooManyTuples(2));
    assert!(matches!(of(Rung::MatchedZ), Outcome::Bound(_)));
    assert_eq!(found.conclusion, Conclusion::Unknown(Reason::ContextBound));
}
