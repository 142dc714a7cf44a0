//! The engines on every model of the collection.

use crate::evidence::checked;
use cpds_testing::corpus::{Answers, Model, Verdict, models, run};
use cuba::{Conclusion, Options, Question, Reason, search_unchecked};
use cuba::{Engine, Rung};

#[test]
fn the_engines_give_the_expected_answers_for_every_model() {
    for symmetry in [true, false] {
        run("the default engine", |model| answers(model, None, symmetry));
        run("the symbolic engine", |model| answers(model, Some(Engine::Symbolic), symmetry));
    }
}

fn answers(Model { problem, expected, .. }: &Model, engine: Option<Engine>, symmetry: bool) -> Answers {
    let contexts = expected.visible.len() + 12;
    let options = Options { engine, symmetry, max_contexts: Some(contexts), ..Options::default() };
    let reached = search_unchecked(problem, Question::Reachable, &options, |_| ());
    let count = |count: cuba::Count| usize::try_from(count.exact().expect("few")).expect("few");
    let visible: Vec<usize> = reached.levels.iter().map(|level| count(level.visible)).collect();
    // A decidable model needs no limit.
    let is_final = engine.is_none();
    let limit = options.max_contexts.filter(|_| !is_final || expected.undecided.is_some());
    let verified = search_unchecked(problem, Question::Verify, &Options { max_contexts: limit, ..options }, |_| ());
    checked(problem, &reached);
    checked(problem, &verified);
    Answers {
        fcr: reached.fcr.as_ref().and_then(cuba::Fcr::holds),
        reachable: reached.levels.iter().map(|level| level.reachable.map(count)).collect(),
        visible_total: reached.visible_sequence.collapse().map(|k| visible[k]),
        collapse_reachable: reached.collapse_of_states,
        collapse_visible: reached.visible_sequence.collapse(),
        visible: Some(visible),
        // Without symmetry there is more work, so another proof may be found first.
        proved_by: verified.proved_by().filter(|_| is_final && symmetry),
        is_final,
        verdict: match verified.conclusion {
            Conclusion::Safe(_) => Some((Verdict::Safe, None)),
            Conclusion::Unsafe { trace, .. } => Some((Verdict::Unsafe, Some(trace.contexts.len()))),
            Conclusion::Unknown(_) => None,
            Conclusion::Converged(_) | Conclusion::Contradiction(_) => panic!("a conclusion of another question"),
        },
    }
}

/// The undecided models have no answer, with each engine and with a deep ladder.
#[test]
fn undecided_models_are_undecided_at_any_depth() {
    for Model { name, problem, .. } in models().iter().filter(|model| model.expected.undecided.is_some()) {
        for engine in [None, Some(Engine::Symbolic)] {
            let options = Options { engine, max_contexts: Some(12), max_depth: Some(6), ..Options::default() };
            let analysis = search_unchecked(problem, Question::Verify, &options, |_| ());
            assert_eq!(analysis.conclusion, Conclusion::Unknown(Reason::ContextBound), "{name}");
            assert_eq!(analysis.rungs.last().map(|climbed| climbed.rung), Some(Rung::Abstract(6)), "{name}");
        }
    }
}
