//! The replies of one share to queries about the states of its levels.
//!
//! A query returns `None` if it is invalid: an unknown level, thread, group or shared state, or a
//! wrong number of stacks. Stacks are named by their symbols. A stack that the share has not stored
//! is in none of its states.

use crate::distributed::protocol::messages::{LastContextMessage, Reply, Word, stack, word};
use crate::distributed::share::Share;
use crate::explicit::partition::wire_format::Writer;
use crate::explicit::tables::stack_table::StackId;
use crate::trace::backwards::ThreadStart;
use crate::trace::last_context::{LastContext, LastContextStart};
use cpds::{Stack, ThreadId};

/// The number of blocks after which a reply ends.
const BLOCKS_PER_REPLY: usize = 16;

impl Share<'_> {
    /// Finds the best end of a trace among the states with this visible state.
    pub(super) fn trace_end(&self, visible: &[u64]) -> Reply {
        let best = self.reachable.best_state(visible);
        Reply::TraceEnd(best.map(|best| (best.level, best.stacks.iter().map(word).collect())))
    }

    /// Finds the thread states of these threads in those states of a level in which all other
    /// threads have the given stacks.
    pub(super) fn context_starts(&self, level: usize, stacks: Vec<Word>, threads: &[u32]) -> Option<Reply> {
        let count = self.reachable.system().thread_count();
        let is_in_system = |&thread: &u32| (thread as usize) < count;
        if !self.has_level(level) || stacks.len() != count || !threads.iter().all(is_in_system) {
            return None;
        }
        let stacks: Vec<Stack> = stacks.into_iter().map(stack).collect();
        let message = |(shared, stack): &ThreadStart| (*shared, word(stack));
        let starts = |&thread: &u32| self.reachable.starts_of(level, &stacks, ThreadId(thread));
        Some(Reply::ContextStarts(threads.iter().map(|thread| starts(thread).iter().map(message).collect()).collect()))
    }

    /// Finds the thread states of all threads in the states of a level.
    pub(super) fn thread_states(&self, level: usize, most: usize) -> Option<Reply> {
        let reachable = &self.reachable;
        self.has_level(level).then(|| {
            let message = |(shared, id)| (shared, word(&reachable.stacks().stack(id)));
            let groups = reachable.thread_states(level, most).into_iter();
            Reply::ThreadStates(groups.map(|group| group.into_iter().map(message).collect()).collect())
        })
    }

    /// Finds the states of a level in which one of these last contexts can start.
    pub(super) fn last_context_starts(
        &self,
        level: usize,
        contexts: Vec<LastContextMessage>,
        most: usize,
    ) -> Option<Reply> {
        let is_group = |&group: &usize| self.reachable.symmetry().groups().any(|range| range.start == group);
        let is_valid = |context: &LastContextMessage| {
            is_group(&context.group) && context.others.iter().all(|(group, ..)| is_group(group))
        };
        if !self.has_level(level) || !contexts.iter().all(is_valid) {
            return None;
        }
        let stacks = self.reachable.stacks();
        let start = |((shared, word), steps): ((u32, Word), usize)| Some(((shared, stacks.find(&stack(word))?), steps));
        let context = |LastContextMessage { group, others, steps }| LastContext {
            group,
            others,
            steps: steps.into_iter().filter_map(start).collect(),
        };
        let starts = self.reachable.near(level, &contexts.into_iter().map(context).collect::<Vec<_>>(), most);
        let message = |(steps, shared, ids): LastContextStart| {
            (steps, shared, ids.into_iter().map(|id| word(&stacks.stack(id))).collect())
        };
        Some(Reply::LastContextStarts(starts.into_iter().map(message).collect()))
    }

    /// Finds the levels of states.
    pub(super) fn levels_of(&self, states: Vec<(u32, Vec<Word>)>) -> Option<Reply> {
        let system = self.reachable.system();
        let is_valid = |(shared, stacks): &(u32, Vec<Word>)| {
            (*shared as usize) < system.shared_names().len() && stacks.len() == system.thread_count()
        };
        states
            .iter()
            .all(is_valid)
            .then(|| Reply::Levels(states.into_iter().map(|(shared, stacks)| self.level_of(shared, stacks)).collect()))
    }

    /// Returns the level of a state, if this share has the state.
    fn level_of(&self, shared: u32, stacks: Vec<Word>) -> Option<usize> {
        let ids = stacks.into_iter().map(|word| self.reachable.stacks().find(&stack(word)));
        let mut ids = ids.collect::<Option<Vec<StackId>>>()?;
        self.reachable.symmetry().sort(&mut ids);
        self.reachable.level_of(shared, &ids)
    }

    /// Returns the next blocks with the states of the levels `from` to `k`.
    pub(super) fn read_states(&mut self, from: usize, k: usize, is_first: bool) -> Option<Reply> {
        if from > k || !self.has_level(k) {
            return None;
        }
        if is_first {
            self.state_writer = Writer::new(self.tuning);
            self.next_state = self.reachable.range(from).start;
        }
        let (states, end) = (self.reachable.sorted_states(), self.reachable.range(k).end);
        while self.next_state < end && self.state_writer.len() <= BLOCKS_PER_REPLY {
            let (layout, row) = (states.layout(), states.row(self.next_state));
            self.state_writer.state(self.reachable.stacks(), layout.shared(row), || layout.locals(row), 0);
            self.next_state += 1;
        }
        Some(Reply::States { blocks: self.state_writer.take().collect(), has_more: self.next_state < end })
    }

    /// Returns whether the share has this level, complete or not.
    fn has_level(&self, level: usize) -> bool {
        level < self.reachable.level_count()
    }
}
