//! `cpds-check`, which is independent of the engines, accepts the evidence of every answer, and
//! does not accept invalid changes of it.

use crate::laws::{law_on, shapes};
use cpds::{Certificate, Problem, Trace};
use cpds_check::{Claim, Condition, Evidence, Rejected, check};
use cpds_testing::certificates::{CHANGES, changed, changed_traces, contains, is_invariant};
use cpds_testing::corpus::models;
use cpds_testing::families::{Pile, Recursion, stefan};
use cpds_testing::oracle;
use cuba::{Analysis, Conclusion, Options, Question, search_unchecked};
use cuba::{Cancel, Engine, Ladder, Rung};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

fn accept(problem: &Problem, evidence: &Evidence, claim: Claim) -> Result<(), Rejected> {
    check(problem, evidence, claim, &|steps| steps < 1_000_000_000)
}

fn accept_certificate(problem: &Problem, certificate: &Certificate, claim: Claim) -> Result<(), Rejected> {
    accept(problem, &Evidence::Certificate(certificate.clone()), claim)
}

fn accept_trace(problem: &Problem, trace: &Trace, contexts: usize) -> Result<(), Rejected> {
    accept(problem, &Evidence::Trace { trace: trace.clone(), contexts }, Claim::Verdict)
}

/// Checks the evidence of an answer. Returns the certificate, if the answer has one.
pub(crate) fn checked(problem: &Problem, analysis: &Analysis<'_>) -> Option<(Certificate, Claim)> {
    let (proof, claim) = match &analysis.conclusion {
        Conclusion::Safe(proof) => (proof, Claim::Verdict),
        Conclusion::Converged(proof) => (proof, Claim::Exact),
        Conclusion::Unsafe { trace, .. } => {
            assert_eq!(accept_trace(problem, trace, trace.contexts.len()), Ok(()));
            return None;
        }
        Conclusion::Unknown(_) => return None,
        Conclusion::Contradiction(_) => panic!("engines contradict each other"),
    };
    let certificate = analysis.certificate(proof, 1 << 30, &Cancel::default()).expect("it is small");
    assert_eq!(accept_certificate(problem, &certificate, claim), Ok(()), "{proof:?}");
    Some((certificate, claim))
}

/// Returns the kind of proof of an answer.
fn proved_by(analysis: &Analysis<'_>) -> String {
    let is_unsafe = matches!(analysis.conclusion, Conclusion::Unsafe { .. });
    analysis.proved_by().unwrap_or_else(|| if is_unsafe { "a trace" } else { "nothing" }.to_owned())
}

/// Returns all configurations, the default one first.
fn configurations() -> Vec<Options> {
    let limits = Options {
        max_contexts: Some(6),
        max_tuples: Some(500),
        max_depth: Some(2),
        memory: 1 << 23,
        ..Options::default()
    };
    let levels = [Engine::Explicit, Engine::Symbolic];
    let engines = levels.map(|engine| Options { engine: Some(engine), ladder: Ladder::None, ..limits });
    let rungs = [Rung::Z, Rung::MatchedZ, Rung::CutOff(2), Rung::CutOff(3), Rung::Abstract(0), Rung::Abstract(1)];
    let single_rungs = rungs.map(|rung| Options { ladder: Ladder::Only(rung), ..limits });
    let all = [limits, Options { ladder: Ladder::Abstract, ..limits }].into_iter().chain(engines).chain(single_rungs);
    all.flat_map(|options| [options, Options { symmetry: false, ..options }]).collect()
}

/// Checks the answer with each of these configurations, and counts the kinds of proof.
fn check_with(configurations: &[Options], problem: &Problem, found: &mut BTreeMap<String, usize>) {
    for &options in configurations {
        for question in [Question::Verify, Question::Visible] {
            let analysis = search_unchecked(problem, question, &options, |_| ());
            checked(problem, &analysis);
            *found.entry(proved_by(&analysis)).or_default() += 1;
        }
    }
}

#[test]
#[ignore = "a long version: `just long`"]
fn every_model_with_every_configuration_long() {
    let mut found = BTreeMap::new();
    for model in models() {
        check_with(&configurations(), &model.problem, &mut found);
    }
    for proof in ["R_k", "S_k", "Z", "matched-Z", "Z_2", "A_0", "A_1", "A_2", "matched-Z ∩ A_0", "a trace"] {
        assert!(found.contains_key(proof), "{proof}: {found:?}");
    }
}

#[test]
fn families() {
    let recursion = Recursion { threads: 3, depth: 3, shared: 2 }.problem();
    let pile = Pile { threads: 4, symbols: 3 }.problem();
    for problem in [recursion, pile, stefan(5), stefan(12)] {
        for symmetry in [true, false] {
            if !symmetry && problem.system().thread_count() > 5 {
                continue;
            }
            let options = Options { symmetry, ..Options::default() };
            let analysis = search_unchecked(&problem, Question::Visible, &options, |_| ());
            assert!(checked(&problem, &analysis).is_some());
        }
    }
}

/// Two overapproximations that prove safety only together, in a system with interchangeable
/// threads.
#[test]
fn intersections_with_interchangeable_threads() {
    let alone = models().into_iter().find(|model| model.name == "squeeze/get-and-put").expect("a model").problem;
    for threads in [2, 4] {
        let text = cpds::print_cpds(&alone)
            .lines()
            .map(|line| match line.split(' ').next() {
                Some("init") => format!("{line},w0*{threads}\n"),
                Some("bad") => format!("{line},* * {threads}\n"),
                _ => format!("{line}\n"),
            })
            .collect::<String>();
        let steps = "(primary,w0) -> (ask_primary,w1); (primary,w1) -> (ask_primary,w2); (backup,w2) -> (backup,w0 w0)";
        let problem: Problem = format!("{text}\nthread w * {threads} {{ symbols w0 w1 w2; {steps} }}").parse().unwrap();
        for symmetry in [true, false] {
            let options = Options { symmetry, max_contexts: Some(10), max_depth: Some(0), ..Options::default() };
            let analysis = search_unchecked(&problem, Question::Verify, &options, |_| ());
            assert_eq!(proved_by(&analysis), "matched-Z ∩ A_0", "{threads} threads");
            assert!(checked(&problem, &analysis).is_some());
        }
    }
}

/// The campaign does the same with many more systems.
#[test]
fn random_systems_with_every_configuration() {
    let (found, configurations, turn) = (RefCell::new(BTreeMap::new()), configurations(), Cell::new(0));
    law_on(&shapes(), 300, |problem| {
        // The default configuration, and three others in turns.
        turn.set(turn.get() % (configurations.len() - 3) + 1);
        check_with(&configurations[..1], problem, &mut found.borrow_mut());
        check_with(&configurations[turn.get()..][..3], problem, &mut found.borrow_mut());
        true
    });
    let found = found.into_inner();
    for proof in ["R_k", "S_k", "Z", "matched-Z", "Z_2", "Z_3", "A_0", "A_1", "a trace"] {
        assert!(found.get(proof).is_some_and(|&count| count > 7), "{proof}: {found:?}");
    }
}

/// A changed certificate may still be valid: it may have lost an unnecessary tuple, or have
/// additional ones. The checker must accept it exactly if it meets the conditions, taken literally.
/// An accepted certificate must contain every reachable state and no bad state. Most changes make a
/// certificate invalid.
#[test]
fn changed_certificates() {
    let counts: RefCell<BTreeMap<&str, [usize; 2]>> = RefCell::default();
    let at = Cell::new(0_usize);
    law_on(&shapes(), 200, |problem| {
        let levels = oracle::levels(problem.system(), 3, 4);
        let reached = levels.reachable.last().expect("R_0");
        let rungs = [Rung::Z, Rung::MatchedZ, Rung::Abstract(1)].map(Ladder::Only);
        for ladder in [Ladder::All, Ladder::None].into_iter().chain(rungs) {
            for question in [Question::Verify, Question::Visible] {
                let options = Options {
                    ladder,
                    max_contexts: Some(5),
                    max_tuples: Some(100),
                    max_depth: Some(1),
                    memory: 1 << 23,
                    ..Options::default()
                };
                let analysis = search_unchecked(problem, question, &options, |_| ());
                let Some((certificate, claim)) = checked(problem, &analysis) else { continue };
                for what in CHANGES {
                    at.set(at.get().wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
                    let Some(changed) = changed(&certificate, what, at.get() >> 33) else { continue };
                    let accepted = accept_certificate(problem, &changed, Claim::Verdict);
                    let is_accepted = accepted.is_ok();
                    counts.borrow_mut().entry(what).or_default()[usize::from(is_accepted)] += 1;
                    let is_automaton = !matches!(accepted, Err(Rejected::Malformed(_)));
                    let is_group = !matches!(accepted, Err(Rejected::Violated(Condition::Groups, _)));
                    if is_automaton && is_group {
                        assert_eq!(is_accepted, is_invariant(problem, &changed), "{what}: {accepted:?}");
                    }
                    if is_accepted || accept_certificate(problem, &changed, claim).is_ok() {
                        let lost = reached.iter().find(|state| !contains(&changed, state));
                        assert_eq!(lost, None, "{what}: a reachable state is lost");
                    }
                    assert!(!is_accepted || !reached.iter().any(|state| problem.is_bad(state)), "{what}");
                }
            }
        }
        true
    });
    for (what, [rejected, accepted]) in counts.into_inner() {
        assert!(rejected > 50, "{what}: {rejected} rejected, {accepted} accepted");
    }
}

/// If a bad state is reachable, no certificate is accepted.
#[test]
fn no_certificate_is_accepted_for_an_unsafe_system() {
    let (tried, configurations, turn) = (Cell::new(0), configurations(), Cell::new(0));
    law_on(&shapes(), 250, |problem| {
        if oracle::levels(problem.system(), 3, 4).first_violation(problem).is_none() {
            return false;
        }
        turn.set((turn.get() + 1) % configurations.len());
        for options in [configurations[0], configurations[turn.get()]] {
            let analysis = search_unchecked(problem, Question::Visible, &options, |_| ());
            let Some((certificate, _)) = checked(problem, &analysis) else { continue };
            for (at, what) in CHANGES.iter().enumerate() {
                for changed in [changed(&certificate, what, at * 31), Some(certificate.clone())].into_iter().flatten() {
                    assert!(accept_certificate(problem, &changed, Claim::Verdict).is_err(), "{what}");
                    tried.set(tried.get() + 1);
                }
            }
        }
        true
    });
    assert!(tried.get() > 500, "{}", tried.get());
}

/// Nearly every change makes a trace invalid.
#[test]
fn a_changed_trace_is_rejected() {
    let tried = Cell::new(0);
    law_on(&shapes(), 1500, |problem| {
        let options = Options { max_contexts: Some(5), memory: 1 << 23, ..Options::default() };
        let Conclusion::Unsafe { trace, .. } = search_unchecked(problem, Question::Verify, &options, |_| ()).conclusion
        else {
            return false;
        };
        let contexts = trace.contexts.len();
        assert_eq!(accept_trace(problem, &trace, contexts), Ok(()));
        assert!(accept_trace(problem, &trace, contexts + 1).is_err());
        assert!(contexts == 0 || accept_trace(problem, &trace, contexts - 1).is_err());
        for changed in changed_traces(&trace) {
            let accepted = accept_trace(problem, &changed, changed.contexts.len());
            // The changed trace may still be a run to a bad state, by the step relation of `cpds`.
            let is_one = changed.replay(problem.system()).is_ok() && problem.is_bad(changed.last());
            assert_eq!(accepted.is_ok(), is_one, "{accepted:?}");
            tried.set(tried.get() + usize::from(!is_one));
        }
        true
    });
    assert!(tried.get() > 1000, "{}", tried.get());
}
