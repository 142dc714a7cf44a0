//! Whose a state is, and what leaves a share of the states for others.
//!
//! A state belongs to the part that the hash of its content says: of the shared state, and of what
//! is on each stack. Interchangeable threads count alike, whatever their order. No number of a
//! state or a stack is in it, so all parts agree.
//!
//! # Blocks
//! What goes to another part is bytes, in blocks. A block has items of varints, the first of which
//! says in its lowest bit what comes:
//! - 1, a *stack*: its top, and the number of the rest. It gets the next number, from 1 on; ε has 0.
//!   Each pair of a sender and a receiver has numbers of its own, and a stack comes before it is
//!   used, once;
//! - 0, a *state*: the shared state times the number of threads, plus the position of the thread
//!   that reached it; and the numbers of its stacks, by position.

use crate::explicit::frontier::Pair;
use crate::explicit::reachable::Reachable;
use crate::explicit::stack_table::{EMPTY, StackId, Stacks};
use crate::explicit::state_table::BATCH;
use crate::tables::packed_rows::{Layout, hash};
use crate::tuning::Tuning;
use crate::visible::levels::top_number;
use crate::visible::symmetry::Symmetry;
use cpds::{Cpds, Symbol};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::ops::Range;

/// Which part of the states a share has.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Place {
    /// Its number, below how many there are.
    pub part: usize,
    /// How many there are.
    pub parts: usize,
    /// Another one makes for another partition.
    pub seed: u64,
}

/// What has been sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Sent {
    /// States, each with a thread that reached it.
    pub states: u64,
    /// States that were not sent, because they had been lately.
    pub again: u64,
    /// Stacks, as a top and a rest.
    pub stacks: u64,
    /// Bytes in blocks.
    pub bytes: u64,
    /// Blocks.
    pub blocks: u64,
}

/// What is wrong with a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Malformed {
    /// It ends within an item.
    CutShort,
    /// A number is too large.
    NoNumber,
    /// A shared state, a symbol or a stack that is not there.
    Unknown,
    /// A state that belongs to another part.
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

/// Whose states are.
struct Owners {
    place: Place,
    /// For each stack, a hash of what is on it.
    contents: Vec<u64>,
    /// What the hash of a stack is multiplied with at each position: the same throughout a group.
    factors: Vec<u64>,
}

/// Where states go that belong to others.
pub(crate) struct Outlet {
    owners: Owners,
    /// For each part.
    writers: Vec<Writer>,
    /// How many states count as lately sent: a power of two.
    recently_sent: usize,
    /// States that were sent lately: rows, each with the position plus one.
    lately: Vec<u64>,
    again: u64,
}

#[inline]
fn mix(word: u64) -> u64 {
    hash(&[word])
}

impl Owners {
    fn new(place: Place, symmetry: &Symmetry) -> Self {
        let factor = |position: usize| mix(place.seed ^ (symmetry.group(position).start as u64 + 1)) | 1;
        let factors = (0..symmetry.threads().len()).map(factor).collect();
        Owners { place, contents: vec![mix(!place.seed)], factors }
    }

    /// Hashes the stacks that are new.
    #[inline]
    fn keep_up(&mut self, stacks: &Stacks) {
        while self.contents.len() < stacks.len() {
            let stack = StackId::try_from(self.contents.len()).expect("a stack has a number");
            let rest = self.contents[stacks.rest(stack) as usize];
            self.contents.push(mix(rest ^ u64::from(top_number(stacks.top(stack))) << 32));
        }
    }

    #[inline]
    fn stack(&self, position: usize, stack: StackId) -> u64 {
        self.contents[stack as usize].wrapping_mul(self.factors[position])
    }

    /// The hash of all stacks together.
    #[inline]
    fn stacks(&self, layout: &Layout, row: &[u64]) -> u64 {
        let add = |sum: u64, (position, stack)| sum.wrapping_add(self.stack(position, stack));
        layout.locals(row).enumerate().fold(0, add)
    }

    /// The part that has the states with this shared state and this hash of all stacks.
    #[inline]
    fn part(&self, shared: u32, stacks: u64) -> usize {
        let hash = hash(&[stacks, u64::from(shared) ^ self.place.seed]);
        (((hash >> 32) * self.place.parts as u64) >> 32) as usize
    }
}

impl Outlet {
    pub(crate) fn new(place: Place, symmetry: &Symmetry, stacks: &Stacks, tuning: Tuning) -> Self {
        let mut owners = Owners::new(place, symmetry);
        owners.keep_up(stacks);
        let writers = (0..place.parts).map(|_| Writer::new(tuning)).collect();
        let recently_sent = tuning.recently_sent.next_power_of_two();
        Outlet { owners, writers, recently_sent, lately: Vec::new(), again: 0 }
    }

    /// Whether a state belongs here.
    pub(crate) fn is_ours(&self, layout: &Layout, row: &[u64]) -> bool {
        let stacks = self.owners.stacks(layout, row);
        self.owners.part(layout.shared(row), stacks) == self.owners.place.part
    }

    /// The rows are to have another layout.
    pub(crate) fn forget_rows(&mut self) {
        self.lately.clear();
    }

    /// Has a state go to its part, unless it went there lately: what has been sent once need never
    /// be sent again.
    fn send(&mut self, to: usize, stacks: &Stacks, (layout, row): (&Layout, &[u64]), at: usize) {
        let entry = row.len() + 1;
        if self.lately.is_empty() {
            self.lately.resize(self.recently_sent * entry, 0);
        }
        let mark = at as u64 + 1;
        let mask = self.recently_sent as u64 - 1;
        #[expect(clippy::cast_possible_truncation, reason = "it is below `recently_sent`")]
        let place = (hash(row).wrapping_add(mark.wrapping_mul(0x9e37_79b9_7f4a_7c15)) & mask) as usize;
        let lately = &mut self.lately[place * entry..][..entry];
        if lately[0] == mark && lately[1..] == *row {
            self.again += 1;
            return;
        }
        lately[0] = mark;
        lately[1..].copy_from_slice(row);
        self.writers[to].state(stacks, layout.shared(row), || layout.locals(row), at);
    }

    /// All that is to be sent, with what it is sent to.
    pub(crate) fn take(&mut self, mut send: impl FnMut(usize, Vec<u8>)) {
        for (to, writer) in self.writers.iter_mut().enumerate() {
            writer.take().for_each(|block| send(to, block));
        }
    }

    /// What has been sent so far.
    pub(crate) fn sent(&self) -> Sent {
        let mut sent = Sent { again: self.again, ..Sent::default() };
        for writer in &self.writers {
            sent += writer.sent;
        }
        sent
    }

    /// The memory in use.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.owners.contents)
            + size_of_val(&*self.lately)
            + self.writers.iter().map(Writer::bytes).sum::<usize>()
    }
}

impl std::ops::AddAssign for Sent {
    fn add_assign(&mut self, other: Sent) {
        self.states += other.states;
        self.again += other.again;
        self.stacks += other.stacks;
        self.bytes += other.bytes;
        self.blocks += other.blocks;
    }
}

impl Reachable<'_> {
    /// Takes steps of a thread from a state, for which `successors` is prepared. States that belong
    /// to others are sent to them.
    #[inline(never)]
    pub(crate) fn expand_here_and_there(&mut self, pair: Pair, moves: Range<usize>) {
        let mut outlet = self.outlet.take().expect("there are others");
        outlet.owners.keep_up(&self.stacks);
        let position = usize::from(pair.position);
        let program = self.programs[position];
        let (layout, row) = (self.states.layout(), self.states.row(pair.id as usize));
        let before = outlet.owners.stack(position, layout.local(row, position));
        let others = outlet.owners.stacks(layout, row).wrapping_sub(before);
        for index in moves {
            let (shared, stack) = self.moves[program].successor(index);
            let part = outlet.owners.part(shared, others.wrapping_add(outlet.owners.stack(position, stack)));
            let layout = self.states.layout();
            let (row, at) = self.scratch.successors.pack(layout, (shared, stack));
            if part != outlet.owners.place.part {
                outlet.send(part, &self.stacks, (layout, row), at);
                continue;
            }
            self.batch.push(row, at);
            if self.batch.hashes.len() == BATCH {
                self.look_up();
            }
        }
        self.outlet = Some(outlet);
    }

    /// Takes in a state that came from elsewhere, with the position of the thread that reached it.
    /// The stacks are by position, and are sorted first. Whether it is new is looked up later, many
    /// at a time.
    pub(crate) fn arrive(&mut self, shared: u32, stacks: &mut [StackId], at: usize) -> Result<(), Malformed> {
        self.make_room();
        let (moved, group) = (stacks[at], self.symmetry.group(at));
        self.symmetry.sort(stacks);
        let at = group.start + stacks[group].iter().take_while(|&&stack| stack < moved).count();
        let outlet = self.outlet.as_mut().expect("there are others");
        outlet.owners.keep_up(&self.stacks);
        let layout = self.states.layout();
        let row = self.scratch.successors.pack_all(layout, shared, stacks);
        if !outlet.is_ours(layout, row) {
            return Err(Malformed::NotHere);
        }
        self.batch.push(row, at);
        if self.batch.hashes.len() == BATCH {
            self.look_up();
        }
        Ok(())
    }
}

/// Writes blocks for one receiver.
pub(crate) struct Writer {
    /// A block is complete when it has this many bytes.
    block_bytes: usize,
    /// The numbers of stacks that have been sent, zero for others.
    numbers: Vec<u32>,
    block: Vec<u8>,
    full: Vec<Vec<u8>>,
    sent: Sent,
    scratch: Vec<StackId>,
}

impl Writer {
    pub(crate) fn new(tuning: Tuning) -> Self {
        Writer {
            block_bytes: tuning.block_bytes,
            numbers: Vec::new(),
            block: Vec::new(),
            full: Vec::new(),
            sent: Sent::default(),
            scratch: Vec::new(),
        }
    }

    /// Writes a state, and before it the stacks that have not been sent.
    pub(crate) fn state<I: Iterator<Item = StackId>>(
        &mut self,
        stacks: &Stacks,
        shared: u32,
        locals: impl Fn() -> I,
        at: usize,
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
        varint(&mut self.block, (u64::from(shared) * threads + at as u64) << 1);
        for stack in locals() {
            varint(&mut self.block, self.numbers[stack as usize].into());
        }
        self.sent.states += 1;
        self.end_item();
    }

    /// Writes a stack that has not been sent, and what of its rest has not been.
    fn stack(&mut self, stacks: &Stacks, stack: StackId) {
        let mut scratch = std::mem::take(&mut self.scratch);
        let missing = std::iter::successors(Some(stack), |&stack| Some(stacks.rest(stack)))
            .take_while(|&stack| stack != EMPTY && self.numbers[stack as usize] == 0);
        scratch.extend(missing);
        while let Some(stack) = scratch.pop() {
            let top = stacks.top(stack).expect("it is not ε");
            varint(&mut self.block, u64::from(top.0) << 1 | 1);
            varint(&mut self.block, self.numbers[stacks.rest(stack) as usize].into());
            self.sent.stacks += 1;
            self.numbers[stack as usize] = u32::try_from(self.sent.stacks).expect("a stack has a number");
            self.end_item();
        }
        self.scratch = scratch;
    }

    fn end_item(&mut self) {
        if self.block.len() >= self.block_bytes {
            self.full.push(std::mem::take(&mut self.block));
        }
    }

    /// How many blocks there are, or will be.
    pub(crate) fn len(&self) -> usize {
        self.full.len() + usize::from(!self.block.is_empty())
    }

    /// What has been written since it was last taken.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = Vec<u8>> {
        if !self.block.is_empty() {
            self.full.push(std::mem::take(&mut self.block));
        }
        self.sent.blocks += self.full.len() as u64;
        self.sent.bytes += self.full.iter().map(|block| block.len() as u64).sum::<u64>();
        self.full.drain(..)
    }

    fn bytes(&self) -> usize {
        size_of_val(&*self.numbers) + self.full.iter().map(Vec::len).sum::<usize>() + self.block.len()
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

    /// Reads up to the next state, and takes it off the block: its shared state, and the position
    /// of the thread that reached it. The stacks are written to `locals`.
    pub(crate) fn state(
        &mut self,
        block: &mut &[u8],
        stacks: &mut Stacks,
        locals: &mut Vec<StackId>,
    ) -> Result<Option<(u32, usize)>, Malformed> {
        while !block.is_empty() {
            let first = number(block)?;
            if first & 1 == 1 {
                let rest = self.stack(block)?;
                let top = u32::try_from(first >> 1).ok().filter(|&top| u64::from(top) < self.symbols);
                self.numbers.push(stacks.push(Symbol(top.ok_or(Malformed::Unknown)?), rest));
                continue;
            }
            let (shared, at) = ((first >> 1) / self.threads as u64, (first >> 1) % self.threads as u64);
            let shared = u32::try_from(shared).ok().filter(|&shared| u64::from(shared) < self.shared_states);
            locals.clear();
            for _ in 0..self.threads {
                locals.push(self.stack(block)?);
            }
            let at = usize::try_from(at).expect("below the number of threads");
            return Ok(Some((shared.ok_or(Malformed::Unknown)?, at)));
        }
        Ok(None)
    }

    fn stack(&self, block: &mut &[u8]) -> Result<StackId, Malformed> {
        let number = usize::try_from(number(block)?).map_err(|_| Malformed::NoNumber)?;
        self.numbers.get(number).copied().ok_or(Malformed::Unknown)
    }

    /// The memory in use.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.numbers)
    }
}

/// Writes seven bits a byte, the lowest first; the highest bit says that more come.
#[inline]
fn varint(block: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        block.push(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    block.push(number.to_le_bytes()[0]);
}

/// Reads a varint, and takes it off the block.
#[inline]
fn number(block: &mut &[u8]) -> Result<u64, Malformed> {
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
