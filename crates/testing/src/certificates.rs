//! A naive test of the conditions on a certificate, and changed evidence.
//!
//! [`is_invariant`] takes the conditions literally: it enumerates every permutation, and compares
//! each tuple with all tuples. [`changed`] and [`changed_traces`] change one part of a certificate
//! or of a trace. A checker must reject the result unless it is still valid evidence.

use cpds::{Automaton, Certificate, GlobalState, Problem, SharedState, Stack, Symbol, Trace, Wild};
use std::collections::BTreeSet;

type Tuple = (SharedState, Vec<u32>);

/// Whether a certificate meets conditions (i), (ii) and (iii).
///
/// The threads of a group must have the same actions. Each state of the automaton must lead to an
/// accepting state.
pub fn is_invariant(problem: &Problem, certificate: &Certificate) -> bool {
    let (system, all) = (problem.system(), permuted(certificate));
    let has_initial = system.initial().iter().all(|state| has(certificate, &all, state));
    has_initial
        && all.iter().all(|tuple| is_closed(problem, certificate, &all, tuple) && !is_bad(problem, certificate, tuple))
}

/// Whether a state is in a certificate.
pub fn contains(certificate: &Certificate, state: &GlobalState) -> bool {
    first_lost(certificate, std::iter::once(state)).is_none()
}

/// Returns the first of these states that is not in a certificate.
pub fn first_lost<'s>(
    certificate: &Certificate,
    mut states: impl Iterator<Item = &'s GlobalState>,
) -> Option<&'s GlobalState> {
    let all = permuted(certificate);
    states.find(|state| !has(certificate, &all, state))
}

/// Adds to the tuples all their permutations within groups, by swaps of neighbours.
fn permuted(certificate: &Certificate) -> BTreeSet<Tuple> {
    let mut all = BTreeSet::new();
    let mut open: Vec<Tuple> = certificate.tuples().map(|(q, languages)| (q, languages.to_vec())).collect();
    while let Some(tuple) = open.pop() {
        for group in &certificate.groups {
            for pair in group.windows(2) {
                let mut swapped = tuple.clone();
                swapped.1.swap(pair[0].index(), pair[1].index());
                if !all.contains(&swapped) && swapped != tuple {
                    open.push(swapped);
                }
            }
        }
        all.insert(tuple);
    }
    all
}

fn has(certificate: &Certificate, all: &BTreeSet<Tuple>, state: &GlobalState) -> bool {
    let accepts = |(language, stack): (&u32, &Stack)| {
        let end = stack.iter().try_fold(*language, |at, symbol| step(&certificate.automaton, at, symbol));
        end.is_some_and(|end| certificate.automaton.is_accepting(end))
    };
    all.iter().any(|(q, languages)| *q == state.shared && languages.iter().zip(&state.stacks).all(accepts))
}

fn step(automaton: &Automaton, state: u32, symbol: Symbol) -> Option<u32> {
    automaton.out(state).iter().find(|(label, _)| *label == symbol).map(|&(_, to)| to)
}

/// Condition (ii) for one tuple.
fn is_closed(problem: &Problem, certificate: &Certificate, all: &BTreeSet<Tuple>, (q, languages): &Tuple) -> bool {
    problem.system().threads().all(|thread| {
        let (i, automaton) = (thread.index(), &certificate.automaton);
        problem.system().program(thread).rules().iter().all(|rule| {
            let ((from, read), (to, written)) = (rule.action.source(), rule.action.target());
            let mut with_image = automaton.clone();
            let below = match read {
                Some(symbol) => step(automaton, languages[i], symbol),
                None if automaton.is_accepting(languages[i]) => Some(push(&mut with_image, true, [])),
                None => None,
            };
            let Some(below) = below.filter(|_| from == *q) else { return true };
            let image = written.rev().fold(below, |below, symbol| push(&mut with_image, false, [(symbol, below)]));
            let others_are_included = |(q, larger): &&Tuple| {
                let included = |j: usize| j == i || is_included(&with_image, languages[j], BTreeSet::from([larger[j]]));
                *q == to && (0..larger.len()).all(included)
            };
            let union = all.iter().filter(others_are_included).map(|(_, larger)| larger[i]).collect();
            is_included(&with_image, image, union)
        })
    })
}

fn push<const N: usize>(automaton: &mut Automaton, accepting: bool, out: [(Symbol, u32); N]) -> u32 {
    automaton.push(accepting, out);
    u32::try_from(automaton.len() - 1).expect("few states")
}

/// Whether a language is included in the union of other languages.
fn is_included(automaton: &Automaton, language: u32, union: BTreeSet<u32>) -> bool {
    let (mut seen, mut open) = (BTreeSet::new(), vec![(language, union)]);
    while let Some((state, union)) = open.pop() {
        if automaton.is_accepting(state) && !union.iter().any(|&other| automaton.is_accepting(other)) {
            return false;
        }
        if seen.insert((state, union.clone())) {
            for &(symbol, to) in automaton.out(state) {
                open.push((to, union.iter().filter_map(|&other| step(automaton, other, symbol)).collect()));
            }
        }
    }
    true
}

/// Whether a tuple violates condition (iii).
fn is_bad(problem: &Problem, certificate: &Certificate, (q, languages): &Tuple) -> bool {
    let fits = |(top, &language): (&Wild<Option<Symbol>>, &u32)| match top {
        Wild::Any => true,
        Wild::Is(None) => certificate.automaton.is_accepting(language),
        Wild::Is(Some(symbol)) => step(&certificate.automaton, language, *symbol).is_some(),
    };
    let is_fitting = |pattern: &cpds::Pattern| {
        (pattern.shared == Wild::Any || pattern.shared == Wild::Is(*q)) && pattern.tops.iter().zip(languages).all(fits)
    };
    problem.property().bad.iter().any(is_fitting)
}

/// Makes one of the [`CHANGES`] to a certificate, at the place `at`. Returns `None` if the
/// certificate has nothing to change in this way.
pub fn changed(certificate: &Certificate, what: &str, at: usize) -> Option<Certificate> {
    let mut changed = certificate.clone();
    let width = 1 + certificate.groups.iter().map(Vec::len).sum::<usize>();
    let tuple = at % (certificate.tuples.len() / width).max(1) * width;
    let states = certificate.automaton.len();
    let (state, place) = (at % states, at / states);
    let mut automaton: Vec<(bool, Vec<(Symbol, u32)>)> = (0..number(states))
        .map(|state| (certificate.automaton.is_accepting(state), certificate.automaton.out(state).to_vec()))
        .collect();
    match what {
        "drop a tuple" => drop(changed.tuples.drain(tuple..tuple + width)),
        "another language in a tuple" => {
            changed.tuples[tuple + 1 + place % (width - 1)] = number(at / 7 % states);
        }
        "another shared state in a tuple" => changed.tuples[tuple] = number(at / 7 % 2),
        "swap threads" if width > 2 => changed.tuples.swap(tuple + 1, tuple + 2),
        "all threads in one group" => changed.groups = vec![certificate.groups.concat()],
        "flip acceptance of a state" => automaton[state].0 ^= true,
        "drop a transition" if !automaton[state].1.is_empty() => {
            let place = place % automaton[state].1.len();
            automaton[state].1.remove(place);
        }
        "another target of a transition" if !automaton[state].1.is_empty() => {
            let place = place % automaton[state].1.len();
            automaton[state].1[place].1 = number(at / 7 % states);
        }
        "another symbol of a transition" if !automaton[state].1.is_empty() => {
            let place = place % automaton[state].1.len();
            automaton[state].1[place].0 = Symbol(number(at / 7 % 4));
        }
        _ => return None,
    }
    changed.automaton = Automaton::default();
    for (accepting, mut out) in automaton {
        out.sort_unstable();
        changed.automaton.push(accepting, out);
    }
    (changed != *certificate).then_some(changed)
}

/// The kinds of changes.
pub const CHANGES: [&str; 9] = [
    "drop a tuple",
    "another language in a tuple",
    "another shared state in a tuple",
    "swap threads",
    "all threads in one group",
    "flip acceptance of a state",
    "drop a transition",
    "another target of a transition",
    "another symbol of a transition",
];

fn number(n: usize) -> u32 {
    u32::try_from(n).expect("few")
}

/// Returns copies of a trace, each with one change: a context or a step is removed, two of them are
/// exchanged, or a step has a wrong rule or state.
pub fn changed_traces(trace: &Trace) -> Vec<Trace> {
    let mut changed = Vec::new();
    let mut change = |change: &dyn Fn(&mut Trace)| {
        let mut other = trace.clone();
        change(&mut other);
        changed.extend((other != *trace).then_some(other));
    };
    for (number, context) in trace.contexts.iter().enumerate() {
        change(&|trace| drop(trace.contexts.remove(number)));
        change(&|trace| trace.contexts.swap(0, number));
        for step in 0..context.steps.len() {
            change(&|trace| drop(trace.contexts[number].steps.remove(step)));
            change(&|trace| trace.contexts[number].steps.swap(0, step));
            change(&|trace| trace.contexts[number].steps[step].rule += 1);
            change(&|trace| trace.contexts[number].steps[step].state.shared.0 ^= 1);
            change(&|trace| trace.contexts[number].steps[step].state.stacks.reverse());
        }
    }
    changed
}
