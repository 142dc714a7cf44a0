//! The lowered system does what the program does: the naive interpreter of the syntax tree against the naive exploration of the system, level by
//! level.

use boolprog::syntax::Program;
use boolprog::{FrameView, Lowered, Options, StepKind, View, print, read};
use cpds::{ReadError, Source};
use cpds_testing::interpreter::{self, ErrorKind, Limits, Place, ProjectedFrame, Projection};
use cpds_testing::oracle;
use cpds_testing::programs::{self, Shape};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// What is compared of a frame: its function, its place if it is on top, and its variables.
type Frame = (usize, Option<(u32, bool)>, Vec<bool>);

/// What is compared of a state.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum State {
    Error(ErrorKind, u32),
    Running { shared: Vec<bool>, threads: Vec<Vec<Frame>>, pending: Vec<(usize, Frame)> },
}

/// A state of the interpreter. Its stacks are outermost call first.
fn interpreted(projection: &Projection) -> State {
    if let Some((kind, at)) = projection.error {
        return State::Error(kind, at);
    }
    let frame = |frame: &ProjectedFrame, is_top: bool| {
        let place = match frame.place {
            Place::Results(at) => (at, true),
            Place::At(at) | Place::End(at) | Place::LeaveAtomic(at) | Place::Calling(at) => (at, false),
        };
        let thread_locals = frame.thread_locals.iter().filter(|_| is_top);
        (frame.function, is_top.then_some(place), thread_locals.chain(&frame.locals).copied().collect())
    };
    let stack = |stack: &Vec<ProjectedFrame>| {
        stack.iter().rev().enumerate().map(|(depth, it)| frame(it, depth == 0)).collect::<Vec<Frame>>()
    };
    let pending = projection.pending.iter().enumerate();
    let mut pending: Vec<_> =
        pending.flat_map(|(pool, starts)| starts.iter().map(move |it| (pool, frame(it, true)))).collect();
    pending.sort();
    State::Running {
        shared: projection.shared.clone(),
        threads: projection.threads.iter().map(stack).collect(),
        pending,
    }
}

/// The states that a state of the system stands for: every choice of what is open.
fn lowered(view: &View) -> Vec<State> {
    if let Some((kind, at)) = view.error {
        let kind = if kind == StepKind::Unlock { ErrorKind::Unlock } else { ErrorKind::Assert };
        return vec![State::Error(kind, at)];
    }
    let values = |frame: &FrameView, is_top: bool| {
        let thread_locals = frame.thread_locals.iter().filter(|_| is_top);
        thread_locals.chain(&frame.locals).copied().collect::<Vec<_>>()
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
            let place = is_top.then_some((frame.at, frame.has_results));
            (frame.function, place, take(values(frame, is_top).len()))
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

/// Compares both, up to so many contexts; says whether everything was small enough.
fn compare(program: &Lowered, limits: Limits) -> Option<usize> {
    let (system, map) = (program.reading.problem.system(), &program.map);
    let expected = interpreter::levels(&program.program, map.threads(), limits)?;
    let found = oracle::levels(system, limits.contexts, limits.height);
    for k in 0..=limits.contexts {
        let expected: BTreeSet<State> = expected.projections(k).iter().map(interpreted).collect();
        let views = found.reachable[k].iter().map(|state| map.view(state)).filter(|view| !view.is_between);
        let found: BTreeSet<State> = views.flat_map(|view| lowered(&view)).collect();
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

fn options(threads: u32) -> Options {
    Options { threads: Some(threads), ..Options::default() }
}

fn shown(error: &ReadError) -> String {
    format!("{error}\n{}", error.sources[0].text)
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, max_shrink_iters: 20_000, ..ProptestConfig::default() })]

    #[test]
    fn the_system_does_what_the_program_does(Printed(program) in printed(&Shape::default()), threads in 1u32..=2) {
        let text = print(&program);
        let lowered = read(Source::new("random.bp", text), &options(threads)).unwrap_or_else(|error| panic!("{}", shown(&error)));
        prop_assert_eq!(&lowered.program, &program, "printed and read back");
        compare(&lowered, Limits { contexts: 3, height: 3, states: 3000 });
    }
}
