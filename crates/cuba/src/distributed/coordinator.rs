//! The coordinator: computes R_k level by level with supersteps of all shares.
//!
//! All shares begin a level or a wave in the same superstep. A wave ends when no share has pairs
//! left and no share sent a block in the last superstep. A level ends when no share has pairs for
//! another wave. The coordinator stores the visible states, in levels.
//!
//! # What may be concluded
//! The same as from `explicit/reachable.rs`: all sets, counts and traces are equal. One counter
//! differs, the number of stacks, because several shares may store the same stack.

mod state_transfer;
mod trace_queries;

use crate::distributed::protocol::messages::{Begin, Command, Counters, Failure, Reply, ShareProgress};
use crate::distributed::protocol::supersteps::Supersteps;
use crate::encoding::StorageError;
use crate::statistics::Statistics;
use crate::tuning::Tuning;
use crate::visible::count::Count;
use crate::visible::levels::{SavedVisibleLevels, VisibleLevels};
use crate::visible::symmetry::Symmetry;
use cpds::Cpds;
use serde::{Deserialize, Serialize, Serializer};
use std::cell::Cell;
use std::io;
use std::ops::ControlFlow;

/// The levels R_0 ⊆ … ⊆ R_k, with their states in shares, and T(R_0) ⊆ … ⊆ T(R_k).
pub struct Shares<'a, S> {
    system: &'a Cpds,
    symmetry: Symmetry,
    supersteps: S,
    visible: VisibleLevels,
    levels: Vec<LevelSize>,
    next: NextSuperstep,
    /// The counters of each share, by part.
    counters: Vec<Counters>,
    /// Whether the next superstep may exceed the memory limit of a share.
    is_full: bool,
    superstep_count: Cell<u64>,
    superstep_steps: u64,
    /// The level of the last complete checkpoint, if there is one.
    checkpoint_level: Cell<Option<usize>>,
    is_lost: Cell<bool>,
}

/// The number of new states of a level.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct LevelSize {
    new_states: Count,
    has_new_states: bool,
}

/// The coordinator in a checkpoint: the number of parts, the sizes of the levels, and the visible
/// states. The states are in the checkpoints of the shares.
pub(crate) type SavedShares = (usize, Vec<LevelSize>, SavedVisibleLevels);

impl<S: Supersteps> Serialize for Shares<'_, S> {
    fn serialize<Out: Serializer>(&self, serializer: Out) -> Result<Out::Ok, Out::Error> {
        (self.supersteps.parts(), &self.levels, self.visible.saved()).serialize(serializer)
    }
}

/// The next superstep of the computation of levels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum NextSuperstep {
    /// Begins a level. The last level is complete.
    BeginLevel,
    /// Continues the wave.
    ContinueWave,
    /// Begins the next wave. The last wave is complete.
    BeginWave,
    /// Ends the level. Its last wave is complete.
    EndLevel,
}

/// Why a level is incomplete.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Interrupted<B> {
    /// The watcher stopped the computation.
    Stopped(B),
    /// A share failed. No share can continue.
    Failed(Failure),
}

impl<B> From<Failure> for Interrupted<B> {
    fn from(failure: Failure) -> Self {
        Interrupted::Failed(failure)
    }
}

impl<'a, S: Supersteps> Shares<'a, S> {
    /// Computes R_0. The shares are new, and have the same system and the same symmetry.
    pub fn new(system: &'a Cpds, symmetry: bool, supersteps: S, tuning: Tuning) -> Result<Self, Failure> {
        let symmetry = Symmetry::new(system, symmetry);
        let mut shares = Shares {
            system,
            visible: VisibleLevels::new(system, &symmetry),
            symmetry,
            levels: Vec::new(),
            next: NextSuperstep::EndLevel,
            counters: vec![Counters::default(); supersteps.parts()],
            supersteps,
            is_full: false,
            superstep_count: Cell::new(0),
            superstep_steps: tuning.superstep_steps,
            checkpoint_level: Cell::new(None),
            is_lost: Cell::new(false),
        };
        shares.end_level()?;
        Ok(shares)
    }

    /// Restores the coordinator and all shares from their checkpoints.
    pub(crate) fn restored(
        system: &'a Cpds,
        symmetry: bool,
        supersteps: S,
        saved: SavedShares,
        tuning: Tuning,
    ) -> Result<Self, Failure> {
        let (count, levels, visible) = saved;
        let symmetry = Symmetry::new(system, symmetry);
        if count != supersteps.parts() {
            let why = format!("there were {count} parts, and now there are {}", supersteps.parts());
            return Err(Failure::Restore { part: 0, why });
        }
        let k = levels.len().saturating_sub(1);
        let mut shares = Shares {
            system,
            visible: VisibleLevels::restored(&symmetry, visible),
            symmetry,
            levels,
            next: NextSuperstep::BeginLevel,
            counters: vec![Counters::default(); count],
            supersteps,
            is_full: false,
            superstep_count: Cell::new(0),
            superstep_steps: tuning.superstep_steps,
            checkpoint_level: Cell::new(Some(k)),
            is_lost: Cell::new(false),
        };
        for (part, reply) in shares.superstep(Command::Restore { k })?.into_iter().enumerate() {
            let Reply::Storage(restored) = reply else { return Err(Failure::Reply) };
            restored.map_err(|why| Failure::Restore { part, why })?;
        }
        // Another size of the last level means that the shares are of another run.
        let level = shares.levels.pop().ok_or(Failure::Reply)?;
        shares.end_level()?;
        if shares.levels.last() == Some(&level) {
            Ok(shares)
        } else {
            Err(Failure::Restore { part: 0, why: "the checkpoints of the parts are of another run".to_owned() })
        }
    }

    /// Saves the checkpoints of all shares. The last level is complete.
    pub(crate) fn save(&self) -> Result<(), StorageError> {
        let command = Command::Save { k: self.k(), complete: self.checkpoint_level.get() };
        for (part, reply) in self.superstep(command).map_err(io::Error::other)?.into_iter().enumerate() {
            let Reply::Storage(saved) = reply else { return Err(io::Error::other(Failure::Reply)) };
            saved.map_err(|why| io::Error::other(format!("part {part}: {why}")))?;
        }
        Ok(())
    }

    /// Records that the checkpoint of this level is complete. The shares may delete earlier ones.
    pub(crate) fn confirm_saved(&self) {
        self.checkpoint_level.set(Some(self.k()));
    }

    /// Ends the run in all processes because a share failed.
    pub(crate) fn give_up(&self, why: &Failure) {
        self.is_lost.set(true);
        self.supersteps.give_up(why);
    }

    /// Returns whether a share failed.
    pub(crate) fn is_lost(&self) -> bool {
        self.is_lost.get()
    }

    /// Computes the next level. Calls `watch` after each superstep; `watch` may stop the
    /// computation.
    ///
    /// # Errors
    /// If the level is incomplete. If `watch` stopped it, its states stay stored, and the next call
    /// continues it.
    pub fn advance<B>(&mut self, watch: &mut impl FnMut(&Self) -> ControlFlow<B>) -> Result<(), Interrupted<B>> {
        loop {
            let begin = match self.next {
                NextSuperstep::BeginLevel => Begin::Level,
                NextSuperstep::BeginWave => Begin::Wave,
                NextSuperstep::ContinueWave => Begin::Nothing,
                NextSuperstep::EndLevel => return Ok(self.end_level()?),
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

    /// Runs one superstep of a wave, and decides the next superstep.
    fn expand(&mut self, begin: Begin) -> Result<(), Failure> {
        let (mut wave_continues, mut has_next_wave) = (false, false);
        self.is_full = false;
        let command = Command::Expand { begin, steps: self.superstep_steps };
        for (part, reply) in self.superstep(command)?.into_iter().enumerate() {
            let Reply::Expanded { has_more, has_next, blocks, progress } = reply else { return Err(Failure::Reply) };
            wave_continues |= has_more || blocks > 0;
            has_next_wave |= has_next;
            self.record(part, &progress)?;
        }
        self.next = match (wave_continues, has_next_wave) {
            (true, _) => NextSuperstep::ContinueWave,
            (false, true) => NextSuperstep::BeginWave,
            (false, false) => NextSuperstep::EndLevel,
        };
        Ok(())
    }

    /// Ends the level in all shares, and stores its size.
    fn end_level(&mut self) -> Result<(), Failure> {
        let mut size = LevelSize { new_states: Count::ZERO, has_new_states: false };
        self.is_full = false;
        for (part, reply) in self.superstep(Command::EndLevel)?.into_iter().enumerate() {
            let Reply::LevelEnded { new_states, has_new_states, progress } = reply else { return Err(Failure::Reply) };
            size.new_states = size.new_states + new_states;
            size.has_new_states |= has_new_states;
            self.record(part, &progress)?;
        }
        self.levels.push(size);
        self.next = NextSuperstep::BeginLevel;
        Ok(())
    }

    /// Stores the visible states and the counters that a share reports.
    fn record(
        &mut self,
        part: usize,
        ShareProgress { visible, counters, is_full }: &ShareProgress,
    ) -> Result<(), Failure> {
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

    /// Runs one superstep. Returns the replies, or the first failure of a share.
    fn superstep(&self, command: Command) -> Result<Vec<Reply>, Failure> {
        self.superstep_count.set(self.superstep_count.get() + 1);
        let replies = self.supersteps.superstep(command);
        let failure = replies.iter().find_map(|reply| if let Reply::Failed(why) = reply { Some(why) } else { None });
        failure.cloned().map_or(Ok(replies), Err)
    }

    /// Returns whether the next superstep may exceed the memory limit of a share.
    pub(crate) fn is_full(&self) -> bool {
        self.is_full
    }

    /// Returns the last complete level.
    pub fn k(&self) -> usize {
        self.levels.len() - 1
    }

    /// Returns whether the next level has begun and is incomplete.
    pub fn has_incomplete_level(&self) -> bool {
        self.next != NextSuperstep::BeginLevel
    }

    /// Returns whether the last wave is complete. Then the states found so far depend neither on an
    /// order nor on the partition.
    pub fn is_between_waves(&self) -> bool {
        self.next != NextSuperstep::ContinueWave
    }

    /// Returns T(R_0) ⊆ … ⊆ T(R_k), then the visible states of an incomplete level.
    pub fn visible(&self) -> &VisibleLevels {
        &self.visible
    }

    /// Returns whether R_k \ R_{k-1} is not empty. The level is complete.
    pub fn has_new_states(&self, k: usize) -> bool {
        self.levels[k].has_new_states
    }

    /// Returns |R_k \ R_{k-1}|. The level is complete.
    pub fn new_states(&self, k: usize) -> Count {
        self.levels[k].new_states
    }

    /// Returns the counters of each share, by part.
    pub fn counters(&self) -> &[Counters] {
        &self.counters
    }

    /// Returns the sum of the counters of all shares.
    pub fn total(&self) -> Counters {
        let mut total = Counters::default();
        self.counters.iter().for_each(|&counters| total += counters);
        total
    }

    /// Returns the memory in use for the shares of other processes, in bytes.
    pub(crate) fn bytes_elsewhere(&self) -> usize {
        self.counters.iter().skip(self.supersteps.local_parts()).map(|counters| counters.bytes).sum()
    }

    /// Returns the number of supersteps so far.
    pub fn supersteps(&self) -> u64 {
        self.superstep_count.get()
    }

    /// Returns the counters of the levels so far.
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
}
