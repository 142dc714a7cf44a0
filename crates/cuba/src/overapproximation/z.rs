//! Overapproximations of T(R) by stacks that are cut off: Z and its generators G ∩ Z (paper §4.1.2,
//! §4.1.3, Alg. 2, Lemma 12), Z with matched returns, and Z_z for stacks of height z.
//!
//! What each thread does with its cut-off stack is the finite system M_i
//! (`overapproximation/cut_off_stacks.rs`); together they are M^n. Every step of the system is one
//! of M^n on the cut-off stacks: what emerges when the last known symbol is popped is something
//! that may lie under it (`overapproximation/returns.rs`). So what M^n reaches from the cut-off
//! initial states has every reachable state, cut off, and its tops have T(R). M^n is finite, so
//! this always ends.
//!
//! - **Z**: height 1, any returns. The paper's.
//! - **matched-Z**: height 1, matched returns.
//! - **Z_z**: height z ≥ 2, matched returns.
//!
//! T(Z_{z+1}) ⊆ T(Z_z) ⊆ matched-Z ⊆ Z: each allows all that the one before it does.
//!
//! # What generators prove
//! At a plateau, T(R_k) is closed under all transitions of M^n except pops. Every pop of M^n from Z
//! ends in G ∩ Z, and by definition in the tighter set of targets of such pops. So if T(R_k) has
//! all of either, it is closed under M^n, and then Z ⊆ T(R_k) ⊆ T(R) ⊆ Z. Both tests succeed
//! exactly when T(R_k) = Z; short of that they prove nothing. The squeeze asks for T(R_k) = Z
//! itself, which needs no plateau.

use crate::automata::minimal_dfa::Dfa;
use crate::certificate::tuples::Tuples;
use crate::limits::Cancel;
use crate::limits::TooLarge;
use crate::limits::Unfinished;
use crate::overapproximation::cut_off_stacks::{CutOff, SavedCutOff};
use crate::overapproximation::returns::Returns;
use crate::tables::packed_rows::{Layout, PackedSet};
use crate::tables::step_cache::ThreadState;
use crate::tuning::Tuning;
use crate::visible::count::Count;
use crate::visible::levels::{VisibleLevels, visible_states};
use crate::visible::symmetry::{Successors, Symmetry};
use cpds::{Cpds, VisibleState};
use serde::{Serialize, Serializer};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Where stacks are cut off, and what emerges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cut {
    /// z.
    pub height: usize,
    /// What emerges.
    pub returns: Returns,
}

impl Cut {
    /// Z.
    pub const Z: Cut = Cut { height: 1, returns: Returns::Any };

    /// Z with matched returns; for a height of more than one, Z_z.
    pub fn matched(height: usize) -> Self {
        Cut { height, returns: Returns::Matched }
    }
}

/// What M^n reaches, and its generators.
pub struct Overapproximation<'a> {
    symmetry: Symmetry,
    /// The tops of what it reaches; for Z, all there is.
    visible: Arc<PackedSet>,
    states: CutOffStates<'a>,
    /// G ∩ Z; nothing if stacks are higher than one.
    generators: Vec<u32>,
    /// The targets of pops taken from Z; likewise.
    popped: Vec<u32>,
}

/// What M^n reaches, as cut-off stacks.
pub(crate) struct CutOffStates<'a> {
    symmetry: Symmetry,
    threads: Vec<CutOff<'a>>,
    group_of: Vec<usize>,
    set: Arc<PackedSet>,
}

/// What is saved of what M^n reaches.
pub(crate) type SavedStates = (Vec<SavedCutOff>, PackedSet);

impl Serialize for CutOffStates<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.threads, &self.set).serialize(serializer)
    }
}

impl<'a> CutOffStates<'a> {
    /// As they were when they were saved.
    pub(crate) fn restored(system: &'a Cpds, symmetry: &Symmetry, cut: Cut, (threads, set): SavedStates) -> Self {
        let threads = restored(system, symmetry, cut, threads);
        CutOffStates { symmetry: symmetry.clone(), threads, group_of: groups(symmetry), set: Arc::new(set) }
    }

    /// Each state as a tuple of the languages of the stacks that may be cut off there.
    pub(crate) fn tuples(&self) -> Tuples {
        let mut automaton = Dfa::default();
        let languages: Vec<Vec<u32>> = self.threads.iter().map(|thread| thread.languages(&mut automaton)).collect();
        let language = |position: usize, word: u32| languages[self.group_of[position]][word as usize];
        Tuples::new(&self.symmetry, automaton, self.set.rows(0..self.set.len()), language, true)
    }

    /// What M^n reaches.
    pub(crate) fn set(&self) -> &Arc<PackedSet> {
        &self.set
    }

    /// The memory in use, apart from what others use, too.
    pub(crate) fn bytes(&self) -> usize {
        let set = if Arc::strong_count(&self.set) > 1 { 0 } else { self.set.bytes_after(0) };
        set + self.threads.iter().map(CutOff::bytes).sum::<usize>()
    }
}

/// How far the exploration of M^n is.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// States kept so far.
    pub states: usize,
    /// Transitions taken so far.
    pub taken: u64,
    /// The most memory that may be in use until the next look.
    pub bytes: usize,
}

/// For each position, its group.
fn groups(symmetry: &Symmetry) -> Vec<usize> {
    symmetry.groups().enumerate().flat_map(|(i, group)| std::iter::repeat_n(i, group.len())).collect()
}

/// M_i of each group, as it was when it was saved.
fn restored<'a>(system: &'a Cpds, symmetry: &Symmetry, cut: Cut, saved: Vec<SavedCutOff>) -> Vec<CutOff<'a>> {
    let threads = symmetry.groups().map(|group| symmetry.threads()[group.start]);
    threads.zip(saved).map(|(thread, saved)| CutOff::restored(system, thread, cut.height, saved)).collect()
}

/// M^n while it is explored.
pub(crate) struct Growing<'a> {
    system: &'a Cpds,
    symmetry: Symmetry,
    cut: Cut,
    /// For each group.
    threads: Vec<CutOff<'a>>,
    /// For each position, its group.
    group_of: Vec<usize>,
    set: PackedSet,
    /// For each state: whether a pop leads to it.
    is_popped: Vec<bool>,
    /// For each state that is done: whether it is in G.
    generates: Vec<bool>,
    successors: Successors,
    /// How many transitions were taken.
    taken: u64,
    check_interval: u64,
    /// When the watcher looks again; and when between two states, where all that was done is in the
    /// tables.
    pulse: u64,
    rest: u64,
    is_resting: bool,
}

/// What is saved of M^n.
pub(crate) type SavedGrowing = (SavedStates, Vec<bool>, Vec<bool>, u64, u64, u64);

impl Serialize for Growing<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        ((&self.threads, &self.set), &self.is_popped, &self.generates, self.taken, self.pulse, self.rest)
            .serialize(serializer)
    }
}

impl<'a> Growing<'a> {
    /// As it was when it was saved.
    pub(crate) fn restored(
        system: &'a Cpds,
        symmetry: Symmetry,
        cut: Cut,
        saved: SavedGrowing,
        tuning: Tuning,
    ) -> Self {
        let ((threads, set), is_popped, generates, taken, pulse, rest) = saved;
        Growing {
            threads: restored(system, &symmetry, cut, threads),
            group_of: groups(&symmetry),
            system,
            symmetry,
            cut,
            set,
            is_popped,
            generates,
            successors: Successors::default(),
            taken,
            check_interval: tuning.check_interval,
            pulse,
            rest,
            is_resting: false,
        }
    }

    /// Whether all that was done is in the tables, and can be saved.
    pub(crate) fn is_resting(&self) -> bool {
        self.is_resting
    }

    /// The cut-off initial states.
    pub(crate) fn new(
        system: &'a Cpds,
        symmetry: Symmetry,
        cut: Cut,
        room: usize,
        tuning: Tuning,
    ) -> Result<Self, TooLarge> {
        let new = |thread| CutOff::new(system, thread, cut.height, cut.returns, room);
        let threads = symmetry.groups().map(|group| new(symmetry.threads()[group.start])).collect::<Result<_, _>>()?;
        let group_of = groups(&symmetry);
        let mut growing = Growing {
            set: PackedSet::new(VisibleLevels::layout(system)),
            system,
            symmetry,
            cut,
            threads,
            group_of,
            is_popped: Vec::new(),
            generates: Vec::new(),
            successors: Successors::default(),
            taken: 0,
            check_interval: tuning.check_interval,
            pulse: 0,
            rest: 0,
            is_resting: false,
        };
        let mut rows = Vec::new();
        for state in system.initial() {
            let stacks = growing.symmetry.placed(&state.stacks);
            let of = |(stack, &group): (_, &usize)| growing.threads[group].stack(stack);
            let mut words: Vec<u32> = stacks.iter().zip(&growing.group_of).map(of).collect();
            growing.symmetry.sort(&mut words);
            rows.push((state.shared.0, words));
        }
        growing.make_room();
        let mut row = vec![0; growing.set.layout().words()];
        for (shared, words) in rows {
            growing.set.layout().pack(&mut row, shared, words);
            growing.set.insert(&row);
        }
        growing.is_popped = vec![false; growing.set.len()];
        Ok(growing)
    }

    /// Makes rows wider if there are more words than fit.
    fn make_room(&mut self) {
        let words = self.threads.iter().map(CutOff::words).max().unwrap_or(0);
        if !self.set.layout().has_room_for(words) {
            let (shared, threads) = (self.system.shared_names().len(), self.group_of.len());
            self.set.set_layout(Layout::new(shared, threads, words));
        }
    }

    /// Goes on until nothing is left to be explored. Now and then the watcher may look, and stop
    /// it.
    fn explore<B>(&mut self, watch: &mut impl FnMut(&Self) -> ControlFlow<B>) -> ControlFlow<B> {
        while self.generates.len() < self.set.len() {
            if self.taken >= self.rest {
                self.rest = self.taken + self.check_interval;
                self.is_resting = true;
                watch(self)?;
                self.is_resting = false;
            }
            let id = self.generates.len();
            let mut generates = false;
            for position in 0..self.group_of.len() {
                let (layout, row) = (self.set.layout(), self.set.row(id));
                if !self.symmetry.stands_for_itself(layout, row, position) {
                    continue;
                }
                let group = self.group_of[position];
                let from @ (_, word) = (layout.shared(row), layout.local(row, position));
                let (origin, moves) = self.threads[group].moves(from);
                generates |= origin.generates;
                if moves.is_empty() {
                    continue;
                }
                let left = if origin.pops > 0 { self.threads[group].pop(word) } else { 0..0 };
                if self.cut.height > 1 {
                    self.make_room();
                }
                self.successors.prepare(&self.symmetry, self.set.layout(), self.set.row(id), position);
                let pops = moves.end - origin.pops;
                for index in moves.start..pops {
                    self.take(self.threads[group].successor(index), false);
                }
                self.look(watch)?;
                for index in pops..moves.end {
                    let (to, _) = self.threads[group].successor(index);
                    for i in left.clone() {
                        self.take((to, self.threads[group].left(i)), true);
                    }
                    self.look(watch)?;
                }
            }
            self.generates.push(generates);
        }
        ControlFlow::Continue(())
    }

    /// Goes on until it is finished, or has taken so many transitions, or so many bytes. Says
    /// whether it is finished; if not, it can go on.
    pub(crate) fn finishes_within(&mut self, transitions: u64, memory: usize, cancel: &Cancel) -> bool {
        let explored = self.explore(&mut |growing| {
            let is_enough = growing.taken >= transitions || growing.progress().bytes > memory || cancel.why().is_some();
            if growing.is_resting && is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        self.is_resting = false;
        explored.is_continue()
    }

    /// What it has reached so far.
    pub(crate) fn set(&self) -> &PackedSet {
        &self.set
    }

    /// Takes a transition of the thread that was prepared for.
    #[inline]
    fn take(&mut self, to: ThreadState, pop: bool) {
        self.taken += 1;
        let (target, new) = self.set.insert(self.successors.pack(self.set.layout(), to).0);
        if new {
            self.is_popped.push(pop);
        } else {
            self.is_popped[target] |= pop;
        }
    }

    #[inline]
    fn look<B>(&mut self, watch: &mut impl FnMut(&Self) -> ControlFlow<B>) -> ControlFlow<B> {
        if self.taken < self.pulse {
            return ControlFlow::Continue(());
        }
        self.pulse = self.taken + self.check_interval;
        watch(self)
    }

    pub(crate) fn progress(&self) -> Progress {
        let threads: usize = self.threads.iter().map(CutOff::bytes).sum();
        let more = usize::try_from(2 * self.check_interval).unwrap_or(usize::MAX);
        let bytes = self.set.bytes_after(more).saturating_add(2 * self.is_popped.len() + threads);
        Progress { states: self.set.len(), taken: self.taken, bytes }
    }

    /// The tops of every state.
    fn visible(&self, room: usize) -> Result<PackedSet, TooLarge> {
        let mut visible = PackedSet::new(VisibleLevels::layout(self.system));
        let mut row = vec![0; visible.layout().words()];
        for id in 0..self.set.len() {
            let (layout, words) = (self.set.layout(), self.set.row(id));
            let tops = layout.locals(words).zip(&self.group_of).map(|(word, &group)| self.threads[group].top(word));
            let mut tops: Vec<u32> = tops.collect();
            self.symmetry.sort(&mut tops);
            visible.layout().pack(&mut row, layout.shared(words), tops);
            visible.insert(&row);
            if visible.bytes_after(1) > room {
                return Err(TooLarge);
            }
        }
        Ok(visible)
    }
}

impl<'a> Overapproximation<'a> {
    /// Z.
    pub fn new(system: &'a Cpds, symmetry: bool) -> Self {
        Self::cut_off(system, Cut::Z, symmetry)
    }

    /// What M^n reaches, whatever it takes.
    pub fn cut_off(system: &'a Cpds, cut: Cut, symmetry: bool) -> Self {
        let growing = Growing::new(system, Symmetry::new(system, symmetry), cut, usize::MAX, Tuning::SHIPPED)
            .expect("nothing limits it");
        let found = Self::within(growing, usize::MAX, &mut |_| ControlFlow::<()>::Continue(()));
        found.expect("nothing stops it").0
    }

    /// What M^n reaches, and how many transitions that took. Now and then the watcher may look, and
    /// stop it.
    ///
    /// # Errors
    /// If it takes more than `memory` bytes, or if the watcher says so.
    pub(crate) fn within<B>(
        mut growing: Growing<'a>,
        memory: usize,
        watch: &mut impl FnMut(&Growing<'a>) -> ControlFlow<B>,
    ) -> Result<(Self, u64), Unfinished<B>> {
        let explored = growing.explore(&mut |growing| {
            if growing.progress().bytes > memory {
                return ControlFlow::Break(Unfinished::TooLarge);
            }
            watch(growing).map_break(Unfinished::Stopped)
        });
        if let ControlFlow::Break(why) = explored {
            return Err(why);
        }
        let taken = growing.taken;
        let marked = |marks: &[bool]| -> Vec<u32> {
            let ids = (0..).zip(marks).filter(|&(_, &marked)| marked);
            ids.map(|(id, _)| id).collect()
        };
        let (visible, generators, popped) = if growing.cut.height == 1 {
            (None, marked(&growing.generates), marked(&growing.is_popped))
        } else {
            let others = growing.progress().bytes;
            (Some(growing.visible(memory.saturating_sub(others))?), Vec::new(), Vec::new())
        };
        let Growing { symmetry, threads, group_of, set, .. } = growing;
        let set = Arc::new(set);
        let visible = visible.map_or_else(|| set.clone(), Arc::new);
        let states = CutOffStates { symmetry: symmetry.clone(), threads, group_of, set };
        Ok((Overapproximation { symmetry, visible, states, generators, popped }, taken))
    }

    /// How many visible states there are.
    pub fn size(&self) -> Count {
        self.symmetry.sum_of_orbits(self.visible.rows(0..self.visible.len()))
    }

    /// The visible states.
    pub fn states(&self) -> BTreeSet<VisibleState> {
        visible_states(&self.symmetry, &self.visible, 0..self.visible.len()).collect()
    }

    /// G ∩ Z.
    pub fn generators(&self) -> BTreeSet<VisibleState> {
        visible_states(&self.symmetry, &self.visible, self.generators.iter().map(|&id| id as usize)).collect()
    }

    /// The tighter set: where pops taken from Z lead to.
    pub fn popped(&self) -> BTreeSet<VisibleState> {
        visible_states(&self.symmetry, &self.visible, self.popped.iter().map(|&id| id as usize)).collect()
    }

    /// |G ∩ Z|.
    pub fn generator_count(&self) -> Count {
        self.symmetry.sum_of_orbits(self.visible.rows(self.generators.iter().map(|&id| id as usize)))
    }

    /// The size of the tighter set.
    pub fn popped_count(&self) -> Count {
        self.symmetry.sum_of_orbits(self.visible.rows(self.popped.iter().map(|&id| id as usize)))
    }

    /// The visible states, and the cut-off ones.
    pub(crate) fn into_states(self) -> (Arc<PackedSet>, CutOffStates<'a>) {
        (self.visible, self.states)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpds::Problem;
    use cpds_testing::overapproximation::cut_off;

    fn overapproximation(text: &str) -> (&'static Problem, Overapproximation<'static>) {
        let problem: &Problem = Box::leak(Box::new(text.parse().unwrap()));
        (problem, Overapproximation::new(problem.system(), true))
    }

    fn shown(problem: &Problem, states: &BTreeSet<VisibleState>) -> Vec<String> {
        states.iter().map(|state| problem.system().paper(state).to_string()).collect()
    }

    const FIG_1: &str = include_str!("../../../../models/paper/fig1.cpds");

    /// Fig. 3 and Ex. 14.
    #[test]
    fn z_and_the_generators_of_fig_1() {
        let (problem, z) = overapproximation(FIG_1);
        let all = shown(problem, &z.states());
        assert_eq!(all, ["⟨0|1,ε⟩", "⟨0|1,4⟩", "⟨0|1,6⟩", "⟨1|2,ε⟩", "⟨1|2,4⟩", "⟨1|2,6⟩", "⟨2|2,5⟩", "⟨3|2,4⟩"]);
        assert_eq!(shown(problem, &z.generators()), ["⟨0|1,ε⟩", "⟨0|1,6⟩"]);
        assert_eq!(z.generators(), z.popped());
        assert_eq!(z.size(), Count::from(8));
    }

    #[test]
    fn what_lies_under_the_top_of_an_initial_stack_can_emerge() {
        let (problem, z) = overapproximation("shared 0; init 0|a b c; thread A { symbols a b c; (0,a) -> (0,-) }");
        assert_eq!(shown(problem, &z.states()), ["⟨0|ε⟩", "⟨0|a⟩", "⟨0|b⟩", "⟨0|c⟩"]);
        assert_eq!(shown(problem, &z.generators()), ["⟨0|ε⟩", "⟨0|b⟩", "⟨0|c⟩"]);
    }

    /// ⟨0|b⟩ emerges from a pop, and then b is written again.
    #[test]
    fn what_was_popped_once_was_popped() {
        let (problem, z) =
            overapproximation("shared 0; init 0|a b; thread A { symbols a b; (0,a) -> (0,-); (0,b) -> (0,b) }");
        assert_eq!(shown(problem, &z.popped()), ["⟨0|ε⟩", "⟨0|b⟩"]);
    }

    /// Two calls of different procedures: with matched returns each comes back to its caller.
    #[test]
    fn matched_returns_rule_out_what_z_has() {
        let text = "shared 0 1 2; init 0|main; thread A { symbols main after end f g;
            (0,main) -> (1,f after); (1,f) -> (1,-); (1,after) -> (2,g end); (2,g) -> (2,-) }";
        let (problem, z) = overapproximation(text);
        let cut = |cut| Overapproximation::cut_off(problem.system(), cut, true);
        assert_eq!(shown(problem, &cut(Cut::Z).states()), shown(problem, &z.states()));
        assert_eq!(z.size(), Count::from(9));
        let exact = ["⟨0|main⟩", "⟨1|after⟩", "⟨1|f⟩", "⟨2|end⟩", "⟨2|g⟩"];
        assert_eq!(shown(problem, &cut(Cut::matched(1)).states()), exact);
    }

    /// Which of two places the procedure returns to depends on what lies on top when it is called.
    #[test]
    fn higher_stacks_rule_out_what_matched_returns_have() {
        let text = "shared 0 1; init 0|a b; thread A { symbols a b c; (0,a) -> (0,-); (0,b) -> (1,c); (1,c) -> (1,-) }";
        let (problem, _) = overapproximation(text);
        let size = |cut| Overapproximation::cut_off(problem.system(), cut, true).size();
        assert_eq!(size(Cut::matched(3)), Count::from(4));
    }

    const WORDS: &str = "shared 0 1; init 0|a,c b,-*29
        thread A { symbols a b c; (0,a) -> (1,b a); (1,b) -> (0,c b); (0,c) -> (1,-); (1,a) -> (0,-); (0,b) -> (1,a c) }
        thread B { symbols a b c; (1,c) -> (0,a c); (0,a) -> (1,b b); (1,b) -> (0,-) }
        thread C * 29 { symbols a b c }";

    /// There are more words than symbols. With two bits a thread, a row is full; so rows become
    /// wider.
    #[test]
    fn there_is_room_for_every_word() {
        let (problem, _) = overapproximation(WORDS);
        for height in 1..=4 {
            let found = Overapproximation::cut_off(problem.system(), Cut::matched(height), true);
            assert_eq!(found.states(), cut_off(problem.system(), height), "height {height}");
        }
    }

    /// a, b and c take each other's place: what lies under a is found under b, c and then a again,
    /// and so what lies under c has to go round, too.
    #[test]
    fn what_lies_under_a_loop_goes_round() {
        let (problem, _) = overapproximation(
            "shared 0 1; init 0|s
            thread A { symbols s a b c r t; (0,s) -> (0,a r); (0,s) -> (0,c t); (0,a) -> (0,b); (0,b) -> (0,c); (0,c) -> (0,a); (0,b) -> (1,-) }",
        );
        let found = Overapproximation::cut_off(problem.system(), Cut::matched(1), true).states();
        assert_eq!(found, cut_off(problem.system(), 1));
        let tops = found.iter().filter(|state| state.shared.0 == 1).count();
        assert_eq!(tops, 2, "r and t");
    }

    /// Whoever watches sees how many transitions there were, and may stop it. Every state but the
    /// first one takes one, at least.
    #[test]
    fn it_can_be_stopped() {
        let (problem, _) = overapproximation(WORDS);
        let growing = || {
            Growing::new(
                problem.system(),
                Symmetry::new(problem.system(), true),
                Cut::matched(2),
                usize::MAX,
                Tuning::SMALL,
            )
            .unwrap()
        };
        let mut seen = Vec::new();
        let whole = Overapproximation::within(growing(), usize::MAX, &mut |growing| {
            seen.push(growing.progress().taken);
            ControlFlow::<()>::Continue(())
        });
        let (whole, taken) = whole.expect("nothing stops it");
        assert!(taken + 1 >= whole.states.set.len() as u64 && taken > 2 * Tuning::SMALL.check_interval, "{taken}");
        assert!(
            seen.is_sorted() && seen[0] == 0 && seen[seen.len() - 1] + 2 * Tuning::SMALL.check_interval > taken,
            "{seen:?}"
        );
        let stopped = Overapproximation::within(growing(), usize::MAX, &mut |growing| match growing.progress().taken {
            0 => ControlFlow::Continue(()),
            taken => ControlFlow::Break(taken),
        });
        assert!(matches!(stopped, Err(Unfinished::Stopped(1..))));
        let nothing = Overapproximation::within(growing(), 0, &mut |_| ControlFlow::<()>::Continue(()));
        assert!(matches!(nothing, Err(Unfinished::TooLarge)));
    }

    /// As printed, Alg. 2 would let b emerge here.
    #[test]
    fn nothing_emerges_from_the_empty_stack() {
        let text = "shared 0 1; init 0|-; thread A { symbols a b; (0,-) -> (1,-); (0,a) -> (0,a b) }";
        let (problem, z) = overapproximation(text);
        assert_eq!(shown(problem, &z.states()), ["⟨0|ε⟩", "⟨1|ε⟩"]);
        assert_eq!(z.popped(), BTreeSet::new());
    }
}
