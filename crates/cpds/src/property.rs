//! Properties: bad patterns, which describe the bad visible states.

use crate::system::limits;
use crate::{Cpds, GlobalState, ModelError, SharedState, Symbol, ThreadId, VisibleState};
use std::collections::HashSet;

/// Any value (`*`), or a given one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Wild<T> {
    /// `*`
    Any,
    /// Only this value.
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
    /// The shared state.
    pub shared: Wild<SharedState>,
    /// The top for each thread; `Is(None)` is the empty stack.
    pub tops: Vec<Wild<Option<Symbol>>>,
}

impl Pattern {
    /// Whether a visible state fits the pattern.
    pub fn matches(&self, state: &VisibleState) -> bool {
        assert_eq!(self.tops.len(), state.tops.len(), "pattern and state are of one system");
        self.shared.matches(&state.shared) && self.tops.iter().zip(&state.tops).all(|(p, top)| p.matches(top))
    }

    /// Whether the pattern has a top for each thread, and has only declared shared states and
    /// symbols.
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

/// A safety property: no reachable state fits one of these patterns.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Property {
    /// The bad patterns. Without any, no state is bad.
    pub bad: Vec<Pattern>,
}

impl Property {
    /// Returns the first pattern that this visible state fits, if it is bad.
    pub fn violation(&self, state: &VisibleState) -> Option<&Pattern> {
        self.bad.iter().find(|pattern| pattern.matches(state))
    }
}

/// A system and its property: the content of a model. The patterns of the property fit the system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    system: Cpds,
    property: Property,
}

impl Problem {
    /// Makes a problem, if each pattern fits the system. A repeated pattern counts once.
    pub fn new(system: Cpds, mut property: Property) -> Result<Problem, ModelError> {
        if !property.bad.iter().all(|pattern| pattern.fits(&system)) {
            return Err(ModelError::PatternDoesNotFit);
        }
        let cells = |top: &Wild<Option<Symbol>>| if matches!(top, Wild::Is(Some(_))) { 2 } else { 1 };
        if property.bad.iter().flat_map(|pattern| &pattern.tops).map(cells).sum::<u64>() > limits::STACK_CELLS {
            return Err(ModelError::TooLarge {
                what: "stacks and symbols in bad patterns",
                limit: limits::STACK_CELLS,
            });
        }
        let mut seen = HashSet::new();
        property.bad.retain(|pattern| seen.insert(pattern.clone()));
        Ok(Problem { system, property })
    }

    /// Returns the system.
    pub fn system(&self) -> &Cpds {
        &self.system
    }

    /// Returns the property.
    pub fn property(&self) -> &Property {
        &self.property
    }

    /// Whether the property is violated in this state.
    pub fn is_bad(&self, state: &GlobalState) -> bool {
        self.property.violation(&state.visible()).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem() -> Problem {
        "shared 0 1; init 0|a,-; thread A { symbols a }\nthread B { symbols b }".parse().unwrap()
    }

    fn pattern(shared: Wild<u32>, tops: &[Wild<Option<u32>>]) -> Pattern {
        let top = |top: &Wild<Option<u32>>| match top {
            Wild::Any => Wild::Any,
            Wild::Is(symbol) => Wild::Is(symbol.map(Symbol)),
        };
        let shared = match shared {
            Wild::Any => Wild::Any,
            Wild::Is(q) => Wild::Is(SharedState(q)),
        };
        Pattern { shared, tops: tops.iter().map(top).collect() }
    }

    #[test]
    fn only_patterns_that_fit_the_system_make_a_problem() {
        use Wild::{Any, Is};
        let with = |pattern| Problem::new(problem().system, Property { bad: vec![pattern] });
        for fits in
            [pattern(Any, &[Any, Any]), pattern(Is(1), &[Is(Some(0)), Is(Some(1))]), pattern(Is(0), &[Is(None), Any])]
        {
            assert!(with(fits).is_ok());
        }
        let no_such_shared_state = pattern(Is(2), &[Any, Any]);
        let no_such_symbol = pattern(Any, &[Is(Some(2)), Any]);
        let symbol_of_another_thread = pattern(Any, &[Any, Is(Some(0))]);
        let too_few = pattern(Any, &[Any]);
        let too_many = pattern(Any, &[Any, Any, Any]);
        for wrong in [no_such_shared_state, no_such_symbol, symbol_of_another_thread, too_few, too_many] {
            assert_eq!(with(wrong.clone()), Err(ModelError::PatternDoesNotFit), "{wrong:?}");
        }
    }

    #[test]
    fn a_pattern_matches_given_values_and_any_values() {
        use Wild::{Any, Is};
        let state = problem().system.initial()[0].visible();
        for yes in [pattern(Any, &[Any, Any]), pattern(Is(0), &[Is(Some(0)), Is(None)])] {
            assert!(yes.matches(&state), "{yes:?}");
        }
        for no in [pattern(Is(1), &[Any, Any]), pattern(Any, &[Is(None), Any]), pattern(Is(0), &[Any, Is(Some(1))])] {
            assert!(!no.matches(&state), "{no:?}");
        }
        let property = Property { bad: vec![pattern(Is(1), &[Any, Any]), pattern(Is(0), &[Any, Is(None)])] };
        assert_eq!(property.violation(&state), Some(&property.bad[1]));
        let bad = |bad| Problem::new(problem().system, Property { bad }).unwrap();
        assert!(bad(property.bad.clone()).is_bad(&problem().system.initial()[0]));
        assert!(!bad(property.bad[..1].to_vec()).is_bad(&problem().system.initial()[0]));
    }

    #[test]
    fn a_repeated_pattern_counts_once() {
        let bad = vec![pattern(Wild::Any, &[Wild::Any, Wild::Any]); 3];
        assert_eq!(Problem::new(problem().system, Property { bad }).unwrap().property.bad.len(), 1);
    }
}
