//! Runs of one thread, rebuilt from a saturated store automaton.
//!
//! A state ⟨q|w⟩ is accepted on some path. The first transition of the path knows why it is there:
//! by which action, applied to which transition. Undoing the action gives a path for the state
//! before, and so on, to a state that was accepted from the beginning, or to the call that the path
//! hangs from. This ends: in the beginning, a transition is there for reasons that are older;
//! later, for others whose lengths are smaller by one, or add up to its own.

use crate::automata::store_automaton::{Origin, Psa};
use crate::visible::levels::top;
use cpds::{Program, SharedState, Stack};

/// A run of one thread.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// Where it starts.
    pub start: (SharedState, Stack),
    /// The rules that fire, as positions in [`Program::rules`].
    pub rules: Vec<usize>,
}

/// A run of more steps than this is not written out. (There are programs of n actions whose
/// shortest run to a state has 2^n steps.)
const LONGEST: usize = 1 << 20;

/// A run with more stack symbols in all its states than this is not written out either.
const MOST_SYMBOLS: usize = 1 << 22;

impl Psa {
    /// A run to an accepted state from one that was accepted before the automaton was saturated; a
    /// shortest one, if lengths were kept. Nothing if it is too long.
    ///
    /// # Panics
    /// If the state is not accepted.
    pub fn run(&self, q: SharedState, stack: &Stack) -> Option<Run> {
        let mut path = self.path(q, stack).expect("an accepted state");
        let length = path.iter().fold(0_u64, |sum, &t| sum.saturating_add(self.length(t)));
        if length > LONGEST as u64 {
            return None;
        }
        path.reverse();
        let rules = self.undo(&mut path, LONGEST)?;
        let first = path.last().expect("every path has a transition");
        let shared =
            self.shared_of(self.transitions[*first as usize].from).expect("every path starts in a shared state");
        let word = path.iter().rev().filter_map(|&t| top(self.transitions[t as usize].label));
        Some(Run { start: (shared, Stack::from_top(word)), rules })
    }

    /// Undoes the actions that led to a path, which is given backwards: the first transition is the
    /// last of the list. Gives the rules in the order in which they fire, if there are at most so
    /// many. What is left is a path that was given, or a single call.
    pub(crate) fn undo(&self, path: &mut Vec<u32>, most: usize) -> Option<Vec<usize>> {
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
            if rules.len() > most {
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
    pub fn states(&self, program: &Program) -> impl Iterator<Item = (SharedState, Stack)> {
        let mut state = self.start.clone();
        self.rules.iter().map(move |&rule| {
            let action = &program.rules()[rule].action;
            state = action.apply(state.0, &state.1).expect("the rules of a run are enabled");
            state.clone()
        })
    }

    /// This run, if its states have few enough stack symbols together to be written out.
    pub(crate) fn if_short(self, program: &Program) -> Option<Run> {
        let mut height = self.start.1.height();
        let mut symbols = 0_usize;
        for &rule in &self.rules {
            let (_, read) = program.rules()[rule].action.source();
            height = height + program.rules()[rule].action.target().1.count() - usize::from(read.is_some());
            symbols += height;
        }
        (symbols <= MOST_SYMBOLS).then_some(self)
    }
}
