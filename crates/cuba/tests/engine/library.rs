//! The library as other programs use it: answers with evidence, cancellation, and several analyses
//! in one process.

use cpds::Problem;
use cpds_check::{Claim, Evidence, check};
use cuba::{AnswerEvent, Cancel, Control, Halt, Options, Question, Reason, Verdict, answer, reach, verify};
use std::thread;
use std::time::Duration;

const UNSAFE: &str = include_str!("../../../../models/paper/fig1.cpds");
const SAFE: &str = include_str!("../../../../models/squeeze/get-and-put.cpds");
/// A system on which an analysis without limits does not end, because no rung decides it.
const ENDLESS: &str = include_str!("../../../../models/squeeze/mirror.cpds");

fn problem(text: &str) -> Problem {
    text.parse().expect("a model")
}

/// Starts an analysis, and cancels it when both searches are running.
fn cancelled(problem: &Problem) -> Verdict<'static> {
    let cancel = Cancel::new();
    let control = Control { cancel: cancel.clone(), ..Control::default() };
    let mut heard = 0;
    let answer = answer(problem, Question::Verify, &Options::default(), control, |event| {
        heard += usize::from(matches!(event, AnswerEvent::Search(_)));
        if heard > 20 {
            cancel.stop(Halt::Interrupted);
        }
    });
    match answer.expect("no mistake").verdict() {
        Verdict::Unknown(reason) => Verdict::Unknown(reason),
        _ => panic!("an endless run has no answer"),
    }
}

#[test]
fn every_answer_has_accepted_evidence() {
    let (safe, bad) = (problem(SAFE), problem(UNSAFE));
    let answer = verify(&safe, &Options::default()).unwrap();
    let Verdict::Safe { certificate: Some(certificate), .. } = answer.verdict() else { panic!("safe") };
    check(&safe, &Evidence::Certificate(certificate.clone()), Claim::Verdict, &|_| true).unwrap();
    assert!(answer.evidence.as_ref().is_some_and(|made| made.check.is_some()));

    let answer = verify(&bad, &Options::default()).unwrap();
    let Verdict::Unsafe { trace, pattern } = answer.verdict() else { panic!("unsafe") };
    assert_eq!((trace.contexts.len(), pattern), (4, 0));
    assert!(answer.evidence.as_ref().is_some_and(|made| made.check.is_some()));

    let answer = reach(&bad, &Options::default()).unwrap();
    let Verdict::Converged { certificate: Some(certificate), .. } = answer.verdict() else { panic!("converged") };
    check(&bad, &Evidence::Certificate(certificate.clone()), Claim::Exact, &|_| true).unwrap();
}

#[test]
fn a_cancelled_analysis_can_be_repeated() {
    let endless = problem(ENDLESS);
    for _ in 0..2 {
        assert!(matches!(cancelled(&endless), Verdict::Unknown(Reason::Interrupted)));
    }
    let safe = problem(SAFE);
    let stopped = Cancel::new();
    stopped.stop(Halt::Interrupted);
    let control = Control { cancel: stopped, ..Control::default() };
    let none = answer(&safe, Question::Verify, &Options::default(), control, |_| ()).unwrap();
    assert!(matches!(none.verdict(), Verdict::Unknown(Reason::Interrupted)));
    assert!(matches!(verify(&safe, &Options::default()).unwrap().verdict(), Verdict::Safe { .. }));
}

/// One analysis is cancelled while others find their answers.
#[test]
fn parallel_analyses_are_independent() {
    let (safe, bad, endless) = (problem(SAFE), problem(UNSAFE), problem(ENDLESS));
    thread::scope(|scope| {
        let endless = scope.spawn(|| cancelled(&endless));
        let others: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let safe = verify(&safe, &Options::default()).unwrap();
                    let bad = verify(&bad, &Options::default()).unwrap();
                    assert!(matches!(safe.verdict(), Verdict::Safe { .. }));
                    assert!(matches!(bad.verdict(), Verdict::Unsafe { .. }));
                })
            })
            .collect();
        for other in others {
            other.join().unwrap();
        }
        assert!(matches!(endless.join().unwrap(), Verdict::Unknown(Reason::Interrupted)));
    });
}

/// A caller may stop a token for any reason.
#[test]
fn every_reason_to_stop_ends_without_an_answer() {
    let endless = problem(ENDLESS);
    for why in [Halt::Superseded, Halt::Interrupted, Halt::TimeOut, Halt::Memory, Halt::Lost] {
        let cancel = Cancel::new();
        cancel.stop(why);
        let control = Control { cancel, ..Control::default() };
        let answer = answer(&endless, Question::Verify, &Options::default(), control, |_| ()).unwrap();
        assert!(matches!(answer.verdict(), Verdict::Unknown(reason) if reason == Reason::from(why)), "{why}");
    }
}

/// A slow function for events delays the end of an analysis by a few events, and a panic in it ends
/// the analysis.
#[test]
fn the_function_for_events_may_be_slow_or_panic() {
    let endless = problem(ENDLESS);
    let options = Options { timeout: Some(Duration::from_millis(50)), ..Options::default() };
    let mut events = 0;
    let answer_of_slow = answer(&endless, Question::Verify, &options, Control::default(), |_| {
        events += 1;
        thread::sleep(Duration::from_millis(2));
    });
    assert!(matches!(answer_of_slow.unwrap().verdict(), Verdict::Unknown(Reason::TimeOut)));
    assert!(events < 1000, "{events} events");

    let panicked = thread::scope(|scope| {
        let analysis = || {
            let _ = answer(&endless, Question::Verify, &Options::default(), Control::default(), |event| {
                assert!(!matches!(event, AnswerEvent::Search(_)), "as intended");
            });
        };
        scope.spawn(analysis).join().is_err()
    });
    assert!(panicked);
}

#[path = "../../examples/build.rs"]
mod build;
#[path = "../../examples/program.rs"]
mod program;
#[path = "../../examples/verify.rs"]
mod verify_example;
#[path = "../../examples/visible_states.rs"]
mod visible_states;

#[test]
fn the_examples_run() {
    verify_example::main().unwrap();
    visible_states::main().unwrap();
    build::main().unwrap();
    program::main().unwrap();
}
