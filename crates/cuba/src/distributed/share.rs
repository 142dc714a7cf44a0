//! One share of the states of R_k, and what it does in each superstep.
//!
//! A share is an exploration (`explicit/reachable.rs`) that stores only the states that its part
//! owns. It sends other states to their owners (`explicit/partition/outbox.rs`). A superstep takes
//! a command and the blocks that other shares sent in the superstep before. It returns a reply and
//! the blocks to send. The coordinator (`distributed/coordinator.rs`) decides the commands.
//!
//! # Invariant
//! A wave ends when no share has pairs left and no block is in transit. Then all shares together
//! have the states that one exploration has after this wave. This holds for every partition,
//! because the states of a wave do not depend on the order of the exploration.

pub mod checkpoint;
mod query_replies;

use crate::distributed::protocol::messages::{Begin, Command, Counters, Failure, Reply, ShareProgress};
use crate::distributed::share::checkpoint::ShareStore;
use crate::explicit::partition::owner::PartId;
use crate::explicit::partition::wire_format::{Malformed, Reader, Writer};
use crate::explicit::reachable::Reachable;
use crate::explicit::tables::system_ref::SystemRef;
use crate::tuning::Tuning;
use std::sync::Arc;

/// The states that one part owns.
pub struct Share<'a> {
    reachable: Reachable<'a>,
    part: PartId,
    tuning: Tuning,
    /// The memory limit, in bytes.
    memory_limit: usize,
    store: Option<Arc<dyn ShareStore>>,
    /// For each part, the reader of its blocks.
    readers: Vec<Reader>,
    /// The number of visible states that were reported to the coordinator.
    reported_visible: usize,
    /// The writer of the blocks for [`Command::ReadStates`].
    state_writer: Writer,
    /// The next state to write.
    next_state: usize,
}

impl<'a> Share<'a> {
    /// Creates the share of R_0 at this place of the partition.
    pub fn new(system: impl Into<SystemRef<'a>>, symmetry: bool, part: PartId, tuning: Tuning) -> Self {
        let system = system.into();
        Share {
            part,
            tuning,
            memory_limit: usize::MAX,
            store: None,
            readers: (0..part.parts).map(|_| Reader::new(&system)).collect(),
            reachable: Reachable::of_part(Some(part), &system, symmetry, tuning),
            reported_visible: 0,
            state_writer: Writer::new(tuning),
            next_state: 0,
        }
    }

    /// Sets the memory limit in bytes, and the store for checkpoints.
    #[must_use]
    pub fn with_limit_and_store(self, memory_limit: usize, store: Option<Arc<dyn ShareStore>>) -> Self {
        Share { memory_limit, store, ..self }
    }

    /// Runs one superstep and returns the reply to the command.
    ///
    /// `received` has the blocks from the superstep before, each with the number of its sender:
    /// sorted by sender, and then in the order of sending. `send` takes the number of a part and a
    /// block for it.
    pub fn step(
        &mut self,
        command: Command,
        received: Vec<(usize, Vec<u8>)>,
        send: &mut dyn FnMut(usize, Vec<u8>),
    ) -> Reply {
        for (from, block) in received {
            if let Err(why) = self.receive(from, &block) {
                return Reply::Failed(Failure::Block { from, why });
            }
        }
        self.reachable.look_up();
        self.run(command, send).unwrap_or(Reply::Failed(Failure::Command))
    }

    /// Stores the states of a block.
    fn receive(&mut self, from: usize, block: &[u8]) -> Result<(), Malformed> {
        if !self.reachable.has_incomplete_level() {
            return Err(Malformed::NotNow);
        }
        let reader = self.readers.get_mut(from).ok_or(Malformed::Unknown)?;
        self.reachable.receive(reader, block)
    }

    /// Runs a command. Returns `None` if it is invalid, or invalid at this time.
    fn run(&mut self, command: Command, send: &mut dyn FnMut(usize, Vec<u8>)) -> Option<Reply> {
        match command {
            Command::Expand { begin, steps } => self.expand(begin, steps, send),
            Command::EndLevel => Some(self.end_level()),
            Command::FindTraceEnd { visible } => Some(self.trace_end(&visible)),
            Command::FindContextStarts { level, stacks, threads } => self.context_starts(level, stacks, &threads),
            Command::FindThreadStates { level, most } => self.thread_states(level, most),
            Command::FindLastContextStarts { level, contexts, most } => self.last_context_starts(level, contexts, most),
            Command::FindLevels { states } => self.levels_of(states),
            Command::ReadStates { from, k, is_first } => self.read_states(from, k, is_first),
            Command::Save { k, complete } => self.save(k, complete),
            Command::Restore { k } => Some(self.restore(k)),
        }
    }

    /// Takes about so many steps of a wave, and sends the states of other parts.
    fn expand(&mut self, begin: Begin, steps: u64, send: &mut dyn FnMut(usize, Vec<u8>)) -> Option<Reply> {
        let reachable = &mut self.reachable;
        match begin {
            Begin::Level if !reachable.has_incomplete_level() => reachable.start_level(),
            Begin::Wave if reachable.has_incomplete_level() && reachable.is_between_waves() => reachable.start_wave(),
            Begin::Nothing if reachable.has_incomplete_level() => {}
            _ => return None,
        }
        reachable.expand_for(steps);
        let mut blocks = 0;
        reachable.outbox_mut().take(|to, block| {
            blocks += 1;
            send(to, block);
        });
        let has_more = !reachable.is_between_waves();
        let has_next = reachable.has_next_wave();
        Some(Reply::Expanded { has_more, has_next, blocks, progress: self.progress(steps) })
    }

    /// Ends the level, and counts its new states.
    fn end_level(&mut self) -> Reply {
        self.reachable.end_level();
        let k = self.reachable.k();
        let (new_states, has_new_states) = (self.reachable.new_states(k), self.reachable.has_new_states(k));
        Reply::LevelEnded { new_states, has_new_states, progress: self.progress(0) }
    }

    /// Returns the progress since the last report. The next superstep takes about so many steps.
    fn progress(&mut self, steps: u64) -> ShareProgress {
        self.reachable.project();
        let set = self.reachable.visible().set();
        let visible = (self.reported_visible..set.len()).flat_map(|id| set.row(id)).copied().collect();
        self.reported_visible = set.len();
        let outbox = self.reachable.outbox();
        let more = outbox.bytes() + self.readers.iter().map(Reader::bytes).sum::<usize>();
        // The share receives about as many states as it finds, and hardly twice as many.
        let steps = usize::try_from(steps).unwrap_or(usize::MAX).saturating_mul(2 * self.part.parts.min(2));
        let counters = Counters {
            kept: self.reachable.kept(),
            expansions: self.reachable.expansions(),
            stacks: self.reachable.stack_count(),
            highest: self.reachable.highest(),
            bytes: self.reachable.bytes().saturating_add(more),
            sent: outbox.sent(),
        };
        let is_full = self.reachable.bytes_after(steps).saturating_add(more) > self.memory_limit;
        ShareProgress { visible, counters, is_full }
    }
}
