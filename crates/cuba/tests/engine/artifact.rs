//! The programs of Table 2, if the machine has them: every known value.

use crate::evidence::checked;
use cpds_testing::artifact::{BenchmarkSystem, SYSTEMS, names};
use cpds_testing::corpus::artifact;
use cuba::{Abstraction, AbstractionLimits, Count, Engine, Fcr, LevelStore, PumpingHeads};
use cuba::{Conclusion, Options, Question, search_unchecked};

/// Every program of Table 2, with the default engine, with and without symmetry, and with the
/// symbolic engine.
#[test]
fn table_2() {
    let Some(folder) = artifact(&names(&SYSTEMS)) else { return };
    for system @ &BenchmarkSystem { file, visible, collapse, bug, fcr, .. } in &SYSTEMS {
        let problem = system.read(&folder);
        for (engine, symmetry) in [(None, true), (None, false), (Some(Engine::Symbolic), true)] {
            let options = Options { engine, symmetry, max_contexts: Some(collapse + 2), ..Options::default() };
            let reached = search_unchecked(&problem, Question::Visible, &options, |_| ());
            assert_eq!(reached.visible_sequence.collapse(), Some(collapse), "{file}");
            assert_eq!(reached.fcr.as_ref().and_then(Fcr::holds), Some(fcr), "{file}");
            let chosen = if fcr { Engine::Explicit } else { Engine::Symbolic };
            assert_eq!(reached.level_store.engine(), engine.unwrap_or(chosen), "{file}");
            assert_eq!(reached.levels.last().unwrap().visible, Count::from(visible), "{file}");
            assert!(matches!(reached.conclusion, Conclusion::Converged(_)), "{file}");
            checked(&problem, &reached);
            if problem.property().bad.is_empty() {
                continue;
            }
            let verified = search_unchecked(&problem, Question::Verify, &options, |_| ());
            checked(&problem, &verified);
            match (verified.conclusion, bug) {
                (Conclusion::Unsafe { trace, .. }, Some(contexts)) => {
                    assert_eq!(trace.contexts.len(), contexts, "{file}");
                }
                (Conclusion::Safe(_), None) => {}
                (conclusion, _) => panic!("{file}: {conclusion:?}"),
            }
        }
    }
}

/// For every program, A_1 is T(R).
#[test]
fn a_1_is_exact() {
    let Some(folder) = artifact("A_1 of Table 2's programs") else { return };
    for system @ &BenchmarkSystem { file, visible, .. } in &SYSTEMS {
        let limits = AbstractionLimits { tuples: 100_000, memory: 1 << 30 };
        let found = Abstraction::new(system.read(&folder).system(), 1, true, limits).expect("few tuples");
        assert_eq!(found.states().len(), visible, "{file}");
    }
}

/// The explicit engine expands each pair of a state and a thread once.
#[test]
fn expansions_of_bluetooth_and_bst() {
    let Some(folder) = artifact("the number of expansions of Bluetooth1-21, bst-22") else { return };
    for (file, symmetry, states, expansions) in [
        ("1_Bluetooth-1/Bluetooth1-21", true, 18_972, 54_859),
        ("1_Bluetooth-1/Bluetooth1-21", false, 18_972, 54_859),
        ("4_BST-Insert/bst-22", true, 4347, 13_824),
        ("4_BST-Insert/bst-22", false, 14_256, 49_248),
    ] {
        let problem = SYSTEMS.iter().find(|system| system.file == file).expect("a file of the table").read(&folder);
        let options = Options { symmetry, ..Options::default() };
        let LevelStore::Explicit(reached) =
            search_unchecked(&problem, Question::Reachable, &options, |_| ()).level_store
        else {
            panic!("explicit")
        };
        assert_eq!((reached.kept(), reached.expansions()), (states, expansions), "{file}");
    }
}

/// The FCR column of Table 2: each program without FCR has a loop, and no other program has one.
#[test]
fn loops() {
    let Some(folder) = artifact(&names(&SYSTEMS)) else { return };
    for system in &SYSTEMS {
        let problem = system.read(&folder);
        let pumping = PumpingHeads::new(problem.system());
        assert_eq!(pumping.is_empty(), system.fcr, "{}", system.file);
        for (number, program) in problem.system().programs().iter().enumerate() {
            assert!(pumping.a_loop(number).is_none_or(|found| found.replays(program)), "{}", system.file);
        }
    }
}

/// The symbolic engine stores only the tuples that no other tuple covers.
#[test]
fn tuples_of_bluetooth_and_stefan() {
    let Some(folder) = artifact("the number of tuples of Bluetooth1-21, bst-22, stefan-8") else { return };
    for (file, k, tuples) in
        [("1_Bluetooth-1/Bluetooth1-21", 9, 468), ("4_BST-Insert/bst-22", 4, 3), ("8_Stefan-1/stefan-8", 16, 24)]
    {
        let problem = SYSTEMS.iter().find(|system| system.file == file).expect("a file of the table").read(&folder);
        let options = Options { engine: Some(Engine::Symbolic), ..Options::default() };
        let reached = search_unchecked(&problem, Question::Reachable, &options, |_| ());
        assert_eq!(reached.lower_sequence.collapse(), Some(k), "{file}");
        assert_eq!(reached.level_store.tuples(k), Some(Count::from(tuples)), "{file}");
    }
}
