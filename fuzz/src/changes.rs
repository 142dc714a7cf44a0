//! Bytes as choices: makes and changes small systems.

use cpds::{Problem, Property};
use cuba::Options;
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Returns the limits of the engines: low ones, without a timeout, so that runs are repeatable.
pub(super) fn limits() -> Options {
    Options {
        max_contexts: Some(5),
        max_tuples: Some(100),
        max_depth: Some(1),
        memory: 1 << 22,
        jobs: 1,
        ..Options::default()
    }
}

/// Choices, one byte each. After the last byte, every choice is 0.
pub(super) struct Choices<'b>(pub(super) &'b [u8]);

impl Choices<'_> {
    /// Returns a number less than `n`; 0 if `n` is 0.
    pub(super) fn below(&mut self, n: usize) -> usize {
        let Some((&first, rest)) = self.0.split_first() else { return 0 };
        self.0 = rest;
        usize::from(first).checked_rem(n).unwrap_or(0)
    }

    /// Returns one of these items, if there are any.
    pub(super) fn one_of<'i, T>(&mut self, items: &'i mut [T]) -> Option<&'i mut T> {
        let at = self.below(items.len());
        items.get_mut(at)
    }

    pub(super) fn is_over(&self) -> bool {
        self.0.is_empty()
    }
}

/// A small system as lines of text.
#[derive(Clone)]
pub(super) struct Draft {
    shared: usize,
    /// For each program: the number of symbols, the number of copies, and the actions.
    programs: Vec<(usize, usize, BTreeSet<String>)>,
    initial: BTreeSet<String>,
    bad: BTreeSet<String>,
}

impl Draft {
    pub(super) fn new(choices: &mut Choices<'_>) -> Draft {
        let mut draft = Draft {
            shared: 1 + choices.below(3),
            programs: Vec::new(),
            initial: BTreeSet::new(),
            bad: BTreeSet::new(),
        };
        for _ in 0..=choices.below(2) {
            draft.programs.push((choices.below(4), 1 + choices.below(2), BTreeSet::new()));
        }
        for program in 0..draft.programs.len() {
            for _ in 0..choices.below(9) {
                draft.add_action(program, choices);
            }
        }
        draft.add_initial(choices);
        draft.add_bad(choices);
        draft
    }

    /// Adds an action, an initial state or a bad pattern.
    pub(super) fn grow(&mut self, choices: &mut Choices<'_>) {
        match choices.below(4) {
            0 => self.add_initial(choices),
            1 => self.add_bad(choices),
            _ => {
                let program = choices.below(self.programs.len());
                self.add_action(program, choices);
            }
        }
    }

    fn add_action(&mut self, program: usize, choices: &mut Choices<'_>) {
        let symbols = self.programs[program].0;
        let (from, to) = (choices.below(self.shared), choices.below(self.shared));
        let read = word(symbols, choices, 1);
        let written = word(symbols, choices, if read == "-" { 1 } else { 2 });
        self.programs[program].2.insert(format!("({from},{read}) -> ({to},{written})"));
    }

    fn add_initial(&mut self, choices: &mut Choices<'_>) {
        let state = self.state(choices, |symbols, choices| word(symbols, choices, 2));
        self.initial.insert(state);
    }

    fn add_bad(&mut self, choices: &mut Choices<'_>) {
        let any = |text: String, choices: &mut Choices<'_>| if choices.below(2) == 0 { "*".to_owned() } else { text };
        let pattern = self.state(choices, |symbols, choices| any(word(symbols, choices, 1), choices));
        self.bad.insert(pattern);
    }

    fn state(&self, choices: &mut Choices<'_>, stack: impl Fn(usize, &mut Choices<'_>) -> String) -> String {
        let mut text = choices.below(self.shared).to_string();
        let symbols = self.programs.iter().flat_map(|&(symbols, copies, _)| std::iter::repeat_n(symbols, copies));
        for (thread, symbols) in symbols.enumerate() {
            text += if thread == 0 { "|" } else { "," };
            text += &stack(symbols, choices);
        }
        text
    }

    pub(super) fn problem(&self) -> Problem {
        let mut text = format!("shared 0..{}\n", self.shared - 1);
        for state in &self.initial {
            writeln!(text, "init {state}").expect("writing to a string");
        }
        for pattern in &self.bad {
            writeln!(text, "bad {pattern}").expect("writing to a string");
        }
        for (number, (symbols, copies, actions)) in self.programs.iter().enumerate() {
            let symbols: Vec<String> = (0..*symbols).map(|symbol| format!(" s{symbol}")).collect();
            let symbols = if symbols.is_empty() { String::new() } else { format!("symbols{}", symbols.concat()) };
            let actions: Vec<String> = actions.iter().map(ToString::to_string).collect();
            let actions = actions.join("\n");
            write!(text, "thread T{number} * {copies} {{\n{symbols}\n{actions}\n}}\n").expect("writing to a string");
        }
        text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"))
    }
}

/// Makes a word of at most `longest` symbols, top first.
fn word(symbols: usize, choices: &mut Choices<'_>, longest: usize) -> String {
    let length = if symbols == 0 { 0 } else { choices.below(longest + 1) };
    let names: Vec<String> = (0..length).map(|_| format!("s{}", choices.below(symbols))).collect();
    if names.is_empty() { "-".to_owned() } else { names.join(" ") }
}

/// Returns the problem without its bad patterns.
pub(super) fn without_property(problem: &Problem) -> Problem {
    Problem::new(problem.system().clone(), Property::default()).expect("no patterns")
}
