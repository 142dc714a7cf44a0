//! Runs of one thread, rebuilt from a saturated store automaton (paper App. C).
//!
//! The automaton accepts a state ⟨q|w⟩ on some path. The first transition of the path has a reason:
//! an action, and the transition to which post* applied it. Undoing the action gives a path of the
//! previous state of the run. Repeating this leads to a state of the given automaton, or to the
//! call with which the path starts. The procedure ends. Without lengths, each reason names older
//! transitions only. With lengths, the length of a transition is one more than the length of the
//! transition in its reason, or it is the sum of the lengths of the two transitions there.

use crate::automata::store_automaton::{Psa, TransitionReason};
use crate::visible::levels::top;
use cpds::{Program, SharedState, Stack};

/// A run of one thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadRun {
    /// The first thread state.
    pub start: (SharedState, Stack),
    /// The rules in the order in which they fire, as positions in [`Program::rules`].
    pub rules: Vec<usize>,
}

/// The most steps of a run. (There are programs with n actions in which the shortest run to a state
/// has 2^n steps.)
const MAX_RUN_STEPS: usize = 1 << 20;

/// The most stack symbols in all states of a run together.
const MAX_RUN_SYMBOLS: usize = 1 << 22;

impl Psa {
    /// Returns a run from a state of the given automaton to an accepted state: a shortest run if
    /// the automaton has lengths. Returns `None` if the run is too long.
    ///
    /// # Panics
    /// If the automaton does not accept the state.
    pub fn run(&self, q: SharedState, stack: &Stack) -> Option<ThreadRun> {
        let mut path = self.path(q, stack).expect("an accepted state");
        let length = path.iter().fold(0_u64, |sum, &t| sum.saturating_add(self.length(t)));
        if length > MAX_RUN_STEPS as u64 {
            return None;
        }
        path.reverse();
        let rules = self.undo(&mut path, MAX_RUN_STEPS)?;
        let first = path.last().expect("every path has a transition");
        let shared =
            self.shared_of(self.transitions[*first as usize].from).expect("every path starts in a shared state");
        let word = path.iter().rev().filter_map(|&t| top(self.transitions[t as usize].label));
        Some(ThreadRun { start: (shared, Stack::from_top(word)), rules })
    }

    /// Undoes the actions that lead to a path. The path is reversed: its first transition is the
    /// last one of the list. Returns the rules in the order in which they fire; `None` if there are
    /// more than `max_rules`. Afterwards, `path` is a path of the given automaton, or a single
    /// call.
    pub(crate) fn undo(&self, path: &mut Vec<u32>, max_rules: usize) -> Option<Vec<usize>> {
        let mut rules = Vec::new();
        let reason = |t: u32| self.transitions[t as usize].reason;
        while let Some(first) = path.pop() {
            match reason(first) {
                TransitionReason::Rule { rule, of } => {
                    rules.push(rule as usize);
                    path.push(of);
                }
                TransitionReason::Join { epsilon, then } => path.extend([then, epsilon]),
                TransitionReason::Call => match path.pop().map(reason) {
                    Some(TransitionReason::Rule { rule, of }) => {
                        rules.push(rule as usize);
                        path.push(of);
                    }
                    None => {
                        path.push(first);
                        break;
                    }
                    Some(_) => unreachable!("only pushes lead out of a call"),
                },
                TransitionReason::Given => {
                    path.push(first);
                    break;
                }
            }
            if rules.len() > max_rules {
                return None;
            }
        }
        rules.reverse();
        Some(rules)
    }
}

impl ThreadRun {
    /// Returns the state after each step.
    ///
    /// # Panics
    /// If a rule is not enabled.
    pub fn states(&self, program: &Program) -> impl Iterator<Item = (SharedState, Stack)> {
        let mut state = self.start.clone();
        self.rules.iter().map(move |&rule| {
            let action = &program.rules()[rule].action;
            state = action.apply(state.0, &state.1).expect("the rules of a run are enabled");
            state.clone()
        })
    }

    /// Returns this run, if its states together have at most `MAX_RUN_SYMBOLS` stack symbols.
    pub(crate) fn if_short(self, program: &Program) -> Option<ThreadRun> {
        let mut height = self.start.1.height();
        let mut symbols = 0_usize;
        for &rule in &self.rules {
            let (_, read) = program.rules()[rule].action.source();
            height = height + program.rules()[rule].action.target().1.count() - usize::from(read.is_some());
            symbols += height;
        }
        (symbols <= MAX_RUN_SYMBOLS).then_some(self)
    }
}
