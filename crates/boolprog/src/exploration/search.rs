//! The exploration of all programs.

use super::linked_lists::LinkedLists;
use super::step_relation::{Effect, StepRelation};
use super::{NumberedAction, Role, RoleStart, TooLarge};
use crate::states::{ENTRY, Frame, FrameKind, NumberSet, Section, Shared, SharedStates, Table};
use cpds::limits;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// Many more than there may be actions: most combinations have one at least.
const MOST_COMBINATIONS: u64 = 2 * limits::ACTIONS;

/// As many as have numbers.
const MOST_CHANGES: u64 = 1 << 31;

pub(super) struct Exploration<'m, 'a> {
    relation: &'m StepRelation<'a>,
    pub(super) shared: SharedStates,
    pub(super) frames: Table<Frame>,
    /// What frames take beside the table.
    frame_heap_bytes: usize,
    pub(super) programs: Vec<ProgramExploration>,
    /// Changes of the shared state that threads make, and which of the programs do.
    changes: FxHashMap<(u32, u32), ChangingPrograms>,
    /// How many combinations there are.
    found: u64,
    /// How many actions there are, all threads together.
    actions: u64,
    /// Combinations that are still to be looked at: program, shared state, frame.
    queue: Vec<(u32, u32, u32)>,
    /// The most memory that the tables may take, in bytes.
    memory: u64,
}

/// The programs that change a shared state into a certain other one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ChangingPrograms {
    Only(u32),
    Several,
}

/// One program.
pub(super) struct ProgramExploration {
    role: Role,
    found: PairSet,
    /// For each shared state, the frames that were found with it.
    frames_with: LinkedLists,
    /// For each shared state, what others make of it.
    others: LinkedLists,
    /// For each function, who awaits its return, and the shared states in which it returns.
    awaiting: FxHashMap<ReturnKey, (Table<u32>, Table<u32>)>,
    pub(super) actions: Vec<NumberedAction>,
}

/// A set of pairs of a shared state and a frame: for each frame, 64 shared states a word. Where
/// there are many, they are close to each other, and nearly all of the questions are about pairs
/// that are there.
#[derive(Default)]
struct PairSet(FxHashMap<(u32, u32), u64>);

impl PairSet {
    /// Adds a pair; whether it is new.
    fn insert(&mut self, shared: u32, frame: u32) -> bool {
        let (word, bit) = (self.0.entry((frame, shared >> 6)).or_default(), 1 << (shared & 63));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// About how many bytes they take.
    fn bytes(&self) -> usize {
        self.0.capacity() * (size_of::<((u32, u32), u64)>() + 2)
    }
}

/// A return: of which function, and of what kind of thread.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct ReturnKey {
    function: usize,
    is_atomic: bool,
    held: NumberSet,
}

impl<'m, 'a> Exploration<'m, 'a> {
    pub(super) fn new(relation: &'m StepRelation<'a>, roles: &[Role], memory: u64) -> Self {
        let explored = |&role: &Role| ProgramExploration {
            role,
            found: PairSet::default(),
            frames_with: LinkedLists::default(),
            others: LinkedLists::default(),
            awaiting: FxHashMap::default(),
            actions: Vec::new(),
        };
        Exploration {
            relation,
            shared: SharedStates::default(),
            frames: Table::default(),
            frame_heap_bytes: 0,
            programs: roles.iter().map(explored).collect(),
            changes: FxHashMap::default(),
            found: 0,
            actions: 0,
            queue: Vec::new(),
            memory,
        }
    }
}

impl Exploration<'_, '_> {
    pub(super) fn run(&mut self) -> Result<(), TooLarge> {
        let initial = self.number(self.relation.initial())?;
        for program in 0..self.programs.len() {
            if let RoleStart::Root(function) = self.programs[program].role.start {
                let frame = self.relation.first_frame(function, FrameKind::Root);
                let frame = self.frame(frame)?;
                self.add(program, initial, frame);
            }
        }
        let (mut for_pools, mut expanded) = (0, 0_u32);
        loop {
            while let Some((program, shared, frame)) = self.queue.pop() {
                limited("combinations of shared states and places", self.found, MOST_COMBINATIONS)?;
                expanded = expanded.wrapping_add(1);
                if expanded.is_multiple_of(1 << 12) {
                    limited("changes of the shared state", self.changes.len() as u64, MOST_CHANGES)?;
                    if self.bytes() > self.memory {
                        return Err(TooLarge::Memory(self.memory));
                    }
                }
                self.expand(program as usize, shared, frame)?;
            }
            // A thread that has not started, or has ended, is there with every shared state.
            if for_pools == self.shared.len() {
                return Ok(());
            }
            self.start_in(u32::try_from(for_pools).expect("limited"))?;
            for_pools += 1;
        }
    }

    /// About how many bytes the tables take, and the system that is made of them.
    fn bytes(&self) -> u64 {
        let of_program = |program: &ProgramExploration| {
            let ProgramExploration { found, frames_with, others, awaiting, actions, .. } = program;
            let awaited = awaiting.values().map(|(callers, returns)| callers.capacity() + returns.capacity());
            let lists = found.bytes() + frames_with.bytes() + others.bytes();
            lists + awaited.sum::<usize>() * ENTRY + actions.capacity() * size_of::<NumberedAction>()
        };
        let programs: usize = self.programs.iter().map(of_program).sum();
        let changes = self.changes.capacity() * (size_of::<((u32, u32), ChangingPrograms)>() + 2);
        let frames = self.frames.capacity() * (size_of::<Frame>() + ENTRY) + self.frame_heap_bytes;
        let tables = self.shared.bytes() + frames + programs + changes + self.queue.capacity() * 12;
        let actions: usize = self.programs.iter().map(|program| program.actions.len()).sum();
        // A name and its place, a symbol's frame and its name, and a rule and its place in their
        // order.
        let symbols = self.frames.len() * (size_of::<Frame>() + 64);
        let system = self.shared.len() * 24 + symbols + actions * (size_of::<cpds::Rule>() + 4);
        (tables + system) as u64
    }

    fn number(&mut self, shared: Shared) -> Result<u32, TooLarge> {
        let number = self.shared.insert(shared);
        limited("shared states", self.shared.len() as u64, limits::SHARED_STATES)?;
        Ok(number)
    }

    fn frame(&mut self, frame: Frame) -> Result<u32, TooLarge> {
        let heap_bytes = frame.heap_bytes();
        let (number, is_new) = self.frames.insert_full(frame);
        self.frame_heap_bytes += if is_new { heap_bytes } else { 0 };
        limited("stack symbols", self.frames.len() as u64, limits::SYMBOLS)?;
        Ok(u32::try_from(number).expect("limited"))
    }

    fn action(&mut self, program: usize, action: NumberedAction) -> Result<(), TooLarge> {
        self.programs[program].actions.push(action);
        self.actions += u64::from(self.programs[program].role.copies);
        limited("actions", self.actions, limits::ACTIONS)
    }

    /// Whether a thread with this frame on top can be there when others have made this the shared
    /// state.
    fn is_possible(&self, shared: u32, frame: u32) -> bool {
        let frame = &self.frames[frame as usize];
        match self.shared.rest(shared) {
            Shared::Error(_) => false,
            Shared::Running(running) => {
                // Those that were created are there: this one, if it is one, and those that have
                // not started.
                let is_counted = self.relation.threads.limit.is_some();
                let there = running.pending.len() + usize::from(frame.kind == FrameKind::Created);
                running.locked.includes(&frame.held) && (!is_counted || running.created as usize >= there)
            }
        }
    }

    /// Whether a thread with this frame on top is the only one that can take a step.
    fn is_alone(&self, shared: u32, frame: u32) -> bool {
        self.relation.is_alone(self.shared.rest(shared), &self.frames[frame as usize])
    }

    /// Notes a combination, and those that others make of it.
    fn add(&mut self, program: usize, shared: u32, frame: u32) {
        let number = u32::try_from(program).expect("few programs");
        let mut new = vec![shared];
        while let Some(shared) = new.pop() {
            let explored = &mut self.programs[program];
            if matches!(self.shared.rest(shared), Shared::Error(_)) || !explored.found.insert(shared, frame) {
                continue;
            }
            self.found += 1;
            explored.frames_with.push(shared, frame);
            self.queue.push((number, shared, frame));
            if !self.is_alone(shared, frame) {
                new.extend(
                    self.programs[program].others.iter(shared).filter(|&shared| self.is_possible(shared, frame)),
                );
            }
        }
    }

    /// Notes that a thread of this program can change the shared state, and what that means for the
    /// others.
    fn change(&mut self, program: usize, from: u32, to: u32) {
        if from == to || matches!(self.shared.rest(to), Shared::Error(_)) {
            return;
        }
        let number = u32::try_from(program).expect("few programs");
        // The programs that do not know of this change, apart from this one.
        let mut first = None;
        match self.changes.entry((from, to)) {
            Entry::Vacant(new) => drop(new.insert_entry(ChangingPrograms::Only(number))),
            Entry::Occupied(mut known) => match *known.get() {
                ChangingPrograms::Only(only) if only != number => {
                    known.insert(ChangingPrograms::Several);
                    first = Some(only as usize);
                }
                _ => return,
            },
        }
        for other in 0..self.programs.len() {
            let has_copies = self.programs[other].role.copies > 1;
            let is_new = match first {
                None => other != program || has_copies,
                Some(first) => other == first && !has_copies,
            };
            if is_new {
                self.change_by_others(other, from, to);
            }
        }
    }

    /// Notes that others of the threads than one of this program can change the shared state.
    fn change_by_others(&mut self, program: usize, from: u32, to: u32) {
        self.programs[program].others.push(from, to);
        // What is added meanwhile has this shared state already.
        let mut next = self.programs[program].frames_with.first(from);
        while let Some(item) = next {
            let (frame, behind) = self.programs[program].frames_with.at(item);
            if !self.is_alone(from, frame) && self.is_possible(to, frame) {
                self.add(program, to, frame);
            }
            next = behind;
        }
    }

    /// The steps of a combination.
    fn expand(&mut self, program: usize, from: u32, top: u32) -> Result<(), TooLarge> {
        let mut steps =
            self.relation.steps((self.shared.rest(from), self.shared.variables(from)), &self.frames[top as usize])?;
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
            let returning = match &effect {
                Effect::Push(callee, _) => Some(self.returning(callee)),
                Effect::Pop | Effect::To(_) => None,
            };
            let written = match effect {
                Effect::Pop => [None, None],
                Effect::To(frame) => [Some(self.frame(frame)?), None],
                Effect::Push(callee, below) => [Some(self.frame(callee)?), Some(self.frame(below)?)],
            };
            self.action(program, NumberedAction::new((from, Some(top)), (to, written)))?;
            self.change(program, from, to);
            match (returning, written) {
                (Some(returning), [Some(top), Some(below)]) => {
                    self.add(program, to, top);
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

    /// What is known of the frame below. If nothing is handed over, the thread is what it was when
    /// it was called.
    fn returning(&self, frame: &Frame) -> ReturnKey {
        let function = self.relation.graph.nodes[frame.node].function;
        if self.relation.hands_over(function) {
            return ReturnKey { function, is_atomic: false, held: NumberSet::EMPTY };
        }
        ReturnKey { function, is_atomic: frame.section == Section::Inherited, held: frame.held.clone() }
    }

    /// The threads that can start in this shared state.
    fn start_in(&mut self, from: u32) -> Result<(), TooLarge> {
        for program in 0..self.programs.len() {
            let RoleStart::Pool(pool) = self.programs[program].role.start else { continue };
            for (to, frame) in StepRelation::pick_up((self.shared.rest(from), self.shared.variables(from)), pool) {
                let (to, frame) = (self.number(to)?, self.frame(frame)?);
                self.action(program, NumberedAction::new((from, None), (to, [Some(frame), None])))?;
                self.change(program, from, to);
                self.add(program, to, frame);
            }
        }
        Ok(())
    }
}

fn limited(what: &'static str, count: u64, limit: u64) -> Result<(), TooLarge> {
    if count > limit { Err(TooLarge::Many { what, limit }) } else { Ok(()) }
}
