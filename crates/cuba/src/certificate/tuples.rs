//! From a proof to a certificate: tuples of languages that have the initial states, that no step
//! leads out of, and that have no bad state, for whoever does not believe the engines
//! (`cpds-check`).
//!
//! Every proof comes down to such tuples.
//! - **R_k** (Scheme 1): the states are tuples of languages with one word each. **S_k**: the
//!   largest tuples, as they are.
//! - **Z, matched-Z, Z_z**: a stack that is cut off stands for all that it may be cut off from, a
//!   regular language (`overapproximation/cut_off_stacks.rs`).
//! - **A_d**: the largest tuples, as they are. Each has been expanded for every thread, and each
//!   successor is covered.
//! - **Several of these together**: the intersections of a tuple of one with a tuple of the other.
//!   What covers the image of either has, in common, what covers the image of both.
//!
//! # Fewer tuples
//! States that differ in one thread only may become one tuple, with the union of the languages for
//! this thread. A checker looks at the languages of a tuple one by one, so that is not allowed for
//! more than one thread, or for tuples that overlap. Let W(r) be what the thread may have where the
//! rest of the state, the shared one included, is r. What it does leads from W(r) to parts of W(r')
//! for other shared states. What another thread does leads from r to r', and is possible whatever
//! the thread has, so W(r) ⊆ W(r'). So the tuples ⟨W(r), r⟩ are closed as the states are. The
//! thread, or the group of interchangeable ones, is the one for which the fewest tuples are left.
//!
//! If with every shared state q every combination of what the threads may have there, W_1(q), …,
//! W_n(q), is a state, then one tuple for each q is enough: what thread i does leads from q to q'
//! whatever the others have, so W_j(q) ⊆ W_j(q').

use crate::automata::canonical_language::small;
use crate::automata::minimal_dfa::Dfa;
use crate::limits::Cancel;
use crate::limits::TooLarge;
use crate::tables::packed_rows::Layout;
use crate::visible::levels::top;
use crate::visible::symmetry::Symmetry;
use cpds::Certificate;
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use serde::{Serialize, Serializer};
use std::cell::Cell;
use std::collections::{BTreeMap, VecDeque};
use std::hash::{Hash, Hasher as _};
use std::ops::Range;

/// Tuples of languages, closed under every action.
#[derive(Clone)]
pub(crate) struct Tuples {
    symmetry: Symmetry,
    /// The languages, each a state.
    automaton: Dfa,
    /// The tuples, one after the other: the shared state, and a language for each position.
    rows: Vec<u32>,
    /// Whether each tuple stands for a state, cut off or not: none overlaps with another in one
    /// thread only.
    are_states: bool,
}

/// What is saved of tuples.
pub(crate) type SavedTuples = (Dfa, Vec<u32>, bool);

impl Serialize for Tuples {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (&self.automaton, &self.rows, self.are_states).serialize(serializer)
    }
}

/// How many bytes a state or a transition of an automaton takes, roughly, with what it takes to
/// find and to minimise it.
const BYTES: usize = 200;

/// What making a certificate may take.
pub(crate) struct Room<'a> {
    bytes: usize,
    cancel: &'a Cancel,
    looks: Cell<u32>,
}

impl<'a> Room<'a> {
    pub(crate) fn new(bytes: usize, cancel: &'a Cancel) -> Self {
        Room { bytes, cancel, looks: Cell::new(0) }
    }

    /// Whether so many bytes are too many, or somebody does not want to wait any longer.
    fn is_enough_for(&self, bytes: usize) -> Result<(), TooLarge> {
        self.looks.set(self.looks.get().wrapping_add(1));
        let is_cancelled = self.looks.get().is_multiple_of(1 << 10) && self.cancel.why().is_some();
        if bytes > self.bytes || is_cancelled { Err(TooLarge) } else { Ok(()) }
    }
}

impl Tuples {
    /// The tuples of packed rows; `language` says which state of the automaton is meant at each
    /// position.
    pub(crate) fn new<'s>(
        symmetry: &Symmetry,
        automaton: Dfa,
        states: impl Iterator<Item = (&'s Layout, &'s [u64])>,
        language: impl Fn(usize, u32) -> u32,
        are_states: bool,
    ) -> Self {
        let mut rows = Vec::new();
        for (layout, row) in states {
            rows.push(layout.shared(row));
            let start = rows.len();
            rows.extend(layout.locals(row).enumerate().map(|(position, local)| language(position, local)));
            symmetry.sort(&mut rows[start..]);
        }
        Tuples { symmetry: symmetry.clone(), automaton, rows, are_states }
    }

    /// As they were when they were saved.
    pub(crate) fn restored(symmetry: &Symmetry, (automaton, rows, are_states): SavedTuples) -> Self {
        Tuples { symmetry: symmetry.clone(), automaton, rows, are_states }
    }

    fn width(&self) -> usize {
        1 + self.symmetry.threads().len()
    }

    /// The memory in use, roughly.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.rows) + (self.automaton.len() + self.automaton.transition_count()) * size_of::<u64>()
    }

    /// What these and others have in common.
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
        let mut pairs: Numbered<(u32, u32)> = Numbered::new(small(automaton.len()));
        let mut rows = Vec::new();
        let mut matches = Matches::new(&automaton, &self.symmetry, room);
        // Rows are sorted by their shared states.
        for same in self.rows.chunks_exact(width).collect::<Vec<_>>().chunk_by(|a, b| a[0] == b[0]) {
            matches.among(by_shared.get(&same[0][0]).map_or(&[], Vec::as_slice));
            for row in same {
                matches.find(&row[1..], &mut |found| {
                    rows.push(row[0]);
                    rows.extend(row[1..].iter().zip(found).map(|(&a, &b)| pairs.number((a, b))));
                })?;
                room.is_enough_for(size_of_val(&*rows) + pairs.open.len() * BYTES)?;
            }
        }
        while let Some((a, b)) = pairs.open.pop_front() {
            let transitions: Vec<(u32, u32)> =
                in_common(&automaton, a, b).map(|(label, a, b)| (label, pairs.number((a, b)))).collect();
            automaton.push(automaton.is_accepting(a) && automaton.is_accepting(b), transitions);
            room.is_enough_for(size_of_val(&*rows) + (automaton.len() + automaton.transition_count()) * BYTES)?;
        }
        Ok(Tuples { automaton, rows, are_states: false, ..self }.minimal())
    }

    /// The same states in fewer tuples.
    fn merged(self, room: &Room<'_>) -> Result<Tuples, TooLarge> {
        if !self.are_states {
            return Ok(self);
        }
        if let Some((rows, unions)) = self.product() {
            return self.with(rows, unions, room);
        }
        let width = self.width();
        let groups: Vec<_> = self.symmetry.groups().collect();
        // Two copies of the rows, and pointers to one of them.
        let largest = groups.iter().map(Range::len).max().unwrap_or(0);
        let bytes = (2 * self.rows.len() + self.rows.len() * 4 / width).saturating_mul(largest * size_of::<u32>());
        if bytes > room.bytes {
            return Ok(self);
        }
        let fewest = groups.iter().map(|group| Ok((self.count_without(group, room)?, group)));
        let fewest = fewest.collect::<Result<Vec<_>, TooLarge>>()?.into_iter().min_by_key(|&(count, _)| count);
        let Some((_, group)) = fewest.filter(|&(count, _)| count * width < self.rows.len()) else {
            return Ok(self);
        };
        // Each state with one of the languages of the group behind all others.
        let mut moved = Vec::with_capacity(self.rows.len() * group.len());
        for row in self.rows.chunks_exact(width) {
            room.is_enough_for(0)?;
            for place in different(row, group) {
                moved.extend_from_slice(&row[..place]);
                moved.extend_from_slice(&row[place + 1..]);
                moved.push(row[place]);
            }
        }
        let mut moved: Vec<&[u32]> = moved.chunks_exact(width).collect();
        moved.sort_unstable();
        let mut unions: Numbered<Vec<u32>> = Numbered::new(small(self.automaton.len()));
        let mut rows = Vec::new();
        for same in moved.chunk_by(|a, b| a[..width - 1] == b[..width - 1]) {
            let union = unions.union(same.iter().map(|row| row[width - 1]).collect());
            let rest = &same[0][..width - 1];
            rows.extend_from_slice(&rest[..group.end]);
            rows.push(union);
            rows.extend_from_slice(&rest[group.end..]);
        }
        self.with(rows, unions, room)
    }

    /// One tuple for each shared state, if with each of them every combination of the languages of
    /// the groups is a state.
    fn product(&self) -> Option<(Vec<u32>, Numbered<Vec<u32>>)> {
        let groups: Vec<Range<usize>> = self.symmetry.groups().collect();
        // For each shared state, how many states there are, and the languages of each group.
        let mut by_shared: BTreeMap<u32, (u128, Vec<FxHashSet<u32>>)> = BTreeMap::new();
        for row in self.rows.chunks_exact(self.width()) {
            let (count, sets) =
                by_shared.entry(row[0]).or_insert_with(|| (0, vec![FxHashSet::default(); groups.len()]));
            *count += 1;
            for (set, group) in sets.iter_mut().zip(&groups) {
                set.extend(&row[1..][group.clone()]);
            }
        }
        let mut unions: Numbered<Vec<u32>> = Numbered::new(small(self.automaton.len()));
        let mut rows = Vec::new();
        for (shared, (count, sets)) in by_shared {
            // There are no more states than combinations, so if there are as many, each is there.
            let mut combinations = sets.iter().zip(&groups).map(|(set, group)| multisets(set.len(), group.len()));
            let all = combinations.try_fold(1_u128, |all, combinations| all.checked_mul(combinations?));
            if all != Some(count) {
                return None;
            }
            rows.push(shared);
            for (set, group) in sets.into_iter().zip(&groups) {
                let mut set: Vec<u32> = set.into_iter().collect();
                set.sort_unstable();
                let union = unions.union(set);
                rows.extend(std::iter::repeat_n(union, group.len()));
            }
        }
        Some((rows, unions))
    }

    /// These tuples instead, with the unions of languages that they need.
    fn with(self, rows: Vec<u32>, mut unions: Numbered<Vec<u32>>, room: &Room<'_>) -> Result<Tuples, TooLarge> {
        let (mut automaton, mut sets) = (self.automaton.clone(), 0);
        while let Some(union) = unions.open.pop_front() {
            let mut out: Vec<(u32, u32)> = union.iter().flat_map(|&state| automaton.out(state)).copied().collect();
            out.sort_unstable();
            out.dedup();
            let transitions: Vec<(u32, u32)> = out
                .chunk_by(|a, b| a.0 == b.0)
                .map(|same| (same[0].0, unions.union(same.iter().map(|&(_, to)| to).collect())))
                .collect();
            let is_accepting = union.iter().any(|&state| automaton.is_accepting(state));
            automaton.push(is_accepting, transitions);
            sets += union.len() * 2 * size_of::<u32>();
            room.is_enough_for(sets + (automaton.len() + automaton.transition_count()) * BYTES)?;
        }
        Ok(Tuples { automaton, rows, are_states: false, ..self })
    }

    /// How many states there are if the language of one thread of a group is left out, nearly.
    fn count_without(&self, group: &Range<usize>, room: &Room<'_>) -> Result<usize, TooLarge> {
        let mut rests: FxHashSet<u64> = FxHashSet::default();
        for row in self.rows.chunks_exact(self.width()) {
            room.is_enough_for(0)?;
            for place in different(row, group) {
                let mut hasher = FxHasher::default();
                row[..place].iter().chain(&row[place + 1..]).for_each(|&number| hasher.write_u32(number));
                rests.insert(hasher.finish());
            }
        }
        Ok(rests.len())
    }

    /// The same with the minimal automaton, and without tuples that have no states.
    fn minimal(mut self) -> Tuples {
        let (automaton, class) = self.automaton.minimal();
        let mut rows = Vec::with_capacity(self.rows.len());
        for row in self.rows.chunks_exact(self.width()) {
            let start = rows.len();
            rows.push(row[0]);
            rows.extend(row[1..].iter().map_while(|&language| class[language as usize]));
            if rows.len() < start + self.width() {
                rows.truncate(start);
            } else {
                self.symmetry.sort(&mut rows[start + 1..]);
            }
        }
        let mut sorted: Vec<&[u32]> = rows.chunks_exact(self.width()).collect();
        sorted.sort_unstable();
        sorted.dedup();
        self.rows = sorted.concat();
        Tuples { automaton, ..self }
    }

    /// The certificate; unless there is no room for it.
    pub(crate) fn certificate(self, room: &Room<'_>) -> Result<Certificate, TooLarge> {
        let tuples = self.merged(room)?.minimal();
        let symmetry = &tuples.symmetry;
        let thread = |position: usize| symmetry.threads()[position];
        let mut certificate = Certificate {
            groups: symmetry.groups().map(|group| group.map(thread).collect()).collect(),
            ..Certificate::default()
        };
        // Languages are numbered as they come.
        let mut numbers: Numbered<u32> = Numbered::new(0);
        certificate.tuples.reserve_exact(tuples.rows.len());
        for row in tuples.rows.chunks_exact(tuples.width()) {
            let start = certificate.tuples.len();
            certificate.tuples.resize(start + row.len(), row[0]);
            for (thread, &language) in symmetry.threads().iter().zip(&row[1..]) {
                certificate.tuples[start + 1 + thread.index()] = numbers.number(language);
            }
        }
        while let Some(state) = numbers.open.pop_front() {
            let out = tuples.automaton.out(state).iter();
            let transitions = out.map(|&(label, to)| (top(label).expect("no ε-edges"), numbers.number(to)));
            certificate.automaton.push(tuples.automaton.is_accepting(state), transitions);
        }
        Ok(certificate)
    }
}

/// The transitions that two states have in common: the label, and where each leads.
fn in_common(automaton: &Dfa, a: u32, b: u32) -> impl Iterator<Item = (u32, u32, u32)> {
    let mut of_b = automaton.out(b).iter().copied().peekable();
    automaton.out(a).iter().filter_map(move |&(label, a)| {
        while of_b.next_if(|&(other, _)| other < label).is_some() {}
        of_b.next_if(|&(other, _)| other == label).map(|(_, b)| (label, a, b))
    })
}

/// How the languages of a tuple can be matched with those of others, within groups, such that each
/// two have words in common.
struct Matches<'m> {
    automaton: &'m Dfa,
    symmetry: &'m Symmetry,
    /// What is known of two languages having words in common.
    meet: FxHashMap<(u32, u32), bool>,
    others: &'m [Vec<u32>],
    /// By group and language: the others that have a language there that meets it, as bits.
    meeting: FxHashMap<(usize, u32), Vec<u64>>,
    room: &'m Room<'m>,
}

impl<'m> Matches<'m> {
    fn new(automaton: &'m Dfa, symmetry: &'m Symmetry, room: &'m Room<'m>) -> Self {
        let (meet, meeting) = (FxHashMap::default(), FxHashMap::default());
        Matches { automaton, symmetry, meet, others: &[], meeting, room }
    }

    /// From now on, matches are looked for among these.
    fn among<'o: 'm>(&mut self, others: &'o [Vec<u32>]) {
        self.others = others;
        self.meeting.clear();
    }

    fn find(&mut self, a: &[u32], found: &mut impl FnMut(&[u32])) -> Result<(), TooLarge> {
        // Those with which every language of this one could be matched, if it were alone.
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
                self.with(a, other, found)?;
            }
        }
        Ok(())
    }

    fn with(&mut self, a: &[u32], b: &[u32], found: &mut impl FnMut(&[u32])) -> Result<(), TooLarge> {
        // In each group, the different languages of b, and how many of each are left.
        let mut left: Vec<Vec<(u32, usize)>> = Vec::new();
        for group in self.symmetry.groups() {
            let mut languages = b[group].to_vec();
            languages.sort_unstable();
            left.push(languages.chunk_by(|x, y| x == y).map(|same| (same[0], same.len())).collect());
        }
        self.go_on(a, 0, &mut left, &mut Vec::new(), found)
    }

    fn go_on(
        &mut self,
        a: &[u32],
        number: usize,
        left: &mut [Vec<(u32, usize)>],
        chosen: &mut Vec<u32>,
        found: &mut impl FnMut(&[u32]),
    ) -> Result<(), TooLarge> {
        let place = chosen.len();
        if place == a.len() {
            found(chosen);
            return Ok(());
        }
        let group = self.symmetry.group(place);
        // Of equal languages it does not matter which has which.
        let least = if place > group.start && a[place - 1] == a[place] { chosen[place - 1] } else { 0 };
        for i in 0..left[number].len() {
            let (language, count) = left[number][i];
            if count == 0 || language < least || !self.meet(a[place], language) {
                continue;
            }
            self.room.is_enough_for(0)?;
            left[number][i].1 -= 1;
            chosen.push(language);
            let next = number + usize::from(place + 1 == group.end);
            let done = self.go_on(a, next, left, chosen, found);
            chosen.pop();
            left[number][i].1 += 1;
            done?;
        }
        Ok(())
    }

    /// Whether two languages have a word in common.
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

/// The places of different languages of a group in a sorted row.
fn different<'r>(row: &'r [u32], group: &Range<usize>) -> impl Iterator<Item = usize> + use<'r> {
    let (first, last) = (group.start + 1, group.end + 1);
    (first..last).filter(move |&place| place == first || row[place - 1] != row[place])
}

/// How many multisets of a size there are of so many different things: (n + k - 1 over k); none if
/// u128 cannot say.
fn multisets(things: usize, size: usize) -> Option<u128> {
    (1..=size as u128).try_fold(1_u128, |count, i| Some(count.checked_mul(things as u128 + i - 1)? / i))
}

/// States that are made of others, numbered as they are asked for.
struct Numbered<K> {
    first: u32,
    numbers: FxHashMap<K, u32>,
    /// Those that are yet to be made.
    open: VecDeque<K>,
}

impl<K: Clone + Eq + Hash> Numbered<K> {
    fn new(first: u32) -> Self {
        Numbered { first, numbers: FxHashMap::default(), open: VecDeque::new() }
    }

    fn number(&mut self, of: K) -> u32 {
        let next = self.first + small(self.numbers.len());
        *self.numbers.entry(of).or_insert_with_key(|of| {
            self.open.push_back(of.clone());
            next
        })
    }
}

impl Numbered<Vec<u32>> {
    /// The union of some states, sorted.
    fn union(&mut self, of: Vec<u32>) -> u32 {
        if let &[only] = of.as_slice() { only } else { self.number(of) }
    }
}
