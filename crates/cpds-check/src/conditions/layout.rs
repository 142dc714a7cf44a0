//! The layout of a tuple as a row of numbers: the shared state, and then the languages of the
//! threads, group after group, sorted within each group.

use crate::{Condition, Rejected};
use cpds::{Action, Cpds, SharedState, ThreadId};
use std::collections::BTreeSet;
use std::ops::Range;

/// The thread and the group of each place of a row.
pub(super) struct Layout {
    /// The threads, in the order of their places. Place p belongs to `threads[p - 1]`.
    pub(super) threads: Vec<ThreadId>,
    /// The places of each group.
    pub(super) groups: Vec<Range<usize>>,
    /// The group of each place p, at position p - 1.
    pub(super) group_of: Vec<usize>,
}

impl Layout {
    /// # Errors
    /// If a thread is in no group or in several groups, or if threads of one group have different
    /// actions.
    pub(super) fn new(system: &Cpds, groups: &[Vec<ThreadId>]) -> Result<Self, Rejected> {
        let mut layout = Layout { threads: Vec::new(), groups: Vec::new(), group_of: Vec::new() };
        for (number, group) in groups.iter().enumerate() {
            layout.groups.push(1 + layout.threads.len()..1 + layout.threads.len() + group.len());
            layout.group_of.extend(group.iter().map(|_| number));
            layout.threads.extend(group);
        }
        let all: BTreeSet<ThreadId> = layout.threads.iter().copied().collect();
        if !all.iter().copied().eq(system.threads()) || layout.threads.len() != all.len() {
            return Err(Rejected::Malformed("groups: not every thread is in exactly one group".to_owned()));
        }
        let actions = |thread: ThreadId| -> BTreeSet<Action> {
            system.program(thread).rules().iter().map(|rule| rule.action).collect()
        };
        for group in groups.iter().filter(|group| group.len() > 1) {
            let is_copy = |thread: ThreadId| system.program_index(thread) == system.program_index(group[0]);
            let of_first = actions(group[0]);
            if let Some(&other) = group.iter().find(|&&thread| !is_copy(thread) && actions(thread) != of_first) {
                let (first, other) = (thread_label(system, group[0]), thread_label(system, other));
                let message = format!("{first} and {other} are in one group, but have different actions");
                return Err(Rejected::Violated(Condition::Groups, message));
            }
        }
        Ok(layout)
    }

    /// Makes a row, given the entry of each thread.
    pub(super) fn row(&self, shared: SharedState, by_thread: impl Fn(usize) -> u32) -> Vec<u32> {
        let entries = self.threads.iter().map(|thread| by_thread(thread.index()));
        let mut row: Vec<u32> = std::iter::once(shared.0).chain(entries).collect();
        self.sort(&mut row);
        row
    }

    /// The places of a sorted row; of equal languages in a group, only the first place.
    pub(super) fn distinct_places<'r>(&'r self, row: &'r [u32]) -> impl Iterator<Item = usize> + 'r {
        let is_first = |place: usize| place == self.groups[self.group_of[place - 1]].start;
        (1..row.len()).filter(move |&place| is_first(place) || row[place - 1] != row[place])
    }

    /// Sorts a row within groups.
    pub(super) fn sort(&self, row: &mut [u32]) {
        for group in self.groups.iter().filter(|group| group.len() > 1) {
            row[group.clone()].sort_unstable();
        }
    }
}

/// A thread in a message: its number, counted from 1, and its name.
pub(super) fn thread_label(system: &Cpds, thread: ThreadId) -> String {
    format!("thread {} ({})", thread.index() + 1, system.thread_name(thread))
}
