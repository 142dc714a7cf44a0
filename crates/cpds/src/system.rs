//! Concurrent pushdown systems (paper §2.2): shared states, threads with their programs, initial
//! states.

use crate::names::{MAX_NAME, is_name};
use crate::{Action, ActionKind, GlobalState, Names, SharedState, Stack, Symbol, ThreadId};
use rustc_hash::FxHashSet;
use std::collections::HashSet;

/// The limits on a system.
pub mod limits {
    /// Shared states.
    pub const SHARED_STATES: u64 = 1 << 26;
    /// Stack symbols, the sum over all threads; a thread without symbols counts as one symbol.
    pub const SYMBOLS: u64 = 1 << 24;
    /// Actions, the sum over all threads.
    pub const ACTIONS: u64 = 1 << 28;
    /// Threads, with all copies.
    pub const THREADS: u64 = 1 << 10;
    /// The number of stacks in initial states plus the number of symbols on them. Bad patterns have
    /// the same limit.
    pub const STACK_CELLS: u64 = 1 << 20;

    /// The limits on a system that is read from a text. They are lower, so that a short text cannot
    /// need much memory.
    pub mod of_text {
        /// Shared states.
        pub const SHARED_STATES: u64 = 1 << 20;
        /// Stack symbols, the sum over all threads.
        pub const SYMBOLS: u64 = 1 << 20;
        /// Actions, the sum over all threads.
        pub const ACTIONS: u64 = 1 << 23;
    }
}

/// A concurrent pushdown system 𝒫ⁿ.
///
/// A `Cpds` comes from a file or from [`Cpds::new`], which checks it, so it is always well-formed.
/// Each number is in its table, the symbols of each thread are in its alphabet Σ_i, and there are
/// at least one thread and one initial state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cpds {
    shared: Names,
    symbols: Names,
    programs: Vec<Program>,
    /// The program of each thread: first all copies of the first program, then all copies of the
    /// second program, and so on.
    threads: Vec<u32>,
    initial: Vec<GlobalState>,
}

/// A pushdown program with its alphabet. One or more threads run it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    name: String,
    copies: u32,
    alphabet: Alphabet,
    rules: Vec<Rule>,
    /// Positions in `rules`, sorted by the source of the action, then by position.
    by_source: Vec<u32>,
}

/// An action of Δ_i, with its label if it has one, such as the paper's f₁.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rule {
    /// The label, if it has one. Several rules may share a label.
    pub label: Option<Box<str>>,
    /// The action.
    pub action: Action,
}

/// A stack alphabet Σ_i, in the order of its declaration.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Alphabet {
    ordered: Vec<Symbol>,
    sorted: Vec<Symbol>,
}

/// The reason why a system is not well-formed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum ModelError {
    #[error("a system needs a shared state, a thread and an initial state, and a program at least one copy")]
    Incomplete,
    #[error("more than {limit} {what}")]
    TooLarge { what: &'static str, limit: u64 },
    #[error("`{0}` is not a name")]
    NotAName(String),
    #[error("two threads are named `{0}`")]
    DuplicateThread(String),
    #[error("thread `{0}` has an action twice")]
    DuplicateAction(String),
    #[error("an action of thread `{0}` names a shared state or a symbol that is not declared")]
    UndeclaredInAction(String),
    #[error("an initial state has {found} stacks, the system {expected} threads")]
    WrongNumberOfStacks { found: usize, expected: usize },
    #[error("an initial state names a shared state or a symbol that is not declared")]
    UndeclaredInInitialState,
    #[error("a bad pattern has another number of stacks, or names what is not declared")]
    PatternDoesNotFit,
    #[error("each initial state names more threads than there are")]
    TooFewThreads,
    #[error("symbols must be numbered in the order in which the alphabets first mention them")]
    SymbolOrder,
}

impl Alphabet {
    /// Makes an alphabet of these symbols. A repeated symbol counts once.
    pub fn new(symbols: impl IntoIterator<Item = Symbol>) -> Self {
        let mut seen = FxHashSet::default();
        let ordered: Vec<_> = symbols.into_iter().filter(|&s| seen.insert(s)).collect();
        let mut sorted = ordered.clone();
        sorted.sort_unstable();
        Alphabet { ordered, sorted }
    }

    /// Whether the alphabet has this symbol.
    pub fn contains(&self, symbol: Symbol) -> bool {
        self.sorted.binary_search(&symbol).is_ok()
    }

    /// Returns |Σ_i|.
    pub fn len(&self) -> usize {
        self.ordered.len()
    }

    /// Whether Σ_i = ∅.
    pub fn is_empty(&self) -> bool {
        self.ordered.is_empty()
    }

    /// Returns the symbols in the order of their declaration.
    pub fn iter(&self) -> impl Iterator<Item = Symbol> + Clone + '_ {
        self.ordered.iter().copied()
    }
}

impl Program {
    /// Makes a program that `copies` threads run. Δ is a set: no two rules have the same action.
    pub fn new(name: &str, copies: u32, alphabet: Alphabet, rules: Vec<Rule>) -> Result<Self, ModelError> {
        let count = u32::try_from(rules.len()).expect("fewer than 2^32 actions");
        let mut by_source: Vec<u32> = (0..count).collect();
        let action = |i: u32| &rules[i as usize].action;
        by_source.sort_by_key(|&i| action(i).source());
        let mut alike = by_source.chunk_by(|&a, &b| action(a).source() == action(b).source());
        if !alike.all(|rules| are_distinct(rules.iter().map(|&i| action(i)))) {
            return Err(ModelError::DuplicateAction(name.to_owned()));
        }
        Ok(Program { name: name.to_owned(), copies, alphabet, rules, by_source })
    }

    /// Returns the name of the program.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of threads that run the program.
    pub fn copies(&self) -> u32 {
        self.copies
    }

    /// Returns Σ_i.
    pub fn alphabet(&self) -> &Alphabet {
        &self.alphabet
    }

    /// Returns Δ_i in the order of the text, without repetitions.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns the rules that are enabled in the thread-visible state (q, σ), with their positions,
    /// in the order of the text.
    pub fn rules_from(&self, q: SharedState, top: Option<Symbol>) -> impl Iterator<Item = (usize, &Rule)> {
        let source = |i: u32| self.rules[i as usize].action.source();
        let start = self.by_source.partition_point(|&i| source(i) < (q, top));
        let enabled = self.by_source[start..].iter().copied().take_while(move |&i| source(i) == (q, top));
        enabled.map(|i| (i as usize, &self.rules[i as usize]))
    }

    /// Returns the number of actions of this kind in Δ_i.
    pub fn count(&self, kind: ActionKind) -> usize {
        self.rules.iter().filter(|rule| rule.action.kind() == kind).count()
    }
}

/// Whether no two actions are equal. Most programs have few actions, which are compared pairwise.
fn are_distinct<'a>(actions: impl ExactSizeIterator<Item = &'a Action> + Clone) -> bool {
    if actions.len() > 16 {
        let mut seen = FxHashSet::default();
        return actions.into_iter().all(|action| seen.insert(action));
    }
    actions.clone().enumerate().all(|(i, action)| actions.clone().take(i).all(|other| other != action))
}

/// Returns an error if a count exceeds its limit.
fn within(what: &'static str, count: u64, limit: u64) -> Result<(), ModelError> {
    if count > limit { Err(ModelError::TooLarge { what, limit }) } else { Ok(()) }
}

/// Returns the numbers of symbols and of actions of all threads together.
fn sizes(programs: &[Program]) -> (u64, u64) {
    let over_threads = |count: fn(&Program) -> usize| {
        programs.iter().map(|p| u64::from(p.copies) * count(p) as u64).fold(0, u64::saturating_add)
    };
    (over_threads(|p| p.alphabet.len().max(1)), over_threads(|p| p.rules.len()))
}

const SYMBOLS: &str = "stack symbols, all threads together";
const ACTIONS: &str = "actions, all threads together";

impl Cpds {
    /// Makes a system of its parts, and checks it. A repeated initial state counts once.
    pub fn new(
        shared: Names,
        symbols: Names,
        programs: Vec<Program>,
        initial: Vec<GlobalState>,
    ) -> Result<Cpds, ModelError> {
        let threads: u64 = programs.iter().map(|p| u64::from(p.copies)).sum();
        if shared.is_empty() || threads == 0 || programs.iter().any(|p| p.copies == 0) || initial.is_empty() {
            return Err(ModelError::Incomplete);
        }
        within("shared states", shared.len() as u64, limits::SHARED_STATES)?;
        within("threads", threads, limits::THREADS)?;
        let (symbol_count, action_count) = sizes(&programs);
        within(SYMBOLS, symbol_count, limits::SYMBOLS)?;
        within(ACTIONS, action_count, limits::ACTIONS)?;
        let heights = initial.iter().flat_map(|state| &state.stacks).map(|stack| 1 + stack.height() as u64);
        within("stacks and symbols in initial states", heights.sum(), limits::STACK_CELLS)?;

        let labels = programs.iter().flat_map(|p| p.rules.iter().filter_map(|rule| rule.label.as_deref()));
        let names = programs.iter().map(Program::name).chain(labels).chain(shared.iter()).chain(symbols.iter());
        if let Some(bad) = names.into_iter().find(|name| !is_name(name)) {
            return Err(ModelError::NotAName(bad.chars().take(MAX_NAME).collect()));
        }
        let mut seen = HashSet::new();
        if let Some(twice) = programs.iter().find(|p| !seen.insert(p.name())) {
            return Err(ModelError::DuplicateThread(twice.name.clone()));
        }

        // The order is fixed so that the text determines the numbers: printing and reading gives
        // the same system.
        let mut next = 0;
        for symbol in programs.iter().flat_map(|p| p.alphabet.iter()) {
            if symbol.0 > next {
                return Err(ModelError::SymbolOrder);
            }
            next = next.max(symbol.0 + 1);
        }
        if next as usize != symbols.len() {
            return Err(ModelError::SymbolOrder);
        }

        let has_shared = |q: SharedState| (q.0 as usize) < shared.len();
        for program in &programs {
            let fits = |action: &Action| {
                has_shared(action.source().0)
                    && has_shared(action.target().0)
                    && action.symbols().all(|s| program.alphabet.contains(s))
            };
            if !program.rules.iter().all(|rule| fits(&rule.action)) {
                return Err(ModelError::UndeclaredInAction(program.name.clone()));
            }
        }

        let threads: Vec<u32> =
            (0..).zip(&programs).flat_map(|(i, p)| std::iter::repeat_n(i, p.copies as usize)).collect();
        for state in &initial {
            let (found, expected) = (state.stacks.len(), threads.len());
            if found != expected {
                return Err(ModelError::WrongNumberOfStacks { found, expected });
            }
            let fits = |(stack, &p): (&Stack, &u32)| stack.iter().all(|s| programs[p as usize].alphabet.contains(s));
            if !has_shared(state.shared) || !state.stacks.iter().zip(&threads).all(fits) {
                return Err(ModelError::UndeclaredInInitialState);
            }
        }
        let mut seen = HashSet::new();
        let initial = initial.into_iter().filter(|state| seen.insert(state.clone())).collect();
        Ok(Cpds { shared, symbols, programs, threads, initial })
    }

    /// Returns the system if it is within the limits of a system that is read from a text.
    pub(crate) fn fits_a_text(self) -> Result<Self, ModelError> {
        let (symbol_count, action_count) = sizes(&self.programs);
        within(SYMBOLS, symbol_count, limits::of_text::SYMBOLS)?;
        within(ACTIONS, action_count, limits::of_text::ACTIONS)?;
        Ok(self)
    }

    /// Returns the names of the shared states; their number is |Q|.
    pub fn shared_names(&self) -> &Names {
        &self.shared
    }

    /// Returns the names of the symbols of all threads.
    pub fn symbol_names(&self) -> &Names {
        &self.symbols
    }

    /// Returns the programs in the order of their declaration.
    pub fn programs(&self) -> &[Program] {
        &self.programs
    }

    /// Returns the initial states in the order of the text: R₀.
    pub fn initial(&self) -> &[GlobalState] {
        &self.initial
    }

    /// Returns n.
    pub fn thread_count(&self) -> usize {
        self.threads.len()
    }

    /// Returns all threads, in order.
    pub fn threads(&self) -> impl Iterator<Item = ThreadId> + use<> {
        (0..u32::try_from(self.threads.len()).expect("limited")).map(ThreadId)
    }

    /// Returns the program of a thread.
    pub fn program(&self, thread: ThreadId) -> &Program {
        &self.programs[self.program_index(thread)]
    }

    /// Returns for each thread the position of its program in [`Cpds::programs`].
    pub fn thread_programs(&self) -> &[u32] {
        &self.threads
    }

    /// Returns the position of a thread's program in [`Cpds::programs`].
    pub fn program_index(&self, thread: ThreadId) -> usize {
        self.threads[thread.index()] as usize
    }

    /// Returns the name of a thread: its program's name, followed by `#1`, `#2`, … if several
    /// threads run the program.
    pub fn thread_name(&self, thread: ThreadId) -> String {
        let program = self.program(thread);
        if program.copies == 1 {
            return program.name.clone();
        }
        let first = self.threads.partition_point(|&p| p < self.threads[thread.index()]);
        format!("{}#{}", program.name, thread.index() - first + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const Q: SharedState = SharedState(0);

    fn program(copies: u32, alphabet: &[u32], actions: &[Action]) -> Result<Program, ModelError> {
        let rules = actions.iter().map(|&action| Rule { label: None, action }).collect();
        Program::new("P", copies, Alphabet::new(alphabet.iter().map(|&s| Symbol(s))), rules)
    }

    fn system(programs: Vec<Program>, stacks: &[&[u32]]) -> Result<Cpds, ModelError> {
        let stacks = stacks.iter().map(|stack| Stack::from_top(stack.iter().map(|&s| Symbol(s)))).collect();
        let (shared, symbols) = (["q"].into_iter().collect(), ["a", "b"].into_iter().collect());
        Cpds::new(shared, symbols, programs, vec![GlobalState { shared: Q, stacks }])
    }

    #[test]
    fn a_system_is_checked_when_it_is_made() {
        let pop = |from, top| Action::Pop { from: SharedState(from), top: Symbol(top), to: Q };
        let two = || program(1, &[0, 1], &[pop(0, 0)]).unwrap();
        assert!(system(vec![two()], &[&[0, 1]]).is_ok());
        assert_eq!(system(vec![], &[]), Err(ModelError::Incomplete));
        assert_eq!(system(vec![program(0, &[0, 1], &[]).unwrap(), two()], &[&[]]), Err(ModelError::Incomplete));
        assert_eq!(system(vec![two(), two()], &[&[], &[]]), Err(ModelError::DuplicateThread("P".to_owned())));
        assert_eq!(system(vec![program(1, &[1, 0], &[]).unwrap()], &[&[]]), Err(ModelError::SymbolOrder));
        assert_eq!(
            system(vec![program(1, &[0], &[]).unwrap()], &[&[]]),
            Err(ModelError::SymbolOrder),
            "no alphabet has b"
        );
        for action in [pop(0, 2), pop(1, 0)] {
            let undeclared = ModelError::UndeclaredInAction("P".to_owned());
            assert_eq!(system(vec![program(1, &[0, 1], &[action]).unwrap()], &[&[]]), Err(undeclared));
        }
        let wrong = ModelError::WrongNumberOfStacks { found: 2, expected: 1 };
        assert_eq!(system(vec![two()], &[&[], &[]]), Err(wrong));
        assert_eq!(system(vec![two()], &[&[7]]), Err(ModelError::UndeclaredInInitialState));
        let large = ModelError::TooLarge { what: "threads", limit: limits::THREADS };
        assert_eq!(system(vec![program(5000, &[0, 1], &[]).unwrap()], &[&[]]), Err(large));
        assert_eq!(program(1, &[0], &[pop(0, 0), pop(0, 0)]), Err(ModelError::DuplicateAction("P".to_owned())));
    }

    #[test]
    fn a_program_finds_its_rules_and_counts_its_actions() {
        let pop = |top| Action::Pop { from: Q, top: Symbol(top), to: Q };
        let program = program(2, &[0, 1, 0], &[pop(0), pop(1), Action::EmptyOverwrite { from: Q, to: Q }]).unwrap();
        let count = ActionKind::ALL.map(|kind| program.count(kind));
        assert_eq!(count, [2, 0, 0, 1, 0]);
        assert_eq!((program.alphabet().len(), program.alphabet().is_empty()), (2, false));
        assert!(Alphabet::new([]).is_empty());
    }

    #[test]
    fn copies_are_numbered() {
        let text = "shared 0; init 0|-,-,-,-; thread A { }\n thread B * 2 { }\n thread C { }";
        let problem: crate::Problem = text.parse().unwrap();
        let names = problem.system().threads().map(|thread| problem.system().thread_name(thread));
        assert_eq!(names.collect::<Vec<_>>(), ["A", "B#1", "B#2", "C"]);
    }

    #[test]
    fn rules_are_found_by_their_source_in_the_order_of_the_text() {
        let rule = |from, new| Action::EmptyPush { from: SharedState(from), to: Q, new: Symbol(new) };
        let program = program(1, &[0, 1], &[rule(1, 0), rule(0, 1), rule(1, 1), rule(0, 0)]).unwrap();
        let found = |q| program.rules_from(SharedState(q), None).map(|(index, _)| index).collect::<Vec<_>>();
        assert_eq!((found(0), found(1), found(2)), (vec![1, 3], vec![0, 2], vec![]));
        assert_eq!(program.rules_from(Q, Some(Symbol(0))).count(), 0);
    }
}
