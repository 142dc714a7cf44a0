//! The explicit engine on every model of the collection.

use cpds_testing::corpus::{Answers, Model, Verdict, run};
use cuba::engine::analysis::{Conclusion, Options, Question, analyse};

#[test]
fn the_explicit_engine_agrees_with_every_model() {
    for symmetry in [true, false] {
        run("the explicit engine", |model| answers(model, symmetry));
    }
}

fn answers(Model { name, problem, expected }: &Model, symmetry: bool) -> Answers {
    let options = Options { symmetry, max_contexts: Some(expected.visible.len() + 5), ..Options::default() };
    let reached = analyse(problem, Question::Reachable, options, |_| ());
    let count = |count: cuba::engine::Count| usize::try_from(count.exact().expect("few")).expect("few");
    let visible: Vec<usize> = reached.levels.iter().map(|level| count(level.visible)).collect();
    let verified = analyse(problem, Question::Verify, options, |_| ());
    Answers {
        fcr: reached.fcr(),
        reachable: expected.fcr.then(|| reached.levels.iter().map(|level| count(level.reachable)).collect()),
        visible_total: reached.visible_sequence.collapse().map(|k| visible[k]),
        collapse_reachable: reached.reachable_sequence.collapse(),
        collapse_visible: reached.visible_sequence.collapse(),
        visible: Some(visible),
        verdict: match verified.conclusion {
            Conclusion::Safe(_) => Some((Verdict::Safe, None)),
            Conclusion::Unsafe { trace, .. } => {
                assert_eq!(trace.replay(problem.system()), Ok(()), "{name}");
                assert!(problem.is_bad(trace.last()), "{name}");
                Some((Verdict::Unsafe, Some(trace.contexts.len())))
            }
            Conclusion::Unknown(_) => None,
            Conclusion::Converged(_) => panic!("that was not the question"),
        },
    }
}
