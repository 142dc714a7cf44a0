//! The ceiling: the visible states that no rung of the ladder has ruled out.
//!
//! The ceiling is the intersection of all rungs computed so far. Each rung contains T(R), so the
//! ceiling does, too. The table has the states of the first rung, and marks each state with the
//! rung that ruled it out. So it has the ceiling after each rung.

use crate::tables::packed_rows::PackedSet;
use crate::visible::bad_patterns::BadPatterns;
use crate::visible::count::Count;
use crate::visible::levels::visible_states;
use crate::visible::symmetry::Symmetry;
use cpds::{Property, VisibleState};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The mark of a state that is not ruled out.
const REMAINS: u32 = u32::MAX;

/// The most tops of all states in a list of states.
const MAX_LISTED_TOPS: usize = 1_000_000;

/// The intersection of the rungs.
pub(crate) struct Ceiling {
    symmetry: Symmetry,
    /// The states of the first rung.
    set: Option<Arc<PackedSet>>,
    /// For each state, the number of the rung that ruled it out.
    ruled_out_by: Vec<u32>,
}

impl Ceiling {
    /// Creates the ceiling before the first rung: no state is ruled out.
    pub(crate) fn new(symmetry: Symmetry) -> Self {
        Ceiling { symmetry, set: None, ruled_out_by: Vec::new() }
    }

    /// Restores a saved ceiling.
    pub(crate) fn restored(symmetry: Symmetry, set: Option<Arc<PackedSet>>, ruled_out_by: Vec<u32>) -> Self {
        Ceiling { symmetry, set, ruled_out_by }
    }

    /// Returns the states of the first rung.
    pub(crate) fn set(&self) -> Option<&Arc<PackedSet>> {
        self.set.as_ref()
    }

    /// Returns, for each state of the first rung, the number of the rung that ruled it out.
    pub(crate) fn marks(&self) -> &[u32] {
        &self.ruled_out_by
    }

    /// Rules out the states that are not in the rung with this number. Calls must have increasing
    /// numbers.
    pub(crate) fn lower(&mut self, number: usize, rung: Arc<PackedSet>) {
        let number = u32::try_from(number).ok().filter(|&number| number < REMAINS).expect("few rungs");
        let Some(set) = &self.set else {
            self.ruled_out_by = vec![REMAINS; rung.len()];
            self.set = Some(rung);
            return;
        };
        assert_eq!(set.layout(), rung.layout(), "both pack the same visible states");
        for (id, mark) in self.ruled_out_by.iter_mut().enumerate().filter(|(_, mark)| **mark == REMAINS) {
            if rung.find(set.row(id)).is_none() {
                *mark = number;
            }
        }
    }

    /// Returns the states that remain after the rung with this number.
    fn remaining(&self, number: usize) -> impl Iterator<Item = usize> {
        let marks = self.ruled_out_by.iter().enumerate();
        marks.filter(move |&(_, &mark)| mark as usize > number).map(|(id, _)| id)
    }

    /// Returns the number of sorted states that remain after a rung.
    pub(crate) fn sorted_count(&self, number: usize) -> usize {
        self.remaining(number).count()
    }

    /// Returns the number of states that remain after a rung.
    pub(crate) fn count(&self, number: usize) -> Count {
        self.count_of(self.remaining(number).collect())
    }

    /// Returns the number of states that a rung ruled out.
    pub(crate) fn ruled_out(&self, number: usize) -> Count {
        let marks = self.ruled_out_by.iter().enumerate();
        self.count_of(marks.filter(|&(_, &mark)| mark as usize == number).map(|(id, _)| id).collect())
    }

    /// Returns the number of states for which these sorted states stand.
    fn count_of(&self, ids: Vec<usize>) -> Count {
        self.set.as_ref().map_or(Count::ZERO, |set| self.symmetry.sum_of_orbits(set.rows(ids.into_iter())))
    }

    /// Returns the numbers of the rungs that ruled out a bad state; `None` if a bad state remains
    /// after the rung with this number.
    pub(crate) fn without_bad(&self, bad: &BadPatterns, number: usize) -> Option<BTreeSet<usize>> {
        let set = self.set.as_ref()?;
        let is_bad = |id: usize| bad.first_violation(set, id..id + 1).is_some();
        if self.remaining(number).any(is_bad) {
            return None;
        }
        let marks = self.ruled_out_by.iter().enumerate();
        Some(marks.filter(|&(id, &mark)| mark != REMAINS && is_bad(id)).map(|(_, &mark)| mark as usize).collect())
    }

    /// Returns the numbers of the rungs, up to this one, that ruled out any state.
    pub(crate) fn rungs_that_ruled_out(&self, number: usize) -> BTreeSet<usize> {
        let marks = self.ruled_out_by.iter().filter(|&&mark| mark != REMAINS).map(|&mark| mark as usize);
        marks.filter(|&mark| mark <= number).collect()
    }

    /// Returns a reached state that does not remain after a rung, with the rung that ruled it out;
    /// `None` for this rung if it is the first one. If there is such a state, the two searches
    /// contradict each other. `reached` is the number of reached states.
    pub(crate) fn ruled_out_but_reached(
        &self,
        number: usize,
        visible: &PackedSet,
        reached: usize,
    ) -> Option<(VisibleState, Option<usize>)> {
        let set = self.set.as_ref()?;
        let (id, mark) = (0..reached).find_map(|id| match set.find(visible.row(id)) {
            None => Some((id, None)),
            Some(at) => {
                let mark = self.ruled_out_by[at] as usize;
                (mark <= number).then_some((id, Some(mark)))
            }
        })?;
        let state = visible_states(&self.symmetry, visible, [id]).next().expect("an orbit has a member");
        Some((state, mark))
    }

    /// Returns the states that remain after a rung and are not among the `reached` first visible
    /// states.
    pub(crate) fn between(
        &self,
        number: usize,
        (visible, reached): (&PackedSet, usize),
        bad: Option<(&BadPatterns, &Property)>,
    ) -> Option<Between> {
        let set = self.set.as_ref()?;
        let is_open = |&id: &usize| visible.find(set.row(id)).is_none_or(|at| at >= reached);
        let ids: Vec<usize> = self.remaining(number).filter(is_open).collect();
        // Orbits may have too many states to list.
        let limit = MAX_LISTED_TOPS / self.symmetry.threads().len();
        let states = |ids: Vec<usize>| visible_states(&self.symmetry, set, ids);
        let is_bad = |&id: &usize| bad.is_some_and(|(bad, _)| bad.first_violation(set, id..id + 1).is_some());
        let is_bad_state = |state: &VisibleState| bad.is_some_and(|(_, property)| property.violation(state).is_some());
        Some(Between {
            bad: states(ids.iter().copied().filter(is_bad).collect()).filter(is_bad_state).take(limit).collect(),
            states: states(ids.clone()).take(limit).collect(),
            count: self.count_of(ids),
        })
    }

    /// Returns the memory in use, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.set.as_ref().map_or(0, |set| set.bytes_after(0)) + size_of_val(&*self.ruled_out_by)
    }
}

/// The visible states that are neither reached nor ruled out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Between {
    /// Their number.
    pub count: Count,
    /// The states; only the first ones if all of them have more than a million tops.
    pub states: BTreeSet<VisibleState>,
    /// The bad states among them, with the same limit, if the question is about bad states.
    pub bad: BTreeSet<VisibleState>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::visible::levels::VisibleLevels;
    use cpds::Problem;

    /// There are four rungs, with the numbers 0, 2, 3 and 4; rung 1 was not completed. Rung 4 rules
    /// out no bad state.
    #[test]
    fn the_ceiling_is_the_intersection_of_the_rungs() {
        let problem: Problem = "shared 0; init 0|a; bad 0|b; bad 0|d; thread P { symbols a b c d e }".parse().unwrap();
        let system = problem.system();
        let symmetry = Symmetry::new(system, true);
        let set = |tops: &str| {
            let mut visible = VisibleLevels::new(system, &symmetry);
            for top in tops.chars() {
                let symbol = system.symbol_names().get(&top.to_string()).unwrap();
                visible.insert(0, &mut [symbol + 1]);
            }
            visible.into_set()
        };
        let names = |states: &BTreeSet<VisibleState>| -> Vec<String> {
            states.iter().map(|state| system.text(state).to_string()).collect()
        };
        let bad = BadPatterns::new(problem.property(), &symmetry);
        let mut ceiling = Ceiling::new(symmetry.clone());
        assert_eq!(ceiling.without_bad(&bad, 0), None);
        for (number, tops) in [(0, "abcd"), (2, "abce"), (3, "acde"), (4, "ade")] {
            ceiling.lower(number, Arc::new(set(tops)));
        }

        assert_eq!([0, 1, 2, 3].map(|number| ceiling.sorted_count(number)), [4, 4, 3, 2]);
        assert_eq!([0, 1, 2, 3].map(|number| ceiling.count(number).to_string()), ["4", "4", "3", "2"]);
        assert_eq!([0, 1, 2, 3].map(|number| ceiling.ruled_out(number).to_string()), ["0", "0", "1", "1"]);
        assert_eq!([0, 2].map(|number| ceiling.without_bad(&bad, number)), [None, None]);
        assert_eq!(
            [3, 4].map(|number| ceiling.without_bad(&bad, number)),
            [(); 2].map(|()| Some(BTreeSet::from([2, 3])))
        );
        assert_eq!([0, 1, 2, 3].map(|number| ceiling.rungs_that_ruled_out(number).len()), [0, 0, 1, 2]);
        assert_eq!(
            (ceiling.rungs_that_ruled_out(2), ceiling.rungs_that_ruled_out(3)),
            (BTreeSet::from([2]), BTreeSet::from([2, 3]))
        );

        assert_eq!(ceiling.bytes(), set("abcd").bytes_after(0) + 4 * size_of::<u32>());

        let contradiction = |number, tops, reached| {
            let (state, by) = ceiling.ruled_out_but_reached(number, &set(tops), reached)?;
            Some((system.text(&state).to_string(), by))
        };
        assert_eq!(
            [contradiction(0, "adb", 3), contradiction(2, "adb", 1), contradiction(3, "ac", 2)],
            [None, None, None]
        );
        assert_eq!(contradiction(2, "adb", 3), Some(("0|d".to_owned(), Some(2))));
        assert_eq!(contradiction(3, "acb", 3), Some(("0|b".to_owned(), Some(3))));
        assert_eq!(contradiction(0, "ae", 2), Some(("0|e".to_owned(), None)), "the first rung does not have it");

        let between = |number, tops, reached| {
            let visible = set(tops);
            let between = ceiling.between(number, (&visible, reached), Some((&bad, problem.property()))).unwrap();
            assert_eq!(between.count.to_string(), between.states.len().to_string());
            (names(&between.states), names(&between.bad))
        };
        let list = |states: &[&str]| states.iter().map(|&state| state.to_owned()).collect::<Vec<_>>();
        assert_eq!(between(0, "a", 1), (list(&["0|b", "0|c", "0|d"]), list(&["0|b", "0|d"])));
        assert_eq!(between(0, "ab", 1), (list(&["0|b", "0|c", "0|d"]), list(&["0|b", "0|d"])), "b is reached later");
        assert_eq!(between(2, "a", 1), (list(&["0|b", "0|c"]), list(&["0|b"])));
        assert_eq!(between(3, "a", 1), (list(&["0|c"]), list(&[])));
        assert_eq!(between(3, "ac", 2), (list(&[]), list(&[])));
    }
}
