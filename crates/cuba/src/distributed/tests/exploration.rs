//! The same exploration in two ways: by one engine, and by shares.

use crate::distributed::coordinator::{Interrupted, Shares};
use crate::distributed::protocol::messages::Counters;
use crate::distributed::share::checkpoint::ShareStore;
use crate::distributed::single_process::SingleProcess;
use crate::distributed::tests::checkpoints::MemoryStore;
use crate::encoding::{read, write};
use crate::explicit::reachable::Reachable;
use crate::trace::search_budget::SearchBudget;
use crate::tuning::Tuning;
use crate::visible::bad_patterns::BadPatterns;
use crate::visible::count::Count;
use crate::visible::levels::VisibleLevels;
use cpds::{Problem, Trace, VisibleState};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The limits of an exploration. It ends after this number of contexts, or after the first wave
/// with more than this number of states.
#[derive(Clone, Copy)]
pub(super) struct ExplorationLimits {
    pub(super) contexts: usize,
    pub(super) states: usize,
}

/// The counters after a wave: states, steps, visible states, and the height of the highest stack.
type WaveCounters = (usize, u64, usize, u32);

/// The results of an exploration that do not depend on the partition.
#[derive(PartialEq, Debug)]
pub(super) struct ExplorationResult {
    pub(super) waves: Vec<WaveCounters>,
    levels: Vec<(Count, bool)>,
    visible: Vec<Vec<VisibleState>>,
    /// A trace to the first bad state.
    pub(super) trace: Option<Trace>,
    /// The same, with a small search budget.
    with_small_budget: Option<Trace>,
    /// A trace to one state of each level.
    pub(super) traces: Vec<Option<Trace>>,
}

/// Returns the last visible state of each level, in order of content.
fn last(visible: &VisibleLevels, levels: impl Iterator<Item = usize>) -> Vec<usize> {
    let (layout, set) = (visible.set().layout(), visible.set());
    let content = |&id: &usize| (layout.shared(set.row(id)), layout.locals(set.row(id)).collect::<Vec<_>>());
    levels.filter_map(|k| visible.range(k).max_by_key(content)).collect()
}

/// Arranges the tops of a state in their own order.
#[expect(clippy::unnecessary_wraps, reason = "the type of the parameter of `trace_to_visible`")]
fn identity(_: u32, tops: &[u32]) -> Option<Vec<usize>> {
    Some((0..tops.len()).collect())
}

/// Explores with one engine, wave by wave.
pub(super) fn explore_in_one(problem: &Problem, symmetry: bool, limits: ExplorationLimits) -> ExplorationResult {
    let mut one = Reachable::new(problem.system(), symmetry, Tuning::SMALL);
    let mut waves = Vec::new();
    'levels: while one.k() < limits.contexts && (one.k() == 0 || one.has_new_states(one.k())) {
        one.start_level();
        loop {
            one.expand_for(u64::MAX);
            one.project();
            waves.push((one.kept(), one.expansions(), one.visible().kept(), one.highest()));
            if one.kept() > limits.states {
                break 'levels;
            }
            one.start_wave();
            if one.is_between_waves() {
                break;
            }
        }
        one.end_level();
    }
    let bad = BadPatterns::new(problem.property(), one.symmetry());
    let levels = 0..=one.k() + usize::from(one.has_incomplete_level());
    let ranges = levels.clone().map(|k| one.visible().range(k));
    let first = ranges.into_iter().find_map(|ids| bad.first_violation(one.visible().set(), ids));
    let to_bad =
        |budget: &SearchBudget| first.and_then(|(visible, pattern)| one.trace_to_bad(&bad, visible, pattern, budget));
    let (trace, with_small_budget) = (to_bad(&SearchBudget::default()), to_bad(&SearchBudget::of_items(6)));
    ExplorationResult {
        waves,
        levels: (0..=one.k()).map(|k| (one.new_states(k), one.has_new_states(k))).collect(),
        visible: levels.clone().map(|k| one.visible().sorted_states(k)).collect(),
        trace,
        with_small_budget,
        traces: last(one.visible(), levels).into_iter().map(|id| one.trace_to_visible(id, identity)).collect(),
    }
}

/// Explores in shares.
pub(super) fn explore_in_shares(
    problem: &Problem,
    symmetry: bool,
    partition: (usize, u64),
    limits: ExplorationLimits,
) -> (ExplorationResult, Counters) {
    explore_and_resume(problem, symmetry, partition, limits, None)
}

/// Explores in shares. After level `resume_after`, other shares resume from the checkpoint.
pub(super) fn explore_and_resume(
    problem: &Problem,
    symmetry: bool,
    partition: (usize, u64),
    limits: ExplorationLimits,
    resume_after: Option<usize>,
) -> (ExplorationResult, Counters) {
    let store: Arc<dyn ShareStore> = Arc::new(MemoryStore::default());
    let parts = || SingleProcess::with_store(problem.system(), symmetry, partition, Some(&store), Tuning::SMALL);
    let mut shares = Shares::new(problem.system(), symmetry, parts(), Tuning::SMALL).unwrap();
    let mut waves = Vec::new();
    while shares.k() < limits.contexts && (shares.k() == 0 || shares.has_new_states(shares.k())) {
        let advanced = shares.advance(&mut |shares| {
            if !shares.is_between_waves() {
                return ControlFlow::Continue(());
            }
            let total = shares.total();
            waves.push((total.kept, total.expansions, shares.visible().kept(), total.highest));
            if total.kept > limits.states { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        match advanced {
            Ok(()) => {}
            Err(Interrupted::Stopped(())) => break,
            Err(Interrupted::Failed(failure)) => panic!("{failure}"),
        }
        if resume_after.is_some_and(|level| shares.k() <= level) {
            shares.save().unwrap();
            shares.confirm_saved();
        }
        if resume_after == Some(shares.k()) {
            let mut bytes = Vec::new();
            write(&shares, &mut bytes).unwrap();
            let saved = read(&mut &*bytes).unwrap();
            shares = Shares::restored(problem.system(), symmetry, parts(), saved, Tuning::SMALL).unwrap();
        }
    }
    let levels = 0..=shares.k() + usize::from(shares.has_incomplete_level());
    let ends = last(shares.visible(), levels.clone());
    let result = ExplorationResult {
        waves,
        levels: (0..=shares.k()).map(|k| (shares.new_states(k), shares.has_new_states(k))).collect(),
        visible: levels.map(|k| shares.visible().sorted_states(k)).collect(),
        trace: shares.trace(problem.property()).unwrap(),
        with_small_budget: shares.trace_within(problem.property(), &SearchBudget::of_items(6)).unwrap(),
        traces: ends.into_iter().map(|id| shares.trace_to_visible(id, identity).unwrap()).collect(),
    };
    (result, shares.total())
}
