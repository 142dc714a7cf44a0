//! S_k as decision diagrams: for many unlike threads, whose tuples multiply.
//!
//! The sets are those of `symbolic/levels.rs`, tuple for tuple. Only that they are not listed: for
//! each shared state a diagram (`symbolic/diagram.rs`) has the tuples with that shared state, with
//! the languages of the threads as numbers, thread after thread. What the other threads have before
//! and behind the one that moves is a path of a diagram, so a context of one thread is computed
//! once for all tuples that have a node in common. Which tuples others cover is found out node by
//! node, too: ⟨L,t⟩ is covered by ⟨M,u⟩ if L ⊆ M and t is covered by u.
//!
//! # What is the same
//! Let N be the tuples to be expanded. A level of `symbolic/levels.rs` adds to the largest tuples,
//! one after the other, all successors of N that none of these covers, and drops what they cover.
//! What is left does not depend on the order: the new ones are the largest among all successors
//! that no tuple of the levels before covers. This is what is computed here. So S_k, |S_k|, T(S_k)
//! and where they stop growing are the same, and every level stands for exactly R_k.
//!
//! Tuples are not sorted here. With interchangeable threads the sets are closed under permuting
//! them, and have one tuple for each in the orbit of a sorted one; so |S_k| is the same, too.

use crate::automata::language_table::{LanguageId, Languages};
use crate::limits::TooLarge;
use crate::limits::Unfinished;
use crate::symbolic::diagram::{Diagrams, Node, Order};
use crate::symbolic::levels::Symbolic;
use crate::tables::packed_rows::{Layout, PackedSet};
use crate::visible::bad_patterns::BadPatterns;
use crate::visible::levels::top;
use crate::visible::symmetry::Symmetry;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Sets of tuples by shared state, none of them empty.
type Sets = BTreeMap<u32, Node>;

/// S_0, …, S_k, drawn.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Drawn {
    diagrams: Diagrams,
    /// For each level, the tuples that no other one of it, or of a level before, covers.
    new: Vec<Sets>,
    /// For each thread, those of them that are to be expanded for it.
    open: Vec<Sets>,
    /// The largest tuples of all levels.
    largest: Sets,
    /// The tops of all levels.
    tops: Sets,
    going: Option<Going>,
    /// How many nodes there were when a level was finished, at most.
    kept: usize,
}

/// How far a level is.
#[derive(Serialize, Deserialize)]
struct Going {
    /// The thread, and the shared state, that come next.
    next: (usize, u32),
    /// What each thread has reached.
    reached: Vec<Sets>,
    /// When the watcher looks again, in units of work.
    pulse: u64,
}

impl Order for Languages {
    fn behind_above(&mut self, number: u32, others: impl Iterator<Item = (u32, Node)>) -> Vec<Node> {
        let above = self.including(LanguageId(number));
        let is_above = |other: u32| other != number && above.binary_search(&LanguageId(other)).is_ok();
        others.filter(|&(other, _)| is_above(other)).map(|(_, node)| node).collect()
    }
}

/// How many ways there may be to permute interchangeable threads.
const PERMUTATIONS: u128 = 24;

/// How many threads there may be: what is done with a node calls itself for each.
const THREADS: usize = 256;

/// What a diagram leads to, by shared state.
type Images = Arc<[(u32, Node)]>;

impl Drawn {
    /// Whether tuples are drawn: if there are so many unlike threads, and few permutations of the
    /// others. What is visible is listed here with all permutations, and not only sorted.
    pub(crate) fn is_for(symmetry: &Symmetry, unlike: usize) -> bool {
        let different: Vec<u32> = (0..).take(symmetry.threads().len()).collect();
        let permutations = symmetry.orbit(&different);
        let is_small = different.len() <= THREADS && permutations.is_some_and(|ways| ways <= PERMUTATIONS);
        is_small && symmetry.groups().count() >= unlike
    }

    /// Nothing yet, for so many threads.
    pub(crate) fn new(threads: usize) -> Self {
        let going = Going { next: (threads, 0), reached: vec![Sets::new()], pulse: 0 };
        Drawn { open: vec![Sets::new(); threads], going: Some(going), ..Drawn::default() }
    }

    /// Adds an initial tuple.
    pub(crate) fn add(&mut self, shared: u32, tuple: &[u32]) {
        let Drawn { diagrams, going, .. } = self;
        let reached = &mut going.as_mut().expect("it begins with these").reached[0];
        let node = diagrams.tuple(tuple).expect("there is no limit yet");
        add(diagrams, reached, shared, node).expect("there is no limit yet");
    }

    pub(crate) fn is_going(&self) -> bool {
        self.going.is_some()
    }

    /// Whether level k has any tuple that is not covered by one before.
    pub(crate) fn grew(&self, k: usize) -> bool {
        self.new.get(k).is_some_and(|new| !new.is_empty())
    }

    /// How many nodes are kept of the levels that are finished. A level that is being computed may
    /// need more.
    pub(crate) fn kept(&self) -> usize {
        self.kept
    }

    pub(crate) fn steps(&self) -> u64 {
        self.diagrams.steps()
    }

    pub(crate) fn bytes(&self) -> usize {
        let sets = self.new.iter().chain(&self.open).chain([&self.largest, &self.tops]);
        let entries: usize = sets.chain(self.going.iter().flat_map(|going| &going.reached)).map(Sets::len).sum();
        self.diagrams.bytes() + entries * 2 * size_of::<(u32, Node)>()
    }

    /// Lists tuples; unless that takes more than so many bytes.
    fn list(&self, sets: &[&Sets], layout: Layout, room: usize) -> Result<PackedSet, TooLarge> {
        let count = self.diagrams.count(sets.iter().flat_map(|sets| sets.values().copied())).ok_or(TooLarge)?;
        let mut list = PackedSet::new(layout);
        let mut row = vec![0; list.layout().words()];
        if usize::try_from(count).map_or(usize::MAX, |count| list.bytes_after(count)) > room {
            return Err(TooLarge);
        }
        for (&shared, &node) in sets.iter().flat_map(|sets| sets.iter()) {
            let _ = self.diagrams.each(node, &mut |tuple| {
                list.layout().pack(&mut row, shared, tuple.iter().copied());
                list.insert(&row);
                ControlFlow::<()>::Continue(())
            });
        }
        Ok(list)
    }

    /// The tuples of level k, or of all before it, with this shared state, up to so many; nothing
    /// if there are more.
    pub(crate) fn tuples(
        &self,
        levels: impl Iterator<Item = usize>,
        shared: u32,
        most: usize,
    ) -> Option<Vec<Vec<u32>>> {
        let mut found = Vec::new();
        let sets = levels.filter_map(|k| self.new[k].get(&shared));
        for &node in sets {
            let all = self.diagrams.each(node, &mut |tuple| {
                found.push(tuple.to_vec());
                if found.len() > most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            if all.is_break() {
                return None;
            }
        }
        Some(found)
    }

    /// The shared states of level k.
    pub(crate) fn shared(&self, k: usize) -> impl Iterator<Item = u32> {
        self.new[k].keys().copied()
    }

    /// Whether a tuple of levels up to k has languages that all fit their places.
    pub(crate) fn has(&self, k: usize, shared: u32, fits: &impl Fn(usize, u32) -> bool) -> bool {
        let sets = self.new[..=k].iter().filter_map(|new| new.get(&shared));
        sets.copied().any(|node| self.diagrams.find(node, fits).is_some())
    }
}

/// A ∪= B, for one shared state.
fn add(diagrams: &mut Diagrams, sets: &mut Sets, shared: u32, node: Node) -> Result<(), TooLarge> {
    let set = sets.entry(shared).or_insert(Node::EMPTY);
    *set = diagrams.union(*set, node)?;
    Ok(())
}

fn of(sets: &Sets, shared: u32) -> Node {
    sets.get(&shared).copied().unwrap_or(Node::EMPTY)
}

impl Symbolic<'_> {
    pub(crate) fn start_drawing(&mut self) {
        let pulse = self.work() + self.options.tuning.check_interval;
        let Some(drawn) = &mut self.drawn else { return };
        drawn.going = Some(Going { next: (0, 0), reached: vec![Sets::new(); drawn.open.len()], pulse });
        self.make_room();
    }

    /// Notes how much memory there is left. What was computed is forgotten, as it is where an
    /// exploration goes on that was saved.
    pub(crate) fn make_room(&mut self) {
        if let Some(drawn) = &mut self.drawn {
            drawn.diagrams.forget();
        }
        self.room = self.options.memory.saturating_sub(self.bytes());
        self.limit();
    }

    /// Diagrams may take what is left of the memory.
    pub(crate) fn limit(&mut self) {
        if let Some(drawn) = &mut self.drawn {
            drawn.diagrams.limit(drawn.diagrams.bytes().saturating_add(self.room), &self.cancel);
        }
    }

    /// The contexts of all threads, from all shared states.
    pub(crate) fn draw_all<B>(&mut self, watch: &mut impl FnMut(&Self) -> ControlFlow<B>) -> Result<(), Unfinished<B>> {
        while let Some((position, shared)) = self.drawn.as_mut().and_then(|drawn| drawn.step()) {
            let mut drawn = self.drawn.take().expect("it is drawn");
            let done = self.draw(&mut drawn, position, shared);
            self.drawn = Some(drawn);
            done?;
            let work = self.work();
            let going = self.drawn.as_mut().and_then(|drawn| drawn.going.as_mut());
            if let Some(going) = going.filter(|going| work >= going.pulse) {
                going.pulse = work + self.options.tuning.check_interval;
                self.make_room();
                if let ControlFlow::Break(why) = watch(self) {
                    return Err(Unfinished::Stopped(why));
                }
            }
        }
        Ok(())
    }

    /// One context of the thread at `position`, from all tuples with this shared state that it has
    /// not reached itself.
    fn draw(&mut self, drawn: &mut Drawn, position: usize, shared: u32) -> Result<(), TooLarge> {
        let set = of(&drawn.open[position], shared);
        self.look_ahead_in(&drawn.diagrams, (shared, position), set);
        let found = self.images(&mut drawn.diagrams, (shared, position), (0, set), &mut FxHashMap::default())?;
        let reached = &mut drawn.going.as_mut().expect("a level is being computed").reached[position];
        for &(q, node) in &*found {
            add(&mut drawn.diagrams, reached, q, node)?;
        }
        Ok(())
    }

    /// The same from a node at this depth.
    fn images(
        &mut self,
        diagrams: &mut Diagrams,
        (shared, position): (u32, usize),
        (depth, node): (usize, Node),
        known: &mut FxHashMap<Node, Images>,
    ) -> Result<Images, TooLarge> {
        if let Some(known) = known.get(&node) {
            return Ok(known.clone());
        }
        diagrams.step()?;
        let mut found = Vec::new();
        for (language, behind) in diagrams.edges(node).collect::<Vec<_>>() {
            if depth < position {
                let images = self.images(diagrams, (shared, position), (depth + 1, behind), known)?;
                found.extend(images.iter().map(|&(q, behind)| (q, language, behind)));
            } else {
                let program = self.programs[position];
                let posts = self.contexts(program, (shared, language))?;
                self.expansions += posts.len() as u64;
                found.extend(posts.map(|index| self.posts[program].successor(index)).map(|(q, to)| (q, to, behind)));
            }
        }
        found.sort_unstable();
        let mut images = Vec::new();
        for same in found.chunk_by(|a, b| a.0 == b.0) {
            let edges = same.iter().map(|&(_, language, behind)| (language, behind)).collect();
            images.push((same[0].0, diagrams.union_of(edges)?));
        }
        let images: Images = images.into();
        known.insert(node, images.clone());
        Ok(images)
    }

    /// Which tuples of the level are to be expanded, how many are the largest, and what is visible
    /// of them.
    pub(crate) fn finish_drawing(&mut self) -> Result<(), TooLarge> {
        let Some(mut drawn) = self.drawn.take() else { return Ok(()) };
        let done = self.finish(&mut drawn);
        self.drawn = Some(drawn);
        done
    }

    fn finish(&mut self, drawn: &mut Drawn) -> Result<(), TooLarge> {
        let Drawn { diagrams, new, open, largest, tops, going, kept } = drawn;
        let Some(Going { reached, .. }) = going.take() else { return Ok(()) };
        let mut level = Sets::new();
        for (&shared, &node) in reached.iter().flatten() {
            add(diagrams, &mut level, shared, node)?;
        }
        for (&shared, node) in &mut level {
            let before = of(largest, shared);
            let rest = if self.options.subsumption && !new.is_empty() {
                *node = diagrams.uncovered(&mut self.languages, *node, before)?;
                *node = diagrams.largest(&mut self.languages, *node)?;
                diagrams.uncovered(&mut self.languages, before, *node)?
            } else {
                *node = diagrams.minus(*node, before)?;
                before
            };
            largest.insert(shared, diagrams.union(rest, *node)?);
        }
        level.retain(|_, node| *node != Node::EMPTY);
        self.counts.push(diagrams.count(largest.values().copied()).into());
        new.push(level.clone());
        for (position, open) in open.iter_mut().enumerate() {
            *open = level.clone();
            // post* of post* is post*; unless languages are widened.
            if let Some(reached) = reached.get(position).filter(|_| self.widening.is_none() && new.len() > 1) {
                for (&shared, node) in &mut *open {
                    *node = diagrams.minus(*node, of(reached, shared))?;
                }
                open.retain(|_, node| *node != Node::EMPTY);
            }
        }
        let mut fresh = Sets::new();
        for (&shared, &node) in &level {
            let languages = &self.languages;
            let own = |language| languages.tops_of(languages.tops_id(LanguageId(language))).to_vec();
            let seen = diagrams.image(node, &mut { own })?;
            let before = of(tops, shared);
            tops.insert(shared, diagrams.union(before, seen)?);
            fresh.insert(shared, diagrams.minus(seen, before)?);
        }
        let sets = new.iter_mut().chain(open).chain([largest, tops, &mut fresh]);
        diagrams.keep_only(sets.flat_map(BTreeMap::values_mut));
        *kept = diagrams.len().max(*kept);
        // The initial states are always there.
        let most = if drawn.new.len() == 1 { usize::MAX } else { self.options.memory };
        self.room = most.saturating_sub(self.bytes() + drawn.bytes());
        fresh.into_iter().try_for_each(|(shared, fresh)| self.show(&drawn.diagrams, shared, fresh))
    }

    /// Adds visible states that were not there, one by one.
    fn show(&mut self, diagrams: &Diagrams, shared: u32, fresh: Node) -> Result<(), TooLarge> {
        let Symbolic { visible, cancel, room, .. } = self;
        let before = visible.set().bytes_after(0);
        let (mut row, mut looked) = (Vec::new(), 0_u32);
        let all = diagrams.each(fresh, &mut |tops| {
            row.clear();
            row.extend_from_slice(tops);
            visible.insert(shared, &mut row);
            looked = looked.wrapping_add(1);
            let is_cancelled = looked.is_multiple_of(1 << 12) && cancel.why().is_some();
            let is_full = visible.set().bytes_after(1).saturating_sub(before) > *room;
            if is_cancelled || is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        *room = room.saturating_sub(visible.set().bytes_after(0).saturating_sub(before));
        if all.is_break() { Err(TooLarge) } else { Ok(()) }
    }

    /// The largest tuples, one by one, or those of all levels up to k; unless that takes more than
    /// so many bytes.
    pub(crate) fn listed(&self, drawn: &Drawn, up_to: Option<usize>, room: usize) -> Result<PackedSet, TooLarge> {
        let (shared, threads) = (self.system.shared_names().len(), self.programs.len());
        let sets: Vec<&Sets> = match up_to {
            Some(k) => drawn.new[..=k].iter().collect(),
            None => vec![&drawn.largest],
        };
        drawn.list(&sets, Layout::new(shared, threads, self.languages.len()), room)
    }

    /// The first level with a tuple that has a bad state, and that tuple.
    pub(crate) fn first_bad(&self, drawn: &Drawn, bad: &BadPatterns, pattern: usize) -> Option<(usize, u32, Vec<u32>)> {
        let has = |language: u32, wanted: u32| self.languages.tops(LanguageId(language)).any(|t| t == top(wanted));
        let fits = |place: usize, language: u32| bad.wanted_top(pattern, place).is_none_or(|top| has(language, top));
        (0..drawn.new.len()).find_map(|k| {
            drawn.new[k].iter().find_map(|(&shared, &node)| {
                let tuple = drawn.diagrams.find(node, &fits)?;
                bad.arrange(pattern, shared, |place, top| has(tuple[place], top))?;
                Some((k, shared, tuple))
            })
        })
    }

    /// Where a tuple of level k > 0 comes from: the position of the thread that moved, and the
    /// shared state and the tuple before.
    pub(crate) fn origin(&self, drawn: &Drawn, k: usize, shared: u32, tuple: &[u32]) -> (usize, u32, Vec<u32>) {
        let before = &drawn.new[k - 1];
        let leads_here = |position: usize, from: u32, language: u32| {
            let program = self.programs[position];
            let posts = self.posts[program].get((from, language));
            posts.is_some_and(|((), mut posts)| {
                posts.any(|index| self.posts[program].successor(index) == (shared, tuple[position]))
            })
        };
        let found = (0..tuple.len()).find_map(|position| {
            before.iter().find_map(|(&from, &node)| {
                let fits = |place: usize, language: u32| {
                    if place == position { leads_here(position, from, language) } else { language == tuple[place] }
                };
                Some((position, from, drawn.diagrams.find(node, &fits)?))
            })
        });
        found.expect("a tuple of a level comes from one of the level before")
    }
}

impl Drawn {
    /// The thread and the shared state that are next.
    fn step(&mut self) -> Option<(usize, u32)> {
        let going = self.going.as_mut()?;
        let (mut position, mut from) = going.next;
        while let Some(open) = self.open.get(position) {
            if let Some((&shared, _)) = open.range(from..).next() {
                going.next = (position, shared + 1);
                return Some((position, shared));
            }
            (position, from) = (position + 1, 0);
        }
        None
    }
}
