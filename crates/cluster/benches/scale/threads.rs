//! How far each engine gets with more and more threads that are all the same: in finite contexts,
//! and in infinite ones.

use crate::unlike::compare_all;
use cpds_testing::families::{Recursion, stefan};

/// Runs them all, and prints a table for each number of threads.
pub(crate) fn compare() {
    for threads in [2, 4, 6, 8, 10] {
        let families =
            [("recursion", Recursion { threads, depth: 2, shared: 3 }.problem()), ("stefan", stefan(threads))];
        compare_all(threads, &families);
    }
}
