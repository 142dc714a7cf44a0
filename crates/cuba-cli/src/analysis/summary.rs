//! The facts about an analysis: its complete levels, its overapproximations, and why it ended.
//!
//! A complete analysis and one that a limit has ended (`verbs/interim_results.rs`) have the same
//! facts.

use crate::analysis::finding::{Finding, Unconfirmed};
use crate::analysis::limits::RunLimits;
use crate::analysis::phase::RunEnd;
use cpds::Cpds;
use cuba::{Between, Engine, Level, ObservationSequence, Options, Reason, RungResult};

/// Selects items of a long list: the first and last `most` items, and all items that matter. `None`
/// stands for a gap.
pub(crate) fn abridged<T>(list: &[T], most: usize, matters: impl Fn(&T) -> bool) -> Vec<Option<&T>> {
    let mut abridged = Vec::new();
    for (number, it) in list.iter().enumerate() {
        if number < most || number + most >= list.len() || matters(it) {
            abridged.push(Some(it));
        } else if !matches!(abridged.last(), Some(None)) {
            abridged.push(None);
        }
    }
    abridged
}

pub(crate) struct Summary<'a> {
    /// The complete levels.
    pub(crate) levels: &'a [Level],
    /// The rungs that are computed or given up.
    pub(crate) rungs: &'a [RungResult],
    /// The engine of the levels, if it is known.
    pub(crate) engine: Option<Engine>,
    /// Whether finite context reachability holds, if that is known.
    pub(crate) fcr: Option<bool>,
    /// The reason for it.
    pub(crate) fcr_by: Option<String>,
    /// The sequence (R_k) or (S_k).
    pub(crate) lower_sequence: ObservationSequence,
    /// The sequence (T(R_k)).
    pub(crate) visible_sequence: ObservationSequence,
    /// The visible states that are neither reached nor ruled out, if they are known.
    pub(crate) between: Option<(&'a Cpds, &'a Between)>,
    /// Why there is no answer, if there is none.
    pub(crate) reason: Option<Reason>,
    /// Where (R_k) collapses, if that is known.
    pub(crate) collapse_of_states: Option<usize>,
    /// The answer of the search, if it was not confirmed.
    pub(crate) finding: Option<&'a Finding>,
    /// The end of the run, if it was not in the search.
    pub(crate) ended: Option<RunEnd>,
    pub(crate) options: Options,
    pub(crate) limits: RunLimits,
}

impl Summary<'_> {
    /// Returns the answer of the search, if it was not confirmed.
    pub(crate) fn unconfirmed(&self) -> Option<Unconfirmed<'_>> {
        Some(Unconfirmed::new(self.finding?, self.ended.clone()?))
    }

    /// Returns the letter of the levels: R for R_k, S for S_k.
    pub(crate) fn level_letter(&self) -> char {
        if self.engine == Some(Engine::Symbolic) { 'S' } else { 'R' }
    }

    /// Returns the last complete level.
    pub(crate) fn last(&self) -> Option<&Level> {
        self.levels.last()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_listed_of_many() {
        let numbers: Vec<usize> = (0..10).collect();
        let seven = |number: &usize| *number == 7;
        let shown = |most| {
            let abridged = abridged(&numbers, most, seven).into_iter();
            abridged.map(|it| it.map_or("…".to_owned(), usize::to_string)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(shown(5), "0 1 2 3 4 5 6 7 8 9");
        assert_eq!(shown(4), "0 1 2 3 … 6 7 8 9");
        assert_eq!(shown(1), "0 … 7 … 9");
    }
}
