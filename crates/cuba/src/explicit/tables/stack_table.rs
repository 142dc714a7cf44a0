//! The table of stacks: each is stored once, as its top and the number of the rest below it.

use crate::automata::minimal_dfa::Dfa;
use crate::tables::table_size::bytes_of_table;
use crate::visible::levels::top_number;
use cpds::{Stack, Symbol};
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::FxHasher;
use serde::{Deserialize, Serialize, Serializer};
use std::hash::Hasher as _;

/// The number of a stack.
pub(crate) type StackId = u32;

/// ε.
pub(crate) const EMPTY: StackId = 0;

/// The stacks of the states, and every rest of a stack.
#[derive(Clone, Deserialize)]
#[serde(try_from = "Vec<(u32, StackId)>")]
pub(crate) struct Stacks {
    /// By number. Of the cell of ε, only the height has a meaning.
    cells: Vec<Cell>,
    table: HashTable<StackId>,
}

#[derive(Clone, Copy)]
struct Cell {
    top: Symbol,
    rest: StackId,
    height: u32,
}

impl Default for Stacks {
    fn default() -> Self {
        Stacks { cells: vec![Cell { top: Symbol(u32::MAX), rest: EMPTY, height: 0 }], table: HashTable::new() }
    }
}

impl Serialize for Stacks {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.cells[1..].iter().map(|cell| (cell.top.0, cell.rest)))
    }
}

impl TryFrom<Vec<(u32, StackId)>> for Stacks {
    type Error = &'static str;

    fn try_from(cells: Vec<(u32, StackId)>) -> Result<Self, Self::Error> {
        let mut stacks = Stacks::default();
        for (top, rest) in cells {
            if rest as usize >= stacks.len() {
                return Err("a stack without its rest");
            }
            stacks.push(Symbol(top), rest);
        }
        Ok(stacks)
    }
}

impl Stacks {
    /// The number of stacks, ε included.
    pub(crate) fn len(&self) -> usize {
        self.cells.len()
    }

    /// Returns the number of the stack with `top` above `rest`.
    pub(crate) fn push(&mut self, top: Symbol, rest: StackId) -> StackId {
        let cells = &mut self.cells;
        let is_equal = |&id: &StackId| (cells[id as usize].top, cells[id as usize].rest) == (top, rest);
        let hash_of = |&id: &StackId| hash(cells[id as usize].top, cells[id as usize].rest);
        match self.table.entry(hash(top, rest), is_equal, hash_of) {
            Entry::Occupied(entry) => *entry.get(),
            Entry::Vacant(place) => {
                let id = StackId::try_from(cells.len()).expect("the memory ends before");
                place.insert(id);
                cells.push(Cell { top, rest, height: cells[rest as usize].height + 1 });
                id
            }
        }
    }

    /// Returns the stack in which `written`, top first, replaces the top. ε has no top to replace.
    pub(crate) fn replace_top(&mut self, stack: StackId, written: impl DoubleEndedIterator<Item = Symbol>) -> StackId {
        written.rev().fold(self.rest(stack), |rest, symbol| self.push(symbol, rest))
    }

    /// T(w).
    pub(crate) fn top(&self, stack: StackId) -> Option<Symbol> {
        (stack != EMPTY).then(|| self.cells[stack as usize].top)
    }

    /// The stack below the top; ε for ε.
    pub(crate) fn rest(&self, stack: StackId) -> StackId {
        self.cells[stack as usize].rest
    }

    /// |w|.
    pub(crate) fn height(&self, stack: StackId) -> u32 {
        self.cells[stack as usize].height
    }

    /// Returns the number of a stack, and stores the stack if it is new.
    pub(crate) fn intern(&mut self, stack: &Stack) -> StackId {
        stack.iter().rev().fold(EMPTY, |rest, top| self.push(top, rest))
    }

    /// The number of a stack, if the table has it.
    pub(crate) fn find(&self, stack: &Stack) -> Option<StackId> {
        stack.iter().rev().try_fold(EMPTY, |rest, top| {
            let is_equal = |&id: &StackId| (self.cells[id as usize].top, self.cells[id as usize].rest) == (top, rest);
            self.table.find(hash(top, rest), is_equal).copied()
        })
    }

    /// The stack with this number.
    pub(crate) fn stack(&self, stack: StackId) -> Stack {
        let rests = std::iter::successors(Some(stack), |&stack| Some(self.rest(stack)));
        Stack::from_top(rests.map_while(|stack| self.top(stack)))
    }

    /// Returns an automaton with one state for each stack. The language of the state contains only
    /// this stack.
    pub(crate) fn automaton(&self) -> Dfa {
        let mut automaton = Dfa::default();
        automaton.push(true, []);
        for cell in &self.cells[1..] {
            automaton.push(false, [(top_number(Some(cell.top)), cell.rest)]);
        }
        automaton
    }

    /// The memory in use.
    pub(crate) fn bytes(&self) -> usize {
        self.cells.len() * size_of::<Cell>() + bytes_of_table(self.table.len())
    }
}

fn hash(top: Symbol, rest: StackId) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_u64(u64::from(top.0) << 32 | u64::from(rest));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_stacks_have_equal_numbers() {
        let mut stacks = Stacks::default();
        let word = |symbols: &[u32]| Stack::from_top(symbols.iter().map(|&s| Symbol(s)));
        let (ab, b, bb) = (stacks.intern(&word(&[0, 1])), stacks.intern(&word(&[1])), stacks.intern(&word(&[1, 1])));
        assert_eq!(stacks.len(), 4, "ε, b, ab, bb");
        assert_eq!(stacks.push(Symbol(0), b), ab);
        assert_eq!(stacks.push(Symbol(1), b), bb);
        assert_eq!((stacks.top(ab), stacks.rest(ab), stacks.height(ab)), (Some(Symbol(0)), b, 2));
        assert_eq!((stacks.top(EMPTY), stacks.rest(EMPTY), stacks.height(EMPTY)), (None, EMPTY, 0));
        assert_eq!(stacks.intern(&word(&[])), EMPTY);
        for symbols in [&[][..], &[1], &[0, 1], &[1, 1]] {
            let id = stacks.intern(&word(symbols));
            assert_eq!(stacks.stack(id), word(symbols));
        }
    }
}
