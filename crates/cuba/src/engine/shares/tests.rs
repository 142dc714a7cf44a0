//! However the states are shared out, everything is the same.

use super::*;
use crate::engine::Fcr;
use crate::engine::outlet::Malformed;
use crate::engine::reachable::{PAIRS, Reachable};
use cpds::{GlobalState, Problem, SharedState, VisibleState};
use cpds_testing::corpus;
use cpds_testing::random::{Shape, problem};
use proptest::prelude::*;
use std::cell::Cell;
use std::collections::BTreeSet;

/// How far an exploration goes: so many contexts, and not further than the first wave after which there are so many states.
#[derive(Clone, Copy)]
struct Bounds {
    contexts: usize,
    states: usize,
}

/// What there is after a wave: states, steps, visible states, and the highest stack.
type AfterWave = (usize, u64, usize, u32);

/// What does not depend on a partition.
#[derive(PartialEq, Debug)]
struct Found {
    waves: Vec<AfterWave>,
    levels: Vec<(Count, bool)>,
    visible: Vec<Vec<VisibleState>>,
    /// To the first bad state.
    trace: Option<Trace>,
    /// To one state of each level.
    traces: Vec<Option<Trace>>,
}

/// The last visible state of each level, in order of content.
fn last(visible: &VisibleLevels, levels: impl Iterator<Item = usize>) -> Vec<usize> {
    let (layout, set) = (visible.set().layout(), visible.set());
    let content = |&id: &usize| (layout.shared(set.row(id)), layout.locals(set.row(id)).collect::<Vec<_>>());
    levels.filter_map(|k| visible.range(k).max_by_key(content)).collect()
}

/// As it is.
#[expect(clippy::unnecessary_wraps, reason = "others may find no way")]
fn as_it_is(_: u32, tops: &[u32]) -> Option<Vec<usize>> {
    Some((0..tops.len()).collect())
}

/// By one exploration, wave by wave.
fn alone(problem: &Problem, symmetry: bool, bounds: Bounds) -> Found {
    let mut all = Reachable::new(problem.system(), symmetry);
    let mut waves = Vec::new();
    'levels: while all.k() < bounds.contexts && (all.k() == 0 || all.has_new_states(all.k())) {
        all.start_level();
        loop {
            all.pulse = u64::MAX;
            while all.wave.take(PAIRS) {
                all.expand_pairs();
            }
            all.project();
            waves.push((all.kept(), all.expansions(), all.visible().kept(), all.highest()));
            if all.kept() > bounds.states {
                break 'levels;
            }
            all.start_wave();
            if all.is_between_waves() {
                break;
            }
        }
        all.unfinished = false;
    }
    let bad = Bad::new(problem.property(), &all.symmetry);
    let seen = 0..=all.k() + usize::from(all.unfinished);
    let ranges = seen.clone().map(|k| all.visible().range(k));
    let first = ranges.into_iter().find_map(|ids| bad.first_violation(all.visible().set(), ids));
    let trace = first.and_then(|(visible, pattern)| {
        all.trace_to_visible(visible, |shared, tops| bad.arrange(pattern, shared, |i, top| tops[i] == top))
    });
    Found {
        waves,
        levels: (0..=all.k()).map(|k| (all.new_states(k), all.has_new_states(k))).collect(),
        visible: seen.clone().map(|k| all.visible().sorted_states(k)).collect(),
        trace,
        traces: last(all.visible(), seen).into_iter().map(|id| all.trace_to_visible(id, as_it_is)).collect(),
    }
}

/// In shares.
fn shared(problem: &Problem, symmetry: bool, (parts, seed): (usize, u64), bounds: Bounds) -> (Found, Counters) {
    let parts = Together::new(problem.system(), symmetry, parts, seed);
    let mut all = Shares::new(problem.system(), symmetry, parts).unwrap();
    let mut waves = Vec::new();
    while all.k() < bounds.contexts && (all.k() == 0 || all.has_new_states(all.k())) {
        let done = all.advance(&mut |all| {
            if !all.is_between_waves() {
                return ControlFlow::Continue(());
            }
            let total = all.total();
            waves.push((total.kept, total.expansions, all.visible().kept(), total.highest));
            if total.kept > bounds.states { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        match done {
            Ok(()) => {}
            Err(Interrupted::Stopped(())) => break,
            Err(Interrupted::Failed(failure)) => panic!("{failure}"),
        }
    }
    let known = 0..=all.k() + usize::from(all.is_going());
    let ends = last(all.visible(), known.clone());
    let found = Found {
        waves,
        levels: (0..=all.k()).map(|k| (all.new_states(k), all.has_new_states(k))).collect(),
        visible: known.map(|k| all.visible().sorted_states(k)).collect(),
        trace: all.trace(problem.property()).unwrap(),
        traces: ends.into_iter().map(|id| all.trace_to_visible(id, as_it_is).unwrap()).collect(),
    };
    (found, all.total())
}

fn shapes() -> impl Strategy<Value = Problem> {
    let alike = Shape { programs: 1..=2, copies: 1..=3, copies_start_alike: true, bad: 1..=2, ..Shape::default() };
    let busy =
        Shape { programs: 2..=2, copies: 1..=2, actions: 6..=14, symbols: 2..=5, bad: 1..=1, ..Shape::default() };
    prop_oneof![problem(&Shape { initial: 1..=5, ..Shape::default() }), problem(&alike), problem(&busy),]
}

/// So many threads that few stacks are enough for rows to get another layout.
fn crowds() -> impl Strategy<Value = Problem> {
    let shape =
        Shape { programs: 1..=1, copies: 12..=20, shared: 1..=2, actions: 2..=6, bad: 1..=1, ..Shape::default() };
    prop_oneof![problem(&shape), problem(&Shape { copies_start_alike: true, ..shape })]
}

/// The same after every wave and at every level, and the same trace, however the states are shared out.
#[test]
fn shares_change_nothing() {
    let (waves, traces, sent) = (Cell::new(0), Cell::new(0), Cell::new(Counters::default()));
    let partitions = (1_usize..=5, any::<u64>());
    let cases = ProptestConfig::with_cases(1000);
    let problems = prop_oneof![9 => shapes(), 1 => crowds()];
    proptest!(cases, |(problem in problems, symmetry: bool, partition in partitions)| {
        let bounds = Bounds { contexts: 5, states: 300 };
        let one = alone(&problem, symmetry, bounds);
        let (many, total) = shared(&problem, symmetry, partition, bounds);
        prop_assert_eq!(&one, &many);
        waves.set(waves.get() + one.waves.len());
        let all = one.trace.iter().chain(one.traces.iter().flatten());
        traces.set(traces.get() + all.map(|trace| trace.contexts.len()).sum::<usize>());
        let mut all = sent.get();
        all += total;
        sent.set(all);
    });
    let all = sent.get();
    assert!(waves.get() > 2000, "only {} waves", waves.get());
    assert!(traces.get() > 1000, "only {} contexts", traces.get());
    assert!(all.sent.states > 10_000 && all.sent.again > 1000, "{all:?}");
}

/// The same on every model.
#[test]
fn shares_change_nothing_in_the_models() {
    for model in corpus::models() {
        if !Fcr::new(model.problem.system()).holds() {
            continue;
        }
        for (symmetry, partition) in [(true, (3, 1)), (false, (2, 2))] {
            let bounds = Bounds { contexts: 4, states: 5000 };
            let one = alone(&model.problem, symmetry, bounds);
            let (many, _) = shared(&model.problem, symmetry, partition, bounds);
            assert!(one == many, "{}", model.name);
        }
    }
}

/// All states come, each once.
#[test]
fn shares_can_be_put_together() {
    proptest!(ProptestConfig::with_cases(200), |(problem in shapes(), symmetry: bool, parts in 1_usize..=5, seed: u64)| {
        let system = problem.system();
        if !Fcr::new(system).holds() {
            return Ok(());
        }
        let mut one = Reachable::new(system, symmetry);
        let mut many = Shares::new(system, symmetry, Together::new(system, symmetry, parts, seed)).unwrap();
        while one.k() < 3 && one.kept() < 1000 {
            let _ = one.advance(&mut |_| ControlFlow::<()>::Continue(()));
            many.advance(&mut |_| ControlFlow::<()>::Continue(())).unwrap();
        }
        for k in 0..=one.k() {
            let expected: BTreeSet<GlobalState> = (0..=k).flat_map(|k| one.states(k)).collect();
            let mut sorted = Vec::new();
            let stacks = many.gather(k, |shared, locals| sorted.push((shared, locals.to_vec()))).unwrap();
            let count = sorted.len();
            let members = sorted.into_iter().flat_map(|(shared, locals)| {
                many.symmetry.members(locals).map(move |member| (shared, member))
            });
            let states = members.map(|(shared, member)| GlobalState {
                shared: SharedState(shared),
                stacks: many.symmetry.by_thread(member).into_iter().map(|id| stacks.stack(id)).collect(),
            });
            prop_assert_eq!(states.collect::<BTreeSet<_>>(), expected);
            prop_assert_eq!(count, one.range(k).end);
        }
    });
}

/// A block that was changed, or is no block at all, is an error, or can be told from none by nobody.
#[test]
fn no_block_makes_a_share_panic() {
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4);
    let failed = Cell::new(0);
    proptest!(ProptestConfig::with_cases(300), |(
        problem in shapes(), symmetry: bool, seed: u64, changes in changes,
        cut in any::<prop::sample::Index>(), noise in prop::collection::vec(any::<u8>(), 0..12),
    )| {
        let system = problem.system();
        let mut together = Together::new(system, symmetry, 2, seed);
        together.superstep(Command::Expand { begin: Begin::Level, steps: 100 });
        for (_, block) in together.mail.iter_mut().flatten() {
            for (index, byte) in &changes {
                let at = index.index(block.len());
                block[at] = *byte;
            }
            block.truncate(cut.index(block.len() + 1));
            block.extend_from_slice(&noise);
        }
        together.mail[0].push((1, noise));
        let replies = together.superstep(Command::Expand { begin: Begin::Nothing, steps: 100 });
        failed.set(failed.get() + replies.iter().filter(|reply| matches!(reply, Reply::Failed(_))).count());
    });
    assert!(failed.get() > 100, "only {}", failed.get());
    let problem: Problem = include_str!("../../../../../models/squeeze/journal.cpds").parse().unwrap();
    let mut share = Share::new(problem.system(), true, Place { part: 0, parts: 2, seed: 0 });
    let mut reply = |command, received| share.step(command, received, &mut |_, _| {});
    let expand = |begin| Command::Expand { begin, steps: 1 };
    assert_eq!(reply(expand(Begin::Wave), Vec::new()), Reply::Failed(Failure::Command));
    assert_eq!(reply(Command::States { k: 1, is_first: true }, Vec::new()), Reply::Failed(Failure::Command));
    let block = |why| Reply::Failed(Failure::Block { from: 1, why });
    assert_eq!(reply(Command::EndLevel, vec![(1, Vec::new())]), block(Malformed::NotNow));
    let _ = reply(expand(Begin::Level), Vec::new());
    assert_eq!(reply(expand(Begin::Nothing), vec![(1, vec![0x80])]), block(Malformed::CutShort));
    assert_eq!(reply(expand(Begin::Nothing), vec![(1, vec![0x80; 20])]), block(Malformed::NoNumber));
    assert_eq!(reply(expand(Begin::Nothing), vec![(1, vec![1, 7])]), block(Malformed::Unknown));
}
