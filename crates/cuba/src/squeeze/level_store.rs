//! The levels of the lower search: R_k as states, in this process or in several, or S_k as tuples.

use crate::cancel::Cancel;
use crate::certificate::limits::CertificateLimits;
use crate::certificate::tuples::Tuples;
use crate::distributed::coordinator::{Interrupted, SavedShares, Shares};
use crate::distributed::protocol::messages::Failure;
use crate::distributed::protocol::supersteps::Elsewhere;
use crate::encoding::StorageError;
use crate::explicit::partition::wire_format::Sent;
use crate::explicit::reachable::{Reachable, SavedReachable};
use crate::limits::{TooLarge, Unfinished};
use crate::squeeze::question::Options;
use crate::statistics::{Engine, Statistics};
use crate::symbolic::levels::{SavedSymbolic, Symbolic, SymbolicOptions};
use crate::trace::search_budget::SearchBudget;
use crate::visible::bad_patterns::BadPatterns;
use crate::visible::count::Count;
use crate::visible::levels::VisibleLevels;
use cpds::{Certificate, Cpds, GlobalState, Trace};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

/// The computed levels.
#[derive(Serialize)]
pub enum LevelStore<'a> {
    /// R_k as states.
    Explicit(Box<Reachable<'a>>),
    /// S_k as tuples.
    Symbolic(Box<Symbolic<'a>>),
    /// R_k as states in several processes.
    Shares(Box<Shares<'a, Elsewhere>>),
}

/// Levels read from a checkpoint.
#[derive(Deserialize)]
pub(crate) enum SavedLevelStore {
    Explicit(Box<SavedReachable>),
    Symbolic(Box<SavedSymbolic>),
    Shares(Box<SavedShares>),
}

/// The tables of levels that are being computed, for a checkpoint. Serialised like [`LevelStore`].
#[derive(Clone, Copy, Serialize)]
pub(crate) enum LevelTables<'e> {
    Explicit(&'e Reachable<'e>),
    Symbolic(&'e Symbolic<'e>),
}

/// A view of the levels while one is computed.
#[derive(Clone, Copy)]
pub struct LevelSnapshot<'e> {
    /// The kind of level store: states or tuples.
    pub engine: Engine,
    /// The last complete level.
    pub k: usize,
    /// The number of states or tuples stored.
    pub kept: usize,
    /// The number of successors looked up.
    pub expansions: u64,
    /// The work so far, in units of the engine.
    pub work: u64,
    /// The memory in use.
    pub bytes: usize,
    /// The most memory that may be in use until the next check.
    pub bytes_at_next_look: usize,
    /// T(R_k), and the visible states found so far of the next level.
    pub visible: &'e VisibleLevels,
    /// Whether the states found so far do not depend on the order of the exploration.
    pub(crate) is_between_waves: bool,
    /// The tables, if they can be saved now.
    pub(crate) tables: Option<LevelTables<'e>>,
}

impl<'a> LevelStore<'a> {
    /// Computes level 0.
    pub fn new(system: &'a Cpds, engine: Engine, options: &Options, memory: usize, cancel: &Cancel) -> Self {
        let Options { symmetry, tuning, .. } = *options;
        match engine {
            Engine::Explicit => LevelStore::Explicit(Box::new(Reachable::new(system, symmetry, tuning))),
            Engine::Symbolic => {
                let options = SymbolicOptions::exact(symmetry, memory, tuning);
                let mut tuples = Symbolic::new(system, options);
                tuples.use_workers(cancel, Arc::new(AtomicUsize::new(1)));
                LevelStore::Symbolic(Box::new(tuples))
            }
        }
    }

    /// Computes level 0 with the states in several processes.
    ///
    /// # Errors
    /// If one of these processes fails.
    pub(crate) fn in_shares(system: &'a Cpds, options: &Options, elsewhere: &Elsewhere) -> Result<Self, Failure> {
        let shares = Shares::new(system, options.symmetry, elsewhere.clone(), options.tuning);
        shares.map(|shares| LevelStore::Shares(Box::new(shares))).inspect_err(|why| elsewhere.give_up(why))
    }

    /// Restores the levels of a checkpoint.
    ///
    /// # Errors
    /// If the states are in other processes, and one of these has no such checkpoint.
    pub(crate) fn restored(
        system: &'a Cpds,
        options: &Options,
        memory: usize,
        elsewhere: Option<&Elsewhere>,
        saved: SavedLevelStore,
    ) -> Result<Self, Failure> {
        let Options { symmetry, tuning, .. } = *options;
        Ok(match saved {
            SavedLevelStore::Shares(saved) => {
                let nowhere = || Failure::Restore { part: 0, why: "there are no other processes".to_owned() };
                let elsewhere = elsewhere.ok_or_else(nowhere)?;
                let shares = Shares::restored(system, symmetry, elsewhere.clone(), *saved, tuning);
                LevelStore::Shares(Box::new(shares.inspect_err(|why| elsewhere.give_up(why))?))
            }
            SavedLevelStore::Explicit(saved) => {
                LevelStore::Explicit(Box::new(Reachable::restored(None, &system.into(), symmetry, *saved, tuning)))
            }
            SavedLevelStore::Symbolic(saved) => {
                let options = SymbolicOptions::exact(symmetry, memory, tuning);
                LevelStore::Symbolic(Box::new(Symbolic::restored(system, options, *saved)))
            }
        })
    }

    /// Whether a process that stored some of the states is lost. Then no level can be computed.
    pub(crate) fn is_lost(&self) -> bool {
        if let LevelStore::Shares(shares) = self { shares.is_lost() } else { false }
    }

    /// Whether the next level has begun and is incomplete.
    pub(crate) fn has_incomplete_level(&self) -> bool {
        match self {
            LevelStore::Explicit(reachable) => reachable.has_incomplete_level(),
            LevelStore::Symbolic(tuples) => tuples.has_incomplete_level(),
            LevelStore::Shares(shares) => shares.has_incomplete_level(),
        }
    }

    /// Sets the token that stops the computation at any time, and the number of threads, which may
    /// grow.
    pub(crate) fn use_workers(&mut self, cancel: &Cancel, workers: Arc<AtomicUsize>) {
        match self {
            LevelStore::Explicit(reachable) => reachable.use_workers(workers),
            LevelStore::Symbolic(tuples) => tuples.use_workers(cancel, workers),
            // Shares have their own threads, and can be stopped between supersteps.
            LevelStore::Shares(_) => {}
        }
    }

    /// Saves the states of other processes, if there are any.
    pub(crate) fn save_shares(&self) -> Result<(), StorageError> {
        if let LevelStore::Shares(shares) = self { shares.save() } else { Ok(()) }
    }

    /// Reports that the checkpoint is complete, so that other processes may delete earlier
    /// checkpoints.
    pub(crate) fn checkpoint_is_complete(&self) {
        if let LevelStore::Shares(shares) = self {
            shares.confirm_saved();
        }
    }

    /// Returns the kind of level store: states or tuples.
    pub fn engine(&self) -> Engine {
        match self {
            LevelStore::Explicit(_) | LevelStore::Shares(_) => Engine::Explicit,
            LevelStore::Symbolic(_) => Engine::Symbolic,
        }
    }

    /// Computes the next level. `watch` is called at regular intervals of work, and may stop it.
    ///
    /// # Errors
    /// If the level is incomplete. Its states found so far stay stored. No further level can be
    /// computed.
    pub fn advance<B>(
        &mut self,
        watch: &mut impl FnMut(LevelSnapshot<'_>) -> ControlFlow<B>,
    ) -> Result<(), Unfinished<B>> {
        match self {
            LevelStore::Explicit(reachable) => {
                match reachable.advance(&mut |reachable| watch(explicit_snapshot(reachable))) {
                    ControlFlow::Continue(()) => Ok(()),
                    ControlFlow::Break(why) => Err(Unfinished::Stopped(why)),
                }
            }
            LevelStore::Symbolic(tuples) => tuples.advance(&mut |tuples| watch(symbolic_snapshot(tuples))),
            LevelStore::Shares(shares) => match shares.advance(&mut |shares| watch(shares_snapshot(shares))) {
                Ok(()) => Ok(()),
                Err(Interrupted::Stopped(why)) => Err(Unfinished::Stopped(why)),
                Err(Interrupted::Failed(why)) => {
                    shares.give_up(&why);
                    Err(Unfinished::TooLarge)
                }
            },
        }
    }

    /// Returns a view of the present levels.
    pub fn snapshot(&self) -> LevelSnapshot<'_> {
        match self {
            LevelStore::Explicit(reachable) => explicit_snapshot(reachable),
            LevelStore::Symbolic(tuples) => symbolic_snapshot(tuples),
            LevelStore::Shares(shares) => shares_snapshot(shares),
        }
    }

    /// Returns the last complete level.
    pub fn k(&self) -> usize {
        self.snapshot().k
    }

    /// Returns T(R_0) ⊆ … ⊆ T(R_k), and the visible states of an incomplete level.
    pub fn visible(&self) -> &VisibleLevels {
        self.snapshot().visible
    }

    /// Whether R_{k-1} ⊊ R_k, or S_k has a tuple that no tuple of S_{k-1} covers.
    pub fn grew(&self, k: usize) -> bool {
        match self {
            LevelStore::Explicit(reachable) => reachable.has_new_states(k),
            LevelStore::Symbolic(tuples) => tuples.grew(k),
            LevelStore::Shares(shares) => shares.has_new_states(k),
        }
    }

    /// Returns |R_k \ R_{k-1}|, if states are counted.
    pub fn new_states(&self, k: usize) -> Option<Count> {
        match self {
            LevelStore::Explicit(reachable) => Some(reachable.new_states(k)),
            LevelStore::Symbolic(_) => None,
            LevelStore::Shares(shares) => Some(shares.new_states(k)),
        }
    }

    /// Returns R_k \ R_{k-1}, if states are stored one by one.
    pub fn states(&self, k: usize) -> Option<BTreeSet<GlobalState>> {
        match self {
            LevelStore::Explicit(reachable) => Some(reachable.states(k)),
            LevelStore::Symbolic(_) => None,
            LevelStore::Shares(shares) => reply(shares, shares.states(k)),
        }
    }

    /// Returns the number of tuples of S_k that no other tuple covers, if the levels are tuples.
    pub fn tuples(&self, k: usize) -> Option<Count> {
        match self {
            LevelStore::Explicit(_) | LevelStore::Shares(_) => None,
            LevelStore::Symbolic(tuples) => Some(tuples.count(k)),
        }
    }

    /// Returns the effort for the levels so far.
    pub fn statistics(&self) -> Statistics {
        match self {
            LevelStore::Explicit(reachable) => Statistics::Explicit {
                states_kept: reachable.kept(),
                visible_states_kept: reachable.visible().kept(),
                expansions: reachable.expansions(),
                stacks: reachable.stack_count(),
                highest_stack: reachable.highest(),
                table_bytes: reachable.bytes(),
                bytes_per_state: reachable.bytes().div_ceil(reachable.kept().max(1)),
            },
            LevelStore::Symbolic(tuples) => Statistics::Symbolic {
                tuples_kept: tuples.kept(),
                visible_states_kept: tuples.visible().kept(),
                expansions: tuples.expansions(),
                languages: tuples.languages().len(),
                posts: tuples.posts(),
                transitions: tuples.transitions(),
                table_bytes: tuples.bytes(),
            },
            LevelStore::Shares(shares) => shares.statistics(),
        }
    }

    /// Returns the least k with R_k = R, if the levels collapse at `collapse`; `None` if this is
    /// not decided.
    pub(super) fn collapse_of_states(&self, collapse: usize) -> Option<usize> {
        match self {
            LevelStore::Explicit(_) | LevelStore::Shares(_) => Some(collapse),
            LevelStore::Symbolic(tuples) => tuples.collapse_of_states(collapse),
        }
    }

    /// Returns the memory in use for these levels in other processes.
    pub fn bytes_elsewhere(&self) -> usize {
        if let LevelStore::Shares(shares) = self { shares.bytes_elsewhere() } else { 0 }
    }

    /// Returns the number of parts, the number of supersteps, and the messages, if the states are
    /// in several processes.
    pub fn sent(&self) -> Option<(usize, u64, Sent)> {
        match self {
            LevelStore::Explicit(_) | LevelStore::Symbolic(_) => None,
            LevelStore::Shares(shares) => Some((shares.counters().len(), shares.supersteps(), shares.total().sent)),
        }
    }

    /// Returns the states of all levels, as tuples of languages.
    ///
    /// # Errors
    /// If they take much more than `memory` bytes.
    pub(crate) fn invariant(&self, memory: usize) -> Result<Tuples, TooLarge> {
        match self {
            LevelStore::Explicit(reachable) => Ok(reachable.tuples(reachable.kept())),
            LevelStore::Symbolic(tuples) => tuples.largest(memory),
            LevelStore::Shares(shares) if shares.bytes_of_tuples() > memory => Err(TooLarge),
            LevelStore::Shares(shares) => reply(shares, shares.tuples(shares.k())).ok_or(TooLarge),
        }
    }

    /// Returns R_k as tuples of languages.
    ///
    /// # Errors
    /// If they do not fit into the memory.
    pub fn up_to(&self, k: usize) -> Result<Certificate, TooLarge> {
        let tuples = match self {
            LevelStore::Explicit(reachable) => reachable.tuples(reachable.range(k).end),
            LevelStore::Symbolic(tuples) => tuples.up_to(k)?,
            LevelStore::Shares(shares) => reply(shares, shares.tuples(k)).ok_or(TooLarge)?,
        };
        tuples.certificate(&CertificateLimits::new(usize::MAX, &Cancel::default()))
    }

    /// Returns a trace to a bad state, up to a permutation of interchangeable threads, with the
    /// least number of contexts; `None` if it is too long to be written out. `visible` is the
    /// number of the bad visible state, and `pattern` the number of the pattern that it fits.
    pub(crate) fn trace(
        &mut self,
        bad: &BadPatterns,
        visible: usize,
        pattern: usize,
        budget: &SearchBudget,
    ) -> Option<Trace> {
        match self {
            LevelStore::Explicit(reachable) => reachable.trace_to_bad(bad, visible, pattern, budget),
            LevelStore::Symbolic(tuples) => tuples.trace_to_bad(bad, pattern, budget),
            LevelStore::Shares(shares) => {
                let trace = shares.trace_to_bad(bad, visible, pattern, budget);
                reply(shares, trace).flatten()
            }
        }
    }
}

/// Returns the reply of the other processes; `None` if one of them is lost. Then all of them stop.
fn reply<T>(shares: &Shares<'_, Elsewhere>, result: Result<T, Failure>) -> Option<T> {
    result.inspect_err(|why| shares.give_up(why)).ok()
}

/// Returns a view of levels in several processes.
fn shares_snapshot<'e>(shares: &'e Shares<'_, Elsewhere>) -> LevelSnapshot<'e> {
    let total = shares.total();
    LevelSnapshot {
        engine: Engine::Explicit,
        k: shares.k(),
        kept: total.kept,
        expansions: total.expansions,
        work: total.expansions,
        bytes: total.bytes,
        // Each share has its own memory.
        bytes_at_next_look: if shares.is_full() { usize::MAX } else { 0 },
        visible: shares.visible(),
        is_between_waves: shares.is_between_waves(),
        tables: None,
    }
}

/// Returns a view of levels of states.
fn explicit_snapshot<'e>(reachable: &'e Reachable<'_>) -> LevelSnapshot<'e> {
    LevelSnapshot {
        engine: Engine::Explicit,
        k: reachable.k(),
        kept: reachable.kept(),
        expansions: reachable.expansions(),
        work: reachable.expansions(),
        bytes: reachable.bytes(),
        bytes_at_next_look: reachable.bytes_at_next_look(),
        visible: reachable.visible(),
        is_between_waves: reachable.is_between_waves(),
        tables: Some(LevelTables::Explicit(reachable)),
    }
}

/// Returns a view of levels of tuples.
fn symbolic_snapshot<'e>(tuples: &'e Symbolic<'_>) -> LevelSnapshot<'e> {
    LevelSnapshot {
        engine: Engine::Symbolic,
        k: tuples.k(),
        kept: tuples.kept(),
        expansions: tuples.expansions(),
        work: tuples.work(),
        bytes: tuples.bytes(),
        bytes_at_next_look: tuples.bytes_at_next_look(),
        visible: tuples.visible(),
        is_between_waves: true,
        tables: Some(LevelTables::Symbolic(tuples)),
    }
}
