//! Any partition gives the same results as one exploration.

use crate::Fcr;
use crate::distributed::coordinator::Shares;
use crate::distributed::protocol::messages::Counters;
use crate::distributed::single_process::SingleProcess;
use crate::distributed::tests::exploration::{ExplorationLimits, explore_in_one, explore_in_shares};
use crate::distributed::tests::{crowds, problems};
use crate::explicit::reachable::Reachable;
use crate::tuning::Tuning;
use cpds::GlobalState;
use cpds_testing::corpus;
use proptest::prelude::*;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// The counters after every wave, all levels and all traces are equal, for any partition.
#[test]
fn results_do_not_depend_on_the_partition() {
    let (waves, contexts, total) = (Cell::new(0), Cell::new(0), Cell::new(Counters::default()));
    let partitions = (1_usize..=5, any::<u64>());
    let cases = ProptestConfig::with_cases(1000);
    let problems = prop_oneof![9 => problems(), 1 => crowds()];
    proptest!(cases, |(problem in problems, symmetry: bool, partition in partitions)| {
        let limits = ExplorationLimits { contexts: 5, states: 300 };
        let one = explore_in_one(&problem, symmetry, limits);
        let (shares, counters) = explore_in_shares(&problem, symmetry, partition, limits);
        prop_assert_eq!(&one, &shares);
        waves.set(waves.get() + one.waves.len());
        let traces = one.trace.iter().chain(one.traces.iter().flatten());
        contexts.set(contexts.get() + traces.map(|trace| trace.contexts.len()).sum::<usize>());
        let mut sum = total.get();
        sum += counters;
        total.set(sum);
    });
    let total = total.get();
    assert!(waves.get() > 2000, "only {} waves", waves.get());
    assert!(contexts.get() > 1000, "only {} contexts", contexts.get());
    assert!(total.sent.states > 10_000 && total.sent.again > 1000, "{total:?}");
}

/// The same for every model.
#[test]
fn results_of_models_do_not_depend_on_the_partition() {
    for model in corpus::models() {
        if Fcr::new(model.problem.system()).holds() != Some(true) {
            continue;
        }
        for (symmetry, partition) in [(true, (3, 1)), (false, (2, 2))] {
            let limits = ExplorationLimits { contexts: 4, states: 5000 };
            let one = explore_in_one(&model.problem, symmetry, limits);
            let (shares, _) = explore_in_shares(&model.problem, symmetry, partition, limits);
            assert!(one == shares, "{}", model.name);
        }
    }
}

/// The coordinator receives each state of the shares exactly once.
#[test]
fn all_states_are_transferred_once() {
    proptest!(ProptestConfig::with_cases(200), |(problem in problems(), symmetry: bool, parts in 1_usize..=5, seed: u64)| {
        let system = problem.system();
        if Fcr::new(system).holds() != Some(true) {
            return Ok(());
        }
        let mut one = Reachable::new(system, symmetry, Tuning::SMALL);
        let supersteps = SingleProcess::new(system, symmetry, parts, seed, Tuning::SMALL);
        let mut shares = Shares::new(system, symmetry, supersteps, Tuning::SMALL).unwrap();
        while one.k() < 3 && one.kept() < 1000 {
            let _ = one.advance(&mut |_| ControlFlow::<()>::Continue(()));
            shares.advance(&mut |_| ControlFlow::<()>::Continue(())).unwrap();
        }
        for k in 0..=one.k() {
            let expected: BTreeSet<GlobalState> = (0..=k).flat_map(|k| one.states(k)).collect();
            let states: BTreeSet<GlobalState> = (0..=k).flat_map(|k| shares.states(k).unwrap()).collect();
            prop_assert_eq!(states, expected);
            let mut count = 0;
            shares.transfer_states(0, k, |_, _| count += 1).unwrap();
            prop_assert_eq!(count, one.range(k).end);
        }
    });
}
