//! The engines on every model of the collection.

use cpds_testing::corpus::{Answers, Model, Verdict, run};
use cuba::engine::Engine;
use cuba::engine::analysis::{Conclusion, Options, Question, analyse};

#[test]
fn the_engines_agree_with_every_model() {
    for symmetry in [true, false] {
        run("the engine that is chosen", |model| answers(model, None, symmetry));
        run("the symbolic engine", |model| answers(model, Some(Engine::Symbolic), symmetry));
    }
}

fn answers(Model { name, problem, expected }: &Model, engine: Option<Engine>, symmetry: bool) -> Answers {
    let contexts = expected.visible.len() + 12;
    let options = Options { engine, symmetry, max_contexts: Some(contexts), ..Options::default() };
    let reached = analyse(problem, Question::Reachable, options, |_| ());
    let count = |count: cuba::engine::Count| usize::try_from(count.exact().expect("few")).expect("few");
    let visible: Vec<usize> = reached.levels.iter().map(|level| count(level.visible)).collect();
    let verified = analyse(problem, Question::Verify, options, |_| ());
    Answers {
        fcr: reached.fcr.as_ref().map(cuba::engine::Fcr::holds),
        reachable: reached.levels.iter().map(|level| level.reachable.map(count)).collect(),
        visible_total: reached.visible_sequence.collapse().map(|k| visible[k]),
        collapse_reachable: reached.collapse_of_states,
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
            Conclusion::Converged(_) | Conclusion::Contradiction(_) => panic!("that was not the question"),
        },
    }
}
