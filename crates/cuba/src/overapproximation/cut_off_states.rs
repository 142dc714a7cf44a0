//! The states of M^n with their cut-off stacks, for a certificate.
//!
//! A cut-off stack stands for all stacks from which it may be cut off: a regular language. So each
//! state of M^n is a tuple of languages, and all tuples together are an inductive invariant.

use crate::automata::minimal_dfa::Dfa;
use crate::certificate::tuples::Tuples;
use crate::overapproximation::cut_off_stacks::{CutOff, SavedCutOff};
use crate::overapproximation::z::Cut;
use crate::tables::packed_rows::PackedSet;
use crate::visible::symmetry::Symmetry;
use cpds::Cpds;
use serde::{Serialize, Serializer};
use std::sync::Arc;

/// The states that M^n reaches, with their cut-off stacks.
pub(crate) struct CutOffStates<'a> {
    pub(super) symmetry: Symmetry,
    /// M_i, for each group.
    pub(super) threads: Vec<CutOff<'a>>,
    /// The group at each position.
    pub(super) group_of: Vec<usize>,
    /// The states, as packed rows.
    pub(super) set: Arc<PackedSet>,
}

/// The saved form of [`CutOffStates`].
pub(crate) type SavedCutOffStates = (Vec<SavedCutOff>, PackedSet);

impl Serialize for CutOffStates<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.threads, &self.set).serialize(serializer)
    }
}

impl<'a> CutOffStates<'a> {
    /// Restores saved states.
    pub(crate) fn restored(system: &'a Cpds, symmetry: &Symmetry, cut: Cut, (threads, set): SavedCutOffStates) -> Self {
        let threads = restored_threads(system, symmetry, cut, threads);
        CutOffStates { symmetry: symmetry.clone(), threads, group_of: groups(symmetry), set: Arc::new(set) }
    }

    /// Returns the states as tuples of languages.
    pub(crate) fn tuples(&self) -> Tuples {
        let mut automaton = Dfa::default();
        let languages: Vec<Vec<u32>> = self.threads.iter().map(|thread| thread.languages(&mut automaton)).collect();
        let language = |position: usize, word: u32| languages[self.group_of[position]][word as usize];
        Tuples::new(&self.symmetry, automaton, self.set.rows(0..self.set.len()), language, true)
    }

    /// Returns the states, as packed rows.
    pub(crate) fn set(&self) -> &Arc<PackedSet> {
        &self.set
    }

    /// Returns the memory in use. A set of states that is also stored elsewhere does not count.
    pub(crate) fn bytes(&self) -> usize {
        let set = if Arc::strong_count(&self.set) > 1 { 0 } else { self.set.bytes_after(0) };
        set + self.threads.iter().map(CutOff::bytes).sum::<usize>()
    }
}

/// Returns the group at each position.
pub(super) fn groups(symmetry: &Symmetry) -> Vec<usize> {
    symmetry.groups().enumerate().flat_map(|(i, group)| std::iter::repeat_n(i, group.len())).collect()
}

/// Restores M_i for each group.
pub(super) fn restored_threads<'a>(
    system: &'a Cpds,
    symmetry: &Symmetry,
    cut: Cut,
    saved: Vec<SavedCutOff>,
) -> Vec<CutOff<'a>> {
    let threads = symmetry.groups().map(|group| symmetry.threads()[group.start]);
    threads.zip(saved).map(|(thread, saved)| CutOff::restored(system, thread, cut.height, saved)).collect()
}
