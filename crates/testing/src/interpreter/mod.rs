//! A naive interpreter: the states of a Boolean program after k contexts, directly from
//! docs/boolean-programs.md.
//!
//! Slow and obviously correct: sets of whole concrete states, explored breadth-first, one step at a
//! time, over the syntax tree. A variable that may have any value gives two states. The interpreter
//! shares only the syntax tree and the list of threads with the lowering. Never optimised.
//!
//! # What may not be concluded
//! Stacks higher than a given bound are not explored. `exact` tells whether a state was left out.
//! If none was left out, the sets are exactly R_k; otherwise they are subsets.
//!
//! The program must be valid and must come from a text, because a statement is identified by its
//! position in the text.

mod control_flow;
mod expressions;
mod state;
mod statements;

pub use state::{ErrorKind, Place, ProjectedFrame, Projection, State};

use boolprog::syntax::{Name, Program, Variable};
use boolprog::threads::Threads;
use control_flow::{ControlFlow, first};
use expressions::choices;
use state::{Frame, Thread};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The limits of a computation.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The largest k.
    pub contexts: usize,
    /// The height of a thread's highest stack.
    pub height: usize,
    /// The largest number of states of a level.
    pub states: usize,
}

/// R_0 ⊆ R_1 ⊆ … of a program, up to the last computed level.
pub struct ProgramLevels {
    /// R_k, for k = 0, 1, …
    pub reachable: Vec<BTreeSet<State>>,
    /// Whether the sets are exact: no state was left out because a stack was too high.
    pub exact: bool,
}

/// Computes R_0, …, R_k within the limits. Returns `None` if there are too many states.
pub fn levels(program: &Program, threads: &Threads, limits: Limits) -> Option<ProgramLevels> {
    let machine = Machine::new(program, threads);
    let mut levels = ProgramLevels { reachable: vec![machine.initial()], exact: true };
    for k in 0..limits.contexts {
        let mut next = levels.reachable[k].clone();
        for thread in 0..machine.pool_of.len() {
            let (contexts, exact) = machine.one_context(thread, &levels.reachable[k], limits)?;
            next.extend(contexts);
            levels.exact &= exact;
        }
        if next.len() > limits.states {
            return None;
        }
        levels.reachable.push(next);
    }
    Some(levels)
}

impl ProgramLevels {
    /// Returns the projections of all states of R_k.
    pub fn projections(&self, k: usize) -> BTreeSet<Projection> {
        self.reachable[k].iter().map(State::projection).collect()
    }
}

/// A program with its threads.
pub struct Machine<'a> {
    program: &'a Program,
    threads: &'a Threads,
    functions: Vec<ControlFlow<'a>>,
    /// For each thread the pool whose pending threads it runs; `None` for a thread that runs from
    /// the start.
    pool_of: Vec<Option<usize>>,
}

impl<'a> Machine<'a> {
    /// Prepares a program with these threads.
    pub fn new(program: &'a Program, threads: &'a Threads) -> Self {
        let roots = threads.roots.iter().flat_map(|&(_, copies)| (0..copies).map(|_| None));
        let pools = threads.pools.iter().enumerate();
        let slots = pools.flat_map(|(i, pool)| (0..pool.slots).map(move |_| Some(i)));
        let functions = program.functions.iter().map(ControlFlow::new).collect();
        Machine { program, threads, functions, pool_of: roots.chain(slots).collect() }
    }

    /// Returns the initial states, one for each choice of values.
    pub fn initial(&self) -> BTreeSet<State> {
        let shared = choices(self.variables(false).map(|variable| variable.value));
        let empty = |shared| State {
            error: None,
            shared,
            locks: BTreeMap::new(),
            section: None,
            pending: vec![Vec::new(); self.threads.pools.len()],
            threads: vec![Thread::default(); self.pool_of.len()],
        };
        let mut states: Vec<State> = shared.into_iter().map(empty).collect();
        let roots = self.threads.roots.iter();
        for (thread, function) in roots.flat_map(|&(function, copies)| (0..copies).map(move |_| function)).enumerate() {
            let starts = self.threads_in(function, &[]);
            let started = |state: &State| with_each(state, &starts, |state, start| state.threads[thread] = start);
            states = states.iter().flat_map(started).collect();
        }
        states.into_iter().collect()
    }

    /// Computes the states that `thread` alone reaches from these states, and whether the result is
    /// exact. Returns `None` if there are too many states.
    fn one_context(&self, thread: usize, from: &BTreeSet<State>, limits: Limits) -> Option<(BTreeSet<State>, bool)> {
        let mut reached = from.clone();
        let mut queue: VecDeque<State> = from.iter().cloned().collect();
        let mut exact = true;
        while let Some(state) = queue.pop_front() {
            for next in self.steps(&state, thread) {
                if next.threads[thread].stack.len() > limits.height {
                    exact = false;
                } else if reached.insert(next.clone()) {
                    queue.push_back(next);
                }
            }
            if reached.len() > limits.states {
                return None;
            }
        }
        Some((reached, exact))
    }

    /// Returns the new threads that start with a function, one for each choice of values. A missing
    /// argument has any value.
    fn threads_in(&self, function: usize, arguments: &[bool]) -> Vec<Thread> {
        let frames = self.frames(function, arguments);
        let thread_locals = choices(self.variables(true).map(|variable| variable.value)).into_iter();
        let thread = |thread_locals: Vec<bool>| {
            let stacks = frames.iter().map(|frame| vec![frame.clone()]);
            stacks.map(|stack| Thread { thread_locals: thread_locals.clone(), stack }).collect::<Vec<_>>()
        };
        thread_locals.flat_map(thread).collect()
    }

    /// Returns the frames of a new call, one for each choice of values. A missing argument has any
    /// value.
    fn frames(&self, function: usize, arguments: &[bool]) -> Vec<Frame> {
        let code = &self.functions[function];
        let parameters = (0..code.function.parameters.len()).map(|i| arguments.get(i).copied());
        let locals = choices(parameters.chain(code.function.locals.iter().map(|variable| variable.value)));
        let place = first(&code.function.body, code.end());
        locals.into_iter().map(|locals| Frame { function, place, locals, results: Vec::new() }).collect()
    }

    fn variables(&self, is_thread_local: bool) -> impl Iterator<Item = &'a Variable> {
        self.program.variables.iter().filter(move |variable| variable.is_thread_local == is_thread_local)
    }

    fn function(&self, name: &Name) -> usize {
        self.program.functions.iter().position(|function| function.name == *name).expect("functions are declared")
    }

    /// Returns the control flow of the function of the thread's innermost call.
    fn code(&self, state: &State, thread: usize) -> &ControlFlow<'a> {
        &self.functions[state.top(thread).function]
    }

    fn label(&self, state: &State, thread: usize, label: &Name) -> Place {
        Place::At(self.code(state, thread).labels[label.text.as_str()])
    }
}

/// Returns a copy of the state for each choice, with the change that this choice makes.
fn with_each<T: Clone>(state: &State, choices: &[T], change: impl Fn(&mut State, T)) -> Vec<State> {
    choices.iter().map(|choice| changed(state.clone(), |state| change(state, choice.clone()))).collect()
}

fn changed(mut state: State, change: impl FnOnce(&mut State)) -> State {
    change(&mut state);
    state
}

fn sorted<T: Ord>(mut list: Vec<T>) -> Vec<T> {
    list.sort();
    list
}
