//! The tuples of all levels as decision diagrams, for many unlike threads.
//!
//! The sets of tuples are the same as in `symbolic/tuple_list.rs`. For each shared state, a diagram
//! (`symbolic/diagram/`) has the tuples with this shared state: the numbers of the threads'
//! languages, thread by thread. The languages before and behind the moving thread are a path of the
//! diagram. So one context is computed once for all tuples that share a node. Coverage is also
//! computed node by node: ⟨M,u⟩ covers ⟨L,t⟩ if L ⊆ M and u covers t.
//!
//! # Why the sets are the same
//! Let N be the tuples to expand. A list adds the successors of N one by one. It omits a successor
//! that a largest tuple covers, and drops the tuples that a new tuple covers. The result does not
//! depend on the order: the new tuples are the largest among all successors that no tuple of an
//! earlier level covers. Diagrams compute this set directly. So S_k, |S_k|, T(S_k) and the levels
//! at which they stop growing are the same, and each level stands for exactly R_k.
//!
//! Tuples are not sorted here. With interchangeable threads, the sets are closed under permutation,
//! and have each tuple of the orbit of a sorted tuple. So |S_k| is the same, too.

use crate::automata::language_table::{LanguageId, Languages};
use crate::cancel::Cancel;
use crate::limits::TooLarge;
use crate::symbolic::diagram::nodes::{Diagrams, Node};
use crate::symbolic::diagram::operations::Order;
use crate::symbolic::thread_contexts::ThreadContexts;
use crate::symbolic::tuple_store::{LevelTuple, PreviousTuple, StoreContext};
use crate::tables::packed_rows::{Layout, PackedSet};
use crate::visible::count::Count;
use crate::visible::levels::VisibleLevels;
use crate::visible::symmetry::Symmetry;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Sets of tuples by shared state. No set is empty.
type SetsByShared = BTreeMap<u32, Node>;

/// The tuples of all levels.
#[derive(Serialize, Deserialize)]
pub(crate) struct TupleDiagrams {
    shared_states: usize,
    diagrams: Diagrams,
    /// For each level, the tuples that no other tuple of this level or of an earlier level covers.
    levels: Vec<SetsByShared>,
    /// For each thread, the tuples of the last level to expand for it.
    open: Vec<SetsByShared>,
    /// The largest tuples of all levels.
    largest: SetsByShared,
    /// The visible states of all levels.
    tops: SetsByShared,
    /// The progress of an incomplete level.
    progress: Option<DiagramLevelProgress>,
    /// The largest number of nodes at the end of a level.
    most_nodes: usize,
}

/// The progress of a level.
#[derive(Serialize, Deserialize)]
struct DiagramLevelProgress {
    /// The next thread and the next shared state.
    next: (usize, u32),
    /// For each thread, the tuples to which its contexts led.
    reached: Vec<SetsByShared>,
}

impl Order for Languages {
    fn behind_above(&mut self, number: u32, others: impl Iterator<Item = (u32, Node)>) -> Vec<Node> {
        let above = self.including(LanguageId(number));
        let is_above = |other: u32| other != number && above.binary_search(&LanguageId(other)).is_ok();
        others.filter(|&(other, _)| is_above(other)).map(|(_, node)| node).collect()
    }
}

/// The largest number of permutations of interchangeable threads.
const MAX_PERMUTATIONS: u128 = 24;

/// The largest number of threads. Operations on nodes are recursive, with one call for each thread.
const MAX_THREADS: usize = 256;

/// The sets of tuples to which contexts lead, by shared state.
type Images = Arc<[(u32, Node)]>;

impl TupleDiagrams {
    /// Whether diagrams pay off: there are at least `unlike` groups of threads, and few
    /// permutations of interchangeable threads. Diagrams have all permuted tuples, and not only the
    /// sorted ones.
    pub(crate) fn pay_off(symmetry: &Symmetry, unlike: usize) -> bool {
        let different: Vec<u32> = (0..).take(symmetry.threads().len()).collect();
        let permutations = symmetry.orbit(&different);
        let is_small = different.len() <= MAX_THREADS && permutations.is_some_and(|count| count <= MAX_PERMUTATIONS);
        is_small && symmetry.groups().count() >= unlike
    }

    /// Creates an empty store. The initial tuples have to be added next.
    pub(crate) fn new(shared_states: usize, threads: usize) -> Self {
        TupleDiagrams {
            shared_states,
            diagrams: Diagrams::default(),
            levels: Vec::new(),
            open: vec![SetsByShared::new(); threads],
            largest: SetsByShared::new(),
            tops: SetsByShared::new(),
            progress: Some(DiagramLevelProgress { next: (threads, 0), reached: vec![SetsByShared::new()] }),
            most_nodes: 0,
        }
    }

    /// Adds an initial tuple of single words.
    pub(crate) fn add_initial(&mut self, shared: u32, tuple: &[u32]) {
        let TupleDiagrams { diagrams, progress, .. } = self;
        let reached = &mut progress.as_mut().expect("a new store has it").reached[0];
        let node = diagrams.tuple(tuple).expect("a new store has no limit");
        add(diagrams, reached, shared, node).expect("a new store has no limit");
    }

    /// Begins the next level.
    pub(crate) fn start_level(&mut self) {
        self.progress =
            Some(DiagramLevelProgress { next: (0, 0), reached: vec![SetsByShared::new(); self.open.len()] });
    }

    /// Whether a level has begun and is incomplete.
    pub(crate) fn has_incomplete_level(&self) -> bool {
        self.progress.is_some()
    }

    /// Drops the stored results of operations.
    pub(crate) fn drop_caches(&mut self) {
        self.diagrams.drop_results();
    }

    /// Limits diagrams to the remaining memory.
    pub(crate) fn set_limits(&mut self, contexts: &ThreadContexts) {
        self.diagrams.limit(self.diagrams.bytes().saturating_add(contexts.room()), contexts.cancel());
    }

    /// Expands all open tuples of the next thread and shared state. Returns false if there are
    /// none.
    pub(crate) fn expand_next(&mut self, contexts: &mut ThreadContexts) -> Result<bool, TooLarge> {
        let Some((position, shared)) = self.take_next() else { return Ok(false) };
        let TupleDiagrams { diagrams, open, progress, .. } = self;
        let set = set_of(&open[position], shared);
        if contexts.is_parallel() {
            let starts = diagrams.numbers_at(set, position).into_iter().map(|language| (position, (shared, language)));
            let starts: Vec<_> = starts.filter(|&(position, start)| !contexts.is_computed(position, start)).collect();
            contexts.prepare(starts);
        }
        let computed = FxHashMap::default();
        let images = ContextImages { diagrams, contexts, shared, position, computed }.of(0, set)?;
        let reached = &mut progress.as_mut().expect("a level is being computed").reached[position];
        for &(q, node) in &*images {
            add(diagrams, reached, q, node)?;
        }
        Ok(true)
    }

    /// Returns the next thread, and the next shared state of its open tuples.
    fn take_next(&mut self) -> Option<(usize, u32)> {
        let progress = self.progress.as_mut()?;
        let (mut position, mut from) = progress.next;
        while let Some(open) = self.open.get(position) {
            if let Some((&shared, _)) = open.range(from..).next() {
                progress.next = (position, shared + 1);
                return Some((position, shared));
            }
            (position, from) = (position + 1, 0);
        }
        None
    }

    /// Ends the level, which may be incomplete.
    pub(crate) fn finish_level(
        &mut self,
        context: &mut StoreContext<'_>,
        counts: &mut Vec<Count>,
        visible: &mut VisibleLevels,
        memory: usize,
    ) -> Result<(), TooLarge> {
        let Some(DiagramLevelProgress { reached, .. }) = self.progress.take() else { return Ok(()) };
        let contexts = &mut *context.contexts;
        let level = self.add_level(contexts.languages_mut(), &reached, context.subsumption)?;
        counts.push(self.diagrams.count(self.largest.values().copied()).into());
        self.levels.push(level.clone());
        // post* of post* is post*. This does not hold for widened languages.
        let is_open_for_all = contexts.are_widened() || self.levels.len() == 1;
        self.set_open(&level, if is_open_for_all { &[] } else { &reached })?;
        let mut new_tops = self.add_tops(contexts.languages(), &level)?;
        let TupleDiagrams { diagrams, levels, open, largest, tops, .. } = self;
        let sets = levels.iter_mut().chain(open).chain([largest, tops, &mut new_tops]);
        diagrams.collect_garbage(sets.flat_map(BTreeMap::values_mut));
        self.most_nodes = self.diagrams.len().max(self.most_nodes);
        let bytes = self.bytes() + contexts.bytes() + visible.set().bytes_after(0);
        let limits = (memory.saturating_sub(bytes), contexts.cancel());
        list_visible(&self.diagrams, &new_tops, visible, limits)
    }

    /// Adds the tuples of a level to the largest ones. Returns those that no other tuple covers.
    fn add_level(
        &mut self,
        languages: &mut Languages,
        reached: &[SetsByShared],
        subsumption: bool,
    ) -> Result<SetsByShared, TooLarge> {
        let TupleDiagrams { diagrams, levels, largest, .. } = self;
        let mut level = SetsByShared::new();
        for (&shared, &node) in reached.iter().flatten() {
            add(diagrams, &mut level, shared, node)?;
        }
        for (&shared, node) in &mut level {
            let before = set_of(largest, shared);
            // Different single words do not cover each other.
            let rest = if subsumption && !levels.is_empty() {
                *node = diagrams.uncovered(languages, *node, before)?;
                *node = diagrams.largest(languages, *node)?;
                diagrams.uncovered(languages, before, *node)?
            } else {
                *node = diagrams.minus(*node, before)?;
                before
            };
            largest.insert(shared, diagrams.union(rest, *node)?);
        }
        level.retain(|_, node| *node != Node::EMPTY);
        Ok(level)
    }

    /// Opens the tuples of a level for each thread whose contexts did not lead to them.
    fn set_open(&mut self, level: &SetsByShared, reached: &[SetsByShared]) -> Result<(), TooLarge> {
        for (position, open) in self.open.iter_mut().enumerate() {
            *open = level.clone();
            if let Some(reached) = reached.get(position) {
                for (&shared, node) in &mut *open {
                    *node = self.diagrams.minus(*node, set_of(reached, shared))?;
                }
                open.retain(|_, node| *node != Node::EMPTY);
            }
        }
        Ok(())
    }

    /// Adds the visible states of a level to `tops`. Returns the new ones.
    fn add_tops(&mut self, languages: &Languages, level: &SetsByShared) -> Result<SetsByShared, TooLarge> {
        let TupleDiagrams { diagrams, tops, .. } = self;
        let mut new_tops = SetsByShared::new();
        for (&shared, &node) in level {
            let tops_of = |language| languages.tops_of(languages.tops_id(LanguageId(language))).to_vec();
            let visible = diagrams.image(node, &mut { tops_of })?;
            let before = set_of(tops, shared);
            tops.insert(shared, diagrams.union(before, visible)?);
            new_tops.insert(shared, diagrams.minus(visible, before)?);
        }
        Ok(new_tops)
    }

    /// Whether level k has a tuple that no tuple of the levels before covers.
    pub(crate) fn grew(&self, k: usize) -> bool {
        self.levels.get(k).is_some_and(|level| !level.is_empty())
    }

    /// Whether each language of a tuple of a level up to k fits its place.
    pub(crate) fn has_match(&self, k: usize, shared: u32, fits: impl Fn(u32, usize) -> bool) -> bool {
        let fits = |place: usize, language: u32| fits(language, place);
        let sets = self.levels[..=k].iter().filter_map(|level| level.get(&shared));
        sets.copied().any(|node| self.diagrams.find(node, &fits).is_some())
    }

    /// Returns, for each level and shared state, the first tuple whose languages all fit their
    /// places.
    pub(crate) fn first_with(&self, fits: impl Fn(usize, u32) -> bool) -> impl Iterator<Item = LevelTuple> {
        let sets = self
            .levels
            .iter()
            .zip(0..)
            .flat_map(|(level, k)| level.iter().map(move |(&shared, &node)| (k, shared, node)));
        sets.filter_map(move |(number, shared, node)| {
            Some(LevelTuple { number, shared, languages: self.diagrams.find(node, &fits)? })
        })
    }

    /// Returns a tuple of the level before from which one context leads to this tuple; `None` for
    /// an initial tuple.
    pub(crate) fn previous(&self, contexts: &ThreadContexts, tuple: &LevelTuple) -> Option<PreviousTuple> {
        let number = tuple.number.checked_sub(1)?;
        let candidates = (0..tuple.languages.len())
            .flat_map(|position| self.levels[number].iter().map(move |(&shared, &node)| (position, shared, node)));
        let mut previous = candidates.filter_map(|(position, shared, node)| {
            let end = (tuple.shared, tuple.languages[position]);
            let fits = |place: usize, language: u32| {
                if place == position {
                    contexts.leads_to(position, (shared, language), end)
                } else {
                    language == tuple.languages[place]
                }
            };
            let languages = self.diagrams.find(node, &fits)?;
            Some(PreviousTuple { tuple: LevelTuple { number, shared, languages }, from: position, to: position })
        });
        Some(previous.next().expect("a context leads from a tuple of the level before to each tuple"))
    }

    /// Returns the tuples of level k; `None` if there are more than `most` for one shared state.
    pub(crate) fn tuples_of_level(&self, k: usize, most: usize) -> Option<Vec<(u32, Vec<u32>)>> {
        let mut all = Vec::new();
        for &shared in self.levels[k].keys() {
            all.extend(self.tuples_of(k..=k, shared, most)?.into_iter().map(|tuple| (shared, tuple)));
        }
        Some(all)
    }

    /// Returns the tuples before level k with this shared state. Each of their languages costs one
    /// unit of `budget`. Returns `None` if the budget does not suffice.
    pub(crate) fn tuples_before(&self, k: usize, shared: u32, budget: &mut usize) -> Option<Vec<Vec<u32>>> {
        let all = self.tuples_of(0..k, shared, *budget)?;
        *budget = budget.checked_sub(all.iter().map(Vec::len).sum())?;
        Some(all)
    }

    /// Returns the tuples of some levels with this shared state; `None` if there are more than
    /// `most`.
    fn tuples_of(&self, levels: impl Iterator<Item = usize>, shared: u32, most: usize) -> Option<Vec<Vec<u32>>> {
        let mut tuples = Vec::new();
        for &node in levels.filter_map(|k| self.levels[k].get(&shared)) {
            let done = self.diagrams.for_each(node, &mut |tuple| {
                tuples.push(tuple.to_vec());
                if tuples.len() > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            if done.is_break() {
                return None;
            }
        }
        Some(tuples)
    }

    /// Returns the largest tuples of all levels as rows.
    ///
    /// # Errors
    /// If the rows take more than `room` bytes.
    pub(crate) fn list_largest(&self, languages: usize, room: usize) -> Result<PackedSet, TooLarge> {
        self.list(std::slice::from_ref(&self.largest), languages, room)
    }

    /// Returns the tuples of all levels up to k as rows.
    ///
    /// # Errors
    /// If the rows take more than `room` bytes.
    pub(crate) fn list_up_to(&self, k: usize, languages: usize, room: usize) -> Result<PackedSet, TooLarge> {
        self.list(&self.levels[..=k], languages, room)
    }

    /// Returns the tuples of some sets as rows.
    fn list(&self, sets: &[SetsByShared], languages: usize, room: usize) -> Result<PackedSet, TooLarge> {
        let count = self.diagrams.count(sets.iter().flat_map(|sets| sets.values().copied())).ok_or(TooLarge)?;
        let mut rows = PackedSet::new(Layout::new(self.shared_states, self.open.len(), languages));
        let mut row = vec![0; rows.layout().words()];
        if usize::try_from(count).map_or(usize::MAX, |count| rows.bytes_after(count)) > room {
            return Err(TooLarge);
        }
        for (&shared, &node) in sets.iter().flatten() {
            let _ = self.diagrams.for_each(node, &mut |tuple| {
                rows.layout().pack(&mut row, shared, tuple.iter().copied());
                rows.insert(&row);
                ControlFlow::<()>::Continue(())
            });
        }
        Ok(rows)
    }

    /// Returns the largest number of nodes at the end of a level. During a level, there may be more
    /// nodes.
    pub(crate) fn len(&self) -> usize {
        self.most_nodes
    }

    /// Returns the steps of all operations on nodes.
    pub(crate) fn work(&self) -> u64 {
        self.diagrams.steps()
    }

    /// Returns the memory in use.
    pub(crate) fn bytes(&self) -> usize {
        let sets = self.levels.iter().chain(&self.open).chain([&self.largest, &self.tops]);
        let reached = self.progress.iter().flat_map(|progress| &progress.reached);
        let entries: usize = sets.chain(reached).map(SetsByShared::len).sum();
        self.diagrams.bytes() + entries * 2 * size_of::<(u32, Node)>()
    }
}

/// Computes one context of a thread from sets of tuples with the same shared state.
struct ContextImages<'i> {
    diagrams: &'i mut Diagrams,
    contexts: &'i mut ThreadContexts,
    shared: u32,
    position: usize,
    /// The images of each node.
    computed: FxHashMap<Node, Images>,
}

impl ContextImages<'_> {
    /// Returns the images of the tuples of a node. The edges of the node have the numbers at place
    /// `depth`.
    fn of(&mut self, depth: usize, node: Node) -> Result<Images, TooLarge> {
        if let Some(images) = self.computed.get(&node) {
            return Ok(images.clone());
        }
        self.diagrams.step()?;
        let mut edges = Vec::new();
        for (language, behind) in self.diagrams.edges(node).collect::<Vec<_>>() {
            if depth < self.position {
                let images = self.of(depth + 1, behind)?;
                edges.extend(images.iter().map(|&(q, behind)| (q, language, behind)));
            } else {
                let ends = self.contexts.ends(self.position, (self.shared, language))?;
                let end = |index| self.contexts.end(self.position, index);
                edges.extend(ends.map(end).map(|(q, language)| (q, language, behind)));
            }
        }
        edges.sort_unstable();
        let mut images = Vec::new();
        for same in edges.chunk_by(|a, b| a.0 == b.0) {
            let edges = same.iter().map(|&(_, language, behind)| (language, behind)).collect();
            images.push((same[0].0, self.diagrams.union_of(edges)?));
        }
        let images: Images = images.into();
        self.computed.insert(node, images.clone());
        Ok(images)
    }
}

/// Adds the tuples of a node to the set of its shared state.
fn add(diagrams: &mut Diagrams, sets: &mut SetsByShared, shared: u32, node: Node) -> Result<(), TooLarge> {
    let set = sets.entry(shared).or_insert(Node::EMPTY);
    *set = diagrams.union(*set, node)?;
    Ok(())
}

/// Returns the set of a shared state.
fn set_of(sets: &SetsByShared, shared: u32) -> Node {
    sets.get(&shared).copied().unwrap_or(Node::EMPTY)
}

/// Adds new visible states one by one.
///
/// # Errors
/// If they take more than `room` bytes.
fn list_visible(
    diagrams: &Diagrams,
    new_tops: &SetsByShared,
    visible: &mut VisibleLevels,
    (room, cancel): (usize, &Cancel),
) -> Result<(), TooLarge> {
    let before = visible.set().bytes_after(0);
    let (mut row, mut visited) = (Vec::new(), 0_u32);
    for (&shared, &node) in new_tops {
        let done = diagrams.for_each(node, &mut |tops| {
            row.clear();
            row.extend_from_slice(tops);
            visible.insert(shared, &mut row);
            visited = visited.wrapping_add(1);
            let is_cancelled = visited.is_multiple_of(1 << 12) && cancel.why().is_some();
            let is_full = visible.set().bytes_after(1).saturating_sub(before) > room;
            if is_cancelled || is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if done.is_break() {
            return Err(TooLarge);
        }
    }
    Ok(())
}
