//! A_d: tuples of widened languages, an overapproximation of T(R), usually tighter for larger d.
//!
//! The exploration is that of S_k (`symbolic/levels.rs`), with one difference: after each post*,
//! every language is widened. Widening merges the states of its automaton that agree to depth d
//! (`automata/widening.rs`). A tuple is dropped if another tuple covers it.
//!
//! # Why A_d contains every reachable state
//! The exploration ends when it finds no new tuple. Then each stored tuple has been expanded for
//! each thread, and a stored tuple covers each successor. So no context leads out of the states of
//! the tuples. These contain the initial states: widening only adds words, and each state of a
//! dropped tuple is a state of another tuple. A thread that has just moved is expanded, too,
//! because a widened language, unlike post*, is not closed under the steps of the thread.
//!
//! # Why the exploration ends
//! For each d there are finitely many widened languages, and so finitely many tuples. There may be
//! very many tuples, so their number has a limit.
//!
//! # Properties of T(A_d)
//! - T(R) ⊆ T(A_d) ⊆ Z. A symbol below the top of a word of a widened language also lies below the
//!   top of a word of the language.
//! - T(A_d) ⊆ T(Z_{d+1}) ⊆ matched-Z for d ≥ 1. States that agree to depth 1 have the same labels.
//!   So if a symbol lies directly below another symbol in the widened language, it does so in the
//!   language. The start state is never merged, so the top d + 1 symbols are those of a word of the
//!   language. Z_{d+1} contains all such stacks. So after A_d, Z_{d+1} rules out no further state.
//! - If widening changes no language, T(A_d) = T(R). If (S_k) collapses, this holds from some d on.
//! - A_d does not depend on the order of the exploration: each level stores the largest of all
//!   successors of the level before. So a permutation of the threads changes nothing, and neither
//!   does symmetry reduction.
//! - T(A_{d+1}) ⊆ T(A_d) is **not** guaranteed: W_{d+1}(L) ⊆ W_d(L), but W_d is not monotone. A
//!   language may be smaller in A_{d+1}, and its widening larger. (No case was found in 30,000
//!   random systems.) T(A_0) ⊆ matched-Z is not guaranteed either.

use crate::certificate::tuples::Tuples;
use crate::limits::{TooLarge, Unfinished};
use crate::symbolic::levels::{Symbolic, SymbolicOptions};
use crate::tables::packed_rows::PackedSet;
use crate::tuning::Tuning;
use crate::visible::levels::visible_states;
use crate::visible::symmetry::Symmetry;
use cpds::{Cpds, VisibleState};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// A completed A_d.
pub struct Abstraction {
    pub(crate) symmetry: Symmetry,
    /// T(A_d), sorted.
    pub(crate) visible: PackedSet,
    /// The largest tuples. The set of states that they stand for is closed under every step.
    pub(crate) largest: Tuples,
    /// Whether widening changed no language. Then T(A_d) = T(R).
    pub is_exact: bool,
    /// The number of stored tuples, with covered ones.
    pub tuples: usize,
    /// The work of the exploration, in the units of [`Symbolic`].
    pub(crate) work: u64,
}

/// Limits of the exploration of A_d.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AbstractionLimits {
    /// The most tuples to store.
    pub tuples: usize,
    /// The most memory for the tables, in bytes.
    pub memory: usize,
}

/// Why there is no A_d.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AbstractionError<B> {
    /// The limit on tuples is reached.
    TooManyTuples,
    /// The limit on memory is reached.
    TooLarge,
    /// The caller stopped the exploration.
    Stopped(B),
}

impl Abstraction {
    /// Computes A_d, within limits.
    ///
    /// # Errors
    /// If a limit is reached.
    pub fn new(
        system: &Cpds,
        depth: usize,
        symmetry: bool,
        limits: AbstractionLimits,
    ) -> Result<Self, AbstractionError<()>> {
        let tuples = Symbolic::new(system, Self::options(depth, symmetry, limits, Tuning::SHIPPED));
        Self::watched(tuples, limits, &mut |_| ControlFlow::Continue(()))
    }

    /// Returns the options with which [`Symbolic`] explores A_d.
    pub(crate) fn options(depth: usize, symmetry: bool, limits: AbstractionLimits, tuning: Tuning) -> SymbolicOptions {
        SymbolicOptions { widening: Some(depth), ..SymbolicOptions::exact(symmetry, limits.memory, tuning) }
    }

    /// Computes A_d from new or restored tuples. Calls `watch` at regular intervals; it may stop
    /// the exploration.
    pub(crate) fn watched<B>(
        mut tuples: Symbolic<'_>,
        limits: AbstractionLimits,
        watch: &mut impl FnMut(&Symbolic<'_>) -> ControlFlow<B>,
    ) -> Result<Self, AbstractionError<B>> {
        let mut check = |tuples: &Symbolic<'_>| {
            if tuples.kept() > limits.tuples {
                ControlFlow::Break(AbstractionError::TooManyTuples)
            } else if tuples.bytes_at_next_look() > limits.memory {
                ControlFlow::Break(AbstractionError::TooLarge)
            } else {
                watch(tuples).map_break(AbstractionError::Stopped)
            }
        };
        loop {
            // A restored level that is not complete continues without a check.
            if !tuples.has_incomplete_level()
                && let ControlFlow::Break(why) = check(&tuples)
            {
                return Err(why);
            }
            match tuples.advance(&mut check) {
                Ok(()) => {}
                Err(Unfinished::Stopped(why)) => return Err(why),
                // If the caller has cancelled the computation, `check` returns that reason.
                Err(Unfinished::TooLarge) => {
                    return Err(check(&tuples).break_value().unwrap_or(AbstractionError::TooLarge));
                }
            }
            if !tuples.grew(tuples.k()) {
                let largest = tuples.largest(limits.memory).map_err(|TooLarge| AbstractionError::TooLarge)?;
                return Ok(Abstraction {
                    is_exact: tuples.is_exact(),
                    tuples: tuples.kept(),
                    work: tuples.work(),
                    symmetry: tuples.symmetry().clone(),
                    largest,
                    visible: tuples.into_visible(),
                });
            }
        }
    }

    /// Returns the visible states: T(A_d).
    pub fn states(&self) -> BTreeSet<VisibleState> {
        visible_states(&self.symmetry, &self.visible, 0..self.visible.len()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpds::Problem;

    #[test]
    fn a_d_exists_exactly_if_the_limit_is_at_least_the_number_of_its_tuples() {
        let problem: Problem = include_str!("../../../../models/paper/fig1.cpds").parse().unwrap();
        let within = |limits| {
            let tuples = Symbolic::new(problem.system(), Abstraction::options(1, true, limits, Tuning::SMALL));
            Abstraction::watched(tuples, limits, &mut |_| ControlFlow::<()>::Continue(()))
        };
        let a_1 = |tuples| within(AbstractionLimits { tuples, memory: 1 << 20 });
        let most = a_1(usize::MAX).expect("it is small").tuples;
        assert!(most > 3 && a_1(most).is_ok());
        for fewer in 0..most {
            assert_eq!(a_1(fewer).err(), Some(AbstractionError::TooManyTuples), "{fewer} of {most}");
        }
        let none = AbstractionLimits { tuples: most, memory: 0 };
        assert_eq!(within(none).err(), Some(AbstractionError::TooLarge));
    }
}
