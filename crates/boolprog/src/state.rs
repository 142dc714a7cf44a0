//! States of a program: what is shared, and frames of calls. In the system they are shared states and stack symbols.
//!
//! Nobody is named: what only one thread may know of itself (that it is in an atomic section, that it holds a lock) is in its topmost frame, and
//! the shared state has what the others must know. So threads with the same program stay interchangeable.

use crate::store::Bits;

/// A shared state.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Shared {
    Running(Running),
    /// The run has ended, with an error at this node.
    Error(usize),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Running {
    pub(crate) variables: Bits,
    /// The locks that somebody holds.
    pub(crate) locked: u32,
    /// Whether a thread is in an atomic section.
    pub(crate) is_atomic: bool,
    pub(crate) handover: Handover,
    /// Threads that were created and have not started: their pools and frames, sorted.
    pub(crate) pending: Vec<(u32, Frame)>,
    /// How many threads that were created are there, if that is limited.
    pub(crate) created: u32,
}

/// What lies between two frames of one thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Handover {
    Nothing,
    /// Results, and what the thread knows of itself.
    Results {
        results: Bits,
        section: Section,
        held: u32,
        thread_locals: Bits,
    },
    /// The thread ends, frame by frame.
    End,
}

/// A stack symbol.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Frame {
    pub(crate) node: usize,
    pub(crate) kind: FrameKind,
    pub(crate) section: Section,
    /// The locks that its thread holds.
    pub(crate) held: u32,
    /// Thread-local variables, then parameters, then the others.
    pub(crate) local: Bits,
    /// Results of a call that are not assigned yet.
    pub(crate) results: Bits,
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
