//! A trace that was read from a file: its states stay texts until the replay.
//!
//! A few characters can describe a thousand equal stacks, and every step has a state. So the replay
//! ([`replay`](crate::replay)) parses one state at a time. The trace takes no more memory than its
//! text, up to a small factor.

use cpds::{GlobalState, ThreadId};

/// A trace with states as texts. Each text was checked to be a state of the system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnparsedTrace {
    pub(crate) initial: GlobalState,
    pub(crate) contexts: Vec<UnparsedContext>,
}

/// Consecutive steps of one thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct UnparsedContext {
    pub(crate) thread: ThreadId,
    pub(crate) steps: Vec<UnparsedStep>,
}

/// One step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct UnparsedStep {
    /// The rule that it fires, as its position in [`Program::rules`](cpds::Program::rules).
    pub(crate) rule: usize,
    /// The state that it leads to.
    pub(crate) state: Box<str>,
}
