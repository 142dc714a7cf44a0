//! The answers of an exploration that reaches a limit.

use cpds::{Problem, VisibleState};
use cuba::{Analysis, Conclusion, Options, Proof, Question, Reason, search_unchecked};
use cuba::{Count, Engine, LevelStore, Outcome, Rung};
use std::collections::BTreeSet;

fn problem(text: &str) -> Problem {
    text.parse().unwrap()
}

fn verify(problem: &Problem, options: Options) -> Analysis<'_> {
    search_unchecked(problem, Question::Verify, &options, |_| ())
}

fn by(rung: Rung) -> Conclusion {
    Conclusion::Safe(Proof::Bounded(vec![rung]))
}

const FIG_1: &str = include_str!("../../../../models/paper/fig1.cpds");

#[test]
fn safe_up_to_a_bound_is_not_safe() {
    let problem = problem(FIG_1);
    for k in 0..=3 {
        let bounded = verify(&problem, Options { max_contexts: Some(k), ..Options::default() });
        assert_eq!(bounded.conclusion, Conclusion::Unknown(Reason::ContextBound), "k = {k}");
        assert_eq!(bounded.level_store.k(), k);
    }
    let enough = verify(&problem, Options { max_contexts: Some(4), ..Options::default() });
    assert!(matches!(enough.conclusion, Conclusion::Unsafe { .. }));
}

/// At the first plateau of Fig. 1, two visible states are neither reached nor ruled out. One of
/// them is bad; it is the generator of Ex. 14.
#[test]
fn states_that_are_neither_reached_nor_ruled_out_are_listed() {
    let problem = problem(FIG_1);
    let bounded = verify(&problem, Options { max_contexts: Some(3), ..Options::default() });
    let between = bounded.between.expect("Z is known");
    assert_eq!(between.count, Count::from(2));
    let shown = |states: &BTreeSet<VisibleState>| -> Vec<String> {
        states.iter().map(|state| problem.system().paper(state).to_string()).collect()
    };
    assert_eq!(shown(&between.states), ["⟨0|1,6⟩", "⟨1|2,6⟩"]);
    assert_eq!(shown(&between.bad), ["⟨0|1,6⟩"]);
}

#[test]
fn if_z_has_no_bad_state_there_is_an_answer_without_exploration() {
    let text = FIG_1.replace("bad  0|1,6", "bad  2|1,*");
    let problem = problem(&text);
    let found = verify(&problem, Options { max_contexts: Some(0), ..Options::default() });
    assert_eq!(found.conclusion, by(Rung::Z));
    assert_eq!((found.level_store.k(), found.level_store.snapshot().expansions), (0, 0));
    assert_eq!(found.between, None, "there is an answer");
}

/// A bad initial state needs no context.
#[test]
fn a_bad_initial_state() {
    let text = FIG_1.replace("bad  0|1,6", "bad  0|1,4");
    let problem = problem(&text);
    let found = verify(&problem, Options::default());
    let Conclusion::Unsafe { trace, .. } = found.conclusion else { panic!("unsafe") };
    assert_eq!((trace.contexts.len(), trace.replay(problem.system())), (0, Ok(())));
}

/// The thread pops a stack of n symbols, one after the other. The states of the trace have n²/2
/// symbols together, which exceeds the limit of 2^26.
#[test]
fn a_trace_that_is_too_long_is_not_made() {
    let popping = |symbols: usize| {
        let stack = ["a"].repeat(symbols).join(" ");
        problem(&format!("shared 0; init 0|{stack}; bad 0|-; thread A {{ symbols a; (0,a) -> (0,-) }}"))
    };
    let (short, long) = (popping(2000), popping(12_000));
    let Conclusion::Unsafe { trace, .. } = verify(&short, Options::default()).conclusion else { panic!("unsafe") };
    assert_eq!((trace.contexts.len(), trace.replay(short.system())), (1, Ok(())));
    assert_eq!(verify(&long, Options::default()).conclusion, Conclusion::Unknown(Reason::LongTrace { contexts: 1 }));
}

/// A single language has 2^h stacks of each height h.
#[test]
fn an_infinite_context_is_one_language() {
    let problem = problem(
        "shared 0; init 0|a,x; bad 0|b,y\nthread A { symbols a b c; (0,a) -> (0,a b); (0,a) -> (0,a c) }\nthread B { symbols x y }",
    );
    let found = verify(&problem, Options { memory: 1 << 24, ..Options::default() });
    assert_eq!(found.conclusion, by(Rung::Z), "y is never on top");
    let found = search_unchecked(&problem, Question::Reachable, &Options::default(), |_| ());
    assert_eq!(found.conclusion, Conclusion::Converged(Proof::LowerCollapsed));
    let LevelStore::Symbolic(tuples) = &found.level_store else { panic!("finite context reachability does not hold") };
    assert_eq!((tuples.k(), tuples.kept(), tuples.languages().len()), (2, 2, 4), "∅, a, x, a(b ∪ c)*");
    assert_eq!(found.collapse_of_states, Some(1));
    // The explicit engine explores states until its memory is full.
    let options = Options { engine: Some(Engine::Explicit), memory: 1 << 24, ..Options::default() };
    let found = search_unchecked(&problem, Question::Reachable, &options, |_| ());
    assert_eq!((found.conclusion, found.level_store.k()), (Conclusion::Unknown(Reason::Memory), 0));
    // But T(R) is known before that.
    let found = search_unchecked(&problem, Question::Visible, &options, |_| ());
    assert_eq!((found.k(), found.conclusion), (0, Conclusion::Converged(Proof::Bounded(vec![Rung::Z]))));
}

/// A bad state that is found during an infinite context is reachable.
#[test]
fn a_bad_state_within_an_infinite_context() {
    let problem = problem("shared 0 1; init 0|a; bad 1|b\nthread A { symbols a b; (0,a) -> (0,a a); (0,a) -> (1,b) }");
    let found = verify(&problem, Options::default());
    let Conclusion::Unsafe { trace, .. } = found.conclusion else { panic!("unsafe") };
    assert_eq!((trace.contexts.len(), trace.replay(problem.system())), (1, Ok(())));
}

/// Three counters: more states than the memory allows.
#[test]
fn the_memory_is_limited() {
    let symbols: Vec<String> = (0..200).map(|i| format!("a{i}")).collect();
    let steps: Vec<String> = symbols.windows(2).map(|pair| format!("(0,{}) -> (0,{})", pair[0], pair[1])).collect();
    let text = format!(
        "shared 0; init 0|a0,a0,a0; bad 0|-,*,*\nthread A * 3 {{ symbols {}\n{}\n(0,a199) -> (0,-) }}",
        symbols.join(" "),
        steps.join("\n")
    );
    let problem = problem(&text);
    let options = Options { memory: 1 << 24, ..Options::default() };
    let found = search_unchecked(&problem, Question::Visible, &options, |_| ());
    assert_eq!(found.conclusion, Conclusion::Unknown(Reason::Memory));
    let z = found.rungs.iter().find(|climbed| climbed.rung == Rung::Z).expect("Z is the first rung");
    assert_eq!(z.outcome, Outcome::TooLarge, "Z exceeds the memory too");
    assert!(found.level_store.snapshot().bytes < 1 << 24);
    let enough = verify(&problem, Options { memory: 1 << 27, ..Options::default() });
    let Conclusion::Unsafe { trace, .. } = enough.conclusion else { panic!("unsafe") };
    assert_eq!((trace.contexts.len(), trace.contexts[0].steps.len()), (1, 200));
}

/// R_k of Fig. 1 grows by three states with each context, without end. No level is large, but all
/// levels together are.
#[test]
fn the_memory_is_limited_over_many_small_levels() {
    let problem = problem(FIG_1);
    let options = Options { memory: 1 << 24, ..Options::default() };
    let found = search_unchecked(&problem, Question::Reachable, &options, |_| ());
    assert_eq!(found.conclusion, Conclusion::Unknown(Reason::Memory));
    assert_eq!(found.visible_sequence.collapse(), Some(5));
}

/// Each of two symbols can call both, and sixty steps lead to the bad state. The search for the
/// trace must not visit 2^60 stacks.
#[test]
fn a_trace_within_an_infinite_context() {
    let steps: Vec<String> = (0..60).map(|i| format!("(0,d{i}) -> (0,d{})", i + 1)).collect();
    let symbols: Vec<String> = (0..=60).map(|i| format!("d{i}")).collect();
    let text = format!(
        "shared 0; init 0|x; bad 0|d60\nthread A {{ symbols x y {}\n(0,x) -> (0,x x)\n(0,x) -> (0,y x)\n(0,y) -> (0,x y)\n\
         (0,y) -> (0,y y)\n(0,x) -> (0,d0)\n{}\n}}",
        symbols.join(" "),
        steps.join("\n")
    );
    let problem = problem(&text);
    let found = verify(&problem, Options::default());
    assert_eq!(found.fcr.expect("small").holds(), Some(false));
    let Conclusion::Unsafe { trace, .. } = found.conclusion else { panic!("unsafe") };
    assert_eq!((trace.contexts.len(), trace.contexts[0].steps.len()), (1, 61));
    assert_eq!(trace.replay(problem.system()), Ok(()));
}

/// Z has millions of transitions and no bad state. The lower search has no answer, so the analysis
/// waits for Z.
#[test]
fn z_is_finished_if_there_is_no_other_answer() {
    let counter = |name: &str| {
        let symbols: Vec<String> = (0..110).map(|i| format!("{name}{i}")).collect();
        let steps: Vec<String> = symbols.windows(2).map(|pair| format!("(0,{}) -> (0,{})", pair[0], pair[1])).collect();
        format!("thread {name} {{ symbols {}\n{}\n}}\n", symbols.join(" "), steps.join("\n"))
    };
    let counters = ["b", "c", "d"].map(counter).concat();
    let text =
        format!("shared 0 1; init 0|x,b0,c0,d0; bad 1|*,*,*,*\nthread A {{ symbols x; (0,x) -> (0,x x) }}\n{counters}");
    let problem = problem(&text);
    let options = Options { max_contexts: Some(0), ..Options::default() };
    assert_eq!(verify(&problem, options).conclusion, by(Rung::Z));
    // With another context, (S_k) collapses before Z is finished.
    assert_eq!(verify(&problem, Options::default()).conclusion, Conclusion::Safe(Proof::LowerCollapsed));
}

/// With every amount of memory there is an answer, and it is not wrong.
#[test]
fn hardly_any_memory() {
    let problem = problem(include_str!("../../../../models/paper/stefan4.cpds"));
    for memory in [0, 1000, 4000, 8000, 16_000, 32_000, 64_000] {
        for engine in [None, Some(Engine::Explicit), Some(Engine::Symbolic)] {
            let options = Options { engine, memory, ..Options::default() };
            let found = search_unchecked(&problem, Question::Reachable, &options, |_| ());
            let (contexts, visible) = (found.k(), found.levels.last().expect("S_0 at least").visible);
            assert_eq!(visible, Count::from([1, 17, 83, 191, 254][contexts.min(4)]));
            match found.conclusion {
                Conclusion::Unknown(Reason::Memory) => {}
                Conclusion::Converged(Proof::LowerCollapsed) => assert_eq!(contexts, 9),
                other => panic!("{other:?}"),
            }
        }
    }
}

/// Twenty unlike threads with eight tops each have few tuples, but more visible states than fit
/// into any memory.
#[test]
fn too_many_visible_states() {
    let symbols: Vec<String> = (0..8).map(|i| format!("a{i}")).collect();
    let thread = |t: usize| {
        let calls: Vec<String> = (0..8).map(|i| format!("(0,a{i}) -> (0,a{} a{i})", (i + t + 1) % 8)).collect();
        format!("thread T{t} {{ symbols {}\n{}\n}}\n", symbols.join(" "), calls.join("\n"))
    };
    let threads: String = (0..20).map(thread).collect();
    let problem = problem(&format!("shared 0; init 0|a0*20\n{threads}"));
    let options = Options { memory: 1 << 24, ..Options::default() };
    let found = search_unchecked(&problem, Question::Visible, &options, |_| ());
    assert_eq!(found.conclusion, Conclusion::Unknown(Reason::Memory));
    assert!(found.level_store.snapshot().bytes < 1 << 25);
}

/// Below the top are words over l and r with an l at the 40th place from the bottom. A
/// deterministic automaton that reads them from the top down has 2^40 states, which exceeds the
/// limit.
#[test]
fn a_language_that_blows_up() {
    let either = |i: u32, to: u32| format!("(0,c{i}) -> (0,c{to} l)\n(0,c{i}) -> (0,c{to} r)");
    let rules: Vec<String> = (0..39).map(|i| either(i, i + 1)).collect();
    let symbols: Vec<String> = (0..=40).map(|i| format!("c{i}")).collect();
    let text = format!(
        "shared 0; init 0|c0; thread A {{ symbols l r {}\n{}\n(0,c39) -> (0,c40 l)\n{}\n}}",
        symbols.join(" "),
        rules.join("\n"),
        either(40, 40)
    );
    let problem = problem(&text);
    let found =
        search_unchecked(&problem, Question::Reachable, &Options { memory: 1 << 24, ..Options::default() }, |_| ());
    assert_eq!((found.conclusion, found.level_store.k()), (Conclusion::Unknown(Reason::Memory), 0));
    assert!(found.level_store.snapshot().bytes < 1 << 24);
}
