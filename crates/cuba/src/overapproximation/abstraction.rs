//! A_d: abstract symbolic states, an overapproximation of T(R) that gets tighter with d.
//!
//! It is the exploration of S_k (`symbolic/levels.rs`), with one difference: after each post* every
//! language is widened by making one of the automaton's states that agree to depth d
//! (`automata/widening.rs`). A tuple is dropped if another one covers it.
//!
//! # Why it has every reachable state
//! When nothing new is found, every tuple that was kept has been expanded for every thread, and
//! each successor is covered by a tuple that was kept. So the states of the tuples are closed under
//! the contexts of every thread, and have the initial ones. Widening only adds words, and dropping
//! a tuple only drops what others have. Threads that have just moved are expanded too: unlike
//! post*, the widened language is not closed.
//!
//! # Why it ends
//! For each d there are finitely many widened languages, and so finitely many tuples. They may be
//! many; so there is a limit.
//!
//! # What is true of T(A_d), and what is not
//! - T(R) ⊆ T(A_d) ⊆ Z. Below the top, a word of a widened language has only symbols that the
//!   language has below the top.
//! - T(A_d) ⊆ T(Z_{d+1}) ⊆ matched-Z for d ≥ 1. States that agree to depth 1 have the same labels,
//!   so what lies directly under a symbol in a widened language does so in the language, too; and
//!   the start stands alone, so the top d + 1 symbols are those of a word of the language. Z_{d+1}
//!   allows for all of that. So once there is A_d, Z_{d+1} rules out nothing more.
//! - If no language is changed by widening, T(A_d) = T(R). If (S_k) collapses, then from some d on.
//! - It depends on no order: each level has the largest of all successors of the level before. So
//!   permuting threads, and treating interchangeable ones as such, change nothing.
//! - T(A_{d+1}) ⊆ T(A_d) is **not** to be relied on: W_{d+1}(L) ⊆ W_d(L), but W_d is not monotone,
//!   so a language that is smaller in A_{d+1} may be widened to more. (In 30,000 random systems it
//!   did not happen.) Nor is T(A_0) a part of matched-Z.

use crate::certificate::tuples::Tuples;
use crate::limits::TooLarge;
use crate::limits::Unfinished;
use crate::symbolic::levels::{Symbolic, SymbolicOptions};
use crate::tables::packed_rows::PackedSet;
use crate::tuning::Tuning;
use crate::visible::levels::visible_states;
use crate::visible::symmetry::Symmetry;
use cpds::{Cpds, VisibleState};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// A_d.
pub struct Abstraction {
    pub(crate) symmetry: Symmetry,
    pub(crate) visible: PackedSet,
    /// The largest tuples: the states that they stand for are closed under every step.
    pub(crate) largest: Tuples,
    /// Whether no language was changed by widening: then T(A_d) = T(R).
    pub is_exact: bool,
    /// How many tuples were kept, those that others cover included.
    pub tuples: usize,
    /// What it took, in the units of [`Symbolic`].
    pub(crate) work: u64,
}

/// What it may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AbstractionLimits {
    /// How many tuples may be kept.
    pub tuples: usize,
    /// How many bytes the tables may take.
    pub memory: usize,
}

/// Why there is no A_d.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AbstractionError<B> {
    /// It would have more tuples than it may.
    TooManyTuples,
    /// It would take more memory than it may.
    TooLarge,
    /// The watcher said so.
    Stopped(B),
}

impl Abstraction {
    /// A_d, within limits.
    ///
    /// # Errors
    /// If the limits are reached.
    pub fn new(
        system: &Cpds,
        depth: usize,
        symmetry: bool,
        limits: AbstractionLimits,
    ) -> Result<Self, AbstractionError<()>> {
        let tuples = Symbolic::new(system, Self::options(depth, symmetry, limits, Tuning::SHIPPED));
        Self::watched(tuples, limits, &mut |_| ControlFlow::Continue(()))
    }

    /// How A_d is explored.
    pub(crate) fn options(depth: usize, symmetry: bool, limits: AbstractionLimits, tuning: Tuning) -> SymbolicOptions {
        SymbolicOptions { widening: Some(depth), ..SymbolicOptions::exact(symmetry, limits.memory, tuning) }
    }

    /// The same, from a start or from what was saved; now and then the watcher may look, and stop
    /// it.
    pub(crate) fn watched<B>(
        mut tuples: Symbolic<'_>,
        limits: AbstractionLimits,
        watch: &mut impl FnMut(&Symbolic<'_>) -> ControlFlow<B>,
    ) -> Result<Self, AbstractionError<B>> {
        let mut look = |tuples: &Symbolic<'_>| {
            if tuples.kept() > limits.tuples {
                ControlFlow::Break(AbstractionError::TooManyTuples)
            } else if tuples.bytes_at_next_look() > limits.memory {
                ControlFlow::Break(AbstractionError::TooLarge)
            } else {
                watch(tuples).map_break(AbstractionError::Stopped)
            }
        };
        loop {
            // A level that was saved in the middle goes on.
            if !tuples.is_going()
                && let ControlFlow::Break(why) = look(&tuples)
            {
                return Err(why);
            }
            match tuples.advance(&mut look) {
                Ok(()) => {}
                Err(Unfinished::Stopped(why)) => return Err(why),
                // Whoever cancels it is asked first.
                Err(Unfinished::TooLarge) => {
                    return Err(look(&tuples).break_value().unwrap_or(AbstractionError::TooLarge));
                }
            }
            if !tuples.grew(tuples.k()) {
                let largest = tuples.largest(limits.memory).map_err(|TooLarge| AbstractionError::TooLarge)?;
                return Ok(Abstraction {
                    is_exact: tuples.is_exact(),
                    tuples: tuples.kept(),
                    work: tuples.work(),
                    symmetry: tuples.symmetry.clone(),
                    largest,
                    visible: tuples.into_visible(),
                });
            }
        }
    }

    /// T(A_d).
    pub fn states(&self) -> BTreeSet<VisibleState> {
        visible_states(&self.symmetry, &self.visible, 0..self.visible.len()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpds::Problem;

    #[test]
    fn there_may_be_so_many_tuples_and_no_more() {
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
