//! Stopping early: cancellation, deadlines and memory.
//!
//! A [`Cancel`] is a token that a caller clones, keeps, and uses to stop a computation from another
//! thread. A computation that was stopped, or that does not fit into the memory, answers with a
//! value of this module and never with a guess.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

/// Why a computation has to stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Halt {
    /// Its result is not needed any more.
    Superseded,
    /// The caller cancelled it.
    Interrupted,
    /// There is no time left.
    TimeOut,
    /// The process has all the memory that it may have.
    Memory,
    /// Another process that had a part of the states is gone.
    Lost,
}

/// A token that stops a computation. All clones of a token stop together.
#[derive(Clone, Default, Debug)]
pub struct Cancel {
    halt: Arc<OnceLock<Halt>>,
    /// What stops this one, too.
    parent: Option<Arc<Cancel>>,
    until: Option<Instant>,
}

impl Cancel {
    /// A token that stops nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops the computation, for this reason. The first reason counts.
    pub fn stop(&self, why: Halt) {
        let _ = self.halt.set(why);
    }

    /// A token of its own, which this one stops, too, and which stops after so much time.
    #[must_use]
    pub fn child(&self, timeout: Option<Duration>) -> Self {
        let until = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        Cancel { halt: Arc::default(), parent: Some(Arc::new(self.clone())), until }
    }

    /// Whether the computation has to stop, and why.
    pub fn why(&self) -> Option<Halt> {
        if let Some(&why) = self.halt.get() {
            return Some(why);
        }
        if let Some(why) = self.parent.as_ref().and_then(|parent| parent.why()) {
            return Some(why);
        }
        self.until.is_some_and(|until| Instant::now() >= until).then_some(Halt::TimeOut)
    }
}

/// A computation would take more memory than there is for it, or was stopped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooLarge;

/// Why a level, or an overapproximation, was not finished.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Unfinished<B> {
    /// It would take more memory than there is for it.
    TooLarge,
    /// The watcher stopped it.
    Stopped(B),
}

impl<B> From<TooLarge> for Unfinished<B> {
    fn from(TooLarge: TooLarge) -> Self {
        Unfinished::TooLarge
    }
}

/// The bytes of a hash table with so many numbers of 32 bits.
pub(crate) fn bytes_of_table(len: usize) -> usize {
    (len + 1).saturating_mul(8).div_ceil(7).next_power_of_two() * (size_of::<u32>() + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_stops_its_clones_and_its_children() {
        let token = Cancel::new();
        let (clone, child) = (token.clone(), token.child(None));
        assert_eq!((token.why(), clone.why(), child.why()), (None, None, None));
        child.stop(Halt::Superseded);
        assert_eq!((token.why(), child.why()), (None, Some(Halt::Superseded)));
        let child = token.child(None).child(None);
        clone.stop(Halt::Interrupted);
        clone.stop(Halt::Memory);
        assert_eq!((token.why(), child.why()), (Some(Halt::Interrupted), Some(Halt::Interrupted)));
        assert_eq!(Cancel::new().why(), None, "another token is not concerned");
    }

    #[test]
    fn a_deadline_is_the_child_s_own() {
        let token = Cancel::new();
        assert_eq!(token.child(Some(Duration::ZERO)).why(), Some(Halt::TimeOut));
        assert_eq!(token.child(Some(Duration::from_secs(1 << 20))).why(), None);
        assert_eq!(token.why(), None);
    }
}
