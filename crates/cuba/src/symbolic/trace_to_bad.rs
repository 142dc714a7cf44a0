//! A trace to a bad state from the tuples of S_k.
//!
//! In: a bad pattern. The search takes the first tuple with a state that fits the pattern, and the
//! shortest stacks that fit. Then it rebuilds each context, from the last to the first. The store
//! returns a tuple of the level before from which one context leads to the tuple, and the thread
//! that moved. This context did not change the stacks of the other threads. The store automaton of
//! post\* of the language before has a run to the stack of the moving thread
//! (`automata/thread_run.rs`). The run begins with the stack before the context.
//!
//! The number of contexts is the level of the tuple. With fewer contexts, the bad state would be in
//! an earlier level. So no context is empty.

use crate::automata::language_table::LanguageId;
use crate::symbolic::levels::{EXPANSIONS_PER_UNIT, Symbolic};
use crate::symbolic::tuple_store::PreviousTuple;
use crate::trace::fewest_steps::with_fewest_steps_by_states;
use crate::trace::from_rules::trace_from_rules;
use crate::trace::search_budget::SearchBudget;
use crate::visible::bad_patterns::BadPatterns;
use crate::visible::levels::top;
use cpds::{Action, GlobalState, Program, SharedState, Stack, ThreadId, Trace};

/// The least work for a trace with fewer steps, in expansions of states.
const MIN_WORK: u64 = 1 << 14;

/// The most work for a trace with fewer steps, in expansions of states.
const MAX_WORK: u64 = 1 << 22;

impl Symbolic<'_> {
    /// Returns a trace to a state that fits a bad pattern, with the least number of contexts;
    /// `None` if there is no such state, or if the trace is too long to be written out.
    pub(crate) fn trace_to_bad(&self, bad: &BadPatterns, pattern: usize, budget: &SearchBudget) -> Option<Trace> {
        let (mut tuple, positions) = self.store().first_bad(self.languages(), bad, pattern)?;
        // For each position in the tuple, the thread and its stack.
        let mut threads = vec![ThreadId(0); positions.len()];
        let mut stacks = vec![Stack::default(); positions.len()];
        for (place, &position) in positions.iter().enumerate() {
            threads[position] = self.symmetry().threads()[place];
            let (language, wanted) = (LanguageId(tuple.languages[position]), bad.wanted_top(pattern, place).map(top));
            stacks[position] = self.languages().shortest_word(language, wanted).expect("it has this top");
        }
        let mut shared = SharedState(tuple.shared);
        let mut contexts = Vec::new();
        while let Some(PreviousTuple { tuple: before, from, to }) = self.store().previous(self.contexts(), &tuple) {
            let start = self.languages().psa(SharedState(before.shared), LanguageId(before.languages[from]));
            let actions = self.contexts().action_index(to);
            let psa = start.with_lengths().saturated(actions, usize::MAX).expect("it was computed before");
            let run = psa.run(shared, &stacks[to])?;
            let thread = threads.remove(to);
            stacks.remove(to);
            let (q, stack) = run.start;
            shared = q;
            threads.insert(from, thread);
            stacks.insert(from, stack);
            contexts.push((thread, run.rules));
            tuple = before;
        }
        contexts.reverse();
        let mut by_thread: Vec<_> = threads.into_iter().zip(stacks).collect();
        by_thread.sort_unstable();
        let initial = GlobalState { shared, stacks: by_thread.into_iter().map(|(_, stack)| stack).collect() };
        let with_own_rules = |(thread, rules): (ThreadId, Vec<usize>)| {
            let own = self.own_rules(thread);
            (thread, rules.into_iter().map(|rule| own[rule]).collect())
        };
        let contexts: Vec<_> = contexts.into_iter().map(with_own_rules).collect();
        let trace = trace_from_rules(self.system(), initial, &contexts)?;
        // About as much work as the search for the tuples.
        let work = (self.work() * EXPANSIONS_PER_UNIT).clamp(MIN_WORK, MAX_WORK);
        let system = (self.system(), self.symmetry());
        Some(with_fewest_steps_by_states(system, bad, (work, self.tuning()), budget, trace))
    }

    /// Returns, for each rule of the common program of a group, the rule with the same action in
    /// the thread's own program.
    fn own_rules(&self, thread: ThreadId) -> Vec<usize> {
        let position = self.symmetry().threads().iter().position(|&t| t == thread).expect("every thread has one");
        let by_action = |program: &Program| -> Vec<(Action, usize)> {
            let mut rules: Vec<_> = program.rules().iter().map(|rule| rule.action).zip(0..).collect();
            rules.sort_unstable();
            rules
        };
        let common = by_action(&self.system().programs()[self.contexts().program(position)]);
        let own = by_action(self.system().program(thread));
        let mut rules = vec![0; common.len()];
        for ((action, common), (same, own)) in common.into_iter().zip(own) {
            assert_eq!(action, same, "interchangeable threads have the same actions");
            rules[common] = own;
        }
        rules
    }
}
