//! Computes one rung of the ladder to the end, within limits.
//!
//! In: the rung with its limits, or the tables of an unfinished rung from a checkpoint. Out: a set
//! of visible states that contains T(R), and an invariant that proves this.

use crate::cancel::Halt;
use crate::certificate::tuples::Tuples;
use crate::limits::{TooLarge, Unfinished};
use crate::overapproximation::a_d::{Abstraction, AbstractionError, AbstractionLimits};
use crate::overapproximation::cut_off_exploration::{CutOffExploration, ExplorationProgress};
use crate::overapproximation::cut_off_states::CutOffStates;
use crate::overapproximation::ladder::Rung;
use crate::overapproximation::z::Overapproximation;
use crate::squeeze::both_searches::Squeeze;
use crate::squeeze::event::Event;
use crate::squeeze::race::Side;
use crate::squeeze::rung_order::RungStep;
use crate::squeeze::saved_search::UnfinishedRungTables;
use crate::squeeze::upper_search::UpperSearch;
use crate::symbolic::levels::{SavedSymbolic, Symbolic};
use crate::tables::packed_rows::PackedSet;
use crate::visible::count::Count;
use serde::Serialize;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

/// A rung whose computation was interrupted, as a checkpoint restores it.
pub(super) enum UnfinishedRung<'a> {
    CutOff(Box<CutOffExploration<'a>>),
    Widened(Box<SavedSymbolic>),
}

/// The tables of a rung that is being computed.
pub(super) enum RungTables<'a> {
    CutOff(Box<CutOffExploration<'a>>),
    Widened(Box<Symbolic<'a>>),
}

impl RungTables<'_> {
    /// Returns the number of tuples or states to which the limit applies. For Z and matched-Z it is
    /// zero, since only memory limits them.
    pub(super) fn limited_items(&self, rung: Rung) -> usize {
        match (self, rung) {
            (_, Rung::Z | Rung::MatchedZ) => 0,
            (RungTables::CutOff(exploration), _) => exploration.progress().states,
            (RungTables::Widened(tuples), _) => tuples.kept(),
        }
    }
}

/// A rung that was computed to the end.
pub(super) struct ComputedRung<'a> {
    /// Its visible states, sorted within groups of interchangeable threads.
    pub(super) set: Arc<PackedSet>,
    pub(super) invariant: Invariant<'a>,
    /// For Z: |G ∩ Z|, and the number of pop targets in Z.
    pub(super) generators: Option<(Count, Count)>,
    /// Whether the set is T(R).
    pub(super) is_exact: bool,
}

/// The states of a rung as a set that no step leaves: the core of a certificate.
#[derive(Serialize)]
pub(super) enum Invariant<'a> {
    CutOff(CutOffStates<'a>),
    Widened(Tuples),
}

impl Invariant<'_> {
    /// Returns the states as tuples of languages.
    pub(super) fn tuples(&self) -> Tuples {
        match self {
            Invariant::CutOff(states) => states.tuples(),
            Invariant::Widened(tuples) => tuples.clone(),
        }
    }

    /// Returns the memory in use.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Invariant::CutOff(states) => states.bytes(),
            Invariant::Widened(tuples) => tuples.bytes(),
        }
    }
}

impl<'a> Squeeze<'a, '_> {
    /// Returns the tables of an unfinished rung, or new tables with the initial states.
    pub(super) fn tables(
        &self,
        rung: Rung,
        unfinished: Option<UnfinishedRung<'a>>,
        limits: AbstractionLimits,
    ) -> Result<RungTables<'a>, TooLarge> {
        let options = |depth| Abstraction::options(depth, self.options.symmetry, limits, self.options.tuning);
        Ok(match (rung, unfinished) {
            (Rung::Abstract(depth), Some(UnfinishedRung::Widened(saved))) => {
                RungTables::Widened(Box::new(Symbolic::restored(self.system(), options(depth), *saved)))
            }
            (Rung::Abstract(depth), _) => RungTables::Widened(Box::new(Symbolic::new(self.system(), options(depth)))),
            (_, Some(UnfinishedRung::CutOff(exploration))) => RungTables::CutOff(exploration),
            (_, _) => {
                let cut = rung.cut().expect("the others are cut off");
                let (memory, tuning) = (limits.memory, self.options.tuning);
                let exploration = CutOffExploration::new(self.system(), self.symmetry.clone(), cut, memory, tuning)?;
                RungTables::CutOff(Box::new(exploration))
            }
        })
    }

    /// Explores M^n to the end, within limits. Also returns the number of transitions.
    pub(super) fn compute_cut_off(
        &self,
        search: &UpperSearch<'a>,
        step: RungStep,
        exploration: CutOffExploration<'a>,
        limits: AbstractionLimits,
        events: &SyncSender<Event>,
    ) -> (Result<ComputedRung<'a>, AbstractionError<Halt>>, u64) {
        let RungStep { rung, .. } = step;
        // Only memory limits Z and matched-Z.
        let max_states = if rung.cut().is_some_and(|cut| cut.height > 1) { limits.tuples } else { usize::MAX };
        let mut work = exploration.progress().transitions;
        let result = Overapproximation::within(exploration, limits.memory, &mut |exploration| {
            let ExplorationProgress { states, transitions: taken, bytes } = exploration.progress();
            let bytes = self.in_use(limits, bytes);
            let _ = events.send(Event::Overapproximating { rung, states, bytes });
            work = taken;
            if states > max_states {
                return ControlFlow::Break(AbstractionError::TooManyTuples);
            }
            self.tick(rung, self.time_after(search, rung, work)).map_break(AbstractionError::Stopped)?;
            if exploration.is_between_states() {
                self.save_if_due(Side::Upper, &|out| {
                    search.write(Some((step, UnfinishedRungTables::CutOff(exploration))), out)
                });
            }
            ControlFlow::Continue(())
        });
        let result = match result {
            Ok((z, taken)) => {
                work = taken;
                let generators = (rung == Rung::Z).then(|| (z.generator_count(), z.pop_target_count()));
                let (set, states) = z.into_states();
                Ok(ComputedRung { generators, is_exact: false, set, invariant: Invariant::CutOff(states) })
            }
            Err(Unfinished::TooLarge) => Err(AbstractionError::TooLarge),
            Err(Unfinished::Stopped(why)) => Err(why),
        };
        (result, work)
    }

    /// Computes A_d to the end, within limits. Also returns the work.
    pub(super) fn compute_widened(
        &self,
        search: &UpperSearch<'a>,
        step: RungStep,
        mut tuples: Symbolic<'a>,
        limits: AbstractionLimits,
        events: &SyncSender<Event>,
    ) -> (Result<ComputedRung<'a>, AbstractionError<Halt>>, u64) {
        let RungStep { rung, .. } = step;
        tuples.use_workers(self.race.cancel(Side::Upper), self.race.workers(Side::Upper));
        let mut work = tuples.work();
        let mut watch = |tuples: &Symbolic<'_>| {
            let bytes = self.in_use(limits, tuples.bytes());
            let _ = events.send(Event::Overapproximating { rung, states: tuples.kept(), bytes });
            work = tuples.work();
            self.tick(rung, self.time_after(search, rung, work))?;
            // In the last call, the tables may be too large to continue.
            if tuples.can_continue() {
                self.save_if_due(Side::Upper, &|out| {
                    search.write(Some((step, UnfinishedRungTables::Widened(tuples))), out)
                });
            }
            ControlFlow::Continue(())
        };
        let result = Abstraction::watched(tuples, limits, &mut watch);
        let work = result.as_ref().map_or(work, |abstraction| abstraction.work);
        let result = result.map(|Abstraction { is_exact, visible, largest, .. }| ComputedRung {
            generators: None,
            is_exact,
            set: Arc::new(visible),
            invariant: Invariant::Widened(largest),
        });
        (result, work)
    }
}
