//! One share of the states of R_k: those that belong to one part of a run on many machines.
//!
//! A share is an exploration (`explicit/reachable.rs`) that keeps only its own states; what others'
//! states it comes by it sends to them (`explicit/outbox.rs`). All shares do the same at the same
//! time, in *supersteps*: each gets a command, and what was sent to it in the superstep before; it
//! answers, and what it sends arrives before the next superstep. Who says what to do is in
//! `distributed/coordinator.rs`.
//!
//! # What is the same
//! A wave ends when nobody has pairs left and nothing is under way. What it has reached is then
//! what one exploration has after this wave: that depends on no order, and so on no partition.
//! Nothing is told that depends on numbers of states or stacks.

use crate::encoding::{StorageError, read, write};
use crate::explicit::partition::owner::Place;
use crate::explicit::partition::wire_format::{Malformed, Reader, Sent, Writer};
use crate::explicit::reachable::{Reachable, SavedReachable};
use crate::explicit::stack_table::StackId;
use crate::trace::backwards::ThreadStart;
use crate::trace::last_context::{LastContext, LastContextStart};
use crate::tuning::Tuning;
use crate::visible::count::Count;
use cpds::{Cpds, Stack, Symbol, ThreadId};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};
use std::io::{Read, Write};
use std::sync::Arc;

/// The states of one part.
pub struct Share<'a> {
    reachable: Reachable<'a>,
    place: Place,
    tuning: Tuning,
    /// How many bytes it may take.
    room: usize,
    store: Option<Arc<dyn Store>>,
    /// For each part, what it sends.
    readers: Vec<Reader>,
    /// How many visible states have been told.
    told: usize,
    /// What is being sent of the states to whoever asked for all of them, and the next one.
    gathered: (Writer, usize),
}

/// Where shares keep what they have between levels.
pub trait Store: Send + Sync {
    /// Keeps what is written of a part, after level k. What was kept before is removed, but for
    /// that of the level `but`.
    fn keep(
        &self,
        part: usize,
        k: usize,
        but: Option<usize>,
        write: &dyn Fn(&mut dyn Write) -> Result<(), StorageError>,
    ) -> Result<(), String>;

    /// Reads what was kept of a part after level k.
    fn read(
        &self,
        part: usize,
        k: usize,
        read: &mut dyn FnMut(&mut dyn Read) -> Result<(), StorageError>,
    ) -> Result<(), String>;
}

/// What all shares are to do.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Command {
    /// Take about so many steps of the wave.
    Expand {
        /// What is to be begun before.
        begin: Begin,
        /// How many steps; what is sent is bounded by it.
        steps: u64,
    },
    /// The level is over; or there is only level 0.
    EndLevel,
    /// Find the best state with this visible state, as a row.
    Best {
        /// The row.
        visible: Vec<u64>,
    },
    /// Find the thread states of threads in the states of a level that have all other stacks as
    /// they are here.
    Starts {
        /// The level.
        level: usize,
        /// The stacks, by thread.
        stacks: Vec<Word>,
        /// The threads.
        threads: Vec<u32>,
    },
    /// Find the thread states of all threads in the states of a level.
    ThreadStates {
        /// The level.
        level: usize,
        /// More than so many need not be told.
        most: usize,
    },
    /// Find the states of a level that can become bad in one of these ways.
    Near {
        /// The level.
        level: usize,
        /// The ways.
        ways: Vec<WrittenWay>,
        /// More than so many need not be told.
        most: usize,
    },
    /// Find the levels of states.
    Levels {
        /// The states, with their stacks by position.
        states: Vec<(u32, Vec<Word>)>,
    },
    /// Tell the states of levels, a few blocks at a time.
    States {
        /// The first level.
        from: usize,
        /// The last level.
        k: usize,
        /// Whether the first block is wanted, or the next.
        is_first: bool,
    },
    /// Keep what there is after level k, the last one.
    Keep {
        /// k.
        k: usize,
        /// The level after which everyone has kept everything, if there is one.
        but: Option<usize>,
    },
    /// Go on from what was kept after level k.
    Restore {
        /// k.
        k: usize,
    },
}

/// What is begun.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Begin {
    /// The next level, and its first wave.
    Level,
    /// The next wave.
    Wave,
    /// Nothing: the wave goes on.
    Nothing,
}

/// A stack, top first.
pub type Word = Vec<u32>;

/// How a state can become bad by a context of one thread: the group of the thread; of which groups
/// which tops are wanted how often; and where the thread may start, with how many steps. A group is
/// named by its first position.
pub type WrittenWay = (usize, Vec<(usize, u32, usize)>, Vec<((u32, Word), usize)>);

/// What a share answers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Reply {
    /// To [`Command::Expand`].
    Expanded {
        /// Whether there are pairs left in the wave.
        has_more: bool,
        /// Whether there is anything for the next wave.
        has_next: bool,
        /// How many blocks were sent.
        blocks: u64,
        /// What else there is to see.
        seen: Seen,
    },
    /// To [`Command::EndLevel`].
    Level {
        /// How many states are new at this level.
        new_states: Count,
        /// Whether there are any.
        has_new_states: bool,
        /// What else there is to see.
        seen: Seen,
    },
    /// To [`Command::Best`]: its level, and its stacks by position; if there is one.
    Best(Option<(usize, Vec<Word>)>),
    /// To [`Command::Starts`], for each thread: shared states and stacks, in order.
    Starts(Vec<Vec<(u32, Word)>>),
    /// To [`Command::ThreadStates`], for each group.
    ThreadStates(Vec<Vec<(u32, Word)>>),
    /// To [`Command::Near`]: how many steps, and the state, with its stacks by position.
    Near(Vec<(usize, u32, Vec<Word>)>),
    /// To [`Command::Levels`].
    Levels(Vec<Option<usize>>),
    /// To [`Command::States`].
    States {
        /// States, and their stacks.
        blocks: Vec<Vec<u8>>,
        /// Whether there are more.
        has_more: bool,
    },
    /// To [`Command::Keep`] and [`Command::Restore`]: if it was not possible, why.
    Kept(Result<(), String>),
    /// It cannot go on.
    Failed(Failure),
}

/// What can be seen of a share.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Seen {
    /// Visible states that this share has not told before, as rows.
    pub visible: Vec<u64>,
    /// What it took so far.
    pub counters: Counters,
    /// Whether the next superstep may take more memory than there is.
    pub is_full: bool,
}

/// What a share took so far, or all shares.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Counters {
    /// States kept.
    pub kept: usize,
    /// Steps taken.
    pub expansions: u64,
    /// Stacks kept, ε included. Several shares may have the same.
    pub stacks: usize,
    /// The height of the highest stack.
    pub highest: u32,
    /// The memory in use.
    pub bytes: usize,
    /// What was sent.
    pub sent: Sent,
}

/// Why a share cannot go on.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Failure {
    /// Something is wrong with a block.
    Block {
        /// Who sent it.
        from: usize,
        /// What is wrong.
        why: Malformed,
    },
    /// A command that makes no sense, or not now.
    Command,
    /// An answer to another question.
    Reply,
    /// There is nothing to go on from.
    Restore {
        /// Who should have it.
        part: usize,
        /// Why there is nothing.
        why: String,
    },
}

impl Display for Failure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Block { from, why } => write!(f, "part {from} sent {why}"),
            Failure::Command => f.write_str("a part was told to do what it cannot do"),
            Failure::Reply => f.write_str("a part did not answer what it was asked"),
            Failure::Restore { part, why } => write!(f, "part {part} cannot go on: {why}"),
        }
    }
}

impl std::error::Error for Failure {}

impl std::ops::AddAssign for Counters {
    fn add_assign(&mut self, other: Counters) {
        self.kept += other.kept;
        self.expansions += other.expansions;
        self.stacks += other.stacks;
        self.highest = self.highest.max(other.highest);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.sent += other.sent;
    }
}

/// How many blocks of states are told at a time.
const BLOCKS: usize = 16;

impl<'a> Share<'a> {
    /// What belongs to this place of R_0.
    pub fn new(system: &'a Cpds, symmetry: bool, place: Place, tuning: Tuning) -> Self {
        Share {
            reachable: Reachable::at(Some(place), system, symmetry, tuning),
            place,
            tuning,
            room: usize::MAX,
            store: None,
            readers: (0..place.parts).map(|_| Reader::new(system)).collect(),
            told: 0,
            gathered: (Writer::new(tuning), 0),
        }
    }

    /// The same, with so many bytes of memory, and somewhere to keep it.
    #[must_use]
    pub fn within(self, room: usize, store: Option<Arc<dyn Store>>) -> Self {
        Share { room, store, ..self }
    }

    /// One superstep: what is to be done, and what has been sent to this share in the superstep
    /// before, with who sent it: by sender, and then in the order in which it was sent. What is
    /// given to `send` is for that part.
    pub fn step(
        &mut self,
        command: Command,
        received: Vec<(usize, Vec<u8>)>,
        send: &mut dyn FnMut(usize, Vec<u8>),
    ) -> Reply {
        for (from, block) in received {
            if let Err(why) = self.take_in(from, &block) {
                return Reply::Failed(Failure::Block { from, why });
            }
        }
        self.reachable.look_up();
        self.answer(command, send).unwrap_or(Reply::Failed(Failure::Command))
    }

    /// Takes in the states of a block.
    fn take_in(&mut self, from: usize, block: &[u8]) -> Result<(), Malformed> {
        if !self.reachable.has_incomplete_level() {
            return Err(Malformed::NotNow);
        }
        let reader = self.readers.get_mut(from).ok_or(Malformed::Unknown)?;
        self.reachable.receive(reader, block)
    }

    /// Does what is to be done; none if that cannot be done.
    fn answer(&mut self, command: Command, send: &mut dyn FnMut(usize, Vec<u8>)) -> Option<Reply> {
        match command {
            Command::Expand { begin, steps } => self.expand(begin, steps, send),
            Command::EndLevel => {
                self.reachable.end_level();
                let k = self.reachable.k();
                let (new_states, has_new_states) = (self.reachable.new_states(k), self.reachable.has_new_states(k));
                Some(Reply::Level { new_states, has_new_states, seen: self.seen(0) })
            }
            Command::Best { visible } => {
                let best = self.reachable.best_state(&visible);
                Some(Reply::Best(best.map(|best| (best.level, best.stacks.iter().map(word).collect()))))
            }
            Command::Starts { level, stacks, threads } => {
                let count = self.reachable.system().thread_count();
                let is_known = |&thread: &u32| (thread as usize) < count;
                if level >= self.reachable.level_count() || stacks.len() != count || !threads.iter().all(is_known) {
                    return None;
                }
                let stacks: Vec<Stack> = stacks.into_iter().map(stack).collect();
                let written = |(shared, stack): &ThreadStart| (*shared, word(stack));
                let starts = |thread| self.reachable.starts_of(level, &stacks, ThreadId(thread));
                let starts = threads.into_iter().map(|thread| starts(thread).iter().map(written).collect());
                Some(Reply::Starts(starts.collect()))
            }
            Command::ThreadStates { level, most } => {
                let reachable = &self.reachable;
                (level < reachable.level_count()).then(|| {
                    let written = |(shared, id)| (shared, word(&reachable.stacks().stack(id)));
                    let groups = reachable.thread_states(level, most).into_iter();
                    Reply::ThreadStates(groups.map(|group| group.into_iter().map(written).collect()).collect())
                })
            }
            Command::Near { level, ways, most } => {
                let is_group = |&group: &usize| self.reachable.symmetry().groups().any(|known| known.start == group);
                let is_known = |(group, others, _): &WrittenWay| {
                    is_group(group) && others.iter().all(|(group, ..)| is_group(group))
                };
                (level < self.reachable.level_count() && ways.iter().all(is_known))
                    .then(|| self.near(level, ways, most))
            }
            Command::Levels { states } => {
                let count = self.reachable.system().thread_count();
                let is_known = |(shared, stacks): &(u32, Vec<Word>)| {
                    (*shared as usize) < self.reachable.system().shared_names().len() && stacks.len() == count
                };
                states.iter().all(is_known).then(|| {
                    Reply::Levels(states.into_iter().map(|(shared, stacks)| self.level_of(shared, stacks)).collect())
                })
            }
            Command::States { from, k, is_first } => {
                (from <= k && k < self.reachable.level_count()).then(|| self.gather(from, k, is_first))
            }
            Command::Keep { k, but } => {
                let is_now = !self.reachable.has_incomplete_level() && self.reachable.k() == k;
                is_now.then(|| Reply::Kept(self.keep(k, but)))
            }
            Command::Restore { k } => Some(Reply::Kept(self.restore(k))),
        }
    }

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
        Some(Reply::Expanded { has_more, has_next, blocks, seen: self.seen(steps) })
    }

    /// What there is to see, if the next superstep takes so many steps.
    fn seen(&mut self, steps: u64) -> Seen {
        self.reachable.project();
        let set = self.reachable.visible().set();
        let visible = (self.told..set.len()).flat_map(|id| set.row(id)).copied().collect();
        self.told = set.len();
        let outbox = self.reachable.outbox();
        let more = outbox.bytes() + self.readers.iter().map(Reader::bytes).sum::<usize>();
        // What comes from others is as much as what is found here, though hardly twice as much.
        let steps = usize::try_from(steps).unwrap_or(usize::MAX).saturating_mul(2 * self.place.parts.min(2));
        let counters = Counters {
            kept: self.reachable.kept(),
            expansions: self.reachable.expansions(),
            stacks: self.reachable.stack_count(),
            highest: self.reachable.highest(),
            bytes: self.reachable.bytes().saturating_add(more),
            sent: outbox.sent(),
        };
        let is_full = self.reachable.bytes_after(steps).saturating_add(more) > self.room;
        Seen { visible, counters, is_full }
    }

    /// The states of a level that can become bad in these ways.
    fn near(&self, level: usize, ways: Vec<WrittenWay>, most: usize) -> Reply {
        let stacks = self.reachable.stacks();
        // A stack that is not known is in no state.
        let here = |((shared, word), steps): ((u32, Word), usize)| Some(((shared, stacks.find(&stack(word))?), steps));
        let way = |(group, others, steps): WrittenWay| LastContext {
            group,
            others,
            steps: steps.into_iter().filter_map(here).collect(),
        };
        let near = self.reachable.near(level, &ways.into_iter().map(way).collect::<Vec<_>>(), most);
        let written = |(steps, shared, ids): LastContextStart| {
            (steps, shared, ids.into_iter().map(|id| word(&stacks.stack(id))).collect())
        };
        Reply::Near(near.into_iter().map(written).collect())
    }

    /// The level of a state, if it is here.
    fn level_of(&self, shared: u32, stacks: Vec<Word>) -> Option<usize> {
        let known = stacks.into_iter().map(|word| self.reachable.stacks().find(&stack(word)));
        let mut known = known.collect::<Option<Vec<StackId>>>()?;
        self.reachable.symmetry().sort(&mut known);
        self.reachable.level_of(shared, &known)
    }

    fn keep(&self, k: usize, but: Option<usize>) -> Result<(), String> {
        let store = self.store.as_ref().ok_or("it was not told where")?;
        store.keep(self.place.part, k, but, &|out| write(&(self.place, &self.reachable), out))
    }

    /// What others have been told of stacks is forgotten, by all at once.
    fn restore(&mut self, k: usize) -> Result<(), String> {
        let store = self.store.clone().ok_or("it was not told where from")?;
        let mut saved: Option<(Place, SavedReachable)> = None;
        store.read(self.place.part, k, &mut |input| {
            saved = Some(read(input)?);
            Ok(())
        })?;
        let (place, saved) = saved.ok_or("nothing was kept")?;
        if place != self.place {
            return Err("what was kept is of another partition".to_owned());
        }
        let (system, symmetry) = (self.reachable.system(), self.reachable.symmetry().has_groups());
        let reachable = Reachable::restored(Some(self.place), system, symmetry, saved, self.tuning);
        if reachable.k() != k || reachable.has_incomplete_level() {
            return Err("what was kept is of another level".to_owned());
        }
        self.told = reachable.visible().kept();
        self.reachable = reachable;
        self.readers = (0..place.parts).map(|_| Reader::new(system)).collect();
        Ok(())
    }

    /// The next blocks of the states of levels.
    fn gather(&mut self, from: usize, k: usize, is_first: bool) -> Reply {
        if is_first {
            self.gathered = (Writer::new(self.tuning), self.reachable.range(from).start);
        }
        let (writer, next) = &mut self.gathered;
        let (states, end) = (self.reachable.sorted_states(), self.reachable.range(k).end);
        while *next < end && writer.len() <= BLOCKS {
            let (layout, row) = (states.layout(), states.row(*next));
            writer.state(self.reachable.stacks(), layout.shared(row), || layout.locals(row), 0);
            *next += 1;
        }
        Reply::States { blocks: writer.take().collect(), has_more: *next < end }
    }
}

/// A stack, top first.
pub(crate) fn word(stack: &Stack) -> Word {
    stack.iter().map(|symbol| symbol.0).collect()
}

/// The stack with these symbols, top first.
pub(crate) fn stack(word: Word) -> Stack {
    Stack::from_top(word.into_iter().map(Symbol))
}
