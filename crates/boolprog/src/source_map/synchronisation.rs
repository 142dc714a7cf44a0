//! Synchronisation in a state of the system: locks, atomic sections, and threads that wait to
//! start.
//!
//! A shared state stores which locks are held, and whether a thread is in an atomic section. The
//! topmost frame of a thread stores the locks and the section of this thread. During a return, the
//! handover stores them instead.

use super::{SourceFrame, SourceMap};
use crate::graph::Step;
use crate::states::{Frame, Handover, NumberSet, Running, Section, Shared};
use cpds::{GlobalState, SharedState, Stack, ThreadId};

/// Locks, atomic sections and waiting threads in a state.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Synchronisation<'m> {
    /// The locks that are held.
    pub locks: Vec<HeldLock<'m>>,
    /// The thread that is in an atomic section.
    pub atomic: Option<ThreadId>,
    /// The first frames of the threads that were created and have not started.
    pub waiting: Vec<SourceFrame<'m>>,
}

/// A lock that is held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HeldLock<'m> {
    /// The lock.
    pub name: &'m str,
    /// The thread that took the lock. `None` if that thread has ended and is not known from the
    /// previous state.
    pub holder: Option<ThreadId>,
    /// Whether that thread has ended, so that no thread releases the lock. Another thread may use
    /// its slot.
    pub has_ended: bool,
}

/// A change of locks, atomic sections or threads by a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SynchronisationEvent<'m> {
    /// The thread takes this lock.
    Takes(&'m str),
    /// The thread releases this lock.
    Frees(&'m str),
    /// The thread ends and does not release this lock.
    Keeps(&'m str),
    /// The thread enters an atomic section.
    EntersAtomic,
    /// The atomic section of the thread ends.
    LeavesAtomic,
    /// The thread creates another one, which waits to start with this frame.
    Creates(SourceFrame<'m>),
}

/// The locks that one thread holds, and whether it is in an atomic section.
#[derive(Clone, PartialEq, Eq, Default)]
pub(crate) struct ThreadSynchronisation {
    pub(crate) held: NumberSet,
    pub(crate) is_atomic: bool,
}

impl SourceMap {
    /// Computes the locks, the atomic section and the waiting threads of a state. `before` is the
    /// result for the previous state. It tells which thread holds a lock after that thread has
    /// ended. The state of an error has the result of its previous state.
    pub fn synchronisation<'m>(
        &'m self,
        state: &GlobalState,
        before: Option<&Synchronisation<'m>>,
    ) -> Synchronisation<'m> {
        let Shared::Running(running) = self.rest(state.shared) else { return before.cloned().unwrap_or_default() };
        let own: Vec<ThreadSynchronisation> =
            state.stacks.iter().map(|stack| self.thread_synchronisation(running, stack)).collect();
        let thread_with = |holds: &dyn Fn(&ThreadSynchronisation) -> bool| (0..).zip(&own).find(|(_, own)| holds(own));
        let lock = |(number, name): (usize, &'m str)| {
            let holder = thread_with(&|own| own.held.contains(number)).map(|(i, _)| ThreadId(i));
            let earlier = || before?.locks.iter().find(|lock| lock.name == name)?.holder;
            HeldLock { name, holder: holder.or_else(earlier), has_ended: holder.is_none() }
        };
        Synchronisation {
            locks: self.locks(&running.locked).map(lock).collect(),
            atomic: thread_with(&|own| own.is_atomic).map(|(i, _)| ThreadId(i)),
            waiting: running.pending.iter().map(|(_, frame)| self.source_frame(frame)).collect(),
        }
    }

    /// Iterates over the names of all locks.
    pub fn lock_names(&self) -> impl Iterator<Item = &str> {
        self.graph.locks.iter().map(String::as_str)
    }

    /// Computes the synchronisation events of a step.
    pub(crate) fn synchronised(
        &self,
        (q, old): (SharedState, &Stack),
        (p, new): (SharedState, &Stack),
    ) -> Vec<SynchronisationEvent<'_>> {
        let (before, after) = (self.rest(q), self.rest(p));
        let (from, to) = (self.thread_synchronisation_in(before, old), self.thread_synchronisation_in(after, new));
        let (Shared::Running(before), Shared::Running(after)) = (before, after) else { return Vec::new() };
        let mut events: Vec<SynchronisationEvent<'_>> = Vec::new();
        events.extend(self.locks(&to.held.difference(&from.held)).map(|(_, name)| SynchronisationEvent::Takes(name)));
        let given_up = from.held.difference(&to.held);
        events
            .extend(self.locks(&given_up.difference(&after.locked)).map(|(_, name)| SynchronisationEvent::Frees(name)));
        events.extend(
            self.locks(&given_up.intersection(&after.locked)).map(|(_, name)| SynchronisationEvent::Keeps(name)),
        );
        match (from.is_atomic, to.is_atomic) {
            (false, true) => events.push(SynchronisationEvent::EntersAtomic),
            (true, false) => events.push(SynchronisationEvent::LeavesAtomic),
            _ => {}
        }
        let mut old = before.pending.clone();
        for it in &after.pending {
            match old.iter().position(|other| other == it) {
                Some(known) => drop(old.swap_remove(known)),
                None => events.push(SynchronisationEvent::Creates(self.source_frame(&it.1))),
            }
        }
        events
    }

    /// Returns whether a thread is in an atomic section.
    pub(crate) fn is_in_atomic(&self, q: SharedState, stack: &Stack) -> bool {
        self.thread_synchronisation_in(self.rest(q), stack).is_atomic
    }

    /// Iterates over the locks of a set: their numbers and names.
    pub(crate) fn locks<'m>(&'m self, locks: &NumberSet) -> impl Iterator<Item = (usize, &'m str)> + use<'m> {
        let numbers: Vec<usize> = locks.iter().collect();
        numbers.into_iter().map(|number| (number, self.graph.locks[number].as_str()))
    }

    fn thread_synchronisation_in(&self, shared: &Shared, stack: &Stack) -> ThreadSynchronisation {
        match shared {
            Shared::Running(running) => self.thread_synchronisation(running, stack),
            // An error changes nothing.
            Shared::Error(_) => stack
                .top()
                .map_or(ThreadSynchronisation::default(), |top| ThreadSynchronisation::of(self.meaning.frame(top))),
        }
    }

    pub(crate) fn thread_synchronisation(&self, running: &Running, stack: &Stack) -> ThreadSynchronisation {
        let Some(top) = stack.top().map(|top| self.meaning.frame(top)) else { return ThreadSynchronisation::default() };
        let is_returning = matches!(self.graph.nodes[top.node].step, Step::Await { .. });
        match &running.handover {
            Handover::Results(handed) if is_returning => {
                ThreadSynchronisation { held: handed.held.clone(), is_atomic: handed.section != Section::Outside }
            }
            // The thread has ended, and pops its remaining frames.
            Handover::End if is_returning => ThreadSynchronisation::default(),
            _ => ThreadSynchronisation::of(top),
        }
    }
}

impl ThreadSynchronisation {
    fn of(frame: &Frame) -> Self {
        ThreadSynchronisation { held: frame.held.clone(), is_atomic: frame.section != Section::Outside }
    }
}
