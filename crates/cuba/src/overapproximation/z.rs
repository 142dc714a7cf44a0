//! Z (paper §4.1.3, Alg. 2, Lemma 12), and the variants matched-Z and Z_z: overapproximations of
//! T(R) that cut off every stack.
//!
//! The steps of each thread with its cut-off stack form the finite system M_i
//! (`overapproximation/cut_off_stacks.rs`); all threads together form M^n. A pop may reveal a
//! symbol that was cut off. M^n then continues with every symbol that may be there
//! (`overapproximation/emerging_symbols.rs`). So each step of the system is a step of M^n on the
//! cut-off stacks, and the states that M^n reaches contain every reachable state, cut off. Their
//! tops contain T(R). M^n is finite, so its exploration always ends.
//!
//! | | height | a pop reveals |
//! |---|---|---|
//! | Z, as in the paper | 1 | any symbol of E |
//! | matched-Z | 1 | a symbol below a call that can end with the popped symbol |
//! | Z_z | z ≥ 2 | the same, below the z-th symbol |
//!
//! T(Z_{z+1}) ⊆ T(Z_z) ⊆ matched-Z ⊆ Z: each step of one of them is also a step of the next one.

use crate::limits::Unfinished;
use crate::overapproximation::cut_off_exploration::CutOffExploration;
use crate::overapproximation::cut_off_states::CutOffStates;
use crate::overapproximation::emerging_symbols::Returns;
use crate::tables::packed_rows::PackedSet;
use crate::tuning::Tuning;
use crate::visible::count::Count;
use crate::visible::levels::visible_states;
use crate::visible::symmetry::Symmetry;
use cpds::{Cpds, VisibleState};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

/// The height at which stacks are cut off, and the symbols that a pop may reveal.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cut {
    /// The height z.
    pub height: usize,
    /// Which symbols a pop may reveal.
    pub returns: Returns,
}

impl Cut {
    /// The cut of Z.
    pub const Z: Cut = Cut { height: 1, returns: Returns::Any };

    /// Returns the cut of matched-Z for height 1, and of Z_z for a greater height z.
    pub fn matched(height: usize) -> Self {
        Cut { height, returns: Returns::Matched }
    }
}

/// The states that M^n reaches: Z, matched-Z or Z_z.
pub struct Overapproximation<'a> {
    pub(super) symmetry: Symmetry,
    /// The visible states. For height 1, these are the states of M^n.
    pub(super) visible: Arc<PackedSet>,
    states: CutOffStates<'a>,
    /// The states in G ∩ Z, for height 1; otherwise empty.
    pub(super) generators: Vec<u32>,
    /// The targets of pops from states of Z, for height 1; otherwise empty.
    pub(super) pop_targets: Vec<u32>,
}

impl<'a> Overapproximation<'a> {
    /// Computes Z.
    pub fn new(system: &'a Cpds, symmetry: bool) -> Self {
        Self::cut_off(system, Cut::Z, symmetry)
    }

    /// Computes the states that M^n reaches, without limits.
    pub fn cut_off(system: &'a Cpds, cut: Cut, symmetry: bool) -> Self {
        let symmetry = Symmetry::new(system, symmetry);
        let exploration = CutOffExploration::new(system, symmetry, cut, usize::MAX, Tuning::SHIPPED);
        let exploration = exploration.expect("no limit");
        let result = Self::within(exploration, usize::MAX, &mut |_| ControlFlow::<()>::Continue(()));
        result.expect("no limit").0
    }

    /// Computes the states that M^n reaches, and the number of transitions to them. Calls `watch`
    /// at regular intervals; it may stop the computation.
    ///
    /// # Errors
    /// If the computation takes more than `memory` bytes, or if `watch` stops it.
    pub(crate) fn within<B>(
        mut exploration: CutOffExploration<'a>,
        memory: usize,
        watch: &mut impl FnMut(&CutOffExploration<'a>) -> ControlFlow<B>,
    ) -> Result<(Self, u64), Unfinished<B>> {
        let explored = exploration.explore(&mut |exploration| {
            if exploration.progress().bytes > memory {
                return ControlFlow::Break(Unfinished::TooLarge);
            }
            watch(exploration).map_break(Unfinished::Stopped)
        });
        if let ControlFlow::Break(why) = explored {
            return Err(why);
        }
        let transitions = exploration.transitions;
        let marked = |marks: &[bool]| -> Vec<u32> {
            let ids = (0..).zip(marks).filter(|&(_, &marked)| marked);
            ids.map(|(id, _)| id).collect()
        };
        let (visible, generators, pop_targets) = if exploration.cut.height == 1 {
            (None, marked(&exploration.is_generator), marked(&exploration.is_pop_target))
        } else {
            let bytes = exploration.progress().bytes;
            (Some(exploration.visible(memory.saturating_sub(bytes))?), Vec::new(), Vec::new())
        };
        let states = exploration.into_states();
        let visible = visible.map_or_else(|| states.set().clone(), Arc::new);
        let symmetry = states.symmetry.clone();
        Ok((Overapproximation { symmetry, visible, states, generators, pop_targets }, transitions))
    }

    /// Returns the number of visible states.
    pub fn size(&self) -> Count {
        self.symmetry.sum_of_orbits(self.visible.rows(0..self.visible.len()))
    }

    /// Returns the visible states.
    pub fn states(&self) -> BTreeSet<VisibleState> {
        visible_states(&self.symmetry, &self.visible, 0..self.visible.len()).collect()
    }

    /// Returns the visible states, and the cut-off states.
    pub(crate) fn into_states(self) -> (Arc<PackedSet>, CutOffStates<'a>) {
        (self.visible, self.states)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpds::Problem;
    use cpds_testing::overapproximation::cut_off;

    fn shown(problem: &Problem, states: &BTreeSet<VisibleState>) -> Vec<String> {
        states.iter().map(|state| problem.system().paper(state).to_string()).collect()
    }

    const FIG_1: &str = include_str!("../../../../models/paper/fig1.cpds");

    /// Fig. 3 and Ex. 14.
    #[test]
    fn z_and_the_generators_of_fig_1() {
        let problem: &Problem = &FIG_1.parse().unwrap();
        let z = Overapproximation::new(problem.system(), true);
        let all = shown(problem, &z.states());
        assert_eq!(all, ["⟨0|1,ε⟩", "⟨0|1,4⟩", "⟨0|1,6⟩", "⟨1|2,ε⟩", "⟨1|2,4⟩", "⟨1|2,6⟩", "⟨2|2,5⟩", "⟨3|2,4⟩"]);
        assert_eq!(shown(problem, &z.generators()), ["⟨0|1,ε⟩", "⟨0|1,6⟩"]);
        assert_eq!(z.generators(), z.pop_targets());
        assert_eq!(z.size(), Count::from(8));
    }

    #[test]
    fn the_lower_symbols_of_initial_stacks_emerge() {
        let problem: &Problem = &"shared 0; init 0|a b c; thread A { symbols a b c; (0,a) -> (0,-) }".parse().unwrap();
        let z = Overapproximation::new(problem.system(), true);
        assert_eq!(shown(problem, &z.states()), ["⟨0|ε⟩", "⟨0|a⟩", "⟨0|b⟩", "⟨0|c⟩"]);
        assert_eq!(shown(problem, &z.generators()), ["⟨0|ε⟩", "⟨0|b⟩", "⟨0|c⟩"]);
    }

    /// A pop leads to ⟨0|b⟩, and later an overwrite leads to ⟨0|b⟩ again.
    #[test]
    fn a_pop_target_stays_a_pop_target() {
        let problem: &Problem =
            &"shared 0; init 0|a b; thread A { symbols a b; (0,a) -> (0,-); (0,b) -> (0,b) }".parse().unwrap();
        let z = Overapproximation::new(problem.system(), true);
        assert_eq!(shown(problem, &z.pop_targets()), ["⟨0|ε⟩", "⟨0|b⟩"]);
    }

    /// Two procedures are called from different places. With matched returns, each returns to its
    /// caller.
    #[test]
    fn matched_returns_are_tighter_than_z() {
        let text = "shared 0 1 2; init 0|main; thread A { symbols main after end f g;
            (0,main) -> (1,f after); (1,f) -> (1,-); (1,after) -> (2,g end); (2,g) -> (2,-) }";
        let problem: &Problem = &text.parse().unwrap();
        let z = Overapproximation::new(problem.system(), true);
        let cut = |cut| Overapproximation::cut_off(problem.system(), cut, true);
        assert_eq!(shown(problem, &cut(Cut::Z).states()), shown(problem, &z.states()));
        assert_eq!(z.size(), Count::from(9));
        let exact = ["⟨0|main⟩", "⟨1|after⟩", "⟨1|f⟩", "⟨2|end⟩", "⟨2|g⟩"];
        assert_eq!(shown(problem, &cut(Cut::matched(1)).states()), exact);
    }

    #[test]
    fn higher_stacks_are_tighter_than_matched_returns() {
        let text = "shared 0 1; init 0|a b; thread A { symbols a b c; (0,a) -> (0,-); (0,b) -> (1,c); (1,c) -> (1,-) }";
        let problem: &Problem = &text.parse().unwrap();
        let size = |cut| Overapproximation::cut_off(problem.system(), cut, true).size();
        assert_eq!(size(Cut::matched(3)), Count::from(4));
    }

    const WORDS: &str = "shared 0 1; init 0|a,c b,-*29
        thread A { symbols a b c; (0,a) -> (1,b a); (1,b) -> (0,c b); (0,c) -> (1,-); (1,a) -> (0,-); (0,b) -> (1,a c) }
        thread B { symbols a b c; (1,c) -> (0,a c); (0,a) -> (1,b b); (1,b) -> (0,-) }
        thread C * 29 { symbols a b c }";

    /// There are more words than symbols. With two bits for each thread, a row is full, so rows
    /// have to become wider.
    #[test]
    fn rows_become_wider_for_more_words() {
        let problem: &Problem = &WORDS.parse().unwrap();
        for height in 1..=4 {
            let overapproximation = Overapproximation::cut_off(problem.system(), Cut::matched(height), true);
            assert_eq!(overapproximation.states(), cut_off(problem.system(), height), "height {height}");
        }
    }

    /// Overwrites lead from a to b, from b to c, and from c to a. So a symbol that may lie below c
    /// may also lie below a and b.
    #[test]
    fn symbols_below_a_loop_lie_below_all_of_it() {
        let problem: &Problem = &
            "shared 0 1; init 0|s
            thread A { symbols s a b c r t; (0,s) -> (0,a r); (0,s) -> (0,c t); (0,a) -> (0,b); (0,b) -> (0,c); (0,c) -> (0,a); (0,b) -> (1,-) }"
        .parse().unwrap();
        let states = Overapproximation::cut_off(problem.system(), Cut::matched(1), true).states();
        assert_eq!(states, cut_off(problem.system(), 1));
        let tops = states.iter().filter(|state| state.shared.0 == 1).count();
        assert_eq!(tops, 2, "r and t");
    }

    /// At regular intervals, the caller gets the number of transitions, and may stop the
    /// exploration. Each state but the first one takes at least one transition.
    #[test]
    fn the_caller_can_stop_the_exploration() {
        let problem: &Problem = &WORDS.parse().unwrap();
        let exploration = || {
            CutOffExploration::new(
                problem.system(),
                Symmetry::new(problem.system(), true),
                Cut::matched(2),
                usize::MAX,
                Tuning::SMALL,
            )
            .unwrap()
        };
        let mut counts = Vec::new();
        let whole = Overapproximation::within(exploration(), usize::MAX, &mut |exploration| {
            counts.push(exploration.progress().transitions);
            ControlFlow::<()>::Continue(())
        });
        let (whole, transitions) = whole.expect("no limit");
        assert!(
            transitions + 1 >= whole.states.set.len() as u64 && transitions > 2 * Tuning::SMALL.check_interval,
            "{transitions}"
        );
        assert!(
            counts.is_sorted()
                && counts[0] == 0
                && counts[counts.len() - 1] + 2 * Tuning::SMALL.check_interval > transitions,
            "{counts:?}"
        );
        let stopped = Overapproximation::within(exploration(), usize::MAX, &mut |exploration| match exploration
            .progress()
            .transitions
        {
            0 => ControlFlow::Continue(()),
            transitions => ControlFlow::Break(transitions),
        });
        assert!(matches!(stopped, Err(Unfinished::Stopped(1..))));
        let nothing = Overapproximation::within(exploration(), 0, &mut |_| ControlFlow::<()>::Continue(()));
        assert!(matches!(nothing, Err(Unfinished::TooLarge)));
    }

    /// As printed, Alg. 2 would let b emerge here.
    #[test]
    fn no_symbol_emerges_from_the_empty_stack() {
        let text = "shared 0 1; init 0|-; thread A { symbols a b; (0,-) -> (1,-); (0,a) -> (0,a b) }";
        let problem: &Problem = &text.parse().unwrap();
        let z = Overapproximation::new(problem.system(), true);
        assert_eq!(shown(problem, &z.states()), ["⟨0|ε⟩", "⟨1|ε⟩"]);
        assert_eq!(z.pop_targets(), BTreeSet::new());
    }
}
