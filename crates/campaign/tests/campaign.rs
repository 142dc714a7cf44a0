//! Tests of the campaign: it finds wrong answers, shrinks the case and stores it. All stored
//! regressions pass. Imports between its rooms have no cycle.

use cpds::{Problem, TraceStep, VisibleState};
use cpds_campaign::answers::LIMITS;
use cpds_campaign::case::{Case, CaseKind, Finding, Kinds, random, run_system};
use cpds_campaign::judge::{Agreed, Answer, judge};
use cpds_campaign::mutated::smaller;
use cpds_campaign::tally::Tally;
use cpds_campaign::truth::Truth;
use cpds_campaign::{Disagreement, evidence, regression, shapes, suite, system};
use cpds_testing::rooms::cycles;
use cuba::{Analysis, Conclusion, Question, search_unchecked};
use std::path::Path;

fn models(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("readable").path());
    let is_model = |path: &std::path::PathBuf| path.extension().is_some_and(|it| it == "cpds" || it == "bp");
    let mut models: Vec<_> = entries.filter(is_model).collect();
    models.sort();
    models
}

#[test]
fn every_regression_passes() {
    let models = models(&Path::new(env!("CARGO_MANIFEST_DIR")).join("regressions"));
    assert!(models.len() >= 5, "the folder has only {} regressions", models.len());
    for path in models {
        let mut tally = Tally::default();
        if let Err(Disagreement { law, detail }) = regression::check(&path, &mut tally) {
            panic!("{}: {law}: {detail}", path.display());
        }
    }
}

/// A small campaign, in two different orders.
#[test]
fn a_few_cases_have_no_disagreement_and_do_not_depend_on_their_order() {
    let run = |numbers: std::ops::Range<u64>| {
        let (kinds, mut tally) = (Kinds::default(), Tally::default());
        for number in numbers {
            for kind in [CaseKind::System, CaseKind::Program].into_iter().take(1 + usize::from(number % 8 == 0)) {
                let case = Case { seed: 1, number, kind };
                if let Err(finding) = kinds.run(case, &mut tally) {
                    panic!("{case}: {:?}\n{}", finding.disagreement, finding.text);
                }
            }
        }
        tally
    };
    let together = run(0..60);
    let mut apart = run(40..60);
    apart.merge(run(0..40));
    assert_eq!(together, apart, "a case does not depend on earlier cases");
    assert!(together.of("levels", "symbolic, equal") > 50, "{together}");
    assert!(together.of("evidence", "certificates accepted") > 50, "{together}");
    assert!(together.of("evidence", "changed certificates rejected") > 50, "{together}");
}

/// The oracle here ignores an action, so that the engines seem to be wrong.
#[test]
fn a_disagreement_is_found_and_shrunk() {
    let without_an_action = |problem: &Problem| {
        let actions = |problem: &Problem| problem.system().programs().iter().map(|it| it.rules().len()).sum::<usize>();
        let fewer = smaller(problem).into_iter().find(|it| actions(it) < actions(problem));
        Truth::of(&fewer.unwrap_or_else(|| problem.clone()))
    };
    let kinds = shapes::systems();
    let mut found: Vec<Finding> = Vec::new();
    for number in 0..12 {
        let case = Case { seed: 3, number, kind: CaseKind::System };
        let (mut runner, turn) = random(case);
        let result = run_system(case, &kinds[0].strategy, &mut runner, &without_an_action, turn, &mut Tally::default());
        found.extend(result.err().map(|finding| *finding));
    }
    assert!(found.len() >= 6, "in {} of 12", found.len());
    for finding in &found {
        let small: Problem = finding.text.parse().expect("a system");
        let again = system::check(&small, &without_an_action, random(finding.case).1, &mut Tally::default());
        assert_eq!(again.map_err(|it| it.law), Err(finding.disagreement.law), "the shrunk case still fails");
        let actions: usize = small.system().programs().iter().map(|program| program.rules().len()).sum();
        assert!(actions <= 3, "{}", finding.text);
        assert_eq!(
            system::check(&small, &Truth::of, 0, &mut Tally::default()),
            Ok(()),
            "with the right oracle, it passes"
        );
    }
}

#[test]
fn a_finding_is_stored_and_checked() {
    let folder = tempfile::tempdir().unwrap();
    let disagreement = Disagreement { law: "unsafe-contexts", detail: "one\ntwo".to_owned() };
    let system = "shared 0\ninit 0|a\nbad 0|-\nthread A { symbols a; (0,a) -> (0,-) }\n";
    let case: Case = "7:12".parse().unwrap();
    let finding = Finding { case, disagreement: disagreement.clone(), text: system.to_owned() };
    let path = regression::save(folder.path(), &finding).unwrap();
    assert_eq!(path.file_name().unwrap(), "unsafe-contexts-7-12.cpds");
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("# unsafe-contexts\n# campaign --case 7:12\n# one\n# two\n"), "{text}");
    assert_eq!(regression::check(&path, &mut Tally::default()), Ok(()));
    let case: Case = "7:p3".parse().unwrap();
    let finding = Finding { case, disagreement, text: "void main() { skip; }\n".to_owned() };
    let path = regression::save(folder.path(), &finding).unwrap();
    assert_eq!(path.file_name().unwrap(), "unsafe-contexts-7-3.bp");
    assert_eq!(regression::check(&path, &mut Tally::default()), Ok(()));
    assert_eq!(case.to_string(), "7:p3");
    std::fs::write(&path, "void main() {").unwrap();
    assert_eq!(regression::check(&path, &mut Tally::default()).unwrap_err().law, "regression-read");
}

const FIG_1: &str = include_str!("../../../models/paper/fig1.cpds");

fn answer(problem: &Problem, question: Question) -> Answer {
    Answer::of("default".to_owned(), question, &search_unchecked(problem, question, &LIMITS, |_| ()))
}

/// Each part of a right answer about Fig. 1 is replaced by a wrong one.
#[test]
fn a_wrong_answer_is_found() {
    let problem: Problem = FIG_1.parse().unwrap();
    let truth = Truth::of(&problem);
    let law = |answer: &Answer| judge(&problem, &truth, answer).map_err(|it| it.law);
    let right = answer(&problem, Question::Verify);
    assert_eq!(law(&right), Ok(()));
    let Conclusion::Unsafe { trace, pattern } = right.conclusion.clone() else { panic!("Fig. 1 is unsafe") };
    let visible = answer(&problem, Question::Visible);
    assert_eq!(law(&visible), Ok(()));
    let Conclusion::Converged(proof) = visible.conclusion.clone() else { panic!("T(R) is known") };
    let concludes = |conclusion| Answer { conclusion, ..right.clone() };
    assert_eq!(law(&concludes(Conclusion::Safe(proof))), Err("safe"));
    let mut shorter = trace.clone();
    shorter.contexts.pop();
    assert_eq!(law(&concludes(Conclusion::Unsafe { trace: shorter, pattern })), Err("unsafe-trace"));
    let unknown = Conclusion::Unknown(cuba::Reason::ContextBound);
    let mut levels = visible.levels.clone();
    assert!(levels.len() > 5);
    assert_eq!(
        law(&Answer { question: Question::Verify, levels: levels.clone(), ..concludes(unknown) }),
        Err("safe-up-to")
    );
    levels[3].1 = levels[3].1.map(|count| count + 1);
    assert_eq!(law(&Answer { levels, ..visible.clone() }), Err("level-counts"));
    let mut fewer = visible.visible.clone();
    let lost: VisibleState = fewer.pop_last().unwrap();
    assert_eq!(law(&Answer { visible: fewer, ..visible.clone() }), Err("converged"), "{lost:?}");
    for (collapse, wrong) in [(4, true), (5, false), (6, true)] {
        let found = law(&Answer { collapse_of_visible: Some(collapse), ..visible.clone() });
        assert_eq!(found, if wrong { Err("collapse-of-visible") } else { Ok(()) }, "{collapse}");
    }
    assert_eq!(
        law(&Answer { upper: vec![Some(7)], levels: visible.levels[..1].to_vec(), ..visible.clone() }),
        Err("upper")
    );
    assert_eq!(law(&Answer { fcr: Some(false), ..visible.clone() }), Err("fcr"));
}

/// The trace goes through a cycle that it does not need.
#[test]
fn a_trace_with_a_detour_is_found() {
    let problem: Problem =
        "shared 0..2; init 0|a; bad 2|*; thread A { symbols a; (0,a) -> (1,a); (1,a) -> (0,a); (1,a) -> (2,a) }"
            .parse()
            .unwrap();
    let truth = Truth::of(&problem);
    assert_eq!((truth.bad, truth.steps), (Some(1), Some(2)));
    let mut found = search_unchecked(&problem, Question::Verify, &LIMITS, |_| ());
    let law = |found: &Analysis<'_>| {
        let answer = Answer::of("default".to_owned(), Question::Verify, found);
        evidence::check(&problem, &answer, found, &truth, None, &mut Tally::default()).map_err(|it| it.law)
    };
    assert_eq!(law(&found), Ok(()));
    let Conclusion::Unsafe { trace, .. } = &mut found.conclusion else { panic!("2 is reached") };
    let round = trace.contexts[0].steps[0].clone();
    let back = TraceStep { rule: 1, state: trace.initial.clone() };
    trace.contexts[0].steps.splice(0..0, [round, back]);
    assert_eq!(law(&found), Err("fewest-steps"));
}

/// The oracle has the bad state with other numbers of contexts than the answer.
#[test]
fn a_wrong_number_of_contexts_is_found() {
    let problem: Problem = FIG_1.parse().unwrap();
    let truth = Truth::of(&problem);
    assert_eq!((truth.bad, truth.may_be_first_bad(4)), (Some(4), true));
    assert!(!truth.may_be_first_bad(3) && !truth.may_be_first_bad(5));
    let right = answer(&problem, Question::Verify);
    for bad in [None, Some(3), Some(5)] {
        let wrong = Truth { bad, ..truth.clone() };
        assert_eq!(judge(&problem, &wrong, &right).map_err(|it| it.law), Err("unsafe-contexts"), "{bad:?}");
    }
}

#[test]
fn answers_that_differ_are_found() {
    let problem: Problem = FIG_1.parse().unwrap();
    let mut agreed = Agreed::default();
    let (verify, visible) = (answer(&problem, Question::Verify), answer(&problem, Question::Visible));
    assert_eq!((agreed.with(&verify), agreed.with(&visible), agreed.with(&verify)), (Ok(()), Ok(()), Ok(())));
    let Conclusion::Converged(proof) = visible.conclusion.clone() else { panic!("T(R) is known") };
    let safe = Answer { conclusion: Conclusion::Safe(proof), ..verify };
    assert_eq!(agreed.clone().with(&safe).unwrap_err().law, "same-verdict");
    let mut fewer = visible.clone();
    fewer.visible.pop_last();
    assert_eq!(agreed.clone().with(&fewer).unwrap_err().law, "same-visible");
    let later = Answer { collapse_of_visible: Some(6), ..visible };
    assert_eq!(agreed.with(&later).unwrap_err().law, "same-collapse-of-visible");
}

/// The models and their expected answers can be read. Writing the suite again gives the same files.
#[test]
fn a_suite_is_written_and_is_the_same_again() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    for folder in &folders {
        suite::write(folder.path(), 40, 5).unwrap();
    }
    let (first, second) = (models(folders[0].path()), models(folders[1].path()));
    assert_eq!(first.len(), 40);
    let mut expected = 0;
    for (model, again) in first.iter().zip(&second) {
        assert_eq!(std::fs::read(model).unwrap(), std::fs::read(again).unwrap());
        let runs = cpds_models::runs(model).unwrap_or_else(|error| panic!("{error}"));
        expected += runs.iter().filter(|run| run.expected.is_some()).count();
    }
    assert!(expected >= 30, "{expected}");
}

/// A trace of the system is a run of the program. With two contexts exchanged, it is not.
#[test]
fn a_trace_that_the_program_cannot_follow_is_found() {
    let text = "decl x = 0; void f() { x := 1; } void g() { assume(x); assert(!x); } \
                void main() { start_thread f(); start_thread g(); }";
    let lowered = boolprog::read(cpds::Source::from(text), &boolprog::Options::default()).unwrap();
    let found = search_unchecked(&lowered.reading.problem, Question::Verify, &LIMITS, |_| ());
    let Conclusion::Unsafe { mut trace, .. } = found.conclusion else { panic!("the assertion fails") };
    assert_eq!(cpds_testing::lowering::replay(&lowered, &trace), Ok(()));
    let last = trace.contexts.len() - 1;
    trace.contexts.swap(last - 1, last);
    assert!(cpds_testing::lowering::replay(&lowered, &trace).is_err());
}

#[test]
fn imports_between_rooms_have_no_cycle() {
    let cycles = cycles(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(cycles.is_empty(), "{}", cycles.join("\n"));
}
