//! S_k and T(S_k): the levels of R_k as tuples of stack languages (paper §6, App. E).
//!
//! A tuple ⟨q|L₁,…,Lₙ⟩ stands for all ⟨q|w₁,…,wₙ⟩ with w_i ∈ L_i. One context of thread i leads
//! from it to ⟨q'|L₁,…,L',…,Lₙ⟩ for each shared state q' that post\* of ⟨q|L_i⟩ reaches, where L'
//! has the stacks that it reaches with q'.
//!
//! # Covered tuples
//! A tuple covers another tuple if its languages include the languages of the other tuple,
//! component by component. Each run from the covered tuple is also a run from the covering tuple. A
//! tuple is not expanded if a tuple of its own level or of an earlier level covers it. A tuple that
//! only a tuple of a later level covers has to be expanded, since its successors belong to the next
//! level. So S_k stands for exactly R_k. The *largest* tuples are those that no other tuple covers.
//! They depend only on k, and not on the order of the exploration.
//!
//! # What may be concluded when nothing is new
//! If each successor of the tuples that are new at level k-1 is covered, then R_{k-1} = R_k = R.
//! The converse does not hold: several tuples together may cover the states of a tuple, although
//! none of them covers it alone. `symbolic/state_growth.rs` decides whether R_k has grown.

use crate::automata::language_table::Languages;
use crate::cancel::Cancel;
use crate::certificate::tuples::Tuples;
use crate::limits::{TooLarge, Unfinished};
use crate::symbolic::thread_contexts::{SavedContexts, ThreadContexts};
use crate::symbolic::tuple_store::{StoreContext, TupleStore};
use crate::tables::packed_rows::PackedSet;
use crate::tables::workers::WorkerPool;
use crate::tuning::Tuning;
use crate::visible::count::Count;
use crate::visible::levels::{SavedVisibleLevels, VisibleLevels};
use crate::visible::symmetry::Symmetry;
use cpds::{Cpds, GlobalState};
use serde::{Serialize, Serializer};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

/// The computed levels S_0, …, S_k, and T(S_0) ⊆ … ⊆ T(S_k).
pub struct Symbolic<'a> {
    system: &'a Cpds,
    symmetry: Symmetry,
    options: SymbolicOptions,
    contexts: ThreadContexts,
    store: TupleStore,
    /// For each level k, the number of the largest tuples of all levels up to k.
    counts: Vec<Count>,
    visible: VisibleLevels,
    /// The last level that has begun.
    last_level: usize,
    /// Whether the last level is not complete.
    is_incomplete: bool,
    /// The next check, in units of work.
    next_check: u64,
}

/// The saved part of an exploration.
pub(crate) type SavedSymbolic = (SavedContexts, TupleStore, Vec<Count>, SavedVisibleLevels, (usize, bool, u64));

impl Serialize for Symbolic<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let progress = (self.last_level, self.is_incomplete, self.next_check);
        (&self.contexts, &self.store, &self.counts, self.visible.saved(), progress).serialize(serializer)
    }
}

/// Options of an exploration. Only the number of tuples and the work depend on them; with widening,
/// also the levels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SymbolicOptions {
    /// Whether to use symmetry reduction.
    pub symmetry: bool,
    /// Whether to drop tuples that others cover.
    pub subsumption: bool,
    /// Widens languages to this depth. Then the exploration computes A_d, and not S_k
    /// (`overapproximation/a_d.rs`).
    pub widening: Option<usize>,
    /// The most memory that the tables may take, in bytes.
    pub memory: usize,
    /// How often limits are checked, and when diagrams and parallel post\* pay off.
    pub tuning: Tuning,
}

impl SymbolicOptions {
    /// Returns the options for S_k.
    pub fn exact(symmetry: bool, memory: usize, tuning: Tuning) -> Self {
        SymbolicOptions { symmetry, subsumption: true, widening: None, memory, tuning }
    }
}

/// A unit of work of this exploration takes about as long as so many expansions of states.
pub(crate) const EXPANSIONS_PER_UNIT: u64 = 4;

impl<'a> Symbolic<'a> {
    /// Computes S_0.
    pub fn new(system: &'a Cpds, options: SymbolicOptions) -> Self {
        let symmetry = Symmetry::new(system, options.symmetry);
        let SymbolicOptions { widening, memory, tuning, .. } = options;
        let mut contexts = ThreadContexts::new(system, &symmetry, widening, memory, tuning);
        let mut tuple = |state: &GlobalState| {
            let by_thread: Vec<u32> = state.stacks.iter().map(|stack| contexts.word(stack)).collect();
            (state.shared.0, symmetry.placed(&by_thread))
        };
        let initial: Vec<_> = system.initial().iter().map(&mut tuple).collect();
        let languages = contexts.languages().len();
        let mut symbolic = Symbolic {
            store: TupleStore::new(system.shared_names().len(), &symmetry, languages, tuning),
            counts: Vec::new(),
            visible: VisibleLevels::new(system, &symmetry),
            last_level: 0,
            is_incomplete: false,
            next_check: 0,
            system,
            symmetry,
            options,
            contexts,
        };
        for (shared, languages) in initial {
            let (store, mut context, ..) = symbolic.parts();
            store.add_initial(&mut context, shared, languages);
        }
        symbolic.finish_level(usize::MAX).expect("there is one visible state for each initial state");
        symbolic
    }

    /// Restores a saved exploration.
    pub(crate) fn restored(system: &'a Cpds, options: SymbolicOptions, saved: SavedSymbolic) -> Self {
        let symmetry = Symmetry::new(system, options.symmetry);
        let (contexts, store, counts, visible, (last_level, is_incomplete, next_check)) = saved;
        let contexts = ThreadContexts::restored(system, &symmetry, contexts, options.tuning);
        let visible = VisibleLevels::restored(&symmetry, visible);
        let mut symbolic = Symbolic {
            system,
            symmetry,
            options,
            contexts,
            store,
            counts,
            visible,
            last_level,
            is_incomplete,
            next_check,
        };
        symbolic.store.set_limits(&symbolic.contexts);
        symbolic
    }

    /// Sets the token that stops the computation at any time, and the number of threads, which may
    /// grow.
    pub(crate) fn use_workers(&mut self, cancel: &Cancel, workers: Arc<AtomicUsize>) {
        self.contexts.use_workers(cancel, WorkerPool::new(workers));
        self.store.set_limits(&self.contexts);
    }

    /// Whether the exploration can continue: the last level is complete, or it has begun and no
    /// limit has ended it.
    pub(crate) fn can_continue(&self) -> bool {
        self.has_incomplete_level() || !self.is_incomplete
    }

    /// Whether a level has begun and [`advance`](Self::advance) continues with it.
    pub(crate) fn has_incomplete_level(&self) -> bool {
        self.store.has_incomplete_level()
    }

    /// Whether widening has changed no language.
    pub(crate) fn is_exact(&self) -> bool {
        self.contexts.are_exact()
    }

    /// Returns the last complete level.
    pub fn k(&self) -> usize {
        self.last_level - usize::from(self.is_incomplete)
    }

    /// Computes the next level. Calls `watch` at regular intervals of work; it may stop the
    /// computation.
    ///
    /// # Errors
    /// If the level is incomplete. Its tuples found so far stay stored, and all of them are in
    /// S_{k+1}. Only an exploration that was saved by `watch` can continue.
    pub fn advance<B>(&mut self, watch: &mut impl FnMut(&Self) -> ControlFlow<B>) -> Result<(), Unfinished<B>> {
        if !self.has_incomplete_level() {
            assert!(!self.is_incomplete, "the level before is complete");
            self.start_level();
        }
        let is_expanded = self.expand_all(watch);
        // An incomplete level may have a bad state, too.
        let is_finished = self.finish_level(self.options.memory);
        is_expanded?;
        is_finished?;
        self.is_incomplete = false;
        Ok(())
    }

    /// Begins the next level.
    fn start_level(&mut self) {
        self.last_level += 1;
        self.is_incomplete = true;
        self.visible.next_level();
        self.update_room();
        self.store.start_level();
        self.next_check = self.work().saturating_add(self.options.tuning.check_interval);
    }

    /// Expands all open tuples of the level.
    fn expand_all<B>(&mut self, watch: &mut impl FnMut(&Self) -> ControlFlow<B>) -> Result<(), Unfinished<B>> {
        while self.expand_next()? {
            let work = self.work();
            if work >= self.next_check {
                self.next_check = work.saturating_add(self.options.tuning.check_interval);
                self.update_room();
                if let ControlFlow::Break(why) = watch(self) {
                    return Err(Unfinished::Stopped(why));
                }
            }
        }
        Ok(())
    }

    /// Takes the next step of the level. Returns false if there is none.
    fn expand_next(&mut self) -> Result<bool, TooLarge> {
        let (store, mut context, ..) = self.parts();
        store.expand_next(&mut context)
    }

    /// Ends the level, which may be incomplete: counts its tuples, and adds its visible states.
    fn finish_level(&mut self, memory: usize) -> Result<(), TooLarge> {
        let (store, mut context, counts, visible) = self.parts();
        store.finish_level(&mut context, counts, visible, memory)
    }

    /// Returns the store, and the parts of the exploration that it uses.
    fn parts(&mut self) -> (&mut TupleStore, StoreContext<'_>, &mut Vec<Count>, &mut VisibleLevels) {
        let Symbolic { symmetry, options, contexts, store, counts, visible, .. } = self;
        (store, StoreContext { symmetry, subsumption: options.subsumption, contexts }, counts, visible)
    }

    /// Sets the memory for the computation until the next check: the remaining memory.
    fn update_room(&mut self) {
        self.store.drop_caches();
        self.contexts.set_room(self.options.memory.saturating_sub(self.bytes()));
        self.store.set_limits(&self.contexts);
    }

    /// Returns the work so far.
    pub(crate) fn work(&self) -> u64 {
        self.contexts.work() + self.visible.kept() as u64 / 4 + self.store.work()
    }

    /// Whether a tuple of level k is covered by no tuple of the levels before.
    pub fn grew(&self, k: usize) -> bool {
        self.store.grew(k)
    }

    /// Whether a state is in R_k.
    pub fn contains(&self, k: usize, state: &GlobalState) -> bool {
        self.store.contains(&self.symmetry, self.languages(), k, state)
    }

    /// Returns the largest tuples of all levels.
    ///
    /// # Errors
    /// If a list of them takes more than `room` bytes.
    pub(crate) fn largest(&self, room: usize) -> Result<Tuples, TooLarge> {
        self.store.largest((&self.symmetry, self.languages()), room)
    }

    /// Returns tuples that stand for R_k.
    ///
    /// # Errors
    /// If a list of them takes more than the memory limit.
    pub(crate) fn up_to(&self, k: usize) -> Result<Tuples, TooLarge> {
        self.store.up_to((&self.symmetry, self.languages()), k, self.options.memory)
    }

    /// Returns the number of tuples of S_k that no other one covers.
    pub fn count(&self, k: usize) -> Count {
        self.counts[k]
    }

    /// Returns T(S_0) ⊆ … ⊆ T(S_k), and the visible states of an incomplete level.
    pub fn visible(&self) -> &VisibleLevels {
        &self.visible
    }

    /// Returns all visible states.
    pub(crate) fn into_visible(self) -> PackedSet {
        self.visible.into_set()
    }

    /// Returns the languages of the tuples.
    pub fn languages(&self) -> &Languages {
        self.contexts.languages()
    }

    /// Returns the number of stored tuples, with covered ones, or of nodes of diagrams.
    pub fn kept(&self) -> usize {
        self.store.len()
    }

    /// Returns the number of successors looked up.
    pub fn expansions(&self) -> u64 {
        self.contexts.expansions()
    }

    /// Returns the number of computations of post\*.
    pub fn posts(&self) -> usize {
        self.contexts.computed_starts()
    }

    /// Returns the number of transitions of all store automata.
    pub fn transitions(&self) -> u64 {
        self.contexts.transitions()
    }

    /// Returns the memory in use, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes_after(0)
    }

    /// Returns the most memory that may be in use until the next check, without store automata.
    pub(crate) fn bytes_at_next_look(&self) -> usize {
        self.bytes_after(usize::try_from(self.options.tuning.check_interval).unwrap_or(usize::MAX))
    }

    fn bytes_after(&self, more: usize) -> usize {
        let rest = self.contexts.bytes() + self.visible.set().bytes_after(0);
        self.store.bytes_after(more).saturating_add(rest)
    }

    pub(super) fn system(&self) -> &'a Cpds {
        self.system
    }

    pub(crate) fn symmetry(&self) -> &Symmetry {
        &self.symmetry
    }

    pub(super) fn tuning(&self) -> Tuning {
        self.options.tuning
    }

    pub(super) fn contexts(&self) -> &ThreadContexts {
        &self.contexts
    }

    pub(super) fn store(&self) -> &TupleStore {
        &self.store
    }
}
