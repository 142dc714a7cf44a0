//! Bad patterns: finds the sorted visible states that fit one.
//!
//! A sorted state stands for its orbit, and a pattern may name different tops for interchangeable
//! threads. So a sorted state is bad if *some* member of its orbit fits: within each group, every
//! top that the pattern names has to occur at least as often as it is named.

use crate::tables::packed_rows::PackedSet;
use crate::visible::levels::top_number;
use crate::visible::matching::matching;
use crate::visible::symmetry::Symmetry;
use cpds::{Cpds, Pattern, Property, SharedState, Symbol, Wild};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// The patterns of a property. A lookup finds a pattern that names only one top. All other patterns
/// are compared one by one, by shared state.
pub(crate) struct BadPatterns {
    symmetry: Symmetry,
    /// For each pattern, the shared state and the top at each position that it names.
    patterns: Vec<(Option<u32>, Vec<Option<u32>>)>,
    /// For each pattern, the tops that it names in each group, and how often.
    wanted: Vec<Vec<(Range<usize>, u32, usize)>>,
    /// The first pattern that names only this: a shared state or any, and a top in the group with
    /// this start.
    heads: FxHashMap<(Option<u32>, usize, u32), usize>,
    /// All other patterns that name a shared state, by this shared state.
    by_shared: HashMap<u32, Vec<usize>>,
    /// All other patterns that name no shared state.
    any_shared: Vec<usize>,
}

/// The ends of contexts that make a state bad. The key is the group of the moving thread, and the
/// tops that the other threads need. The value is the shared state and the top that the moving
/// thread has to reach, as far as the pattern names them.
pub(crate) type BadContextEnds = BTreeMap<(usize, Vec<RequiredTop>), Vec<(Option<u32>, Option<u32>)>>;

/// The first position of a group, a top, and the least number of threads of the group that need it.
pub(crate) type RequiredTop = (usize, u32, usize);

impl BadPatterns {
    /// Prepares the patterns of a property.
    pub(crate) fn new(property: &Property, symmetry: &Symmetry) -> Self {
        let mut bad = Self::empty(symmetry);
        for (index, Pattern { shared, tops }) in property.bad.iter().enumerate() {
            let tops: Vec<_> =
                tops.iter().map(|top| if let Wild::Is(top) = top { Some(top_number(*top)) } else { None }).collect();
            let tops = symmetry.placed(&tops);
            let mut named: Vec<_> =
                tops.iter().enumerate().filter_map(|(i, top)| Some((symmetry.group(i), (*top)?))).collect();
            named.sort_unstable_by_key(|(group, top)| (group.start, *top));
            let shared = if let Wild::Is(q) = shared { Some(q.0) } else { None };
            match (&named[..], shared) {
                ([(group, top)], _) => {
                    bad.heads.entry((shared, group.start, *top)).or_insert(index);
                }
                (_, Some(q)) => bad.by_shared.entry(q).or_default().push(index),
                (_, None) => bad.any_shared.push(index),
            }
            let runs = named.chunk_by(|a, b| a == b);
            bad.wanted.push(runs.map(|run| (run[0].0.clone(), run[0].1, run.len())).collect());
            bad.patterns.push((shared, tops));
        }
        bad
    }

    /// Prepares heads of a program as one pattern: a visible state is bad if a thread of the
    /// program has one of these heads.
    pub(crate) fn heads(heads: &[(SharedState, Symbol)], program: usize, system: &Cpds, symmetry: &Symmetry) -> Self {
        let mut bad = Self::empty(symmetry);
        for thread in system.threads().filter(|&thread| system.program_index(thread) == program) {
            let group = symmetry.group(symmetry.position(thread));
            let head = |&(q, symbol): &(SharedState, Symbol)| ((Some(q.0), group.start, top_number(Some(symbol))), 0);
            bad.heads.extend(heads.iter().map(head));
        }
        bad
    }

    /// Creates an empty set of patterns.
    fn empty(symmetry: &Symmetry) -> Self {
        BadPatterns {
            symmetry: symmetry.clone(),
            patterns: Vec::new(),
            wanted: Vec::new(),
            heads: FxHashMap::default(),
            by_shared: HashMap::new(),
            any_shared: Vec::new(),
        }
    }

    /// Returns the first pattern that fits a member of the orbit of this visible state. The tops
    /// have to be sorted.
    pub(crate) fn violation(&self, shared: u32, tops: &[u32]) -> Option<usize> {
        let by_shared = self.by_shared.get(&shared).map_or(&[][..], Vec::as_slice);
        let first = |patterns: &[usize]| patterns.iter().copied().find(|&pattern| self.fits(pattern, tops));
        let compared = first(by_shared).into_iter().chain(first(&self.any_shared)).min();
        if self.heads.is_empty() {
            return compared;
        }
        let head = |(position, &top): (usize, &u32)| {
            let start = self.symmetry.group(position).start;
            let has = |shared| self.heads.get(&(shared, start, top)).copied();
            has(Some(shared)).into_iter().chain(has(None)).min()
        };
        tops.iter().enumerate().filter_map(head).chain(compared).min()
    }

    /// Returns the number of a bad state among these packed visible states, and its pattern. Of
    /// several bad states, returns one with the first pattern, and of these the least. So the
    /// result does not depend on the order of the states.
    pub(crate) fn first_violation(&self, visible: &PackedSet, ids: Range<usize>) -> Option<(usize, usize)> {
        let (layout, mut tops) = (visible.layout(), Vec::new());
        let bad = ids.filter_map(|id| {
            tops.clear();
            tops.extend(layout.locals(visible.row(id)));
            Some((id, self.violation(layout.shared(visible.row(id)), &tops)?))
        });
        bad.min_by_key(|&(id, pattern)| {
            let row = visible.row(id);
            (pattern, layout.shared(row), layout.locals(row).collect::<Vec<_>>())
        })
    }

    /// Returns the ends of contexts that make a state bad.
    pub(crate) fn ends(&self) -> BadContextEnds {
        let mut ends = BadContextEnds::new();
        for ((shared, _), wanted) in self.patterns.iter().zip(&self.wanted) {
            let required = |except: Option<usize>| {
                let others = wanted
                    .iter()
                    .enumerate()
                    .map(|(i, (group, top, times))| (group.start, *top, times - usize::from(except == Some(i))));
                others.filter(|&(_, _, times)| times > 0).collect::<Vec<RequiredTop>>()
            };
            for group in self.symmetry.groups() {
                let of_group = || wanted.iter().enumerate().filter(|(_, named)| named.0 == group);
                for (i, (_, top, _)) in of_group() {
                    ends.entry((group.start, required(Some(i)))).or_default().push((*shared, Some(*top)));
                }
                // The pattern may name no top for the moving thread. If it names no shared state
                // either, the state was bad before the context.
                if shared.is_some() && of_group().map(|(_, named)| named.2).sum::<usize>() < group.len() {
                    ends.entry((group.start, required(None))).or_default().push((*shared, None));
                }
            }
        }
        ends
    }

    /// Whether a member of the orbit has the tops that a pattern names.
    fn fits(&self, pattern: usize, tops: &[u32]) -> bool {
        self.wanted[pattern].iter().all(|(group, top, times)| {
            let tops = &tops[group.clone()];
            tops.partition_point(|other| other <= top) - tops.partition_point(|other| other < top) >= *times
        })
    }

    /// Returns a permutation after which a state fits a pattern: for each position, the position
    /// from which its thread comes. `has` tells whether the thread at a position can have a top.
    pub(crate) fn arrange(&self, pattern: usize, shared: u32, has: impl Fn(usize, u32) -> bool) -> Option<Vec<usize>> {
        let (wanted_shared, wanted) = &self.patterns[pattern];
        if wanted_shared.is_some_and(|wanted| wanted != shared) {
            return None;
        }
        let mut from = Vec::new();
        for group in self.symmetry.groups() {
            let fits = |place: usize, i: usize| wanted[group.start + place].is_none_or(|top| has(group.start + i, top));
            from.extend(matching(group.len(), fits)?.into_iter().map(|i| group.start + i));
        }
        Some(from)
    }

    /// Returns the top that a pattern names for a position, if there is one.
    pub(crate) fn wanted_top(&self, pattern: usize, position: usize) -> Option<u32> {
        self.patterns[pattern].1[position]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::visible::levels::top;
    use cpds::{Problem, VisibleState};
    use cpds_testing::random::{Shape, problem};
    use proptest::prelude::*;

    fn tops_by_position(symmetry: &Symmetry, state: &VisibleState) -> Vec<u32> {
        symmetry.placed(&state.tops.iter().map(|&top| top_number(top)).collect::<Vec<_>>())
    }

    proptest! {
        /// A state is bad exactly if a member of its orbit fits a pattern. The arranged state fits
        /// the pattern.
        #[test]
        fn a_state_is_bad_if_a_member_of_its_orbit_is(
            problem in problem(&Shape { copies: 1..=3, bad: 1..=3, height: 0..=1, ..Shape::default() }),
        ) {
            let check = |problem: &Problem| {
                let symmetry = Symmetry::new(problem.system(), true);
                let bad = BadPatterns::new(problem.property(), &symmetry);
                for state in problem.system().initial() {
                    let tops = tops_by_position(&symmetry, &state.visible());
                    let mut sorted = tops.clone();
                    symmetry.sort(&mut sorted);
                    let visible = |tops: Vec<u32>| VisibleState {
                        shared: state.shared,
                        tops: symmetry.by_thread(tops.into_iter().map(top)),
                    };
                    let members: Vec<_> = symmetry.members(sorted.clone()).collect();
                    let patterns: Vec<_> = (0..problem.property().bad.len())
                        .filter(|&i| {
                            members.iter().any(|member| problem.property().bad[i].matches(&visible(member.clone())))
                        })
                        .collect();
                    assert_eq!(bad.violation(state.shared.0, &sorted), patterns.first().copied());
                    for pattern in patterns {
                        let from = bad.arrange(pattern, state.shared.0, |i, top| tops[i] == top).expect("a member fits");
                        let arranged = visible(from.iter().map(|&i| tops[i]).collect());
                        assert!(problem.property().bad[pattern].matches(&arranged));
                    }
                }
            };
            check(&problem);
        }
    }
}
