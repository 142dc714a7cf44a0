//! Z, the context-insensitive overapproximation of T(R), and the generators in it (paper §4.1.2, §4.1.3, Alg. 2).
//!
//! Stacks are cut off at height 1. What emerges when a symbol is popped is not known, only that it is ε or one of E: the
//! symbols that a push writes under its callee, and those that lie under the top of an initial stack. (The paper starts with
//! empty stacks and needs no such symbols.) The states that the resulting finite system M^n reaches are Z ⊇ T(R).
//!
//! # What generators prove
//! At a plateau, T(R_k) is closed under all transitions of M^n except pops. Every pop of M^n from Z ends in G ∩ Z, and by
//! definition in the tighter set of targets of such pops. So if T(R_k) has all of either, it is closed under M^n, and then
//! Z ⊆ T(R_k) ⊆ T(R) ⊆ Z. Both tests succeed exactly when T(R_k) = Z; short of that they prove nothing.

use super::bad::Bad;
use super::count::Count;
use super::moves::{Moves, ThreadState};
use super::packed::{Layout, PackedSet};
use super::symmetry::{Successors, Symmetry};
use super::visible::{top, top_number, visible_states};
use cpds::{Action, Cpds, SharedState, ThreadId, VisibleState};
use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};

/// Z, with its generators.
pub struct Overapproximation {
    symmetry: Symmetry,
    z: PackedSet,
    /// G ∩ Z.
    generators: Vec<u32>,
    /// The targets of pops taken from Z.
    popped: Vec<u32>,
}

/// M_i for a thread: what its program does with stacks cut off at height 1 (Alg. 2).
struct CutOff<'a> {
    program: &'a cpds::Program,
    /// E, as numbers of tops, sorted.
    emerging: Vec<u32>,
    /// The shared states that a pop leads to, sorted.
    pops_to: Vec<u32>,
    /// The transitions known so far.
    moves: Moves<Origin>,
}

/// Where the transitions from a thread-visible state come from, and where it may come from itself.
#[derive(Clone, Copy)]
struct Origin {
    /// How many of the transitions, the last ones, are pops. Each stands for one transition to ε and one to each of E.
    pops: usize,
    /// Whether the thread-visible state may have emerged from a pop (Eq. 2).
    generates: bool,
}

impl<'a> CutOff<'a> {
    fn new(system: &'a Cpds, thread: ThreadId) -> Self {
        let program = system.program(thread);
        let mut emerging = BTreeSet::new();
        let mut pops_to = BTreeSet::new();
        for rule in program.rules() {
            match rule.action {
                Action::Push { return_point, .. } => {
                    emerging.insert(top_number(Some(return_point)));
                }
                Action::Pop { to, .. } => {
                    pops_to.insert(to.0);
                }
                Action::Overwrite { .. } | Action::EmptyOverwrite { .. } | Action::EmptyPush { .. } => {}
            }
        }
        for state in system.initial() {
            emerging.extend(state.stacks[thread.index()].iter().skip(1).map(|symbol| top_number(Some(symbol))));
        }
        CutOff {
            program,
            emerging: emerging.into_iter().collect(),
            pops_to: pops_to.into_iter().collect(),
            moves: Moves::default(),
        }
    }

    /// The transitions from (q,σ).
    #[inline]
    fn moves(&mut self, from: ThreadState) -> (Origin, Range<usize>) {
        match self.moves.get(from) {
            Some(known) => known,
            None => self.new_moves(from),
        }
    }

    /// Pops come last. An action from the empty stack that leaves it empty pops nothing, so nothing emerges from it. (Alg. 2,
    /// line 7, as printed, lets everything emerge.)
    #[cold]
    fn new_moves(&mut self, (shared, symbol): ThreadState) -> (Origin, Range<usize>) {
        let actions = || self.program.rules_from(SharedState(shared), top(symbol)).map(|(_, rule)| &rule.action);
        let others = actions().filter(|action| !matches!(action, Action::Pop { .. })).map(|action| {
            let (to, mut written) = action.target();
            (to.0, top_number(written.next()))
        });
        let pops =
            || actions().filter(|action| matches!(action, Action::Pop { .. })).map(|action| (action.target().0.0, 0));
        let origin = Origin {
            pops: pops().count(),
            generates: self.pops_to.binary_search(&shared).is_ok()
                && (symbol == 0 || self.emerging.binary_search(&symbol).is_ok()),
        };
        self.moves.insert((shared, symbol), origin, others.chain(pops()))
    }
}

/// How far the exploration of M^n is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// States kept so far.
    pub states: usize,
    /// The most memory that may be in use until the next look.
    pub bytes: usize,
}

/// How many transitions there are, roughly, from one look of the watcher to the next.
const PULSE: usize = 1 << 14;

/// Z while it is explored.
pub struct Growing<'a> {
    symmetry: Symmetry,
    /// For each group.
    threads: Vec<CutOff<'a>>,
    /// For each position, its group.
    group_of: Vec<usize>,
    z: PackedSet,
    /// For each state of Z: whether a pop leads to it.
    is_popped: Vec<bool>,
    /// For each state of Z that is done: whether it is in G.
    generates: Vec<bool>,
    successors: Successors,
    /// How many transitions were taken.
    taken: u64,
}

impl<'a> Growing<'a> {
    /// The visible initial states.
    pub fn new(system: &'a Cpds, symmetry: bool) -> Self {
        let symmetry = Symmetry::new(system, symmetry);
        let threads = symmetry.groups().map(|group| CutOff::new(system, symmetry.threads()[group.start])).collect();
        let group_of =
            symmetry.groups().enumerate().flat_map(|(i, group)| std::iter::repeat_n(i, group.len())).collect();
        let (shared, tops) = (system.shared_names().len(), system.symbol_names().len() + 1);
        let mut z = PackedSet::new(Layout::new(shared, system.thread_count(), tops));
        let mut row = vec![0; z.layout().words()];
        for state in system.initial() {
            let tops: Vec<u32> = state.stacks.iter().map(|stack| top_number(stack.top())).collect();
            let mut tops = symmetry.placed(&tops);
            symmetry.sort(&mut tops);
            z.layout().pack(&mut row, state.shared.0, tops);
            z.insert(&row);
        }
        let (is_popped, generates) = (vec![false; z.len()], Vec::new());
        Growing { symmetry, threads, group_of, z, is_popped, generates, successors: Successors::default(), taken: 0 }
    }

    /// Goes on until about so many transitions have been taken in all, and says whether nothing is left to be explored. Now
    /// and then the watcher may look, and stop it.
    pub fn explore<B>(
        &mut self,
        transitions: u64,
        watch: &mut impl FnMut(Progress) -> ControlFlow<B>,
    ) -> ControlFlow<B, bool> {
        let mut pulse = self.taken;
        while self.generates.len() < self.z.len() && self.taken <= transitions {
            let id = self.generates.len();
            let mut generates = false;
            for position in 0..self.group_of.len() {
                let (layout, row) = (self.z.layout(), self.z.row(id));
                if !self.symmetry.stands_for_itself(layout, row, position) {
                    continue;
                }
                let group = self.group_of[position];
                let from = (layout.shared(row), layout.local(row, position));
                let (origin, moves) = self.threads[group].moves(from);
                generates |= origin.generates;
                if moves.is_empty() {
                    continue;
                }
                self.successors.prepare(&self.symmetry, layout, row, position);
                let pops = moves.end - origin.pops;
                for index in moves.start..pops {
                    self.take(self.threads[group].moves.successor(index), false);
                }
                self.look(&mut pulse, watch)?;
                for index in pops..moves.end {
                    let (to, empty) = self.threads[group].moves.successor(index);
                    self.take((to, empty), true);
                    for i in 0..self.threads[group].emerging.len() {
                        self.take((to, self.threads[group].emerging[i]), true);
                    }
                    self.look(&mut pulse, watch)?;
                }
            }
            self.generates.push(generates);
        }
        ControlFlow::Continue(self.generates.len() == self.z.len())
    }

    /// Takes a transition of the thread that was prepared for.
    #[inline]
    fn take(&mut self, to: ThreadState, pop: bool) {
        self.taken += 1;
        let (target, new) = self.z.insert(self.successors.pack(self.z.layout(), to).0);
        if new {
            self.is_popped.push(pop);
        } else {
            self.is_popped[target] |= pop;
        }
    }

    #[inline]
    fn look<B>(&self, pulse: &mut u64, watch: &mut impl FnMut(Progress) -> ControlFlow<B>) -> ControlFlow<B> {
        if self.taken < *pulse {
            return ControlFlow::Continue(());
        }
        *pulse = self.taken + PULSE as u64;
        watch(Progress { states: self.z.len(), bytes: self.bytes_after(2 * PULSE) })
    }

    /// The memory in use.
    pub fn bytes(&self) -> usize {
        self.bytes_after(0)
    }

    fn bytes_after(&self, more: usize) -> usize {
        self.z.bytes_after(more).saturating_add(2 * self.is_popped.len())
    }

    /// Z, when nothing is left to be explored.
    ///
    /// # Panics
    /// If something is.
    pub fn finish(self) -> Overapproximation {
        assert_eq!(self.generates.len(), self.z.len(), "every state is done");
        let marked = |marks: &[bool]| {
            let ids = (0..).zip(marks).filter(|&(_, &marked)| marked);
            ids.map(|(id, _)| id).collect()
        };
        let (generators, popped) = (marked(&self.generates), marked(&self.is_popped));
        Overapproximation { symmetry: self.symmetry, z: self.z, generators, popped }
    }
}

impl Overapproximation {
    /// Explores all of M^n.
    pub fn new(system: &Cpds, symmetry: bool) -> Self {
        let mut growing = Growing::new(system, symmetry);
        let done = growing.explore(u64::MAX, &mut |_| ControlFlow::<()>::Continue(()));
        assert_eq!(done, ControlFlow::Continue(true), "nothing stops it");
        growing.finish()
    }

    /// |Z|.
    pub fn size(&self) -> Count {
        self.symmetry.sum_of_orbits(&self.z, 0..self.z.len())
    }

    /// Z.
    pub fn states(&self) -> BTreeSet<VisibleState> {
        visible_states(&self.symmetry, &self.z, 0..self.z.len()).collect()
    }

    /// G ∩ Z.
    pub fn generators(&self) -> BTreeSet<VisibleState> {
        visible_states(&self.symmetry, &self.z, self.generators.iter().map(|&id| id as usize)).collect()
    }

    /// The tighter set: where pops taken from Z lead to.
    pub fn popped(&self) -> BTreeSet<VisibleState> {
        visible_states(&self.symmetry, &self.z, self.popped.iter().map(|&id| id as usize)).collect()
    }

    /// |G ∩ Z|.
    pub fn generator_count(&self) -> Count {
        self.symmetry.sum_of_orbits(&self.z, self.generators.iter().map(|&id| id as usize))
    }

    /// The size of the tighter set.
    pub fn popped_count(&self) -> Count {
        self.symmetry.sum_of_orbits(&self.z, self.popped.iter().map(|&id| id as usize))
    }

    /// Whether Z has a bad state.
    pub(crate) fn has_bad_state(&self, bad: &Bad) -> bool {
        bad.first_violation(&self.z, 0..self.z.len()).is_some()
    }

    /// G ∩ Z alone, for watching T(R_k) come up to it.
    pub(crate) fn into_missing(self) -> Missing {
        let rows = self.generators.iter().flat_map(|&id| self.z.row(id as usize)).copied().collect();
        Missing { symmetry: self.symmetry, layout: self.z.layout().clone(), rows }
    }
}

/// The generators that T(R_k) has not: G ∩ Z \ T(R_k).
pub(crate) struct Missing {
    symmetry: Symmetry,
    layout: Layout,
    rows: Vec<u64>,
}

impl Missing {
    /// Takes out what T(R_k) has by now: the first `reached` of these visible states.
    pub(crate) fn remove(&mut self, visible: &PackedSet, reached: usize) {
        assert_eq!(visible.layout(), &self.layout, "both pack the same visible states");
        let words = self.layout.words();
        let missing = self.rows.chunks_exact(words).filter(|row| visible.find(row).is_none_or(|id| id >= reached));
        self.rows = missing.flatten().copied().collect();
    }

    pub(crate) fn bytes(&self) -> usize {
        self.rows.len() * size_of::<u64>()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(crate) fn count(&self) -> Count {
        let set = self.set();
        self.symmetry.sum_of_orbits(&set, 0..set.len())
    }

    /// As many of them as have a million tops together: interchangeable threads may have more than could ever be listed.
    pub(crate) fn states(&self) -> BTreeSet<VisibleState> {
        let set = self.set();
        let limit = 1_000_000 / self.symmetry.threads().len();
        visible_states(&self.symmetry, &set, 0..set.len()).take(limit).collect()
    }

    fn set(&self) -> PackedSet {
        let mut set = PackedSet::new(self.layout.clone());
        for row in self.rows.chunks_exact(self.layout.words()) {
            set.insert(row);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpds::Problem;

    fn overapproximation(text: &str) -> (Problem, Overapproximation) {
        let problem: Problem = text.parse().unwrap();
        let z = Overapproximation::new(problem.system(), true);
        (problem, z)
    }

    fn shown(problem: &Problem, states: &BTreeSet<VisibleState>) -> Vec<String> {
        states.iter().map(|state| problem.system().paper(state).to_string()).collect()
    }

    const FIG_1: &str = include_str!("../../../../models/paper/fig1.cpds");

    /// Fig. 3 and Ex. 14.
    #[test]
    fn z_and_the_generators_of_fig_1() {
        let (problem, z) = overapproximation(FIG_1);
        let all = shown(&problem, &z.states());
        assert_eq!(all, ["⟨0|1,ε⟩", "⟨0|1,4⟩", "⟨0|1,6⟩", "⟨1|2,ε⟩", "⟨1|2,4⟩", "⟨1|2,6⟩", "⟨2|2,5⟩", "⟨3|2,4⟩"]);
        assert_eq!(shown(&problem, &z.generators()), ["⟨0|1,ε⟩", "⟨0|1,6⟩"]);
        assert_eq!(z.generators(), z.popped());
        assert_eq!(z.size(), Count::from(8));
        assert!(z.has_bad_state(&Bad::new(problem.property(), &z.symmetry)));
    }

    #[test]
    fn what_lies_under_the_top_of_an_initial_stack_can_emerge() {
        let (problem, z) = overapproximation("shared 0; init 0|a b c; thread A { symbols a b c; (0,a) -> (0,-) }");
        assert_eq!(shown(&problem, &z.states()), ["⟨0|ε⟩", "⟨0|a⟩", "⟨0|b⟩", "⟨0|c⟩"]);
        assert_eq!(shown(&problem, &z.generators()), ["⟨0|ε⟩", "⟨0|b⟩", "⟨0|c⟩"]);
    }

    /// As printed, Alg. 2 would let b emerge here.
    #[test]
    fn nothing_emerges_from_the_empty_stack() {
        let text = "shared 0 1; init 0|-; thread A { symbols a b; (0,-) -> (1,-); (0,a) -> (0,a b) }";
        let (problem, z) = overapproximation(text);
        assert_eq!(shown(&problem, &z.states()), ["⟨0|ε⟩", "⟨1|ε⟩"]);
        assert_eq!(z.popped(), BTreeSet::new());
    }
}
