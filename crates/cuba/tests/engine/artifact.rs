//! Table 2's programs, where they are at hand: every value that is known of them.

use crate::evidence::checked;
use cpds_testing::artifact::{KNOWN, Known, names};
use cpds_testing::corpus::artifact;
use cuba::{Abstraction, AbstractionLimits, Count, Engine, Fcr, LevelStore, PumpingHeads};
use cuba::{Conclusion, Options, Question, search};

/// All of Table 2, each program with the engine that finite context reachability calls for, and all
/// with the symbolic one.
#[test]
fn table_2() {
    let Some(folder) = artifact(&names(&KNOWN)) else { return };
    for known @ &Known { file, visible, collapse, bug, fcr, .. } in &KNOWN {
        let problem = known.read(&folder);
        for (engine, symmetry) in [(None, true), (None, false), (Some(Engine::Symbolic), true)] {
            let options = Options { engine, symmetry, max_contexts: Some(collapse + 2), ..Options::default() };
            let reached = search(&problem, Question::Visible, &options, |_| ());
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
            let verified = search(&problem, Question::Verify, &options, |_| ());
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

/// A_1 has nothing but T(R), for every program.
#[test]
fn a_1_is_exact() {
    let Some(folder) = artifact("A_1 of Table 2's programs") else { return };
    for known @ &Known { file, visible, .. } in &KNOWN {
        let limits = AbstractionLimits { tuples: 100_000, memory: 1 << 30 };
        let found = Abstraction::new(known.read(&folder).system(), 1, true, limits).expect("few tuples");
        assert_eq!(found.states().len(), visible, "{file}");
    }
}

/// The cost discipline: each pair of a state and a thread is expanded once.
#[test]
fn expansions_of_bluetooth_and_bst() {
    let Some(folder) = artifact("the number of expansions of Bluetooth1-21, bst-22") else { return };
    for (file, symmetry, states, expansions) in [
        ("1_Bluetooth-1/Bluetooth1-21", true, 18_972, 54_859),
        ("1_Bluetooth-1/Bluetooth1-21", false, 18_972, 54_859),
        ("4_BST-Insert/bst-22", true, 4347, 13_824),
        ("4_BST-Insert/bst-22", false, 14_256, 49_248),
    ] {
        let problem = KNOWN.iter().find(|known| known.file == file).expect("known").read(&folder);
        let options = Options { symmetry, ..Options::default() };
        let LevelStore::Explicit(reached) = search(&problem, Question::Reachable, &options, |_| ()).level_store else {
            panic!("explicit")
        };
        assert_eq!((reached.kept(), reached.expansions()), (states, expansions), "{file}");
    }
}

/// Table 2's FCR column: a loop for every program without, none for the others.
#[test]
fn loops() {
    let Some(folder) = artifact(&names(&KNOWN)) else { return };
    for known in &KNOWN {
        let problem = known.read(&folder);
        let pumping = PumpingHeads::new(problem.system());
        assert_eq!(pumping.is_empty(), known.fcr, "{}", known.file);
        for (number, program) in problem.system().programs().iter().enumerate() {
            assert!(pumping.a_loop(number).is_none_or(|found| found.replays(program)), "{}", known.file);
        }
    }
}

/// How many tuples it takes: as many as are not covered by others.
#[test]
fn tuples_of_bluetooth_and_stefan() {
    let Some(folder) = artifact("the number of tuples of Bluetooth1-21, bst-22, stefan-8") else { return };
    for (file, k, tuples) in
        [("1_Bluetooth-1/Bluetooth1-21", 9, 468), ("4_BST-Insert/bst-22", 4, 3), ("8_Stefan-1/stefan-8", 16, 24)]
    {
        let problem = KNOWN.iter().find(|known| known.file == file).expect("known").read(&folder);
        let options = Options { engine: Some(Engine::Symbolic), ..Options::default() };
        let reached = search(&problem, Question::Reachable, &options, |_| ());
        assert_eq!(reached.lower_sequence.collapse(), Some(k), "{file}");
        assert_eq!(reached.level_store.tuples(k), Some(Count::from(tuples)), "{file}");
    }
}
