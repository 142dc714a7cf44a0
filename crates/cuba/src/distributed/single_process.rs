//! Supersteps of shares that are all in this process: one share runs after the other.
//!
//! No network takes part, so tests can compare any partition with one exploration.

use crate::distributed::protocol::messages::{Command, Failure, Reply};
use crate::distributed::protocol::supersteps::Supersteps;
use crate::distributed::share::Share;
use crate::distributed::share::checkpoint::ShareStore;
use crate::explicit::partition::owner::PartId;
use crate::tuning::Tuning;
use cpds::Cpds;
use std::cell::RefCell;
use std::sync::Arc;

/// All shares of a system, in this process.
pub struct SingleProcess<'a> {
    shares: RefCell<Vec<Share<'a>>>,
    /// For each part, the blocks that arrive in the next superstep.
    pub(super) in_transit: RefCell<Vec<ReceivedBlocks>>,
}

/// Blocks for one part, each with the number of its sender.
type ReceivedBlocks = Vec<(usize, Vec<u8>)>;

impl<'a> SingleProcess<'a> {
    /// Creates this number of shares of R_0. The seed chooses the partition.
    pub fn new(system: &'a Cpds, symmetry: bool, parts: usize, seed: u64, tuning: Tuning) -> Self {
        Self::with_store(system, symmetry, (parts, seed), None, tuning)
    }

    /// Creates the same shares, with a store for their checkpoints.
    pub fn with_store(
        system: &'a Cpds,
        symmetry: bool,
        (parts, seed): (usize, u64),
        store: Option<&Arc<dyn ShareStore>>,
        tuning: Tuning,
    ) -> Self {
        let share = |part| {
            let id = PartId { part, parts, seed };
            Share::new(system, symmetry, id, tuning).with_limit_and_store(usize::MAX, store.cloned())
        };
        let shares = RefCell::new((0..parts).map(share).collect());
        SingleProcess { shares, in_transit: RefCell::new(vec![Vec::new(); parts]) }
    }
}

impl Supersteps for SingleProcess<'_> {
    fn parts(&self) -> usize {
        self.shares.borrow().len()
    }

    fn local_parts(&self) -> usize {
        self.parts()
    }

    fn superstep(&self, command: Command) -> Vec<Reply> {
        let mut shares = self.shares.borrow_mut();
        let mut sent = vec![Vec::new(); shares.len()];
        let step = |(part, (share, received)): (usize, (&mut Share<'_>, _))| {
            share.step(command.clone(), received, &mut |to, block| sent[to].push((part, block)))
        };
        let replies = shares.iter_mut().zip(self.in_transit.take()).enumerate().map(step).collect();
        self.in_transit.replace(sent);
        replies
    }

    fn give_up(&self, _: &Failure) {}
}
