//! Every answer is checked by `cpds-check`, which knows nothing of the engines.

use cpds::{Certificate, Problem};
use cpds_check::{Claim, Evidence, Rejected, check};
use cpds_testing::artifact::{KNOWN, names};
use cpds_testing::corpus::{artifact, models};
use cpds_testing::random::{Shape, problem};
use cuba::engine::analysis::{Analysis, Conclusion, Options, Question, analyse};
use cuba::engine::{Engine, Ladder, Rung};
use proptest::prelude::*;

const MEMORY: usize = 1 << 30;

fn accept(problem: &Problem, evidence: &Evidence, claim: Claim) -> Result<(), Rejected> {
    check(problem, evidence, claim, &|steps| steps < 1_000_000_000)
}

/// Checks an answer, if there is one; gives the certificate, if it has one.
pub(crate) fn checked(problem: &Problem, analysis: &Analysis<'_>) -> Option<Certificate> {
    let (proof, claim) = match &analysis.conclusion {
        Conclusion::Safe(proof) => (proof, Claim::Verdict),
        Conclusion::Converged(proof) => (proof, Claim::Exact),
        Conclusion::Unsafe { trace, .. } => {
            let evidence = Evidence::Trace { trace: trace.clone(), contexts: trace.contexts.len() };
            assert_eq!(accept(problem, &evidence, Claim::Verdict), Ok(()));
            return None;
        }
        Conclusion::Unknown(_) => return None,
        Conclusion::Contradiction(_) => panic!("engines contradict each other"),
    };
    let evidence = Evidence::Certificate(analysis.certificate(proof, MEMORY).expect("it is small"));
    assert_eq!(accept(problem, &evidence, claim), Ok(()), "{proof:?} of {}", cpds::print_cpds(problem));
    let Evidence::Certificate(certificate) = evidence else { unreachable!("made above") };
    Some(certificate)
}

/// Each way to come to an answer.
fn ways() -> impl Iterator<Item = Options> {
    let levels = [None, Some(Engine::Explicit), Some(Engine::Symbolic)];
    let below = levels.map(|engine| Options { engine, ladder: Ladder::None, ..Options::default() });
    let rungs = [Rung::Z, Rung::MatchedZ, Rung::CutOff(2), Rung::CutOff(3), Rung::Abstract(0), Rung::Abstract(1)];
    let above = rungs.map(|rung| Options { ladder: Ladder::Only(rung), ..Options::default() });
    let others = [Options::default(), Options { ladder: Ladder::Abstract, ..Options::default() }];
    let all = below.into_iter().chain(above).chain(others);
    all.flat_map(|options| [options, Options { symmetry: false, ..options }])
}

fn every_way(problem: &Problem, limits: Options) {
    for way in ways() {
        for question in [Question::Verify, Question::Visible] {
            let options = Options {
                max_contexts: limits.max_contexts,
                max_tuples: limits.max_tuples,
                max_depth: limits.max_depth,
                memory: limits.memory,
                ..way
            };
            checked(problem, &analyse(problem, question, options, |_| ()));
        }
    }
}

fn limits(max_contexts: usize) -> Options {
    Options {
        max_contexts: Some(max_contexts),
        max_tuples: Some(2000),
        max_depth: Some(2),
        memory: 1 << 26,
        ..Options::default()
    }
}

#[test]
fn every_model_in_every_way() {
    for model in models() {
        every_way(&model.problem, limits(10));
    }
}

#[test]
fn table_2() {
    let Some(folder) = artifact(&names(&KNOWN)) else { return };
    for known in &KNOWN {
        let problem = known.read(&folder);
        for question in [Question::Verify, Question::Visible] {
            let analysis = analyse(&problem, question, Options::default(), |_| ());
            let start = std::time::Instant::now();
            let found = checked(&problem, &analysis);
            if let Some(found) = found {
                eprintln!(
                    "{} {question:?}: {} tuples, {} languages {} transitions, {:?}",
                    known.file,
                    found.tuples().len(),
                    found.automaton.len(),
                    found.automaton.transition_count(),
                    start.elapsed()
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn random_systems_in_every_way(problem in problem(&Shape::default())) {
        every_way(&problem, limits(6));
    }
}
