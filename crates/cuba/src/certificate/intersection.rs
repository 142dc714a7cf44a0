//! The intersection of two sets of tuples. If no step leads out of either set, no step leads out of
//! the intersection.
//!
//! Each tuple of one set is intersected with each tuple of the other set. Interchangeable threads
//! may be matched in several ways, and each way gives a tuple.

use crate::automata::canonical_language::to_u32;
use crate::automata::minimal_dfa::Dfa;
use crate::certificate::limits::{AUTOMATON_ITEM_BYTES, CertificateLimits};
use crate::certificate::numbering::Numbering;
use crate::certificate::tuples::Tuples;
use crate::limits::TooLarge;
use crate::visible::symmetry::Symmetry;
use rustc_hash::{FxHashMap, FxHashSet};

impl Tuples {
    /// Computes the states of these tuples that are also states of `others`.
    pub(crate) fn and(self, others: Tuples, limits: &CertificateLimits<'_>) -> Result<Tuples, TooLarge> {
        let (this, others) = (self.merged(limits)?.minimal(), others.merged(limits)?.minimal());
        this.intersected(&others, limits)
    }

    /// Intersects tuples with minimal automata.
    fn intersected(self, others: &Tuples, limits: &CertificateLimits<'_>) -> Result<Tuples, TooLarge> {
        let (mut automaton, width) = (self.automaton.clone(), self.width());
        let first = to_u32(automaton.len());
        automaton.append(&others.automaton);
        let mut by_shared: FxHashMap<u32, Vec<Vec<u32>>> = FxHashMap::default();
        for row in others.rows.chunks_exact(width) {
            by_shared.entry(row[0]).or_default().push(row[1..].iter().map(|language| first + language).collect());
        }
        let mut pairs: Numbering<(u32, u32)> = Numbering::new(to_u32(automaton.len()));
        let mut rows = Vec::new();
        let mut matches = Matches::new(&automaton, &self.symmetry, limits);
        // Rows are sorted by their shared states.
        for same in self.rows.chunks_exact(width).collect::<Vec<_>>().chunk_by(|a, b| a[0] == b[0]) {
            matches.set_others(by_shared.get(&same[0][0]).map_or(&[], Vec::as_slice));
            for row in same {
                matches.for_each(&row[1..], &mut |matched| {
                    rows.push(row[0]);
                    rows.extend(row[1..].iter().zip(matched).map(|(&a, &b)| pairs.number((a, b))));
                })?;
                limits.check(size_of_val(&*rows) + pairs.open.len() * AUTOMATON_ITEM_BYTES)?;
            }
        }
        while let Some((a, b)) = pairs.open.pop_front() {
            let transitions: Vec<(u32, u32)> =
                in_common(&automaton, a, b).map(|(label, a, b)| (label, pairs.number((a, b)))).collect();
            automaton.push(automaton.is_accepting(a) && automaton.is_accepting(b), transitions);
            limits
                .check(size_of_val(&*rows) + (automaton.len() + automaton.transition_count()) * AUTOMATON_ITEM_BYTES)?;
        }
        Ok(Tuples { automaton, rows, are_states: false, ..self }.minimal())
    }
}

/// Returns the labels for which both states have a transition, with both targets.
fn in_common(automaton: &Dfa, a: u32, b: u32) -> impl Iterator<Item = (u32, u32, u32)> {
    let mut of_b = automaton.out(b).iter().copied().peekable();
    automaton.out(a).iter().filter_map(move |&(label, a)| {
        while of_b.next_if(|&(other, _)| other < label).is_some() {}
        of_b.next_if(|&(other, _)| other == label).map(|(_, b)| (label, a, b))
    })
}

/// The ways to match the languages of a tuple with those of another one, within groups, such that
/// matched languages have a common word.
struct Matches<'m> {
    automaton: &'m Dfa,
    symmetry: &'m Symmetry,
    /// Whether two languages have a common word, for each pair that was examined.
    meet: FxHashMap<(u32, u32), bool>,
    /// The tuples of the other set with the same shared state.
    others: &'m [Vec<u32>],
    /// For a group and a language, the numbers of those `others` that have a language with a common
    /// word in this group, as bits.
    meeting: FxHashMap<(usize, u32), Vec<u64>>,
    limits: &'m CertificateLimits<'m>,
}

impl<'m> Matches<'m> {
    fn new(automaton: &'m Dfa, symmetry: &'m Symmetry, limits: &'m CertificateLimits<'m>) -> Self {
        let (meet, meeting) = (FxHashMap::default(), FxHashMap::default());
        Matches { automaton, symmetry, meet, others: &[], meeting, limits }
    }

    /// Sets the tuples with which tuples are matched.
    fn set_others<'o: 'm>(&mut self, others: &'o [Vec<u32>]) {
        self.others = others;
        self.meeting.clear();
    }

    /// Visits each match of `a` with one of the others: the languages of the other tuple, in the
    /// order of the languages of `a`.
    fn for_each(&mut self, a: &[u32], visit: &mut impl FnMut(&[u32])) -> Result<(), TooLarge> {
        // The others with which each single language of `a` can be matched.
        let mut candidates = vec![u64::MAX; self.others.len().div_ceil(64)];
        for (place, &language) in a.iter().enumerate() {
            let group = self.symmetry.group(place);
            if !self.meeting.contains_key(&(group.start, language)) {
                let mut meeting = vec![0; candidates.len()];
                for (number, other) in self.others.iter().enumerate() {
                    if other[group.clone()].iter().any(|&other| self.meet(language, other)) {
                        meeting[number / 64] |= 1 << (number % 64);
                    }
                }
                self.meeting.insert((group.start, language), meeting);
            }
            for (word, meeting) in candidates.iter_mut().zip(&self.meeting[&(group.start, language)]) {
                *word &= meeting;
            }
        }
        for (number, other) in self.others.iter().enumerate() {
            if candidates[number / 64] >> (number % 64) & 1 == 1 {
                self.match_with(a, other, visit)?;
            }
        }
        Ok(())
    }

    /// Visits each match of `a` with `b`.
    fn match_with(&mut self, a: &[u32], b: &[u32], visit: &mut impl FnMut(&[u32])) -> Result<(), TooLarge> {
        // For each group, the distinct languages of `b` that are not matched yet, and how often
        // each one occurs.
        let mut unmatched: Vec<Vec<(u32, usize)>> = Vec::new();
        for group in self.symmetry.groups() {
            let mut languages = b[group].to_vec();
            languages.sort_unstable();
            unmatched.push(languages.chunk_by(|x, y| x == y).map(|same| (same[0], same.len())).collect());
        }
        self.extend_match(a, 0, &mut unmatched, &mut Vec::new(), visit)
    }

    /// Matches the next language of `a`. If all languages are matched, visits the match. `number`
    /// is the number of the group of the next language.
    fn extend_match(
        &mut self,
        a: &[u32],
        number: usize,
        unmatched: &mut [Vec<(u32, usize)>],
        chosen: &mut Vec<u32>,
        visit: &mut impl FnMut(&[u32]),
    ) -> Result<(), TooLarge> {
        let place = chosen.len();
        if place == a.len() {
            visit(chosen);
            return Ok(());
        }
        let group = self.symmetry.group(place);
        // Equal languages of `a` are interchangeable, so only one order of their partners is
        // visited.
        let least = if place > group.start && a[place - 1] == a[place] { chosen[place - 1] } else { 0 };
        for i in 0..unmatched[number].len() {
            let (language, count) = unmatched[number][i];
            if count == 0 || language < least || !self.meet(a[place], language) {
                continue;
            }
            self.limits.check(0)?;
            unmatched[number][i].1 -= 1;
            chosen.push(language);
            let next = number + usize::from(place + 1 == group.end);
            let done = self.extend_match(a, next, unmatched, chosen, visit);
            chosen.pop();
            unmatched[number][i].1 += 1;
            done?;
        }
        Ok(())
    }

    /// Whether two languages have a common word.
    fn meet(&mut self, a: u32, b: u32) -> bool {
        let automaton = self.automaton;
        *self.meet.entry((a, b)).or_insert_with(|| {
            let (mut reached, mut open) = (FxHashSet::from_iter([(a, b)]), vec![(a, b)]);
            while let Some((a, b)) = open.pop() {
                if automaton.is_accepting(a) && automaton.is_accepting(b) {
                    return true;
                }
                open.extend(in_common(automaton, a, b).map(|(_, a, b)| (a, b)).filter(|&pair| reached.insert(pair)));
            }
            false
        })
    }
}
