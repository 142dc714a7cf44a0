//! Tuples in diagrams: the levels are the same as with tuples in lists, for random systems and for
//! families of unlike threads.

use crate::evidence::checked;
use crate::laws::{law_on, shapes};
use cpds::{Pattern, Problem, Property, Wild};
use cpds_testing::oracle;
use cpds_testing::random::{Shape, problem};
use cpds_testing::unlike::{Permits, Strangers, Token, Transactions};
use cuba::{Conclusion, Options, Proof, Question, search_unchecked};
use cuba::{Count, Engine, Ladder, Symbolic, SymbolicOptions, Tuning};
use proptest::strategy::Strategy;
use std::cell::Cell;
use std::ops::ControlFlow;

const LISTED: SymbolicOptions = SymbolicOptions {
    symmetry: true,
    subsumption: true,
    widening: None,
    memory: 1 << 27,
    tuning: diagrams_from(usize::MAX),
};
const DIAGRAMS: SymbolicOptions = SymbolicOptions { tuning: diagrams_from(1), ..LISTED };

const fn diagrams_from(diagram_groups: usize) -> Tuning {
    Tuning { diagram_groups, ..Tuning::SHIPPED }
}

/// Computes levels up to a given one or until there are too many tuples. Also returns the k at
/// which (S_k) collapses.
fn explore(problem: &Problem, options: SymbolicOptions, max_k: usize) -> (Symbolic<'_>, Option<usize>) {
    let mut tuples = Symbolic::new(problem.system(), options);
    while tuples.k() < max_k && tuples.count(tuples.k()).exact().is_some_and(|count| count < 1000) {
        tuples.advance(&mut |_| ControlFlow::<()>::Continue(())).expect("enough memory");
        if !tuples.grew(tuples.k()) {
            let closed = tuples.k() - 1;
            return (tuples, Some(closed));
        }
    }
    (tuples, None)
}

/// Generates systems of up to four unlike threads, or with some interchangeable threads.
fn many() -> impl Strategy<Value = Problem> {
    let unlike = Shape { programs: 3..=4, copies: 1..=1, shared: 1..=3, actions: 2..=6, ..Shape::default() };
    proptest::prop_oneof![shapes(), problem(&unlike)]
}

/// S_k, T(S_k) and the k at which they collapse are the same with and without diagrams, with and
/// without symmetry, and with and without covered tuples.
#[test]
fn diagrams_do_not_change_the_levels() {
    let (deep, grouped) = (Cell::new(0), Cell::new(0));
    law_on(&many(), 2000, |problem| {
        for symmetry in [true, false] {
            for subsumption in [true, false] {
                let options = |like: SymbolicOptions| SymbolicOptions { symmetry, subsumption, ..like };
                let (listed, closed) = explore(problem, options(LISTED), 4);
                let (diagrams, also) = explore(problem, options(DIAGRAMS), 4);
                assert_eq!((listed.k(), closed), (diagrams.k(), also));
                for k in 0..=listed.k() {
                    assert_eq!(listed.visible().states(k), diagrams.visible().states(k), "T(S_{k})");
                    assert_eq!(diagrams.visible().count(k), Count::from(diagrams.visible().states(k).len()));
                    assert_eq!((listed.count(k), listed.grew(k)), (diagrams.count(k), diagrams.grew(k)), "|S_{k}|");
                }
                if let Some(closed) = closed {
                    assert_eq!(listed.collapse_of_states(closed), diagrams.collapse_of_states(closed));
                }
                deep.set(deep.get() + u32::from(diagrams.k() > 2));
            }
        }
        let groups = problem.system().symmetric_groups();
        grouped.set(grouped.get() + u32::from(groups.len() < problem.system().thread_count()));
        true
    });
    assert!(deep.get() > 2000 && grouped.get() > 200, "{} deep, {} with groups", deep.get(), grouped.get());
}

/// The states of each level are those of the oracle.
#[test]
fn diagrams_have_the_levels_of_the_oracle() {
    let looked_at = Cell::new(0);
    law_on(&many(), 800, |problem| {
        let levels = oracle::levels(problem.system(), 2, 4);
        let (diagrams, _) = explore(problem, DIAGRAMS, 2);
        for k in 0..=diagrams.k() {
            for state in levels.reachable[k].iter().take(50) {
                assert!(diagrams.contains(k, state), "{state:?} is in R_{k}");
                let is_new = k == 0 || !levels.reachable[k - 1].contains(state);
                assert!(!levels.exact || k == 0 || diagrams.contains(k - 1, state) != is_new, "{state:?}, {is_new}");
                looked_at.set(looked_at.get() + 1);
            }
        }
        true
    });
    assert!(looked_at.get() > 10_000, "{} states", looked_at.get());
}

/// The widened tuples of A_d are the same, too.
#[test]
fn diagrams_do_not_change_widened_tuples() {
    law_on(&many(), 1000, |problem| {
        for depth in [0, 1] {
            let widened = |like: SymbolicOptions| SymbolicOptions { widening: Some(depth), ..like };
            let (listed, closed) = explore(problem, widened(LISTED), 6);
            let (diagrams, also) = explore(problem, widened(DIAGRAMS), 6);
            assert_eq!((listed.k(), closed), (diagrams.k(), also));
            for k in 0..=listed.k() {
                assert_eq!(listed.visible().states(k), diagrams.visible().states(k), "T, level {k}");
                assert_eq!(listed.count(k), diagrams.count(k), "level {k}");
            }
        }
        true
    });
}

/// Explores a system completely. Returns the number of tuples, of visible states, and of stored
/// tuples.
fn sizes(problem: &Problem, options: SymbolicOptions) -> (Count, u128, usize) {
    let mut tuples = Symbolic::new(problem.system(), options);
    while tuples.k() == 0 || tuples.grew(tuples.k()) {
        tuples.advance(&mut |_| ControlFlow::<()>::Continue(())).expect("enough memory");
    }
    let visible: Count = (0..=tuples.k()).map(|k| tuples.visible().count(k)).sum();
    (tuples.count(tuples.k()), visible.exact().expect("few"), tuples.kept())
}

#[test]
fn permits_have_the_sizes_of_the_closed_formula() {
    for (threads, permits) in [(1, 2), (2, 5), (3, 4), (4, 6), (4, 9), (5, 8)] {
        let family = Permits { threads, permits };
        let problem = family.problem();
        assert_eq!(problem.system().symmetric_groups().len(), threads as usize);
        let options = Options { engine: Some(Engine::Explicit), ladder: Ladder::None, ..Options::default() };
        let found = search_unchecked(&problem, Question::Reachable, &options, |_| ());
        let states = found.levels.last().and_then(|level| level.reachable);
        assert_eq!(states.and_then(Count::exact), Some(family.states().into()), "{family:?}");
        for options in [LISTED, DIAGRAMS] {
            let (tuples, visible, _) = sizes(&problem, options);
            // There is a tuple for each state, because each number of permits is a single word.
            assert_eq!(Some(tuples), states, "{family:?}");
            assert_eq!(visible, u128::from(family.visible()), "{family:?}");
        }
    }
    // Ten threads have more states than can be listed.
    let family = Permits { threads: 10, permits: 24 };
    let (tuples, visible, kept) = sizes(&family.problem(), DIAGRAMS);
    assert_eq!(tuples.exact(), Some(family.states().into()));
    assert_eq!(visible, u128::from(family.visible()));
    assert!(family.states() > 10_000_000 && kept < 100_000, "{} states, {kept} nodes", family.states());
}

#[test]
fn transactions_have_the_sizes_of_the_closed_formula() {
    for (threads, versions) in [(2, 2), (2, 3), (3, 2), (4, 2), (3, 3), (5, 2)] {
        let family = Transactions { threads, versions };
        let problem = family.problem();
        assert_eq!(problem.system().symmetric_groups().len(), threads as usize);
        for options in [LISTED, DIAGRAMS] {
            let (tuples, visible, _) = sizes(&problem, options);
            assert_eq!(tuples.exact(), Some(family.tuples().into()), "{family:?}");
            assert_eq!(visible, u128::from(family.visible()), "{family:?}");
        }
    }
}

#[test]
fn tokens_and_strangers_have_the_sizes_of_the_closed_formula() {
    for (threads, turns) in [(4, 1), (4, 2), (5, 1)] {
        let family = Token { threads, turns };
        let problem = family.problem();
        let [(listed, visible, _), (diagrams, also, _)] = [LISTED, DIAGRAMS].map(|options| sizes(&problem, options));
        assert_eq!((listed, visible), (diagrams, also));
        assert_eq!(visible, u128::from(family.visible()), "{family:?}");
    }
    for threads in [1, 3, 6] {
        let family = Strangers { threads };
        let problem = family.problem();
        let (diagrams, closed) = explore(&problem, DIAGRAMS, 10);
        assert_eq!(closed, Some(threads as usize));
        for k in 0..=threads {
            assert_eq!(diagrams.count(k as usize).exact(), Some(family.tuples(k).into()), "{family:?}, {k}");
        }
        assert_eq!(sizes(&problem, DIAGRAMS).1, u128::from(family.visible()));
    }
}

/// Many interchangeable threads together with unlike ones have too many permutations for a diagram.
#[test]
fn many_interchangeable_threads_are_not_in_diagrams() {
    let own = |name: &str| {
        format!("thread {name} {{ symbols {name}; (0,{name}) -> (0,{name} {name}); (0,{name}) -> (0,-) }}\n")
    };
    let unlike: String = ["A", "B", "C"].map(own).concat();
    let interchangeable = "thread D * 30 { symbols d e; (0,d) -> (0,e d); (0,e) -> (0,d e); (0,d) -> (0,-) }";
    let problem: Problem = format!("shared 0; init 0|A,B,C,d*30\n{unlike}{interchangeable}").parse().unwrap();
    assert_eq!(problem.system().symmetric_groups().len(), 4);
    let (tuples, visible, kept) = sizes(&problem, SymbolicOptions { tuning: diagrams_from(4), ..LISTED });
    // Each of the three unlike threads has two tops. Each of the thirty other threads has three.
    assert_eq!((tuples.exact(), visible, kept), (Some(1), 8 * 3_u128.pow(30), 8 * 31));
}

/// The largest number of threads in a diagram, and one more.
#[test]
fn the_largest_number_of_threads_in_diagrams() {
    for threads in [256, 257] {
        let own = |i: u32| format!("thread T{i} {{ symbols a{i}; (0,a{i}) -> (0,a{i} a{i}) }}\n");
        let (programs, start): (String, Vec<_>) =
            ((0..threads).map(own).collect(), (0..threads).map(|i| format!("a{i}")).collect());
        let problem: Problem = format!("shared 0; init 0|{}\n{programs}", start.join(",")).parse().unwrap();
        let (engine, ladder) = (Some(Engine::Symbolic), Ladder::None);
        let options = Options { engine, ladder, max_contexts: Some(1), ..Options::default() };
        let found = search_unchecked(&problem, Question::Reachable, &options, |_| ());
        assert_eq!(found.levels[1].tuples.and_then(Count::exact), Some(threads.into()));
    }
}

/// Every visible state has a trace that replays, with as many contexts as its level. The checker
/// accepts every certificate.
#[test]
fn evidence_from_diagrams_is_accepted() {
    let families = [
        Permits { threads: 4, permits: 5 }.problem(),
        Transactions { threads: 4, versions: 2 }.problem(),
        Token { threads: 4, turns: 1 }.problem(),
        Strangers { threads: 4 }.problem(),
    ];
    for problem in families {
        let options = Options { engine: Some(Engine::Symbolic), ladder: Ladder::None, ..Options::default() };
        let found = search_unchecked(&problem, Question::Reachable, &options, |_| ());
        assert_eq!(found.conclusion, Conclusion::Converged(Proof::LowerCollapsed));
        checked(&problem, &found).expect("a certificate");
        for level in &found.levels {
            for state in found.level_store.visible().states(level.k).iter().step_by(7).take(10) {
                let tops = state.tops.iter().map(|&top| Wild::Is(top)).collect();
                let bad = vec![Pattern { shared: Wild::Is(state.shared), tops }];
                let target = Problem::new(problem.system().clone(), Property { bad }).unwrap();
                let found = search_unchecked(&target, Question::Verify, &options, |_| ());
                assert_eq!(checked(&target, &found), None);
                let Conclusion::Unsafe { trace, .. } = found.conclusion else { panic!("{state:?} is reachable") };
                assert_eq!((trace.contexts.len(), &trace.last().visible()), (level.k, state));
            }
        }
    }
}
