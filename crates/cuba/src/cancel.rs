//! The cancel token: stops a computation, from any thread or at a deadline.
//!
//! A caller passes a clone of a [`Cancel`] to a computation, and stops the computation with the
//! token. A computation that was stopped returns why ([`Halt`]), and never a guess.

use std::fmt::{self, Display, Formatter};
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
    /// The process has reached its memory limit.
    Memory,
    /// Another process, which stored a part of the states, is lost.
    Lost,
}

impl Display for Halt {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Halt::Superseded => "the result is not needed any more",
            Halt::Interrupted => "the analysis was cancelled",
            Halt::TimeOut => "the time limit is reached",
            Halt::Memory => "the memory limit is reached",
            Halt::Lost => "another process is lost",
        })
    }
}

/// A token that stops a computation. All clones of a token stop together. A stopped token stays
/// stopped: another analysis needs a new token.
#[derive(Clone, Default, Debug)]
pub struct Cancel {
    halt: Arc<OnceLock<Halt>>,
    /// If this token stops, so does the child.
    parent: Option<Arc<Cancel>>,
    deadline: Option<Instant>,
}

impl Cancel {
    /// Creates a token that is not stopped.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops the computation, for this reason. The first reason counts.
    pub fn stop(&self, why: Halt) {
        let _ = self.halt.set(why);
    }

    /// Creates a token that also stops when this one stops, and at the end of the timeout.
    #[must_use]
    pub fn child(&self, timeout: Option<Duration>) -> Self {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        Cancel { halt: Arc::default(), parent: Some(Arc::new(self.clone())), deadline }
    }

    /// Returns the reason why the computation has to stop. `None` if it may continue.
    pub fn why(&self) -> Option<Halt> {
        if let Some(&why) = self.halt.get() {
            return Some(why);
        }
        if let Some(why) = self.parent.as_ref().and_then(|parent| parent.why()) {
            return Some(why);
        }
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline).then_some(Halt::TimeOut)
    }
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
        assert_eq!(Cancel::new().why(), None, "a separate token is not stopped");
    }

    #[test]
    fn the_deadline_of_a_child_does_not_stop_its_parent() {
        let token = Cancel::new();
        assert_eq!(token.child(Some(Duration::ZERO)).why(), Some(Halt::TimeOut));
        assert_eq!(token.child(Some(Duration::from_secs(1 << 20))).why(), None);
        assert_eq!(token.why(), None);
    }
}
