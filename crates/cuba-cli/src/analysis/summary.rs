//! The facts about an analysis: the complete levels, the overapproximations, and why there is no
//! more.
//!
//! They are the same for an analysis that came to its end and for one that was ended
//! (`running/interim_results.rs`).

use crate::analysis::finding::{Finding, Unconfirmed};
use crate::analysis::limits::RunLimits;
use crate::analysis::phase::Ended;
use cpds::Cpds;
use cuba::{Between, Engine, Level, ObservationSequence, Options, Reason, RungResult};

/// What is listed of many: so many at the beginning and as many at the end, and what matters in
/// between. Nothing stands for what is left out.
pub(crate) fn listed<T>(list: &[T], most: usize, matters: impl Fn(&T) -> bool) -> Vec<Option<&T>> {
    let mut listed = Vec::new();
    for (number, it) in list.iter().enumerate() {
        if number < most || number + most >= list.len() || matters(it) {
            listed.push(Some(it));
        } else if !matches!(listed.last(), Some(None)) {
            listed.push(None);
        }
    }
    listed
}

pub(crate) struct Summary<'a> {
    /// The levels that are finished.
    pub(crate) levels: &'a [Level],
    /// The rungs that are done with.
    pub(crate) rungs: &'a [RungResult],
    /// What the levels are made of, once that is known.
    pub(crate) engine: Option<Engine>,
    /// Whether finite context reachability holds, if that is known.
    pub(crate) fcr: Option<bool>,
    /// How that is known.
    pub(crate) fcr_by: Option<String>,
    /// What is known of (R_k), or of (S_k).
    pub(crate) lower_sequence: ObservationSequence,
    /// What is known of (T(R_k)).
    pub(crate) visible_sequence: ObservationSequence,
    /// What is neither reached nor ruled out, if that is known.
    pub(crate) between: Option<(&'a Cpds, &'a Between)>,
    /// Why there is no answer, if there is none.
    pub(crate) reason: Option<Reason>,
    /// Where (R_k) collapses, as far as it is known.
    pub(crate) collapse_of_states: Option<usize>,
    /// What the search has found, if that was not told as an answer.
    pub(crate) finding: Option<&'a Finding>,
    /// If something else than the search was ended: what, and why.
    pub(crate) ended: Option<Ended>,
    pub(crate) options: Options,
    pub(crate) limits: RunLimits,
}

impl Summary<'_> {
    /// What was found, and what ended the run before it could be told.
    pub(crate) fn unconfirmed(&self) -> Option<Unconfirmed<'_>> {
        Some(Unconfirmed::new(self.finding?, self.ended.clone()?))
    }

    /// What the levels are called: R_k, or S_k.
    pub(crate) fn name(&self) -> char {
        if self.engine == Some(Engine::Symbolic) { 'S' } else { 'R' }
    }

    /// The last level that is finished.
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
            let listed = listed(&numbers, most, seven).into_iter();
            listed.map(|it| it.map_or("…".to_owned(), usize::to_string)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(shown(5), "0 1 2 3 4 5 6 7 8 9");
        assert_eq!(shown(4), "0 1 2 3 … 6 7 8 9");
        assert_eq!(shown(1), "0 … 7 … 9");
    }
}
