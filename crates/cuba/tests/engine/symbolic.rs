//! Compares S_k with R_k: the same states at each level, with and without symmetry, and with and
//! without covered tuples.

use crate::laws::{law_on, shapes};
use cpds::{GlobalState, Pattern, Problem, Property, VisibleState, Wild};
use cpds_testing::oracle;
use cpds_testing::renaming::renamed;
use cuba::{Conclusion, Options, Question, search_unchecked};
use cuba::{Count, Engine, Fcr, Reachable, Symbolic, SymbolicOptions, Tuning};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

const MAX_K: usize = 6;

const ALL: SymbolicOptions = SymbolicOptions {
    symmetry: true,
    subsumption: true,
    widening: None,
    memory: 1 << 26,
    tuning: Tuning { diagram_groups: usize::MAX, ..Tuning::SHIPPED },
};

/// Computes S_0, S_1, … up to a level or until there are too many tuples. Also returns the k at
/// which (S_k) collapses.
fn explore(problem: &Problem, options: SymbolicOptions, max_k: usize) -> (Symbolic<'_>, Option<usize>) {
    let mut tuples = Symbolic::new(problem.system(), options);
    while tuples.k() < max_k && tuples.kept() < 400 {
        tuples.advance(&mut |_| ControlFlow::<()>::Continue(())).expect("enough memory");
        let k = tuples.k();
        assert_eq!(tuples.visible().count(k), Count::from(tuples.visible().states(k).len()));
        if !tuples.grew(k) {
            return (tuples, Some(k - 1));
        }
    }
    (tuples, None)
}

/// Returns the new states of R_0, R_1, … until a level is too large, and the k at which (R_k)
/// collapses.
///
/// If the condition of Thm. 17 does not hold, R_k may still be finite. Then the oracle computes it,
/// up to some height.
fn states(problem: &Problem) -> (Vec<BTreeSet<GlobalState>>, Option<usize>) {
    if Fcr::new(problem.system()).holds() != Some(true) {
        let levels = oracle::levels(problem.system(), 2, 4);
        let finite = if levels.exact { 3 } else { 1 };
        let new = |k: usize| match k.checked_sub(1) {
            Some(before) => levels.reachable[k].difference(&levels.reachable[before]).cloned().collect(),
            None => levels.reachable[0].clone(),
        };
        let levels: Vec<BTreeSet<_>> = (0..finite).map(new).collect();
        let collapse = levels.iter().position(BTreeSet::is_empty).map(|k| k - 1);
        return (levels, collapse);
    }
    let mut reachable = Reachable::new(problem.system(), true, Tuning::SHIPPED);
    let go_on = &mut |_: &Reachable<'_>| ControlFlow::<()>::Continue(());
    let mut collapse = None;
    while reachable.k() < MAX_K && reachable.kept() < 300 && reachable.advance(go_on).is_continue() {
        if !reachable.has_new_states(reachable.k()) {
            collapse = Some(reachable.k() - 1);
            break;
        }
    }
    ((0..=reachable.k()).map(|k| reachable.states(k)).collect(), collapse)
}

fn visible(states: &BTreeSet<GlobalState>) -> BTreeSet<VisibleState> {
    states.iter().map(GlobalState::visible).collect()
}

/// If R_k is finite, S_k has the same states and the same visible states, level by level, and (R_k)
/// collapses at the same k.
#[test]
fn the_symbolic_engine_has_the_levels_of_the_explicit_engine() {
    let (with_fcr, without) = (Cell::new(0), Cell::new(0));
    law_on(&shapes(), 2500, |problem| {
        let (levels, collapse) = states(problem);
        let (tuples, closed) = explore(problem, ALL, levels.len() - 1);
        let mut seen = BTreeSet::new();
        for (k, new) in levels.iter().enumerate().take(tuples.k() + 1) {
            let mut new_visible = visible(new);
            new_visible.retain(|state| !seen.contains(state));
            assert_eq!(tuples.visible().states(k), new_visible, "T(S_{k})");
            seen.extend(new_visible);
            for state in new {
                assert!(tuples.contains(k, state), "{state:?} is in R_{k}");
                assert!(k == 0 || !tuples.contains(k - 1, state), "{state:?} is not in R_{}", k - 1);
            }
        }
        if let Some(closed) = closed {
            assert_eq!(tuples.collapse_of_states(closed), collapse, "(S_k) does not collapse before (R_k)");
        }
        let counter = if Fcr::new(problem.system()).holds() == Some(true) { &with_fcr } else { &without };
        counter.set(counter.get() + 1);
        levels.len() > 3
    });
    assert!(with_fcr.get() > 1000 && without.get() > 300, "{} with FCR, {} without", with_fcr.get(), without.get());
}

#[test]
fn the_symbolic_engine_is_right_if_contexts_are_infinite() {
    the_symbolic_engine_is_right_in(300);
}

#[test]
#[ignore = "a long version: `just long`"]
fn the_symbolic_engine_is_right_if_contexts_are_infinite_long() {
    the_symbolic_engine_is_right_in(1200);
}

/// If contexts are infinite: every visible state of level k has a trace of k contexts that replays,
/// and the levels contain all visible states that the oracle finds up to some height.
fn the_symbolic_engine_is_right_in(cases: u32) {
    let traces = Cell::new(0);
    let worth_it = law_on(&shapes(), cases, |problem| {
        if Fcr::new(problem.system()).holds() == Some(true) {
            return false;
        }
        let (tuples, closed) = explore(problem, ALL, 3);
        let collapse = closed.and_then(|closed| tuples.collapse_of_states(closed));
        let levels = oracle::levels(problem.system(), tuples.k().min(2), 4);
        let mut seen = BTreeSet::new();
        for k in 0..=tuples.k() {
            let new = tuples.visible().states(k);
            for state in new.iter().take(6) {
                let tops = state.tops.iter().map(|&top| Wild::Is(top)).collect();
                let bad = vec![Pattern { shared: Wild::Is(state.shared), tops }];
                let target = Problem::new(problem.system().clone(), Property { bad }).unwrap();
                let options = Options { engine: Some(Engine::Symbolic), ..Options::default() };
                let Conclusion::Unsafe { trace, .. } =
                    search_unchecked(&target, Question::Verify, &options, |_| ()).conclusion
                else {
                    panic!("{state:?} is reachable")
                };
                assert_eq!(trace.replay(target.system()), Ok(()));
                assert_eq!(&trace.last().visible(), state);
                assert_eq!(trace.contexts.len(), k, "as many contexts as the level");
                traces.set(traces.get() + 1);
            }
            seen.extend(new);
            if let Some(states) = levels.reachable.get(k) {
                assert!(levels.visible(k).is_subset(&seen), "T(R_{k})");
                assert!(states.iter().all(|state| tuples.contains(k, state)), "R_{k}");
                assert!(states.iter().all(|state| tuples.contains(collapse.unwrap_or(k), state)), "R");
            }
        }
        tuples.k() > 1
    });
    assert!(worth_it > cases / 12 && traces.get() > cases / 3, "{worth_it} systems, {} traces", traces.get());
}

/// T(S_k) and the number of largest tuples are the same with and without symmetry, and with and
/// without covered tuples.
#[test]
fn symmetry_and_covered_tuples_do_not_change_the_levels() {
    let (fewer, symmetric) = (Cell::new(0), Cell::new(0));
    law_on(&shapes(), 1500, |problem| {
        let (all, closed) = explore(problem, ALL, 4);
        for symmetry in [true, false] {
            for subsumption in [true, false] {
                let (other, other_closed) = explore(problem, SymbolicOptions { symmetry, subsumption, ..ALL }, 4);
                for k in 0..=all.k().min(other.k()) {
                    assert_eq!(all.visible().states(k), other.visible().states(k), "T(S_{k})");
                    if subsumption {
                        assert_eq!(all.count(k), other.count(k), "|S_{k}|");
                    }
                }
                if all.k() == other.k() && subsumption {
                    assert_eq!(closed, other_closed);
                }
                fewer.set(fewer.get() + u32::from(all.kept() < other.kept()));
            }
        }
        let groups = problem.system().symmetric_groups();
        symmetric.set(symmetric.get() + u32::from(groups.len() < problem.system().thread_count()));
        all.kept() > 3
    });
    assert!(fewer.get() > 200 && symmetric.get() > 200, "{} fewer, {} symmetric", fewer.get(), symmetric.get());
}

#[test]
fn other_numbers_change_nothing() {
    law_on(&shapes(), 800, |problem| {
        let n = problem.system().thread_count();
        let shared = u32::try_from(problem.system().shared_names().len()).unwrap();
        let threads: Vec<usize> = (0..n).rev().collect();
        let rotated: Vec<u32> = (0..shared).map(|q| (q + 1) % shared).collect();
        let other = renamed(problem, &threads, &rotated);
        let ((here, closed), (there, also)) = (explore(problem, ALL, 4), explore(&other.problem, ALL, 4));
        for k in 0..=here.k().min(there.k()) {
            let translated: BTreeSet<_> = here.visible().states(k).iter().map(|state| other.visible(state)).collect();
            assert_eq!(translated, there.visible().states(k), "T(S_{k})");
            assert_eq!(here.count(k), there.count(k), "|S_{k}|");
        }
        assert!(closed == also || here.k() != there.k());
        true
    });
}

/// The symbolic engine has the same verdict and number of contexts as the explicit engine, and its
/// traces replay. The bad patterns may distinguish interchangeable threads.
#[test]
fn verdicts_are_those_of_the_explicit_engine() {
    let (safe, unsafe_, wild) = (Cell::new(0), Cell::new(0), Cell::new(0));
    law_on(&shapes(), 1500, |problem| {
        if Fcr::new(problem.system()).holds() != Some(true) || problem.property().bad.is_empty() {
            return false;
        }
        let verify = |engine, symmetry| {
            let options = Options {
                engine: Some(engine),
                symmetry,
                max_contexts: Some(4),
                max_depth: Some(0),
                ..Options::default()
            };
            search_unchecked(problem, Question::Verify, &options, |_| ()).conclusion
        };
        let explicit = verify(Engine::Explicit, true);
        for symmetry in [true, false] {
            match (verify(Engine::Symbolic, symmetry), &explicit) {
                (Conclusion::Unsafe { trace, pattern }, Conclusion::Unsafe { trace: other, .. }) => {
                    assert_eq!(trace.replay(problem.system()), Ok(()));
                    let bad = &problem.property().bad[pattern];
                    assert!(bad.matches(&trace.last().visible()));
                    assert_eq!(trace.contexts.len(), other.contexts.len());
                    unsafe_.set(unsafe_.get() + 1);
                    wild.set(wild.get() + u32::from(bad.tops.contains(&Wild::Any)));
                }
                (Conclusion::Safe(_), Conclusion::Safe(_)) => safe.set(safe.get() + 1),
                // (S_k) may collapse later than (R_k).
                (Conclusion::Unknown(_), Conclusion::Safe(_) | Conclusion::Unknown(_)) => {}
                (found, explicit) => panic!("{found:?}, but {explicit:?}"),
            }
        }
        true
    });
    let (safe, unsafe_, wild) = (safe.get(), unsafe_.get(), wild.get());
    assert!(safe > 100 && unsafe_ > 200 && wild > 100, "{safe} safe, {unsafe_} unsafe, {wild} of them with wildcards");
}

/// Two threads with the same actions, in another order and with other names, are interchangeable. A
/// trace has the rules of each thread.
#[test]
fn a_trace_names_the_rules_of_each_thread() {
    let text = "shared 0 1 2; init 0|a,a; bad 2|b,b
        thread A { symbols a b; up: (0,a) -> (0,a a); (0,a) -> (1,b); (1,a) -> (2,b) }
        thread B { symbols b a; (1,a) -> (2,b); (0,a) -> (1,b); up: (0,a) -> (0,a a) }";
    let problem: Problem = text.parse().unwrap();
    assert_eq!(problem.system().symmetric_groups().len(), 1);
    let found = search_unchecked(&problem, Question::Verify, &Options::default(), |_| ());
    let Conclusion::Unsafe { trace, .. } = found.conclusion else { panic!("unsafe") };
    assert_eq!(trace.replay(problem.system()), Ok(()));
    assert_eq!((trace.contexts.len(), trace.contexts[0].steps.len(), trace.contexts[1].steps.len()), (2, 1, 1));
}

/// Twenty thousand initial states give twenty thousand tuples. No tuple covers another one.
#[test]
fn many_initial_states() {
    let stack = |i: u32| (0..15).map(|bit| if i >> bit & 1 == 1 { "l" } else { "r" }).collect::<Vec<_>>().join(" ");
    let initial: Vec<String> = (0..20_000).map(|i| format!("init 0|{}", stack(i))).collect();
    let text = format!("shared 0\n{}\nthread A {{ symbols l r c; (0,c) -> (0,c c) }}", initial.join("\n"));
    let problem: Problem = text.parse().unwrap();
    let options = Options { engine: Some(Engine::Symbolic), memory: 1 << 26, ..Options::default() };
    let found = search_unchecked(&problem, Question::Reachable, &options, |_| ());
    assert_eq!(found.lower_sequence.collapse(), Some(0));
    assert_eq!(found.levels[0].tuples, Some(Count::from(20_000)));
}
