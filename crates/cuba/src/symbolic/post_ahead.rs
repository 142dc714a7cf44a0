//! post* ahead of time, on several cores.
//!
//! A level knows beforehand for which shared states and languages it will ask for post*. What that
//! takes, saturating a store automaton and minimising what it accepts, does not depend on anything
//! but these. So it is computed for several of them at once, and when its turn comes each is
//! *noted*: its languages get their numbers then, and then it is found out whether there is memory
//! for it. So nothing depends on what was computed ahead, or on how many cores there are.

use crate::automata::action_index::ActionIndex;
use crate::automata::language_table::{LanguageId, Languages, UnnumberedLanguages};
use crate::automata::store_automaton::Psa;
use crate::limits::Cancel;
use crate::limits::TooLarge;
use crate::symbolic::diagram::{Diagrams, Node};
use crate::symbolic::levels::{Going, Symbolic};
use crate::tables::workers::WorkerPool;
use cpds::SharedState;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

/// A program, a shared state, and a language.
pub(crate) type BadStates = (usize, (u32, u32));

/// What has been computed, and nobody has asked for yet.
#[derive(Default)]
pub(crate) struct Ahead {
    hands: WorkerPool,
    posts: FxHashMap<BadStates, Post>,
    /// How many were asked for in the end.
    taken: usize,
}

/// post* of a shared state and a language.
pub(crate) struct Post {
    /// How many transitions the store automaton has.
    pub(crate) transitions: usize,
    pub(crate) minimal: UnnumberedLanguages,
}

/// How many are computed at a time, for each thread.
const EACH: usize = 8;

/// How far ahead of a tuple is looked.
const SOON: usize = 1 << 10;

impl Ahead {
    pub(crate) fn new(hands: WorkerPool) -> Self {
        Ahead { hands, ..Ahead::default() }
    }

    /// How many it is worth it to compute at once: none, if there is only one thread.
    pub(crate) fn worth(&self) -> usize {
        let hands = self.hands.count();
        if hands > 1 { hands * EACH } else { 0 }
    }

    /// Whether this has been computed.
    pub(crate) fn has(&self, asked: BadStates) -> bool {
        self.posts.contains_key(&asked)
    }

    /// What was asked for, if it has been computed.
    pub(crate) fn take(&mut self, asked: BadStates) -> Option<Post> {
        let post = self.posts.remove(&asked);
        self.taken += usize::from(post.is_some());
        post
    }

    /// Computes these, as far as each takes no more than its share of so many bytes. Those of
    /// before that nobody has asked for are forgotten.
    pub(crate) fn compute(
        &mut self,
        asked: &[BadStates],
        languages: &Languages,
        heads: &[ActionIndex],
        room: usize,
        cancel: &Cancel,
    ) {
        self.posts.clear();
        let room = room / asked.len().max(1);
        let post = |&(program, state): &BadStates| {
            let post = Post::new(languages, &heads[program], state, room, cancel).ok()?;
            Some(((program, state), post))
        };
        if let Some(pool) = self.hands.pool() {
            let found: Vec<_> = pool.install(|| asked.par_iter().map(post).collect());
            self.posts.extend(found.into_iter().flatten());
        }
    }
}

impl Going {
    /// The tuples and positions that come next, and whether that thread has not reached the tuple
    /// itself.
    pub(crate) fn upcoming(&self, threads: usize) -> impl Iterator<Item = (usize, usize, bool)> {
        let positions = move |n: usize| if n == 0 { self.position..threads } else { 0..threads };
        self.open[self.next..].iter().enumerate().flat_map(move |(n, &id)| {
            let has = move |position| self.reached_by.has(id as usize - self.before, position);
            positions(n).map(move |position| (id as usize, position, !has(position)))
        })
    }
}

impl Symbolic<'_> {
    /// The thread at this position of a tuple is going to be expanded. If what that takes is not
    /// known, it is computed, with some more that will be asked for soon.
    pub(crate) fn look_ahead(&mut self, id: usize, position: usize) {
        if self.ahead.worth() == 0 || self.has_post(self.asked(id, position)) {
            return;
        }
        let Some(going) = &self.going else { return };
        let upcoming = going.upcoming(self.programs.len()).take(SOON).filter(|&(.., is_open)| is_open);
        let soon = upcoming.map(|(id, position, _)| self.asked(id, position)).filter(|&asked| !self.has_post(asked));
        let asked = std::iter::once(self.asked(id, position)).chain(soon);
        self.compute_ahead(asked.collect());
    }

    /// The same for a set of tuples with this shared state.
    pub(crate) fn look_ahead_in(&mut self, diagrams: &Diagrams, (shared, position): (u32, usize), set: Node) {
        if self.ahead.worth() > 0 {
            let languages = diagrams.numbers_at(set, position).into_iter();
            let asked = languages.map(|language| (self.programs[position], (shared, language)));
            self.compute_ahead(asked.filter(|&asked| !self.has_post(asked)).collect());
        }
    }

    fn compute_ahead(&mut self, mut asked: Vec<BadStates>) {
        let mut known = FxHashSet::default();
        asked.retain(|&asked| known.insert(asked));
        asked.truncate(self.ahead.worth());
        let transitions = asked.len() as u64 * self.transitions() / self.posts().max(1) as u64;
        if asked.len() > 1 && transitions >= self.options.tuning.parallel_post_star {
            self.ahead.compute(&asked, &self.languages, &self.heads, self.room, &self.cancel);
        }
    }

    fn asked(&self, id: usize, position: usize) -> BadStates {
        let (layout, row) = (self.tuples.layout(), self.tuples.row(id));
        (self.programs[position], (layout.shared(row), layout.local(row, position)))
    }

    fn has_post(&self, asked: BadStates) -> bool {
        let (program, state) = asked;
        self.posts[program].get(state).is_some() || self.ahead.has(asked)
    }
}

impl Post {
    /// Computes it; unless it takes more than so many bytes. Half of them are for the store
    /// automaton, the others for its languages.
    pub(crate) fn new(
        languages: &Languages,
        heads: &ActionIndex,
        (shared, language): (u32, u32),
        room: usize,
        cancel: &Cancel,
    ) -> Result<Self, TooLarge> {
        let mut psa = languages.psa(SharedState(shared), LanguageId(language));
        psa.saturate(heads, most_transitions(room), cancel)?;
        Ok(Post { transitions: psa.transition_count(), minimal: UnnumberedLanguages::new(&psa, room / 2, cancel)? })
    }

    /// Whether [`new`](Self::new) would have had room for it in so many bytes.
    pub(crate) fn fits(&self, room: usize) -> bool {
        self.transitions <= most_transitions(room) && self.minimal.bytes() <= room / 2
    }
}

fn most_transitions(room: usize) -> usize {
    room / 2 / Psa::BYTES_A_TRANSITION
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbolic::levels::SymbolicOptions;
    use crate::tuning::Tuning;
    use cpds::Problem;
    use cpds_testing::random::{Shape, problem};
    use proptest::prelude::*;
    use std::cell::Cell;
    use std::ops::ControlFlow;
    use std::sync::Arc;
    use std::sync::atomic::AtomicUsize;

    /// What there is at every look, all of it; and how often something had been computed ahead.
    fn looks(problem: &Problem, options: SymbolicOptions, hands: usize) -> (Vec<Vec<u8>>, usize) {
        let mut looks = Vec::new();
        let mut tuples = Symbolic::new(problem.system(), options);
        tuples.works_for(&Cancel::default(), Arc::new(AtomicUsize::new(hands)));
        for _ in 0..4 {
            let more = tuples.advance(&mut |seen: &Symbolic<'_>| {
                looks.push(postcard::to_stdvec(seen).unwrap());
                if looks.len() < 30 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            looks.push(postcard::to_stdvec(&tuples).unwrap());
            if more.is_err() {
                break;
            }
        }
        (looks, tuples.ahead.taken)
    }

    /// Everything is the same on several cores, down to the numbers of languages, at every moment
    /// at which somebody looks, and where the memory is not enough.
    #[test]
    fn what_is_computed_ahead_changes_nothing() {
        let taken = Cell::new(0);
        let ways = (
            any::<bool>(),
            any::<bool>(),
            prop_oneof![Just(None), Just(Some(1))],
            prop_oneof![Just(1 << 24), 1_usize << 12..1 << 18],
        );
        proptest!(ProptestConfig::with_cases(150), |(problem in problem(&Shape { initial: 1..=5, ..Shape::default() }), (symmetry, drawn, widening, memory) in ways)| {
            let tuning = Tuning { diagram_groups: if drawn { 1 } else { usize::MAX }, ..Tuning::SMALL };
            let options = SymbolicOptions { widening, ..SymbolicOptions::exact(symmetry, memory, tuning) };
            let (alone, _) = looks(&problem, options, 1);
            let (many, ahead) = looks(&problem, options, 3);
            prop_assert!(alone == many, "three are not one");
            taken.set(taken.get() + ahead);
        });
        assert!(taken.get() > 500, "only {} were computed ahead", taken.get());
    }
}
