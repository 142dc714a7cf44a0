//! The tuples of all levels as a list of packed rows.
//!
//! Each row is sorted within groups of interchangeable threads, and stored once. A level is a range
//! of the list: level k has the tuples that no earlier tuple covers. A row that a later row covers
//! stays in the list, but it is no longer among the *largest* tuples.
//!
//! A level expands pairs of a tuple and a thread. The tuple is new at the level before, and still
//! among the largest tuples. The pair is omitted if a context of this thread led to the tuple at
//! that level, because post\* of post\* is post\*. (This does not hold for widened languages, so
//! there no pair is omitted.)

use crate::automata::language_table::LanguageId;
use crate::limits::TooLarge;
use crate::symbolic::largest_tuples::LargestTuples;
use crate::symbolic::projection::Projection;
use crate::symbolic::thread_contexts::ThreadContexts;
use crate::symbolic::tuple_store::{LevelTuple, PreviousTuple, StoreContext};
use crate::tables::level_ranges::LevelRanges;
use crate::tables::packed_rows::{Layout, PackedSet};
use crate::tables::step_cache::ThreadState;
use crate::tables::thread_masks::ThreadMasks;
use crate::visible::count::Count;
use crate::visible::levels::VisibleLevels;
use crate::visible::matching::matching;
use crate::visible::symmetry::{Successors, Symmetry};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// The tuples of all levels.
#[derive(Serialize, Deserialize)]
pub(crate) struct TupleList {
    shared_states: usize,
    threads: usize,
    /// The tuples in the order in which they were found, covered ones included.
    rows: PackedSet,
    /// For each row, the context that led to it; none for an initial tuple.
    origins: Vec<Option<Origin>>,
    levels: LevelRanges,
    /// The largest tuples, by shared state.
    largest: FxHashMap<u32, LargestTuples>,
    /// The rows to expand at the next level: those of the last level that are among its largest.
    open: Vec<u32>,
    /// For each row of the last level, the threads whose contexts led to it at that level.
    reached_by: ThreadMasks,
    projection: Projection,
    /// The progress of an incomplete level.
    progress: Option<ListLevelProgress>,
    #[serde(skip)]
    successors: Successors,
}

/// The context that led to a tuple.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Origin {
    parent: u32,
    /// The position of the thread that moved, before and after its context.
    from: u32,
    to: u32,
}

/// The progress of a level: the pairs of a tuple and a thread that it expands.
#[derive(Serialize, Deserialize)]
struct ListLevelProgress {
    /// The rows to expand.
    open: Vec<u32>,
    /// The next pair: an index in `open`, and a position.
    next: usize,
    position: usize,
    /// For each row from `first` on, the threads whose contexts led to it at the level before.
    reached_by: ThreadMasks,
    first: usize,
}

/// The number of pairs that are examined in advance for starts of post\*.
const LOOKAHEAD: usize = 1 << 10;

impl ListLevelProgress {
    /// Returns the next pair and removes it: a row, a position, and whether to expand it.
    fn take_pair(&mut self, threads: usize) -> Option<(usize, usize, bool)> {
        let next = self.remaining_pairs(threads).next()?;
        self.position += 1;
        if self.position == threads {
            (self.next, self.position) = (self.next + 1, 0);
        }
        Some(next)
    }

    /// Returns the next pair and all pairs after it.
    fn remaining_pairs(&self, threads: usize) -> impl Iterator<Item = (usize, usize, bool)> {
        let positions = move |n: usize| if n == 0 { self.position..threads } else { 0..threads };
        self.open[self.next..].iter().enumerate().flat_map(move |(n, &id)| {
            let is_reached = move |position| self.reached_by.has(id as usize - self.first, position);
            positions(n).map(move |position| (id as usize, position, !is_reached(position)))
        })
    }
}

impl TupleList {
    /// Creates an empty list.
    pub(crate) fn new(shared_states: usize, threads: usize, languages: usize) -> Self {
        TupleList {
            shared_states,
            threads,
            rows: PackedSet::new(Layout::new(shared_states, threads, languages)),
            origins: Vec::new(),
            levels: LevelRanges::new(),
            largest: FxHashMap::default(),
            open: Vec::new(),
            reached_by: ThreadMasks::new(threads),
            projection: Projection::default(),
            progress: None,
            successors: Successors::default(),
        }
    }

    /// Adds an initial tuple of single words.
    pub(crate) fn add_initial(&mut self, context: &mut StoreContext<'_>, shared: u32, mut languages: Vec<u32>) {
        context.symmetry.sort(&mut languages);
        let mut row = vec![0; self.rows.layout().words()];
        self.rows.layout().pack(&mut row, shared, languages);
        self.add(context, &row, None);
    }

    /// Begins the next level.
    pub(crate) fn start_level(&mut self) {
        let first = self.levels.last_start();
        self.levels.begin(self.rows.len());
        let reached_by = std::mem::replace(&mut self.reached_by, ThreadMasks::new(self.threads));
        self.progress =
            Some(ListLevelProgress { open: std::mem::take(&mut self.open), next: 0, position: 0, reached_by, first });
    }

    /// Whether a level has begun and is incomplete.
    pub(crate) fn has_incomplete_level(&self) -> bool {
        self.progress.is_some()
    }

    /// Expands the next pair of a tuple and a thread. Returns false if there is none.
    pub(crate) fn expand_next(&mut self, context: &mut StoreContext<'_>) -> Result<bool, TooLarge> {
        let next = self.progress.as_mut().and_then(|progress| progress.take_pair(self.threads));
        let Some((id, position, is_wanted)) = next else { return Ok(false) };
        if is_wanted && context.symmetry.stands_for_itself(self.rows.layout(), self.rows.row(id), position) {
            self.prepare_contexts(context.contexts, id, position);
            self.expand(context, id, position)?;
        }
        Ok(true)
    }

    /// Adds the tuples to which one context of the thread at `position` leads.
    fn expand(&mut self, context: &mut StoreContext<'_>, id: usize, position: usize) -> Result<(), TooLarge> {
        let ends = context.contexts.ends(position, self.thread_state(id, position))?;
        self.make_room_for_languages(context.contexts);
        for index in ends {
            let end = context.contexts.end(position, index);
            // `add` may have moved the rows.
            self.successors.prepare(context.symmetry, self.rows.layout(), self.rows.row(id), position);
            let (row, to) = self.successors.pack(self.rows.layout(), end);
            let row = row.to_vec();
            let [parent, from, to] = [id, position, to].map(|n| u32::try_from(n).expect("the memory ends before"));
            self.add(context, &row, Some(Origin { parent, from, to }));
        }
        Ok(())
    }

    /// Computes post\* of this thread state in parallel with others that the level will need, if
    /// that pays off.
    fn prepare_contexts(&self, contexts: &mut ThreadContexts, id: usize, position: usize) {
        let start = self.thread_state(id, position);
        let Some(progress) = &self.progress else { return };
        if contexts.is_parallel() && !contexts.is_computed(position, start) {
            let pairs = progress.remaining_pairs(self.threads).take(LOOKAHEAD).filter(|&(.., is_wanted)| is_wanted);
            let starts = pairs.map(|(id, position, _)| (position, self.thread_state(id, position)));
            let starts = starts.filter(|&(position, start)| !contexts.is_computed(position, start));
            contexts.prepare(std::iter::once((position, start)).chain(starts).collect::<Vec<_>>());
        }
    }

    /// Returns the shared state and the language at a position of a row.
    fn thread_state(&self, id: usize, position: usize) -> ThreadState {
        let (layout, row) = (self.rows.layout(), self.rows.row(id));
        (layout.shared(row), layout.local(row, position))
    }

    /// Changes the layout if the numbers of languages no longer fit.
    fn make_room_for_languages(&mut self, contexts: &ThreadContexts) {
        let languages = contexts.languages().len();
        if !self.rows.layout().has_room_for(languages) {
            self.rows.set_layout(Layout::new(self.shared_states, self.threads, languages));
        }
    }

    /// Adds a tuple to the level, unless it is in the list or a tuple covers it.
    fn add(&mut self, context: &mut StoreContext<'_>, row: &[u64], origin: Option<Origin>) {
        let reached_at = origin.filter(|_| !context.contexts.are_widened()).map(|origin| origin.to as usize);
        let start = self.levels.last_start();
        if let Some(id) = self.rows.find(row) {
            if let Some(position) = reached_at.filter(|_| id >= start) {
                self.reached_by.add(id - start, position);
            }
            return;
        }
        let layout = self.rows.layout();
        let tuple: Vec<u32> = layout.locals(row).collect();
        // Different single words do not cover each other.
        let drops_covered = context.subsumption && origin.is_some();
        let largest = self.largest.entry(layout.shared(row)).or_default();
        let languages = context.contexts.languages_mut();
        if drops_covered && largest.any_covers(languages, context.symmetry, &tuple) {
            return;
        }
        let id = u32::try_from(self.rows.len()).expect("the memory ends before");
        largest.add(languages, context.symmetry, id, &tuple, drops_covered);
        self.rows.insert(row);
        self.origins.push(origin);
        self.reached_by.push(reached_at);
    }

    /// Ends the level, which may be incomplete.
    pub(crate) fn finish_level(
        &mut self,
        context: &mut StoreContext<'_>,
        counts: &mut Vec<Count>,
        visible: &mut VisibleLevels,
        memory: usize,
    ) -> Result<(), TooLarge> {
        self.progress = None;
        let StoreContext { symmetry, contexts, .. } = context;
        let room = memory.saturating_sub(self.bytes_without_projection(0) + contexts.bytes());
        let start = self.levels.last_start();
        let largest = self.largest();
        counts.push(symmetry.sum_of_orbits(self.rows.rows(largest.iter().copied())));
        let new = largest.into_iter().filter(|&id| id >= start);
        self.open = new.map(|id| u32::try_from(id).expect("the memory ends before")).collect();
        let languages = contexts.languages();
        for &id in &self.open {
            let (layout, row) = (self.rows.layout(), self.rows.row(id as usize));
            let tops = layout.locals(row).map(|language| languages.tops_id(LanguageId(language))).collect();
            let limits = (room, contexts.cancel());
            self.projection.project(visible, symmetry, languages, layout.shared(row), tops, limits)?;
        }
        Ok(())
    }

    /// Returns the numbers of the rows of level k.
    pub(crate) fn level(&self, k: usize) -> Range<usize> {
        self.levels.range(k, self.rows.len())
    }

    /// Returns the tuples of all levels.
    pub(crate) fn rows(&self) -> &PackedSet {
        &self.rows
    }

    /// Returns the numbers of the largest tuples of all levels, in order.
    pub(crate) fn largest(&self) -> Vec<usize> {
        let mut largest: Vec<usize> =
            self.largest.values().flat_map(LargestTuples::ids).map(|id| id as usize).collect();
        largest.sort_unstable();
        largest
    }

    /// Whether the languages of a tuple of a level up to k can be permuted such that each fits its
    /// place. Only interchangeable threads are permuted.
    pub(crate) fn has_match(
        &self,
        symmetry: &Symmetry,
        k: usize,
        shared: u32,
        fits: impl Fn(u32, usize) -> bool,
    ) -> bool {
        let layout = self.rows.layout();
        self.rows.rows(0..self.level(k).end).any(|(_, row)| {
            let fits = |position: usize, place: usize| fits(layout.local(row, position), place);
            let group_fits = |group: Range<usize>| {
                matching(group.len(), |place, position| fits(group.start + position, group.start + place)).is_some()
            };
            layout.shared(row) == shared && symmetry.groups().all(group_fits)
        })
    }

    /// Returns all tuples, level by level.
    pub(crate) fn tuples(&self) -> impl Iterator<Item = LevelTuple> {
        (0..self.rows.len()).map(|id| self.tuple(id))
    }

    /// Returns the tuple of a row.
    fn tuple(&self, id: usize) -> LevelTuple {
        let (layout, row) = (self.rows.layout(), self.rows.row(id));
        LevelTuple { number: id, shared: layout.shared(row), languages: layout.locals(row).collect() }
    }

    /// Returns the tuples of level k.
    pub(crate) fn tuples_of_level(&self, k: usize) -> Vec<(u32, Vec<u32>)> {
        self.level(k).map(|id| self.tuple(id)).map(|tuple| (tuple.shared, tuple.languages)).collect()
    }

    /// Returns the tuples before level k with this shared state, permuted in each possible way;
    /// `None` if the budget does not suffice.
    pub(crate) fn orbits_before(
        &self,
        symmetry: &Symmetry,
        k: usize,
        shared: u32,
        budget: &mut usize,
    ) -> Option<Vec<Vec<u32>>> {
        let mut all = Vec::new();
        for tuple in (0..self.level(k).start).map(|id| self.tuple(id)).filter(|tuple| tuple.shared == shared) {
            let orbit = usize::try_from(symmetry.orbit(&tuple.languages)?).ok()?;
            *budget = budget.checked_sub(orbit.checked_mul(tuple.languages.len())?)?;
            all.extend(symmetry.members(tuple.languages));
        }
        Some(all)
    }

    /// Returns the tuple from which the context led to this tuple; `None` for an initial tuple.
    pub(crate) fn previous(&self, tuple: &LevelTuple) -> Option<PreviousTuple> {
        let Origin { parent, from, to } = self.origins[tuple.number]?;
        Some(PreviousTuple { tuple: self.tuple(parent as usize), from: from as usize, to: to as usize })
    }

    /// Returns the number of rows, with covered ones.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Returns the most memory in use while so many more tuples are added.
    pub(crate) fn bytes_after(&self, more: usize) -> usize {
        self.bytes_without_projection(more).saturating_add(self.projection.bytes())
    }

    fn bytes_without_projection(&self, more: usize) -> usize {
        let rest = self.origins.len() * size_of::<Option<Origin>>()
            + self.open.len() * size_of::<u32>()
            + self.largest.values().map(LargestTuples::bytes).sum::<usize>()
            + self.reached_by.bytes();
        self.rows.bytes_after(more).saturating_add(rest)
    }
}
