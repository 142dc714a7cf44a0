//! Which combinations of a shared state and a frame there can be: a thread-modular exploration.
//!
//! Each program is explored by itself: its own steps, and between them any change of the shared state that another thread was seen to make.
//! What lies under a frame is forgotten, up to the function that it called: a return goes back to everyone who has called that function. So every
//! combination that a run can have is found, and with it every action that can fire; and some that cannot, which do no harm.

use crate::state::{Frame, FrameKind, Section, Shared};
use crate::step::{Effect, Machine};
use cpds::limits;
use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

type Table<T> = IndexSet<T, FxBuildHasher>;

/// What a program's threads can do.
pub(crate) struct Unfolded {
    /// Shared states, the initial one first.
    pub(crate) shared: Table<Shared>,
    pub(crate) frames: Table<Frame>,
    /// The actions of each program.
    pub(crate) actions: Vec<Vec<Unfold>>,
}

/// An action, by numbers of shared states and frames: (from,top) → (to,written), top first; without a top, from the empty stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Unfold {
    pub(crate) from: u32,
    pub(crate) top: Option<u32>,
    pub(crate) to: u32,
    pub(crate) written: [Option<u32>; 2],
}

/// Many more than there may be actions: most combinations have one at least.
const MOST_COMBINATIONS: u64 = 2 * limits::ACTIONS;

/// A program: where its threads start, and how many there are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Role {
    pub(crate) start: RoleStart,
    pub(crate) copies: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum RoleStart {
    /// With this function.
    Root(usize),
    /// With what is created, by this pool.
    Pool(u32),
}

/// The system would be larger than this.
pub(crate) struct TooLarge {
    pub(crate) what: &'static str,
    pub(crate) limit: u64,
}

struct Exploration<'m, 'a> {
    machine: &'m Machine<'a>,
    shared: Table<Shared>,
    frames: Table<Frame>,
    programs: Vec<Explored>,
    /// How many combinations there are.
    found: u64,
    /// Combinations that are still to be looked at: program, shared state, frame.
    queue: Vec<(usize, u32, u32)>,
}

/// One program.
struct Explored {
    role: Role,
    found: Pairs,
    /// For each shared state, the frames that were found with it.
    frames_with: Vec<Vec<u32>>,
    /// Changes of the shared state that its own threads make.
    changes: FxHashSet<(u32, u32)>,
    /// For each shared state, what others make of it.
    others: Vec<Vec<u32>>,
    /// The changes that others make, as a set.
    known: FxHashSet<(u32, u32)>,
    /// For each function, who awaits its return, and the shared states in which it returns.
    awaiting: FxHashMap<Returning, (Table<u32>, Table<u32>)>,
    actions: Vec<Unfold>,
}

/// A set of pairs of a shared state and a frame: for each frame, 64 shared states a word. Where there are many, they are close to each other, and
/// nearly all of the questions are about pairs that are there.
#[derive(Default)]
struct Pairs(FxHashMap<(u32, u32), u64>);

impl Pairs {
    /// Adds a pair; whether it is new.
    fn insert(&mut self, shared: u32, frame: u32) -> bool {
        let (word, bit) = (self.0.entry((frame, shared >> 6)).or_default(), 1 << (shared & 63));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }
}

/// A return: of which function, and of what kind of thread.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Returning {
    function: usize,
    is_atomic: bool,
    held: u32,
}

/// Explores all programs.
pub(crate) fn unfold(machine: &Machine<'_>, roles: &[Role]) -> Result<Unfolded, TooLarge> {
    let explored = |&role: &Role| Explored {
        role,
        found: Pairs::default(),
        frames_with: Vec::new(),
        changes: FxHashSet::default(),
        others: Vec::new(),
        known: FxHashSet::default(),
        awaiting: FxHashMap::default(),
        actions: Vec::new(),
    };
    let (shared, frames) = (Table::default(), Table::default());
    let programs = roles.iter().map(explored).collect();
    let mut exploration = Exploration { machine, shared, frames, programs, found: 0, queue: Vec::new() };
    exploration.run()?;
    let Exploration { shared, frames, programs, .. } = exploration;
    Ok(Unfolded { shared, frames, actions: programs.into_iter().map(|program| program.actions).collect() })
}

impl Exploration<'_, '_> {
    fn run(&mut self) -> Result<(), TooLarge> {
        let initial = self.number(self.machine.initial())?;
        for program in 0..self.programs.len() {
            if let RoleStart::Root(function) = self.programs[program].role.start {
                let frame = self.machine.first_frame(function, FrameKind::Root);
                let frame = self.frame(frame)?;
                self.add(program, initial, frame);
            }
        }
        let mut for_pools = 0;
        loop {
            while let Some((program, shared, frame)) = self.queue.pop() {
                limited("combinations of shared states and places", self.found, MOST_COMBINATIONS)?;
                self.expand(program, shared, frame)?;
            }
            // A thread that has not started, or has ended, is there with every shared state.
            if for_pools == self.shared.len() {
                return Ok(());
            }
            self.start_in(for_pools)?;
            for_pools += 1;
        }
    }

    fn number(&mut self, shared: Shared) -> Result<u32, TooLarge> {
        let (number, _) = self.shared.insert_full(shared);
        limited("shared states", self.shared.len() as u64, limits::SHARED_STATES)?;
        Ok(u32::try_from(number).expect("limited"))
    }

    fn frame(&mut self, frame: Frame) -> Result<u32, TooLarge> {
        let (number, _) = self.frames.insert_full(frame);
        limited("stack symbols", self.frames.len() as u64, limits::SYMBOLS)?;
        Ok(u32::try_from(number).expect("limited"))
    }

    fn action(&mut self, program: usize, action: Unfold) -> Result<(), TooLarge> {
        self.programs[program].actions.push(action);
        let count = |program: &Explored| u64::from(program.role.copies) * program.actions.len() as u64;
        limited("actions", self.programs.iter().map(count).sum(), limits::ACTIONS)
    }

    /// Whether a thread with this frame on top can be there when others have made this the shared state.
    fn is_possible(&self, shared: u32, frame: u32) -> bool {
        let frame = &self.frames[frame as usize];
        match &self.shared[shared as usize] {
            Shared::Error(_) => false,
            Shared::Running(running) => {
                // Those that were created are there: this one, if it is one, and those that have not started.
                let is_counted = self.machine.threads.limit.is_some();
                let there = running.pending.len() + usize::from(frame.kind == FrameKind::Created);
                running.locked & frame.held == frame.held && (!is_counted || running.created as usize >= there)
            }
        }
    }

    /// Notes a combination, and those that others make of it.
    fn add(&mut self, program: usize, shared: u32, frame: u32) {
        let mut new = vec![shared];
        while let Some(shared) = new.pop() {
            let explored = &mut self.programs[program];
            if matches!(self.shared[shared as usize], Shared::Error(_)) || !explored.found.insert(shared, frame) {
                continue;
            }
            self.found += 1;
            at(&mut explored.frames_with, shared).push(frame);
            self.queue.push((program, shared, frame));
            if !self.machine.is_alone(&self.shared[shared as usize], &self.frames[frame as usize]) {
                let others = at(&mut self.programs[program].others, shared).clone();
                new.extend(others.into_iter().filter(|&shared| self.is_possible(shared, frame)));
            }
        }
    }

    /// Notes that a thread of this program can change the shared state, and what that means for the others.
    fn change(&mut self, program: usize, from: u32, to: u32) {
        if from == to
            || !self.programs[program].changes.insert((from, to))
            || matches!(self.shared[to as usize], Shared::Error(_))
        {
            return;
        }
        for other in 0..self.programs.len() {
            let is_other = other != program || self.programs[program].role.copies > 1;
            if is_other && self.programs[other].known.insert((from, to)) {
                at(&mut self.programs[other].others, from).push(to);
                for frame in at(&mut self.programs[other].frames_with, from).clone() {
                    let is_alone = self.machine.is_alone(&self.shared[from as usize], &self.frames[frame as usize]);
                    if !is_alone && self.is_possible(to, frame) {
                        self.add(other, to, frame);
                    }
                }
            }
        }
    }

    /// The steps of a combination.
    fn expand(&mut self, program: usize, from: u32, top: u32) -> Result<(), TooLarge> {
        let mut steps = self.machine.steps(&self.shared[from as usize], &self.frames[top as usize]);
        // Mostly few, and rarely twice.
        if steps.len() > 64 {
            steps = Table::from_iter(steps).into_iter().collect();
        } else {
            for i in (1..steps.len()).rev() {
                if steps[..i].contains(&steps[i]) {
                    steps.remove(i);
                }
            }
        }
        for (shared, effect) in steps {
            let to = self.number(shared)?;
            let written = match effect {
                Effect::Pop => [None, None],
                Effect::To(frame) => [Some(self.frame(frame)?), None],
                Effect::Push(callee, below) => [Some(self.frame(callee)?), Some(self.frame(below)?)],
            };
            self.action(program, Unfold { from, top: Some(top), to, written })?;
            self.change(program, from, to);
            match (effect, written) {
                (Effect::Push(callee, _), [Some(top), Some(below)]) => {
                    self.add(program, to, top);
                    let returning = self.returning(&callee);
                    let (callers, returns) = self.programs[program].awaiting.entry(returning).or_default();
                    if callers.insert(below) {
                        for shared in returns.clone() {
                            self.add(program, shared, below);
                        }
                    }
                }
                (_, [Some(frame), _]) => self.add(program, to, frame),
                _ if self.frames[top as usize].kind == FrameKind::Called => {
                    let returning = self.returning(&self.frames[top as usize]);
                    let (callers, returns) = self.programs[program].awaiting.entry(returning).or_default();
                    if returns.insert(to) {
                        for caller in callers.clone() {
                            self.add(program, to, caller);
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// What is known of the frame below. If nothing is handed over, the thread is what it was when it was called.
    fn returning(&self, frame: &Frame) -> Returning {
        let function = self.machine.graph.nodes[frame.node].function;
        if self.machine.hands_over(function) {
            return Returning { function, is_atomic: false, held: 0 };
        }
        Returning { function, is_atomic: frame.section == Section::Inherited, held: frame.held }
    }

    /// The threads that can start in this shared state.
    fn start_in(&mut self, shared: usize) -> Result<(), TooLarge> {
        let from = u32::try_from(shared).expect("limited");
        for program in 0..self.programs.len() {
            let RoleStart::Pool(pool) = self.programs[program].role.start else { continue };
            for (to, frame) in Machine::pick_up(&self.shared[shared], pool) {
                let (to, frame) = (self.number(to)?, self.frame(frame)?);
                self.action(program, Unfold { from, top: None, to, written: [Some(frame), None] })?;
                self.change(program, from, to);
                self.add(program, to, frame);
            }
        }
        Ok(())
    }
}

fn limited(what: &'static str, count: u64, limit: u64) -> Result<(), TooLarge> {
    if count > limit { Err(TooLarge { what, limit }) } else { Ok(()) }
}

/// The list with this number; lists are empty until something is added.
fn at(lists: &mut Vec<Vec<u32>>, number: u32) -> &mut Vec<u32> {
    let number = number as usize;
    if lists.len() <= number {
        lists.resize_with(number + 1, Vec::new);
    }
    &mut lists[number]
}
