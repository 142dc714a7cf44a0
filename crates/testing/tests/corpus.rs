//! The oracle against the model collection, and against what the paper says of its own examples.

use cpds_testing::corpus::{Model, Skipped, Verdict, models};
use cpds_testing::oracle::levels;

/// Higher than any stack that a model with FCR builds within the levels it lists.
const HIGH: usize = 100;

#[test]
fn the_oracle_agrees_with_every_model() {
    let mut skipped = Skipped::default();
    let models = models();
    assert!(models.len() >= 12, "the collection is there");
    for model in &models {
        check(model, &mut skipped);
    }
}

fn check(model: &Model, skipped: &mut Skipped) {
    let Model { name, problem, expected } = model;
    let max_k = expected.visible.len() - 1;
    let seen = expected.oracle_up_to.unwrap_or(max_k);
    if seen < max_k {
        skipped.add(&format!("{name}: k > {seen}"), "too large for the oracle");
    }
    let found = levels(&problem.system, seen, expected.height.unwrap_or(HIGH));
    assert_eq!(found.exact, expected.fcr, "{name}: every context is finite exactly if FCR is claimed");
    assert_eq!(found.visible_counts(), expected.visible[..=seen], "{name}: |T(R_k)|");
    match &expected.reachable {
        Some(reachable) => assert_eq!(found.reachable_counts(), *reachable, "{name}: |R_k|"),
        None => skipped.add(&format!("{name}: |R_k|"), "R_k is infinite"),
    }

    let collapses = |counts: &[usize], k: usize| counts[k..].iter().all(|&n| n == counts[k]);
    let least = |counts: &[usize], k: usize| collapses(counts, k) && (k == 0 || !collapses(counts, k - 1));
    let k = expected.collapse.visible;
    assert!(k < max_k && least(&expected.visible, k), "{name}: T(R_k) collapses at {k}");
    assert_eq!(expected.visible[k], expected.visible_total, "{name}: |T(R)|");
    match (&expected.reachable, expected.collapse.reachable) {
        (Some(reachable), Some(k)) => assert!(k < max_k && least(reachable, k), "{name}: R_k collapses at {k}"),
        (Some(reachable), None) => {
            assert!(reachable.windows(2).all(|pair| pair[0] < pair[1]), "{name}: R_k diverges");
        }
        (None, _) => {}
    }

    let violation = found.first_violation(problem);
    match expected.verdict {
        Verdict::Unsafe => assert_eq!(violation, Some(expected.contexts.expect("how many")), "{name}"),
        Verdict::Safe => assert_eq!(violation, None, "{name}"),
    }
}

#[test]
fn fig_1_has_the_levels_of_the_papers_table() {
    let models = models();
    let fig1 = models.iter().find(|m| m.name == "paper/fig1").expect("Fig. 1 is a model");
    let system = &fig1.problem.system;
    let found = levels(system, 6, HIGH);
    assert_eq!(found.reachable_counts(), [1, 3, 6, 8, 11, 14, 17]);
    assert_eq!(found.visible_counts(), [1, 3, 6, 6, 7, 8, 8]);
    // Ex. 14: ⟨0|1,6⟩ is reached in round 4, and not before.
    let new: Vec<String> =
        found.visible(4).difference(&found.visible(3)).map(|state| system.paper(state).to_string()).collect();
    assert_eq!(new, ["⟨0|1,6⟩"]);
}

#[test]
fn example_8_reaches_its_state_with_two_contexts_and_not_with_one() {
    let models = models();
    let fig2 = models.iter().find(|m| m.name == "paper/fig2").expect("Fig. 2 is a model");
    let found = levels(&fig2.problem.system, 2, 4);
    let state = fig2.problem.system.read_state("1|4,9").unwrap();
    assert!(!found.reachable[1].contains(&state));
    assert!(found.reachable[2].contains(&state));
}
