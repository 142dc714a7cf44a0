//! States of a program: what is shared, and frames of calls. In the system they are shared states
//! and stack symbols.
//!
//! Nobody is named: what only one thread may know of itself (that it is in an atomic section, that
//! it holds a lock) is in its topmost frame, and the shared state has what the others must know. So
//! threads with the same program stay interchangeable.

mod liveness;
mod number_set;
mod shared_states;
mod valuation;

pub(crate) use liveness::live_variables;
pub(crate) use number_set::NumberSet;
pub(crate) use shared_states::{ENTRY, SharedStates, Table};
pub(crate) use valuation::{Cutoff, OpenVariable, Stop, Store, Valuation, evaluate};

/// A shared state.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Shared {
    Running(Running),
    /// The run has ended, with an error at this node.
    Error(usize),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Running {
    pub(crate) variables: Valuation,
    /// The locks that somebody holds.
    pub(crate) locked: NumberSet,
    /// Whether a thread is in an atomic section.
    pub(crate) is_atomic: bool,
    pub(crate) handover: Handover,
    /// Threads that were created and have not started: their pools and frames, sorted.
    pub(crate) pending: Vec<(u32, Frame)>,
    /// How many threads that were created are there, if that is limited.
    pub(crate) created: u32,
}

impl Running {
    /// The same with other variables, and with a thread in an atomic section or without one.
    pub(crate) fn with(&self, variables: Valuation, is_atomic: bool) -> Running {
        let Running { locked, handover, pending, created, .. } = self;
        let (locked, handover, pending) = (locked.clone(), handover.clone(), pending.clone());
        Running { variables, locked, is_atomic, handover, pending, created: *created }
    }
}

/// What lies between two frames of one thread.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Handover {
    Nothing,
    /// Few shared states have them.
    Results(Box<ReturnData>),
    /// The thread ends, frame by frame.
    End,
}

/// Results of a call, and what the thread knows of itself.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ReturnData {
    pub(crate) results: Valuation,
    pub(crate) section: Section,
    pub(crate) held: NumberSet,
    pub(crate) thread_locals: Valuation,
}

/// A stack symbol.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Frame {
    pub(crate) node: usize,
    pub(crate) kind: FrameKind,
    pub(crate) section: Section,
    /// The locks that its thread holds.
    pub(crate) held: NumberSet,
    /// Thread-local variables, then parameters, then the others.
    pub(crate) local: Valuation,
    /// Results of a call that are not assigned yet.
    pub(crate) results: Valuation,
}

impl Frame {
    /// How many bytes it takes beside its own, if no copy shares them.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.held.heap_bytes() + self.local.heap_bytes() + self.results.heap_bytes()
    }
}

/// How a frame came to be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum FrameKind {
    /// By a call; or it is the lowest, and returns like any other.
    Called,
    /// It is the lowest, of a thread that was there from the start.
    Root,
    /// It is the lowest, of a thread that was created, if these are counted.
    Created,
}

/// Whether the thread is in an atomic section.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Section {
    Outside,
    /// In one that a block of this call began, known by the node that leaves it.
    Block(usize),
    /// In one that `atomic_begin` began, in this call or in one that has returned to it.
    Begun,
    /// In that of the caller.
    Inherited,
}
