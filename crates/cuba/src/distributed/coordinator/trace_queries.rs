//! Traces to states in shares: each query about the levels is one superstep of all shares.
//!
//! Each query has one reply of each share, and the coordinator combines them. All choices depend on
//! the content of stacks, so the trace equals that of one exploration. Replies are checked: a state
//! with an unknown shared state or symbol, or a reply of the wrong size, is a failure.

use crate::distributed::coordinator::Shares;
use crate::distributed::protocol::messages::{Command, Failure, LastContextMessage, Reply, Word, stack, word};
use crate::distributed::protocol::supersteps::Supersteps;
use crate::explicit::tables::stack_table::Stacks;
use crate::tables::step_cache::ThreadState;
use crate::trace::backwards::{BackwardSearch, LevelQueries, ThreadStart, TraceEnd};
use crate::trace::fewest_steps::{SortedState, with_fewest_steps};
use crate::trace::last_context::{LastContext, LastContextStart};
use crate::trace::search_budget::SearchBudget;
use crate::visible::bad_patterns::BadPatterns;
use crate::visible::levels::top_number;
use cpds::{Property, Stack, ThreadId, Trace};
use rustc_hash::FxHashSet;

/// The most states in one query for levels.
const STATES_PER_QUERY: usize = 1 << 12;

impl<S: Supersteps> Shares<'_, S> {
    /// Returns a trace to a bad state of the first level that has one. Returns `None` if no bad
    /// state is known, or if the trace is too long to be written out.
    pub fn trace(&self, property: &Property) -> Result<Option<Trace>, Failure> {
        self.trace_within(property, &SearchBudget::default())
    }

    /// Does the same with another search budget.
    pub(in crate::distributed) fn trace_within(
        &self,
        property: &Property,
        budget: &SearchBudget,
    ) -> Result<Option<Trace>, Failure> {
        let (bad, set) = (BadPatterns::new(property, &self.symmetry), self.visible.set());
        let levels = 0..=self.k() + usize::from(self.has_incomplete_level());
        let first = levels.map(|k| self.visible.range(k)).find_map(|ids| bad.first_violation(set, ids));
        let Some((visible, pattern)) = first else { return Ok(None) };
        self.trace_to_bad(&bad, visible, pattern, budget)
    }

    /// Returns a trace to a bad state with the fewest contexts and steps. The first bad visible
    /// state has the number `visible` and fits the pattern number `pattern`.
    pub(crate) fn trace_to_bad(
        &self,
        bad: &BadPatterns,
        visible: usize,
        pattern: usize,
        budget: &SearchBudget,
    ) -> Result<Option<Trace>, Failure> {
        let trace = self.trace_to_visible(visible, |shared, tops| {
            bad.arrange(pattern, shared, |position, top| tops[position] == top)
        })?;
        trace.map(|trace| with_fewest_steps((self.system, &self.symmetry), bad, self, budget, trace)).transpose()
    }

    /// Returns a trace to a state with the visible state number `visible`.
    pub(crate) fn trace_to_visible(
        &self,
        visible: usize,
        arrange: impl Fn(u32, &[u32]) -> Option<Vec<usize>>,
    ) -> Result<Option<Trace>, Failure> {
        let row = self.visible.set().row(visible).to_vec();
        let shared = self.visible.set().layout().shared(&row);
        let (system, symmetry) = (self.system, &self.symmetry);
        let search = BackwardSearch { system, symmetry, highest: self.total().highest, stacks: Stacks::default() };
        search.trace(&mut &*self, shared, &row, arrange)
    }

    /// Returns whether the system has this shared state and these symbols.
    fn is_in_system(&self, (shared, word): &(u32, Word)) -> bool {
        let (states, symbols) = (self.system.shared_names().len(), self.system.symbol_names().len());
        (*shared as usize) < states && word.iter().all(|&symbol| (symbol as usize) < symbols)
    }
}

/// The levels are in shares.
impl<S: Supersteps> LevelQueries for &Shares<'_, S> {
    type Error = Failure;

    fn best(&mut self, visible: &[u64]) -> Result<TraceEnd, Failure> {
        let mut best: Option<TraceEnd> = None;
        for reply in self.superstep(Command::FindTraceEnd { visible: visible.to_vec() })? {
            let Reply::TraceEnd(end) = reply else { return Err(Failure::Reply) };
            let end = end.map(|(level, stacks)| {
                let symbols = stacks.iter().map(|stack| stack.len() as u64).sum();
                TraceEnd { level, symbols, stacks: stacks.into_iter().map(stack).collect() }
            });
            best = best.into_iter().chain(end).min();
        }
        let best = best.filter(|best| best.stacks.len() == self.system.thread_count()).ok_or(Failure::Reply)?;
        let (mut tops, mut row) = (Vec::new(), visible.to_vec());
        tops.extend(best.stacks.iter().map(|stack| top_number(stack.top())));
        self.visible.pack(self.visible.set().layout().shared(visible), &mut tops, &mut row);
        if row == visible { Ok(best) } else { Err(Failure::Reply) }
    }

    fn starts(
        &mut self,
        level: usize,
        by_thread: &[Stack],
        threads: &[ThreadId],
    ) -> Result<Vec<Vec<ThreadStart>>, Failure> {
        let stacks = by_thread.iter().map(word).collect();
        let numbers = threads.iter().map(|thread| thread.0).collect();
        let mut all = vec![Vec::new(); threads.len()];
        for reply in self.superstep(Command::FindContextStarts { level, stacks, threads: numbers })? {
            let Reply::ContextStarts(starts) = reply else { return Err(Failure::Reply) };
            if starts.len() != threads.len() || !starts.iter().flatten().all(|start| self.is_in_system(start)) {
                return Err(Failure::Reply);
            }
            for (all, starts) in all.iter_mut().zip(starts) {
                all.extend(starts.into_iter().map(|(shared, word)| (shared, stack(word))));
            }
        }
        for starts in &mut all {
            starts.sort_unstable();
            starts.dedup();
        }
        Ok(all)
    }

    /// Returns an empty table, because each share has its own stack numbers.
    fn stacks(&self) -> Stacks {
        Stacks::default()
    }

    fn thread_states(
        &mut self,
        level: usize,
        most: usize,
        stacks: &mut Stacks,
    ) -> Result<Vec<Vec<ThreadState>>, Failure> {
        let mut all = vec![FxHashSet::default(); self.symmetry.groups().count()];
        for reply in self.superstep(Command::FindThreadStates { level, most })? {
            let Reply::ThreadStates(groups) = reply else { return Err(Failure::Reply) };
            if groups.len() != all.len() || !groups.iter().flatten().all(|state| self.is_in_system(state)) {
                return Err(Failure::Reply);
            }
            for (all, group) in all.iter_mut().zip(groups) {
                all.extend(group.into_iter().map(|(shared, word)| (shared, stacks.intern(&stack(word)))));
            }
        }
        Ok(all.into_iter().map(|group| group.into_iter().collect()).collect())
    }

    fn near(
        &mut self,
        level: usize,
        ways: &[LastContext],
        most: usize,
        stacks: &mut Stacks,
    ) -> Result<Vec<LastContextStart>, Failure> {
        let start = |&((shared, id), steps): &(ThreadState, usize)| ((shared, word(&stacks.stack(id))), steps);
        let message = |context: &LastContext| LastContextMessage {
            group: context.group,
            others: context.others.clone(),
            steps: context.steps.iter().map(start).collect(),
        };
        let contexts = ways.iter().map(message).collect();
        let mut all = Vec::new();
        for reply in self.superstep(Command::FindLastContextStarts { level, contexts, most })? {
            let Reply::LastContextStarts(starts) = reply else { return Err(Failure::Reply) };
            for (steps, shared, words) in starts {
                let is_valid = |word: &Word| self.is_in_system(&(shared, word.clone()));
                if words.len() != self.system.thread_count() || !words.iter().all(is_valid) {
                    return Err(Failure::Reply);
                }
                all.push((steps, shared, words.into_iter().map(|word| stacks.intern(&stack(word))).collect()));
            }
        }
        Ok(all)
    }

    fn levels_of(&mut self, states: &[&SortedState], stacks: &Stacks) -> Result<Vec<Option<usize>>, Failure> {
        let message = |(shared, ids): &&SortedState| {
            (*shared, ids.iter().map(|&id| word(&stacks.stack(id))).collect::<Vec<Word>>())
        };
        let mut all = Vec::new();
        for states in states.chunks(STATES_PER_QUERY) {
            let mut levels = vec![None; states.len()];
            for reply in self.superstep(Command::FindLevels { states: states.iter().map(message).collect() })? {
                let Reply::Levels(of_share) = reply else { return Err(Failure::Reply) };
                if of_share.len() != states.len() {
                    return Err(Failure::Reply);
                }
                levels.iter_mut().zip(of_share).for_each(|(level, of_share)| *level = level.or(of_share));
            }
            all.extend(levels);
        }
        Ok(all)
    }
}
