//! What lies directly below the tops of stacks, which is what a pop shows.
//!
//! A visible state says which actions are enabled, and what can be seen after each of them; except
//! after a pop, where the symbol that was below the top has come up, or ε. So T(R_k), and what lies
//! below the tops in states of R_k, say exactly from which visible state a step leads to which.
//!
//! In a tuple of languages, what lies below one top does not depend on what the other threads have,
//! and what a language has below a top is read off its automaton. So this is exact for every set of
//! tuples, R_k or the proof that nothing else is reachable.
//!
//! # What may not be concluded
//! T(R_k) = T(R) does not mean that R_k has all below its tops that R has. Higher stacks may come
//! with further contexts, and show nothing new even when they are popped. A proof may have more
//! below its tops than R has.

use crate::visible::levels::{top, top_number};
use crate::visible::symmetry::Symmetry;
use cpds::{Certificate, Symbol, ThreadId, VisibleState};
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};

/// For visible states and threads whose stacks are not empty there, what lies below the top.
pub type Below = BTreeMap<(VisibleState, ThreadId), BTreeSet<Option<Symbol>>>;

/// Stands for the top in question, and is sorted behind all others.
const MARK: u32 = u32::MAX;

/// What lies below the tops in the states of tuples, of which none is empty. There is one entry for
/// each of their visible states, at least.
pub fn below(tuples: &Certificate) -> Below {
    let (symmetry, automaton) = (Symmetry::of(tuples.groups.clone()), &tuples.automaton);
    let tops = |language: u32| {
        let empty = automaton.is_accepting(language).then_some(None);
        empty.into_iter().chain(automaton.out(language).iter().map(|&(symbol, _)| Some(symbol)))
    };
    // The shared state, a top, what lies below it; and the tops by position, sorted.
    let mut seen = FxHashSet::default();
    for (shared, languages) in tuples.tuples() {
        let languages = symmetry.placed(languages);
        let mut choices: Vec<Vec<u32>> =
            languages.iter().map(|&language| tops(language).map(top_number).collect()).collect();
        for (position, &language) in languages.iter().enumerate() {
            let own = std::mem::replace(&mut choices[position], vec![MARK]);
            for mut others in product(&choices) {
                symmetry.sort(&mut others);
                for &(symbol, rest) in automaton.out(language) {
                    seen.extend(tops(rest).map(|below| (shared, symbol, below, others.clone())));
                }
            }
            choices[position] = own;
        }
    }
    let mut all = Below::new();
    for (shared, symbol, below, others) in seen {
        for mut member in symmetry.members(others) {
            let position = member.iter().position(|&number| number == MARK).expect("it was put there");
            member[position] = top_number(Some(symbol));
            let tops = symmetry.by_thread(member.into_iter().map(top));
            all.entry((VisibleState { shared, tops }, symmetry.threads()[position])).or_default().insert(below);
        }
    }
    all
}

/// Every list with one of each.
fn product(choices: &[Vec<u32>]) -> impl Iterator<Item = Vec<u32>> {
    let count: usize = choices.iter().map(Vec::len).product();
    (0..count).map(move |mut number| {
        let mut digit = |choices: &Vec<u32>| {
            let digit = number % choices.len();
            number /= choices.len();
            choices[digit]
        };
        choices.iter().map(&mut digit).collect()
    })
}
