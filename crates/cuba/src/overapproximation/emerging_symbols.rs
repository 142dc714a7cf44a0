//! The symbols that a pop may reveal, for Z and matched-Z: any symbol of E (paper, Alg. 2), or only
//! the symbols below a call that can end with the popped symbol.
//!
//! # Any returns (paper §4.1.3)
//! E contains each symbol that a push writes below its callee, each symbol below the top of an
//! initial stack, and ε. (The paper starts with stacks of at most one symbol.)
//!
//! # Matched returns
//! A symbol is *put on* another one in three ways. A push puts its callee c on its return point r.
//! An initial stack puts each symbol on the next one, and the last symbol on ε. An action on the
//! empty stack puts its symbol on ε.
//!
//! Later steps change the symbol directly above r. An overwrite replaces σ by σ'. A push on σ
//! replaces σ by its return point, below the new callee. These symbols are the *level-mates* of σ.
//! So until the call ends, the symbol directly above r is always reachable from c by a sequence of
//! level-mates. r *may lie below* each of these symbols, and below no other symbol. This ignores
//! shared states, so it holds for all steps of other threads.

use crate::limits::TooLarge;
use crate::visible::levels::top_number;
use cpds::{Action, Cpds, ThreadId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Which symbols a pop may reveal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Returns {
    /// Any symbol of E.
    Any,
    /// Only a symbol that may lie below the popped symbol.
    Matched,
}

/// For each symbol of a thread, the symbols that may emerge when it is popped. Symbols are numbered
/// as tops, with 0 for ε.
#[derive(Serialize, Deserialize)]
pub(crate) struct EmergingSymbols {
    /// The distinct sets of emerging symbols, each sorted.
    sets: Vec<Box<[u32]>>,
    /// The position of the set of each symbol; for a symbol that is not in the map, 0.
    set_of: HashMap<u32, usize>,
}

impl EmergingSymbols {
    /// Computes the sets for the symbols of a thread.
    ///
    /// # Errors
    /// If matched returns would take more than `room` bytes.
    pub(crate) fn new(system: &Cpds, thread: ThreadId, returns: Returns, room: usize) -> Result<Self, TooLarge> {
        match returns {
            Returns::Any => Ok(Self::any(system, thread)),
            Returns::Matched => Self::matched(system, thread, room),
        }
    }

    /// Computes E.
    fn any(system: &Cpds, thread: ThreadId) -> Self {
        let mut emerging = vec![0];
        emerging.extend(stacked_pairs(system, thread).map(|(_, lower)| lower));
        emerging.sort_unstable();
        emerging.dedup();
        EmergingSymbols { sets: vec![emerging.into()], set_of: HashMap::new() }
    }

    /// Computes the symbols that may lie below each symbol.
    fn matched(system: &Cpds, thread: ThreadId, room: usize) -> Result<Self, TooLarge> {
        let mut level_mates: HashMap<u32, Vec<u32>> = HashMap::new();
        for rule in system.program(thread).rules() {
            let mate = match rule.action {
                Action::Overwrite { new, .. } => new,
                Action::Push { return_point, .. } => return_point,
                Action::Pop { .. } | Action::EmptyOverwrite { .. } | Action::EmptyPush { .. } => continue,
            };
            let (_, top) = rule.action.source();
            level_mates.entry(top_number(top)).or_default().push(top_number(Some(mate)));
        }
        // A row of bits for each symbol: which of the symbols in `emerging` may lie below it.
        let mut emerging: Vec<u32> = stacked_pairs(system, thread).map(|(_, lower)| lower).collect();
        emerging.sort_unstable();
        emerging.dedup();
        let words = emerging.len().div_ceil(64);
        let alphabet = system.program(thread).alphabet().len();
        if alphabet.saturating_mul(words).saturating_mul(2 * size_of::<u64>()) > room {
            return Err(TooLarge);
        }
        let mut rows: BTreeMap<u32, Vec<u64>> = BTreeMap::new();
        let mut uppers = Vec::new();
        for (upper, lower) in stacked_pairs(system, thread) {
            let place = emerging.binary_search(&lower).expect("it is in the list");
            let row = rows.entry(upper).or_insert_with(|| {
                uppers.push(upper);
                vec![0; words]
            });
            row[place / 64] |= 1 << (place % 64);
        }
        // A symbol that may lie below another symbol may also lie below its level-mates. Without
        // loops, one pass in this order is enough.
        let order = predecessors_first(&uppers, &level_mates);
        let mut changed = true;
        while changed {
            changed = false;
            for symbol in &order {
                let row = rows.get(symbol).cloned().unwrap_or_default();
                for &mate in level_mates.get(symbol).into_iter().flatten() {
                    let of_mate = rows.entry(mate).or_insert_with(|| vec![0; words]);
                    for (word, of_mate) in row.iter().zip(of_mate) {
                        changed |= word & !*of_mate != 0;
                        *of_mate |= word;
                    }
                }
            }
        }
        // A symbol without a row is never above another symbol: its set, the first one, is empty.
        let mut result = EmergingSymbols { sets: vec![Box::default()], set_of: HashMap::new() };
        let mut numbers: HashMap<Vec<u64>, usize> = HashMap::new();
        for (symbol, row) in rows {
            let set = *numbers.entry(row).or_insert_with_key(|row| {
                let has = |&(place, _): &(usize, &u32)| row[place / 64] >> (place % 64) & 1 == 1;
                result.sets.push(emerging.iter().enumerate().filter(has).map(|(_, &symbol)| symbol).collect());
                result.sets.len() - 1
            });
            result.set_of.insert(symbol, set);
        }
        Ok(result)
    }

    /// Returns the number of the set of a symbol. Symbols with equal sets have equal numbers.
    pub(crate) fn set(&self, symbol: u32) -> usize {
        self.set_of.get(&symbol).copied().unwrap_or(0)
    }

    /// Returns the set with this number, sorted.
    pub(crate) fn get(&self, set: usize) -> &[u32] {
        &self.sets[set]
    }

    /// Returns the number of distinct sets.
    pub(crate) fn len(&self) -> usize {
        self.sets.len()
    }

    /// Whether a symbol, or ε, may emerge from any pop.
    pub(crate) fn may_emerge(&self, symbol: u32) -> bool {
        self.sets.iter().any(|set| set.binary_search(&symbol).is_ok())
    }
}

/// Returns all symbols that are reachable from these. Each symbol precedes its successors, except
/// on loops.
fn predecessors_first(from: &[u32], successors: &HashMap<u32, Vec<u32>>) -> Vec<u32> {
    let next = |symbol: u32| successors.get(&symbol).map_or(&[][..], Vec::as_slice);
    let mut reached: HashSet<u32> = HashSet::new();
    let mut order = Vec::new();
    for &start in from {
        let mut path = if reached.insert(start) { vec![(start, 0)] } else { Vec::new() };
        while let Some((symbol, at)) = path.last_mut() {
            if let Some(&to) = next(*symbol).get(*at) {
                *at += 1;
                if reached.insert(to) {
                    path.push((to, 0));
                }
            } else {
                order.push(*symbol);
                path.pop();
            }
        }
    }
    order.reverse();
    order
}

/// Returns the pairs (upper, lower) of symbols such that the upper one is put on the lower one.
fn stacked_pairs(system: &Cpds, thread: ThreadId) -> impl Iterator<Item = (u32, u32)> {
    let by_action = system.program(thread).rules().iter().filter_map(|rule| match rule.action {
        Action::Push { callee, return_point, .. } => Some((top_number(Some(callee)), top_number(Some(return_point)))),
        Action::EmptyPush { new, .. } => Some((top_number(Some(new)), 0)),
        Action::Pop { .. } | Action::Overwrite { .. } | Action::EmptyOverwrite { .. } => None,
    });
    let by_initial_stacks = system.initial().iter().flat_map(move |state| {
        let stack = &state.stacks[thread.index()];
        let numbers = || stack.iter().map(|symbol| top_number(Some(symbol)));
        numbers().zip(numbers().skip(1).chain([0]))
    });
    by_action.chain(by_initial_stacks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::visible::levels::top;
    use cpds::Problem;

    fn emerging(text: &str, returns: Returns, symbol: &str) -> Vec<String> {
        let problem: Problem = text.parse().unwrap();
        let system = problem.system();
        let symbols = EmergingSymbols::new(system, system.threads().next().unwrap(), returns, usize::MAX).unwrap();
        let name = |number: u32| top(number).map_or("ε", |symbol| system.symbol_names().name(symbol.0)).to_owned();
        let number = (1..100).find(|&number| name(number) == symbol).unwrap();
        symbols.get(symbols.set(number)).iter().map(|&number| name(number)).collect()
    }

    /// Two procedures, f and g, are called from different places.
    const CALLS: &str = "shared 0; init 0|main; thread A { symbols main after end f f2 g;
        (0,main) -> (0,f after); (0,after) -> (0,g end); (0,f) -> (0,f2); (0,f2) -> (0,-); (0,g) -> (0,-) }";

    #[test]
    fn a_procedure_returns_to_where_it_was_called() {
        assert_eq!(emerging(CALLS, Returns::Matched, "f2"), ["after"]);
        assert_eq!(emerging(CALLS, Returns::Matched, "g"), ["end"]);
        assert_eq!(emerging(CALLS, Returns::Matched, "end"), ["ε"], "the bottom of the initial stack, after two calls");
        assert_eq!(emerging(CALLS, Returns::Any, "f2"), ["ε", "after", "end"]);
    }

    /// d is never on top again, because its callee never returns. It still lies on b.
    #[test]
    fn a_symbol_below_a_caller_may_lie_below_its_return_point() {
        let text = "shared 0; init 0|a b; thread A { symbols a b c d; (0,a) -> (0,c d); (0,c) -> (0,c c) }";
        assert_eq!(emerging(text, Returns::Matched, "d"), ["b"]);
        assert_eq!(emerging(text, Returns::Matched, "c"), ["c", "d"]);
    }
}
