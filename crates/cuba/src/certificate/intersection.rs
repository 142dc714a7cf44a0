//! The intersection of two sets of tuples, which is again a set of tuples that no step leads out of.
//!
//! It has the intersections of a tuple of one set with a tuple of the other one. A step from a state
//! of both leads to a state of both. Interchangeable threads may be matched in several ways, and each
//! way gives a tuple.

use crate::automata::canonical_language::small;
use crate::automata::minimal_dfa::Dfa;
use crate::certificate::numbering::Numbering;
use crate::certificate::room::{AUTOMATON_ITEM_BYTES, Room};
use crate::certificate::tuples::Tuples;
use crate::limits::TooLarge;
use crate::visible::symmetry::Symmetry;
use rustc_hash::{FxHashMap, FxHashSet};

impl Tuples {
    /// The states of these tuples that are also states of `others`.
    pub(crate) fn and(self, others: Tuples, room: &Room<'_>) -> Result<Tuples, TooLarge> {
        let (this, others) = (self.merged(room)?.minimal(), others.merged(room)?.minimal());
        this.intersected(&others, room)
    }

    fn intersected(self, others: &Tuples, room: &Room<'_>) -> Result<Tuples, TooLarge> {
        let (mut automaton, width) = (self.automaton.clone(), self.width());
        let first = small(automaton.len());
        automaton.append(&others.automaton);
        let mut by_shared: FxHashMap<u32, Vec<Vec<u32>>> = FxHashMap::default();
        for row in others.rows.chunks_exact(width) {
            by_shared.entry(row[0]).or_default().push(row[1..].iter().map(|language| first + language).collect());
        }
        let mut pairs: Numbering<(u32, u32)> = Numbering::new(small(automaton.len()));
        let mut rows = Vec::new();
        let mut matches = Matches::new(&automaton, &self.symmetry, room);
        // Rows are sorted by their shared states.
        for same in self.rows.chunks_exact(width).collect::<Vec<_>>().chunk_by(|a, b| a[0] == b[0]) {
            matches.set_others(by_shared.get(&same[0][0]).map_or(&[], Vec::as_slice));
            for row in same {
                matches.for_each(&row[1..], &mut |matched| {
                    rows.push(row[0]);
                    rows.extend(row[1..].iter().zip(matched).map(|(&a, &b)| pairs.number((a, b))));
                })?;
                room.check(size_of_val(&*rows) + pairs.open.len() * AUTOMATON_ITEM_BYTES)?;
            }
        }
        while let Some((a, b)) = pairs.open.pop_front() {
            let transitions: Vec<(u32, u32)> =
                in_common(&automaton, a, b).map(|(label, a, b)| (label, pairs.number((a, b)))).collect();
            automaton.push(automaton.is_accepting(a) && automaton.is_accepting(b), transitions);
            room.check(size_of_val(&*rows) + (automaton.len() + automaton.transition_count()) * AUTOMATON_ITEM_BYTES)?;
        }
        Ok(Tuples { automaton, rows, are_states: false, ..self }.minimal())
    }
}

/// The transitions with the same label of two states: the label, and both targets.
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
    /// Whether two languages have a common word, as far as it is known.
    meet: FxHashMap<(u32, u32), bool>,
    others: &'m [Vec<u32>],
    /// For a group and a language: the others that have a language in this group with a common word,
    /// as bits.
    meeting: FxHashMap<(usize, u32), Vec<u64>>,
    room: &'m Room<'m>,
}

impl<'m> Matches<'m> {
    fn new(automaton: &'m Dfa, symmetry: &'m Symmetry, room: &'m Room<'m>) -> Self {
        let (meet, meeting) = (FxHashMap::default(), FxHashMap::default());
        Matches { automaton, symmetry, meet, others: &[], meeting, room }
    }

    /// From now on, a tuple is matched with these.
    fn set_others<'o: 'm>(&mut self, others: &'o [Vec<u32>]) {
        self.others = others;
        self.meeting.clear();
    }

    /// Visits each match of a tuple: the languages of the other tuple in the order of `a`.
    fn for_each(&mut self, a: &[u32], visit: &mut impl FnMut(&[u32])) -> Result<(), TooLarge> {
        // The others with which each language of `a` could be matched if it were alone.
        let mut left = vec![u64::MAX; self.others.len().div_ceil(64)];
        for (place, &language) in a.iter().enumerate() {
            let group = self.symmetry.group(place);
            if !self.meeting.contains_key(&(group.start, language)) {
                let mut meeting = vec![0; left.len()];
                for (number, other) in self.others.iter().enumerate() {
                    if other[group.clone()].iter().any(|&other| self.meet(language, other)) {
                        meeting[number / 64] |= 1 << (number % 64);
                    }
                }
                self.meeting.insert((group.start, language), meeting);
            }
            for (word, meeting) in left.iter_mut().zip(&self.meeting[&(group.start, language)]) {
                *word &= meeting;
            }
        }
        for (number, other) in self.others.iter().enumerate() {
            if left[number / 64] >> (number % 64) & 1 == 1 {
                self.match_with(a, other, visit)?;
            }
        }
        Ok(())
    }

    /// Visits each match of `a` with `b`.
    fn match_with(&mut self, a: &[u32], b: &[u32], visit: &mut impl FnMut(&[u32])) -> Result<(), TooLarge> {
        // For each group, the distinct languages of b that are not matched yet, with their numbers.
        let mut left: Vec<Vec<(u32, usize)>> = Vec::new();
        for group in self.symmetry.groups() {
            let mut languages = b[group].to_vec();
            languages.sort_unstable();
            left.push(languages.chunk_by(|x, y| x == y).map(|same| (same[0], same.len())).collect());
        }
        self.extend_match(a, 0, &mut left, &mut Vec::new(), visit)
    }

    /// Matches the next language of `a`; visits the match if there is none. `number` is the group
    /// of this language.
    fn extend_match(
        &mut self,
        a: &[u32],
        number: usize,
        left: &mut [Vec<(u32, usize)>],
        chosen: &mut Vec<u32>,
        visit: &mut impl FnMut(&[u32]),
    ) -> Result<(), TooLarge> {
        let place = chosen.len();
        if place == a.len() {
            visit(chosen);
            return Ok(());
        }
        let group = self.symmetry.group(place);
        // Equal languages are interchangeable, so their partners are in order.
        let least = if place > group.start && a[place - 1] == a[place] { chosen[place - 1] } else { 0 };
        for i in 0..left[number].len() {
            let (language, count) = left[number][i];
            if count == 0 || language < least || !self.meet(a[place], language) {
                continue;
            }
            self.room.check(0)?;
            left[number][i].1 -= 1;
            chosen.push(language);
            let next = number + usize::from(place + 1 == group.end);
            let done = self.extend_match(a, next, left, chosen, visit);
            chosen.pop();
            left[number][i].1 += 1;
            done?;
        }
        Ok(())
    }

    /// Whether two languages have a common word.
    fn meet(&mut self, a: u32, b: u32) -> bool {
        let automaton = self.automaton;
        *self.meet.entry((a, b)).or_insert_with(|| {
            let (mut seen, mut open) = (FxHashSet::from_iter([(a, b)]), vec![(a, b)]);
            while let Some((a, b)) = open.pop() {
                if automaton.is_accepting(a) && automaton.is_accepting(b) {
                    return true;
                }
                open.extend(in_common(automaton, a, b).map(|(_, a, b)| (a, b)).filter(|&pair| seen.insert(pair)));
            }
            false
        })
    }
}
