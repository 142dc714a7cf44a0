//! The wire format for states that go to another part: blocks of bytes.
//!
//! A block consists of items, which consist of varints. The lowest bit of the first varint is the
//! kind of the item:
//! - 1, a *stack*: its top, and the number of its rest. The stack gets the next number, from 1 on;
//!   ε has the number 0. Each pair of a sender and a receiver has numbers of its own. A stack comes
//!   once, before its first use;
//! - 0, a *state*: the shared state times the number of threads, plus the position of the thread
//!   that reached it; then the numbers of its stacks, by position.

use crate::explicit::tables::stack_table::{EMPTY, StackId, Stacks};
use crate::tuning::Tuning;
use cpds::{Cpds, Symbol};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::ops::AddAssign;

/// Counters of what was sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Sent {
    /// States, each with a thread that reached it.
    pub states: u64,
    /// States that were not sent, because they had been sent recently.
    pub again: u64,
    /// Stacks, as a top and a rest.
    pub stacks: u64,
    /// Bytes in blocks.
    pub bytes: u64,
    /// Blocks.
    pub blocks: u64,
}

impl AddAssign for Sent {
    fn add_assign(&mut self, other: Sent) {
        self.states += other.states;
        self.again += other.again;
        self.stacks += other.stacks;
        self.bytes += other.bytes;
        self.blocks += other.blocks;
    }
}

/// The fault of a malformed block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Malformed {
    /// It ends within an item.
    CutShort,
    /// A number is too large.
    NoNumber,
    /// It names a shared state, a symbol or a stack that does not exist.
    Unknown,
    /// It has a state that belongs to another part.
    NotHere,
    /// It came while no level was computed.
    NotNow,
}

impl Display for Malformed {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Malformed::CutShort => "a block that ends too early",
            Malformed::NoNumber => "a number that is too large",
            Malformed::Unknown => "a shared state, a symbol or a stack that does not exist",
            Malformed::NotHere => "a state that belongs to another part",
            Malformed::NotNow => "a block that comes between levels",
        })
    }
}

/// Writes the blocks for one receiver.
pub(crate) struct Writer {
    /// A block with at least this number of bytes is complete.
    block_bytes: usize,
    /// For each stack, its number for the receiver; zero if it was not sent.
    numbers: Vec<u32>,
    block: Vec<u8>,
    complete: Vec<Vec<u8>>,
    sent: Sent,
    scratch: Vec<StackId>,
}

impl Writer {
    pub(crate) fn new(tuning: Tuning) -> Self {
        Writer {
            block_bytes: tuning.block_bytes,
            numbers: Vec::new(),
            block: Vec::new(),
            complete: Vec::new(),
            sent: Sent::default(),
            scratch: Vec::new(),
        }
    }

    /// Writes a state, after those of its stacks that were not sent yet.
    pub(crate) fn state<I: Iterator<Item = StackId>>(
        &mut self,
        stacks: &Stacks,
        shared: u32,
        locals: impl Fn() -> I,
        position: usize,
    ) {
        if self.numbers.len() < stacks.len() {
            self.numbers.resize(stacks.len(), 0);
        }
        let mut threads = 0;
        for stack in locals() {
            threads += 1;
            if stack != EMPTY && self.numbers[stack as usize] == 0 {
                self.stack(stacks, stack);
            }
        }
        write_varint(&mut self.block, (u64::from(shared) * threads + position as u64) << 1);
        for stack in locals() {
            write_varint(&mut self.block, self.numbers[stack as usize].into());
        }
        self.sent.states += 1;
        self.end_item();
    }

    /// Writes a stack that was not sent yet, after those of its rests that were not sent yet.
    fn stack(&mut self, stacks: &Stacks, stack: StackId) {
        let mut scratch = std::mem::take(&mut self.scratch);
        let missing = std::iter::successors(Some(stack), |&stack| Some(stacks.rest(stack)))
            .take_while(|&stack| stack != EMPTY && self.numbers[stack as usize] == 0);
        scratch.extend(missing);
        while let Some(stack) = scratch.pop() {
            let top = stacks.top(stack).expect("it is not ε");
            write_varint(&mut self.block, u64::from(top.0) << 1 | 1);
            write_varint(&mut self.block, self.numbers[stacks.rest(stack) as usize].into());
            self.sent.stacks += 1;
            self.numbers[stack as usize] = u32::try_from(self.sent.stacks).expect("a stack has a number");
            self.end_item();
        }
        self.scratch = scratch;
    }

    fn end_item(&mut self) {
        if self.block.len() >= self.block_bytes {
            self.complete.push(std::mem::take(&mut self.block));
        }
    }

    /// The number of blocks, the incomplete one included.
    pub(crate) fn len(&self) -> usize {
        self.complete.len() + usize::from(!self.block.is_empty())
    }

    /// Takes the blocks that were written since the last call.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = Vec<u8>> {
        if !self.block.is_empty() {
            self.complete.push(std::mem::take(&mut self.block));
        }
        self.sent.blocks += self.complete.len() as u64;
        self.sent.bytes += self.complete.iter().map(|block| block.len() as u64).sum::<u64>();
        self.complete.drain(..)
    }

    /// Counters of what was written so far; bytes and blocks as far as they were taken.
    pub(super) fn sent(&self) -> Sent {
        self.sent
    }

    /// The memory in use.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.numbers) + self.complete.iter().map(Vec::len).sum::<usize>() + self.block.len()
    }
}

/// Reads the blocks of one sender.
pub(crate) struct Reader {
    /// The stacks by the sender's numbers.
    numbers: Vec<StackId>,
    shared_states: u64,
    symbols: u64,
    threads: usize,
}

impl Reader {
    pub(crate) fn new(system: &Cpds) -> Self {
        Reader {
            numbers: vec![EMPTY],
            shared_states: system.shared_names().len() as u64,
            symbols: system.symbol_names().len() as u64,
            threads: system.thread_count(),
        }
    }

    /// Reads up to the next state, and removes the bytes from the block. Returns the shared state,
    /// and the position of the thread that reached it; writes the stacks to `locals`.
    pub(crate) fn state(
        &mut self,
        block: &mut &[u8],
        stacks: &mut Stacks,
        locals: &mut Vec<StackId>,
    ) -> Result<Option<(u32, usize)>, Malformed> {
        while !block.is_empty() {
            let first = read_varint(block)?;
            if first & 1 == 1 {
                let rest = self.stack(block)?;
                let top = u32::try_from(first >> 1).ok().filter(|&top| u64::from(top) < self.symbols);
                self.numbers.push(stacks.push(Symbol(top.ok_or(Malformed::Unknown)?), rest));
                continue;
            }
            let (shared, position) = ((first >> 1) / self.threads as u64, (first >> 1) % self.threads as u64);
            let shared = u32::try_from(shared).ok().filter(|&shared| u64::from(shared) < self.shared_states);
            locals.clear();
            for _ in 0..self.threads {
                locals.push(self.stack(block)?);
            }
            let position = usize::try_from(position).expect("below the number of threads");
            return Ok(Some((shared.ok_or(Malformed::Unknown)?, position)));
        }
        Ok(None)
    }

    fn stack(&self, block: &mut &[u8]) -> Result<StackId, Malformed> {
        let number = usize::try_from(read_varint(block)?).map_err(|_| Malformed::NoNumber)?;
        self.numbers.get(number).copied().ok_or(Malformed::Unknown)
    }

    /// The memory in use.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.numbers)
    }
}

/// Writes a varint: seven bits in each byte, the lowest first. The highest bit of a byte is set if
/// more bytes follow.
#[inline]
fn write_varint(block: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        block.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    block.push(number.to_le_bytes()[0]);
}

/// Reads a varint, and removes its bytes from the block.
#[inline]
fn read_varint(block: &mut &[u8]) -> Result<u64, Malformed> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (&byte, rest) = block.split_first().ok_or(Malformed::CutShort)?;
        *block = rest;
        if shift > 56 {
            return Err(Malformed::NoNumber);
        }
        number |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte < 0x80 {
            return Ok(number);
        }
    }
}
