//! States of a program. They become the shared states and the stack symbols of the system.
//!
//! In: the graph of the program. Out: the types of shared states, frames and valuations, tables
//! that number shared states, and the live variables.
//!
//! No shared state names a thread. The topmost frame of a thread stores whether the thread is in an
//! atomic section, and which locks it holds. The shared state stores only whether any thread is in
//! an atomic section, and which locks are held. So threads with the same program stay
//! interchangeable.

mod liveness;
mod number_set;
mod shared_states;
mod valuation;

pub(crate) use liveness::live_variables;
pub(crate) use number_set::NumberSet;
pub(crate) use shared_states::{ENTRY, SharedStates, Table};
pub(crate) use valuation::{Cutoff, OpenVariable, Stop, Store, Valuation, evaluate};

/// A shared state of a program.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Shared {
    Running(Running),
    /// The run has ended with an error at this node.
    Error(usize),
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Running {
    pub(crate) variables: Valuation,
    /// The locks that are held.
    pub(crate) locked: NumberSet,
    /// Whether a thread is in an atomic section.
    pub(crate) is_atomic: bool,
    pub(crate) handover: Handover,
    /// The threads that were created and have not started: their pools and first frames, sorted.
    pub(crate) pending: Vec<(u32, Frame)>,
    /// The number of created threads that have not ended, if there is a limit; otherwise 0.
    pub(crate) created: u32,
}

impl Running {
    /// Copies this state with other values of `variables` and `is_atomic`.
    pub(crate) fn with(&self, variables: Valuation, is_atomic: bool) -> Running {
        let Running { locked, handover, pending, created, .. } = self;
        let (locked, handover, pending) = (locked.clone(), handover.clone(), pending.clone());
        Running { variables, locked, is_atomic, handover, pending, created: *created }
    }
}

/// The data that a returning thread passes from its callee's frame to its caller's frame.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Handover {
    Nothing,
    /// The data of a return. It is boxed because few shared states have it.
    Results(Box<ReturnData>),
    /// The thread ends: it pops all of its frames.
    End,
}

/// The data of a return: the results, and the thread's section, locks and thread-local variables.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct ReturnData {
    pub(crate) results: Valuation,
    pub(crate) section: Section,
    pub(crate) held: NumberSet,
    pub(crate) thread_locals: Valuation,
}

/// A frame of a call, which becomes a stack symbol.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Frame {
    pub(crate) node: usize,
    pub(crate) kind: FrameKind,
    pub(crate) section: Section,
    /// The locks that the thread holds.
    pub(crate) held: NumberSet,
    /// Thread-local variables, then parameters, then the other local variables.
    pub(crate) local: Valuation,
    /// The results of a call that are not assigned yet.
    pub(crate) results: Valuation,
}

impl Frame {
    /// Returns the heap memory in bytes, as if no copy shared it.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.held.heap_bytes() + self.local.heap_bytes() + self.results.heap_bytes()
    }
}

/// The kind of a frame, given by its creation. It determines the effect of a return.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum FrameKind {
    /// Created by a call. Also the lowest frame of a thread, if its return has the same effect as
    /// the return of a call.
    Called,
    /// The lowest frame of a thread that exists from the initial state on.
    Root,
    /// The lowest frame of a created thread, if created threads are counted.
    Created,
}

/// The atomic section of a thread.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Section {
    Outside,
    /// In a section that an `atomic` block of this call began. The number is the node that leaves
    /// it.
    Block(usize),
    /// In a section that `atomic_begin` began, in this call or in a call that has returned to it.
    Begun,
    /// In a section that a caller began.
    Inherited,
}
