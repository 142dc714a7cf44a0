//! Widening a language: states of its minimal automaton that agree to depth d become one.
//!
//! Two states agree to depth 0 if both accept or neither does. They agree to depth d + 1 if they agree to depth 0, have
//! transitions with the same labels, and equal labels lead to states that agree to depth d. The start agrees with nothing but
//! itself.
//!
//! # What is true of the result W_d(L)
//! - L ⊆ W_d(L): every path is still there.
//! - T(W_d(L)) = T(L): the start stands alone, so a first symbol, or none, is what it was.
//! - W_{d+1}(L) ⊆ W_d(L), since fewer states become one. If no two states agree, W_d(L) = L: so it is for every d from some d on.
//! - For each d and alphabet there are finitely many W_d(L): the automaton has no more states than there are kinds of agreement.
//!
//! W_d is *not* monotone: a larger language may have a larger automaton, of which fewer states agree.

use super::language::Language;
use super::languages::{LanguageId, Languages};
use super::psa::{Psa, PsaState, TooLarge};
use super::visible::top;
use cpds::SharedState;
use rustc_hash::FxHashMap;

/// Languages that have been widened to a depth.
pub(super) struct Widening {
    depth: usize,
    is_exact: bool,
    known: FxHashMap<LanguageId, LanguageId>,
}

impl Widening {
    pub(super) fn new(depth: usize) -> Self {
        Widening { depth, is_exact: true, known: FxHashMap::default() }
    }

    /// W_d of a language; unless that takes more than `room` bytes.
    pub(super) fn widen(
        &mut self,
        languages: &mut Languages,
        language: LanguageId,
        room: usize,
    ) -> Result<LanguageId, TooLarge> {
        if let Some(&known) = self.known.get(&language) {
            return Ok(known);
        }
        let widened = match merged(languages.get(language), self.depth) {
            Some(psa) => languages.of_psa(&psa, room)?[0].1,
            None => language,
        };
        self.known.insert(language, widened);
        self.is_exact &= widened == language;
        Ok(widened)
    }

    /// Whether no language was changed.
    pub(super) fn is_exact(&self) -> bool {
        self.is_exact
    }
}

/// The automaton in which what agrees is one state; none if nothing does.
fn merged(language: &Language, depth: usize) -> Option<Psa> {
    let classes = agreeing(language, depth);
    let count = classes.iter().max()? + 1;
    if count as usize == classes.len() {
        return None;
    }
    let mut psa = Psa::default();
    let mut states = vec![None; count as usize];
    for (state, &class) in (0..).zip(&classes) {
        states[class as usize].get_or_insert_with(|| psa.add_state(language.is_accepting(state)));
    }
    let of = |state: u32| states[classes[state as usize] as usize].expect("every class has a state");
    for state in (0..).take(language.states()) {
        for &[label, to] in language.out(state) {
            psa.add(PsaState::Inner(of(state)), top(label), of(to));
        }
    }
    let start = PsaState::Shared(SharedState(0));
    psa.add(start, None, of(0));
    for &[label, to] in language.out(0) {
        psa.add(start, top(label), of(to));
    }
    Some(psa)
}

/// For each state the number of those that it agrees with.
fn agreeing(language: &Language, depth: usize) -> Vec<u32> {
    let states = || (0..).take(language.states());
    let mut classes: Vec<u32> =
        states().map(|state| if state == 0 { 0 } else { 1 + u32::from(language.is_accepting(state)) }).collect();
    let mut count = 0;
    for _ in 0..depth {
        let mut numbers: FxHashMap<(u32, Vec<[u32; 2]>), u32> = FxHashMap::default();
        let mut finer = Vec::new();
        for state in states() {
            let out = language.out(state).iter().map(|&[label, to]| [label, classes[to as usize]]).collect();
            let next = u32::try_from(numbers.len()).expect("no more than states");
            finer.push(*numbers.entry((classes[state as usize], out)).or_insert(next));
        }
        classes = finer;
        if std::mem::replace(&mut count, numbers.len()) == numbers.len() {
            break;
        }
    }
    // numbered without gaps
    let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
    classes
        .iter()
        .map(|&class| {
            let next = u32::try_from(numbers.len()).expect("no more than states");
            *numbers.entry(class).or_insert(next)
        })
        .collect()
}
