//! Runs of one thread, rebuilt from a saturated store automaton.
//!
//! A state ⟨q|w⟩ is accepted on some path. The first transition of the path knows why it is there: by which action, applied to
//! which transition. Undoing the action gives a path for the state before. Every transition that comes in is older than the
//! one that it replaces, so this ends: in a state that was accepted from the beginning, or at the call that the path hangs from.

use super::psa::{Origin, Psa};
use super::stacks::{StackId, Stacks};
use super::visible::top;
use cpds::{Program, SharedState, Stack};
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// A run of one thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// Where it starts.
    pub start: (SharedState, Stack),
    /// The rules that fire, as positions in [`Program::rules`].
    pub rules: Vec<usize>,
}

/// A run of more steps than this is not written out. (There are programs of n actions whose shortest run to a state has 2^n
/// steps.)
pub const LONGEST_RUN: usize = 1 << 20;

impl Psa {
    /// A run to an accepted state from one that was accepted before the automaton was saturated; nothing if it is too long.
    ///
    /// # Panics
    /// If the state is not accepted.
    pub fn run(&self, q: SharedState, stack: &Stack, program: &Program) -> Option<Run> {
        let mut path = self.path(q, stack).expect("an accepted state");
        path.reverse();
        let rules = self.undo(&mut path)?;
        let first = path.last().expect("every path has a transition");
        let shared =
            self.shared_of(self.transitions[*first as usize].from).expect("every path starts in a shared state");
        let word = path.iter().rev().filter_map(|&t| top(self.transitions[t as usize].label));
        let run = Run { start: (shared, Stack::from_top(word)), rules };
        Some(run.shortened(program))
    }

    /// Undoes the actions that led to a path, which is given backwards: the first transition is the last of the list. Gives
    /// the rules in the order in which they fire. What is left is a path that was given, or a single call.
    pub(super) fn undo(&self, path: &mut Vec<u32>) -> Option<Vec<usize>> {
        let mut rules = Vec::new();
        let origin = |t: u32| self.transitions[t as usize].origin;
        while let Some(first) = path.pop() {
            match origin(first) {
                Origin::Rule { rule, of } => {
                    rules.push(rule as usize);
                    path.push(of);
                }
                Origin::Join { epsilon, then } => path.extend([then, epsilon]),
                Origin::Call => match path.pop().map(origin) {
                    Some(Origin::Rule { rule, of }) => {
                        rules.push(rule as usize);
                        path.push(of);
                    }
                    None => {
                        path.push(first);
                        break;
                    }
                    Some(_) => unreachable!("only pushes lead out of a call"),
                },
                Origin::Given => {
                    path.push(first);
                    break;
                }
            }
            if rules.len() > LONGEST_RUN {
                return None;
            }
        }
        rules.reverse();
        Some(rules)
    }
}

impl Run {
    /// The states after each step.
    ///
    /// # Panics
    /// If a rule is not enabled.
    pub fn states(&self, program: &Program) -> Vec<(SharedState, Stack)> {
        let mut state = self.start.clone();
        let step = |&rule: &usize| {
            let action = &program.rules()[rule].action;
            state = action.apply(state.0, &state.1).expect("the rules of a run are enabled");
            state.clone()
        };
        self.rules.iter().map(step).collect()
    }

    /// The shortest run from the start to the end of this one that gets no higher, if it is found soon; otherwise this one.
    #[must_use]
    pub(super) fn shortened(self, program: &Program) -> Run {
        const MOST: usize = 1 << 16;
        let mut stacks = Stacks::default();
        let start = (self.start.0, stacks.intern(&self.start.1));
        let (mut end, mut highest) = (start, stacks.height(start.1));
        for &rule in &self.rules {
            let (to, written) = program.rules()[rule].action.target();
            end = (to, stacks.replace_top(end.1, written));
            highest = highest.max(stacks.height(end.1));
        }
        if start == end {
            return Run { rules: Vec::new(), ..self };
        }
        let mut before: FxHashMap<(SharedState, StackId), ((SharedState, StackId), usize)> = FxHashMap::default();
        let mut queue = vec![start];
        let mut next = 0;
        while let Some(&state) = queue.get(next).filter(|_| queue.len() < MOST && !before.contains_key(&end)) {
            next += 1;
            for (rule, found) in program.rules_from(state.0, stacks.top(state.1)) {
                let (to, written) = found.action.target();
                let successor = (to, stacks.replace_top(state.1, written));
                if stacks.height(successor.1) <= highest
                    && let Entry::Vacant(new) = before.entry(successor)
                {
                    new.insert((state, rule));
                    queue.push(successor);
                }
            }
        }
        if !before.contains_key(&end) {
            return self;
        }
        let mut rules = Vec::new();
        let mut state = end;
        while state != start {
            let (from, rule) = before[&state];
            rules.push(rule);
            state = from;
        }
        rules.reverse();
        Run { rules, ..self }
    }
}
