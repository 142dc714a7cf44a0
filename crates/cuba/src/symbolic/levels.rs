//! S_k and T(S_k): the levels of R_k as tuples of stack languages (paper §6, App. E).
//!
//! A symbolic state ⟨q|L₁,…,Lₙ⟩ stands for every ⟨q|w₁,…,wₙ⟩ with w_i ∈ L_i. One context of thread
//! i leads from it to ⟨q'|L₁,…,L',…,Lₙ⟩ for each q' that post* of ⟨q|L_i⟩ has, with L' the stacks
//! it has there. Languages are numbers, so post* is computed once for each program, shared state
//! and language, and a level is explored as in `explicit/reachable.rs`: tuples are packed rows,
//! sorted within groups of interchangeable threads, and what thread i has reached at a level is not
//! expanded for i. (post* of post* is post*.)
//!
//! # What is dropped
//! A tuple that another one covers, component by component: every run from it is one from the
//! other. A tuple covered by one of its own level or before is not expanded. A tuple covered by one
//! of a later level has been, and must be: its successors belong to the level between. So the
//! states that S_k stands for are exactly R_k, and which tuples are left, the *largest* ones,
//! depends on nothing but k: on no order, and not on whether covered ones were dropped in between.
//!
//! # What is proved when nothing is new
//! If every successor of the tuples new at level k-1 is covered, then R_{k-1} = R_k = R. The
//! converse does not hold: the states of a tuple may be covered by several others together, but by
//! no single one. `symbolic/union_covering.rs` tells when R_k has really grown.
//!
//! # How tuples are kept
//! One by one, as rows; or, where many threads are unlike, as diagrams
//! (`symbolic/diagram_levels.rs`): the same tuples, which nothing lists.

use crate::automata::action_index::ActionIndex;
use crate::automata::language_table::{LanguageId, Languages};
use crate::automata::minimal_dfa::Dfa;
use crate::automata::widening::Widening;
use crate::certificate::tuples::Tuples;
use crate::limits::Cancel;
use crate::limits::TooLarge;
use crate::limits::Unfinished;
use crate::symbolic::covering::Covering;
use crate::symbolic::diagram_levels::Drawn;
use crate::symbolic::post_ahead::{Ahead, Post};
use crate::symbolic::projection::Projection;
use crate::tables::packed_rows::{Layout, PackedSet};
use crate::tables::step_cache::StepCache;
use crate::tables::thread_masks::ThreadMasks;
use crate::tables::workers::WorkerPool;
use crate::tuning::Tuning;
use crate::visible::count::Count;
use crate::visible::levels::VisibleLevels;
use crate::visible::matching::matching;
use crate::visible::symmetry::{Successors, Symmetry};
use cpds::{Cpds, GlobalState};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize, Serializer};
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

/// The sets S_0, …, S_k and T(S_0) ⊆ … ⊆ T(S_k), as far as they were computed.
pub struct Symbolic<'a> {
    pub(crate) system: &'a Cpds,
    pub(crate) symmetry: Symmetry,
    pub(crate) options: SymbolicOptions,
    pub(crate) widening: Option<Widening>,
    pub(crate) cancel: Cancel,
    pub(crate) ahead: Ahead,
    pub(crate) languages: Languages,
    pub(crate) heads: Vec<ActionIndex>,
    /// For each program, post* of the shared states and languages it was asked for.
    pub(crate) posts: Vec<StepCache>,
    pub(crate) programs: Vec<usize>,
    /// The sorted tuples, in the order in which they were found, dropped ones included.
    pub(crate) tuples: PackedSet,
    pub(crate) origins: Vec<Option<TupleOrigin>>,
    /// Level k has the tuples from `levels[k]` on, up to the next level.
    levels: Vec<usize>,
    /// The largest tuples, by shared state.
    largest: FxHashMap<u32, Covering>,
    /// The tuples new at the last level that are among the largest of that level.
    open: Vec<u32>,
    reached_by: ThreadMasks,
    /// For each level, how many tuples were the largest.
    pub(crate) counts: Vec<Count>,
    projection: Projection,
    pub(crate) visible: VisibleLevels,
    unfinished: bool,
    /// Where the level that is being computed has got to.
    pub(crate) going: Option<Going>,
    /// How many bytes there were left at the last look.
    pub(crate) room: usize,
    pub(crate) expansions: u64,
    /// Transitions of all store automata.
    transitions: u64,
    successors: Successors,
    /// The tuples, if they are not listed; then the tables for listed ones are empty.
    pub(crate) drawn: Option<Box<Drawn>>,
}

/// How far a level is: which tuples are to be expanded, and which of them, and of its threads, is
/// next.
#[derive(Serialize, Deserialize)]
pub(crate) struct Going {
    pub(crate) open: Vec<u32>,
    pub(crate) next: usize,
    pub(crate) position: usize,
    /// Which threads reached the tuples of the level before, and the first of these.
    pub(crate) reached_by: ThreadMasks,
    pub(crate) before: usize,
    /// When the watcher looks again, in units of work.
    pulse: u64,
}

/// What is saved of an exploration.
pub(crate) type SavedSymbolic = (
    (Languages, Option<Widening>, Vec<StepCache>, PackedSet, Vec<Option<TupleOrigin>>),
    (Vec<usize>, FxHashMap<u32, Covering>, Vec<u32>, ThreadMasks, Vec<Count>),
    (Projection, (PackedSet, Vec<usize>), bool, Option<Going>, usize, u64, u64),
    Option<Box<Drawn>>,
);

impl Serialize for Symbolic<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let visible = self.visible.saved();
        (
            (&self.languages, &self.widening, &self.posts, &self.tuples, &self.origins),
            (&self.levels, &self.largest, &self.open, &self.reached_by, &self.counts),
            (&self.projection, visible, self.unfinished, &self.going, self.room, self.expansions, self.transitions),
            &self.drawn,
        )
            .serialize(serializer)
    }
}

/// How to explore. No answer depends on it, except for the number of tuples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SymbolicOptions {
    /// Whether to treat interchangeable threads as such.
    pub symmetry: bool,
    /// Whether to drop tuples that others cover.
    pub subsumption: bool,
    /// Widen languages to this depth: then what is computed is not S_k but A_d
    /// (`overapproximation/abstraction.rs`).
    pub widening: Option<usize>,
    /// How many bytes the tables may take.
    pub memory: usize,
    /// How often limits are checked, and when diagrams and parallel post* pay off.
    pub tuning: Tuning,
}

impl SymbolicOptions {
    /// How S_k is explored.
    pub fn exact(symmetry: bool, memory: usize, tuning: Tuning) -> Self {
        SymbolicOptions { symmetry, subsumption: true, widening: None, memory, tuning }
    }
}

/// Where a tuple comes from.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct TupleOrigin {
    pub(crate) parent: u32,
    /// The position of the thread that moved, before and after.
    pub(crate) from: u32,
    pub(crate) to: u32,
}

/// How many expansions of a state take as long as one unit of work here.
pub(crate) const SYMBOLIC: u64 = 4;

impl Going {
    /// The next tuple and position, and whether that thread has not reached the tuple itself.
    fn step(&mut self, threads: usize) -> Option<(usize, usize, bool)> {
        let next = self.upcoming(threads).next()?;
        self.position += 1;
        if self.position == threads {
            (self.next, self.position) = (self.next + 1, 0);
        }
        Some(next)
    }
}

impl<'a> Symbolic<'a> {
    /// S_0.
    pub fn new(system: &'a Cpds, options: SymbolicOptions) -> Self {
        let symmetry = Symmetry::new(system, options.symmetry);
        let mut languages = Languages::default();
        let initial: Vec<(u32, Vec<u32>)> = system
            .initial()
            .iter()
            .map(|state| (state.shared.0, state.stacks.iter().map(|stack| languages.word(stack).0).collect()))
            .collect();
        let n = system.thread_count();
        let mut symbolic = Symbolic {
            tuples: PackedSet::new(Layout::new(system.shared_names().len(), n, languages.len())),
            heads: system.programs().iter().map(ActionIndex::new).collect(),
            posts: system.programs().iter().map(|_| StepCache::default()).collect(),
            programs: symmetry.programs(system),
            origins: Vec::new(),
            levels: vec![0],
            largest: FxHashMap::default(),
            open: Vec::new(),
            reached_by: ThreadMasks::new(n),
            counts: Vec::new(),
            projection: Projection::default(),
            visible: VisibleLevels::new(system, &symmetry),
            unfinished: false,
            going: None,
            room: options.memory,
            expansions: 0,
            transitions: 0,
            successors: Successors::default(),
            drawn: Drawn::is_for(&symmetry, options.tuning.diagram_groups).then(|| Box::new(Drawn::new(n))),
            system,
            widening: options.widening.map(Widening::new),
            cancel: Cancel::default(),
            ahead: Ahead::default(),
            options,
            languages,
            symmetry,
        };
        for (shared, by_thread) in initial {
            let mut locals = symbolic.symmetry.placed(&by_thread);
            if let Some(drawn) = &mut symbolic.drawn {
                drawn.add(shared, &locals);
                continue;
            }
            symbolic.symmetry.sort(&mut locals);
            let mut row = vec![0; symbolic.tuples.layout().words()];
            symbolic.tuples.layout().pack(&mut row, shared, locals);
            symbolic.add(&row, None);
        }
        symbolic.finish_level(usize::MAX).expect("one visible state for each initial state");
        symbolic
    }

    /// As it was when it was saved.
    pub(crate) fn restored(system: &'a Cpds, options: SymbolicOptions, saved: SavedSymbolic) -> Self {
        let symmetry = Symmetry::new(system, options.symmetry);
        let (first, (levels, largest, open, reached_by, counts), rest, drawn) = saved;
        let (languages, widening, posts, tuples, origins) = first;
        let (projection, visible, unfinished, going, room, expansions, transitions) = rest;
        let mut symbolic = Symbolic {
            system,
            options,
            widening,
            cancel: Cancel::default(),
            ahead: Ahead::default(),
            languages,
            heads: system.programs().iter().map(ActionIndex::new).collect(),
            posts,
            programs: symmetry.programs(system),
            tuples,
            origins,
            levels,
            largest,
            open,
            reached_by,
            counts,
            projection,
            visible: VisibleLevels::restored(&symmetry, visible),
            unfinished,
            going,
            room,
            expansions,
            transitions,
            successors: Successors::default(),
            drawn,
            symmetry,
        };
        symbolic.limit();
        symbolic
    }

    /// Stops in the middle of whatever it does when it is told to, and has as many threads as this
    /// number says.
    pub(crate) fn works_for(&mut self, cancel: &Cancel, hands: Arc<AtomicUsize>) {
        self.ahead = Ahead::new(WorkerPool::new(hands));
        self.cancel = cancel.clone();
        self.languages.cancelled_by(cancel);
        self.limit();
    }

    /// Whether no level was given up in the middle.
    pub(crate) fn can_go_on(&self) -> bool {
        self.is_going() || !self.unfinished
    }

    /// Whether the last level has been begun, and is to go on.
    pub(crate) fn is_going(&self) -> bool {
        self.going.is_some() || self.drawn.as_ref().is_some_and(|drawn| drawn.is_going())
    }

    /// Whether no language was changed by widening.
    pub(crate) fn is_exact(&self) -> bool {
        self.widening.as_ref().is_none_or(Widening::is_exact)
    }

    /// The last level that is finished.
    pub fn k(&self) -> usize {
        self.levels.len() - 1 - usize::from(self.unfinished)
    }

    /// Computes the next level. Now and then the watcher may look, and stop it.
    ///
    /// # Errors
    /// If the level is not finished. What was found of it is kept: all of it is in S_{k+1}. There
    /// is no going on, but from what was saved of it.
    pub fn advance<B>(&mut self, watch: &mut impl FnMut(&Self) -> ControlFlow<B>) -> Result<(), Unfinished<B>> {
        if !self.is_going() {
            assert!(!self.unfinished, "the level before is finished");
            self.start_level();
        }
        let done = if self.drawn.is_some() { self.draw_all(watch) } else { self.expand_all(watch) };
        self.going = None;
        // What there is of a level may have a bad state.
        let others = self.bytes() - self.projection.bytes(&self.visible);
        let projected = self.finish_level(self.options.memory.saturating_sub(others));
        done?;
        projected?;
        self.unfinished = false;
        Ok(())
    }

    fn start_level(&mut self) {
        let before = self.levels[self.k()];
        self.levels.push(self.tuples.len());
        self.visible.next_level();
        self.unfinished = true;
        if self.drawn.is_some() {
            return self.start_drawing();
        }
        let reached_by = std::mem::replace(&mut self.reached_by, ThreadMasks::new(self.programs.len()));
        // What is open is in use until the level is finished.
        self.room = self.options.memory.saturating_sub(self.bytes());
        let (open, pulse) = (std::mem::take(&mut self.open), self.work() + self.options.tuning.check_interval);
        self.going = Some(Going { open, next: 0, position: 0, reached_by, before, pulse });
    }

    fn expand_all<B>(&mut self, watch: &mut impl FnMut(&Self) -> ControlFlow<B>) -> Result<(), Unfinished<B>> {
        while let Some((id, position, is_open)) = self.going.as_mut().and_then(|going| going.step(self.programs.len()))
        {
            if is_open && self.symmetry.stands_for_itself(self.tuples.layout(), self.tuples.row(id), position) {
                self.look_ahead(id, position);
                self.expand(id, position)?;
            }
            let work = self.work();
            if let Some(going) = self.going.as_mut().filter(|going| work >= going.pulse) {
                going.pulse = work + self.options.tuning.check_interval;
                self.room = self.options.memory.saturating_sub(self.bytes());
                if let ControlFlow::Break(why) = watch(self) {
                    return Err(Unfinished::Stopped(why));
                }
            }
        }
        Ok(())
    }

    /// What has been done, as a number.
    pub(crate) fn work(&self) -> u64 {
        let Symbolic { transitions, expansions, languages, visible, .. } = self;
        let drawn = self.drawn.as_ref().map_or(0, |drawn| drawn.steps());
        transitions + expansions + languages.built() + languages.compared() / 64 + visible.kept() as u64 / 4 + drawn
    }

    /// One context of the thread at `position`.
    fn expand(&mut self, id: usize, position: usize) -> Result<(), TooLarge> {
        let row = self.tuples.row(id);
        let thread_state = (self.tuples.layout().shared(row), self.tuples.layout().local(row, position));
        let program = self.programs[position];
        let posts = self.contexts(program, thread_state)?;
        self.expansions += posts.len() as u64;
        for index in posts {
            let successor = self.posts[program].successor(index);
            // The tables may have grown in between.
            self.successors.prepare(&self.symmetry, self.tuples.layout(), self.tuples.row(id), position);
            let (row, to) = self.successors.pack(self.tuples.layout(), successor);
            let row = row.to_vec();
            let [parent, from, to] = [id, position, to].map(|n| u32::try_from(n).expect("the memory ends before"));
            self.add(&row, Some(TupleOrigin { parent, from, to }));
        }
        Ok(())
    }

    /// post* of a shared state and a language.
    pub(crate) fn contexts(&mut self, program: usize, thread_state: (u32, u32)) -> Result<Range<usize>, TooLarge> {
        match self.posts[program].get(thread_state) {
            Some(((), posts)) => Ok(posts),
            None => self.post_star(program, thread_state),
        }
    }

    /// The same, if it is not known.
    fn post_star(&mut self, program: usize, (shared, language): (u32, u32)) -> Result<Range<usize>, TooLarge> {
        let post = match self.ahead.take((program, (shared, language))) {
            Some(post) if post.fits(self.room) => post,
            Some(_) => return Err(TooLarge),
            None => Post::new(&self.languages, &self.heads[program], (shared, language), self.room, &self.cancel)?,
        };
        self.transitions += post.transitions as u64;
        let mut posts = self.languages.number_all(&post.minimal);
        if let Some(widening) = &mut self.widening {
            for (_, language) in &mut posts {
                *language = widening.widen(&mut self.languages, *language, self.room / 2)?;
            }
        }
        if !self.tuples.layout().has_room_for(self.languages.len()) {
            let (shared, threads) = (self.system.shared_names().len(), self.programs.len());
            self.tuples.set_layout(Layout::new(shared, threads, self.languages.len()));
        }
        let posts = posts.into_iter().map(|(q, language)| (q.0, language.0));
        let ((), posts) = self.posts[program].insert((shared, language), (), posts);
        Ok(posts)
    }

    /// Adds a tuple to this level, unless it is there or covered.
    fn add(&mut self, row: &[u64], origin: Option<TupleOrigin>) {
        let at = origin.filter(|_| self.widening.is_none()).map(|origin| origin.to as usize);
        let start = self.levels[self.levels.len() - 1];
        if let Some(found) = self.tuples.find(row) {
            if let Some(at) = at.filter(|_| found >= start) {
                self.reached_by.add(found - start, at);
            }
            return;
        }
        let layout = self.tuples.layout();
        let tuple: Vec<u32> = layout.locals(row).collect();
        // Different single words do not cover each other.
        let drop = self.options.subsumption && origin.is_some();
        let largest = self.largest.entry(layout.shared(row)).or_default();
        if drop && largest.covers(&mut self.languages, &self.symmetry, &tuple) {
            return;
        }
        let id = u32::try_from(self.tuples.len()).expect("the memory ends before");
        largest.add(&mut self.languages, &self.symmetry, id, &tuple, drop);
        self.tuples.insert(row);
        self.origins.push(origin);
        self.reached_by.push(at);
    }

    /// Which tuples of the level are to be expanded, how many are the largest, and what is visible
    /// of them: as long as everything that is for visible states takes at most so many bytes.
    fn finish_level(&mut self, room: usize) -> Result<(), TooLarge> {
        if self.drawn.is_some() {
            return self.finish_drawing();
        }
        let start = self.levels[self.levels.len() - 1];
        let mut largest: Vec<u32> = self.largest.values().flat_map(Covering::largest).collect();
        largest.sort_unstable();
        let ids: Vec<usize> = largest.iter().map(|&id| id as usize).collect();
        self.counts.push(self.symmetry.sum_of_orbits(self.tuples.rows(ids.iter().copied())));
        self.open = largest.split_off(largest.partition_point(|&id| (id as usize) < start));
        for &id in &self.open {
            let row = self.tuples.row(id as usize);
            let (shared, layout) = (self.tuples.layout().shared(row), self.tuples.layout());
            let tops = layout.locals(row).map(|language| self.languages.tops_id(LanguageId(language)));
            self.projection.project(
                &mut self.visible,
                &self.symmetry,
                &self.languages,
                shared,
                tops.collect(),
                (room, &self.cancel),
            )?;
        }
        Ok(())
    }

    /// Whether a tuple of level k is covered by none of the levels before.
    pub fn grew(&self, k: usize) -> bool {
        self.drawn.as_ref().map_or(!self.range(k).is_empty(), |drawn| drawn.grew(k))
    }

    pub(crate) fn range(&self, k: usize) -> Range<usize> {
        self.levels[k]..self.levels.get(k + 1).copied().unwrap_or(self.tuples.len())
    }

    /// Whether a state is in R_k.
    pub fn contains(&self, k: usize, state: &GlobalState) -> bool {
        let stacks = self.symmetry.placed(&state.stacks);
        if let Some(drawn) = &self.drawn {
            let fits = |position: usize, language| self.languages.contains(LanguageId(language), &stacks[position]);
            return drawn.has(k, state.shared.0, &fits);
        }
        (0..self.range(k).end).any(|id| {
            let (layout, row) = (self.tuples.layout(), self.tuples.row(id));
            let has = |i: usize, position: usize| {
                self.languages.contains(LanguageId(layout.local(row, position)), &stacks[i])
            };
            layout.shared(row) == state.shared.0
                && self
                    .symmetry
                    .groups()
                    .all(|group| matching(group.len(), |i, place| has(group.start + i, group.start + place)).is_some())
        })
    }

    /// The largest tuples of all levels; unless listing them takes more than `room` bytes.
    pub(crate) fn largest(&self, room: usize) -> Result<Tuples, TooLarge> {
        if let Some(drawn) = &self.drawn {
            let list = self.listed(drawn, None, room)?;
            return Ok(self.tuples_of(&list, 0..list.len()));
        }
        let mut largest: Vec<usize> = self.largest.values().flat_map(Covering::largest).map(|id| id as usize).collect();
        largest.sort_unstable();
        Ok(self.tuples_of(&self.tuples, largest.iter().copied()))
    }

    /// Tuples that stand for R_k; unless listing them takes more memory than there is.
    pub(crate) fn up_to(&self, k: usize) -> Result<Tuples, TooLarge> {
        if let Some(drawn) = &self.drawn {
            let list = self.listed(drawn, Some(k), self.options.memory)?;
            return Ok(self.tuples_of(&list, 0..list.len()));
        }
        Ok(self.tuples_of(&self.tuples, 0..self.range(k).end))
    }

    /// The listed tuples with these numbers.
    fn tuples_of(&self, list: &PackedSet, ids: impl Iterator<Item = usize> + Clone) -> Tuples {
        let (mut automaton, mut starts) = (Dfa::default(), FxHashMap::default());
        for id in ids.clone() {
            for language in list.layout().locals(list.row(id)) {
                starts
                    .entry(language)
                    .or_insert_with(|| self.languages.get(LanguageId(language)).add_to(&mut automaton));
            }
        }
        Tuples::new(&self.symmetry, automaton, list.rows(ids), |_, language| starts[&language], false)
    }

    /// How many of the tuples of S_k no other one covers.
    pub fn count(&self, k: usize) -> Count {
        self.counts[k]
    }

    /// T(S_0) ⊆ … ⊆ T(S_k); what is there of an unfinished level comes last.
    pub fn visible(&self) -> &VisibleLevels {
        &self.visible
    }

    pub(crate) fn into_visible(self) -> PackedSet {
        self.visible.into_set()
    }

    /// The languages that the tuples are made of.
    pub fn languages(&self) -> &Languages {
        &self.languages
    }

    /// How many tuples are kept, those that are covered by now included; or nodes of diagrams.
    pub fn kept(&self) -> usize {
        self.drawn.as_ref().map_or(self.tuples.len(), |drawn| drawn.kept())
    }

    /// How many successors were looked up.
    pub fn expansions(&self) -> u64 {
        self.expansions
    }

    /// For how many shared states and languages of a program post* was computed.
    pub fn posts(&self) -> usize {
        self.posts.iter().map(StepCache::len).sum()
    }

    /// How many transitions the store automata had, all together.
    pub fn transitions(&self) -> u64 {
        self.transitions
    }

    /// The memory in use, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes_after(0)
    }

    /// The most memory that may be in use until the watcher looks again, store automata apart.
    pub(crate) fn bytes_at_next_look(&self) -> usize {
        // Diagrams have a limit of their own.
        self.bytes_after(if self.drawn.is_some() {
            0
        } else {
            usize::try_from(self.options.tuning.check_interval).expect("small")
        })
    }

    fn bytes_after(&self, more: usize) -> usize {
        let rest = self.languages.bytes()
            + self.posts.iter().map(StepCache::bytes).sum::<usize>()
            + self.origins.len() * size_of::<Option<TupleOrigin>>()
            + self.open.len() * size_of::<u32>()
            + self.largest.values().map(Covering::bytes).sum::<usize>()
            + self.reached_by.bytes()
            + self.drawn.as_ref().map_or(0, |drawn| drawn.bytes())
            + self.projection.bytes(&self.visible);
        self.tuples.bytes_after(more).saturating_add(rest)
    }
}
