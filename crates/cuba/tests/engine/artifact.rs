//! Table 2's programs, where they are at hand: every value that is known of them.

use cpds_testing::artifact::{KNOWN, Known, names};
use cpds_testing::corpus::artifact;
use cuba::engine::Count;
use cuba::engine::analysis::{Conclusion, Options, Question, Reason, analyse};

#[test]
fn programs_with_fcr_come_out_as_they_should() {
    let with_fcr = || KNOWN.iter().filter(|known| known.fcr);
    let Some(folder) = artifact(&names(with_fcr())) else { return };
    for known @ &Known { file, visible, collapse, bug, .. } in with_fcr() {
        let problem = known.read(&folder);
        for symmetry in [true, false] {
            let options = Options { symmetry, max_contexts: Some(collapse + 1), ..Options::default() };
            let reached = analyse(&problem, Question::Visible, options, |_| ());
            assert_eq!(reached.visible_sequence.collapse(), Some(collapse), "{file}");
            assert_eq!(reached.levels.last().unwrap().visible, Count::from(visible), "{file}");
            assert!(matches!(reached.conclusion, Conclusion::Converged(_)), "{file}");
            if problem.property().bad.is_empty() {
                continue;
            }
            match (analyse(&problem, Question::Verify, options, |_| ()).conclusion, bug) {
                (Conclusion::Unsafe { trace, .. }, Some(contexts)) => {
                    assert_eq!(trace.contexts.len(), contexts, "{file}");
                    assert_eq!(trace.replay(problem.system()), Ok(()), "{file}");
                    assert!(problem.is_bad(trace.last()), "{file}");
                }
                (Conclusion::Safe(_), None) => {}
                (conclusion, _) => panic!("{file}: {conclusion:?}"),
            }
        }
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
        let reached = analyse(&problem, Question::Reachable, options, |_| ()).reachable;
        assert_eq!((reached.kept(), reached.expansions()), (states, expansions), "{file}");
    }
}

#[test]
fn programs_without_fcr_are_recognised() {
    let without = || KNOWN.iter().filter(|known| !known.fcr);
    let Some(folder) = artifact(&names(without())) else { return };
    for known @ &Known { file, visible, .. } in without() {
        let problem = known.read(&folder);
        let reached = analyse(&problem, Question::Visible, Options::default(), |_| ());
        assert!(matches!(reached.conclusion, Conclusion::Unknown(Reason::InfiniteContext(_))), "{file}");
        assert_eq!(reached.fcr(), Some(false), "{file}");
        assert_eq!(reached.upper.z().expect("small").size, Count::from(visible), "{file}: Z = T(R)");
    }
}
