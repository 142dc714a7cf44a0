//! Rounds of an exploration on several cores.
//!
//! A round takes pairs of the wave, in order, until the watcher is to look. Each core has a piece of the pairs, or some of the parts of
//! the index. The phases:
//! 1. for each piece, the moves of its pairs are looked up;
//! 2. moves that are not known are computed, one after the other, in the order of the pairs;
//! 3. for each piece, the steps are taken. The states they lead to are *candidates*;
//! 4. for each part, its candidates are looked up, in order. What is not there is noted under a number of the part's own;
//! 5. for each piece, those that are new are numbered in the order of the candidates, and become rows;
//! 6. for each part, the numbers are written into its places.
//!
//! Between rounds, the tops of what is new are looked at, in pieces, too, and what has not been seen lately is inserted.
//!
//! All this is what one core does (`reachable.rs`): each state gets the number that it would have got. Nothing is locked: in each
//! phase, what is written is one core's own, and what is shared is only read.

use super::moves::Moves;
use super::packed::{PackedSet, hash, same};
use super::reachable::{Pair, Reachable, SMALL, number_of, tops_of};
use super::reached_by::ReachedBy;
use super::states::{BATCH, PARTS, Part, Rows, States, part_of};
use super::symmetry::{Successors, Symmetry};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// Those who work on an exploration.
pub(super) struct Crew {
    /// How many may work at the moment.
    hands: Arc<AtomicUsize>,
    /// For fewer pairs or states it is not worth it to wake others up.
    few: usize,
    pool: Option<ThreadPool>,
    pieces: Vec<Piece>,
    news: Vec<News>,
}

/// A piece of the pairs, and what they lead to.
struct Piece {
    pairs: Range<usize>,
    /// For each of the pairs, the number of its moves, and how many these are.
    moves: Vec<(u32, u32)>,
    /// The states of the pairs, so that they need not be fetched again.
    from: Vec<u64>,
    /// The candidates, as rows.
    rows: Vec<u64>,
    /// The positions of the threads that reached them.
    at: Vec<u16>,
    /// For each part, its candidates.
    parts: Vec<Vec<u32>>,
    /// What was found of each candidate: nothing new, or that it is [`NEW`], or the number plus one of a state that is opened again. Then,
    /// of those that are new, the number among those of the piece, plus one.
    found: Vec<AtomicU32>,
    /// How many are new, and the number of the first.
    new: usize,
    first: usize,
    reopens: Vec<Pair>,
    successors: Successors,
    /// Visible states that have not been seen lately.
    fresh: Vec<u64>,
    /// Visible states that have.
    lately: Option<PackedSet>,
    tops: Vec<u32>,
}

/// What is new in a part.
#[derive(Default)]
struct News {
    found: Vec<New>,
    /// Which of these were reached by further threads, and their positions.
    also: Vec<(u32, u16)>,
}

/// A candidate that is new, and the place that notes it.
struct New {
    piece: u32,
    candidate: u32,
    place: usize,
    hash: u64,
}

/// What is only read while steps are taken.
struct View<'v> {
    states: &'v States,
    moves: &'v [Moves],
    programs: &'v [usize],
    symmetry: &'v Symmetry,
}

/// The number of moves that are not known.
const MISSING: u32 = u32::MAX;

/// There are fewer states.
const NEW: u32 = u32::MAX;

/// How many pairs are looked at together.
const MANY: usize = 1 << 18;

/// How many visible states count as lately seen.
const LATELY: usize = 1 << 14;

impl Default for Crew {
    /// Nobody else.
    fn default() -> Self {
        Crew::new(Arc::new(AtomicUsize::new(1)))
    }
}

impl Crew {
    /// As many as this number says, which may change.
    pub(super) fn new(hands: Arc<AtomicUsize>) -> Self {
        Crew { hands, few: 1 << 12, pool: None, pieces: Vec::new(), news: Vec::new() }
    }

    fn hands(&self) -> usize {
        self.hands.load(Ordering::Relaxed).clamp(1, PARTS)
    }

    /// Whether there are others to wake up.
    fn is_ready(&mut self) -> bool {
        let hands = self.hands();
        if hands > self.pool.as_ref().map_or(1, ThreadPool::current_num_threads) {
            // Without threads one core does it all.
            let name = |number| format!("lower end {number}");
            self.pool = ThreadPoolBuilder::new().num_threads(hands).thread_name(name).build().ok();
        }
        hands > 1 && self.pool.is_some()
    }

    /// The pool, and more pieces than hands: if one core is slow, or the round ends before the last pieces, the others take more of them.
    fn take(&mut self) -> (ThreadPool, Vec<Piece>, Vec<News>) {
        self.pieces.resize_with((8 * self.hands()).min(PARTS), Piece::new);
        self.news.resize_with(PARTS, News::default);
        let pool = self.pool.take().expect("it is ready");
        (pool, std::mem::take(&mut self.pieces), std::mem::take(&mut self.news))
    }

    fn give_back(&mut self, pool: ThreadPool, pieces: Vec<Piece>, news: Vec<News>) {
        (self.pool, self.pieces, self.news) = (Some(pool), pieces, news);
    }
}

/// Cuts a range into so many pieces.
fn cut(range: Range<usize>, pieces: usize) -> impl Iterator<Item = Range<usize>> {
    let length = range.len().div_ceil(pieces);
    let start = move |number: usize| range.end.min(range.start + number * length);
    (0..pieces).map(move |number| start(number)..start(number + 1))
}

impl Reachable<'_> {
    /// Expands pairs on several cores, until the watcher is to look; if there are enough pairs for that, and cores.
    pub(super) fn expand_wide(&mut self) -> bool {
        if !self.crew.is_ready() || !self.take_pairs(MANY) || self.pairs.len() - self.done < self.crew.few {
            return false;
        }
        let (pool, mut pieces, mut news) = self.crew.take();
        let cuts = cut(self.done..self.pairs.len(), pieces.len());
        pieces.iter_mut().zip(cuts).for_each(|(piece, cut)| piece.pairs = cut);
        pool.install(|| self.round(&mut pieces, &mut news));
        self.crew.give_back(pool, pieces, news);
        true
    }

    fn round(&mut self, pieces: &mut [Piece], news: &mut [News]) {
        let view = self.view();
        pieces.par_iter_mut().for_each(|piece| piece.find_moves(&view, &self.pairs));
        let layout = self.states.layout().clone();
        self.find_missing(pieces);
        let (view, is_as_before) = (self.view(), *self.states.layout() == layout);
        pieces.par_iter_mut().for_each(|piece| {
            if !is_as_before {
                piece.fetch(&view, &self.pairs);
            }
            piece.take_steps(&view, &self.pairs);
        });
        self.done += pieces.iter().map(|piece| piece.pairs.len()).sum::<usize>();
        let start = self.levels[self.levels.len() - 1];
        let States { rows, index } = &mut self.states;
        let known = Known { rows, reached_by: &self.reached_by, start, wave_end: self.wave.end };
        let parts = index.par_iter_mut().zip(&mut *news).enumerate();
        parts.for_each(|(number, (part, news))| known.look_up(pieces, number, part, news));
        self.number(pieces, news);
    }

    fn view(&self) -> View<'_> {
        let Reachable { states, moves, programs, symmetry, .. } = self;
        View { states, moves, programs, symmetry }
    }

    /// Computes the moves that are not known, up to where the watcher is to look. The pieces end there.
    fn find_missing(&mut self, pieces: &mut [Piece]) {
        for piece in pieces {
            for index in 0..piece.moves.len() {
                if self.expansions >= self.pulse {
                    piece.pairs.end = piece.pairs.start + index;
                    piece.moves.truncate(index);
                    break;
                }
                if piece.moves[index].0 == MISSING {
                    let (state, program) = self.view().thread_state(self.pairs[piece.pairs.start + index]);
                    // A pair before it may have had the same.
                    if self.moves[program].find(state).is_none() {
                        self.new_moves(state, program);
                    }
                    piece.moves[index] = self.moves[program].find(state).expect("it is known now");
                }
                self.expansions += u64::from(piece.moves[index].1);
            }
        }
    }

    /// Numbers what is new, in the order of the candidates.
    fn number(&mut self, pieces: &mut [Piece], news: &mut [News]) {
        let (words, mut first) = (self.states.layout().words(), self.states.len());
        pieces.par_iter_mut().for_each(Piece::rank);
        for piece in &mut *pieces {
            piece.first = first;
            first += piece.new;
            self.reopens.append(&mut piece.reopens);
        }
        let States { rows, index } = &mut self.states;
        let new = first - rows.len();
        let mut left = rows.extend(new);
        let mut tails = Vec::new();
        for piece in &*pieces {
            let (tail, rest) = left.split_at_mut(piece.new * words);
            tails.push(tail);
            left = rest;
        }
        pieces.par_iter().zip(tails).for_each(|(piece, tail)| piece.write_rows(words, tail));
        let start = self.levels[self.levels.len() - 1];
        self.reached_by.extend(new);
        let reached_by = &self.reached_by;
        let parts = index.par_iter_mut().zip(news);
        parts.for_each(|(part, news)| {
            news.settle(pieces, part, |id, position| _ = reached_by.add(id - start, position));
        });
    }

    /// T of the states that are new since it was last computed, on several cores; if there are enough states for that, and cores.
    pub(super) fn project_wide(&mut self) -> bool {
        let new = self.projected..self.states.len();
        if new.len() < self.crew.few || !self.crew.is_ready() {
            return false;
        }
        let (pool, mut pieces, news) = self.crew.take();
        let (states, visible, stacks) = (&self.states, &self.visible, &self.stacks);
        let cuts: Vec<_> = cut(new, pieces.len()).collect();
        pool.install(|| {
            pieces.par_iter_mut().zip(cuts).for_each(|(piece, ids)| {
                let mut row = vec![0; visible.set().layout().words()];
                for id in ids {
                    let shared = tops_of(stacks, (states.layout(), states.row(id)), &mut piece.tops);
                    visible.pack(shared, &mut piece.tops, &mut row);
                    piece.meet(visible.set(), &row);
                }
            });
        });
        for piece in &mut pieces {
            self.visible.insert_rows(&piece.fresh);
            piece.fresh.clear();
        }
        self.projected = self.states.len();
        self.crew.give_back(pool, pieces, news);
        true
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
    fn new() -> Self {
        Piece {
            pairs: 0..0,
            moves: Vec::new(),
            from: Vec::new(),
            rows: Vec::new(),
            at: Vec::new(),
            parts: vec![Vec::new(); PARTS],
            found: Vec::new(),
            new: 0,
            first: 0,
            reopens: Vec::new(),
            successors: Successors::default(),
            fresh: Vec::new(),
            lately: None,
            tops: Vec::new(),
        }
    }

    fn find_moves(&mut self, view: &View<'_>, pairs: &[Pair]) {
        self.fetch(view, pairs);
        self.moves.clear();
        let layout = view.states.layout();
        for (pair, row) in pairs[self.pairs.clone()].iter().zip(self.from.chunks_exact(layout.words())) {
            let position = usize::from(pair.position);
            let state = (layout.shared(row), layout.local(row, position));
            self.moves.push(view.moves[view.programs[position]].find(state).unwrap_or((MISSING, 0)));
        }
    }

    /// Fetches the states of the pairs. The loads do not depend on each other.
    fn fetch(&mut self, view: &View<'_>, pairs: &[Pair]) {
        self.from.clear();
        for pair in &pairs[self.pairs.clone()] {
            for &word in view.states.row(pair.id as usize) {
                self.from.push(word);
            }
        }
    }

    fn take_steps(&mut self, view: &View<'_>, pairs: &[Pair]) {
        self.rows.clear();
        self.at.clear();
        self.parts.iter_mut().for_each(Vec::clear);
        let layout = view.states.layout();
        let mut candidate = 0;
        let from = self.from.chunks_exact(layout.words());
        for ((pair, row), &(moves, count)) in pairs[self.pairs.clone()].iter().zip(from).zip(&self.moves) {
            if count == 0 {
                continue;
            }
            let position = usize::from(pair.position);
            self.successors.prepare(view.symmetry, layout, row, position);
            for &successor in view.moves[view.programs[position]].of(moves) {
                let (row, at) = self.successors.pack(layout, successor);
                for &word in row {
                    self.rows.push(word);
                }
                self.at.push(u16::try_from(at).expect("there are fewer threads"));
                self.parts[part_of(hash(row))].push(candidate);
                candidate += 1;
            }
        }
        self.found.clear();
        self.found.resize_with(candidate as usize, AtomicU32::default);
    }

    /// Numbers the candidates that are new.
    fn rank(&mut self) {
        let mut rank = 0;
        for (found, &position) in self.found.iter_mut().map(AtomicU32::get_mut).zip(&self.at) {
            match *found {
                0 => {}
                NEW => {
                    rank += 1;
                    *found = rank;
                }
                reopened => {
                    self.reopens.push(Pair { id: reopened - 1, position });
                    *found = 0;
                }
            }
        }
        self.new = rank as usize;
    }

    #[inline]
    fn row(&self, candidate: u32, words: usize) -> &[u64] {
        &self.rows[candidate as usize * words..][..words]
    }

    /// The number of a candidate that is new.
    fn id(&self, candidate: u32) -> usize {
        self.first + self.found[candidate as usize].load(Ordering::Relaxed) as usize - 1
    }

    fn write_rows(&self, words: usize, to: &mut [u64]) {
        let rows = self.rows.chunks_exact(words).zip(&self.found);
        let new = rows.filter(|(_, rank)| rank.load(Ordering::Relaxed) != 0);
        for (to, (row, _)) in to.chunks_exact_mut(words).zip(new) {
            to.copy_from_slice(row);
        }
    }

    /// A visible state has come up.
    #[inline]
    fn meet(&mut self, visible: &PackedSet, row: &[u64]) {
        let lately = self.lately.get_or_insert_with(|| PackedSet::new(visible.layout().clone()));
        if lately.len() >= LATELY {
            *lately = PackedSet::new(visible.layout().clone());
        }
        if lately.insert(row).1 {
            self.fresh.extend_from_slice(row);
        }
    }
}

/// What is only read while candidates are looked up.
struct Known<'r> {
    rows: &'r Rows,
    reached_by: &'r ReachedBy,
    /// The first state of the level.
    start: usize,
    wave_end: usize,
}

impl Known<'_> {
    /// Looks up the candidates of a part. What is not there is noted as if it came after all rows.
    fn look_up(&self, pieces: &[Piece], number: usize, part: &mut Part, news: &mut News) {
        part.make_room(pieces.iter().map(|piece| piece.parts[number].len()).sum());
        news.found.clear();
        news.also.clear();
        let (words, len) = (self.rows.layout().words(), self.rows.len());
        let mut hashes = [0; BATCH];
        let mut batch: Vec<(u32, u32)> = Vec::with_capacity(BATCH);
        let mut waiting =
            (0..).zip(pieces).flat_map(|(piece, of)| of.parts[number].iter().map(move |&candidate| (piece, candidate)));
        loop {
            batch.clear();
            batch.extend(waiting.by_ref().take(BATCH));
            if batch.is_empty() {
                break;
            }
            for (&(piece, candidate), to) in batch.iter().zip(&mut hashes) {
                *to = hash(pieces[piece as usize].row(candidate, words));
            }
            if len > SMALL {
                // What is new is not among the rows yet.
                let likely = |hash| Some(part.likely(hash)).filter(|&id| id < len).unwrap_or(0);
                let also = |id: usize| self.reached_by.first_of(id.wrapping_sub(self.start));
                self.rows.prefetch(&hashes[..batch.len()], likely, also);
            }
            for (&(number_of_piece, candidate), &hash) in batch.iter().zip(&hashes) {
                let piece = &pieces[number_of_piece as usize];
                let (row, position) = (piece.row(candidate, words), piece.at[candidate as usize]);
                let is = |id: usize| match id.checked_sub(len) {
                    None => same(self.rows.row(id), row),
                    Some(new) => {
                        let New { piece, candidate, .. } = news.found[new];
                        same(pieces[piece as usize].row(candidate, words), row)
                    }
                };
                let found = match part.search(hash, is) {
                    Err(place) => {
                        part.put(place, hash, len + news.found.len());
                        news.found.push(New { piece: number_of_piece, candidate, place, hash });
                        NEW
                    }
                    Ok(id) if id >= len => {
                        news.also.push((number_of(id - len), position));
                        continue;
                    }
                    Ok(id)
                        if id >= self.start
                            && self.reached_by.add(id - self.start, position.into())
                            && id < self.wave_end =>
                    {
                        number_of(id) + 1
                    }
                    Ok(_) => continue,
                };
                piece.found[candidate as usize].store(found, Ordering::Relaxed);
            }
        }
        part.grew(news.found.len());
    }
}

impl News {
    /// Writes down the numbers of what is new, and who reached it.
    fn settle(&self, pieces: &[Piece], part: &mut Part, reached: impl Fn(usize, usize)) {
        let id = |new: &New| pieces[new.piece as usize].id(new.candidate);
        for new in &self.found {
            part.put(new.place, new.hash, id(new));
            reached(id(new), pieces[new.piece as usize].at[new.candidate as usize].into());
        }
        for &(new, position) in &self.also {
            reached(id(&self.found[new as usize]), position.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpds::Problem;
    use cpds_testing::random::{Shape, problem};
    use proptest::prelude::*;
    use std::cell::Cell;
    use std::ops::ControlFlow;

    /// What there is at every look.
    fn looks(problem: &Problem, symmetry: bool, hands: usize) -> Vec<Vec<u8>> {
        let mut looks = Vec::new();
        let mut reachable = Reachable::new(problem.system(), symmetry);
        reachable.with_crew(Crew { few: 1, ..Crew::new(Arc::new(AtomicUsize::new(hands))) });
        for _ in 0..4 {
            let more = reachable.advance(&mut |seen: &Reachable<'_>| {
                looks.push(postcard::to_stdvec(seen).unwrap());
                if looks.len() < 40 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            if more.is_break() {
                break;
            }
            looks.push(postcard::to_stdvec(&reachable).unwrap());
        }
        looks
    }

    /// Everything is the same on several cores, down to the numbers of states and stacks, at every moment at which somebody looks.
    #[test]
    fn more_cores_change_nothing() {
        let rounds = Cell::new(0);
        proptest!(ProptestConfig::with_cases(300), |(problem in problem(&Shape { initial: 1..=5, ..Shape::default() }), symmetry: bool)| {
            let alone = looks(&problem, symmetry, 1);
            for hands in [2, 3] {
                prop_assert!(alone == looks(&problem, symmetry, hands), "{hands} are not one");
            }
            rounds.set(rounds.get() + alone.len());
        });
        assert!(rounds.get() > 2000, "only {} looks", rounds.get());
    }
}
