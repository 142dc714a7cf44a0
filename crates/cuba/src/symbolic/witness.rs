//! Traces out of symbolic levels: a bad state's stacks are chosen, and then each context is
//! rebuilt, from the last to the first.
//!
//! A tuple knows the tuple it comes from and the thread that moved; where tuples are drawn, these
//! are looked for in the level before. All other stacks were the same before; the one that moved
//! has a run in post* of the language it had there (`automata/thread_run.rs`), and where that run
//! starts is the stack it had. The number of contexts is the tuple's level. With fewer contexts the
//! bad state would have been found before, so none of them is empty.

use crate::automata::language_table::LanguageId;
use crate::symbolic::levels::{SYMBOLIC, Symbolic, TupleOrigin};
use crate::trace::fewest_steps::with_fewest_steps_by_states;
use crate::trace::from_rules::trace_from_rules;
use crate::trace::search_budget::SearchBudget;
use crate::visible::bad_patterns::BadPatterns;
use crate::visible::levels::top;
use cpds::{Action, GlobalState, Program, SharedState, Stack, ThreadId, Trace};

/// So many steps from state to state are taken in any case to find a trace with fewer steps.
const SOON: u64 = 1 << 14;

/// So many are too many in any case: there may be as many states, and they take memory.
const LATE: u64 = 1 << 22;

/// A tuple on the way back.
struct At {
    /// Its own, or its level where tuples are drawn.
    number: usize,
    shared: u32,
    languages: Vec<u32>,
}

impl Symbolic<'_> {
    /// A trace to a state that fits a bad pattern, with the least number of contexts; none if it is
    /// too long to be written out, or if there is no such state.
    pub(crate) fn trace_to_bad(&self, bad: &BadPatterns, pattern: usize, budget: &SearchBudget) -> Option<Trace> {
        let (mut at, from) = self.first_with(bad, pattern)?;
        // By position in the tuple: which thread is there, and its stack.
        let mut threads = vec![ThreadId(0); from.len()];
        let mut stacks = vec![Stack::default(); from.len()];
        for (place, &position) in from.iter().enumerate() {
            threads[position] = self.symmetry.threads()[place];
            let wanted = bad.wanted_top(pattern, place).map(top);
            stacks[position] =
                self.languages.shortest_word(LanguageId(at.languages[position]), wanted).expect("it has this top");
        }
        let mut shared = SharedState(at.shared);
        let mut contexts = Vec::new();
        while let Some((before, from, to)) = self.before(&at) {
            let program = self.programs[to];
            let given = self.languages.psa(SharedState(before.shared), LanguageId(before.languages[from]));
            let psa = given.with_lengths().saturated(&self.heads[program], usize::MAX).expect("as before");
            let run = psa.run(shared, &stacks[to])?;
            let thread = threads.remove(to);
            stacks.remove(to);
            let (q, stack) = run.start;
            shared = q;
            threads.insert(from, thread);
            stacks.insert(from, stack);
            contexts.push((thread, run.rules));
            at = before;
        }
        contexts.reverse();
        let mut by_thread: Vec<_> = threads.into_iter().zip(stacks).collect();
        by_thread.sort_unstable();
        let initial = GlobalState { shared, stacks: by_thread.into_iter().map(|(_, stack)| stack).collect() };
        let own = |(thread, rules): (ThreadId, Vec<usize>)| {
            let own = self.own_rules(thread);
            (thread, rules.into_iter().map(|rule| own[rule]).collect())
        };
        let contexts: Vec<_> = contexts.into_iter().map(own).collect();
        let trace = trace_from_rules(self.system, initial, &contexts)?;
        // About as long as it took to find the tuples.
        let enough = (self.work() * SYMBOLIC).clamp(SOON, LATE);
        Some(with_fewest_steps_by_states(
            (self.system, &self.symmetry),
            bad,
            (enough, self.options.tuning),
            budget,
            trace,
        ))
    }

    /// The first tuple that has a bad state, and how to permute it to fit the pattern.
    fn first_with(&self, bad: &BadPatterns, pattern: usize) -> Option<(At, Vec<usize>)> {
        let arranged = |at: At| {
            let tops = |position: usize| self.languages.tops(LanguageId(at.languages[position]));
            let from = bad.arrange(pattern, at.shared, |position, wanted| tops(position).any(|t| t == top(wanted)))?;
            Some((at, from))
        };
        match &self.drawn {
            Some(drawn) => {
                let (number, shared, languages) = self.first_bad(drawn, bad, pattern)?;
                arranged(At { number, shared, languages })
            }
            // Tuples come level by level.
            None => (0..self.tuples.len()).find_map(|id| arranged(self.at(id))),
        }
    }

    /// The tuple with this number.
    fn at(&self, id: usize) -> At {
        let (layout, row) = (self.tuples.layout(), self.tuples.row(id));
        At { number: id, shared: layout.shared(row), languages: layout.locals(row).collect() }
    }

    /// Where a tuple comes from, and the position of the thread that moved, before and after;
    /// nothing if it is an initial one.
    fn before(&self, at: &At) -> Option<(At, usize, usize)> {
        if let Some(drawn) = &self.drawn {
            let number = at.number.checked_sub(1)?;
            let (position, shared, languages) = self.origin(drawn, at.number, at.shared, &at.languages);
            return Some((At { number, shared, languages }, position, position));
        }
        let TupleOrigin { parent, from, to } = self.origins[at.number]?;
        Some((self.at(parent as usize), from as usize, to as usize))
    }

    /// For each rule of the program that stands for a thread's group, the one of the thread's own
    /// program with the same action.
    fn own_rules(&self, thread: ThreadId) -> Vec<usize> {
        let position = self.symmetry.threads().iter().position(|&t| t == thread).expect("every thread has one");
        let by_action = |program: &Program| -> Vec<(Action, usize)> {
            let mut rules: Vec<_> = program.rules().iter().map(|rule| rule.action).zip(0..).collect();
            rules.sort_unstable();
            rules
        };
        let shown = by_action(&self.system.programs()[self.programs[position]]);
        let own = by_action(self.system.program(thread));
        let mut rules = vec![0; shown.len()];
        for ((action, shown), (same, own)) in shown.into_iter().zip(own) {
            assert_eq!(action, same, "interchangeable threads have the same actions");
            rules[shown] = own;
        }
        rules
    }
}
