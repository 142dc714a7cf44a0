//! Rounds of an exploration on several cores.
//!
//! A round takes pairs of the wave, in order, at most until the watcher is to look. The phases:
//! 1. for each piece of the pairs, the steps are taken. The states they lead to are *candidates*,
//!    and each waits for the group of parts of the index that it belongs to;
//! 2. if there are moves that are not known, they are computed, one after the other, in the order
//!    of the pairs; then the steps are taken again where they were missing;
//! 3. for each group, its candidates are looked up, in order. What is not there is noted under a
//!    number of the group's own;
//! 4. for each piece, those that are new become rows, in the order of the candidates, and their
//!    tops are looked at; and for each group, at the same time, the numbers they have there are
//!    written into its places, and its parts get room for the next round.
//!
//! Between rounds, the visible states that are new are inserted.
//!
//! All this is what one core does (`explicit/reachable.rs`): each state gets the number that it
//! would have got. Nothing is locked: in each phase, what is written is one core's own, and what is
//! shared is only read. (Who reached a state is shared; only one core has the state.)

use crate::explicit::frontier::Pair;
use crate::explicit::parallel::broadcast::wide_awake;
use crate::explicit::parallel::state_numbering::Ranks;
use crate::explicit::reachable::{Reachable, SMALL, number_of, prefetch, tops_of};
use crate::explicit::stack_table::Stacks;
use crate::explicit::state_table::{BATCH, PARTS, Part, Rows, States, part_of};
use crate::tables::packed_rows::{Layout, PackedSet, hash, same};
use crate::tables::step_cache::StepCache;
use crate::tables::thread_masks::{ThreadMasks, complement};
use crate::tables::workers::WorkerPool;
use crate::visible::levels::VisibleLevels;
use crate::visible::symmetry::{Successors, Symmetry, copy};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicUsize};

/// Those who work on an exploration.
pub(crate) struct Crew {
    hands: WorkerPool,
    /// For fewer pairs or states it is not worth it to wake others up.
    few: usize,
    pieces: Vec<Piece>,
    groups: Vec<Group>,
    /// How many pairs and candidates the last round had.
    last: (usize, usize),
}

/// A piece of the pairs, and what they lead to. It has lines of the cache for itself, in pairs, as
/// processors fetch them: other cores write its neighbours.
#[repr(align(128))]
struct Piece {
    pairs: Range<usize>,
    /// For each group, its candidates.
    waiting: Vec<Waiting>,
    /// How many there are, and how many for each part.
    candidates: usize,
    parts: [u32; PARTS],
    /// The number of the first, among all of the round.
    first: usize,
    /// Whether these are not all, or not the right ones.
    is_stale: bool,
    successors: Successors,
}

/// Candidates that wait to be looked up.
#[derive(Default)]
struct Waiting {
    rows: Vec<u64>,
    /// The number of each among those of the piece, and the position of the thread that reached it.
    of: Vec<(u32, u16)>,
}

/// Some parts of the index, and what their candidates are. It has lines of the cache for itself,
/// too.
#[derive(Default)]
#[repr(align(128))]
struct Group {
    /// Which of the candidates are new.
    new: Vec<u64>,
    /// Their rows, numbers, and who reached them.
    rows: Vec<u64>,
    numbers: Vec<u32>,
    reached_by: ThreadMasks,
    /// The places that note them.
    places: Vec<u32>,
    /// Which of the candidates are states that are opened again.
    opens: Vec<u64>,
    reopens: Vec<(u32, Pair)>,
    /// For each piece, how many there are of both up to its end.
    ends: Vec<(usize, usize)>,
}

/// What is only read while steps are taken.
struct View<'v> {
    states: &'v States,
    moves: &'v [StepCache],
    programs: &'v [usize],
    symmetry: &'v Symmetry,
}

/// How many steps are taken in a round, roughly: the more, the less often one waits for the others.
const STEPS: usize = 1 << 18;

/// How many pieces there are for each who works: if one core is slow, the others take more of them.
const PIECES: usize = 32;

impl Default for Crew {
    /// Nobody else.
    fn default() -> Self {
        Crew::new(Arc::default())
    }
}

impl Crew {
    /// As many as this number says, which may change.
    pub(crate) fn new(hands: Arc<AtomicUsize>) -> Self {
        Crew { hands: WorkerPool::new(hands), few: 1 << 12, pieces: Vec::new(), groups: Vec::new(), last: (1, 1) }
    }

    /// The pieces and groups.
    fn take(&mut self) -> (Vec<Piece>, Vec<Group>) {
        // One group for each hand: neighbours among the rows are looked up in all groups, and the
        // fewer cores have them in their caches at the same time, the better. Where that does not
        // go, more groups, so that all have about as much to do.
        let hands = self.hands.count();
        let groups = if hands.is_power_of_two() { hands } else { PARTS.min((4 * hands).next_power_of_two()) };
        if self.groups.len() != groups {
            self.groups.resize_with(groups, Group::default);
            self.pieces.clear();
        }
        self.pieces.resize_with(PIECES * hands, || Piece::new(groups));
        (std::mem::take(&mut self.pieces), std::mem::take(&mut self.groups))
    }

    /// Has each state of a level have those positions that it has not had, and that are wanted.
    pub(crate) fn complement(
        &mut self,
        open: &mut ThreadMasks,
        threads: usize,
        is_wanted: impl Fn(usize, usize) -> bool + Sync,
    ) {
        let bytes = open.bytes_mut();
        let pool = (bytes.len() >= self.few).then(|| self.hands.pool()).flatten();
        let Some(pool) = pool else {
            return complement(bytes, 0, threads, &is_wanted);
        };
        let chunks = bytes.par_chunks_mut(self.few * threads.div_ceil(8)).enumerate();
        let work = |(number, chunk): (usize, &mut [_])| complement(chunk, number * self.few, threads, &is_wanted);
        pool.install(|| chunks.for_each(work));
    }

    /// How many pairs have so many steps, and some more, if they have as many as the last ones.
    /// With some more, the round that is to take all steps until the watcher looks is the last one.
    fn pairs_for(&self, steps: usize) -> usize {
        let (steps, (pairs, candidates)) = (steps + steps / 64, self.last);
        (steps * pairs / candidates.max(1)).min(steps).max(1)
    }
}

/// Cuts a range into so many pieces.
fn cut(range: Range<usize>, pieces: usize) -> impl Iterator<Item = Range<usize>> {
    let length = range.len().div_ceil(pieces);
    let start = move |number: usize| range.end.min(range.start + number * length);
    (0..pieces).map(move |number| start(number)..start(number + 1))
}

impl Reachable<'_> {
    /// Expands pairs on several cores, as long as there are enough of them for that, and the
    /// watcher is not to look.
    pub(crate) fn expand_wide(&mut self) -> bool {
        if self.crew.hands.count() == 1 || self.next_round().is_none() {
            return false;
        }
        let Some(pool) = self.crew.hands.pool() else { return false };
        self.project();
        let (mut pieces, mut groups) = self.crew.take();
        pool.install(|| {
            wide_awake(|| {
                while let Some(pairs) = self.next_round() {
                    let cuts = cut(pairs, pieces.len());
                    pieces.iter_mut().zip(cuts).for_each(|(piece, cut)| piece.pairs = cut);
                    self.round(&mut pieces, &mut groups);
                }
            });
        });
        (self.crew.pieces, self.crew.groups) = (pieces, groups);
        true
    }

    /// The pairs of the next round.
    fn next_round(&mut self) -> Option<Range<usize>> {
        let left = usize::try_from(self.pulse.saturating_sub(self.expansions)).unwrap_or(usize::MAX);
        let many = self.crew.pairs_for(left.min(STEPS));
        self.wave.take(many);
        let pairs = self.wave.done..self.wave.pairs.len().min(self.wave.done + many);
        (left > 0 && pairs.len() >= self.crew.few).then_some(pairs)
    }

    fn round(&mut self, pieces: &mut [Piece], groups: &mut [Group]) {
        let view = self.view();
        pieces.par_iter_mut().with_max_len(1).for_each(|piece| piece.take_steps(&view, &self.wave.pairs));
        if self.find_missing(pieces) {
            let view = self.view();
            let stale = pieces.par_iter_mut().filter(|piece| piece.is_stale);
            stale.for_each(|piece| piece.take_steps(&view, &self.wave.pairs));
        }
        let mut first = 0;
        for piece in &mut *pieces {
            piece.first = first;
            first += piece.candidates.next_multiple_of(64);
        }
        let pairs = pieces.iter().map(|piece| piece.pairs.len()).sum::<usize>();
        self.crew.last = (pairs, pieces.iter().map(|piece| piece.candidates).sum());
        self.wave.done += pairs;
        let start = self.levels[self.levels.len() - 1];
        let States { rows, index } = &mut self.states;
        let known = Known { rows, reached_by: &self.reached_by, start, wave_end: self.wave.states.end };
        let parts = index.par_chunks_mut(PARTS / groups.len()).zip(&mut *groups).enumerate().with_max_len(1);
        parts.for_each(|(number, (parts, group))| group.look_up(&known, pieces, number, parts, first / 64));
        self.number(pieces, groups);
    }

    fn view(&self) -> View<'_> {
        let Reachable { states, moves, programs, symmetry, .. } = self;
        View { states, moves, programs, symmetry }
    }

    /// Computes the moves that are not known, up to where the watcher is to look. The pieces end
    /// there. Says whether there are steps to be taken again.
    fn find_missing(&mut self, pieces: &mut [Piece]) -> bool {
        let layout = self.states.layout().clone();
        for piece in &mut *pieces {
            let steps = piece.candidates as u64;
            if !piece.is_stale && self.expansions + steps < self.pulse {
                self.expansions += steps;
                continue;
            }
            piece.is_stale = true;
            for index in piece.pairs.clone() {
                if self.expansions >= self.pulse {
                    piece.pairs.end = index;
                    break;
                }
                let (state, program) = self.view().thread_state(self.wave.pairs[index]);
                let moves = match self.moves[program].get(state) {
                    Some(((), moves)) => moves,
                    None => self.new_moves(state, program),
                };
                self.expansions += moves.len() as u64;
            }
        }
        if *self.states.layout() != layout {
            for piece in &mut *pieces {
                piece.is_stale = true;
            }
        }
        pieces.iter().any(|piece| piece.is_stale)
    }

    /// Numbers what is new, in the order of the candidates. Meanwhile pairs are taken for the next
    /// round.
    fn number(&mut self, pieces: &[Piece], groups: &[Group]) {
        let new = Ranks::new(groups.iter().map(|group| &*group.new));
        let opens = Ranks::new(groups.iter().map(|group| &*group.opens));
        let States { rows, index } = &mut self.states;
        let (layout, words, first) = (rows.layout().clone(), rows.layout().words(), rows.len());
        let mut tails = Vec::with_capacity(pieces.len());
        let stride = self.reached_by.stride();
        let (mut rows, mut reached) = (rows.extend(new.len()), self.reached_by.extend(new.len()));
        let before = self.reopens.len();
        // As with rows, by all who work here.
        self.reopens.par_extend(rayon::iter::repeat_n(Pair::default(), opens.len()));
        let mut reopens = &mut self.reopens[before..];
        for (number, piece) in pieces.iter().enumerate() {
            let end = pieces.get(number + 1).map(|next| next.first);
            let count = |ranks: &Ranks| end.map_or(ranks.len(), |end| ranks.of(end)) - ranks.of(piece.first);
            tails.push(Tail {
                words,
                stride,
                rows: rows.split_off_mut(..count(&new) * words).expect("for all"),
                reached: reached.split_off_mut(..count(&new) * stride).expect("for all"),
                reopens: reopens.split_off_mut(..count(&opens)).expect("for all"),
            });
        }
        // Room for as many candidates as this round had, already here, where any core may take a
        // part: when they are looked up, each core has its own parts, and all would wait for the
        // one whose parts grow.
        let each = PARTS / groups.len();
        let settle = |(number, (parts, group)): (usize, (&mut [Part], &Group))| {
            group.settle(parts, words, first, &new);
            let grow = |(part, at)| Part::make_room(part, candidates_of(pieces, at));
            parts.par_iter_mut().zip(number * each..(number + 1) * each).with_max_len(1).for_each(grow);
        };
        let parts = index.par_chunks_mut(each).zip(groups).enumerate().with_max_len(1);
        let written = pieces.par_iter().zip(tails).enumerate().with_max_len(1);
        let (wave, many) = (&mut self.wave, self.crew.pairs_for(STEPS));
        let (stacks, visible) = (&self.stacks, &self.visible);
        let write = |(number, (piece, mut tail)): (usize, (&Piece, Tail<'_>))| {
            piece.write(number, groups, (&new, &opens), &mut tail);
            new_visible(stacks, (&layout, tail.rows), visible)
        };
        let others = || rayon::join(|| written.map(write).collect::<Vec<_>>(), || wave.take(many));
        let ((), (found, _)) = rayon::join(|| parts.for_each(settle), others);
        for states in found.into_iter().flatten() {
            self.visible.insert_all(&states);
        }
        self.projected = self.states.len();
    }
}

impl View<'_> {
    #[inline]
    fn thread_state(&self, pair: Pair) -> ((u32, u32), usize) {
        let (layout, row) = (self.states.layout(), self.states.row(pair.id as usize));
        let position = usize::from(pair.position);
        ((layout.shared(row), layout.local(row, position)), self.programs[position])
    }
}

impl Piece {
    fn new(groups: usize) -> Self {
        Piece {
            pairs: 0..0,
            waiting: (0..groups).map(|_| Waiting::default()).collect(),
            candidates: 0,
            parts: [0; PARTS],
            first: 0,
            is_stale: false,
            successors: Successors::default(),
        }
    }

    /// Takes the steps of the pairs, as far as moves are known.
    fn take_steps(&mut self, view: &View<'_>, pairs: &[Pair]) {
        for waiting in &mut self.waiting {
            waiting.rows.clear();
            waiting.of.clear();
        }
        (self.candidates, self.parts, self.is_stale) = (0, [0; PARTS], false);
        let (layout, parts) = (view.states.layout(), PARTS / self.waiting.len());
        let mut number = 0;
        for pairs in pairs[self.pairs.clone()].chunks(BATCH) {
            prefetch(view.states, pairs);
            for &pair in pairs {
                let (state, program) = view.thread_state(pair);
                let Some(((), moves)) = view.moves[program].get(state) else {
                    self.is_stale = true;
                    return;
                };
                if moves.is_empty() {
                    continue;
                }
                let row = view.states.row(pair.id as usize);
                self.successors.prepare(view.symmetry, layout, row, pair.position.into());
                for index in moves {
                    let (row, at) = self.successors.pack(layout, view.moves[program].successor(index));
                    let part = part_of(hash(row));
                    self.parts[part] += 1;
                    let waiting = &mut self.waiting[part / parts];
                    for &word in row {
                        waiting.rows.push(word);
                    }
                    waiting.of.push((number, u16::try_from(at).expect("there are fewer threads")));
                    number += 1;
                }
            }
        }
        self.candidates = number as usize;
    }

    /// Writes down what is new or opened again in this piece.
    fn write(&self, number: usize, groups: &[Group], (new, opens): (&Ranks, &Ranks), tail: &mut Tail<'_>) {
        let &mut Tail { words, stride, rows: ref mut to, ref mut reached, ref mut reopens } = tail;
        let (first_new, first_open) = (new.of(self.first), opens.of(self.first));
        for group in groups {
            let start = number.checked_sub(1).map_or((0, 0), |before| group.ends[before]);
            let end = group.ends[number];
            let rows = group.rows[start.0 * words..].chunks_exact(words);
            for ((&number, row), index) in group.numbers[start.0..end.0].iter().zip(rows).zip(start.0..) {
                let rank = new.of(number as usize) - first_new;
                copy(&mut to[rank * words..][..words], row);
                group.reached_by.copy_to(index, &mut reached[rank * stride..][..stride]);
            }
            for &(number, pair) in &group.reopens[start.1..end.1] {
                reopens[opens.of(number as usize) - first_open] = pair;
            }
        }
    }
}

/// How many candidates of all pieces a part of the index has.
fn candidates_of(pieces: &[Piece], part: usize) -> usize {
    pieces.iter().map(|piece| piece.parts[part] as usize).sum()
}

/// The visible states of rows that are not known yet, if there are any, in the order in which they
/// come up.
fn new_visible(stacks: &Stacks, (layout, rows): (&Layout, &[u64]), known: &VisibleLevels) -> Option<PackedSet> {
    let visible = known.set().layout();
    let (mut new, mut tops, mut top_row) = (None, Vec::new(), vec![0; visible.words()]);
    for row in rows.chunks_exact(layout.words()) {
        let shared = tops_of(stacks, (layout, row), &mut tops);
        known.pack(shared, &mut tops, &mut top_row);
        if known.set().find(&top_row).is_none() {
            new.get_or_insert_with(|| PackedSet::new(visible.clone())).insert(&top_row);
        }
    }
    new
}

/// Where a piece writes.
struct Tail<'t> {
    /// How many words a row has, and how many bytes there are for who reached it.
    words: usize,
    stride: usize,
    rows: &'t mut [u64],
    reached: &'t mut [AtomicU8],
    reopens: &'t mut [Pair],
}

/// What is only read while candidates are looked up.
struct Known<'r> {
    rows: &'r Rows,
    reached_by: &'r ThreadMasks,
    /// The first state of the level.
    start: usize,
    wave_end: usize,
}

impl Group {
    /// Looks up the candidates of the group. What is not there is noted as if it came after all
    /// rows.
    fn look_up(&mut self, known: &Known<'_>, pieces: &[Piece], number: usize, parts: &mut [Part], marks: usize) {
        let (words, len, count) = (known.rows.layout().words(), known.rows.len(), parts.len());
        self.clear(known.reached_by.stride(), marks);
        // Most have it since the last round. A search would not end without a free place.
        for (part, at) in parts.iter_mut().zip(number * count..) {
            part.make_room(candidates_of(pieces, at));
        }
        let mut hashes = [0; BATCH];
        for piece in pieces {
            let Waiting { rows, of } = &piece.waiting[number];
            for (rows, of) in rows.chunks(BATCH * words).zip(of.chunks(BATCH)) {
                for (to, row) in hashes.iter_mut().zip(rows.chunks_exact(words)) {
                    *to = hash(row);
                }
                let hashes = &hashes[..of.len()];
                if len > SMALL {
                    // What is new is not among the rows yet.
                    let likely = |hash| parts[part_of(hash) % count].likely(hash);
                    let likely = |hash| Some(likely(hash)).filter(|&id| id < len).unwrap_or(0);
                    let also = |id: usize| known.reached_by.first_of(id.wrapping_sub(known.start));
                    known.rows.prefetch(hashes, likely, also);
                }
                for ((row, &hash), &(candidate, position)) in rows.chunks_exact(words).zip(hashes).zip(of) {
                    let candidate = piece.first + candidate as usize;
                    let part = &mut parts[part_of(hash) % count];
                    let is = |id: usize| match id.checked_sub(len) {
                        None => same(known.rows.row(id), row),
                        Some(new) => same(&self.rows[new * words..][..words], row),
                    };
                    match part.search(hash, is) {
                        Err(place) => {
                            part.put(place, hash, len + self.numbers.len());
                            part.grew();
                            self.places.push(number_of(place));
                            self.new[candidate / 64] |= 1 << (candidate % 64);
                            self.numbers.push(number_of(candidate));
                            for &word in row {
                                self.rows.push(word);
                            }
                            self.reached_by.push(Some(position.into()));
                        }
                        Ok(id) if id >= len => _ = self.reached_by.add(id - len, position.into()),
                        Ok(id)
                            if id >= known.start
                                && known.reached_by.add(id - known.start, position.into())
                                && id < known.wave_end =>
                        {
                            self.opens[candidate / 64] |= 1 << (candidate % 64);
                            self.reopens.push((number_of(candidate), Pair { id: number_of(id), position }));
                        }
                        Ok(_) => {}
                    }
                }
            }
            self.ends.push((self.numbers.len(), self.reopens.len()));
        }
    }

    fn clear(&mut self, stride: usize, marks: usize) {
        for words in [&mut self.new, &mut self.opens] {
            words.clear();
            words.resize(marks, 0);
        }
        self.rows.clear();
        self.numbers.clear();
        self.places.clear();
        self.reached_by.clear(stride);
        self.reopens.clear();
        self.ends.clear();
    }

    /// Writes the numbers of what is new into the places.
    fn settle(&self, parts: &mut [Part], words: usize, first: usize, new: &Ranks) {
        let count = parts.len();
        for ((row, &place), &number) in self.rows.chunks_exact(words).zip(&self.places).zip(&self.numbers) {
            let hash = hash(row);
            parts[part_of(hash) % count].put(place as usize, hash, first + new.of(number as usize));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tuning::Tuning;
    use cpds::Problem;
    use cpds_testing::random::{Shape, problem};
    use proptest::prelude::*;
    use std::cell::Cell;
    use std::ops::ControlFlow;
    use std::sync::atomic::Ordering;

    /// All that there is, whatever has been taken out of the wave.
    fn all(seen: &Reachable<'_>) -> Vec<u8> {
        let mut left: Vec<Pair> = seen.wave.next().iter().chain(seen.wave.reopened.iter().rev()).copied().collect();
        for state in seen.wave.states.clone() {
            let pair = |position| Pair { id: number_of(state), position };
            seen.wave.open.for_each(state - seen.wave.opened, |position| left.push(pair(position)));
        }
        let tables = (&seen.stacks, &seen.moves, &seen.states, &seen.levels, &seen.reached_by, &seen.reopens);
        let counts = (seen.projected, seen.expansions, seen.pulse, seen.bytes(), seen.bytes_at_next_look());
        postcard::to_stdvec(&(tables, left, seen.visible.saved(), counts)).unwrap()
    }

    /// What there is at every look. There are so many cores after the first pairs, or from some
    /// look on.
    fn looks(problem: &Problem, symmetry: bool, hands: usize, few: usize) -> Vec<Vec<u8>> {
        let mut looks = Vec::new();
        let mut reachable = Reachable::new(problem.system(), symmetry, Tuning::SMALL);
        let number = Arc::new(AtomicUsize::new(1));
        reachable.with_crew(Crew { few, ..Crew::new(Arc::clone(&number)) });
        reachable.start_level();
        reachable.wave.take(1);
        reachable.expand_pairs();
        number.store(if few == 1 { hands } else { 1 }, Ordering::Relaxed);
        for _ in 0..4 {
            let more = reachable.advance(&mut |seen: &Reachable<'_>| {
                if looks.len() >= few {
                    number.store(hands, Ordering::Relaxed);
                }
                looks.push(all(seen));
                if looks.len() < 40 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            if more.is_break() {
                break;
            }
            looks.push(all(&reachable));
        }
        looks
    }

    /// Everything is the same on several cores, down to the numbers of states and stacks, at every
    /// moment at which somebody looks.
    #[test]
    fn more_cores_change_nothing() {
        let (rounds, some) = (Cell::new(0), Shape { initial: 1..=5, ..Shape::default() });
        proptest!(ProptestConfig::with_cases(300), |(problem in prop_oneof![9 => problem(&some), 1 => problem(&Shape::crowd())], symmetry: bool)| {
            let alone = looks(&problem, symmetry, 1, 1);
            for (hands, few) in [(2, 1), (3, 1), (2, 8)] {
                prop_assert!(alone == looks(&problem, symmetry, hands, few), "{hands} are not one");
            }
            rounds.set(rounds.get() + alone.len());
        });
        assert!(rounds.get() > 2000, "only {} looks", rounds.get());
    }
}
