//! States of a running program, and their projections, which tests compare.

use super::sorted;
use std::collections::BTreeMap;

/// The part of a state that tests compare: places and variables. For an error state, only the
/// error.
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
    /// The locked locks, each with the thread that holds it; `None` if that thread has ended. The
    /// lock without a name is called `lock`.
    pub locks: BTreeMap<String, Option<usize>>,
    /// The thread that is in an atomic section.
    pub atomic: Option<usize>,
}

/// A call of a function that has not returned.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ProjectedFrame {
    /// The number of the function.
    pub function: usize,
    /// The place in the function.
    pub place: Place,
    /// The thread-local variables; empty except in the innermost call.
    pub thread_locals: Vec<bool>,
    /// The variables of the call: parameters, then the others.
    pub locals: Vec<bool>,
}

/// A place in a function, as an offset in the text.
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
    /// In a call that this statement makes.
    Calling(u32),
}

/// The kind of an error.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ErrorKind {
    /// An `assert` that fails.
    Assert,
    /// An `unlock` of a lock that the thread does not hold.
    Unlock,
}

/// A state of the whole program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct State {
    pub(super) error: Option<(ErrorKind, u32)>,
    pub(super) shared: Vec<bool>,
    /// The locked locks, each with the thread that holds it; `None` if that thread has ended.
    pub(super) locks: BTreeMap<Option<String>, Option<usize>>,
    pub(super) section: Option<Section>,
    /// For each pool the threads that have not started yet, sorted.
    pub(super) pending: Vec<Vec<Thread>>,
    pub(super) threads: Vec<Thread>,
}

/// An atomic section: its thread, and the block that began it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Section {
    pub(super) thread: usize,
    /// The height of the stack at its beginning, and the block; `None` if `atomic_begin` began it.
    pub(super) block: Option<(usize, u32)>,
}

/// A thread. Before it starts and after it ends, it has no stack and no variables.
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
    /// At [`Place::Results`], the results to be assigned.
    pub(super) results: Vec<bool>,
}

impl State {
    /// Returns the part of the state that tests compare.
    pub fn projection(&self) -> Projection {
        if self.error.is_some() {
            return Projection { error: self.error, ..Projection::default() };
        }
        // A thread that has not started has one frame.
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

    /// Returns this state, with the thread at another place of its function.
    pub(super) fn moved(&self, thread: usize, place: Place) -> State {
        let mut state = self.clone();
        state.top_mut(thread).place = place;
        state
    }

    pub(super) fn failed(&self, kind: ErrorKind, at: u32) -> State {
        State { error: Some((kind, at)), ..self.clone() }
    }

    /// Ends the section if it began in one of these blocks of the thread's innermost call.
    pub(super) fn leave_blocks(&mut self, thread: usize, left: impl Fn(u32) -> bool) {
        let height = self.threads[thread].stack.len();
        let began = self.section.as_ref().and_then(|section| section.block);
        if began.is_some_and(|(began, block)| began == height && left(block)) {
            self.section = None;
        }
    }

    /// Ends the thread and its section. Its locks stay locked, but have no holder: a later thread
    /// in this slot does not hold them.
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
