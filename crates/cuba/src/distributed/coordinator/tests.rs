//! However the states are shared out, everything is the same.

use super::*;
use crate::Fcr;
use crate::encoding::{read, write};
use crate::explicit::partition::wire_format::Malformed;
use crate::explicit::reachable::Reachable;
use cpds::{GlobalState, Problem, VisibleState};
use cpds_testing::corpus;
use cpds_testing::random::{Shape, problem};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::sync::Mutex;

/// How far an exploration goes: so many contexts, and not further than the first wave after which
/// there are so many states.
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
    /// The same, if not much is looked at for it.
    with_tiny_budget: Option<Trace>,
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
    let mut all = Reachable::new(problem.system(), symmetry, Tuning::SMALL);
    let mut waves = Vec::new();
    'levels: while all.k() < bounds.contexts && (all.k() == 0 || all.has_new_states(all.k())) {
        all.start_level();
        loop {
            all.expand_for(u64::MAX);
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
        all.end_level();
    }
    let bad = BadPatterns::new(problem.property(), all.symmetry());
    let seen = 0..=all.k() + usize::from(all.has_incomplete_level());
    let ranges = seen.clone().map(|k| all.visible().range(k));
    let first = ranges.into_iter().find_map(|ids| bad.first_violation(all.visible().set(), ids));
    let to_bad =
        |budget: &SearchBudget| first.and_then(|(visible, pattern)| all.trace_to_bad(&bad, visible, pattern, budget));
    let (trace, with_tiny_budget) = (to_bad(&SearchBudget::default()), to_bad(&SearchBudget::of_items(6)));
    Found {
        waves,
        levels: (0..=all.k()).map(|k| (all.new_states(k), all.has_new_states(k))).collect(),
        visible: seen.clone().map(|k| all.visible().sorted_states(k)).collect(),
        trace,
        with_tiny_budget,
        traces: last(all.visible(), seen).into_iter().map(|id| all.trace_to_visible(id, as_it_is)).collect(),
    }
}

/// In shares.
fn shared(problem: &Problem, symmetry: bool, partition: (usize, u64), bounds: Bounds) -> (Found, Counters) {
    kept_and_shared(problem, symmetry, partition, bounds, None)
}

/// What was kept, by part and level.
#[derive(Default)]
struct Stores(Mutex<BTreeMap<(usize, usize), Vec<u8>>>);

impl Store for Stores {
    fn keep(
        &self,
        part: usize,
        k: usize,
        but: Option<usize>,
        write: &dyn Fn(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), String> {
        let mut kept = Vec::new();
        write(&mut kept).unwrap();
        let mut all = self.0.lock().unwrap();
        all.retain(|&(its, level), _| its != part || Some(level) == but);
        all.insert((part, k), kept);
        Ok(())
    }

    fn read(&self, part: usize, k: usize, read: &mut dyn FnMut(&mut dyn Read) -> io::Result<()>) -> Result<(), String> {
        let kept = self.0.lock().unwrap().get(&(part, k)).cloned().ok_or("nothing is here")?;
        read(&mut &*kept).map_err(|error| error.to_string())
    }
}

/// In shares; and after this level, others go on from what was kept.
fn kept_and_shared(
    problem: &Problem,
    symmetry: bool,
    partition: (usize, u64),
    bounds: Bounds,
    after: Option<usize>,
) -> (Found, Counters) {
    let store: Arc<dyn Store> = Arc::new(Stores::default());
    let parts = || Together::keeping(problem.system(), symmetry, partition, Some(&store), Tuning::SMALL);
    let mut all = Shares::new(problem.system(), symmetry, parts(), Tuning::SMALL).unwrap();
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
        if after.is_some_and(|after| all.k() <= after) {
            all.keep().unwrap();
            all.is_kept();
        }
        if after == Some(all.k()) {
            let mut kept = Vec::new();
            write(&all, &mut kept).unwrap();
            let saved = read(&mut &*kept).unwrap();
            all = Shares::restored(problem.system(), symmetry, parts(), saved, Tuning::SMALL).unwrap();
        }
    }
    let known = 0..=all.k() + usize::from(all.is_going());
    let ends = last(all.visible(), known.clone());
    let found = Found {
        waves,
        levels: (0..=all.k()).map(|k| (all.new_states(k), all.has_new_states(k))).collect(),
        visible: known.map(|k| all.visible().sorted_states(k)).collect(),
        trace: all.trace(problem.property()).unwrap(),
        with_tiny_budget: all.trace_within(problem.property(), &SearchBudget::of_items(6)).unwrap(),
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

fn crowds() -> impl Strategy<Value = Problem> {
    let shape = Shape { bad: 1..=1, ..Shape::crowd() };
    prop_oneof![problem(&shape), problem(&Shape { copies_start_alike: true, ..shape })]
}

/// The same after every wave and at every level, and the same trace, however the states are shared
/// out.
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
        if Fcr::new(model.problem.system()).holds() != Some(true) {
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

/// Others that go on from what was kept come to the same.
#[test]
fn shares_go_on() {
    proptest!(ProptestConfig::with_cases(200), |(
        problem in shapes(), symmetry: bool, parts in 1_usize..=4, seed: u64, after in 1_usize..4,
    )| {
        if Fcr::new(problem.system()).holds() == Some(true) {
            let bounds = Bounds { contexts: 5, states: 2000 };
            let (whole, counters) = shared(&problem, symmetry, (parts, seed), bounds);
            let (again, later) = kept_and_shared(&problem, symmetry, (parts, seed), bounds, Some(after));
            prop_assert_eq!(&again, &whole);
            prop_assert_eq!((later.kept, later.expansions), (counters.kept, counters.expansions));
        }
    });
}

/// Shares do not go on from what is not there, or is of another run.
#[test]
fn what_was_not_kept_does_not_go_on() {
    let problem: Problem = include_str!("../../../../../models/paper/fig1.cpds").parse().unwrap();
    let system = problem.system();
    let store: Arc<dyn Store> = Arc::new(Stores::default());
    let together = Together::keeping(system, true, (2, 0), Some(&store), Tuning::SMALL);
    let mut all = Shares::new(system, true, together, Tuning::SMALL).unwrap();
    all.advance(&mut |_| ControlFlow::<()>::Continue(())).unwrap();
    let mut saved = Vec::new();
    write(&all, &mut saved).unwrap();
    let restored = |parts, store| {
        let together = Together::keeping(system, true, (parts, 0), store, Tuning::SMALL);
        let restored = Shares::restored(system, true, together, read(&mut &*saved).unwrap(), Tuning::SMALL);
        restored.err().map(|why| why.to_string())
    };
    assert_eq!(restored(2, Some(&store)).unwrap(), "part 0 cannot go on: nothing is here");
    all.keep().unwrap();
    assert_eq!(restored(2, Some(&store)), None);
    assert_eq!(restored(2, None).unwrap(), "part 0 cannot go on: it was not told where from");
    assert_eq!(restored(3, Some(&store)).unwrap(), "part 0 cannot go on: there were 2 parts, and now there are 3");
}

/// All states come, each once.
#[test]
fn shares_can_be_put_together() {
    proptest!(ProptestConfig::with_cases(200), |(problem in shapes(), symmetry: bool, parts in 1_usize..=5, seed: u64)| {
        let system = problem.system();
        if Fcr::new(system).holds() != Some(true) {
            return Ok(());
        }
        let mut one = Reachable::new(system, symmetry, Tuning::SMALL);
        let together = Together::new(system, symmetry, parts, seed, Tuning::SMALL);
        let mut many = Shares::new(system, symmetry, together, Tuning::SMALL).unwrap();
        while one.k() < 3 && one.kept() < 1000 {
            let _ = one.advance(&mut |_| ControlFlow::<()>::Continue(()));
            many.advance(&mut |_| ControlFlow::<()>::Continue(())).unwrap();
        }
        for k in 0..=one.k() {
            let expected: BTreeSet<GlobalState> = (0..=k).flat_map(|k| one.states(k)).collect();
            let states: BTreeSet<GlobalState> = (0..=k).flat_map(|k| many.states(k).unwrap()).collect();
            prop_assert_eq!(states, expected);
            let mut count = 0;
            many.gather(0, k, |_, _| count += 1).unwrap();
            prop_assert_eq!(count, one.range(k).end);
        }
    });
}

/// A block that was changed, or is no block at all, is an error, or can be told from none by
/// nobody.
#[test]
fn no_block_makes_a_share_panic() {
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4);
    let failed = Cell::new(0);
    proptest!(ProptestConfig::with_cases(300), |(
        problem in shapes(), symmetry: bool, seed: u64, changes in changes,
        cut in any::<prop::sample::Index>(), noise in prop::collection::vec(any::<u8>(), 0..12),
    )| {
        let system = problem.system();
        let together = Together::new(system, symmetry, 2, seed, Tuning::SMALL);
        together.superstep(Command::Expand { begin: Begin::Level, steps: 100 });
        for (_, block) in together.mail.borrow_mut().iter_mut().flatten() {
            for (index, byte) in &changes {
                let at = index.index(block.len());
                block[at] = *byte;
            }
            block.truncate(cut.index(block.len() + 1));
            block.extend_from_slice(&noise);
        }
        together.mail.borrow_mut()[0].push((1, noise));
        let replies = together.superstep(Command::Expand { begin: Begin::Nothing, steps: 100 });
        failed.set(failed.get() + replies.iter().filter(|reply| matches!(reply, Reply::Failed(_))).count());
    });
    assert!(failed.get() > 100, "only {}", failed.get());
    let problem: Problem = include_str!("../../../../../models/squeeze/journal.cpds").parse().unwrap();
    let mut share = Share::new(problem.system(), true, Place { part: 0, parts: 2, seed: 0 }, Tuning::SMALL);
    let mut reply = |command, received| share.step(command, received, &mut |_, _| {});
    let expand = |begin| Command::Expand { begin, steps: 1 };
    assert_eq!(reply(expand(Begin::Wave), Vec::new()), Reply::Failed(Failure::Command));
    assert_eq!(reply(Command::States { from: 0, k: 1, is_first: true }, Vec::new()), Reply::Failed(Failure::Command));
    let block = |why| Reply::Failed(Failure::Block { from: 1, why });
    assert_eq!(reply(Command::EndLevel, vec![(1, Vec::new())]), block(Malformed::NotNow));
    let _ = reply(expand(Begin::Level), Vec::new());
    assert_eq!(reply(expand(Begin::Nothing), vec![(1, vec![0x80])]), block(Malformed::CutShort));
    assert_eq!(reply(expand(Begin::Nothing), vec![(1, vec![0x80; 20])]), block(Malformed::NoNumber));
    assert_eq!(reply(expand(Begin::Nothing), vec![(1, vec![1, 7])]), block(Malformed::Unknown));
}
