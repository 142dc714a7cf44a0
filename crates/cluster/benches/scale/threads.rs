//! Measures the largest number of equal threads that each engine can analyse, with finite and with
//! infinite contexts.

use crate::unlike::compare_all;
use cpds_testing::families::{Recursion, stefan};

/// Runs all engines and prints a table for each family.
pub(crate) fn compare() {
    for threads in [2, 4, 6, 8, 10] {
        let families =
            [("recursion", Recursion { threads, depth: 2, shared: 3 }.problem()), ("stefan", stefan(threads))];
        compare_all(threads, &families);
    }
}
