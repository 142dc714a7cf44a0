//! Computes the actions of the system by a thread-modular exploration of the program.
//!
//! In: the step relation, and the roles of the threads. Out: shared states, frames, and the actions
//! of each role.
//!
//! The exploration finds heads: pairs of a shared state and the frame on top of a stack. It
//! explores each role alone. Between two steps of a role, the shared state may change by any step
//! of another thread that the exploration has found. Of the frames below the top, the exploration
//! stores only the functions that they have called. So a return leads to every frame that awaits a
//! return of that function. The result contains every head, and so every action, of every run. It
//! may contain more; additional actions never fire.

mod linked_lists;
mod search;
mod step_relation;

pub(crate) use step_relation::StepRelation;

use crate::states::{Cutoff, Frame, SharedStates, Table};
use search::Exploration;
use step_relation::MOST_CASES;

/// The result of the exploration: all actions of the threads of all roles.
pub(crate) struct ExploredSystem {
    /// The shared states. The initial one is the first.
    pub(crate) shared: SharedStates,
    pub(crate) frames: Table<Frame>,
    /// The actions of each role.
    pub(crate) actions: Vec<Vec<NumberedAction>>,
}

/// An action (from,top) → (to,written), with numbers for shared states and frames. `written` is in
/// the order from the top down. An action from the empty stack has no top.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct NumberedAction {
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// The top, then the written frames; [`NO_FRAME`] stands for none. This is compact because
    /// there may be millions of actions.
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

    /// Returns the top, if there is one, and the written frames.
    pub(crate) fn frames(&self) -> impl Iterator<Item = u32> + use<> {
        self.frames.into_iter().filter(|&frame| frame != NO_FRAME)
    }
}

/// Threads that start in the same way. Each role becomes one program of the system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Role {
    pub(crate) start: RoleStart,
    pub(crate) copies: u32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum RoleStart {
    /// The threads run this function from the initial state on.
    Root(usize),
    /// The threads are created; this is the number of their pool.
    Pool(u32),
}

/// Why the system is not computed: it is too large.
#[derive(Debug)]
pub(crate) enum TooLarge {
    /// It has more than `limit` of `what`.
    Many { what: &'static str, limit: u64 },
    /// It takes more than this number of bytes.
    Memory(u64),
}

impl From<Cutoff> for TooLarge {
    fn from(Cutoff: Cutoff) -> Self {
        TooLarge::Many { what: "choices of open variables in one statement", limit: MOST_CASES }
    }
}

/// Explores all roles. `memory` is the most memory that the system may take, in bytes.
pub(crate) fn explore(relation: &StepRelation<'_>, roles: &[Role], memory: u64) -> Result<ExploredSystem, TooLarge> {
    let mut exploration = Exploration::new(relation, roles, memory);
    exploration.run()?;
    let Exploration { shared, frames, roles, .. } = exploration;
    Ok(ExploredSystem { shared, frames, actions: roles.into_iter().map(|role| role.actions).collect() })
}
