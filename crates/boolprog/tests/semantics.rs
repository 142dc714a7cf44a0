//! The lowered system does what the program does: the naive interpreter of the syntax tree against the naive exploration of the system, level by
//! level.

use boolprog::syntax::Program;
use boolprog::{Asked, FramePlace, FrameView, Lowered, Options, SourceMap, StepKind, View, print, read};
use cpds::Source;
use cpds_testing::corpus::{Skipped, files, repository};
use cpds_testing::interpreter::{self, ErrorKind, Limits, Place, ProjectedFrame, Projection};
use cpds_testing::oracle;
use cpds_testing::programs::{self, Shape};
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use std::collections::BTreeSet;
use std::fs;

/// What is compared of a frame: its function, its place if it is on top, and its variables, as far as they matter.
type Frame = (usize, Option<FramePlace>, Vec<bool>);

/// What is compared of a state.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum State {
    Error(ErrorKind, u32),
    Running { shared: Vec<bool>, threads: Vec<Vec<Frame>>, pending: Vec<(usize, Frame)> },
}

/// A state of the interpreter, whose stacks are outermost call first.
fn interpreted(projection: &Projection, map: &SourceMap) -> State {
    if let Some((kind, at)) = projection.error {
        return State::Error(kind, at);
    }
    let frame = |frame: &ProjectedFrame, is_top: bool| {
        let place = match frame.place {
            Place::Results(at) => FramePlace::Results(at),
            Place::Calling(at) => FramePlace::Calling(at),
            Place::At(at) | Place::End(at) | Place::LeaveAtomic(at) => FramePlace::Before(at),
        };
        let thread_locals = frame.thread_locals.iter().filter(|_| is_top).copied();
        let locals = frame.locals.iter().zip(map.matters(place)).map(|(value, matters)| *value && matters);
        (frame.function, is_top.then_some(place), thread_locals.chain(locals).collect())
    };
    let stack = |stack: &Vec<ProjectedFrame>| {
        stack.iter().rev().enumerate().map(|(depth, it)| frame(it, depth == 0)).collect::<Vec<Frame>>()
    };
    let starts = projection.pending.iter().enumerate();
    let mut pending: Vec<_> =
        starts.flat_map(|(pool, starts)| starts.iter().map(move |it| (pool, frame(it, true)))).collect();
    pending.sort();
    State::Running {
        shared: projection.shared.clone(),
        threads: projection.threads.iter().map(stack).collect(),
        pending,
    }
}

/// The states that a state of the system stands for: every choice of what is open, and matters.
fn stood_for(view: &View, map: &SourceMap) -> Vec<State> {
    if let Some((kind, at)) = view.error {
        let kind = if kind == StepKind::Unlock { ErrorKind::Unlock } else { ErrorKind::Assert };
        return vec![State::Error(kind, at)];
    }
    let values = |frame: &FrameView, is_top: bool| {
        let thread_locals = frame.thread_locals.iter().filter(|_| is_top).copied();
        let local = |(value, matters): (&Option<bool>, bool)| if matters { *value } else { Some(false) };
        thread_locals.chain(frame.locals.iter().zip(map.matters(frame.place)).map(local)).collect::<Vec<_>>()
    };
    // All values in a row, then back from the row.
    let mut row: Vec<Option<bool>> = view.shared.clone();
    for (depth, frame) in view.threads.iter().flat_map(|stack| stack.iter().enumerate()) {
        row.extend(values(frame, depth == 0));
    }
    row.extend(view.pending.iter().flat_map(|(_, frame)| values(frame, true)));
    let open: Vec<usize> = (0..row.len()).filter(|&i| row[i].is_none()).collect();
    assert!(open.len() < 16, "small programs");
    let choice = |choice: usize| {
        let bit = |i: usize| row[i].unwrap_or_else(|| choice >> open.iter().position(|&at| at == i).unwrap() & 1 == 1);
        let mut rest = (0..row.len()).map(bit);
        let mut take = |count: usize| rest.by_ref().take(count).collect::<Vec<bool>>();
        let shared = take(view.shared.len());
        let mut frame = |frame: &FrameView, is_top: bool| {
            (frame.function, is_top.then_some(frame.place), take(values(frame, is_top).len()))
        };
        let mut threads = Vec::new();
        for stack in &view.threads {
            threads.push(stack.iter().enumerate().map(|(depth, it)| frame(it, depth == 0)).collect());
        }
        let mut pending: Vec<_> = view.pending.iter().map(|(pool, it)| (*pool, frame(it, true))).collect();
        pending.sort();
        State::Running { shared, threads, pending }
    };
    (0..1 << open.len()).map(choice).collect()
}

/// Compares both, up to so many contexts, if there are not too many states.
fn compare(program: &Lowered, limits: Limits) -> Option<usize> {
    let (system, map) = (program.reading.problem.system(), &program.map);
    let expected = interpreter::levels(&program.program, map.threads(), limits)?;
    let found = oracle::levels(system, limits.contexts, limits.height);
    for k in 0..=limits.contexts {
        let expected: BTreeSet<State> = expected.projections(k).iter().map(|it| interpreted(it, map)).collect();
        let views = found.reachable[k].iter().map(|state| map.view(state)).filter(|view| !view.is_between);
        let found: BTreeSet<State> = views.flat_map(|view| stood_for(&view, map)).collect();
        let text = || &program.reading.sources[0].text;
        if let Some(missing) = expected.difference(&found).next() {
            panic!("k = {k}: the system does not have {missing:?} of\n{}", text());
        }
        if let Some(extra) = found.difference(&expected).next() {
            panic!("k = {k}: the program does not have {extra:?}:\n{}", text());
        }
    }
    Some(expected.reachable[limits.contexts].len())
}

/// A program that is shown as text.
#[derive(Clone)]
struct Printed(Program);

impl std::fmt::Debug for Printed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&print(&self.0))
    }
}

fn printed(shape: &Shape) -> impl Strategy<Value = Printed> + use<> {
    programs::program(shape).prop_map(Printed)
}

/// How many states are too many to be compared in a test.
const LIMITS: Limits = Limits { contexts: 3, height: 3, states: 3000 };

fn lower(program: &Program, options: &Options) -> Lowered {
    let lowered = read(Source::new("random.bp", print(program)), options);
    lowered.unwrap_or_else(|error| panic!("{error}\n{}", error.sources[0].text))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, max_shrink_iters: 20_000, ..ProptestConfig::default() })]

    /// Threads that main creates, as many as there can be, or at most so many.
    #[test]
    fn the_system_does_what_the_program_does(Printed(program) in printed(&Shape::default()), threads in 1u32..=2) {
        let lowered = lower(&program, &Options { threads: Some(threads), ..Options::default() });
        prop_assert_eq!(&lowered.program, &program, "printed and read back");
        compare(&lowered, LIMITS);
    }

    /// Threads that are there from the start, of functions that are called, too, and may have parameters.
    #[test]
    fn with_instances(Printed(program) in printed(&Shape { creation: false, ..Shape::default() }), second in any::<prop::sample::Index>()) {
        let name = |index: usize| program.functions[index].name.text.clone();
        let instances = vec![(name(0), 1), (name(second.index(program.functions.len())), 1)];
        compare(&lower(&program, &Options { instances, ..Options::default() }), LIMITS);
    }

    /// Where it is not asked for errors, they stop nobody: there is everything that there is otherwise, but for the errors.
    #[test]
    fn without_errors(Printed(program) in printed(&Shape::default())) {
        let options = Options { threads: Some(1), ..Options::default() };
        let with = lower(&program, &options);
        let threads = vec!["*"; with.reading.problem.system().thread_count()].join(",");
        let without = lower(&program, &Options { asked: Asked::Targets(vec![format!("*|{threads}")]), ..options });
        let states = |lowered: &Lowered| -> BTreeSet<State> {
            let found = oracle::levels(lowered.reading.problem.system(), 2, 2).reachable.pop().expect("the last level");
            let views = found.iter().map(|state| lowered.map.view(state)).filter(|view| !view.is_between);
            views.flat_map(|view| stood_for(&view, &lowered.map)).collect()
        };
        let (with, without) = (states(&with), states(&without));
        let is_error = |state: &&State| matches!(state, State::Error(..));
        prop_assert_eq!(without.iter().find(is_error), None);
        prop_assert!(with.iter().filter(|state| !is_error(state)).all(|state| without.contains(state)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, max_shrink_iters: 20_000, ..ProptestConfig::default() })]

    /// Where nobody says how many threads there may be, there is a place for each: in no state are there more threads than places.
    #[test]
    fn creations_are_counted(Printed(program) in printed(&Shape { gotos: false, ..Shape::default() })) {
        let Ok(lowered) = read(Source::new("random.bp", print(&program)), &Options::default()) else { return Ok(()) };
        let threads = lowered.map.threads();
        prop_assert_eq!(threads.limit, None);
        let Some(levels) = interpreter::levels(&lowered.program, threads, LIMITS) else { return Ok(()) };
        for state in levels.projections(LIMITS.contexts) {
            let mut stacks = state.threads.iter().skip(threads.roots.iter().map(|&(_, copies)| copies as usize).sum());
            for (pool, pending) in threads.pools.iter().zip(&state.pending) {
                let places = pool.places as usize;
                let running = stacks.by_ref().take(places).filter(|stack| !stack.is_empty()).count();
                prop_assert!(running + pending.len() <= places, "{} and {} in {places} places", running, pending.len());
            }
        }
    }
}

/// What is generated has every construct of the grammar.
#[test]
fn every_construct_is_generated() {
    let mut runner = TestRunner::deterministic();
    let strategy = programs::program(&Shape::default());
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

/// The programs of the collection, as far as they are small enough.
#[test]
fn the_models_do_what_their_programs_do() {
    let (mut compared, mut skipped) = (0, Skipped::default());
    for path in files(&repository().join("models"), "bp") {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        let program = read(Source::new(&name, text), &Options::default()).unwrap_or_else(|error| panic!("{error}"));
        match compare(&program, Limits { contexts: 3, height: 4, states: 4000 }) {
            Some(_) => compared += 1,
            None => skipped.add(&name, "there are too many states after three contexts"),
        }
    }
    assert!(compared >= 10, "{compared}");
}
