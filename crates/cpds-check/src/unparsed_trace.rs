//! A trace from a file, whose states are stored as texts until the replay.
//!
//! A few characters can describe a thousand equal stacks, and every step has a state. So the replay
//! ([`replay`](crate::replay)) parses one state at a time. The memory of the trace is proportional
//! to its text.

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
    /// The position of the rule in [`Program::rules`](cpds::Program::rules).
    pub(crate) rule: usize,
    /// The state after the step.
    pub(crate) state: Box<str>,
}
