//! The oracle within bounds is the oracle.

use cpds_testing::bounded::{self, Bounds};
use cpds_testing::oracle;
use cpds_testing::random::{Shape, problem};
use proptest::prelude::*;
use std::collections::BTreeSet;

proptest! {
    /// Level by level the same states, and as exact; where it ends early, there is nothing more, or
    /// too much.
    #[test]
    fn within_bounds_there_is_the_same(problem in problem(&Shape { actions: 0..=6, ..Shape::default() }), states in 1_usize..80) {
        let (system, contexts, height) = (problem.system(), 3, 3);
        let all = oracle::levels(system, contexts, height);
        for states in [usize::MAX, states] {
            let found = bounded::levels(system, Bounds { contexts, height, states });
            let mut reached = BTreeSet::new();
            for k in 0..=found.k() {
                reached.extend(found.new[k].iter().cloned());
                prop_assert_eq!(&reached, &all.reachable[k], "R_{}", k);
                prop_assert_eq!(found.reachable_count(k), reached.len());
                prop_assert_eq!(found.visible_count(k), all.visible(k).len());
                prop_assert_eq!(found.is_exact(k), oracle::levels(system, k, height).exact);
            }
            let last = &all.reachable[contexts];
            if found.k() < contexts && !found.new[found.k()].is_empty() {
                prop_assert!(last.len() > states, "it ends before there are too many");
            }
            let violation = all.first_violation(&problem);
            prop_assert_eq!(found.first_violation(&problem), violation.filter(|&k| k <= found.k()));
            if let Some(collapse) = found.collapse() {
                prop_assert_eq!(&all.reachable[collapse], last);
                prop_assert!(collapse == 0 || all.reachable[collapse - 1] != *last);
            }
        }
    }

    /// With room enough, it is found out whether contexts are finite; without, there is no answer,
    /// or the same.
    #[test]
    fn contexts_are_finite_or_not(problem in problem(&Shape { symbols: 1..=2, actions: 0..=5, ..Shape::default() })) {
        for thread in problem.system().threads() {
            let is_finite = oracle::finite_contexts(problem.system(), thread);
            for room in [2, 20, 2000] {
                let found = oracle::finite_contexts_within(problem.system(), thread, room);
                prop_assert!(found.is_none_or(|found| found == is_finite));
            }
        }
    }
}
