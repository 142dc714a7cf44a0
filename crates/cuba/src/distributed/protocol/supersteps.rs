//! The interface that runs one superstep of all shares, wherever they are.
//!
//! A superstep is complete when all shares have replied. The blocks that the shares send in one
//! superstep arrive before the next one.

use crate::distributed::protocol::messages::{Command, Failure, Reply};
use std::sync::Arc;

/// Runs supersteps of all shares.
pub trait Supersteps {
    /// Returns the number of parts. Each part has one share.
    fn parts(&self) -> usize;

    /// Returns the number of parts in this process. They have the smallest numbers.
    fn local_parts(&self) -> usize;

    /// Runs one superstep: all shares run this command. Returns the replies, by part.
    fn superstep(&self, command: Command) -> Vec<Reply>;

    /// Ends the run in all processes because a share failed. There is no answer then.
    fn give_up(&self, why: &Failure);
}

/// The supersteps of shares in several processes.
pub type Elsewhere = Arc<dyn Supersteps + Send + Sync>;

impl Supersteps for Elsewhere {
    fn parts(&self) -> usize {
        (**self).parts()
    }

    fn local_parts(&self) -> usize {
        (**self).local_parts()
    }

    fn superstep(&self, command: Command) -> Vec<Reply> {
        (**self).superstep(command)
    }

    fn give_up(&self, why: &Failure) {
        (**self).give_up(why);
    }
}
