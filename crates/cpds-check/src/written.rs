//! A trace as it was read: its states are texts.
//!
//! A text can say in a few characters that a thousand stacks are alike, and every step has a state.
//! So the states are made one at a time when the trace is replayed ([`replay`](crate::replay)), and
//! the trace takes no more memory than its text, up to a small factor.

use cpds::{GlobalState, ThreadId};

/// A trace. Every text in it is a state of the system for which it was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Written {
    pub(crate) initial: GlobalState,
    pub(crate) contexts: Vec<WrittenContext>,
}

/// Consecutive steps of one thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct WrittenContext {
    pub(crate) thread: ThreadId,
    pub(crate) steps: Vec<WrittenStep>,
}

/// A step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct WrittenStep {
    /// The rule that it fires, as its position in [`Program::rules`](cpds::Program::rules).
    pub(crate) rule: usize,
    /// The state that it leads to.
    pub(crate) state: Box<str>,
}
