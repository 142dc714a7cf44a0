//! Which combinations of a shared state and a frame there can be: a thread-modular exploration.
//!
//! Each program is explored by itself: its own steps, and between them any change of the shared
//! state that another thread was seen to make. What lies under a frame is forgotten, up to the
//! function that it called: a return goes back to everyone who has called that function. So every
//! combination that a run can have is found, and with it every action that can fire; and some that
//! cannot, which do no harm.

mod linked_lists;
mod search;
mod step_relation;

pub(crate) use step_relation::StepRelation;

use crate::states::{Cutoff, Frame, SharedStates, Table};
use search::Exploration;
use step_relation::MOST_CASES;

/// What a program's threads can do.
pub(crate) struct ExploredSystem {
    /// Shared states, the initial one first.
    pub(crate) shared: SharedStates,
    pub(crate) frames: Table<Frame>,
    /// The actions of each program.
    pub(crate) actions: Vec<Vec<NumberedAction>>,
}

/// An action, by numbers of shared states and frames: (from,top) → (to,written), top first; without
/// a top, from the empty stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct NumberedAction {
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// The top, then what is written; [`NO_FRAME`] where there is nothing. There are millions of
    /// actions.
    frames: [u32; 3],
}

const NO_FRAME: u32 = u32::MAX;

impl NumberedAction {
    fn new((from, top): (u32, Option<u32>), (to, written): (u32, [Option<u32>; 2])) -> Self {
        NumberedAction { from, to, frames: [top, written[0], written[1]].map(|frame| frame.unwrap_or(NO_FRAME)) }
    }

    pub(crate) fn top(&self) -> Option<u32> {
        self.frames().next().filter(|_| self.frames[0] != NO_FRAME)
    }

    pub(crate) fn written(&self) -> impl Iterator<Item = u32> + use<> {
        self.frames.into_iter().skip(1).filter(|&frame| frame != NO_FRAME)
    }

    /// The top, and what is written.
    pub(crate) fn frames(&self) -> impl Iterator<Item = u32> + use<> {
        self.frames.into_iter().filter(|&frame| frame != NO_FRAME)
    }
}

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
#[derive(Debug)]
pub(crate) enum TooLarge {
    /// It would have more of these.
    Many { what: &'static str, limit: u64 },
    /// It would take more memory, in bytes.
    Memory(u64),
}

impl From<Cutoff> for TooLarge {
    fn from(Cutoff: Cutoff) -> Self {
        TooLarge::Many { what: "choices of open variables in one statement", limit: MOST_CASES }
    }
}

/// Explores all programs, if their system does not take more than so many bytes.
pub(crate) fn explore(relation: &StepRelation<'_>, roles: &[Role], memory: u64) -> Result<ExploredSystem, TooLarge> {
    let mut exploration = Exploration::new(relation, roles, memory);
    exploration.run()?;
    let Exploration { shared, frames, programs, .. } = exploration;
    Ok(ExploredSystem { shared, frames, actions: programs.into_iter().map(|program| program.actions).collect() })
}
