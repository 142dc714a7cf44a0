//! The store for the tuples of all levels: a list, or decision diagrams.
//!
//! Both kinds of stores have the same tuples, level by level. A list has each tuple as a row. In
//! diagrams, tuples share common parts; this pays off for many unlike threads. All other files use
//! this type, and do not depend on the kind.

use crate::automata::language_table::{LanguageId, Languages};
use crate::automata::minimal_dfa::Dfa;
use crate::certificate::tuples::Tuples;
use crate::limits::TooLarge;
use crate::symbolic::thread_contexts::ThreadContexts;
use crate::symbolic::tuple_diagrams::TupleDiagrams;
use crate::symbolic::tuple_list::TupleList;
use crate::tables::packed_rows::PackedSet;
use crate::tuning::Tuning;
use crate::visible::bad_patterns::BadPatterns;
use crate::visible::count::Count;
use crate::visible::levels::{VisibleLevels, top};
use crate::visible::symmetry::Symmetry;
use cpds::{GlobalState, Stack};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// The tuples of all levels.
#[derive(Serialize, Deserialize)]
pub(crate) enum TupleStore {
    /// A list of tuples.
    List(Box<TupleList>),
    /// Decision diagrams.
    Diagrams(Box<TupleDiagrams>),
}

/// The parts of an exploration that a store uses.
pub(crate) struct StoreContext<'e> {
    pub(crate) symmetry: &'e Symmetry,
    /// Whether to drop tuples that others cover.
    pub(crate) subsumption: bool,
    /// The contexts of all threads.
    pub(crate) contexts: &'e mut ThreadContexts,
}

/// A tuple of a level.
pub(crate) struct LevelTuple {
    /// Its number in a list; its level in diagrams.
    pub(crate) number: usize,
    pub(crate) shared: u32,
    /// By position.
    pub(crate) languages: Vec<u32>,
}

/// A step back from a tuple of a level.
pub(crate) struct PreviousTuple {
    pub(crate) tuple: LevelTuple,
    /// The position of the thread that moved, before and after its context.
    pub(crate) from: usize,
    pub(crate) to: usize,
}

impl TupleStore {
    /// Creates an empty store. The initial tuples have to be added next.
    pub(crate) fn new(shared_states: usize, symmetry: &Symmetry, languages: usize, tuning: Tuning) -> Self {
        if TupleDiagrams::pay_off(symmetry, tuning.diagram_groups) {
            TupleStore::Diagrams(Box::new(TupleDiagrams::new(shared_states, symmetry.threads().len())))
        } else {
            TupleStore::List(Box::new(TupleList::new(shared_states, symmetry.threads().len(), languages)))
        }
    }

    /// Adds an initial tuple of single words. The languages are by position.
    pub(crate) fn add_initial(&mut self, context: &mut StoreContext<'_>, shared: u32, languages: Vec<u32>) {
        match self {
            TupleStore::List(list) => list.add_initial(context, shared, languages),
            TupleStore::Diagrams(diagrams) => diagrams.add_initial(shared, &languages),
        }
    }

    /// Begins the next level.
    pub(crate) fn start_level(&mut self) {
        match self {
            TupleStore::List(list) => list.start_level(),
            TupleStore::Diagrams(diagrams) => diagrams.start_level(),
        }
    }

    /// Whether a level has begun and is incomplete.
    pub(crate) fn has_incomplete_level(&self) -> bool {
        match self {
            TupleStore::List(list) => list.has_incomplete_level(),
            TupleStore::Diagrams(diagrams) => diagrams.has_incomplete_level(),
        }
    }

    /// Takes the next step of a level. Returns false if there is none.
    pub(crate) fn expand_next(&mut self, context: &mut StoreContext<'_>) -> Result<bool, TooLarge> {
        match self {
            TupleStore::List(list) => list.expand_next(context),
            TupleStore::Diagrams(diagrams) => diagrams.expand_next(context.contexts),
        }
    }

    /// Ends the level, which may be incomplete. Appends the number of the largest tuples to
    /// `counts`, and the visible states of the level to `visible`.
    ///
    /// # Errors
    /// If the tables and the visible states take more than `memory` bytes.
    pub(crate) fn finish_level(
        &mut self,
        context: &mut StoreContext<'_>,
        counts: &mut Vec<Count>,
        visible: &mut VisibleLevels,
        memory: usize,
    ) -> Result<(), TooLarge> {
        match self {
            TupleStore::List(list) => list.finish_level(context, counts, visible, memory),
            TupleStore::Diagrams(diagrams) => diagrams.finish_level(context, counts, visible, memory),
        }
    }

    /// Drops results that can be computed again. A checkpoint does not have them, so an exploration
    /// that continues from it computes them again, and counts the same work.
    pub(crate) fn drop_caches(&mut self) {
        match self {
            TupleStore::List(_) => {}
            TupleStore::Diagrams(diagrams) => diagrams.drop_caches(),
        }
    }

    /// Sets the limits that the store itself checks.
    pub(crate) fn set_limits(&mut self, contexts: &ThreadContexts) {
        match self {
            TupleStore::List(_) => {}
            TupleStore::Diagrams(diagrams) => diagrams.set_limits(contexts),
        }
    }

    /// Whether level k has a tuple that no tuple of the levels before covers.
    pub(crate) fn grew(&self, k: usize) -> bool {
        match self {
            TupleStore::List(list) => !list.level(k).is_empty(),
            TupleStore::Diagrams(diagrams) => diagrams.grew(k),
        }
    }

    /// Whether a tuple of a level up to k stands for a state.
    pub(crate) fn contains(&self, symmetry: &Symmetry, languages: &Languages, k: usize, state: &GlobalState) -> bool {
        let stacks: Vec<Stack> = symmetry.placed(&state.stacks);
        let has = |language: u32, place: usize| languages.contains(LanguageId(language), &stacks[place]);
        match self {
            TupleStore::List(list) => list.has_match(symmetry, k, state.shared.0, has),
            TupleStore::Diagrams(diagrams) => diagrams.has_match(k, state.shared.0, has),
        }
    }

    /// Returns the largest tuples of all levels.
    ///
    /// # Errors
    /// If a list of them takes more than `room` bytes.
    pub(crate) fn largest(&self, context: (&Symmetry, &Languages), room: usize) -> Result<Tuples, TooLarge> {
        match self {
            TupleStore::List(list) => Ok(tuples(context, list.rows(), list.largest().into_iter())),
            TupleStore::Diagrams(diagrams) => {
                let rows = diagrams.list_largest(context.1.len(), room)?;
                Ok(tuples(context, &rows, 0..rows.len()))
            }
        }
    }

    /// Returns tuples that stand for R_k.
    ///
    /// # Errors
    /// If a list of them takes more than `room` bytes.
    pub(crate) fn up_to(&self, context: (&Symmetry, &Languages), k: usize, room: usize) -> Result<Tuples, TooLarge> {
        match self {
            TupleStore::List(list) => Ok(tuples(context, list.rows(), 0..list.level(k).end)),
            TupleStore::Diagrams(diagrams) => {
                let rows = diagrams.list_up_to(k, context.1.len(), room)?;
                Ok(tuples(context, &rows, 0..rows.len()))
            }
        }
    }

    /// Returns the tuples of level k; `None` if diagrams have more than `most` of them.
    pub(crate) fn tuples_of_level(&self, k: usize, most: usize) -> Option<Vec<(u32, Vec<u32>)>> {
        match self {
            TupleStore::List(list) => Some(list.tuples_of_level(k)),
            TupleStore::Diagrams(diagrams) => diagrams.tuples_of_level(k, most),
        }
    }

    /// Returns the tuples before level k with this shared state, permuted in each possible way.
    /// Each of their languages costs one unit of `budget`. Returns `None` if the budget does not
    /// suffice.
    pub(crate) fn orbits_before(
        &self,
        symmetry: &Symmetry,
        k: usize,
        shared: u32,
        budget: &mut usize,
    ) -> Option<Vec<Vec<u32>>> {
        match self {
            TupleStore::List(list) => list.orbits_before(symmetry, k, shared, budget),
            TupleStore::Diagrams(diagrams) => diagrams.tuples_before(k, shared, budget),
        }
    }

    /// Returns the first tuple, level by level, with a state that fits a bad pattern, and for each
    /// place in the pattern, the position in the tuple.
    pub(crate) fn first_bad(
        &self,
        languages: &Languages,
        bad: &BadPatterns,
        pattern: usize,
    ) -> Option<(LevelTuple, Vec<usize>)> {
        let has_top =
            |language: u32, wanted: u32| languages.tops(LanguageId(language)).any(|reached| reached == top(wanted));
        let arrange = |tuple: LevelTuple| {
            let fits = |position: usize, wanted: u32| has_top(tuple.languages[position], wanted);
            bad.arrange(pattern, tuple.shared, fits).map(|positions| (tuple, positions))
        };
        match self {
            TupleStore::List(list) => list.tuples().find_map(arrange),
            TupleStore::Diagrams(diagrams) => {
                let fits = |place: usize, language: u32| {
                    bad.wanted_top(pattern, place).is_none_or(|wanted| has_top(language, wanted))
                };
                diagrams.first_with(fits).find_map(arrange)
            }
        }
    }

    /// Returns a tuple of the level before from which one context leads to this tuple; `None` for
    /// an initial tuple.
    pub(crate) fn previous(&self, contexts: &ThreadContexts, tuple: &LevelTuple) -> Option<PreviousTuple> {
        match self {
            TupleStore::List(list) => list.previous(tuple),
            TupleStore::Diagrams(diagrams) => diagrams.previous(contexts, tuple),
        }
    }

    /// Returns the number of tuples in a list, with covered ones, or of nodes in diagrams.
    pub(crate) fn len(&self) -> usize {
        match self {
            TupleStore::List(list) => list.len(),
            TupleStore::Diagrams(diagrams) => diagrams.len(),
        }
    }

    /// Returns the work of the store itself.
    pub(crate) fn work(&self) -> u64 {
        match self {
            TupleStore::List(_) => 0,
            TupleStore::Diagrams(diagrams) => diagrams.work(),
        }
    }

    /// Returns the most memory in use while so many more tuples are added. Diagrams check their
    /// limit themselves.
    pub(crate) fn bytes_after(&self, more: usize) -> usize {
        match self {
            TupleStore::List(list) => list.bytes_after(more),
            TupleStore::Diagrams(diagrams) => diagrams.bytes(),
        }
    }
}

/// Converts the rows with these numbers to tuples of languages.
fn tuples(
    (symmetry, languages): (&Symmetry, &Languages),
    rows: &PackedSet,
    numbers: impl Iterator<Item = usize> + Clone,
) -> Tuples {
    let (mut automaton, mut states) = (Dfa::default(), FxHashMap::default());
    for number in numbers.clone() {
        for language in rows.layout().locals(rows.row(number)) {
            states.entry(language).or_insert_with(|| languages.get(LanguageId(language)).add_to(&mut automaton));
        }
    }
    Tuples::new(symmetry, automaton, rows.rows(numbers), |_, language| states[&language], false)
}
