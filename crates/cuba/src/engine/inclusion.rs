//! Which languages include which, found out once for each pair.
//!
//! Most pairs of languages have nothing to do with each other, and it shows in their first symbols. So each language has a
//! *fingerprint*: bits for the words that its words begin with, and for its own words, up to a length. A language is included
//! in another only if all its bits are among the other's; comparing a few machine words takes a nanosecond, where comparing two
//! automata takes a thousand. Bits are shared by several words, so the fingerprint can say no, never yes.

use super::language::Language;
use super::languages::LanguageId;
use rustc_hash::FxHashSet;

/// How long the words are that a fingerprint tells apart, at most.
const LENGTH: usize = 4;

/// How many pairs of a state and a bit may be looked at for one length.
const EFFORT: usize = 1 << 10;

/// For each length two machine words.
type Bits = [u64; 2 * LENGTH];

/// What the words of a language begin with.
#[derive(Clone, Copy)]
struct Fingerprint {
    has: Bits,
    /// Bits that it may have: all of a length that was not looked at, because there is too much of it.
    may_have: Bits,
}

impl Fingerprint {
    fn of(language: &Language) -> Self {
        let mut has = Bits::default();
        let mut may_have = [u64::MAX; 2 * LENGTH];
        let mut at: FxHashSet<(u32, u32)> = (language.states() > 0).then_some((0, 0)).into_iter().collect();
        for length in 0..LENGTH {
            let mut next = FxHashSet::default();
            let mut bits = [0; 2];
            for &(state, hash) in &at {
                for &[label, to] in language.out(state) {
                    let hash = (hash.wrapping_mul(31) + label).wrapping_mul(0x9e37_79b1) >> 25;
                    let accepted = (hash ^ 0x55) * u32::from(language.is_accepting(to));
                    for bit in [hash, if accepted > 0 { accepted } else { hash }] {
                        bits[bit as usize / 64] |= 1 << (bit % 64);
                    }
                    next.insert((to, hash));
                }
                if next.len() > EFFORT {
                    return Fingerprint { has, may_have };
                }
            }
            has[2 * length..][..2].copy_from_slice(&bits);
            may_have[2 * length..][..2].copy_from_slice(&bits);
            at = next;
        }
        Fingerprint { has, may_have }
    }

    fn may_be_included(&self, other: &Fingerprint) -> bool {
        self.has.iter().zip(&other.may_have).all(|(has, may_have)| has & !may_have == 0)
    }
}

/// For each language those that include it, and those that it includes, among the first so many.
#[derive(Default)]
pub(super) struct Inclusions {
    fingerprints: Vec<Fingerprint>,
    above: Vec<Among>,
    below: Vec<Among>,
    bytes: usize,
    compared: u64,
}

/// Some of the first `of` languages, sorted.
#[derive(Clone, Default)]
struct Among {
    of: usize,
    found: Vec<LanguageId>,
}

impl Inclusions {
    /// Adds the next language.
    pub(super) fn add(&mut self, language: &Language) {
        self.fingerprints.push(Fingerprint::of(language));
        self.above.push(Among::default());
        self.below.push(Among::default());
    }

    /// The languages that include this one.
    pub(super) fn above(&mut self, languages: &[Language], a: LanguageId) -> &[LanguageId] {
        let Inclusions { fingerprints, above, .. } = self;
        let (small, print) = (&languages[a.0 as usize], &fingerprints[a.0 as usize]);
        let compared = above[a.0 as usize]
            .extend(fingerprints, |other, large| print.may_be_included(other) && is_included(small, &languages[large]));
        self.note(compared);
        &self.above[a.0 as usize].found
    }

    /// The languages that this one includes.
    pub(super) fn below(&mut self, languages: &[Language], b: LanguageId) -> &[LanguageId] {
        let Inclusions { fingerprints, below, .. } = self;
        let (large, print) = (&languages[b.0 as usize], &fingerprints[b.0 as usize]);
        let compared = below[b.0 as usize]
            .extend(fingerprints, |other, small| other.may_be_included(print) && is_included(&languages[small], large));
        self.note(compared);
        &self.below[b.0 as usize].found
    }

    fn note(&mut self, (compared, found): (usize, usize)) {
        self.compared += compared as u64;
        self.bytes += 2 * found * size_of::<LanguageId>();
    }

    /// How many pairs were compared.
    pub(super) fn compared(&self) -> u64 {
        self.compared
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes + self.fingerprints.len() * (size_of::<Fingerprint>() + 2 * size_of::<Among>())
    }
}

impl Among {
    /// Adds those that fit and were not there before. Says how many were asked, and how many fit.
    fn extend(&mut self, all: &[Fingerprint], fits: impl Fn(&Fingerprint, usize) -> bool) -> (usize, usize) {
        let (before, known) = (self.found.len(), self.of);
        let new = all.iter().enumerate().skip(known).filter(|&(id, print)| fits(print, id));
        self.found.extend(new.map(|(id, _)| LanguageId(u32::try_from(id).expect("the memory ends before"))));
        self.of = all.len();
        (all.len() - known, self.found.len() - before)
    }
}

fn is_included(a: &Language, b: &Language) -> bool {
    if a.states() == 0 {
        return true;
    }
    let too_long = b.longest.is_some_and(|most| a.longest.is_none_or(|longest| longest > most));
    if too_long || a.shortest < b.shortest || b.states() == 0 {
        return false;
    }
    if let Some(word) = a.word() {
        return b.contains(word);
    }
    // Every state of `a` leads to a word; so `b` has to have every transition that `a` has. What is missing is mostly missing near
    // the start, so pairs are looked at in the order in which they are found.
    let mut seen = Pairs::new(a.states(), b.states());
    let mut pairs = vec![(0, 0)];
    let mut next = 0;
    while let Some(&(x, y)) = pairs.get(next) {
        next += 1;
        if a.is_accepting(x) && !b.is_accepting(y) {
            return false;
        }
        let mut of_b = b.out(y).iter();
        for &[label, x] in a.out(x) {
            let Some(&[_, y]) = of_b.find(|&&[other, _]| other >= label).filter(|&&[other, _]| other == label) else {
                return false;
            };
            if seen.insert(x, y) {
                pairs.push((x, y));
            }
        }
    }
    true
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
