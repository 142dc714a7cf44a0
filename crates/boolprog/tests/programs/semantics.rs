//! The lowered system behaves like the program: compares the naive interpreter of the syntax tree
//! with the naive exploration of the system, level by level.

use boolprog::syntax::{Program, Statement, StatementKind};
use boolprog::{BadStates, Lowered, Options, print, read};
use cpds::Source;
use cpds_testing::corpus::{files, repository};
use cpds_testing::interpreter::{self, Limits, Place, ProjectedFrame, Projection};
use cpds_testing::lowering::{ComparedState, compare, stood_for};
use cpds_testing::oracle;
use cpds_testing::programs::{self, ProgramShape};
use cpds_testing::skipped::Skipped;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use std::collections::BTreeSet;
use std::fs;

/// Compares the program with its system. Returns the number of states, or `None` if there are too
/// many.
fn same(program: &Lowered, limits: Limits) -> Option<usize> {
    let run = compare(program, limits).unwrap_or_else(|why| panic!("{why}:\n{}", program.reading.sources[0].text));
    run.map(|run| run.reachable[limits.contexts].len())
}

/// A program that is shown as text.
#[derive(Clone)]
struct Printed(Program);

impl std::fmt::Debug for Printed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&print(&self.0))
    }
}

fn printed(shape: &ProgramShape) -> impl Strategy<Value = Printed> + use<> {
    programs::program(shape).prop_map(Printed)
}

/// The labels that occur only once in a program, each with the first byte of its statement.
fn labels(program: &Program) -> Vec<(String, u32)> {
    fn collect(statements: &[Statement], found: &mut Vec<(String, u32)>) {
        for statement in statements {
            found.extend(statement.labels.iter().map(|label| (label.text.clone(), statement.at.0.start)));
            match &statement.kind {
                StatementKind::If { then, otherwise, .. } => {
                    collect(then, found);
                    collect(otherwise, found);
                }
                StatementKind::While { body, .. } | StatementKind::Atomic { body, .. } => collect(body, found),
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    program.functions.iter().for_each(|function| collect(&function.body, &mut found));
    let names: Vec<String> = found.iter().map(|(label, _)| label.clone()).collect();
    found.retain(|(label, _)| names.iter().filter(|name| *name == label).count() == 1);
    found
}

/// Limits of the comparison.
const LIMITS: Limits = Limits { contexts: 3, height: 3, states: 3000 };

fn lower(program: &Program, options: &Options) -> Lowered {
    let lowered = read(Source::new("random.bp", print(program)), options);
    lowered.unwrap_or_else(|error| panic!("{error}\n{}", error.sources[0].text))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, max_shrink_iters: 20_000, ..ProptestConfig::default() })]

    /// Programs in which `main` creates threads, up to a limit.
    #[test]
    fn the_system_behaves_like_the_program(Printed(program) in printed(&ProgramShape::default()), threads in 1u32..=2) {
        let lowered = lower(&program, &Options { threads: Some(threads), ..Options::default() });
        prop_assert_eq!(&lowered.program, &program, "the program is the same after printing and reading");
        same(&lowered, LIMITS);
    }

    /// Programs with initial threads, whose functions may have parameters and may also be called.
    #[test]
    fn with_instances(Printed(program) in printed(&ProgramShape { creation: false, ..ProgramShape::default() }), second in any::<prop::sample::Index>()) {
        let name = |index: usize| program.functions[index].name.text.clone();
        let instances = vec![(name(0), 1), (name(second.index(program.functions.len())), 1)];
        same(&lower(&program, &Options { instances, ..Options::default() }), LIMITS);
    }

    /// The number of contexts to a label is the first k for which the interpreter has a thread at
    /// the label. The same holds for the place of a target.
    #[test]
    fn labels_and_targets(Printed(program) in printed(&ProgramShape { asserts: false, locks: false, ..ProgramShape::default() })) {
        let options = Options { threads: Some(1), ..Options::default() };
        let plain = lower(&program, &options);
        let count = plain.reading.problem.system().thread_count();
        let Some(levels) = interpreter::levels(&plain.program, plain.map.threads(), LIMITS) else { return Ok(()) };
        for (label, at) in labels(&plain.program) {
            let stands = |frame: &ProjectedFrame| frame.place == Place::At(at);
            let top = |stack: &Vec<ProjectedFrame>| stack.last().is_some_and(stands);
            let first = |is_there: &dyn Fn(&Projection) -> bool| {
                (0..=LIMITS.contexts).find(|&k| levels.projections(k).iter().any(is_there))
            };
            let found = |bad_states: BadStates| {
                let lowered = lower(&program, &Options { bad_states, ..options.clone() });
                let problem = &lowered.reading.problem;
                oracle::levels(problem.system(), LIMITS.contexts, LIMITS.height).first_violation(problem)
            };
            let expected = first(&|state| state.threads.iter().any(top) || state.pending.iter().flatten().any(stands));
            // A `main` that only starts threads is not a thread. A question about its labels is an
            // error, unless a thread calls it.
            let bad_states = BadStates::Labels(vec![label.clone()]);
            let launcher = plain.map.threads().launcher.map(|main| &plain.program.functions[main]);
            if launcher.is_some_and(|main| (main.name.at.0.start..main.end.0.start).contains(&at))
                && let Err(error) = read(Source::from(&*print(&program)), &Options { bad_states: bad_states.clone(), ..options.clone() })
            {
                prop_assert!(error.to_string().contains("no thread reaches"), "{}", error);
                prop_assert_eq!(expected, None, "label {}", label);
                continue;
            }
            prop_assert_eq!(found(bad_states), expected, "label {}", label);
            for thread in 0..count {
                let places: Vec<_> = (0..count).map(|i| if i == thread { label.as_str() } else { "*" }).collect();
                let expected = first(&|state| top(&state.threads[thread]) && state.shared[0]);
                let target = format!("{}|{}", program.variables.iter().find(|it| !it.is_thread_local).unwrap().name.text, places.join(","));
                prop_assert_eq!(found(BadStates::Targets(vec![Source::from(&*target)])), expected, "{}", target);
            }
        }
    }

    /// If errors are not the question, they do not end a run: all states that are not errors are
    /// still reachable, and there are no errors.
    #[test]
    fn errors_end_no_run_if_they_are_not_the_question(Printed(program) in printed(&ProgramShape::default())) {
        let options = Options { threads: Some(1), ..Options::default() };
        let with = lower(&program, &options);
        let threads = vec!["*"; with.reading.problem.system().thread_count()].join(",");
        let without = lower(&program, &Options { bad_states: BadStates::Targets(vec![Source::from(&*format!("*|{threads}"))]), ..options });
        let states = |lowered: &Lowered| -> BTreeSet<ComparedState> {
            let found = oracle::levels(lowered.reading.problem.system(), 2, 2).reachable.pop().expect("the last level");
            let views = found.iter().map(|state| lowered.map.program_state(state)).filter(|view| !view.is_mid_step);
            views.flat_map(|view| stood_for(&view, &lowered.map)).collect()
        };
        let (with, without) = (states(&with), states(&without));
        let is_error = |state: &&ComparedState| matches!(state, ComparedState::Error(..));
        prop_assert_eq!(without.iter().find(is_error), None);
        prop_assert!(with.iter().filter(|state| !is_error(state)).all(|state| without.contains(state)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, max_shrink_iters: 20_000, ..ProptestConfig::default() })]

    /// Without a limit there is a slot for each created thread: no state has more threads than
    /// slots.
    #[test]
    fn there_is_a_slot_for_each_created_thread(Printed(program) in printed(&ProgramShape { gotos: false, ..ProgramShape::default() })) {
        let Ok(lowered) = read(Source::new("random.bp", print(&program)), &Options::default()) else { return Ok(()) };
        let threads = lowered.map.threads();
        prop_assert_eq!(threads.limit, None);
        let Some(levels) = interpreter::levels(&lowered.program, threads, LIMITS) else { return Ok(()) };
        for state in levels.projections(LIMITS.contexts) {
            let mut stacks = state.threads.iter().skip(threads.roots.iter().map(|&(_, copies)| copies as usize).sum());
            for (pool, pending) in threads.pools.iter().zip(&state.pending) {
                let places = pool.slots as usize;
                let running = stacks.by_ref().take(places).filter(|stack| !stack.is_empty()).count();
                prop_assert!(running + pending.len() <= places, "{} and {} in {places} places", running, pending.len());
            }
        }
    }
}

/// Random programs contain every construct of the grammar.
#[test]
fn every_construct_is_generated() {
    let mut runner = TestRunner::deterministic();
    let strategy = programs::program(&ProgramShape::default());
    let mut text = String::new();
    for _ in 0..1000 {
        text += &print(&strategy.new_tree(&mut runner).unwrap().current());
    }
    let words = "thread_local|:= 0;|:= 1;|void f|bool f|bool<2> f|enforce|skip;|goto |, L|assume(|abortif(|assert(| := call |  call |return;|return |\
                 dead |lock;|unlock;|lock(|unlock(|start_thread f|start_thread goto|end_thread;|atomic_begin;|atomic_end;|atomic {|atomic begin|\
                 if (|} else {|while (| then|else\n|fi;| do\n|od;| constrain | '|_, |*|!|schoose[| ? | : | <=> | => | \\| | ^ | & | = | != |(p0)";
    let words = words.replace("\\|", "\u{1}");
    for word in words.split('|').map(|word| word.replace('\u{1}', "|")) {
        assert!(text.contains(&word), "`{word}` is never generated");
    }
}

/// Small programs for single rules of the lowering: handovers, copies, and ends of threads.
#[test]
fn small_programs() {
    let programs = [
        // A lock that a callee takes, and another callee releases.
        "decl x = 0; void take() { lock(m); } void give() { unlock(m); } \
         void f() { take(); x := !x; give(); } void main() { thread_create(&f); thread_create(&f); }",
        // A return from within an atomic block, without results.
        "decl x = 0; void g() { atomic { x := 1; return; } x := 0; } void f() { g(); x := !x; } \
         void h() { x := 0; g(); } void main() { thread_create(&f); thread_create(&h); }",
        // A return from within the caller's atomic section.
        "decl x = 0; void g() { atomic { x := !x; return; } } void f() { atomic { g(); g(); } x := 0; } \
         void main() { thread_create(&f); thread_create(&f); }",
        // A goto out of an atomic block, and out of an inner one.
        "decl x = 0; void f() { atomic { x := 1; atomic { if (*) { goto out; } goto inner; } inner: x := 0; } out: x := !x; } \
         void main() { thread_create(&f); thread_create(&f); }",
        // An atomic section that a callee begins, and one that a callee ends.
        "decl x = 0; void begin_it() { atomic_begin; } void end_it() { atomic_end; } \
         void f() { begin_it(); x := !x; end_it(); } void g() { atomic { end_it(); x := !x; } } \
         void main() { thread_create(&f); thread_create(&g); }",
        // Copies of live local variables.
        "decl x = 0; void main() { decl a, b; a := *; b := !a; start_thread goto copy; a := 0; copy: x := a; x := b; }",
        "decl x = 0; void f(a) { start_thread goto copy; a := !a; copy: x := a; } void main() { f(*); f(1); x := 0; }",
        // A thread that ends in the middle of calls, in and out of a section.
        "decl x = 0; void g() { if (*) { end_thread; } x := 1; } void f() { g(); x := 0; g(); } \
         void main() { thread_create(&f); thread_create(&f); }",
        "decl x = 0; void g() { end_thread; } void f() { atomic { x := 1; g(); } } void main() { start_thread f(); x := 0; x := 1; }",
        // Results that are assigned to shared variables.
        "decl x = 0; bool<2> g(a) { return a, x; } void f() { decl l; l, x := g(!x); _, x := g(l); } \
         void main() { thread_create(&f); thread_create(&f); }",
        // Thread-local variables, through calls, returns and creations.
        "decl x = 0; thread_local t = 0; void flip() { t := !t; x := t; } void f() { flip(); flip(); x := t; } \
         void main() { flip(); start_thread f(); start_thread goto on; on: x := t; }",
        // A condition that is enforced, across a call.
        "decl x, y = 0; void g() { y := !y; } void f() { enforce !(x & y); x := *; g(); x := 1; } \
         void main() { thread_create(&f); thread_create(&g); }",
        // A condition is not enforced between a return and the assignment of its results.
        "decl x = 0; bool g() { x := 1; return 0; } void f() { enforce !x; x := g(); x := 0; skip; } \
         void main() { thread_create(&f); thread_create(&f); }",
        // Choices with values before and after the assignment.
        "decl x, y; void f() { decl a; x, y := y, * constrain 'x != 'y | a; a := schoose[x, y]; x := a ? y : !y; dead y; } \
         void main() { thread_create(&f); thread_create(&f); }",
        // Created threads that create threads.
        "decl x = 0; void g(a) { x := a; } void f() { start_thread g(0); start_thread g(1); } \
         void main() { f(); if (x) { start_thread f(); } }",
    ];
    for text in programs {
        let program = read(Source::from(text), &Options::default()).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let size = same(&program, Limits { contexts: 4, height: 4, states: 20_000 });
        assert!(size.is_some_and(|size| size >= 10), "{size:?} states of\n{text}");
    }
}

/// All programs of the collection that are small enough.
#[test]
fn the_models_behave_like_their_programs() {
    let (mut compared, mut skipped) = (0, Skipped::default());
    for path in files(&repository().join("models"), "bp") {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        let program = read(Source::new(&name, text), &Options::default()).unwrap_or_else(|error| panic!("{error}"));
        match same(&program, Limits { contexts: 3, height: 4, states: 4000 }) {
            Some(_) => compared += 1,
            None => skipped.add(&name, "there are too many states after three contexts"),
        }
    }
    assert!(compared >= 10, "{compared}");
}
