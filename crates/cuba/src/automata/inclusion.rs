//! Which languages include which, found out once for each pair.
//!
//! Most pairs of languages have nothing to do with each other, and the words that tell some of them
//! apart tell most of the others apart, too. So whenever comparing two automata comes to a word
//! that one has and the other has not, the word is kept, and of every language it is noted which of
//! these words it has. A language is included in another only if all its words among these are the
//! other's. This can say no, never yes; but it takes a nanosecond, where comparing two automata
//! takes a thousand.

use crate::automata::canonical_language::Language;
use crate::automata::language_table::LanguageId;
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};

/// How many machine words there are for the words that are kept.
const BLOCKS: usize = 8;

/// Which of these words a language has.
type Samples = [u64; BLOCKS];

/// For each language those that include it, and those that it includes, among the first so many.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Inclusions {
    words: Vec<Vec<u32>>,
    samples: Vec<Samples>,
    above: Vec<Among>,
    below: Vec<Among>,
    #[serde(skip)]
    comparison: Comparison,
    bytes: usize,
    compared: u64,
}

/// Some of the first `of` languages, sorted.
#[derive(Default, Serialize, Deserialize)]
struct Among {
    of: usize,
    found: Vec<LanguageId>,
}

impl Inclusions {
    /// Adds the next language.
    pub(crate) fn add(&mut self, language: &Language) {
        let mut samples = Samples::default();
        for (at, word) in self.words.iter().enumerate() {
            mark(&mut samples, at, language, word);
        }
        self.samples.push(samples);
        self.above.push(Among::default());
        self.below.push(Among::default());
    }

    /// The languages that include this one.
    pub(crate) fn above(&mut self, languages: &[Language], a: LanguageId) -> &[LanguageId] {
        let known = std::mem::take(&mut self.above[a.0 as usize]);
        self.above[a.0 as usize] = self.extended(known, languages, |other| (a.0 as usize, other));
        &self.above[a.0 as usize].found
    }

    /// The languages that this one includes.
    pub(crate) fn below(&mut self, languages: &[Language], b: LanguageId) -> &[LanguageId] {
        let known = std::mem::take(&mut self.below[b.0 as usize]);
        self.below[b.0 as usize] = self.extended(known, languages, |other| (other, b.0 as usize));
        &self.below[b.0 as usize].found
    }

    /// Adds those others that have not been asked yet and for which the first of the pair is
    /// included in the second.
    fn extended(&mut self, mut among: Among, languages: &[Language], pair: impl Fn(usize) -> (usize, usize)) -> Among {
        let before = among.found.len();
        for other in among.of..languages.len() {
            let (small, large) = pair(other);
            if self.samples[small].iter().zip(&self.samples[large]).any(|(small, large)| small & !large != 0) {
                continue;
            }
            let (a, b) = (&languages[small], &languages[large]);
            let is_short = b.longest.is_none_or(|most| a.longest.is_some_and(|longest| longest <= most));
            if !is_short || (a.shortest < b.shortest && a.states() > 0) {
                continue;
            }
            match self.comparison.missing(a, b) {
                None => among.found.push(LanguageId(u32::try_from(other).expect("the memory ends before"))),
                Some(missing) if self.words.len() < 64 * BLOCKS => {
                    let word = self.comparison.word(a, missing);
                    for (samples, language) in self.samples.iter_mut().zip(languages) {
                        mark(samples, self.words.len(), language, &word);
                    }
                    self.words.push(word);
                }
                Some(_) => {}
            }
        }
        self.compared += (languages.len() - among.of) as u64;
        self.bytes += 2 * (among.found.len() - before) * size_of::<LanguageId>();
        among.of = languages.len();
        among
    }

    /// How many pairs were compared.
    pub(crate) fn compared(&self) -> u64 {
        self.compared
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes + self.samples.len() * (size_of::<Samples>() + 2 * size_of::<Among>())
    }
}

/// Notes whether a language has the word with this number.
fn mark(samples: &mut Samples, at: usize, language: &Language, word: &[u32]) {
    samples[at / 64] |= u64::from(language.contains(word.iter().copied())) << (at % 64);
}

/// Pairs of states of two automata, each with how to get there; kept from one comparison to the
/// next only for the memory.
#[derive(Default)]
struct Comparison {
    pairs: Vec<Pair>,
    seen: Vec<u64>,
}

/// A pair of states that a word leads to: that of the pair before, and a label.
#[derive(Clone, Copy)]
struct Pair {
    x: u32,
    y: u32,
    before: usize,
    label: u32,
}

/// Where it shows that a language is not included in another: at a pair of states, or with a
/// transition that the other has not.
struct Missing {
    pair: usize,
    transition: Option<[u32; 2]>,
}

/// More pairs than this have a table of their own instead of a bit each.
const MOST_BITS: usize = 1 << 20;

impl Comparison {
    /// Where it shows that `a` is not included in `b`, if so.
    fn missing(&mut self, a: &Language, b: &Language) -> Option<Missing> {
        self.pairs.clear();
        self.pairs.push(Pair { x: 0, y: 0, before: 0, label: 0 });
        if a.states() == 0 {
            return None;
        }
        if b.states() == 0 {
            let transition = a.out(0).first().copied();
            return Some(Missing { pair: 0, transition: transition.filter(|_| !a.is_accepting(0)) });
        }
        let (width, bits) = (b.states(), a.states().saturating_mul(b.states()));
        self.seen.clear();
        self.seen.resize(if bits <= MOST_BITS { bits.div_ceil(64) } else { 0 }, 0);
        let mut others = FxHashSet::default();
        // Every state of `a` leads to a word; so `b` has to have every transition that `a` has.
        // What is missing is mostly missing near the start, so pairs are looked at in the order in
        // which they are found.
        let mut pair = 0;
        while let Some(&Pair { x, y, .. }) = self.pairs.get(pair) {
            if a.is_accepting(x) && !b.is_accepting(y) {
                return Some(Missing { pair, transition: None });
            }
            let mut of_b = b.out(y).iter();
            for &transition @ [label, x] in a.out(x) {
                let Some(&[_, y]) = of_b.find(|&&[other, _]| other >= label).filter(|&&[other, _]| other == label)
                else {
                    return Some(Missing { pair, transition: Some(transition) });
                };
                let is_new = if bits <= MOST_BITS {
                    let at = x as usize * width + y as usize;
                    let (word, bit) = (&mut self.seen[at / 64], 1 << (at % 64));
                    let is_new = *word & bit == 0;
                    *word |= bit;
                    is_new
                } else {
                    others.insert((x, y))
                };
                if is_new {
                    self.pairs.push(Pair { x, y, before: pair, label });
                }
            }
            pair += 1;
        }
        None
    }

    /// A word of `a` that shows it.
    fn word(&self, a: &Language, Missing { pair, transition }: Missing) -> Vec<u32> {
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
