//! The conditions on a certificate, taken literally: every permutation is written out, and every tuple is compared with every other.

use cpds::{Automaton, Certificate, GlobalState, Problem, SharedState, Stack, Symbol, Wild};
use std::collections::BTreeSet;

type Tuple = (SharedState, Vec<u32>);

/// Whether a certificate meets conditions (i), (ii) and (iii). Groups are taken to be of threads with the same actions, and every
/// state of the automaton to lead to an accepting one.
pub fn is_invariant(problem: &Problem, certificate: &Certificate) -> bool {
    let (system, all) = (problem.system(), permuted(certificate));
    let has_initial = system.initial().iter().all(|state| has(certificate, &all, state));
    has_initial
        && all.iter().all(|tuple| is_closed(problem, certificate, &all, tuple) && !is_bad(problem, certificate, tuple))
}

/// Whether a state is in a certificate.
pub fn contains(certificate: &Certificate, state: &GlobalState) -> bool {
    has(certificate, &permuted(certificate), state)
}

/// The tuples, with every permutation within groups: closed under swaps.
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

/// Whether a language is a part of the union of others.
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

/// Condition (iii), violated by one tuple.
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
