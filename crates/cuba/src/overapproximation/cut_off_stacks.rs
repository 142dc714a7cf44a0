//! M_i: the steps of one thread with its stack cut off at height z, for Z (Alg. 2) and Z_z.
//!
//! For z = 1 this is Alg. 2 (paper §4.1.3). Larger z give Z_z.
//!
//! A *word* is the top z symbols of a stack. If a word has fewer symbols, it is the whole stack. If
//! it has z symbols, further symbols may lie below. So after a pop from a word of z symbols, a
//! symbol emerges: one that may lie below the last symbol of the word.

use crate::automata::canonical_language::to_u32;
use crate::automata::minimal_dfa::Dfa;
use crate::limits::TooLarge;
use crate::overapproximation::emerging_symbols::{EmergingSymbols, Returns};
use crate::tables::step_cache::{StepCache, ThreadState};
use crate::visible::levels::{top, top_number};
use cpds::{Action, Cpds, Program, SharedState, Stack, ThreadId};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeSet;
use std::ops::Range;

/// The transitions of M_i, computed on demand. Words are numbered; words of at most one symbol have
/// the numbers of tops.
pub(crate) struct CutOff<'a> {
    program: &'a Program,
    z: usize,
    emerging: EmergingSymbols,
    /// The shared states to which pops lead, sorted.
    pops_to: Vec<u32>,
    /// The words, by number.
    words: Vec<Box<[u32]>>,
    /// The total number of symbols in the words.
    symbols: usize,
    /// The number of each word.
    numbers: FxHashMap<Box<[u32]>, u32>,
    moves: StepCache<MoveSummary>,
    /// The words after a pop, as a range of `words_after_pops`. The key is the word without its
    /// top, and the set of symbols that may lie below its last symbol.
    pops: FxHashMap<(u32, usize), Range<usize>>,
    /// The words after pops.
    words_after_pops: Vec<u32>,
}

/// A summary of the transitions from a cut-off state of a thread.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct MoveSummary {
    /// The number of pops, which are the last transitions. A pop leads to several words, one for
    /// each symbol that may emerge.
    pub(crate) pops: usize,
    /// Whether a pop may lead to this thread-visible state, so that it is in G (Eq. 2).
    pub(crate) is_generator: bool,
}

/// The saved form of [`CutOff`].
pub(crate) type SavedCutOff =
    (EmergingSymbols, Vec<Box<[u32]>>, StepCache<MoveSummary>, FxHashMap<(u32, usize), Range<usize>>, Vec<u32>);

impl Serialize for CutOff<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.emerging, &self.words, &self.moves, &self.pops, &self.words_after_pops).serialize(serializer)
    }
}

impl<'a> CutOff<'a> {
    /// Creates M_i without transitions.
    ///
    /// # Errors
    /// If the sets of emerging symbols take more than `room` bytes.
    pub(crate) fn new(
        system: &'a Cpds,
        thread: ThreadId,
        z: usize,
        returns: Returns,
        room: usize,
    ) -> Result<Self, TooLarge> {
        let emerging = EmergingSymbols::new(system, thread, returns, room)?;
        let saved = (emerging, Vec::new(), StepCache::default(), FxHashMap::default(), Vec::new());
        let mut cut_off = Self::restored(system, thread, z, saved);
        cut_off.number(&[]);
        for symbol in 0..system.symbol_names().len() {
            cut_off.number(&[u32::try_from(symbol).expect("symbols have 32 bits") + 1]);
        }
        Ok(cut_off)
    }

    /// Restores a saved M_i.
    pub(crate) fn restored(system: &'a Cpds, thread: ThreadId, z: usize, saved: SavedCutOff) -> Self {
        let program = system.program(thread);
        let pops_to = program.rules().iter().filter_map(|rule| match rule.action {
            Action::Pop { to, .. } => Some(to.0),
            _ => None,
        });
        let (emerging, words, moves, pops, words_after_pops) = saved;
        CutOff {
            program,
            z,
            emerging,
            pops_to: pops_to.collect::<BTreeSet<_>>().into_iter().collect(),
            symbols: words.iter().map(|word| word.len()).sum(),
            numbers: words.iter().cloned().zip(0..).collect(),
            words,
            moves,
            pops,
            words_after_pops,
        }
    }

    /// Returns the number of the word of a stack.
    pub(crate) fn stack(&mut self, stack: &Stack) -> u32 {
        let word: Vec<u32> = stack.iter().map(|symbol| top_number(Some(symbol))).collect();
        self.number(&word)
    }

    /// Returns the number of a word, after it is cut off.
    fn number(&mut self, word: &[u32]) -> u32 {
        let word = &word[..word.len().min(self.z)];
        if let Some(&number) = self.numbers.get(word) {
            return number;
        }
        let number = u32::try_from(self.words.len()).expect("fewer words than fit into the memory");
        self.words.push(word.into());
        self.symbols += word.len();
        self.numbers.insert(word.into(), number);
        number
    }

    /// Returns the number of words found so far.
    pub(crate) fn words(&self) -> usize {
        self.words.len()
    }

    /// Returns the number of the top of a word.
    pub(crate) fn top(&self, word: u32) -> u32 {
        self.words[word as usize].first().copied().unwrap_or(0)
    }

    /// Returns the transitions from a shared state and a word.
    #[inline]
    pub(crate) fn moves(&mut self, from: ThreadState) -> (MoveSummary, Range<usize>) {
        match self.moves.get(from) {
            Some(moves) => moves,
            None => self.new_moves(from),
        }
    }

    /// Returns the target of a transition that is not a pop; for a pop, its shared state.
    #[inline]
    pub(crate) fn successor(&self, index: usize) -> ThreadState {
        self.moves.successor(index)
    }

    /// Computes the transitions, pops last. An action from the empty stack that leaves the stack
    /// empty pops nothing, so no symbol emerges. (In Alg. 2, line 7, as printed, every symbol of E
    /// emerges.)
    #[cold]
    fn new_moves(&mut self, (shared, word): ThreadState) -> (MoveSummary, Range<usize>) {
        let symbol = self.top(word);
        let below = self.words[word as usize].get(1..).unwrap_or_default().to_vec();
        let (mut others, mut pops) = (Vec::new(), Vec::new());
        for (_, rule) in self.program.rules_from(SharedState(shared), top(symbol)) {
            let (to, written) = rule.action.target();
            if let Action::Pop { .. } = rule.action {
                pops.push((to.0, 0));
            } else {
                let stack: Vec<u32> =
                    written.map(|symbol| top_number(Some(symbol))).chain(below.iter().copied()).collect();
                others.push((to.0, self.number(&stack)));
            }
        }
        let is_generator = self.pops_to.binary_search(&shared).is_ok() && self.emerging.may_emerge(symbol);
        let summary = MoveSummary { pops: pops.len(), is_generator };
        self.moves.insert((shared, word), summary, others.into_iter().chain(pops))
    }

    /// Returns the words after a pop from this word, as a range for
    /// [`word_after_pop`](Self::word_after_pop).
    pub(crate) fn pop(&mut self, word: u32) -> Range<usize> {
        let symbols = &self.words[word as usize];
        let below = symbols.get(1..).unwrap_or_default().to_vec();
        let is_whole = symbols.len() < self.z;
        let set = symbols.last().filter(|_| !is_whole).map(|&last| self.emerging.set(last));
        let rest = self.number(&below);
        // A pop from a whole stack leaves one word; no set has the number usize::MAX.
        if let Some(range) = self.pops.get(&(rest, set.unwrap_or(usize::MAX))) {
            return range.clone();
        }
        let start = self.words_after_pops.len();
        match set {
            None => self.words_after_pops.push(rest),
            Some(set) => {
                for i in 0..self.emerging.get(set).len() {
                    let emerges = Some(self.emerging.get(set)[i]).filter(|&symbol| symbol != 0);
                    let word: Vec<u32> = below.iter().copied().chain(emerges).collect();
                    let number = self.number(&word);
                    self.words_after_pops.push(number);
                }
            }
        }
        let range = start..self.words_after_pops.len();
        self.pops.insert((rest, set.unwrap_or(usize::MAX)), range.clone());
        range
    }

    /// Returns a word after a pop.
    #[inline]
    pub(crate) fn word_after_pop(&self, index: usize) -> u32 {
        self.words_after_pops[index]
    }

    /// Returns, for each word, the language of the stacks from which it may be cut off, as a state
    /// of an automaton.
    ///
    /// Below a word of z symbols may lie any symbol that may lie below its last symbol. Below that
    /// symbol may lie any symbol that may lie below it, and so on, down to ε.
    pub(crate) fn languages(&self, automaton: &mut Dfa) -> Vec<u32> {
        let first = automaton.len();
        let rest = |symbol: u32| to_u32(first + self.emerging.set(symbol));
        for set in 0..self.emerging.len() {
            let symbols = self.emerging.get(set);
            let next = symbols.iter().filter(|&&symbol| symbol != 0);
            automaton.push(symbols.contains(&0), next.map(|&symbol| (symbol, rest(symbol))));
        }
        let whole = to_u32(automaton.len());
        automaton.push(true, []);
        let language = |word: &[u32]| {
            let last = word.last().filter(|_| word.len() == self.z);
            let below = last.map_or(whole, |&last| rest(last));
            word.iter().rev().fold(below, |below, &symbol| {
                automaton.push(false, [(symbol, below)]);
                to_u32(automaton.len() - 1)
            })
        };
        self.words.iter().map(|word| &**word).map(language).collect()
    }

    /// Returns the approximate memory in use, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.words.len() * 4 * size_of::<Box<[u32]>>()
            + 2 * self.symbols * size_of::<u32>()
            + self.moves.bytes()
            + self.words_after_pops.len() * size_of::<u32>()
            + self.pops.len() * 64
    }
}
