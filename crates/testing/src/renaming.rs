//! The same system with other numbers: another order of threads, a separate program for each
//! thread, and other numbers for shared states and symbols. The results of an analysis do not
//! depend on these numbers.

use cpds::{
    Action, Alphabet, Cpds, GlobalState, Names, Pattern, Problem, Program, Property, Rule, SharedState, Stack, Symbol,
    VisibleState, Wild,
};

/// A renamed problem, and the translation of states into its numbers.
pub struct Renamed {
    /// The problem with its new numbers.
    pub problem: Problem,
    /// For each new thread number the old one.
    threads: Vec<usize>,
    shared: Vec<SharedState>,
    symbols: Vec<Symbol>,
}

/// Orders the threads as in `threads`, gives shared state q the number `shared[q]`, and reverses
/// the order of each alphabet.
pub fn renamed(original: &Problem, threads: &[usize], shared: &[u32]) -> Renamed {
    let system = original.system();
    let mut shared_names = vec![""; shared.len()];
    for (q, &place) in (0..).zip(shared) {
        shared_names[place as usize] = system.shared_name(SharedState(q));
    }
    let mut names = Names::default();
    let old: Vec<_> = threads.iter().map(|&i| system.program(system.threads().nth(i).expect("a thread"))).collect();
    let mut symbols = vec![Symbol(0); system.symbol_names().len()];
    for program in &old {
        for symbol in program.alphabet().iter().collect::<Vec<_>>().into_iter().rev() {
            symbols[symbol.0 as usize] = Symbol(names.insert(system.symbol_name(symbol)));
        }
    }
    let shared: Vec<_> = shared.iter().map(|&q| SharedState(q)).collect();
    let rename = |action: &Action| {
        let (from, read) = action.source();
        let (to, written) = action.target();
        let word = |word: &mut dyn Iterator<Item = Symbol>| word.map(|s| symbols[s.0 as usize]).collect::<Vec<_>>();
        let (read, written) = (word(&mut read.into_iter()), word(&mut written.into_iter()));
        Action::new((shared[from.0 as usize], &read), (shared[to.0 as usize], &written)).expect("of the same shape")
    };
    let programs = old.iter().enumerate().map(|(i, program)| {
        let rules =
            program.rules().iter().rev().map(|rule| Rule { label: None, action: rename(&rule.action) }).collect();
        let alphabet = program.alphabet().iter().map(|s| symbols[s.0 as usize]).collect::<Vec<_>>().into_iter().rev();
        Program::new(&format!("thread{i}"), 1, Alphabet::new(alphabet), rules).expect("as before")
    });
    let programs = programs.collect();
    let numbers = Renamed { problem: original.clone(), threads: threads.to_vec(), shared, symbols };
    let initial = system.initial().iter().map(|state| numbers.state(state)).collect();
    let shared_names = shared_names.into_iter().collect();
    let system = Cpds::new(shared_names, names, programs, initial).expect("as before");
    let bad = original.property().bad.iter().map(|pattern| numbers.pattern(pattern)).collect();
    let problem = Problem::new(system, Property { bad }).expect("as before");
    Renamed { problem, ..numbers }
}

impl Renamed {
    /// Translates a state to the new numbers.
    pub fn state(&self, state: &GlobalState) -> GlobalState {
        let stack = |&i: &usize| Stack::from_top(state.stacks[i].iter().map(|s| self.symbols[s.0 as usize]));
        GlobalState { shared: self.shared[state.shared.0 as usize], stacks: self.threads.iter().map(stack).collect() }
    }

    /// Translates a visible state to the new numbers.
    pub fn visible(&self, state: &VisibleState) -> VisibleState {
        let top = |&i: &usize| state.tops[i].map(|s| self.symbols[s.0 as usize]);
        VisibleState { shared: self.shared[state.shared.0 as usize], tops: self.threads.iter().map(top).collect() }
    }

    fn pattern(&self, pattern: &Pattern) -> Pattern {
        let top = |&i: &usize| match pattern.tops[i] {
            Wild::Is(top) => Wild::Is(top.map(|s| self.symbols[s.0 as usize])),
            Wild::Any => Wild::Any,
        };
        let shared = match pattern.shared {
            Wild::Is(q) => Wild::Is(self.shared[q.0 as usize]),
            Wild::Any => Wild::Any,
        };
        Pattern { shared, tops: self.threads.iter().map(top).collect() }
    }
}
