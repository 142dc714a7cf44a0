//! Tests: the levels, counters and traces do not depend on the partition of the states.

mod checkpoints;
mod exploration;
mod malformed_blocks;
mod partitions;

use cpds::Problem;
use cpds_testing::random::{Shape, problem};
use proptest::prelude::*;

/// Random systems of different shapes.
fn problems() -> impl Strategy<Value = Problem> {
    let alike = Shape { programs: 1..=2, copies: 1..=3, copies_start_alike: true, bad: 1..=2, ..Shape::default() };
    let busy =
        Shape { programs: 2..=2, copies: 1..=2, actions: 6..=14, symbols: 2..=5, bad: 1..=1, ..Shape::default() };
    prop_oneof![problem(&Shape { initial: 1..=5, ..Shape::default() }), problem(&alike), problem(&busy),]
}

/// Random systems with many threads.
fn crowds() -> impl Strategy<Value = Problem> {
    let shape = Shape { bad: 1..=1, ..Shape::crowd() };
    prop_oneof![problem(&shape), problem(&Shape { copies_start_alike: true, ..shape })]
}
