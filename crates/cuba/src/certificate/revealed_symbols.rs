//! The symbols that a pop may reveal: the symbols directly under the tops of the stacks of a
//! certificate.
//!
//! A visible state determines the enabled actions, and the visible state to which each of them
//! leads. The only exception is a pop: it reveals the symbol under the top, or ε. So the visible
//! states of R_k together with these symbols determine the visible states to which one step leads.
//!
//! In a tuple of languages, the symbols under one top do not depend on the other stacks. The
//! automaton of the language determines them. So the result is exact for each set of tuples: for
//! R_k, and for a proof.
//!
//! # What may not be concluded
//! If T(R_k) = T(R), stacks of R may still have other symbols under their tops than stacks of R_k:
//! further contexts may lead to higher stacks, which lead to no new visible state, even by pops. A
//! proof may have more symbols under its tops than R.

use crate::visible::levels::{top, top_number};
use crate::visible::symmetry::Symmetry;
use cpds::{Certificate, Symbol, ThreadId, VisibleState};
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};

/// For each visible state and each thread with a non-empty stack there, the symbols under its top;
/// `None` stands for ε.
pub type RevealedSymbols = BTreeMap<(VisibleState, ThreadId), BTreeSet<Option<Symbol>>>;

/// Marks the place of the popped top in a list of tops. It is sorted behind all tops.
const MARK: u32 = u32::MAX;

/// Computes the symbols under the tops of the states of a certificate, for each of their visible
/// states. No tuple of the certificate may be empty.
pub fn revealed_symbols(tuples: &Certificate) -> RevealedSymbols {
    let (symmetry, automaton) = (Symmetry::of(tuples.groups.clone()), &tuples.automaton);
    let tops = |language: u32| {
        let empty = automaton.is_accepting(language).then_some(None);
        empty.into_iter().chain(automaton.out(language).iter().map(|&(symbol, _)| Some(symbol)))
    };
    // The shared state, a top, the symbol under it, and the sorted tops of the other positions.
    let mut distinct = FxHashSet::default();
    for (shared, languages) in tuples.tuples() {
        let languages = symmetry.placed(languages);
        let mut choices: Vec<Vec<u32>> =
            languages.iter().map(|&language| tops(language).map(top_number).collect()).collect();
        for (position, &language) in languages.iter().enumerate() {
            let own = std::mem::replace(&mut choices[position], vec![MARK]);
            for mut others in product(&choices) {
                symmetry.sort(&mut others);
                for &(symbol, rest) in automaton.out(language) {
                    distinct.extend(tops(rest).map(|next| (shared, symbol, next, others.clone())));
                }
            }
            choices[position] = own;
        }
    }
    let mut all = RevealedSymbols::new();
    for (shared, symbol, next, others) in distinct {
        for mut member in symmetry.members(others) {
            let position = member.iter().position(|&number| number == MARK).expect("each list has the mark");
            member[position] = top_number(Some(symbol));
            let tops = symmetry.by_thread(member.into_iter().map(top));
            all.entry((VisibleState { shared, tops }, symmetry.threads()[position])).or_default().insert(next);
        }
    }
    all
}

/// Returns each list with one element of each choice.
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
