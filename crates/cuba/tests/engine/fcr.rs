//! Finite context reachability, compared with the definition: each thread runs alone from every
//! state of every R_k.

use crate::evidence::checked;
use crate::laws::law_on;
use cpds::Problem;
use cpds_testing::contexts::{FiniteLevels, finite_levels};
use cpds_testing::random::{Shape, problem};
use cuba::{Conclusion, Options, Question, search_unchecked};
use cuba::{ContextFiniteness, Fcr, FinitenessProof};
use proptest::strategy::Strategy;
use std::cell::Cell;

/// Two or three recursive threads, some of them with an unreachable recursion.
fn systems() -> impl Strategy<Value = Problem> {
    let shape = Shape { programs: 1..=2, copies: 1..=2, ..Shape::default() };
    let recursive =
        Shape { programs: 2..=2, copies: 1..=1, actions: 4..=9, shared: 3..=4, symbols: 2..=3, ..Shape::default() };
    proptest::prop_oneof![problem(&shape), problem(&recursive)]
}

fn oracle(problem: &Problem) -> FiniteLevels {
    finite_levels(problem.system(), 6, 400)
}

/// Returns the answer of the squeeze to the question whether a pumping head is reachable.
fn decided(fcr: &Fcr, problem: &Problem) -> (Option<bool>, usize) {
    let programs: Vec<usize> = (0..problem.system().programs().len()).collect();
    let question = fcr.pumping.question(problem.system(), &programs).expect("few heads");
    let options = Options { max_contexts: Some(8), ..Options::default() };
    let found = search_unchecked(&question, Question::Verify, &options, |_| ());
    checked(&question, &found);
    match found.conclusion {
        Conclusion::Safe(_) => (Some(true), 0),
        Conclusion::Unsafe { trace, .. } => (Some(false), trace.contexts.len()),
        _ => (None, 0),
    }
}

/// The answer without a search and the answer of the squeeze are those of the definition. If a
/// pumping head is reached with k contexts, the first infinite level is R_k or R_{k+1}. With the
/// heads of Z, more systems are confirmed than by Theorem 17 alone.
#[test]
fn answers_are_those_of_the_definition() {
    let [finite, by_theorem_17, by_z, infinite, refuted, at_once, open] = [const { Cell::new(0_u32) }; 7];
    let count = |counter: &Cell<u32>| counter.set(counter.get() + 1);
    law_on(&systems(), 1500, |problem| {
        let known = oracle(problem);
        let fcr = Fcr::new(problem.system());
        let (answer, contexts) = decided(&fcr, problem);
        assert!(fcr.holds().is_none() || answer == fcr.holds(), "{:?} without a search", fcr.programs);
        if fcr.holds() == Some(false) {
            let by = if contexts == 0 { "T(R_0)" } else { "T(R_1)" };
            assert!(
                contexts < 2 && fcr.by().as_deref() == Some(by),
                "{contexts} contexts, {:?} without a search",
                fcr.programs
            );
            count(&at_once);
        }
        match (answer, known.infinite()) {
            (Some(true), first) => assert_eq!(first, None, "{known:?}"),
            (Some(false), first) => {
                assert!(!known.is_all && known.up_to <= contexts, "{contexts} {known:?}");
                assert!(first.is_none_or(|first| first == contexts || first == contexts + 1), "{contexts} {known:?}");
                count(&refuted);
            }
            (None, _) => count(&open),
        }
        if known.then_infinite {
            count(&infinite);
        } else {
            count(&finite);
        }
        if fcr.holds() == Some(true) {
            let is_z = fcr
                .programs
                .iter()
                .any(|contexts| matches!(contexts, ContextFiniteness::Finite(FinitenessProof::Bounded(_))));
            count(if is_z { &by_z } else { &by_theorem_17 });
        }
        !fcr.pumping.is_empty()
    });
    let [finite, by_theorem_17, by_z, infinite, refuted, at_once, open] =
        [finite, by_theorem_17, by_z, infinite, refuted, at_once, open].map(Cell::into_inner);
    println!(
        "{finite} finite up to the bound: {by_theorem_17} by Thm. 17, {by_z} more by Z; {infinite} infinite: {refuted} refuted, {at_once} without a search; {open} open"
    );
    assert!(infinite > 150 && refuted >= infinite && by_theorem_17 > 150, "{infinite} {refuted} {by_theorem_17}");
    assert!(by_z > by_theorem_17 / 6, "Z confirms {by_z} more than {by_theorem_17}");
}

/// The answer at the end of an analysis does not contradict the definition, for each question.
#[test]
fn the_answer_after_an_analysis_does_not_contradict_the_definition() {
    let [more, refuted] = [const { Cell::new(0_u32) }; 2];
    law_on(&systems(), 700, |problem| {
        let known = oracle(problem);
        let at_once = Fcr::new(problem.system()).holds();
        for question in [Question::Verify, Question::Visible] {
            let options = Options { max_contexts: Some(6), ..Options::default() };
            let found = search_unchecked(problem, question, &options, |_| ());
            let fcr = found.fcr.as_ref().expect("small");
            let holds = fcr.holds();
            assert_eq!(holds.is_some(), fcr.by().is_some());
            assert!(at_once.is_none() || holds == at_once, "the answer does not change");
            match holds {
                Some(true) => assert!(!known.then_infinite, "{:?} {known:?}", fcr.by()),
                Some(false) => assert!(!known.is_all, "{:?} {known:?}", fcr.by()),
                None => {}
            }
            more.set(more.get() + u32::from(holds == Some(true) && at_once.is_none()));
            refuted.set(refuted.get() + u32::from(holds == Some(false)));
        }
        true
    });
    assert!(more.get() > 2 && refuted.get() > 150, "{} {}", more.get(), refuted.get());
}

/// A thread pushes without end, but only in a shared state that no thread reaches. Theorem 17
/// cannot confirm finite context reachability, and Z can. If another thread reaches the shared
/// state, a trace to it is found, and the default engine is the symbolic one.
#[test]
fn a_loop_that_is_not_reachable_refutes_nothing() {
    let text = |leads: &str| {
        format!(
            "shared 0 1 2 3; init 0|a,b; thread A {{ symbols a; (0,a) -> (1,a); {leads} }}
            thread B {{ symbols b; (2,b) -> (2,b b); (1,b) -> (0,-) }}"
        )
    };
    let problem: Problem = text("").parse().unwrap();
    let fcr = Fcr::new(problem.system());
    assert_eq!((fcr.holds(), fcr.by().as_deref()), (Some(true), Some("Z")));
    assert_eq!(fcr.programs[0], ContextFiniteness::Finite(FinitenessProof::Theorem17));
    let found = search_unchecked(&problem, Question::Reachable, &Options::default(), |_| ());
    assert_eq!(found.level_store.engine(), cuba::Engine::Explicit);
    let problem: Problem =
        text("(3,a) -> (2,a) }\nthread C { symbols c; (1,c) -> (3,c)").replace("a,b", "a,c,b").parse().unwrap();
    let fcr = Fcr::new(problem.system());
    assert_eq!((fcr.holds(), fcr.by()), (None, None));
    assert_eq!(decided(&fcr, &problem), (Some(false), 3));
    let found = search_unchecked(&problem, Question::Visible, &Options::default(), |_| ());
    let fcr = found.fcr.expect("small");
    assert_eq!((fcr.holds(), fcr.by().as_deref()), (Some(false), Some("T(R_3)")));
}
