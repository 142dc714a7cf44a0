//! The oracle against the model collection, and against the paper's figures for its examples.

use cpds_testing::corpus::{Answers, Collapse, Expected, Model, Verdict, compare, models, run};
use cpds_testing::oracle::levels;
use cpds_testing::skipped::Skipped;

/// Higher than each stack that a model with FCR builds within the levels of its TOML.
const HIGH: usize = 100;

#[test]
fn the_oracle_agrees_with_every_model() {
    let mut seen = 0;
    run("the oracle", |model| {
        seen += 1;
        answers(model)
    });
    assert!(seen >= 25, "the collection has only {seen} models");
}

/// Computes the oracle's answers.
///
/// If R_k is finite and stops growing, the oracle gives all answers (Lemma 7). Otherwise it gives
/// |R_k| and |T(R_k)| up to some level. If R_k is infinite, |T(R_k)| counts the visible states of
/// stacks up to the height in the TOML.
fn answers(Model { name, problem, expected, .. }: &Model) -> Answers {
    let system = problem.system();
    // Two levels more than the TOML lists: after its list, the counts must not change.
    let max_k = expected.oracle_up_to.unwrap_or(expected.visible.len() + 2);
    let found = levels(system, max_k, expected.height.unwrap_or(HIGH));
    assert_eq!(Some(found.exact), expected.fcr, "{name}: is a stack higher than {HIGH} or the height in the TOML");
    // Finite contexts of the models build no stacks of this height. If the first context is finite,
    // a later one may be infinite; the engines are tested for this.
    let is_infinite = || !levels(system, 1, HIGH).exact;
    let fcr = if found.exact { Some(true) } else { is_infinite().then_some(false) };
    let visible = found.visible_counts();
    let collapse = found.reachable.windows(2).position(|pair| pair[0] == pair[1]).filter(|_| found.exact);
    let total = collapse.map(|k| visible[k]);
    let bug = found.first_violation(problem);
    assert_eq!(bug, expected.contexts.filter(|&k| k <= max_k), "{name}: the first bad state");
    Answers {
        fcr,
        reachable: found.exact.then(|| found.reachable_counts()),
        visible_total: total,
        collapse_reachable: collapse,
        collapse_visible: total.and_then(|total| visible.iter().position(|&n| n == total)),
        visible: Some(visible),
        verdict: match (bug, collapse) {
            (Some(k), _) => Some((Verdict::Unsafe, Some(k))),
            (None, Some(_)) => Some((Verdict::Safe, None)),
            (None, None) => None,
        },
        ..Answers::default()
    }
}

#[test]
fn fig_1_has_the_levels_of_the_papers_table() {
    let models = models();
    let fig1 = models.iter().find(|m| m.name == "paper/fig1").expect("Fig. 1 is a model");
    let system = fig1.problem.system();
    let found = levels(system, 6, HIGH);
    assert_eq!(found.reachable_counts(), [1, 3, 6, 8, 11, 14, 17]);
    assert_eq!(found.visible_counts(), [1, 3, 6, 6, 7, 8, 8]);
    // Ex. 14: k = 4 is the first k that reaches ⟨0|1,6⟩.
    let new: Vec<String> =
        found.visible(4).difference(&found.visible(3)).map(|state| system.paper(state).to_string()).collect();
    assert_eq!(new, ["⟨0|1,6⟩"]);
}

#[test]
fn example_8_reaches_its_state_with_two_contexts_and_not_with_one() {
    let models = models();
    let fig2 = models.iter().find(|m| m.name == "paper/fig2").expect("Fig. 2 is a model");
    let found = levels(fig2.problem.system(), 2, 4);
    let state = fig2.problem.system().read_state("1|4,9").unwrap();
    assert!(!found.reachable[1].contains(&state));
    assert!(found.reachable[2].contains(&state));
}

#[test]
fn contradictory_expectations_and_wrong_answers_fail() {
    let models = models();
    let fig1 = models.iter().find(|m| m.name == "paper/fig1").expect("Fig. 1 is a model");
    let wrong: [fn(&mut Expected); 13] = [
        |e| e.contexts = None,
        |e| e.verdict = Verdict::Safe,
        |e| e.proved_by = Some("Z".to_owned()),
        |e| e.undecided = Some("an unsafe model is decided".to_owned()),
        |e| e.contexts = Some(9),
        |e| e.fcr = Some(false),
        |e| e.reachable = Some(vec![]),
        |e| e.visible[2] = 9,
        |e| e.visible_total = Some(9),
        |e| e.collapse = Some(Collapse { reachable: None, visible: 2 }),
        |e| e.collapse = Some(Collapse { reachable: Some(5), visible: 5 }),
        |e| e.collapse = None,
        |e| e.source = String::new(),
    ];
    for (i, change) in wrong.iter().enumerate() {
        let mut expected = fig1.expected.clone();
        change(&mut expected);
        assert!(expected.contradiction().is_some(), "change {i}");
    }

    let right =
        Answers { reachable: Some(vec![1, 3, 6]), visible: Some(vec![1, 3, 6, 6, 7, 8, 8, 8]), ..answers(fig1) };
    let check = |answers: &Answers| {
        let mut skipped = Skipped::default();
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| compare("test", fig1, answers, &mut skipped))).is_ok()
    };
    assert!(check(&right));
    let wrong: [fn(&mut Answers); 9] = [
        |a| a.fcr = Some(false),
        |a| a.reachable = Some(vec![1, 3, 7]),
        |a| a.reachable = Some(vec![1, 3, 6, 8, 11, 14, 17, 17]),
        |a| a.visible = Some(vec![1, 3, 6, 6, 7, 8, 8, 9]),
        |a| a.visible_total = Some(9),
        |a| a.collapse_reachable = Some(5),
        |a| a.verdict = Some((Verdict::Unsafe, Some(5))),
        |a| a.proved_by = Some("Z".to_owned()),
        |a| (a.verdict, a.is_final) = (None, true),
    ];
    for (i, change) in wrong.iter().enumerate() {
        let mut answers = right.clone();
        change(&mut answers);
        assert!(!check(&answers), "change {i}");
    }
}
