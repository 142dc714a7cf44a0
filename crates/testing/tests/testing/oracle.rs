//! The bounded computation of R_k finds the same as the oracle.

use cpds_testing::bounded::{self, Bounds};
use cpds_testing::oracle;
use cpds_testing::random::{Shape, problem};
use proptest::prelude::*;
use std::collections::BTreeSet;

proptest! {
    /// The states are the same, level by level, and so is the exactness. If the bounded computation
    /// ends early, the next level is empty, or there are too many states.
    #[test]
    fn the_bounded_computation_has_the_levels_of_the_oracle(problem in problem(&Shape { actions: 0..=6, ..Shape::default() }), states in 1_usize..80) {
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
                prop_assert!(last.len() > states, "it ends, but there are not too many states");
            }
            let violation = all.first_violation(&problem);
            prop_assert_eq!(found.first_violation(&problem), violation.filter(|&k| k <= found.k()));
            if let Some(collapse) = found.collapse() {
                prop_assert_eq!(&all.reachable[collapse], last);
                prop_assert!(collapse == 0 || all.reachable[collapse - 1] != *last);
            }
        }
    }

    /// With a limit on the states, the oracle gives the same answer as without, or none.
    #[test]
    fn a_limit_does_not_change_whether_contexts_are_finite(problem in problem(&Shape { symbols: 1..=2, actions: 0..=5, ..Shape::default() })) {
        for thread in problem.system().threads() {
            let is_finite = oracle::finite_contexts(problem.system(), thread);
            for limit in [2, 20, 2000] {
                let found = oracle::finite_contexts_within(problem.system(), thread, limit);
                prop_assert!(found.is_none_or(|found| found == is_finite));
            }
        }
    }
}
