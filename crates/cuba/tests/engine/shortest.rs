//! Traces are shortest ones among those with the fewest contexts, and interchangeable threads act
//! in the order of their numbers.

use crate::evidence::checked;
use crate::laws::{law_on, shapes};
use cpds::{GlobalState, Problem, Source, ThreadId, Trace};
use cpds_testing::random::{Shape, problem};
use cpds_testing::shortest::fewest_steps;
use cuba::{Conclusion, Options, Question, search_unchecked};
use cuba::{Engine, Fcr, Ladder};
use proptest::prelude::*;
use std::cell::Cell;

/// The limit on triples of the naive search for a shortest path.
const TRIPLES: usize = 30_000;

/// The memory for the tables of an engine if contexts may be infinite.
const MEMORY: usize = 1 << 21;

/// Returns a trace, if the search finds one within its limits. The trace has been checked.
fn trace(problem: &Problem, engine: Engine, symmetry: bool, memory: usize) -> Option<Trace> {
    let limits = Options { max_contexts: Some(7), memory, jobs: 1, ..Options::default() };
    let options = Options { engine: Some(engine), ladder: Ladder::None, symmetry, ..limits };
    let analysis = search_unchecked(problem, Question::Verify, &options, |_| ());
    checked(problem, &analysis);
    match analysis.conclusion {
        Conclusion::Unsafe { trace, .. } => Some(trace),
        _ => None,
    }
}

fn steps(trace: &Trace) -> usize {
    trace.contexts.iter().map(|context| context.steps.len()).sum()
}

/// A ticket lock whose tickets have two bits. It fails with five workers.
const TICKET_LOCK: &str = "decl n1 = 0, n0 = 0, s1 = 0, s0 = 0, crit = 0;
    void worker() { decl t1, t0;
      while (*) {
        atomic { t1, t0 := n1, n0; n1, n0 := n1 ^ n0, !n0; }
        assume(t1 = s1 & t0 = s0); assert(!crit); crit := 1; skip; crit := 0;
        s1, s0 := s1 ^ s0, !s0; } }
    void main() { thread_create(&worker); }";

/// The shortest trace has 30 steps: each worker takes its ticket, and two of them reach their
/// assertions. No worker repeats its loop without need.
#[test]
fn no_thread_repeats_a_loop_without_need() {
    let options = boolprog::Options { instances: vec![("worker".to_owned(), 5)], ..boolprog::Options::default() };
    let lowered = boolprog::read(Source::from(TICKET_LOCK), &options).unwrap();
    let problem = &lowered.reading.problem;
    for (engine, symmetry) in [(Engine::Explicit, true), (Engine::Explicit, false), (Engine::Symbolic, true)] {
        let trace = trace(problem, engine, symmetry, 1 << 27).expect("the program is unsafe");
        assert_eq!((trace.contexts.len(), steps(&trace)), (5, 30));
        let threads: Vec<u32> = trace.contexts.iter().map(|context| context.thread.0).collect();
        assert_eq!(threads, [0, 1, 2, 3, 4]);
    }
    assert_eq!(fewest_steps(problem, 5, usize::MAX), Some(30));
}

/// Generates systems with bad states that are some steps away.
fn problems() -> impl Strategy<Value = Problem> {
    let long = Shape {
        programs: 2..=3,
        copies: 1..=1,
        shared: 3..=6,
        symbols: 2..=4,
        actions: 6..=12,
        height: 1..=3,
        bad: 1..=2,
        ..Shape::default()
    };
    let alike = Shape {
        programs: 1..=2,
        copies: 2..=3,
        shared: 2..=5,
        actions: 4..=8,
        copies_start_alike: true,
        bad: 1..=2,
        ..Shape::default()
    };
    prop_oneof![2 => shapes(), 4 => problem(&long), 3 => problem(&alike)]
}

#[test]
fn traces_have_the_fewest_steps() {
    traces_have_the_fewest_steps_in(450);
}

#[test]
#[ignore = "a long version: `just long`"]
fn traces_have_the_fewest_steps_long() {
    traces_have_the_fewest_steps_in(1800);
}

/// The traces of the explicit engine are shortest ones. If contexts are finite, those of the
/// symbolic engine have at most twice as many steps, and at most 1.2 times as many on average.
fn traces_have_the_fewest_steps_in(cases: u32) {
    let (thousandths, count, long) = (Cell::new(0), Cell::new(0), Cell::new(0));
    law_on(&problems(), cases, |problem| {
        let is_finite = Fcr::new(problem.system()).holds() == Some(true);
        for symmetry in [true, false] {
            for engine in [Engine::Explicit, Engine::Symbolic] {
                let Some(trace) = trace(problem, engine, symmetry, MEMORY) else { continue };
                let Some(fewest) = fewest_steps(problem, trace.contexts.len(), TRIPLES) else { continue };
                let found = steps(&trace);
                match engine {
                    Engine::Explicit => assert_eq!(found, fewest, "symmetry {symmetry}: {trace:?}"),
                    Engine::Symbolic if is_finite => {
                        assert!(found >= fewest && found <= 2 * fewest, "{found} steps, at least {fewest}: {trace:?}");
                        thousandths.set(thousandths.get() + found.max(1) * 1000 / fewest.max(1));
                        count.set(count.get() + 1);
                    }
                    Engine::Symbolic => assert!(found >= fewest, "{found} steps, at least {fewest}: {trace:?}"),
                }
                long.set(long.get() + usize::from(found > trace.contexts.len() && trace.contexts.len() > 1));
            }
        }
        true
    });
    let (average, count, long) = (thousandths.get() / count.get(), count.get(), long.get());
    let enough = cases as usize;
    assert!(
        count > enough / 2 && long > enough / 9,
        "only {count} traces, and {long} of several contexts and more steps"
    );
    assert!(average <= 1200, "on average, {average} thousandths of the steps of a shortest trace");
}

/// Returns all orders of these threads.
fn orders(threads: &[ThreadId]) -> Vec<Vec<ThreadId>> {
    let without = |thread: ThreadId| threads.iter().copied().filter(|&other| other != thread).collect::<Vec<_>>();
    let with =
        |&thread: &ThreadId| orders(&without(thread)).into_iter().map(move |order| [vec![thread], order].concat());
    if threads.is_empty() { vec![Vec::new()] } else { threads.iter().flat_map(with).collect() }
}

/// A trace uses interchangeable threads in the smallest possible order: no permutation of a group
/// gives a trace to a bad state in which the numbers of its threads are smaller.
#[test]
fn interchangeable_threads_act_in_the_order_of_their_numbers() {
    let (several, pinned) = (Cell::new(0), Cell::new(0));
    let alike = Shape {
        programs: 1..=2,
        copies: 2..=4,
        shared: 2..=4,
        symbols: 1..=3,
        actions: 3..=8,
        initial: 1..=1,
        copies_start_alike: true,
        bad: 1..=3,
        ..Shape::default()
    };
    law_on(&problem(&alike), 1500, |problem| {
        for (engine, symmetry) in [(Engine::Explicit, true), (Engine::Explicit, false), (Engine::Symbolic, true)] {
            let Some(trace) = trace(problem, engine, symmetry, MEMORY) else { continue };
            for group in problem.system().symmetric_groups() {
                let mut seen: Vec<ThreadId> = Vec::new();
                for context in &trace.contexts {
                    if group.contains(&context.thread) && !seen.contains(&context.thread) {
                        seen.push(context.thread);
                    }
                }
                several.set(several.get() + usize::from(seen.len() > 1));
                pinned.set(pinned.get() + usize::from(!seen.is_sorted() || !group.starts_with(&seen)));
                for order in orders(&group) {
                    let to = |thread: ThreadId| {
                        group.iter().position(|&other| other == thread).map_or(thread, |place| order[place])
                    };
                    let mut last: GlobalState = trace.last().clone();
                    for (thread, stack) in problem.system().threads().zip(&trace.last().stacks) {
                        last.stacks[to(thread).index()].clone_from(stack);
                    }
                    let numbers: Vec<ThreadId> = seen.iter().map(|&thread| to(thread)).collect();
                    assert!(numbers >= seen || !problem.is_bad(&last), "{order:?} of {group:?}: {trace:?}");
                }
            }
        }
        true
    });
    let (several, pinned) = (several.get(), pinned.get());
    assert!(several > 100 && pinned > 20, "only {several} traces with several threads, {pinned} in another order");
}
