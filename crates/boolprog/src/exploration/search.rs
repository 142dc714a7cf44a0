//! The exploration of all roles, with a queue of heads.

use super::linked_lists::LinkedLists;
use super::step_relation::{Effect, StepRelation};
use super::{NumberedAction, Role, RoleStart, TooLarge};
use crate::states::{ENTRY, Frame, FrameKind, NumberSet, Section, Shared, SharedStates, Table};
use cpds::limits;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// The limit for the number of heads. Most heads have at least one action. So the limit for actions
/// is mostly reached first.
const MOST_HEADS: u64 = 2 * limits::ACTIONS;

/// The limit for the number of changes of the shared state, because items of a list have numbers of
/// 32 bits.
const MOST_CHANGES: u64 = 1 << 31;

pub(super) struct Exploration<'m, 'a> {
    relation: &'m StepRelation<'a>,
    pub(super) shared: SharedStates,
    pub(super) frames: Table<Frame>,
    /// The memory of the frames outside of the table, in bytes.
    frame_heap_bytes: usize,
    pub(super) roles: Vec<RoleExploration>,
    /// The changes of the shared state, each with the roles that make it.
    changes: FxHashMap<(u32, u32), ChangingRoles>,
    /// The number of heads.
    head_count: u64,
    /// The number of actions, summed over all threads.
    actions: u64,
    /// Heads that are not expanded yet: role, shared state, frame.
    queue: Vec<(u32, u32, u32)>,
    /// The most memory that the tables and the system may take, in bytes.
    memory: u64,
}

/// The roles that make one change of the shared state.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ChangingRoles {
    Only(u32),
    Several,
}

/// The exploration of one role.
pub(super) struct RoleExploration {
    role: Role,
    heads: HeadSet,
    /// For each shared state, the frames that have been found with it.
    frames_with: LinkedLists,
    /// For each shared state, the shared states into which other threads change it.
    changes_by_others: LinkedLists,
    /// For each kind of return, the frames that await it, and the shared states after it.
    awaiting: FxHashMap<ReturnKey, (Table<u32>, Table<u32>)>,
    pub(super) actions: Vec<NumberedAction>,
}

/// A set of heads: bit sets of 64 shared states for each frame. Large sets are dense, and nearly
/// all lookups find their head.
#[derive(Default)]
struct HeadSet(FxHashMap<(u32, u32), u64>);

impl HeadSet {
    /// Adds a head. Returns whether it is new.
    fn insert(&mut self, shared: u32, frame: u32) -> bool {
        let (word, bit) = (self.0.entry((frame, shared >> 6)).or_default(), 1 << (shared & 63));
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    }

    /// Estimates the memory in bytes.
    fn bytes(&self) -> usize {
        self.0.capacity() * (size_of::<((u32, u32), u64)>() + 2)
    }
}

/// Kinds of returns. A return leads to the frames that await a return of the same kind.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct ReturnKey {
    function: usize,
    is_atomic: bool,
    held: NumberSet,
}

impl<'m, 'a> Exploration<'m, 'a> {
    pub(super) fn new(relation: &'m StepRelation<'a>, roles: &[Role], memory: u64) -> Self {
        let explored = |&role: &Role| RoleExploration {
            role,
            heads: HeadSet::default(),
            frames_with: LinkedLists::default(),
            changes_by_others: LinkedLists::default(),
            awaiting: FxHashMap::default(),
            actions: Vec::new(),
        };
        Exploration {
            relation,
            shared: SharedStates::default(),
            frames: Table::default(),
            frame_heap_bytes: 0,
            roles: roles.iter().map(explored).collect(),
            changes: FxHashMap::default(),
            head_count: 0,
            actions: 0,
            queue: Vec::new(),
            memory,
        }
    }
}

impl Exploration<'_, '_> {
    pub(super) fn run(&mut self) -> Result<(), TooLarge> {
        let initial = self.shared_number(self.relation.initial())?;
        for role in 0..self.roles.len() {
            if let RoleStart::Root(function) = self.roles[role].role.start {
                let frame = self.relation.first_frame(function, FrameKind::Root);
                let frame = self.frame_number(frame)?;
                self.add_head(role, initial, frame);
            }
        }
        let (mut for_pools, mut expanded) = (0, 0_u32);
        loop {
            while let Some((role, shared, frame)) = self.queue.pop() {
                limited("combinations of shared states and places", self.head_count, MOST_HEADS)?;
                expanded = expanded.wrapping_add(1);
                if expanded.is_multiple_of(1 << 12) {
                    limited("changes of the shared state", self.changes.len() as u64, MOST_CHANGES)?;
                    if self.bytes() > self.memory {
                        return Err(TooLarge::Memory(self.memory));
                    }
                }
                self.expand(role as usize, shared, frame)?;
            }
            // A thread with an empty stack can start in every shared state.
            if for_pools == self.shared.len() {
                return Ok(());
            }
            self.start_in(u32::try_from(for_pools).expect("limited"))?;
            for_pools += 1;
        }
    }

    /// Estimates the memory of the tables and of the system that they become, in bytes.
    fn bytes(&self) -> u64 {
        let of_role = |role: &RoleExploration| {
            let RoleExploration { heads, frames_with, changes_by_others, awaiting, actions, .. } = role;
            let awaited = awaiting.values().map(|(callers, returns)| callers.capacity() + returns.capacity());
            let lists = heads.bytes() + frames_with.bytes() + changes_by_others.bytes();
            lists + awaited.sum::<usize>() * ENTRY + actions.capacity() * size_of::<NumberedAction>()
        };
        let roles: usize = self.roles.iter().map(of_role).sum();
        let changes = self.changes.capacity() * (size_of::<((u32, u32), ChangingRoles)>() + 2);
        let frames = self.frames.capacity() * (size_of::<Frame>() + ENTRY) + self.frame_heap_bytes;
        let tables = self.shared.bytes() + frames + roles + changes + self.queue.capacity() * 12;
        let actions: usize = self.roles.iter().map(|role| role.actions.len()).sum();
        // For a shared state: its name. For a symbol: its frame and its name. For an action: the
        // rule and its position in the sorted order.
        let symbols = self.frames.len() * (size_of::<Frame>() + 64);
        let system = self.shared.len() * 24 + symbols + actions * (size_of::<cpds::Rule>() + 4);
        (tables + system) as u64
    }

    fn shared_number(&mut self, shared: Shared) -> Result<u32, TooLarge> {
        let number = self.shared.insert(shared);
        limited("shared states", self.shared.len() as u64, limits::SHARED_STATES)?;
        Ok(number)
    }

    fn frame_number(&mut self, frame: Frame) -> Result<u32, TooLarge> {
        let heap_bytes = frame.heap_bytes();
        let (number, is_new) = self.frames.insert_full(frame);
        self.frame_heap_bytes += if is_new { heap_bytes } else { 0 };
        limited("stack symbols", self.frames.len() as u64, limits::SYMBOLS)?;
        Ok(u32::try_from(number).expect("limited"))
    }

    fn add_action(&mut self, role: usize, action: NumberedAction) -> Result<(), TooLarge> {
        self.roles[role].actions.push(action);
        self.actions += u64::from(self.roles[role].role.copies);
        limited("actions", self.actions, limits::ACTIONS)
    }

    /// Returns whether a thread with this frame on top can exist in this shared state after another
    /// thread has changed the shared state.
    fn is_possible(&self, shared: u32, frame: u32) -> bool {
        let frame = &self.frames[frame as usize];
        match self.shared.rest(shared) {
            Shared::Error(_) => false,
            Shared::Running(running) => {
                // The counter includes this thread, if it was created, and the threads that have
                // not started.
                let is_counted = self.relation.threads.limit.is_some();
                let there = running.pending.len() + usize::from(frame.kind == FrameKind::Created);
                running.locked.includes(&frame.held) && (!is_counted || running.created as usize >= there)
            }
        }
    }

    /// Returns whether a thread with this frame on top is the only thread that can take a step.
    fn is_alone(&self, shared: u32, frame: u32) -> bool {
        self.relation.is_alone(self.shared.rest(shared), &self.frames[frame as usize])
    }

    /// Adds a head, and the heads that changes by other threads make of it.
    fn add_head(&mut self, role: usize, shared: u32, frame: u32) {
        let number = u32::try_from(role).expect("few roles");
        let mut new = vec![shared];
        while let Some(shared) = new.pop() {
            let explored = &mut self.roles[role];
            if matches!(self.shared.rest(shared), Shared::Error(_)) || !explored.heads.insert(shared, frame) {
                continue;
            }
            self.head_count += 1;
            explored.frames_with.push(shared, frame);
            self.queue.push((number, shared, frame));
            if !self.is_alone(shared, frame) {
                new.extend(
                    self.roles[role].changes_by_others.iter(shared).filter(|&shared| self.is_possible(shared, frame)),
                );
            }
        }
    }

    /// Records that a thread of this role can change the shared state, and applies the change to
    /// the heads of all other threads.
    fn record_change(&mut self, role: usize, from: u32, to: u32) {
        if from == to || matches!(self.shared.rest(to), Shared::Error(_)) {
            return;
        }
        let number = u32::try_from(role).expect("few roles");
        // The change is new for all other roles if no role has made it before. It is new for the
        // role `first` if that role alone has made it before.
        let mut first = None;
        match self.changes.entry((from, to)) {
            Entry::Vacant(new) => drop(new.insert_entry(ChangingRoles::Only(number))),
            Entry::Occupied(mut known) => match *known.get() {
                ChangingRoles::Only(only) if only != number => {
                    known.insert(ChangingRoles::Several);
                    first = Some(only as usize);
                }
                _ => return,
            },
        }
        for other in 0..self.roles.len() {
            let has_copies = self.roles[other].role.copies > 1;
            let is_new = match first {
                None => other != role || has_copies,
                Some(first) => other == first && !has_copies,
            };
            if is_new {
                self.apply_change_by_others(other, from, to);
            }
        }
    }

    /// Applies a change of the shared state that other threads make to the heads of a role.
    fn apply_change_by_others(&mut self, role: usize, from: u32, to: u32) {
        self.roles[role].changes_by_others.push(from, to);
        // A head that is added during the loop gets the change from `add_head`.
        let mut next = self.roles[role].frames_with.first(from);
        while let Some(item) = next {
            let (frame, behind) = self.roles[role].frames_with.at(item);
            if !self.is_alone(from, frame) && self.is_possible(to, frame) {
                self.add_head(role, to, frame);
            }
            next = behind;
        }
    }

    /// Adds the actions of a head.
    fn expand(&mut self, role: usize, from: u32, top: u32) -> Result<(), TooLarge> {
        let mut steps =
            self.relation.steps((self.shared.rest(from), self.shared.variables(from)), &self.frames[top as usize])?;
        // Most heads have few steps, and duplicates are rare.
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
            let to = self.shared_number(shared)?;
            let key = match &effect {
                Effect::Push(callee, _) => Some(self.return_key(callee)),
                Effect::Pop | Effect::To(_) => None,
            };
            let written = match effect {
                Effect::Pop => [None, None],
                Effect::To(frame) => [Some(self.frame_number(frame)?), None],
                Effect::Push(callee, below) => [Some(self.frame_number(callee)?), Some(self.frame_number(below)?)],
            };
            self.add_action(role, NumberedAction::new((from, Some(top)), (to, written)))?;
            self.record_change(role, from, to);
            match (key, written) {
                (Some(key), [Some(top), Some(below)]) => {
                    self.add_head(role, to, top);
                    let (callers, returns) = self.roles[role].awaiting.entry(key).or_default();
                    if callers.insert(below) {
                        for shared in returns.clone() {
                            self.add_head(role, shared, below);
                        }
                    }
                }
                (_, [Some(frame), _]) => self.add_head(role, to, frame),
                _ if self.frames[top as usize].kind == FrameKind::Called => {
                    let key = self.return_key(&self.frames[top as usize]);
                    let (callers, returns) = self.roles[role].awaiting.entry(key).or_default();
                    if returns.insert(to) {
                        for caller in callers.clone() {
                            self.add_head(role, to, caller);
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the key of the return of a frame. If the return hands nothing over, locks and atomic
    /// section are the same as at the call. Then they are a part of the key.
    fn return_key(&self, frame: &Frame) -> ReturnKey {
        let function = self.relation.graph.nodes[frame.node].function;
        if self.relation.hands_over(function) {
            return ReturnKey { function, is_atomic: false, held: NumberSet::EMPTY };
        }
        ReturnKey { function, is_atomic: frame.section == Section::Inherited, held: frame.held.clone() }
    }

    /// Adds the actions with which created threads start in this shared state.
    fn start_in(&mut self, from: u32) -> Result<(), TooLarge> {
        for role in 0..self.roles.len() {
            let RoleStart::Pool(pool) = self.roles[role].role.start else { continue };
            for (to, frame) in
                StepRelation::starts_from_pool((self.shared.rest(from), self.shared.variables(from)), pool)
            {
                let (to, frame) = (self.shared_number(to)?, self.frame_number(frame)?);
                self.add_action(role, NumberedAction::new((from, None), (to, [Some(frame), None])))?;
                self.record_change(role, from, to);
                self.add_head(role, to, frame);
            }
        }
        Ok(())
    }
}

fn limited(what: &'static str, count: u64, limit: u64) -> Result<(), TooLarge> {
    if count > limit { Err(TooLarge::Many { what, limit }) } else { Ok(()) }
}
