//! Widening W_d of a language: merges the automaton states that agree to depth d, for A_d.
//!
//! Two states of the minimal automaton agree to depth 0 if both accept or neither does. They agree
//! to depth d + 1 if they agree to depth 0, have transitions with the same labels, and equal labels
//! lead to states that agree to depth d. The start agrees only with itself.
//!
//! # Properties of W_d(L)
//! - L ⊆ W_d(L): merging keeps every path.
//! - T(W_d(L)) = T(L): the start is never merged, so the first symbols stay the same, and so does
//!   acceptance of the empty word.
//! - W_{d+1}(L) ⊆ W_d(L), because fewer states are merged. If no two states agree, then W_d(L) = L.
//!   This holds for all d from some d on.
//! - For each d and alphabet there are finitely many W_d(L): the number of states is limited by the
//!   number of classes of agreement.
//!
//! W_d is *not* monotone: in a larger language fewer states may agree. For d = 0, {xa, yb} is
//! widened to {xa, xb, ya, yb}. Widening the larger language {x, xa, yb} does not add xb: the state
//! after x accepts, and the state after y does not, so these states do not agree.

use crate::automata::canonical_language::Language;
use crate::automata::language_table::{LanguageId, Languages};
use crate::automata::store_automaton::{Psa, PsaState};
use crate::limits::TooLarge;
use crate::visible::levels::top;
use cpds::SharedState;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// The cache of widened languages, for one depth.
#[derive(Serialize, Deserialize)]
pub(crate) struct Widening {
    depth: usize,
    is_exact: bool,
    widened: FxHashMap<LanguageId, LanguageId>,
}

impl Widening {
    /// Creates an empty cache.
    pub(crate) fn new(depth: usize) -> Self {
        Widening { depth, is_exact: true, widened: FxHashMap::default() }
    }

    /// Computes W_d of a language.
    ///
    /// # Errors
    /// If the computation takes more than `room` bytes, or if it is cancelled.
    pub(crate) fn widen(
        &mut self,
        languages: &mut Languages,
        language: LanguageId,
        room: usize,
    ) -> Result<LanguageId, TooLarge> {
        if let Some(&widened) = self.widened.get(&language) {
            return Ok(widened);
        }
        let widened = match merged(languages.get(language), self.depth) {
            Some(psa) => languages.of_psa(&psa, room)?[0].1,
            None => language,
        };
        self.widened.insert(language, widened);
        self.is_exact &= widened == language;
        Ok(widened)
    }

    /// Whether W_d(L) = L for each language that was widened so far.
    pub(crate) fn is_exact(&self) -> bool {
        self.is_exact
    }
}

/// Merges agreeing states. Returns `None` if no two states agree.
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

/// Returns, for each state, the number of its class of agreeing states.
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
    // Renumber without gaps: there may be no accepting state except the start.
    let mut numbers: FxHashMap<u32, u32> = FxHashMap::default();
    let mut number = |class: u32| {
        let next = u32::try_from(numbers.len()).expect("no more than states");
        *numbers.entry(class).or_insert(next)
    };
    classes.into_iter().map(&mut number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::automata::action_index::ActionIndex;
    use cpds::{Problem, Stack, Symbol};
    use cpds_testing::random::{Shape, problem};
    use proptest::prelude::*;

    /// Returns the language of these words. Each letter is a symbol.
    fn language(languages: &mut Languages, words: &[&str]) -> LanguageId {
        words.iter().fold(Languages::EMPTY, |all, word| {
            let word = languages.word(&Stack::from_top(word.bytes().map(|letter| Symbol(u32::from(letter)))));
            languages.union(all, word)
        })
    }

    fn widen(languages: &mut Languages, language: LanguageId, depth: usize) -> LanguageId {
        Widening::new(depth).widen(languages, language, usize::MAX).unwrap()
    }

    #[test]
    fn widening_is_not_monotone() {
        let mut languages = Languages::default();
        let small = language(&mut languages, &["xa", "yb"]);
        let large = language(&mut languages, &["x", "xa", "yb"]);
        let widened = widen(&mut languages, small, 0);
        assert_eq!(widened, language(&mut languages, &["xa", "xb", "ya", "yb"]));
        let widened_large = widen(&mut languages, large, 0);
        assert!(languages.is_included(small, large) && !languages.is_included(widened, widened_large));
    }

    #[test]
    fn states_that_differ_within_the_depth_are_not_merged() {
        let mut languages = Languages::default();
        let given = language(&mut languages, &["xpca", "yqcb", "zpcb"]);
        // The states after x and after z agree to depth 2. The state after y does not agree.
        let widened = widen(&mut languages, given, 2);
        assert_eq!(widened, language(&mut languages, &["xpca", "xpcb", "yqcb", "zpca", "zpcb"]));
        assert_eq!(widen(&mut languages, given, 3), given);
    }

    /// W_0 does not change {xa}, but it changes {xa, yb}. After the first change, the widening
    /// stays inexact.
    #[test]
    fn widening_is_exact_until_it_changes_a_language() {
        let mut languages = Languages::default();
        let (same, other) = (language(&mut languages, &["xa"]), language(&mut languages, &["xa", "yb"]));
        let mut widening = Widening::new(0);
        let after: Vec<bool> = [same, same, other, same]
            .into_iter()
            .map(|language| {
                widening.widen(&mut languages, language, usize::MAX).unwrap();
                widening.is_exact()
            })
            .collect();
        assert_eq!(after, [true, true, false, false]);
    }

    proptest! {
        /// The properties of W_d(L) that the module lists hold for every language that post* gives.
        #[test]
        fn languages_grow_and_keep_their_tops(
            problem in problem(&Shape { programs: 1..=1, copies: 1..=1, actions: 3..=14, ..Shape::default() }),
        ) {
            let check = |problem: &Problem| {
                let (system, mut languages) = (problem.system(), Languages::default());
                let heads = ActionIndex::new(&system.programs()[0]);
                for state in system.initial() {
                    let psa = Psa::of_states([(state.shared, &state.stacks[0])]).saturated(&heads, usize::MAX).unwrap();
                    for (_, given) in languages.of_psa(&psa, usize::MAX).unwrap() {
                        let mut before = None;
                        for depth in 0..6 {
                            let widened = widen(&mut languages, given, depth);
                            assert!(languages.is_included(given, widened), "L ⊆ W_d(L)");
                            assert_eq!(languages.tops_id(given), languages.tops_id(widened), "T(W_d(L)) = T(L)");
                            assert!(before.is_none_or(|before| languages.is_included(widened, before)), "W_{{d+1}}(L) ⊆ W_d(L)");
                            before = Some(widened);
                        }
                        let states = languages.states(given);
                        assert_eq!(widen(&mut languages, given, states), given, "exact from some d on");
                    }
                }
            };
            check(&problem);
        }
    }
}
