//! G, the generators: visible states to which a pop may lead (paper §4.1.2, Eq. 2).
//!
//! Alg. 3 of the paper ends at a plateau of (T(R_k)) if T(R_k) contains G ∩ Z. A tighter set
//! suffices: the targets of the pops that M^n takes from states of Z.
//!
//! # The generator test succeeds exactly when T(R_k) = Z
//! At a plateau, T(R_k) is closed under all transitions of M^n except pops. Each pop of M^n from a
//! state of Z leads into G ∩ Z, and by definition into the tighter set. So if T(R_k) contains
//! either set, it is closed under M^n, and Z ⊆ T(R_k) ⊆ T(R) ⊆ Z. Conversely, Z contains both sets.
//! So either test succeeds exactly when T(R_k) = Z. Otherwise it proves nothing.
//!
//! Therefore the squeeze tests T(R_k) = Z directly, which needs no plateau. The generators are
//! computed only to report their number.

use crate::overapproximation::z::Overapproximation;
use crate::visible::count::Count;
use crate::visible::levels::visible_states;
use cpds::VisibleState;
use std::collections::BTreeSet;

impl Overapproximation<'_> {
    /// Returns G ∩ Z.
    pub fn generators(&self) -> BTreeSet<VisibleState> {
        self.states_of(&self.generators)
    }

    /// Returns the number of states in G ∩ Z.
    pub fn generator_count(&self) -> Count {
        self.count_of(&self.generators)
    }

    /// Returns the tighter set: the targets of pops from states of Z.
    pub fn pop_targets(&self) -> BTreeSet<VisibleState> {
        self.states_of(&self.pop_targets)
    }

    /// Returns the number of states in the tighter set.
    pub fn pop_target_count(&self) -> Count {
        self.count_of(&self.pop_targets)
    }

    fn states_of(&self, ids: &[u32]) -> BTreeSet<VisibleState> {
        visible_states(&self.symmetry, &self.visible, ids.iter().map(|&id| id as usize)).collect()
    }

    fn count_of(&self, ids: &[u32]) -> Count {
        self.symmetry.sum_of_orbits(self.visible.rows(ids.iter().map(|&id| id as usize)))
    }
}
