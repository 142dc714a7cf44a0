//! Malformed blocks and invalid commands are failures. No share panics.

use crate::distributed::protocol::messages::{Begin, Command, Failure, Reply};
use crate::distributed::protocol::supersteps::Supersteps;
use crate::distributed::share::Share;
use crate::distributed::single_process::SingleProcess;
use crate::distributed::tests::problems;
use crate::explicit::partition::owner::PartId;
use crate::explicit::partition::wire_format::Malformed;
use crate::tuning::Tuning;
use cpds::Problem;
use proptest::prelude::*;
use std::cell::Cell;

/// A share that receives a changed block, or arbitrary bytes, reports a failure or continues.
#[test]
fn no_block_makes_a_share_panic() {
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4);
    let failed = Cell::new(0);
    proptest!(ProptestConfig::with_cases(300), |(
        problem in problems(), symmetry: bool, seed: u64, changes in changes,
        cut in any::<prop::sample::Index>(), noise in prop::collection::vec(any::<u8>(), 0..12),
    )| {
        let system = problem.system();
        let shares = SingleProcess::new(system, symmetry, 2, seed, Tuning::SMALL);
        shares.superstep(Command::Expand { begin: Begin::Level, steps: 100 });
        for (_, block) in shares.in_transit.borrow_mut().iter_mut().flatten() {
            for (index, byte) in &changes {
                let at = index.index(block.len());
                block[at] = *byte;
            }
            block.truncate(cut.index(block.len() + 1));
            block.extend_from_slice(&noise);
        }
        shares.in_transit.borrow_mut()[0].push((1, noise));
        let replies = shares.superstep(Command::Expand { begin: Begin::Nothing, steps: 100 });
        failed.set(failed.get() + replies.iter().filter(|reply| matches!(reply, Reply::Failed(_))).count());
    });
    assert!(failed.get() > 100, "only {}", failed.get());
}

/// A share rejects commands and blocks that do not fit its state.
#[test]
fn invalid_commands_and_blocks_are_failures() {
    let problem: Problem = include_str!("../../../../../models/squeeze/journal.cpds").parse().unwrap();
    let mut share = Share::new(problem.system(), true, PartId { part: 0, parts: 2, seed: 0 }, Tuning::SMALL);
    let mut reply = |command, received| share.step(command, received, &mut |_, _| {});
    let expand = |begin| Command::Expand { begin, steps: 1 };
    assert_eq!(reply(expand(Begin::Wave), Vec::new()), Reply::Failed(Failure::Command));
    let read = Command::ReadStates { from: 0, k: 1, is_first: true };
    assert_eq!(reply(read, Vec::new()), Reply::Failed(Failure::Command));
    let block = |why| Reply::Failed(Failure::Block { from: 1, why });
    assert_eq!(reply(Command::EndLevel, vec![(1, Vec::new())]), block(Malformed::NotNow));
    let _ = reply(expand(Begin::Level), Vec::new());
    assert_eq!(reply(expand(Begin::Nothing), vec![(1, vec![0x80])]), block(Malformed::CutShort));
    assert_eq!(reply(expand(Begin::Nothing), vec![(1, vec![0x80; 20])]), block(Malformed::NoNumber));
    assert_eq!(reply(expand(Begin::Nothing), vec![(1, vec![1, 7])]), block(Malformed::Unknown));
}
