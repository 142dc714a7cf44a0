//! The table of regular languages of stacks: each stored once, as its canonical minimal automaton.
//!
//! Equal languages have equal numbers, so two languages are compared by their numbers. The table
//! caches results (inclusions, unions) under these numbers. The numbers follow the order of
//! insertion, and have no other meaning.
//!
//! # Canonical automata
//! The minimal automaton of a language, without states that lead to no accepting state, is unique
//! up to the names of its states. The table numbers the states in the order of a breadth-first
//! search from the start that follows the symbols in their order. Then equal languages have
//! identical automata.

use crate::automata::canonical_language::{Language, TopsId, longest, product, shortest, to_u32};
use crate::automata::inclusion::Inclusions;
use crate::automata::minimal_dfa::{Dfa, hash};
use crate::automata::store_automaton::{InnerState, Psa, PsaState};
use crate::cancel::Cancel;
use crate::limits::TooLarge;
use crate::tables::table_size::bytes_of_table;
use crate::visible::levels::{top, top_number};
use cpds::{SharedState, Stack, Symbol};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

/// The number of a language.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct LanguageId(pub(crate) u32);

/// The table of languages.
#[derive(Serialize, Deserialize)]
#[serde(from = "SavedLanguages")]
pub struct Languages {
    all: Vec<Language>,
    #[serde(skip)]
    table: HashTable<u32>,
    /// The distinct sets of tops, each sorted.
    tops: Vec<Box<[u32]>>,
    #[serde(skip)]
    tops_ids: FxHashMap<Box<[u32]>, TopsId>,
    inclusions: Inclusions,
    unions: FxHashMap<(LanguageId, LanguageId), LanguageId>,
    bytes: usize,
    /// The number of transitions of all automata before minimisation.
    built: u64,
    #[serde(skip)]
    cancel: Cancel,
}

/// The part of the table that a checkpoint stores.
#[derive(Deserialize)]
struct SavedLanguages {
    all: Vec<Language>,
    tops: Vec<Box<[u32]>>,
    inclusions: Inclusions,
    unions: FxHashMap<(LanguageId, LanguageId), LanguageId>,
    bytes: usize,
    built: u64,
}

impl From<SavedLanguages> for Languages {
    fn from(SavedLanguages { all, tops, inclusions, unions, bytes, built }: SavedLanguages) -> Self {
        let mut table = HashTable::new();
        for (id, language) in (0..).zip(&all) {
            table.insert_unique(hash(&language.code), id, |&id: &u32| hash(&all[id as usize].code));
        }
        let tops_ids = tops.iter().cloned().zip(0..).collect();
        Languages { all, table, tops, tops_ids, inclusions, unions, bytes, built, cancel: Cancel::default() }
    }
}

impl Default for Languages {
    fn default() -> Self {
        let mut languages = Languages {
            all: Vec::new(),
            table: HashTable::new(),
            tops: Vec::new(),
            tops_ids: FxHashMap::default(),
            inclusions: Inclusions::default(),
            unions: FxHashMap::default(),
            bytes: 0,
            built: 0,
            cancel: Cancel::default(),
        };
        let empty = languages.intern([0, 0].into());
        assert_eq!(empty, Languages::EMPTY, "the empty language is the first one");
        languages
    }
}

/// The languages of a saturated store automaton, before they enter the table.
pub(crate) struct UnnumberedLanguages {
    /// For each shared state, sorted, the state of `automaton` with its language.
    classes: Vec<(SharedState, u32)>,
    /// A minimal automaton.
    automaton: Dfa,
    /// The number of transitions before minimisation.
    built: u64,
    /// The memory that minimisation took.
    bytes: usize,
}

impl UnnumberedLanguages {
    /// Computes the languages of a saturated automaton.
    ///
    /// # Errors
    /// If the computation takes more than `room` bytes, or if the caller cancels.
    pub(crate) fn new(psa: &Psa, room: usize, cancel: &Cancel) -> Result<Self, TooLarge> {
        let (shared, starts): (Vec<_>, Vec<_>) = psa.shared_states().into_iter().unzip();
        let (dfa, bytes) = Dfa::of_psa(psa, &starts, room, cancel)?;
        let (minimal, class) = dfa.minimal();
        let classes = shared.into_iter().zip(class).filter_map(|(q, class)| Some((q, class?))).collect();
        Ok(UnnumberedLanguages { classes, automaton: minimal, built: dfa.transition_count() as u64, bytes })
    }

    /// Returns the memory that minimisation took, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

#[expect(clippy::len_without_is_empty, reason = "there is always the empty language")]
impl Languages {
    /// The empty language.
    pub const EMPTY: LanguageId = LanguageId(0);

    /// Returns the number of languages.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Returns the automaton of a language.
    pub(crate) fn get(&self, language: LanguageId) -> &Language {
        &self.all[language.0 as usize]
    }

    /// Returns the language of one word.
    pub fn word(&mut self, stack: &Stack) -> LanguageId {
        let mut dfa = Dfa::default();
        for (next, symbol) in (1..).zip(stack.iter()) {
            dfa.push(false, [(top_number(Some(symbol)), next)]);
        }
        dfa.push(true, []);
        self.canonical(&dfa, 0)
    }

    /// Returns the languages of the shared states of a saturated store automaton, sorted by shared
    /// state, without empty ones.
    ///
    /// # Errors
    /// If the computation takes more than `room` bytes, or if it is cancelled.
    pub fn of_psa(&mut self, psa: &Psa, room: usize) -> Result<Vec<(SharedState, LanguageId)>, TooLarge> {
        let minimal = UnnumberedLanguages::new(psa, room, &self.cancel)?;
        Ok(self.number_all(&minimal))
    }

    /// Adds computed languages to the table, and returns their numbers by shared state.
    pub(crate) fn number_all(
        &mut self,
        UnnumberedLanguages { classes, automaton, built, .. }: &UnnumberedLanguages,
    ) -> Vec<(SharedState, LanguageId)> {
        self.built += built;
        let mut numbers: FxHashMap<u32, LanguageId> = FxHashMap::default();
        let mut language = |class: u32| *numbers.entry(class).or_insert_with(|| self.canonical(automaton, class));
        classes.iter().map(|&(q, class)| (q, language(class))).collect()
    }

    /// Returns an automaton that accepts ⟨q|w⟩ for each word w of a language.
    pub fn psa(&self, q: SharedState, language: LanguageId) -> Psa {
        let mut psa = Psa::default();
        let language = &self.all[language.0 as usize];
        let states: Vec<InnerState> =
            (0..).take(language.states()).map(|state| psa.add_state(language.is_accepting(state))).collect();
        for (state, &from) in (0..).zip(&states) {
            for &[label, to] in language.out(state) {
                psa.add(PsaState::Inner(from), top(label), states[to as usize]);
            }
        }
        if let Some(&start) = states.first() {
            psa.add(PsaState::Shared(q), None, start);
        }
        psa
    }

    /// Returns the number of the language of a state of a minimal automaton.
    fn canonical(&mut self, minimal: &Dfa, start: u32) -> LanguageId {
        let mut number: FxHashMap<u32, u32> = FxHashMap::default();
        number.insert(start, 0);
        let mut order = vec![start];
        let mut transitions = Vec::new();
        let mut firsts = Vec::new();
        let mut next = 0;
        while let Some(&state) = order.get(next) {
            next += 1;
            firsts.push(to_u32(transitions.len()) | u32::from(minimal.is_accepting(state)));
            for &(label, to) in minimal.out(state) {
                let to = *number.entry(to).or_insert_with(|| {
                    order.push(to);
                    to_u32(order.len() - 1)
                });
                transitions.extend([label, to]);
            }
        }
        firsts.push(to_u32(transitions.len()));
        let code: Vec<u32> = std::iter::once(to_u32(order.len())).chain(firsts).chain(transitions).collect();
        self.intern(code.into())
    }

    /// Returns the number of the language with this code. A new code gets the next number.
    fn intern(&mut self, code: Box<[u32]>) -> LanguageId {
        let Languages { all, table, .. } = self;
        let same = |&id: &u32| all[id as usize].code == code;
        match table.entry(hash(&code), same, |&id| hash(&all[id as usize].code)) {
            Entry::Occupied(occupied) => LanguageId(*occupied.get()),
            Entry::Vacant(place) => {
                let id = to_u32(all.len());
                place.insert(id);
                self.bytes += size_of_val(&*code) + 2 * size_of::<Language>();
                let language = Language { code, tops: 0, shortest: 0, longest: None };
                let language = Language {
                    tops: self.intern_tops(&language),
                    shortest: shortest(&language),
                    longest: longest(&language),
                    ..language
                };
                self.inclusions.add(&language);
                self.all.push(language);
                LanguageId(id)
            }
        }
    }

    /// Returns the number of the set of tops of a language.
    fn intern_tops(&mut self, language: &Language) -> TopsId {
        let tops: Box<[u32]> = if language.states() == 0 {
            Box::default()
        } else {
            // ε is a top only if the automaton accepts the empty word. Alg. 4, as printed, returns
            // ε for every ε-edge.
            let empty = language.is_accepting(0).then_some(0);
            empty.into_iter().chain(language.out(0).iter().map(|&[label, _]| label)).collect()
        };
        let Languages { tops: all, tops_ids, .. } = self;
        *tops_ids.entry(tops).or_insert_with_key(|tops| {
            all.push(tops.clone());
            to_u32(all.len() - 1)
        })
    }

    /// Returns T of a language: the tops of its words (Alg. 4).
    pub fn tops(&self, language: LanguageId) -> impl Iterator<Item = Option<Symbol>> {
        self.tops[self.tops_id(language) as usize].iter().map(|&number| top(number))
    }

    /// Returns the number of the set of tops of a language.
    pub(crate) fn tops_id(&self, language: LanguageId) -> TopsId {
        self.all[language.0 as usize].tops
    }

    /// Returns the numbers of the tops in this set, sorted.
    pub(crate) fn tops_of(&self, tops: TopsId) -> &[u32] {
        &self.tops[tops as usize]
    }

    /// Whether the language is finite.
    pub fn is_finite(&self, language: LanguageId) -> bool {
        self.all[language.0 as usize].longest.is_some()
    }

    /// Returns the number of states of the minimal automaton.
    pub fn states(&self, language: LanguageId) -> usize {
        self.all[language.0 as usize].states()
    }

    /// Whether the language contains the word.
    pub fn contains(&self, language: LanguageId, word: &Stack) -> bool {
        self.all[language.0 as usize].contains(word.iter().map(|symbol| top_number(Some(symbol))))
    }

    /// Returns the shortest word with this top, or any top. Of several words, returns the first one
    /// in the order of symbol numbers.
    pub fn shortest_word(&self, language: LanguageId, wanted: Option<Option<Symbol>>) -> Option<Stack> {
        let language = &self.all[language.0 as usize];
        let fits = |label: u32| wanted.is_none_or(|wanted| top(label) == wanted);
        if language.states() == 0 {
            return None;
        }
        if fits(0) && language.is_accepting(0) {
            return Some(Stack::default());
        }
        // For each state on a shortest path, the last symbol and the state before. `None` stands
        // for the start before the first symbol.
        let mut before: Vec<Option<(u32, Option<u32>)>> = vec![None; language.states()];
        let mut queue = vec![None];
        let mut next = 0;
        loop {
            let from = *queue.get(next)?;
            next += 1;
            if from.is_some_and(|state| language.is_accepting(state)) {
                let back = |&state: &u32| before[state as usize].expect("it was reached").1;
                let states = std::iter::successors(from, back);
                let symbols = states.filter_map(|state| top(before[state as usize].expect("it was reached").0));
                let mut word: Vec<_> = symbols.collect();
                word.reverse();
                return Some(Stack::from_top(word));
            }
            for &[label, to] in language.out(from.unwrap_or(0)) {
                if (from.is_some() || fits(label)) && before[to as usize].is_none() {
                    before[to as usize] = Some((label, from));
                    queue.push(Some(to));
                }
            }
        }
    }

    /// Whether `b` includes `a`.
    pub fn is_included(&mut self, a: LanguageId, b: LanguageId) -> bool {
        a == b || self.including(a).binary_search(&b).is_ok()
    }

    /// Returns all languages that include this one, sorted. Each language includes itself.
    pub(crate) fn including(&mut self, language: LanguageId) -> &[LanguageId] {
        self.inclusions.supersets(&self.all, language)
    }

    /// Returns all languages that this one includes, sorted. Each language includes itself.
    pub(crate) fn included_in(&mut self, language: LanguageId) -> &[LanguageId] {
        self.inclusions.subsets(&self.all, language)
    }

    /// Returns the number of transitions of all automata before minimisation.
    pub(crate) fn built_transitions(&self) -> u64 {
        self.built
    }

    /// Sets the token that cancels the construction of automata.
    pub(crate) fn set_cancel(&mut self, cancel: &Cancel) {
        self.cancel = cancel.clone();
    }

    /// Returns the number of pairs that were compared.
    pub(crate) fn compared_pairs(&self) -> u64 {
        self.inclusions.compared_pairs()
    }

    /// Returns the union of two languages. (The symbolic search does not use unions: it stores
    /// separate tuples.)
    pub fn union(&mut self, a: LanguageId, b: LanguageId) -> LanguageId {
        let pair = (a.min(b), a.max(b));
        if let Some(&union) = self.unions.get(&pair) {
            return union;
        }
        let (minimal, class) = product(&self.all[a.0 as usize], &self.all[b.0 as usize]).minimal();
        let union = class[0].map_or(Languages::EMPTY, |class| self.canonical(&minimal, class));
        self.unions.insert(pair, union);
        union
    }

    /// Classifies the words of a language by the set of the other languages that contain them.
    /// Returns these sets, as positions in `others`. `effort` limits the number of automaton states
    /// to visit; the call subtracts the number of visited states. The result is `None` if the
    /// effort is used up.
    pub(crate) fn classes(
        &self,
        language: LanguageId,
        others: &[LanguageId],
        effort: &mut usize,
    ) -> Option<FxHashSet<Vec<usize>>> {
        let language = &self.all[language.0 as usize];
        let others: Vec<&Language> = others.iter().map(|other| &self.all[other.0 as usize]).collect();
        let start: Vec<Option<u32>> = others.iter().map(|other| (other.states() > 0).then_some(0)).collect();
        let mut reached = FxHashSet::default();
        let mut open = vec![(0, start)];
        let mut classes = FxHashSet::default();
        while let Some((state, at)) = open.pop() {
            *effort = effort.checked_sub(others.len())?;
            if language.is_accepting(state) {
                let has = |i: &usize| at[*i].is_some_and(|state| others[*i].is_accepting(state));
                classes.insert((0..others.len()).filter(has).collect());
            }
            for &[label, to] in language.out(state) {
                let step = |(other, at): (&&Language, &Option<u32>)| other.step((*at)?, label);
                let next = (to, others.iter().zip(&at).map(step).collect::<Vec<_>>());
                if reached.insert(next.clone()) {
                    open.push(next);
                }
            }
        }
        Some(classes)
    }

    /// Returns the memory in use, in bytes.
    pub fn bytes(&self) -> usize {
        let entry = size_of::<(LanguageId, LanguageId)>() + size_of::<LanguageId>();
        self.bytes
            + bytes_of_table(self.table.len())
            + self.inclusions.bytes()
            + self.unions.len().next_power_of_two() * 2 * entry
            + self.tops.iter().map(|tops| 2 * size_of_val(&**tops)).sum::<usize>()
    }
}
