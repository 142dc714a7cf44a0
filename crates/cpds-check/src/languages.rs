//! Languages of stacks, as states of one deterministic automaton, and inclusion between them.

use crate::Rejected;
use cpds::{Automaton, Symbol};
use std::collections::{HashMap, HashSet};

/// The languages of a certificate's automaton, and languages w·L that the checker derives. Each
/// language has a number: first the states of the automaton, then {ε}, then the derived ones.
pub(crate) struct Languages<'c> {
    given: &'c Automaton,
    /// The number of {ε}.
    pub(crate) empty_stack: u32,
    /// The derived languages w·L for one symbol w: the symbol, and L.
    derived: Vec<(Symbol, u32)>,
    /// The number of each language w·L.
    numbers: HashMap<(Symbol, u32), u32>,
    /// The inclusions that were decided, as a cache.
    included: HashMap<(u32, u32), bool>,
    meter: WorkMeter<'c>,
}

/// The largest number of entries of a table. A cache that would exceed it is cleared. A search that
/// would exceed it ends the check.
pub(crate) const TABLE_LIMIT: usize = 1 << 23;

/// The number of the empty language. It is a subset of every language, and no other language is a
/// subset of it, since every state of the automaton leads to an accepting one.
pub(crate) const EMPTY_LANGUAGE: u32 = u32::MAX;

/// Counts the elementary steps of a check, and regularly calls a function that may end it.
pub(crate) struct WorkMeter<'g> {
    steps: u64,
    /// The number of steps at which `go_on` is called next.
    next_call: u64,
    go_on: &'g dyn Fn(u64) -> bool,
}

impl<'g> WorkMeter<'g> {
    pub(crate) fn new(go_on: &'g dyn Fn(u64) -> bool) -> Self {
        WorkMeter { steps: 0, next_call: 0, go_on }
    }
}

impl<'c> Languages<'c> {
    /// # Errors
    /// If it is not a deterministic automaton in which every state leads to an accepting one.
    pub(crate) fn new(given: &'c Automaton, meter: WorkMeter<'c>) -> Result<Self, Rejected> {
        let count = u32::try_from(given.len()).ok().filter(|&count| count < u32::MAX / 2);
        let count = count.ok_or_else(|| Rejected::Malformed("the automaton is too large".to_owned()))?;
        let (mut empty_stack, mut numbers) = (count, HashMap::new());
        for state in 0..count {
            let out = given.out(state);
            let malformed = |what: &str| Err(Rejected::Malformed(format!("automaton[{state}] {what}")));
            if out.iter().any(|&(_, to)| to >= count) {
                return malformed("leads to a state that does not exist");
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
        match dead_state(given, count) {
            Some(state) => Err(Rejected::Malformed(format!("automaton[{state}] leads to no accepting state"))),
            None => Ok(Languages { given, empty_stack, derived: Vec::new(), numbers, included: HashMap::new(), meter }),
        }
    }

    /// Counts steps.
    ///
    /// # Errors
    /// If the check has to end.
    pub(crate) fn add_work(&mut self, steps: usize) -> Result<(), Rejected> {
        let meter = &mut self.meter;
        meter.steps += steps as u64;
        if meter.steps < meter.next_call {
            return Ok(());
        }
        meter.next_call = meter.steps + (1 << 14);
        if (meter.go_on)(meter.steps) { Ok(()) } else { Err(Rejected::Stopped) }
    }

    pub(crate) fn is_accepting(&self, language: u32) -> bool {
        let given = self.given.len();
        if (language as usize) < given { self.given.is_accepting(language) } else { language as usize == given }
    }

    /// Returns for each first symbol of a word the symbol, and the language of the rest.
    pub(crate) fn out(&self, language: u32) -> &[(Symbol, u32)] {
        match (language as usize).checked_sub(self.given.len()) {
            None => self.given.out(language),
            Some(0) => &[],
            Some(derived) => self.derived.get(derived - 1).map_or(&[], std::slice::from_ref),
        }
    }

    pub(crate) fn step(&self, language: u32, symbol: Symbol) -> Option<u32> {
        let out = self.out(language);
        out.binary_search_by_key(&symbol, |&(symbol, _)| symbol).ok().map(|place| out[place].1)
    }

    /// Returns the number of the language w·L.
    pub(crate) fn prepend(&mut self, word: impl DoubleEndedIterator<Item = Symbol>, language: u32) -> u32 {
        word.rev().fold(language, |rest, symbol| {
            let next = self.given.len() + 1 + self.derived.len();
            *self.numbers.entry((symbol, rest)).or_insert_with(|| {
                self.derived.push((symbol, rest));
                u32::try_from(next).expect("memory is exhausted before 2^32 languages")
            })
        })
    }

    /// Whether L ⊆ M.
    pub(crate) fn is_included(&mut self, l: u32, m: u32) -> Result<bool, Rejected> {
        if l == m || !self.may_be_included(l, m) {
            return Ok(l == m);
        }
        if let Some(&cached) = self.included.get(&(l, m)) {
            return Ok(cached);
        }
        // Visits every pair of states to which a common word leads.
        let (mut seen, mut open) = (HashSet::from([(l, m)]), vec![(l, m)]);
        let mut is_included = true;
        'search: while let Some((x, y)) = open.pop() {
            self.add_work(1 + self.out(x).len())?;
            for &(symbol, x) in self.out(x) {
                let Some(y) = self.step(y, symbol) else { unreachable!("the symbols of x are among those of y") };
                let decided = if x == y { Some(&true) } else { self.included.get(&(x, y)) };
                if decided == Some(&false) || (decided.is_none() && !self.may_be_included(x, y)) {
                    is_included = false;
                    break 'search;
                }
                if decided.is_none() && seen.insert((x, y)) {
                    open.push((x, y));
                }
            }
            if seen.len() > TABLE_LIMIT {
                return Err(Rejected::Stopped);
            }
        }
        if self.included.len() + seen.len() > TABLE_LIMIT {
            self.included.clear();
        }
        if is_included {
            self.included.extend(seen.into_iter().map(|pair| (pair, true)));
        } else {
            self.included.insert((l, m), false);
        }
        Ok(is_included)
    }

    /// A necessary condition for L ⊆ M: the empty word and the first symbols of words.
    fn may_be_included(&self, l: u32, m: u32) -> bool {
        self.is_accepting(l) <= self.is_accepting(m)
            && self.out(l).iter().all(|&(symbol, _)| self.step(m, symbol).is_some())
    }

    /// Whether L ⊆ M₁ ∪ M₂ ∪ …
    pub(crate) fn is_included_in_union(&mut self, l: u32, union: Vec<u32>) -> Result<bool, Rejected> {
        let (mut seen, mut open, mut room) = (HashSet::new(), vec![(l, union)], TABLE_LIMIT);
        while let Some((x, mut union)) = open.pop() {
            union.sort_unstable();
            union.dedup();
            self.add_work(1 + union.len())?;
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

/// Returns a state that leads to no accepting state, if there is one.
fn dead_state(given: &Automaton, count: u32) -> Option<u32> {
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

    /// The calls are frequent enough that a check ends soon after its limit, and rare enough that
    /// they take no noticeable time.
    #[test]
    fn the_meter_calls_go_on_regularly() {
        let calls = RefCell::new(Vec::new());
        let go_on = |steps| {
            calls.borrow_mut().push(steps);
            steps < 500_000
        };
        let automaton = Automaton::default();
        let mut languages = Languages::new(&automaton, WorkMeter::new(&go_on)).unwrap();
        let completed = (0..1_000_000).take_while(|_| languages.add_work(1000).is_ok()).count();
        assert!((499..520).contains(&completed), "{completed}");
        for pair in calls.borrow().windows(2) {
            assert!((10_000..20_000).contains(&(pair[1] - pair[0])), "{pair:?}");
        }
        assert_eq!(languages.add_work(20_000), Err(Rejected::Stopped));
    }
}
