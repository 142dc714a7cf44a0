//! Inclusion of languages, decided once for each pair.
//!
//! A comparison of two automata is slow (about a microsecond), and most languages do not include
//! each other. So the table stores *sample words*. If a comparison finds a word of L that is not in
//! M, this word becomes a sample word, and the table notes which languages contain it. If L
//! contains a sample word that M does not contain, then L is not included in M. This test takes
//! about a nanosecond, and refutes most inclusions. All other pairs are compared.

use crate::automata::canonical_language::Language;
use crate::automata::language_table::LanguageId;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

/// The number of machine words for the bits of the sample words.
const BLOCKS: usize = 8;

/// The sample words that a language contains, as bits.
type SampleBits = [u64; BLOCKS];

/// For each language, the languages that include it, and those that it includes.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Inclusions {
    sample_words: Vec<Vec<u32>>,
    /// For each language, the sample words that it contains.
    samples: Vec<SampleBits>,
    supersets: Vec<InclusionList>,
    subsets: Vec<InclusionList>,
    #[serde(skip)]
    comparison: Comparison,
    bytes: usize,
    /// The number of pairs that were compared, by sample words or by automata.
    compared: u64,
}

/// The languages among the first `compared` ones that include a language, or are included in it.
#[derive(Default, Serialize, Deserialize)]
struct InclusionList {
    compared: usize,
    /// Sorted.
    languages: Vec<LanguageId>,
}

impl Inclusions {
    /// Adds the next language.
    pub(crate) fn add(&mut self, language: &Language) {
        let mut samples = SampleBits::default();
        for (at, word) in self.sample_words.iter().enumerate() {
            mark(&mut samples, at, language, word);
        }
        self.samples.push(samples);
        self.supersets.push(InclusionList::default());
        self.subsets.push(InclusionList::default());
    }

    /// Returns the languages that include this one.
    pub(crate) fn supersets(&mut self, languages: &[Language], a: LanguageId) -> &[LanguageId] {
        let list = std::mem::take(&mut self.supersets[a.0 as usize]);
        self.supersets[a.0 as usize] = self.extended(list, languages, |other| (a.0 as usize, other));
        &self.supersets[a.0 as usize].languages
    }

    /// Returns the languages that this one includes.
    pub(crate) fn subsets(&mut self, languages: &[Language], b: LanguageId) -> &[LanguageId] {
        let list = std::mem::take(&mut self.subsets[b.0 as usize]);
        self.subsets[b.0 as usize] = self.extended(list, languages, |other| (other, b.0 as usize));
        &self.subsets[b.0 as usize].languages
    }

    /// Compares the languages that the list does not cover yet. Adds each language for which the
    /// first language of `pair` is included in the second one.
    fn extended(
        &mut self,
        mut list: InclusionList,
        languages: &[Language],
        pair: impl Fn(usize) -> (usize, usize),
    ) -> InclusionList {
        let before = list.languages.len();
        for other in list.compared..languages.len() {
            let (small, large) = pair(other);
            if self.samples[small].iter().zip(&self.samples[large]).any(|(small, large)| small & !large != 0) {
                continue;
            }
            let (a, b) = (&languages[small], &languages[large]);
            let is_short = b.longest.is_none_or(|most| a.longest.is_some_and(|longest| longest <= most));
            if !is_short || (a.shortest < b.shortest && a.states() > 0) {
                continue;
            }
            match self.comparison.mismatch(a, b) {
                None => list.languages.push(LanguageId(u32::try_from(other).expect("the memory ends before"))),
                Some(mismatch) if self.sample_words.len() < 64 * BLOCKS => {
                    let word = self.comparison.word(a, mismatch);
                    for (samples, language) in self.samples.iter_mut().zip(languages) {
                        mark(samples, self.sample_words.len(), language, &word);
                    }
                    self.sample_words.push(word);
                }
                Some(_) => {}
            }
        }
        self.compared += (languages.len() - list.compared) as u64;
        self.bytes += 2 * (list.languages.len() - before) * size_of::<LanguageId>();
        list.compared = languages.len();
        list
    }

    /// Returns the number of pairs that were compared.
    pub(crate) fn compared_pairs(&self) -> u64 {
        self.compared
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes + self.samples.len() * (size_of::<SampleBits>() + 2 * size_of::<InclusionList>())
    }
}

/// Notes whether a language contains the sample word with this number.
fn mark(samples: &mut SampleBits, at: usize, language: &Language, word: &[u32]) {
    samples[at / 64] |= u64::from(language.contains(word.iter().copied())) << (at % 64);
}

/// A breadth-first search through the pairs of states of two automata. All comparisons share the
/// memory of one search.
#[derive(Default)]
struct Comparison {
    pairs: Vec<StatePair>,
    /// Marks the pairs that were reached.
    reached: Vec<u64>,
}

/// A pair of states to which the same word leads: the word of the pair before, and a label.
#[derive(Clone, Copy)]
struct StatePair {
    x: u32,
    y: u32,
    before: usize,
    label: u32,
}

/// The pair of states that refutes an inclusion: the first state accepts and the second one does
/// not, or the first state has a transition that the second one does not have.
struct Mismatch {
    pair: usize,
    transition: Option<[u32; 2]>,
}

/// Up to this number of pairs, the search marks pairs by bits. For more pairs, it uses a hash
/// table.
const MAX_BITS: usize = 1 << 20;

impl Comparison {
    /// Returns a pair that refutes that `b` includes `a`; `None` if `b` includes `a`.
    fn mismatch(&mut self, a: &Language, b: &Language) -> Option<Mismatch> {
        self.pairs.clear();
        self.pairs.push(StatePair { x: 0, y: 0, before: 0, label: 0 });
        if a.states() == 0 {
            return None;
        }
        if b.states() == 0 {
            let transition = a.out(0).first().copied();
            return Some(Mismatch { pair: 0, transition: transition.filter(|_| !a.is_accepting(0)) });
        }
        let (width, bits) = (b.states(), a.states().saturating_mul(b.states()));
        self.reached.clear();
        self.reached.resize(if bits <= MAX_BITS { bits.div_ceil(64) } else { 0 }, 0);
        let mut reached_beyond = FxHashSet::default();
        // Every state of `a` leads to a word, so `b` needs every transition that `a` has. Most
        // mismatches are near the start, so the search is breadth-first.
        let mut pair = 0;
        while let Some(&StatePair { x, y, .. }) = self.pairs.get(pair) {
            if a.is_accepting(x) && !b.is_accepting(y) {
                return Some(Mismatch { pair, transition: None });
            }
            let mut of_b = b.out(y).iter();
            for &transition @ [label, x] in a.out(x) {
                let Some(&[_, y]) = of_b.find(|&&[other, _]| other >= label).filter(|&&[other, _]| other == label)
                else {
                    return Some(Mismatch { pair, transition: Some(transition) });
                };
                let is_new = if bits <= MAX_BITS {
                    let at = x as usize * width + y as usize;
                    let (word, bit) = (&mut self.reached[at / 64], 1 << (at % 64));
                    let is_new = *word & bit == 0;
                    *word |= bit;
                    is_new
                } else {
                    reached_beyond.insert((x, y))
                };
                if is_new {
                    self.pairs.push(StatePair { x, y, before: pair, label });
                }
            }
            pair += 1;
        }
        None
    }

    /// Returns a word of `a` that is not in the other language.
    fn word(&self, a: &Language, Mismatch { pair, transition }: Mismatch) -> Vec<u32> {
        let back = |&at: &usize| Some(self.pairs[at].before).filter(|_| at != 0);
        let steps = std::iter::successors(Some(pair), back).filter(|&at| at != 0);
        let mut word: Vec<u32> = steps.map(|at| self.pairs[at].label).collect();
        word.reverse();
        if let Some([label, to]) = transition {
            word.push(label);
            word.extend(a.shortest_from(to));
        }
        word
    }
}
