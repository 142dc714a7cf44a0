//! Random systems. They shrink towards fewer threads, fewer and simpler actions, and lower stacks.

use cpds::{
    Action, Alphabet, Cpds, GlobalState, Names, Pattern, Problem, Program, Property, Rule, SharedState, Stack, Symbol,
    Wild,
};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::HashSet;
use std::ops::RangeInclusive;

/// The shape of random systems.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The number of programs.
    pub programs: RangeInclusive<usize>,
    /// The number of threads that run each program.
    pub copies: RangeInclusive<u32>,
    /// |Q|.
    pub shared: RangeInclusive<u32>,
    /// |Σ_i|. Programs share some symbols. A program without symbols has only the empty stack.
    pub symbols: RangeInclusive<u32>,
    /// |Δ_i|, before repeated actions are removed.
    pub actions: RangeInclusive<usize>,
    /// The average number of actions from the empty stack among ten actions; 0 to 10.
    pub from_empty: u32,
    /// The number of symbols that an action writes, at most 2. With `0..=1`, no action pushes; with
    /// `1..=2`, no action pops.
    pub written: RangeInclusive<usize>,
    /// The number of initial states.
    pub initial: RangeInclusive<usize>,
    /// The height of an initial stack.
    pub height: RangeInclusive<usize>,
    /// The number of bad patterns.
    pub bad: RangeInclusive<usize>,
    /// Whether the threads of a program have equal stacks in each initial state, so that they are
    /// interchangeable.
    pub copies_start_alike: bool,
}

impl Shape {
    /// Many threads: already a few stacks give packed states another layout.
    pub fn crowd() -> Self {
        Shape { programs: 1..=1, copies: 12..=20, shared: 1..=2, actions: 2..=6, ..Shape::default() }
    }
}

impl Default for Shape {
    /// A small system that may have every kind of action.
    fn default() -> Self {
        Shape {
            programs: 1..=3,
            copies: 1..=2,
            shared: 1..=4,
            symbols: 0..=4,
            actions: 0..=9,
            from_empty: 2,
            written: 0..=2,
            initial: 1..=2,
            height: 0..=3,
            bad: 0..=2,
            copies_start_alike: false,
        }
    }
}

/// Generates a problem of this shape.
pub fn problem(shape: &Shape) -> impl Strategy<Value = Problem> + use<> {
    let shape = shape.clone();
    let alphabets = vec((shape.symbols.clone(), 0..3_u32, shape.copies.clone()), shape.programs.clone());
    (shape.shared.clone(), alphabets, style()).prop_flat_map(move |(shared, alphabets, style)| {
        // Alphabet i has `size` symbols from a random offset on, so alphabets overlap but differ.
        let sizes: Vec<u32> = alphabets.iter().map(|&(size, _, _)| size).collect();
        let threads: Vec<u32> =
            alphabets.iter().flat_map(|&(size, _, copies)| std::iter::repeat_n(size, copies as usize)).collect();
        let rules: Vec<_> = sizes.iter().map(|&size| vec(rule(shared, size, &shape), shape.actions.clone())).collect();
        let initial = vec(state(shared, &threads, &shape.height), shape.initial.clone());
        let bad = vec(pattern(shared, &threads), shape.bad.clone());
        let alike = shape.copies_start_alike;
        (rules, initial, bad).prop_map(move |(rules, mut initial, bad)| {
            for (_, stacks) in initial.iter_mut().filter(|_| alike) {
                let mut first = 0;
                for &(_, _, copies) in &alphabets {
                    let copies = first..first + copies as usize;
                    let stack = stacks[first].clone();
                    first = copies.end;
                    stacks[copies].fill(stack);
                }
            }
            build(shared, &alphabets, style, rules, initial, bad)
        })
    })
}

/// A symbol of a program: its position in the program's alphabet. The number of the symbol in the
/// system is not known yet.
///
/// Proptest generates and shrinks rules, states and patterns of these local symbols, and [`build`]
/// makes a system of them.
type LocalSymbol = u32;

type RawRule = (bool, u32, Option<LocalSymbol>, u32, Vec<LocalSymbol>);
type RawState = (u32, Vec<Vec<LocalSymbol>>);
type RawPattern = (Wild<u32>, Vec<Wild<Option<LocalSymbol>>>);

/// A style of names: from a kind of thing and its number to its name.
type NameStyle = fn(&str, u32) -> String;

fn style() -> impl Strategy<Value = NameStyle> {
    let plain: NameStyle = |kind, i| format!("{kind}{i}");
    let numbers: NameStyle = |_, i| i.to_string();
    let odd: NameStyle = |kind, i| {
        const ODD: [&str; 9] = ["init", "thread", "shared", "symbols", "x.1", "⊥", "07", "a=b", "PDA"];
        ODD.get(i as usize).map_or(format!("{kind}'{i}"), ToString::to_string)
    };
    prop_oneof![Just(plain), Just(numbers), Just(odd)]
}

/// Generates a word of this length; the empty word if there are no symbols.
fn word(symbols: u32, length: RangeInclusive<usize>) -> BoxedStrategy<Vec<LocalSymbol>> {
    if symbols == 0 { Just(Vec::new()).boxed() } else { vec(0..symbols, length).boxed() }
}

fn rule(shared: u32, symbols: u32, shape: &Shape) -> impl Strategy<Value = RawRule> + use<> {
    let from_empty = if symbols == 0 { 10 } else { shape.from_empty.min(10) };
    let read = prop_oneof![
        10 - from_empty => (0..symbols.max(1)).prop_map(Some),
        from_empty => Just(None),
    ];
    (any::<bool>(), 0..shared, read, 0..shared, word(symbols, shape.written.clone())).prop_map(
        |(label, from, read, to, mut written)| {
            if read.is_none() {
                written.truncate(1);
            }
            (label, from, read, to, written)
        },
    )
}

fn state(shared: u32, threads: &[u32], height: &RangeInclusive<usize>) -> impl Strategy<Value = RawState> + use<> {
    let stacks: Vec<_> = threads.iter().map(|&size| word(size, height.clone())).collect();
    (0..shared, stacks)
}

fn pattern(shared: u32, threads: &[u32]) -> impl Strategy<Value = RawPattern> + use<> {
    let top = |&size: &u32| wild(word(size, 0..=1).prop_map(|word| word.first().copied()));
    (wild(0..shared), threads.iter().map(top).collect::<Vec<_>>())
}

fn wild<S: Strategy>(strategy: S) -> impl Strategy<Value = Wild<S::Value>>
where
    S::Value: Clone,
{
    prop_oneof![Just(Wild::Any), strategy.prop_map(Wild::Is)]
}

fn build(
    shared: u32,
    alphabets: &[(u32, u32, u32)],
    style: NameStyle,
    rules: Vec<Vec<RawRule>>,
    initial: Vec<RawState>,
    bad: Vec<RawPattern>,
) -> Problem {
    let mut symbols = Names::default();
    let numbers: Vec<Vec<Symbol>> = alphabets
        .iter()
        .map(|&(size, offset, _)| (offset..offset + size).map(|i| Symbol(symbols.insert(&style("s", i)))).collect())
        .collect();
    let programs: Vec<Program> = rules
        .into_iter()
        .enumerate()
        .map(|(i, rules)| {
            let word = |local: &[LocalSymbol]| local.iter().map(|&s| numbers[i][s as usize]).collect::<Vec<_>>();
            let rules = rules.into_iter().enumerate().map(|(n, (labelled, from, read, to, written))| {
                let (read, written) = (word(read.as_slice()), word(&written));
                let action = Action::new((SharedState(from), &read), (SharedState(to), &written));
                Rule {
                    label: labelled.then(|| style("r", u32::try_from(n).expect("few")).into()),
                    action: action.expect("of the right shape"),
                }
            });
            let mut seen = HashSet::new();
            let rules = rules.filter(|rule: &Rule| seen.insert(rule.action)).collect();
            let alphabet = Alphabet::new(numbers[i].iter().copied());
            Program::new(&style("T", u32::try_from(i).expect("few")), alphabets[i].2, alphabet, rules)
                .expect("no action twice")
        })
        .collect();
    let program_of: Vec<usize> =
        alphabets.iter().enumerate().flat_map(|(i, a)| std::iter::repeat_n(i, a.2 as usize)).collect();
    let symbol = |thread: usize, local: LocalSymbol| numbers[program_of[thread]][local as usize];

    let initial = initial.into_iter().map(|(q, stacks)| GlobalState {
        shared: SharedState(q),
        stacks: stacks
            .into_iter()
            .enumerate()
            .map(|(thread, stack)| Stack::from_top(stack.into_iter().map(|local| symbol(thread, local))))
            .collect(),
    });
    let bad = bad.into_iter().map(|(q, tops)| Pattern {
        shared: map(q, SharedState),
        tops: tops
            .into_iter()
            .enumerate()
            .map(|(thread, top)| map(top, |top| top.map(|local| symbol(thread, local))))
            .collect(),
    });
    let shared = (0..shared).map(|q| style("q", q)).collect();
    let system = Cpds::new(shared, symbols, programs, initial.collect()).expect("generated systems are well-formed");
    Problem::new(system, Property { bad: bad.collect() }).expect("generated patterns fit")
}

fn map<T, U>(wild: Wild<T>, f: impl FnOnce(T) -> U) -> Wild<U> {
    match wild {
        Wild::Any => Wild::Any,
        Wild::Is(value) => Wild::Is(f(value)),
    }
}
