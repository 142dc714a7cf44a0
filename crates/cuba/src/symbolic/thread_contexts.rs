//! The contexts of one thread, by post\*: the shared states and languages in which a context ends.
//!
//! In: the position of a thread, and a *start*: a shared state and a language of stacks. Out: the
//! *ends*: each shared state that post\* reaches, with its language of stacks. The ends depend only
//! on the program and the start, and not on the stacks of other threads. So post\* is computed once
//! for each program and start.
//!
//! For A_d, each language of an end is widened.

use crate::automata::action_index::ActionIndex;
use crate::automata::language_table::{LanguageId, Languages, UnnumberedLanguages};
use crate::automata::store_automaton::Psa;
use crate::automata::widening::Widening;
use crate::cancel::Cancel;
use crate::limits::TooLarge;
use crate::symbolic::parallel_post_star::ParallelPostStar;
use crate::tables::step_cache::{StepCache, ThreadState};
use crate::tables::workers::WorkerPool;
use crate::tuning::Tuning;
use crate::visible::symmetry::Symmetry;
use cpds::{Cpds, SharedState, Stack};
use rustc_hash::FxHashSet;
use serde::{Serialize, Serializer};
use std::ops::Range;

/// The computed contexts of all threads.
pub(crate) struct ThreadContexts {
    languages: Languages,
    widening: Option<Widening>,
    /// For each program, the ends of each start.
    ends: Vec<StepCache>,
    action_indexes: Vec<ActionIndex>,
    /// For each position, the number of its program.
    programs: Vec<usize>,
    parallel: ParallelPostStar,
    /// The least estimated number of transitions for which several post\* are computed in parallel.
    parallel_from: u64,
    /// The memory for the next computation of post\*, in bytes.
    room: usize,
    cancel: Cancel,
    /// The number of ends that the exploration has looked up.
    expansions: u64,
    /// The number of transitions of all store automata.
    transitions: u64,
}

/// The saved part of contexts.
pub(crate) type SavedContexts = (Languages, Option<Widening>, Vec<StepCache>, usize, u64, u64);

impl Serialize for ThreadContexts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.languages, &self.widening, &self.ends, self.room, self.expansions, self.transitions)
            .serialize(serializer)
    }
}

impl ThreadContexts {
    /// Creates the cache without contexts. With a depth, each language of an end is widened to this
    /// depth.
    pub(crate) fn new(
        system: &Cpds,
        symmetry: &Symmetry,
        widening_depth: Option<usize>,
        room: usize,
        tuning: Tuning,
    ) -> Self {
        let ends = system.programs().iter().map(|_| StepCache::default()).collect();
        let saved = (Languages::default(), widening_depth.map(Widening::new), ends, room, 0, 0);
        Self::restored(system, symmetry, saved, tuning)
    }

    /// Restores saved contexts.
    pub(crate) fn restored(system: &Cpds, symmetry: &Symmetry, saved: SavedContexts, tuning: Tuning) -> Self {
        let (languages, widening, ends, room, expansions, transitions) = saved;
        ThreadContexts {
            languages,
            widening,
            ends,
            action_indexes: system.programs().iter().map(ActionIndex::new).collect(),
            programs: symmetry.programs(system),
            parallel: ParallelPostStar::default(),
            parallel_from: tuning.parallel_post_star,
            room,
            cancel: Cancel::default(),
            expansions,
            transitions,
        }
    }

    /// Sets the token that stops each computation, and the workers that compute several post\* in
    /// parallel.
    pub(crate) fn use_workers(&mut self, cancel: &Cancel, workers: WorkerPool) {
        self.parallel = ParallelPostStar::new(workers);
        self.cancel = cancel.clone();
        self.languages.set_cancel(cancel);
    }

    pub(crate) fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// Returns the memory for the next computation of post\*, in bytes.
    pub(crate) fn room(&self) -> usize {
        self.room
    }

    /// Sets the memory for the next computations.
    pub(crate) fn set_room(&mut self, room: usize) {
        self.room = room;
    }

    pub(crate) fn languages(&self) -> &Languages {
        &self.languages
    }

    pub(crate) fn languages_mut(&mut self) -> &mut Languages {
        &mut self.languages
    }

    /// Returns the language with only this word.
    pub(crate) fn word(&mut self, stack: &Stack) -> u32 {
        self.languages.word(stack).0
    }

    /// Returns the number of the program at a position.
    pub(crate) fn program(&self, position: usize) -> usize {
        self.programs[position]
    }

    /// Returns the program at a position, indexed for post\*.
    pub(crate) fn action_index(&self, position: usize) -> &ActionIndex {
        &self.action_indexes[self.programs[position]]
    }

    /// Whether languages are widened.
    pub(crate) fn are_widened(&self) -> bool {
        self.widening.is_some()
    }

    /// Whether widening has changed no language.
    pub(crate) fn are_exact(&self) -> bool {
        self.widening.as_ref().is_none_or(Widening::is_exact)
    }

    /// Returns the ends of a start, as a range for [`end`](Self::end).
    pub(crate) fn ends(&mut self, position: usize, start: ThreadState) -> Result<Range<usize>, TooLarge> {
        let ends = match self.ends[self.programs[position]].get(start) {
            Some(((), ends)) => ends,
            None => self.compute(self.programs[position], start)?,
        };
        self.expansions += ends.len() as u64;
        Ok(ends)
    }

    /// Returns the end with this index, for a thread at this position.
    pub(crate) fn end(&self, position: usize, index: usize) -> ThreadState {
        self.ends[self.programs[position]].successor(index)
    }

    /// Whether a context of the thread at this position that begins in `start` may end in `end`.
    /// False if the ends of this start were not computed.
    pub(crate) fn leads_to(&self, position: usize, start: ThreadState, end: ThreadState) -> bool {
        let ends = self.ends[self.programs[position]].get(start);
        ends.is_some_and(|((), mut ends)| ends.any(|index| self.end(position, index) == end))
    }

    /// Computes the ends of a start.
    fn compute(&mut self, program: usize, start: ThreadState) -> Result<Range<usize>, TooLarge> {
        let post_star = match self.parallel.take((program, start)) {
            Some(post_star) if post_star.fits(self.room) => post_star,
            Some(_) => return Err(TooLarge),
            None => PostStar::new(&self.languages, &self.action_indexes[program], start, self.room, &self.cancel)?,
        };
        self.transitions += post_star.transitions as u64;
        let mut ends = self.languages.number_all(&post_star.languages);
        if let Some(widening) = &mut self.widening {
            for (_, language) in &mut ends {
                *language = widening.widen(&mut self.languages, *language, self.room / 2)?;
            }
        }
        let ends = ends.into_iter().map(|(q, language)| (q.0, language.0));
        Ok(self.ends[program].insert(start, (), ends).1)
    }

    /// Whether it pays off to call [`prepare`](Self::prepare).
    pub(crate) fn is_parallel(&self) -> bool {
        self.parallel.batch() > 0
    }

    /// Whether post\* of this start is already computed.
    pub(crate) fn is_computed(&self, position: usize, start: ThreadState) -> bool {
        let program = self.programs[position];
        self.ends[program].get(start).is_some() || self.parallel.has((program, start))
    }

    /// Computes post\* of some of these starts in parallel, if that pays off. The exploration will
    /// soon need their ends, the first ones first.
    pub(crate) fn prepare(&mut self, starts: impl IntoIterator<Item = (usize, ThreadState)>) {
        let mut distinct = FxHashSet::default();
        let programs = starts.into_iter().map(|(position, start)| (self.programs[position], start));
        let mut wanted: Vec<_> = programs.filter(|&start| distinct.insert(start)).collect();
        wanted.truncate(self.parallel.batch());
        let transitions = wanted.len() as u64 * self.transitions / self.computed_starts().max(1) as u64;
        if wanted.len() > 1 && transitions >= self.parallel_from {
            self.parallel.compute(&wanted, &self.languages, &self.action_indexes, self.room, &self.cancel);
        }
    }

    /// Returns the number of programs and starts whose ends were computed.
    pub(crate) fn computed_starts(&self) -> usize {
        self.ends.iter().map(StepCache::len).sum()
    }

    /// Returns the number of ends that the exploration has looked up.
    pub(crate) fn expansions(&self) -> u64 {
        self.expansions
    }

    /// Returns the number of transitions of all store automata.
    pub(crate) fn transitions(&self) -> u64 {
        self.transitions
    }

    /// Returns the number of computations that were done in parallel and used.
    #[cfg(test)]
    pub(crate) fn used_in_parallel(&self) -> usize {
        self.parallel.used()
    }

    /// Returns the work so far.
    pub(crate) fn work(&self) -> u64 {
        self.transitions + self.expansions + self.languages.built_transitions() + self.languages.compared_pairs() / 64
    }

    /// Returns the memory in use.
    pub(crate) fn bytes(&self) -> usize {
        self.languages.bytes() + self.ends.iter().map(StepCache::bytes).sum::<usize>()
    }
}

/// post\* of a start.
pub(crate) struct PostStar {
    /// The number of transitions of the store automaton.
    transitions: usize,
    /// The language of each shared state.
    languages: UnnumberedLanguages,
}

impl PostStar {
    /// Computes post\*.
    ///
    /// # Errors
    /// If it takes more than `room` bytes: half of them are for the store automaton, the others for
    /// its languages.
    pub(crate) fn new(
        languages: &Languages,
        actions: &ActionIndex,
        (shared, language): ThreadState,
        room: usize,
        cancel: &Cancel,
    ) -> Result<Self, TooLarge> {
        let mut psa = languages.psa(SharedState(shared), LanguageId(language));
        psa.saturate(actions, most_transitions(room), cancel)?;
        let languages = UnnumberedLanguages::new(&psa, room / 2, cancel)?;
        Ok(PostStar { transitions: psa.transition_count(), languages })
    }

    /// Whether [`new`](Self::new) succeeds with so many bytes.
    fn fits(&self, room: usize) -> bool {
        self.transitions <= most_transitions(room) && self.languages.bytes() <= room / 2
    }
}

/// Returns the most transitions of a store automaton in so many bytes.
fn most_transitions(room: usize) -> usize {
    room / 2 / Psa::BYTES_A_TRANSITION
}
