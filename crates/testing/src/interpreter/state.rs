//! States of a program as it is run, and what is compared of them.

use super::sorted;
use std::collections::BTreeMap;

/// What is compared of a state: places and variables. Of an error, only the error.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Projection {
    /// The error that ended the run, and where its statement starts.
    pub error: Option<(ErrorKind, u32)>,
    /// The shared variables, in the order of their declarations.
    pub shared: Vec<bool>,
    /// The stack of each thread, outermost call first.
    pub threads: Vec<Vec<ProjectedFrame>>,
    /// For each pool the threads that have not started yet, sorted.
    pub pending: Vec<Vec<ProjectedFrame>>,
    /// The locks that are held, and by which thread; by none, if it has ended. The one without a
    /// name is called `lock`.
    pub locks: BTreeMap<String, Option<usize>>,
    /// The thread that is in an atomic section.
    pub atomic: Option<usize>,
}

/// A call under way.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ProjectedFrame {
    /// The number of the function.
    pub function: usize,
    /// Where it is.
    pub place: Place,
    /// The variables of the thread; nothing except in the innermost call.
    pub thread_locals: Vec<bool>,
    /// The variables of the call: parameters, then the others.
    pub locals: Vec<bool>,
}

/// A place in a function, by the byte at which something starts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Place {
    /// Before a statement.
    At(u32),
    /// After the return of a call, before its results are assigned.
    Results(u32),
    /// At the bracket that ends the function.
    End(u32),
    /// At the bracket that ends an atomic block.
    LeaveAtomic(u32),
    /// In a call.
    Calling(u32),
}

/// What can go wrong.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ErrorKind {
    /// An `assert` that fails.
    Assert,
    /// An `unlock` of what the thread does not hold.
    Unlock,
}

/// A state of the whole program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct State {
    pub(super) error: Option<(ErrorKind, u32)>,
    pub(super) shared: Vec<bool>,
    /// The locks that are held, and by which thread; by nobody any more, if it has ended.
    pub(super) locks: BTreeMap<Option<String>, Option<usize>>,
    pub(super) section: Option<Section>,
    /// For each pool the threads that have not started yet, sorted.
    pub(super) pending: Vec<Vec<Thread>>,
    pub(super) threads: Vec<Thread>,
}

/// An atomic section: whose it is, and what began it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Section {
    pub(super) thread: usize,
    /// The block, and how high the stack was, if not `atomic_begin`.
    pub(super) block: Option<(usize, u32)>,
}

/// A thread. One that has ended, or not begun, has no stack and no variables.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(super) struct Thread {
    pub(super) thread_locals: Vec<bool>,
    /// Outermost call first.
    pub(super) stack: Vec<Frame>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Frame {
    pub(super) function: usize,
    pub(super) place: Place,
    pub(super) locals: Vec<bool>,
    /// At [`Place::Results`], what is to be assigned.
    pub(super) results: Vec<bool>,
}

impl State {
    /// What is compared of it.
    pub fn projection(&self) -> Projection {
        if self.error.is_some() {
            return Projection { error: self.error, ..Projection::default() };
        }
        // A thread that has not started has one call.
        let pending = |pool: &Vec<Thread>| pool.iter().flat_map(Thread::projection).collect();
        Projection {
            error: None,
            shared: self.shared.clone(),
            threads: self.threads.iter().map(Thread::projection).collect(),
            pending: self.pending.iter().map(pending).map(sorted).collect(),
            locks: self
                .locks
                .iter()
                .map(|(lock, holder)| (lock.clone().unwrap_or("lock".to_owned()), *holder))
                .collect(),
            atomic: self.section.as_ref().map(|section| section.thread),
        }
    }

    pub(super) fn top(&self, thread: usize) -> &Frame {
        self.threads[thread].stack.last().expect("the thread has not ended")
    }

    pub(super) fn top_mut(&mut self, thread: usize) -> &mut Frame {
        self.threads[thread].stack.last_mut().expect("the thread has not ended")
    }

    /// This state, but with the thread at another place of its function.
    pub(super) fn moved(&self, thread: usize, place: Place) -> State {
        let mut state = self.clone();
        state.top_mut(thread).place = place;
        state
    }

    pub(super) fn failed(&self, kind: ErrorKind, at: u32) -> State {
        State { error: Some((kind, at)), ..self.clone() }
    }

    /// The section goes on unless it began in one of these blocks of the thread's innermost call.
    pub(super) fn leave_blocks(&mut self, thread: usize, left: impl Fn(u32) -> bool) {
        let height = self.threads[thread].stack.len();
        let began = self.section.as_ref().and_then(|section| section.block);
        if began.is_some_and(|(began, block)| began == height && left(block)) {
            self.section = None;
        }
    }

    /// The thread ends, and with it its section. Its locks stay locked: a thread in its place later
    /// is not the one that holds them.
    pub(super) fn end_thread(&mut self, thread: usize) {
        self.threads[thread] = Thread::default();
        self.section = None;
        for holder in self.locks.values_mut().filter(|holder| **holder == Some(thread)) {
            *holder = None;
        }
    }
}

impl Thread {
    pub(super) fn projection(&self) -> Vec<ProjectedFrame> {
        let frame = |(i, frame): (usize, &Frame)| ProjectedFrame {
            function: frame.function,
            place: frame.place,
            thread_locals: if i + 1 == self.stack.len() { self.thread_locals.clone() } else { Vec::new() },
            locals: frame.locals.clone(),
        };
        self.stack.iter().enumerate().map(frame).collect()
    }
}
