//! Languages as states of one deterministic automaton, and whether one is a part of others.

use crate::Rejected;
use cpds::{Automaton, Symbol};
use std::collections::{HashMap, HashSet};

/// A certificate's automaton, and whatever languages were made of its own. Numbers are languages:
/// first those of the states that were given, then {ε}, then those that were made.
pub(crate) struct Languages<'c> {
    given: &'c Automaton,
    /// The number of {ε}.
    pub(crate) empty_stack: u32,
    /// w·L for one symbol w: the symbol, and L.
    made: Vec<(Symbol, u32)>,
    /// The number of each language w·L.
    numbers: HashMap<(Symbol, u32), u32>,
    /// What is known of inclusions.
    included: HashMap<(u32, u32), bool>,
    effort: Effort<'c>,
}

/// More than this is not remembered; and what takes more to be remembered at once takes too long.
pub(crate) const MOST: usize = 1 << 23;

/// The language without any words: it is included in every other one, and includes none, as they
/// all have words.
pub(crate) const NOTHING: u32 = u32::MAX;

/// What a check has taken so far; now and then somebody is asked whether to go on.
pub(crate) struct Effort<'g> {
    pub(crate) steps: u64,
    pub(crate) next: u64,
    pub(crate) go_on: &'g dyn Fn(u64) -> bool,
}

impl<'c> Languages<'c> {
    /// # Errors
    /// If it is not a deterministic automaton in which every state leads to an accepting one.
    pub(crate) fn new(given: &'c Automaton, effort: Effort<'c>) -> Result<Self, Rejected> {
        let count = u32::try_from(given.len()).ok().filter(|&count| count < u32::MAX / 2);
        let count = count.ok_or_else(|| Rejected::Malformed("the automaton is too large".to_owned()))?;
        let (mut empty_stack, mut numbers) = (count, HashMap::new());
        for state in 0..count {
            let out = given.out(state);
            let malformed = |what: &str| Err(Rejected::Malformed(format!("automaton[{state}] {what}")));
            if out.iter().any(|&(_, to)| to >= count) {
                return malformed("leads to a state that is not there");
            }
            if out.windows(2).any(|pair| pair[0].0 >= pair[1].0) {
                return malformed("has two transitions with one symbol, or they are not sorted");
            }
            match (given.is_accepting(state), out) {
                (true, []) => empty_stack = state,
                (false, &[only]) => drop(numbers.insert(only, state)),
                _ => {}
            }
        }
        match leads_nowhere(given, count) {
            Some(state) => Err(Rejected::Malformed(format!("automaton[{state}] leads to no accepting state"))),
            None => Ok(Languages { given, empty_stack, made: Vec::new(), numbers, included: HashMap::new(), effort }),
        }
    }

    /// Takes note of some steps.
    pub(crate) fn spend(&mut self, steps: usize) -> Result<(), Rejected> {
        let effort = &mut self.effort;
        effort.steps += steps as u64;
        if effort.steps < effort.next {
            return Ok(());
        }
        effort.next = effort.steps + (1 << 14);
        if (effort.go_on)(effort.steps) { Ok(()) } else { Err(Rejected::Stopped) }
    }

    pub(crate) fn is_accepting(&self, language: u32) -> bool {
        let given = self.given.len();
        if (language as usize) < given { self.given.is_accepting(language) } else { language as usize == given }
    }

    /// How the words go on: their first symbol, and the language of the rest.
    pub(crate) fn out(&self, language: u32) -> &[(Symbol, u32)] {
        match (language as usize).checked_sub(self.given.len()) {
            None => self.given.out(language),
            Some(0) => &[],
            Some(made) => self.made.get(made - 1).map_or(&[], std::slice::from_ref),
        }
    }

    pub(crate) fn step(&self, language: u32, symbol: Symbol) -> Option<u32> {
        let out = self.out(language);
        out.binary_search_by_key(&symbol, |&(symbol, _)| symbol).ok().map(|place| out[place].1)
    }

    /// The language w·L.
    pub(crate) fn put(&mut self, word: impl DoubleEndedIterator<Item = Symbol>, language: u32) -> u32 {
        word.rev().fold(language, |rest, symbol| {
            let next = self.given.len() + 1 + self.made.len();
            *self.numbers.entry((symbol, rest)).or_insert_with(|| {
                self.made.push((symbol, rest));
                u32::try_from(next).expect("the memory ends before")
            })
        })
    }

    /// Whether L ⊆ M.
    pub(crate) fn is_included(&mut self, l: u32, m: u32) -> Result<bool, Rejected> {
        if l == m || !self.may_be_included(l, m) {
            return Ok(l == m);
        }
        if let Some(&known) = self.included.get(&(l, m)) {
            return Ok(known);
        }
        // Every pair of states that a word leads to.
        let (mut seen, mut open) = (HashSet::from([(l, m)]), vec![(l, m)]);
        let mut is_included = true;
        'search: while let Some((x, y)) = open.pop() {
            self.spend(1 + self.out(x).len())?;
            for &(symbol, x) in self.out(x) {
                let Some(y) = self.step(y, symbol) else { unreachable!("the symbols of x are among those of y") };
                let known = if x == y { Some(&true) } else { self.included.get(&(x, y)) };
                if known == Some(&false) || (known.is_none() && !self.may_be_included(x, y)) {
                    is_included = false;
                    break 'search;
                }
                if known.is_none() && seen.insert((x, y)) {
                    open.push((x, y));
                }
            }
            if seen.len() > MOST {
                return Err(Rejected::Stopped);
            }
        }
        if self.included.len() + seen.len() > MOST {
            self.included.clear();
        }
        if is_included {
            self.included.extend(seen.into_iter().map(|pair| (pair, true)));
        } else {
            self.included.insert((l, m), false);
        }
        Ok(is_included)
    }

    /// Whether L ⊆ M as far as words of at most one symbol, and what words begin with, tell.
    fn may_be_included(&self, l: u32, m: u32) -> bool {
        self.is_accepting(l) <= self.is_accepting(m)
            && self.out(l).iter().all(|&(symbol, _)| self.step(m, symbol).is_some())
    }

    /// Whether L ⊆ M₁ ∪ M₂ ∪ …
    pub(crate) fn is_included_in_union(&mut self, l: u32, union: Vec<u32>) -> Result<bool, Rejected> {
        let (mut seen, mut open, mut room) = (HashSet::new(), vec![(l, union)], MOST);
        while let Some((x, mut union)) = open.pop() {
            union.sort_unstable();
            union.dedup();
            self.spend(1 + union.len())?;
            room = room.checked_sub(1 + union.len()).ok_or(Rejected::Stopped)?;
            let mut is_done = false;
            for &y in &union {
                is_done = is_done || self.is_included(x, y)?;
            }
            if is_done || !seen.insert((x, union.clone())) {
                continue;
            }
            if self.is_accepting(x) && !union.iter().any(|&y| self.is_accepting(y)) {
                return Ok(false);
            }
            for &(symbol, x) in self.out(x) {
                let next: Vec<u32> = union.iter().filter_map(|&y| self.step(y, symbol)).collect();
                if next.is_empty() {
                    return Ok(false);
                }
                open.push((x, next));
            }
        }
        Ok(true)
    }
}

/// A state from which no accepting one can be reached.
fn leads_nowhere(given: &Automaton, count: u32) -> Option<u32> {
    let mut into: Vec<Vec<u32>> = vec![Vec::new(); count as usize];
    for state in 0..count {
        for &(_, to) in given.out(state) {
            into[to as usize].push(state);
        }
    }
    let mut leads: Vec<bool> = (0..count).map(|state| given.is_accepting(state)).collect();
    let mut open: Vec<u32> = (0..count).filter(|&state| leads[state as usize]).collect();
    while let Some(state) = open.pop() {
        for &from in &into[state as usize] {
            if !std::mem::replace(&mut leads[from as usize], true) {
                open.push(from);
            }
        }
    }
    (0..count).find(|&state| !leads[state as usize])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    /// Often enough that a check ends soon after it should, and seldom enough that asking costs
    /// nothing.
    #[test]
    fn it_is_asked_now_and_then() {
        let asked = RefCell::new(Vec::new());
        let go_on = |steps| {
            asked.borrow_mut().push(steps);
            steps < 500_000
        };
        let automaton = Automaton::default();
        let mut languages = Languages::new(&automaton, Effort { steps: 0, next: 0, go_on: &go_on }).unwrap();
        let went_on = (0..1_000_000).take_while(|_| languages.spend(1000).is_ok()).count();
        assert!((499..520).contains(&went_on), "{went_on}");
        for pair in asked.borrow().windows(2) {
            assert!((10_000..20_000).contains(&(pair[1] - pair[0])), "{pair:?}");
        }
        assert_eq!(languages.spend(20_000), Err(Rejected::Stopped));
    }
}
