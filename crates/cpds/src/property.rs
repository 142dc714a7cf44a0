//! Properties: which visible states are bad.

use crate::system::limits;
use crate::{Cpds, GlobalState, ModelError, SharedState, Symbol, ThreadId, VisibleState};
use std::collections::HashSet;

/// Either anything (`*`) or one particular value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Wild<T> {
    /// `*`
    Any,
    /// This value and no other.
    Is(T),
}

impl<T: PartialEq> Wild<T> {
    fn matches(&self, value: &T) -> bool {
        match self {
            Wild::Any => true,
            Wild::Is(one) => one == value,
        }
    }
}

/// A pattern `q|s1,…,sn` of visible states, with `*` for anything and `-` for ε.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Pattern {
    /// Which shared states.
    pub shared: Wild<SharedState>,
    /// Which top for each thread; `Is(None)` is the empty stack.
    pub tops: Vec<Wild<Option<Symbol>>>,
}

impl Pattern {
    /// Whether a visible state fits the pattern.
    pub fn matches(&self, state: &VisibleState) -> bool {
        assert_eq!(self.tops.len(), state.tops.len(), "pattern and state are of one system");
        self.shared.matches(&state.shared) && self.tops.iter().zip(&state.tops).all(|(p, top)| p.matches(top))
    }

    /// Whether the pattern has one top for each thread, and names only what is declared.
    fn fits(&self, system: &Cpds) -> bool {
        let has_top = |(top, thread): (&Wild<Option<Symbol>>, ThreadId)| match top {
            Wild::Is(Some(symbol)) => system.program(thread).alphabet().contains(*symbol),
            _ => true,
        };
        let has_shared = match self.shared {
            Wild::Is(q) => (q.0 as usize) < system.shared_names().len(),
            Wild::Any => true,
        };
        has_shared && self.tops.len() == system.thread_count() && self.tops.iter().zip(system.threads()).all(has_top)
    }
}

/// A safety property: none of these patterns is ever reached.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Property {
    /// The bad patterns. None at all: everything is allowed.
    pub bad: Vec<Pattern>,
}

impl Property {
    /// The first pattern that this visible state fits, if it is bad.
    pub fn violation(&self, state: &VisibleState) -> Option<&Pattern> {
        self.bad.iter().find(|pattern| pattern.matches(state))
    }
}

/// A system and the property it should have: what a file says. The patterns of the property fit the system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    system: Cpds,
    property: Property,
}

impl Problem {
    /// A problem, if each pattern fits the system. A repeated pattern counts once.
    pub fn new(system: Cpds, mut property: Property) -> Result<Problem, ModelError> {
        if !property.bad.iter().all(|pattern| pattern.fits(&system)) {
            return Err(ModelError::PatternDoesNotFit);
        }
        if property.bad.len() as u64 * system.thread_count() as u64 > limits::STACK_CELLS {
            return Err(ModelError::TooLarge { what: "stacks in bad patterns", limit: limits::STACK_CELLS });
        }
        let mut seen = HashSet::new();
        property.bad.retain(|pattern| seen.insert(pattern.clone()));
        Ok(Problem { system, property })
    }

    /// The system.
    pub fn system(&self) -> &Cpds {
        &self.system
    }

    /// The property.
    pub fn property(&self) -> &Property {
        &self.property
    }

    /// Whether the property is violated in this state.
    pub fn is_bad(&self, state: &GlobalState) -> bool {
        self.property.violation(&state.visible()).is_some()
    }
}
