//! Which languages include which, found out once for each pair.
//!
//! Most pairs of languages have nothing to do with each other, and the words that tell some of them apart tell most of the
//! others apart, too. So whenever comparing two automata comes to a word that one has and the other has not, the word is kept, and
//! of every language it is noted which of these words it has. A language is included in another only if all its words among these
//! are the other's. This can say no, never yes; but it takes a nanosecond, where comparing two automata takes a thousand.

use super::language::Language;
use super::languages::LanguageId;
use rustc_hash::FxHashSet;

/// How many machine words there are for the words that are kept.
const BLOCKS: usize = 8;

/// Which of these words a language has.
type Samples = [u64; BLOCKS];

/// For each language those that include it, and those that it includes, among the first so many.
#[derive(Default)]
pub(super) struct Inclusions {
    words: Vec<Vec<u32>>,
    samples: Vec<Samples>,
    above: Vec<Among>,
    below: Vec<Among>,
    bytes: usize,
    compared: u64,
}

/// Some of the first `of` languages, sorted.
#[derive(Default)]
struct Among {
    of: usize,
    found: Vec<LanguageId>,
}

impl Inclusions {
    /// Adds the next language.
    pub(super) fn add(&mut self, language: &Language) {
        let mut samples = Samples::default();
        for (at, word) in self.words.iter().enumerate() {
            mark(&mut samples, at, language, word);
        }
        self.samples.push(samples);
        self.above.push(Among::default());
        self.below.push(Among::default());
    }

    /// The languages that include this one.
    pub(super) fn above(&mut self, languages: &[Language], a: LanguageId) -> &[LanguageId] {
        let known = std::mem::take(&mut self.above[a.0 as usize]);
        self.above[a.0 as usize] = self.extended(known, languages, |other| (a.0 as usize, other));
        &self.above[a.0 as usize].found
    }

    /// The languages that this one includes.
    pub(super) fn below(&mut self, languages: &[Language], b: LanguageId) -> &[LanguageId] {
        let known = std::mem::take(&mut self.below[b.0 as usize]);
        self.below[b.0 as usize] = self.extended(known, languages, |other| (other, b.0 as usize));
        &self.below[b.0 as usize].found
    }

    /// Adds those others that have not been asked yet and for which the first of the pair is included in the second.
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
            match missing_word(a, b) {
                None => among.found.push(LanguageId(u32::try_from(other).expect("the memory ends before"))),
                Some(word) if self.words.len() < 64 * BLOCKS => {
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
    pub(super) fn compared(&self) -> u64 {
        self.compared
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes + self.samples.len() * (size_of::<Samples>() + 2 * size_of::<Among>())
    }
}

/// Notes whether a language has the word with this number.
fn mark(samples: &mut Samples, at: usize, language: &Language, word: &[u32]) {
    samples[at / 64] |= u64::from(language.contains(word.iter().copied())) << (at % 64);
}

/// A word of `a` that is not one of `b`, if there is one.
fn missing_word(a: &Language, b: &Language) -> Option<Vec<u32>> {
    if a.states() == 0 {
        return None;
    }
    if let Some(word) = a.word() {
        let word: Vec<u32> = word.collect();
        return (!b.contains(word.iter().copied())).then_some(word);
    }
    if b.states() == 0 {
        return Some(a.shortest_from(0));
    }
    // Every state of `a` leads to a word; so `b` has to have every transition that `a` has. What is missing is mostly missing near
    // the start, so pairs are looked at in the order in which they are found.
    let mut seen = Pairs::new(a.states(), b.states());
    let mut pairs = vec![Pair { x: 0, y: 0, before: 0, label: 0 }];
    let mut next = 0;
    while let Some(&Pair { x, y, .. }) = pairs.get(next) {
        if a.is_accepting(x) && !b.is_accepting(y) {
            return Some(path(&pairs, next));
        }
        let mut of_b = b.out(y).iter();
        for &[label, x] in a.out(x) {
            let Some(&[_, y]) = of_b.find(|&&[other, _]| other >= label).filter(|&&[other, _]| other == label) else {
                let mut word = path(&pairs, next);
                word.push(label);
                word.extend(a.shortest_from(x));
                return Some(word);
            };
            if seen.insert(x, y) {
                pairs.push(Pair { x, y, before: next, label });
            }
        }
        next += 1;
    }
    None
}

/// A pair of states that a word leads to: that of the pair before, and a label.
#[derive(Clone, Copy)]
struct Pair {
    x: u32,
    y: u32,
    before: usize,
    label: u32,
}

/// The word that leads to a pair.
fn path(pairs: &[Pair], end: usize) -> Vec<u32> {
    let back = |&at: &usize| Some(pairs[at].before).filter(|_| at != 0);
    let steps = std::iter::successors(Some(end), back).filter(|&at| at != 0);
    let mut word: Vec<u32> = steps.map(|at| pairs[at].label).collect();
    word.reverse();
    word
}

/// A set of pairs of states of two automata: a bit for each, if there are few.
enum Pairs {
    Few { width: usize, bits: Vec<u64> },
    Many(FxHashSet<(u32, u32)>),
}

impl Pairs {
    fn new(a: usize, b: usize) -> Self {
        match a.saturating_mul(b) {
            few @ ..=0x10000 => Pairs::Few { width: b, bits: vec![0; few.div_ceil(64)] },
            _ => Pairs::Many(FxHashSet::default()),
        }
    }

    /// Adds a pair, and says whether it is new.
    fn insert(&mut self, x: u32, y: u32) -> bool {
        match self {
            Pairs::Few { width, bits } => {
                let at = x as usize * *width + y as usize;
                let (word, bit) = (&mut bits[at / 64], 1 << (at % 64));
                let new = *word & bit == 0;
                *word |= bit;
                new
            }
            Pairs::Many(pairs) => pairs.insert((x, y)),
        }
    }
}
