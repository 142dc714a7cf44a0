//! R_k in shares (`distributed/worker.rs`): who tells all of them what to do, and puts together
//! what they answer.
//!
//! Levels and waves are begun everywhere at once. A wave is over when no share has pairs left and
//! nothing was sent in the last superstep; a level, when no share has anything for the next wave.
//! Visible states are kept here, each level's after those of the one before.
//!
//! # What may be concluded
//! Whatever `explicit/reachable.rs` says of its levels: all sets and numbers here are the same, and
//! so is the trace. How many stacks there are is not: each share has those that it came by.

use crate::certificate::tuples::Tuples;
use crate::distributed::worker::{Begin, Command, Counters, Failure, Reply, Seen, Share, Store, Word, stack, word};
use crate::encoding::StorageError;
use crate::explicit::partition::owner::Place;
use crate::explicit::partition::wire_format::Reader;
use crate::explicit::stack_table::{StackId, Stacks};
use crate::statistics::Statistics;
use crate::tables::packed_rows::PackedSet;
use crate::tables::step_cache::ThreadState;
use crate::trace::backwards::{BackwardSearch, LevelQueries, ThreadStart, TraceEnd};
use crate::trace::fewest_steps::{SortedState, with_fewest_steps};
use crate::trace::last_context::{LastContext, LastContextStart};
use crate::trace::search_budget::SearchBudget;
use crate::tuning::Tuning;
use crate::visible::bad_patterns::BadPatterns;
use crate::visible::count::Count;
use crate::visible::levels::{VisibleLevels, top_number};
use crate::visible::symmetry::Symmetry;
use cpds::{Cpds, GlobalState, Property, SharedState, Stack, ThreadId, Trace};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize, Serializer};
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

/// All shares at once.
pub trait Supersteps {
    /// How many shares there are.
    fn parts(&self) -> usize;

    /// How many of them are in this process: the first ones.
    fn here(&self) -> usize;

    /// One superstep of all shares: the command for all of them, and what each answers. What shares
    /// send each other arrives in the next one.
    fn superstep(&self, command: Command) -> Vec<Reply>;

    /// A share cannot go on, and so there is no answer. Tells all others.
    fn give_up(&self, why: &Failure);
}

/// Shares that are somewhere else.
pub type Elsewhere = Arc<dyn Supersteps + Send + Sync>;

impl Supersteps for Elsewhere {
    fn parts(&self) -> usize {
        (**self).parts()
    }

    fn here(&self) -> usize {
        (**self).here()
    }

    fn superstep(&self, command: Command) -> Vec<Reply> {
        (**self).superstep(command)
    }

    fn give_up(&self, why: &Failure) {
        (**self).give_up(why);
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
    /// Whether the next superstep may take more memory than a share has.
    is_full: bool,
    supersteps: Cell<u64>,
    superstep_steps: u64,
    /// The level after which everyone has kept everything, if there is one.
    kept: Cell<Option<usize>>,
    is_lost: Cell<bool>,
}

/// What is known of a level.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Level {
    new_states: Count,
    has_new_states: bool,
}

/// What is saved of levels whose states are in shares: how many there are, the levels, and the
/// visible states.
pub(crate) type SavedShares = (usize, Vec<Level>, (PackedSet, Vec<usize>));

/// So many states at most are asked for at a time.
const STATES: usize = 1 << 12;

impl<S: Supersteps> Serialize for Shares<'_, S> {
    fn serialize<Out: Serializer>(&self, serializer: Out) -> Result<Out::Ok, Out::Error> {
        (self.parts.parts(), &self.levels, self.visible.saved()).serialize(serializer)
    }
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

impl<'a, S: Supersteps> Shares<'a, S> {
    /// R_0, in shares that have not done anything yet. They are of the same system, and have the
    /// same symmetry.
    pub fn new(system: &'a Cpds, symmetry: bool, parts: S, tuning: Tuning) -> Result<Self, Failure> {
        let symmetry = Symmetry::new(system, symmetry);
        let mut shares = Shares {
            system,
            visible: VisibleLevels::new(system, &symmetry),
            symmetry,
            levels: Vec::new(),
            next: Next::EndOfLevel,
            counters: vec![Counters::default(); parts.parts()],
            parts,
            is_full: false,
            supersteps: Cell::new(0),
            superstep_steps: tuning.superstep_steps,
            kept: Cell::new(None),
            is_lost: Cell::new(false),
        };
        shares.end_level()?;
        Ok(shares)
    }

    /// As it was when it was saved, and as all shares have kept it.
    pub(crate) fn restored(
        system: &'a Cpds,
        symmetry: bool,
        parts: S,
        saved: SavedShares,
        tuning: Tuning,
    ) -> Result<Self, Failure> {
        let (count, levels, visible) = saved;
        let symmetry = Symmetry::new(system, symmetry);
        if count != parts.parts() {
            let why = format!("there were {count} parts, and now there are {}", parts.parts());
            return Err(Failure::Restore { part: 0, why });
        }
        let k = levels.len().saturating_sub(1);
        let mut shares = Shares {
            system,
            visible: VisibleLevels::restored(&symmetry, visible),
            symmetry,
            levels,
            next: Next::Level,
            counters: vec![Counters::default(); count],
            parts,
            is_full: false,
            supersteps: Cell::new(0),
            superstep_steps: tuning.superstep_steps,
            kept: Cell::new(Some(k)),
            is_lost: Cell::new(false),
        };
        for (part, reply) in shares.ask(Command::Restore { k })?.into_iter().enumerate() {
            let Reply::Kept(restored) = reply else { return Err(Failure::Reply) };
            restored.map_err(|why| Failure::Restore { part, why })?;
        }
        let level = shares.levels.pop().ok_or(Failure::Reply)?;
        shares.end_level()?;
        if shares.levels.last() == Some(&level) {
            Ok(shares)
        } else {
            Err(Failure::Restore { part: 0, why: "what the parts have kept is of another run".to_owned() })
        }
    }

    /// Has all shares keep what they have. The last level is finished.
    pub(crate) fn keep(&self) -> Result<(), StorageError> {
        let command = Command::Keep { k: self.k(), but: self.kept.get() };
        for (part, reply) in self.ask(command).map_err(io::Error::other)?.into_iter().enumerate() {
            let Reply::Kept(kept) = reply else { return Err(io::Error::other(Failure::Reply)) };
            kept.map_err(|why| io::Error::other(format!("part {part}: {why}")))?;
        }
        Ok(())
    }

    /// Everyone has kept everything.
    pub(crate) fn is_kept(&self) {
        self.kept.set(Some(self.k()));
    }

    /// A share cannot go on, and so no other one can.
    pub(crate) fn give_up(&self, why: &Failure) {
        self.is_lost.set(true);
        self.parts.give_up(why);
    }

    /// Whether a share could not go on.
    pub(crate) fn is_lost(&self) -> bool {
        self.is_lost.get()
    }

    /// Computes the next level. After each superstep the watcher may look, and stop it.
    ///
    /// # Errors
    /// If the level is not finished. If it was stopped, what was found of it is kept, and the next
    /// call goes on with it.
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
        self.is_full = false;
        for (part, reply) in self.ask(Command::Expand { begin, steps: self.superstep_steps })?.into_iter().enumerate() {
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
        self.is_full = false;
        for (part, reply) in self.ask(Command::EndLevel)?.into_iter().enumerate() {
            let Reply::Level { new_states, has_new_states, seen } = reply else { return Err(Failure::Reply) };
            (all, any) = (all + new_states, any | has_new_states);
            self.see(part, &seen)?;
        }
        self.levels.push(Level { new_states: all, has_new_states: any });
        self.next = Next::Level;
        Ok(())
    }

    fn see(&mut self, part: usize, Seen { visible, counters, is_full }: &Seen) -> Result<(), Failure> {
        let layout = self.visible.set().layout().clone();
        let (states, symbols) = (self.system.shared_names().len(), self.system.symbol_names().len());
        let mut tops = Vec::new();
        for row in visible.chunks(layout.words()) {
            if row.len() != layout.words() {
                return Err(Failure::Reply);
            }
            tops.clear();
            tops.extend(layout.locals(row));
            if layout.shared(row) as usize >= states || tops.iter().any(|&top| top as usize > symbols) {
                return Err(Failure::Reply);
            }
            self.visible.insert(layout.shared(row), &mut tops);
        }
        *self.counters.get_mut(part).ok_or(Failure::Reply)? = *counters;
        self.is_full |= is_full;
        Ok(())
    }

    /// Whether the next superstep may take more memory than a share has.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// One superstep, in which nobody fails.
    fn ask(&self, command: Command) -> Result<Vec<Reply>, Failure> {
        self.supersteps.set(self.supersteps.get() + 1);
        let replies = self.parts.superstep(command);
        let failure = replies.iter().find_map(|reply| if let Reply::Failed(why) = reply { Some(why) } else { None });
        failure.cloned().map_or(Ok(replies), Err)
    }

    /// The last level that is finished.
    pub fn k(&self) -> usize {
        self.levels.len() - 1
    }

    /// Whether the next level has been begun, and is to go on.
    pub fn is_going(&self) -> bool {
        self.next != Next::Level
    }

    /// Whether what there is of the next level depends on nothing but how far the level is, on no
    /// order and no partition.
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

    /// The memory that other processes have in use for their shares.
    pub(crate) fn bytes_elsewhere(&self) -> usize {
        self.counters.iter().skip(self.parts.here()).map(|counters| counters.bytes).sum()
    }

    /// How many supersteps there were.
    pub fn supersteps(&self) -> u64 {
        self.supersteps.get()
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

    /// A trace to a bad state of the first level that has any; none if there is none so far, or if
    /// it is too long to be written out.
    pub fn trace(&self, property: &Property) -> Result<Option<Trace>, Failure> {
        self.trace_within(property, &SearchBudget::default())
    }

    fn trace_within(&self, property: &Property, budget: &SearchBudget) -> Result<Option<Trace>, Failure> {
        let (bad, set) = (BadPatterns::new(property, &self.symmetry), self.visible.set());
        let levels = 0..=self.k() + usize::from(self.is_going());
        let first = levels.map(|k| self.visible.range(k)).find_map(|ids| bad.first_violation(set, ids));
        let Some((visible, pattern)) = first else { return Ok(None) };
        self.trace_to_bad(&bad, visible, pattern, budget)
    }

    /// A trace to a bad state with the fewest contexts and steps, the same as one exploration
    /// finds. The first bad state has this visible state and fits this pattern.
    pub(crate) fn trace_to_bad(
        &self,
        bad: &BadPatterns,
        visible: usize,
        pattern: usize,
        budget: &SearchBudget,
    ) -> Result<Option<Trace>, Failure> {
        let trace = self.trace_to_visible(visible, |shared, tops| {
            bad.arrange(pattern, shared, |position, top| tops[position] == top)
        })?;
        trace.map(|trace| with_fewest_steps((self.system, &self.symmetry), bad, self, budget, trace)).transpose()
    }

    /// A trace to a state with this visible state, the same as one exploration finds.
    pub(crate) fn trace_to_visible(
        &self,
        visible: usize,
        arrange: impl Fn(u32, &[u32]) -> Option<Vec<usize>>,
    ) -> Result<Option<Trace>, Failure> {
        let row = self.visible.set().row(visible).to_vec();
        let shared = self.visible.set().layout().shared(&row);
        let (system, symmetry) = (self.system, &self.symmetry);
        let way = BackwardSearch { system, symmetry, highest: self.total().highest, stacks: Stacks::default() };
        way.trace(&mut &*self, shared, &row, arrange)
    }

    /// The states of R_k, each as a tuple of languages with one word. They all come here.
    pub(crate) fn tuples(&self, k: usize) -> Result<Tuples, Failure> {
        let mut rows = Vec::new();
        let stacks = self.gather(0, k, |shared, locals| {
            rows.push(shared);
            rows.extend_from_slice(locals);
        })?;
        Ok(Tuples::restored(&self.symmetry, (stacks.automaton(), rows, true)))
    }

    /// Whether a thread can be in this state.
    fn is_known(&self, (shared, word): &(u32, Word)) -> bool {
        let (states, symbols) = (self.system.shared_names().len(), self.system.symbol_names().len());
        (*shared as usize) < states && word.iter().all(|&symbol| (symbol as usize) < symbols)
    }

    /// About how many bytes it takes to have all states here as tuples.
    pub(crate) fn bytes_of_tuples(&self) -> usize {
        let total = self.total();
        let row = (1 + self.system.thread_count()) * size_of::<u32>();
        // A table that grows may have twice its size; and so may one of stacks, which are the
        // states of an automaton.
        (2 * row).saturating_mul(total.kept).saturating_add(total.stacks.saturating_mul(64))
    }

    /// R_k \ R_{k-1}.
    pub fn states(&self, k: usize) -> Result<BTreeSet<GlobalState>, Failure> {
        let mut sorted = Vec::new();
        let stacks = self.gather(k, k, |shared, locals| sorted.push((shared, locals.to_vec())))?;
        let members = |(shared, locals)| self.symmetry.members(locals).map(move |member| (shared, member));
        let state = |(shared, member)| {
            let by_thread = self.symmetry.by_thread(member).into_iter();
            GlobalState { shared: SharedState(shared), stacks: by_thread.map(|id| stacks.stack(id)).collect() }
        };
        Ok(sorted.into_iter().flat_map(members).map(state).collect())
    }

    /// Has all states of levels come here, one after the other: shared states, and stacks by
    /// position, sorted. Gives the stacks.
    fn gather(&self, from: usize, k: usize, mut take: impl FnMut(u32, &[StackId])) -> Result<Stacks, Failure> {
        let mut stacks = Stacks::default();
        let mut readers: Vec<Reader> = (0..self.parts.parts()).map(|_| Reader::new(self.system)).collect();
        let mut locals = Vec::new();
        let (mut is_first, mut goes_on) = (true, true);
        while goes_on {
            goes_on = false;
            let replies = self.ask(Command::States { from, k, is_first })?;
            for (part, (reply, reader)) in replies.into_iter().zip(&mut readers).enumerate() {
                let Reply::States { blocks, has_more } = reply else { return Err(Failure::Reply) };
                goes_on |= has_more;
                for block in blocks {
                    let (mut block, failure) = (&block[..], |why| Failure::Block { from: part, why });
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
impl<S: Supersteps> LevelQueries for &Shares<'_, S> {
    type Error = Failure;

    fn best(&mut self, visible: &[u64]) -> Result<TraceEnd, Failure> {
        let mut best: Option<TraceEnd> = None;
        for reply in self.ask(Command::Best { visible: visible.to_vec() })? {
            let Reply::Best(found) = reply else { return Err(Failure::Reply) };
            let found = found.map(|(level, stacks)| {
                let symbols = stacks.iter().map(|stack| stack.len() as u64).sum();
                TraceEnd { level, symbols, stacks: stacks.into_iter().map(stack).collect() }
            });
            best = best.into_iter().chain(found).min();
        }
        let best = best.filter(|best| best.stacks.len() == self.system.thread_count()).ok_or(Failure::Reply)?;
        let (mut tops, mut row) = (Vec::new(), visible.to_vec());
        tops.extend(best.stacks.iter().map(|stack| top_number(stack.top())));
        self.visible.pack(self.visible.set().layout().shared(visible), &mut tops, &mut row);
        if row == visible { Ok(best) } else { Err(Failure::Reply) }
    }

    fn starts(
        &mut self,
        level: usize,
        by_thread: &[Stack],
        threads: &[ThreadId],
    ) -> Result<Vec<Vec<ThreadStart>>, Failure> {
        let stacks = by_thread.iter().map(word).collect();
        let command = Command::Starts { level, stacks, threads: threads.iter().map(|thread| thread.0).collect() };
        let mut all = vec![Vec::new(); threads.len()];
        for reply in self.ask(command)? {
            let Reply::Starts(starts) = reply else { return Err(Failure::Reply) };
            if starts.len() != threads.len() || !starts.iter().flatten().all(|start| self.is_known(start)) {
                return Err(Failure::Reply);
            }
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

    /// None: each share has numbers of its own.
    fn stacks(&self) -> Stacks {
        Stacks::default()
    }

    fn thread_states(
        &mut self,
        level: usize,
        most: usize,
        stacks: &mut Stacks,
    ) -> Result<Vec<Vec<ThreadState>>, Failure> {
        let mut all = vec![FxHashSet::default(); self.symmetry.groups().count()];
        for reply in self.ask(Command::ThreadStates { level, most })? {
            let Reply::ThreadStates(groups) = reply else { return Err(Failure::Reply) };
            if groups.len() != all.len() || !groups.iter().flatten().all(|start| self.is_known(start)) {
                return Err(Failure::Reply);
            }
            for (all, group) in all.iter_mut().zip(groups) {
                all.extend(group.into_iter().map(|(shared, word)| (shared, stacks.intern(&stack(word)))));
            }
        }
        Ok(all.into_iter().map(|group| group.into_iter().collect()).collect())
    }

    fn near(
        &mut self,
        level: usize,
        ways: &[LastContext],
        most: usize,
        stacks: &mut Stacks,
    ) -> Result<Vec<LastContextStart>, Failure> {
        let start = |&((shared, id), steps): &(ThreadState, usize)| ((shared, word(&stacks.stack(id))), steps);
        let way = |way: &LastContext| (way.group, way.others.clone(), way.steps.iter().map(start).collect());
        let ways = ways.iter().map(way).collect();
        let mut near = Vec::new();
        for reply in self.ask(Command::Near { level, ways, most })? {
            let Reply::Near(found) = reply else { return Err(Failure::Reply) };
            for (steps, shared, words) in found {
                let is_known = |word: &Word| self.is_known(&(shared, word.clone()));
                if words.len() != self.system.thread_count() || !words.iter().all(is_known) {
                    return Err(Failure::Reply);
                }
                near.push((steps, shared, words.into_iter().map(|word| stacks.intern(&stack(word))).collect()));
            }
        }
        Ok(near)
    }

    fn levels_of(&mut self, states: &[&SortedState], stacks: &Stacks) -> Result<Vec<Option<usize>>, Failure> {
        let written = |(shared, ids): &&SortedState| {
            (*shared, ids.iter().map(|&id| word(&stacks.stack(id))).collect::<Vec<Word>>())
        };
        let mut levels = Vec::new();
        for states in states.chunks(STATES) {
            let mut found = vec![None; states.len()];
            for reply in self.ask(Command::Levels { states: states.iter().map(written).collect() })? {
                let Reply::Levels(here) = reply else { return Err(Failure::Reply) };
                if here.len() != states.len() {
                    return Err(Failure::Reply);
                }
                found.iter_mut().zip(here).for_each(|(found, here)| *found = found.or(here));
            }
            levels.extend(found);
        }
        Ok(levels)
    }
}

/// Shares in one process, one after the other.
pub struct Together<'a> {
    shares: RefCell<Vec<Share<'a>>>,
    /// What has been sent to each, and by whom.
    mail: RefCell<Vec<Received>>,
}

/// Blocks, each with who sent it.
type Received = Vec<(usize, Vec<u8>)>;

impl<'a> Together<'a> {
    /// So many shares of R_0, partitioned as this seed says.
    pub fn new(system: &'a Cpds, symmetry: bool, parts: usize, seed: u64, tuning: Tuning) -> Self {
        Self::keeping(system, symmetry, (parts, seed), None, tuning)
    }

    /// The same, with somewhere to keep them.
    pub fn keeping(
        system: &'a Cpds,
        symmetry: bool,
        (parts, seed): (usize, u64),
        store: Option<&Arc<dyn Store>>,
        tuning: Tuning,
    ) -> Self {
        let share =
            |part| Share::new(system, symmetry, Place { part, parts, seed }, tuning).within(usize::MAX, store.cloned());
        Together { shares: RefCell::new((0..parts).map(share).collect()), mail: RefCell::new(vec![Vec::new(); parts]) }
    }
}

impl Supersteps for Together<'_> {
    fn parts(&self) -> usize {
        self.shares.borrow().len()
    }

    fn here(&self) -> usize {
        self.parts()
    }

    fn superstep(&self, command: Command) -> Vec<Reply> {
        let mut shares = self.shares.borrow_mut();
        let mut next = vec![Vec::new(); shares.len()];
        let step = |(part, (share, received)): (usize, (&mut Share<'_>, _))| {
            share.step(command.clone(), received, &mut |to, block| next[to].push((part, block)))
        };
        let replies = shares.iter_mut().zip(self.mail.take()).enumerate().map(step).collect();
        self.mail.replace(next);
        replies
    }

    fn give_up(&self, _: &Failure) {}
}

#[cfg(test)]
mod tests;
