//! Observation sequences: plateaus, stuttering, and collapse (paper §3, Def. 1, Table 1).
//!
//! A sequence O_0 ⊆ O_1 ⊆ … is monotone, so the only observation is whether it grows from one k to
//! the next.
//!
//! # What may not be concluded
//! A plateau proves nothing by itself: in Fig. 1, T(R_2) = T(R_3), and then the sequence grows
//! again. A plateau turns out to be a stutter only when the sequence grows again. A collapse needs
//! another proof ([`converges`](ObservationSequence::converges)).

use std::fmt::{self, Display, Formatter};

/// A sequence (O_k), after O_0, …, O_k have been computed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ObservationSequence {
    /// Whether O_{k-1} ⊊ O_k, for k = 1, 2, …
    grew: Vec<bool>,
    /// The last k with O_{k-1} ⊊ O_k, or 0.
    last_growth: usize,
    /// Whether the last O_k is the limit.
    converges: bool,
}

/// The behaviour of a sequence at k₀ if O_{k₀} = O_{k₀+1}, in the terms of Table 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Pause {
    /// It pauses *or* stops growing; this is not decided yet.
    Plateau,
    /// It pauses, and grows again later.
    Stutter,
    /// It stops growing.
    Collapse,
}

impl Display for Pause {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Pause::Plateau => "plateaus",
            Pause::Stutter => "stutters",
            Pause::Collapse => "collapses",
        })
    }
}

impl ObservationSequence {
    /// Adds O_{k+1}: whether it is larger than O_k.
    ///
    /// # Panics
    /// If the sequence grows after it has collapsed.
    pub fn observe(&mut self, grew: bool) {
        assert!(!(self.converges && grew), "a sequence that has collapsed does not grow");
        self.grew.push(grew);
        if grew {
            self.last_growth = self.k();
        }
    }

    /// Adds the proof that the last O_k is the limit: the sequence converges.
    pub fn converges(&mut self) {
        self.converges = true;
    }

    /// Returns the last k for which O_k was computed.
    pub fn k(&self) -> usize {
        self.grew.len()
    }

    /// Returns the behaviour at k₀; `None` if the sequence grows there, or if O_{k₀+1} is not
    /// computed.
    pub fn at(&self, k0: usize) -> Option<Pause> {
        if k0 == self.k() && self.converges {
            return Some(Pause::Collapse);
        }
        let plateaus = !self.grew.get(k0)?;
        plateaus.then_some(match (k0 < self.last_growth, self.converges) {
            (true, _) => Pause::Stutter,
            (false, true) => Pause::Collapse,
            (false, false) => Pause::Plateau,
        })
    }

    /// Returns each k₀ at which a pause begins: O_{k₀-1} ⊊ O_{k₀} = O_{k₀+1}.
    pub fn pauses(&self) -> impl Iterator<Item = (usize, Pause)> {
        (0..=self.k()).filter(|&k0| k0 == 0 || self.grew[k0 - 1]).filter_map(|k0| Some((k0, self.at(k0)?)))
    }

    /// Returns the current plateau: the k₀ < k with O_{k₀-1} ⊊ O_{k₀} = … = O_k. It is new if k₀ =
    /// k-1. (Alg. 3, line 4; O_{-1} = ∅.)
    pub fn plateau(&self) -> Option<usize> {
        (self.last_growth < self.k()).then_some(self.last_growth)
    }

    /// Returns the k₀ at which the sequence collapses, if it converges: the least k₀ with
    /// O_{k₀} = O_{k₀+1} = ….
    pub fn collapse(&self) -> Option<usize> {
        self.converges.then_some(self.last_growth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Pause::{Collapse, Plateau, Stutter};

    fn sequence(sizes: &[usize]) -> ObservationSequence {
        let mut sequence = ObservationSequence::default();
        for pair in sizes.windows(2) {
            sequence.observe(pair[0] < pair[1]);
        }
        sequence
    }

    /// Ex. 5 and 9.
    #[test]
    fn the_visible_states_of_fig_1() {
        let sizes = [1, 3, 6, 6, 7, 8, 8];
        let after = |k: usize| sequence(&sizes[..=k]);
        assert_eq!((after(3).at(2), after(3).plateau()), (Some(Plateau), Some(2)), "it may still grow");
        assert_eq!((after(4).at(2), after(4).plateau()), (Some(Stutter), None), "it has grown again");
        let mut end = after(6);
        assert_eq!((end.at(5), end.plateau(), end.collapse()), (Some(Plateau), Some(5), None));
        end.converges();
        assert_eq!(end.pauses().collect::<Vec<_>>(), [(2, Stutter), (5, Collapse)]);
        assert_eq!((end.at(6), end.collapse()), (Some(Collapse), Some(5)), "O_7 is not computed");
    }

    #[test]
    fn the_current_plateau() {
        assert_eq!(sequence(&[4]).plateau(), None);
        assert_eq!(sequence(&[4, 4]).plateau(), Some(0));
        assert_eq!(sequence(&[4, 4, 4]).plateau(), Some(0));
        assert_eq!(sequence(&[4, 4, 5]).plateau(), None);
        assert_eq!(sequence(&[4, 4, 5, 5, 5]).plateau(), Some(2));
        assert_eq!(sequence(&[4, 4, 4, 5]).pauses().collect::<Vec<_>>(), [(0, Stutter)]);
        assert_eq!(sequence(&[4, 4, 4, 5]).at(1), Some(Stutter), "inside a pause");
    }

    #[test]
    fn a_sequence_may_converge_without_a_plateau() {
        let mut sequence = sequence(&[1, 2, 3]);
        sequence.converges();
        assert_eq!(sequence.collapse(), Some(2));
        assert_eq!(sequence.pauses().collect::<Vec<_>>(), [(2, Collapse)]);
        assert_eq!(super::tests::sequence(&[1]).collapse(), None);
        let mut constant = super::tests::sequence(&[1]);
        constant.converges();
        assert_eq!(constant.collapse(), Some(0));
    }

    #[test]
    #[should_panic(expected = "does not grow")]
    fn a_collapsed_sequence_does_not_grow() {
        let mut sequence = sequence(&[1, 2, 2]);
        sequence.converges();
        sequence.observe(true);
    }
}
