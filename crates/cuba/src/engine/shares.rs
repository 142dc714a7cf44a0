//! R_k in shares (`share.rs`): who tells all of them what to do, and puts together what they answer.
//!
//! Levels and waves are begun everywhere at once. A wave is over when no share has pairs left and nothing was sent in the last superstep; a
//! level, when no share has anything for the next wave. Visible states are kept here, each level's after those of the one before.
//!
//! # What may be concluded
//! Whatever `reachable.rs` says of its levels: all sets and numbers here are the same, and so is the trace. How many stacks there are is not: each
//! share has those that it came by.

use super::bad::Bad;
use super::certificate::{Room, Tuples};
use super::count::Count;
use super::lower::Statistics;
use super::outlet::{Place, Reader, Sent};
use super::psa::TooLarge;
use super::race::Cancel;
use super::share::{Begin, Command, Counters, Failure, Reply, Seen, Share, stack, word};
use super::stacks::{StackId, Stacks};
use super::symmetry::Symmetry;
use super::visible::{VisibleLevels, top_number};
use super::witness::{Best, Levels, Start, WayBack};
use cpds::{Certificate, Cpds, Property, Stack, ThreadId, Trace};
use std::ops::ControlFlow;

/// All shares at once.
pub trait Supersteps {
    /// How many shares there are.
    fn parts(&self) -> usize;

    /// One superstep of all shares: the command for all of them, and what each answers. What shares send each other arrives in the
    /// next one.
    fn superstep(&mut self, command: Command) -> Vec<Reply>;
}

impl<S: Supersteps + ?Sized> Supersteps for Box<S> {
    fn parts(&self) -> usize {
        (**self).parts()
    }

    fn superstep(&mut self, command: Command) -> Vec<Reply> {
        (**self).superstep(command)
    }
}

/// The sets R_0 ⊆ … ⊆ R_k in shares, and T(R_0) ⊆ … ⊆ T(R_k), as far as they were computed.
pub struct Shares<'a, S> {
    system: &'a Cpds,
    symmetry: Symmetry,
    parts: S,
    visible: VisibleLevels,
    levels: Vec<Level>,
    next: Next,
    /// By share.
    counters: Vec<Counters>,
    supersteps: u64,
}

/// What is known of a level.
struct Level {
    new_states: Count,
    has_new_states: bool,
    /// What had been sent at its end.
    sent: Sent,
}

/// What comes next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Next {
    /// The last level is finished.
    Level,
    /// The wave goes on.
    Steps,
    /// A wave is over, and there is another one.
    Wave,
    /// The last wave of a level is over.
    EndOfLevel,
}

/// Why a level was not finished.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Interrupted<B> {
    /// The watcher said so.
    Stopped(B),
    /// A share could not go on. Then there is no going on for the others either.
    Failed(Failure),
}

impl<B> From<Failure> for Interrupted<B> {
    fn from(failure: Failure) -> Self {
        Interrupted::Failed(failure)
    }
}

/// How many steps a share takes in one superstep. (Unit tests are about small systems.)
const STEPS: u64 = if cfg!(test) { 1 << 3 } else { 1 << 16 };

impl<'a, S: Supersteps> Shares<'a, S> {
    /// R_0, in shares that have not done anything yet. They are of the same system, and have the same symmetry.
    pub fn new(system: &'a Cpds, symmetry: bool, parts: S) -> Result<Self, Failure> {
        let symmetry = Symmetry::new(system, symmetry);
        let mut shares = Shares {
            system,
            visible: VisibleLevels::new(system, &symmetry),
            symmetry,
            levels: Vec::new(),
            next: Next::EndOfLevel,
            counters: vec![Counters::default(); parts.parts()],
            parts,
            supersteps: 0,
        };
        shares.end_level()?;
        Ok(shares)
    }

    /// The shares, as they are.
    pub fn into_parts(self) -> S {
        self.parts
    }

    /// Computes the next level. After each superstep the watcher may look, and stop it.
    ///
    /// # Errors
    /// If the level is not finished. If it was stopped, what was found of it is kept, and the next call goes on with it.
    pub fn advance<B>(&mut self, watch: &mut impl FnMut(&Self) -> ControlFlow<B>) -> Result<(), Interrupted<B>> {
        loop {
            let begin = match self.next {
                Next::Level => Begin::Level,
                Next::Wave => Begin::Wave,
                Next::Steps => Begin::Nothing,
                Next::EndOfLevel => return Ok(self.end_level()?),
            };
            if begin == Begin::Level {
                self.visible.next_level();
            }
            self.expand(begin)?;
            if let ControlFlow::Break(why) = watch(self) {
                return Err(Interrupted::Stopped(why));
            }
        }
    }

    /// One superstep of a wave.
    fn expand(&mut self, begin: Begin) -> Result<(), Failure> {
        let (mut goes_on, mut has_wave) = (false, false);
        for (part, reply) in self.ask(Command::Expand { begin, steps: STEPS })?.into_iter().enumerate() {
            let Reply::Expanded { has_more, has_next, blocks, seen } = reply else { return Err(Failure::Reply) };
            goes_on |= has_more || blocks > 0;
            has_wave |= has_next;
            self.see(part, &seen)?;
        }
        self.next = match (goes_on, has_wave) {
            (true, _) => Next::Steps,
            (false, true) => Next::Wave,
            (false, false) => Next::EndOfLevel,
        };
        Ok(())
    }

    fn end_level(&mut self) -> Result<(), Failure> {
        let (mut all, mut any) = (Count::ZERO, false);
        for (part, reply) in self.ask(Command::EndLevel)?.into_iter().enumerate() {
            let Reply::Level { new_states, has_new_states, seen } = reply else { return Err(Failure::Reply) };
            (all, any) = (all + new_states, any | has_new_states);
            self.see(part, &seen)?;
        }
        self.levels.push(Level { new_states: all, has_new_states: any, sent: self.total().sent });
        self.next = Next::Level;
        Ok(())
    }

    fn see(&mut self, part: usize, Seen { visible, counters }: &Seen) -> Result<(), Failure> {
        self.visible.insert_rows(visible);
        *self.counters.get_mut(part).ok_or(Failure::Reply)? = *counters;
        Ok(())
    }

    /// One superstep, in which nobody fails.
    fn ask(&mut self, command: Command) -> Result<Vec<Reply>, Failure> {
        self.supersteps += 1;
        let replies = self.parts.superstep(command);
        let failure = replies.iter().find_map(|reply| if let Reply::Failed(why) = reply { Some(*why) } else { None });
        failure.map_or(Ok(replies), Err)
    }

    /// The last level that is finished.
    pub fn k(&self) -> usize {
        self.levels.len() - 1
    }

    /// Whether the next level has been begun, and is to go on.
    pub fn is_going(&self) -> bool {
        self.next != Next::Level
    }

    /// Whether what there is of the next level depends on nothing but how far the level is, on no order and no partition.
    pub fn is_between_waves(&self) -> bool {
        self.next != Next::Steps
    }

    /// T(R_0) ⊆ … ⊆ T(R_k); what is there of an unfinished level comes last.
    pub fn visible(&self) -> &VisibleLevels {
        &self.visible
    }

    /// Whether R_k \ R_{k-1} has any states. The level is finished.
    pub fn has_new_states(&self, k: usize) -> bool {
        self.levels[k].has_new_states
    }

    /// |R_k \ R_{k-1}|. The level is finished.
    pub fn new_states(&self, k: usize) -> Count {
        self.levels[k].new_states
    }

    /// What had been sent when level k was finished.
    pub fn sent(&self, k: usize) -> Sent {
        self.levels[k].sent
    }

    /// What each share took so far.
    pub fn counters(&self) -> &[Counters] {
        &self.counters
    }

    /// What all shares took together.
    pub fn total(&self) -> Counters {
        let mut total = Counters::default();
        self.counters.iter().for_each(|&counters| total += counters);
        total
    }

    /// How many supersteps there were.
    pub fn supersteps(&self) -> u64 {
        self.supersteps
    }

    /// What it took so far.
    pub fn statistics(&self) -> Statistics {
        let total = self.total();
        Statistics::Explicit {
            states_kept: total.kept,
            visible_states_kept: self.visible.kept(),
            expansions: total.expansions,
            stacks: total.stacks,
            highest_stack: total.highest,
            table_bytes: total.bytes,
            bytes_per_state: total.bytes.div_ceil(total.kept.max(1)),
        }
    }

    /// A trace to a bad state of the first level that has any; none if there is none so far, or if it is too long to be written out.
    pub fn trace(&mut self, property: &Property) -> Result<Option<Trace>, Failure> {
        let (bad, set) = (Bad::new(property, &self.symmetry), self.visible.set());
        let levels = 0..=self.k() + usize::from(self.is_going());
        let first = levels.map(|k| self.visible.range(k)).find_map(|ids| bad.first_violation(set, ids));
        let Some((visible, pattern)) = first else { return Ok(None) };
        self.trace_to_visible(visible, |shared, tops| {
            bad.arrange(pattern, shared, |position, top| tops[position] == top)
        })
    }

    /// R_k, as tuples of languages; unless there are more than fit into the memory.
    pub fn up_to(&mut self, k: usize) -> Result<Result<Certificate, TooLarge>, Failure> {
        Ok(self.tuples(k)?.certificate(&Room::new(usize::MAX, &Cancel::default())))
    }

    /// A trace to a state with this visible state, the same as one exploration finds.
    pub(super) fn trace_to_visible(
        &mut self,
        visible: usize,
        arrange: impl Fn(u32, &[u32]) -> Option<Vec<usize>>,
    ) -> Result<Option<Trace>, Failure> {
        let row = self.visible.set().row(visible).to_vec();
        let shared = self.visible.set().layout().shared(&row);
        let (system, symmetry) = (self.system, self.symmetry.clone());
        let way = WayBack { system, symmetry: &symmetry, highest: self.total().highest, stacks: Stacks::default() };
        way.trace(self, shared, &row, arrange)
    }

    /// The states of R_k, each as a tuple of languages with one word. They all come here.
    pub(super) fn tuples(&mut self, k: usize) -> Result<Tuples, Failure> {
        let mut rows = Vec::new();
        let stacks = self.gather(k, |shared, locals| {
            rows.push(shared);
            rows.extend_from_slice(locals);
        })?;
        Ok(Tuples::restored(&self.symmetry, (stacks.automaton(), rows, true)))
    }

    /// Has all states of R_k come here, one after the other: shared states, and stacks by position, sorted. Gives the stacks.
    fn gather(&mut self, k: usize, mut take: impl FnMut(u32, &[StackId])) -> Result<Stacks, Failure> {
        let mut stacks = Stacks::default();
        let mut readers: Vec<Reader> = (0..self.parts.parts()).map(|_| Reader::new(self.system)).collect();
        let mut locals = Vec::new();
        let (mut is_first, mut goes_on) = (true, true);
        while goes_on {
            goes_on = false;
            let replies = self.ask(Command::States { k, is_first })?;
            for (from, (reply, reader)) in replies.into_iter().zip(&mut readers).enumerate() {
                let Reply::States { blocks, has_more } = reply else { return Err(Failure::Reply) };
                goes_on |= has_more;
                for block in blocks {
                    let (mut block, failure) = (&block[..], |why| Failure::Block { from, why });
                    while let Some((shared, _)) = reader.state(&mut block, &mut stacks, &mut locals).map_err(failure)? {
                        self.symmetry.sort(&mut locals);
                        take(shared, &locals);
                    }
                }
            }
            is_first = false;
        }
        Ok(stacks)
    }
}

/// The levels are in the shares.
impl<S: Supersteps> Levels for Shares<'_, S> {
    type Error = Failure;

    fn best(&mut self, visible: &[u64]) -> Result<Best, Failure> {
        let mut best: Option<Best> = None;
        for reply in self.ask(Command::Best { visible: visible.to_vec() })? {
            let Reply::Best(found) = reply else { return Err(Failure::Reply) };
            let found = found.map(|(level, stacks)| {
                let symbols = stacks.iter().map(|stack| stack.len() as u64).sum();
                Best { level, symbols, stacks: stacks.into_iter().map(stack).collect() }
            });
            best = best.into_iter().chain(found).min();
        }
        let best = best.filter(|best| best.stacks.len() == self.system.thread_count()).ok_or(Failure::Reply)?;
        let (mut tops, mut row) = (Vec::new(), visible.to_vec());
        tops.extend(best.stacks.iter().map(|stack| top_number(stack.top())));
        self.visible.pack(self.visible.set().layout().shared(visible), &mut tops, &mut row);
        if row == visible { Ok(best) } else { Err(Failure::Reply) }
    }

    fn starts(&mut self, level: usize, by_thread: &[Stack], threads: &[ThreadId]) -> Result<Vec<Vec<Start>>, Failure> {
        let stacks = by_thread.iter().map(word).collect();
        let command = Command::Starts { level, stacks, threads: threads.iter().map(|thread| thread.0).collect() };
        let mut all = vec![Vec::new(); threads.len()];
        for reply in self.ask(command)? {
            let Reply::Starts(starts) = reply else { return Err(Failure::Reply) };
            for (all, starts) in all.iter_mut().zip(starts) {
                all.extend(starts.into_iter().map(|(shared, word)| (shared, stack(word))));
            }
        }
        for starts in &mut all {
            starts.sort_unstable();
            starts.dedup();
        }
        Ok(all)
    }
}

/// Shares in one process, one after the other.
pub struct Together<'a> {
    shares: Vec<Share<'a>>,
    /// What has been sent to each, and by whom.
    mail: Vec<Vec<(usize, Vec<u8>)>>,
}

impl<'a> Together<'a> {
    /// So many shares of R_0, partitioned as this seed says.
    pub fn new(system: &'a Cpds, symmetry: bool, parts: usize, seed: u64) -> Self {
        let share = |part| Share::new(system, symmetry, Place { part, parts, seed });
        Together { shares: (0..parts).map(share).collect(), mail: vec![Vec::new(); parts] }
    }
}

impl Supersteps for Together<'_> {
    fn parts(&self) -> usize {
        self.shares.len()
    }

    fn superstep(&mut self, command: Command) -> Vec<Reply> {
        let mail = std::mem::replace(&mut self.mail, vec![Vec::new(); self.shares.len()]);
        let shares = self.shares.iter_mut().zip(mail).enumerate();
        let step = |(part, (share, received)): (usize, (&mut Share<'_>, _))| {
            share.step(command.clone(), received, &mut |to, block| self.mail[to].push((part, block)))
        };
        shares.map(step).collect()
    }
}

#[cfg(test)]
mod tests;
