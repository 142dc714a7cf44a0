//! The certificate's conditions: (i) it has the initial states, (ii) it is closed under
//! every action of every thread, (iii) it has no bad state. Then no bad state is reachable.
//!
//! # Why (ii) as it is checked is enough
//! The image of a tuple under an action of thread i is ⟨q'|L₁,…,L',…,Lₙ⟩. Take all tuples with q'
//! whose languages, except for the i-th, include those of the image. If L' is a part of the union
//! of their i-th languages, then each state of the image is in one of them.
//!
//! # Groups
//! A tuple stands for all that come from it by permuting languages within groups of threads. All
//! threads of a group have the same actions. So what is true of the tuple, thread i and an action
//! is true of a permuted one, the thread that i's language has gone to, and that action; it is
//! enough to look at the tuples that are listed. A tuple is kept with its languages sorted within
//! each group, and it includes another one if there is a way to match them.

mod exact;

use crate::languages::{Effort, Languages, MOST, NOTHING};
use crate::step::Effect;
use crate::{Condition, Rejected};
use cpds::{Action, Certificate, Cpds, Pattern, Problem, Rule, SharedState, Symbol, ThreadId, Wild};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{BuildHasher as _, RandomState};
use std::ops::Range;
use std::rc::Rc;

/// Checks a certificate; with `exact`, instead of condition (iii), that its visible states are
/// those that it lists.
pub(crate) fn check(
    problem: &Problem,
    certificate: &Certificate,
    exact: bool,
    effort: Effort<'_>,
) -> Result<(), Rejected> {
    check_marked(problem, certificate, exact, effort, RandomState::new().hash_one(0) | 1)
}

/// The same, with a factor for marks. It may be any: marks say where to look, and not what is so.
fn check_marked(
    problem: &Problem,
    certificate: &Certificate,
    exact: bool,
    effort: Effort<'_>,
    factor: u64,
) -> Result<(), Rejected> {
    let places = Places::new(problem.system(), &certificate.groups)?;
    let (shared, states) = (problem.system().shared_names().len(), certificate.automaton.len());
    let mut rows = Vec::new();
    for (number, (q, languages)) in certificate.tuples().enumerate() {
        if q.0 as usize >= shared || languages.iter().any(|&state| state as usize >= states) {
            return Err(Rejected::Malformed(format!("tuples[{number}]: a number that stands for nothing")));
        }
        rows.extend(places.row(q, |thread| languages[thread]));
    }
    let rows: Vec<Row<'_>> = rows.chunks_exact(1 + places.threads.len()).collect();
    let mut invariant = Invariant {
        problem,
        certificate,
        places: &places,
        languages: Languages::new(&certificate.automaton, effort)?,
        known: rows.iter().copied().collect(),
        rows: &rows,
        covered: HashSet::new(),
        differs: 1,
        completing: HashMap::new(),
        factor,
        having: HashMap::new(),
        including: HashMap::new(),
        remembered: 0,
    };
    invariant.has_the_initial_states()?;
    invariant.is_closed()?;
    if exact { invariant.is_exact() } else { invariant.is_safe() }
}

/// Where the threads are in a row: group after group, after the shared state.
struct Places {
    threads: Vec<ThreadId>,
    /// The places of each group.
    groups: Vec<Range<usize>>,
    /// The group of each place.
    group_of: Vec<usize>,
}

impl Places {
    fn new(system: &Cpds, groups: &[Vec<ThreadId>]) -> Result<Self, Rejected> {
        let mut places = Places { threads: Vec::new(), groups: Vec::new(), group_of: Vec::new() };
        for (number, group) in groups.iter().enumerate() {
            places.groups.push(1 + places.threads.len()..1 + places.threads.len() + group.len());
            places.group_of.extend(group.iter().map(|_| number));
            places.threads.extend(group);
        }
        let all: BTreeSet<ThreadId> = places.threads.iter().copied().collect();
        if !all.iter().copied().eq(system.threads()) || places.threads.len() != all.len() {
            return Err(Rejected::Malformed("groups: not every thread is in exactly one group".to_owned()));
        }
        let actions = |thread: ThreadId| -> BTreeSet<Action> {
            system.program(thread).rules().iter().map(|rule| rule.action).collect()
        };
        for group in groups.iter().filter(|group| group.len() > 1) {
            let is_copy = |thread: ThreadId| system.program_index(thread) == system.program_index(group[0]);
            let of_first = actions(group[0]);
            if let Some(&other) = group.iter().find(|&&thread| !is_copy(thread) && actions(thread) != of_first) {
                let (first, other) = (name(system, group[0]), name(system, other));
                let message = format!("{first} and {other} are in one group, and have different actions");
                return Err(Rejected::Violated(Condition::Groups, message));
            }
        }
        Ok(places)
    }

    /// A row, from one entry a thread.
    fn row(&self, shared: SharedState, by_thread: impl Fn(usize) -> u32) -> Vec<u32> {
        let entries = self.threads.iter().map(|thread| by_thread(thread.index()));
        let mut row: Vec<u32> = std::iter::once(shared.0).chain(entries).collect();
        self.sort(&mut row);
        row
    }

    /// The places of a sorted row; of languages that are alike, one is enough.
    fn different<'r>(&'r self, row: &'r [u32]) -> impl Iterator<Item = usize> + 'r {
        let is_first = |place: usize| place == self.groups[self.group_of[place - 1]].start;
        (1..row.len()).filter(move |&place| is_first(place) || row[place - 1] != row[place])
    }

    /// Sorts a row within groups.
    fn sort(&self, row: &mut [u32]) {
        for group in self.groups.iter().filter(|group| group.len() > 1) {
            row[group.clone()].sort_unstable();
        }
    }
}

fn name(system: &Cpds, thread: ThreadId) -> String {
    format!("thread {} ({})", thread.index() + 1, system.thread_name(thread))
}

type Row<'c> = &'c [u32];

type Rows<'c> = Rc<[Row<'c>]>;

struct Invariant<'c> {
    problem: &'c Problem,
    certificate: &'c Certificate,
    places: &'c Places,
    languages: Languages<'c>,
    /// The tuples.
    rows: &'c [Row<'c>],
    known: HashSet<Row<'c>>,
    /// What else is covered, by several of them together: the languages of the other threads, and
    /// that of the one that moved.
    covered: HashSet<(Vec<u32>, u32)>,
    /// Where a row last differed from the tuple that has it.
    differs: usize,
    // The rest is filled when it is first needed.
    /// By the mark of a row that lacks one language: the rows that it may come from, and the place.
    completing: HashMap<u64, Vec<(Row<'c>, usize)>>,
    /// For marks; nobody knows it beforehand.
    factor: u64,
    /// By shared state and group, and then by language: the rows that have it there.
    having: HashMap<(u32, usize), HashMap<u32, Vec<Row<'c>>>>,
    /// By shared state, group and language: the rows that have one there that includes it.
    including: HashMap<(u32, usize, u32), Rows<'c>>,
    /// How many rows that has.
    remembered: usize,
}

impl<'c> Invariant<'c> {
    /// Condition (i).
    fn has_the_initial_states(&mut self) -> Result<(), Rejected> {
        for state in self.problem.system().initial() {
            let empty = self.languages.empty_stack;
            let stacks: Vec<u32> = state.stacks.iter().map(|stack| self.languages.put(stack.iter(), empty)).collect();
            let row = self.places.row(state.shared, |thread| stacks[thread]);
            if !self.known.contains(&*row) && !self.is_in_one(&row)? {
                let message = format!("no tuple has the initial state {}", self.problem.system().paper(state));
                return Err(Rejected::Violated(Condition::Initial, message));
            }
        }
        Ok(())
    }

    /// Condition (ii).
    fn is_closed(&mut self) -> Result<(), Rejected> {
        let system = self.problem.system();
        // By program, shared state and top: the actions.
        let mut actions: HashMap<(usize, u32, Option<Symbol>), Vec<&Rule>> = HashMap::new();
        for (number, program) in system.programs().iter().enumerate() {
            for rule in program.rules() {
                let effect = Effect::of(&rule.action);
                actions.entry((number, effect.q.0, effect.read)).or_default().push(rule);
            }
        }
        for (number, row) in self.rows.iter().enumerate() {
            for place in self.places.different(row) {
                let thread = self.places.threads[place - 1];
                let mut heads = vec![(None, self.languages.empty_stack)];
                heads.retain(|_| self.languages.is_accepting(row[place]));
                heads.extend(self.languages.out(row[place]).iter().map(|&(symbol, below)| (Some(symbol), below)));
                for (top, below) in heads {
                    for rule in actions.get(&(system.program_index(thread), row[0], top)).into_iter().flatten() {
                        self.languages.spend(1)?;
                        let effect = Effect::of(&rule.action);
                        let image = self.languages.put(effect.written.into_iter().flatten(), below);
                        if !self.has_image(row, place, (effect.to.0, image))? {
                            return Err(self.not_covered(number, place, &rule.action));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn not_covered(&self, number: usize, place: usize, action: &Action) -> Rejected {
        // Rows are sorted; this is the thread that has the language in the tuple as it is listed.
        let (system, language) = (self.problem.system(), self.rows[number][place]);
        let (_, listed) = self.certificate.tuples().nth(number).expect("as many as rows");
        let mut threads = self.certificate.groups[self.places.group_of[place - 1]].iter();
        let thread = *threads.find(|thread| listed[thread.index()] == language).expect("one of its group");
        let (thread, action) = (name(system, thread), system.paper(action));
        let message = format!("tuples[{number}], {thread}, action {action}: the image is not covered");
        Rejected::Violated(Condition::Step, message)
    }

    /// Whether the tuples have what becomes of a row when the language at a place, and the shared
    /// state, are replaced.
    fn has_image(&mut self, row: &[u32], place: usize, (shared, image): (u32, u32)) -> Result<bool, Rejected> {
        let replaced = |language| {
            let mut row = row.to_vec();
            (row[0], row[place]) = (shared, language);
            self.places.sort(&mut row);
            row
        };
        let moved = replaced(image);
        if self.known.contains(&*moved) {
            return Ok(true);
        }
        let others = replaced(NOTHING);
        let key = (others, image);
        if self.covered.contains(&key) || self.is_in_one(&moved)? {
            return Ok(true);
        }
        // Those with the same languages for the others, and if that is not enough, all that include
        // them.
        let group = self.places.groups[self.places.group_of[place - 1]].clone();
        let at = group.clone().find(|&at| moved[at] == image).expect("it is there");
        let mut union: Vec<u32> = self.completing(&moved, self.mark(&moved), at).map(|(row, at)| row[at]).collect();
        if !self.languages.is_included_in_union(image, union.clone())? {
            for candidate in self.fewest(&key.0)?.iter() {
                for at in self.places.different(candidate).filter(|at| group.contains(at)) {
                    let mut rest = candidate.to_vec();
                    rest[at] = NOTHING;
                    if !union.contains(&candidate[at]) && self.includes(&rest, &key.0)? {
                        union.push(candidate[at]);
                    }
                }
            }
            if !self.languages.is_included_in_union(image, union)? {
                return Ok(false);
            }
        }
        if self.covered.len() * row.len() > MOST {
            self.covered.clear();
        }
        self.covered.insert(key);
        Ok(true)
    }

    /// Whether a single tuple includes a row.
    fn is_in_one(&mut self, row: &[u32]) -> Result<bool, Rejected> {
        self.fill()?;
        self.languages.spend(row.len())?;
        let mark = self.mark(row);
        // It may differ in one language only, and then mostly where the one before did.
        for place in std::iter::once(self.differs).chain(self.places.different(row)) {
            let completing: Vec<u32> = self.completing(row, mark, place).map(|(other, at)| other[at]).collect();
            for language in completing {
                if self.languages.is_included(row[place], language)? {
                    self.differs = place;
                    return Ok(true);
                }
            }
        }
        for candidate in self.fewest(row)?.iter() {
            if self.includes(candidate, row)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The tuples that are the same as a row, which has this mark, except for the language at one
    /// place, and where that is.
    fn completing<'r>(
        &'r self,
        row: &'r [u32],
        mark: u64,
        place: usize,
    ) -> impl Iterator<Item = (Row<'c>, usize)> + 'r {
        let group = self.places.group_of[place - 1];
        let found = self.completing.get(&mark.wrapping_sub(self.mark_of(group, row[place])));
        found.into_iter().flatten().copied().filter(move |&(other, at)| {
            let without = |row: &'r [u32], place: usize| row[..place].iter().chain(&row[place + 1..]);
            self.places.group_of[at - 1] == group && without(row, place).eq(without(other, at))
        })
    }

    /// A number for a row that does not depend on the order within groups. Different rows may have
    /// the same.
    fn mark(&self, row: &[u32]) -> u64 {
        let marks = self.places.group_of.iter().zip(&row[1..]).map(|(&group, &language)| self.mark_of(group, language));
        marks.fold(self.mark_of(usize::MAX, row[0]), u64::wrapping_add)
    }

    fn mark_of(&self, group: usize, language: u32) -> u64 {
        let mark = (u64::from(language) ^ (group as u64) << 32).wrapping_mul(self.factor);
        (mark ^ mark >> 32).wrapping_mul(self.factor)
    }

    fn fill(&mut self) -> Result<(), Rejected> {
        if !self.having.is_empty() {
            return Ok(());
        }
        for &row in self.rows {
            self.languages.spend(row.len())?;
            let mark = self.mark(row);
            for place in self.places.different(row) {
                let group = self.places.group_of[place - 1];
                self.having.entry((row[0], group)).or_default().entry(row[place]).or_default().push(row);
                let rest = mark.wrapping_sub(self.mark_of(group, row[place]));
                self.completing.entry(rest).or_default().push((row, place));
            }
        }
        Ok(())
    }

    /// The tuples that include one language of a row: that for which there are the fewest.
    fn fewest(&mut self, row: &[u32]) -> Result<Rows<'c>, Rejected> {
        let mut fewest: Option<Rows<'c>> = None;
        for place in self.places.different(row) {
            let including = self.including(row[0], self.places.group_of[place - 1], row[place])?;
            if fewest.as_ref().is_none_or(|fewest| including.len() < fewest.len()) {
                fewest = Some(including);
            }
        }
        Ok(fewest.unwrap_or_default())
    }

    /// The tuples that have, in a group, a language that includes this one.
    fn including(&mut self, shared: u32, group: usize, language: u32) -> Result<Rows<'c>, Rejected> {
        if let Some(known) = self.including.get(&(shared, group, language)) {
            return Ok(known.clone());
        }
        let mut including = Vec::new();
        for (&other, rows) in self.having.get(&(shared, group)).into_iter().flatten() {
            self.languages.spend(1)?;
            if self.languages.is_included(language, other)? {
                including.extend(rows);
            }
        }
        let including: Rows<'c> = including.into();
        self.remembered += 1 + including.len();
        if self.remembered > MOST {
            self.including.clear();
            self.remembered = 0;
        }
        self.including.insert((shared, group, language), including.clone());
        Ok(including)
    }

    /// Whether the languages of one row include those of another, in some order within groups.
    fn includes(&mut self, large: &[u32], small: &[u32]) -> Result<bool, Rejected> {
        for group in &self.places.groups {
            let (large, small) = without_common(&large[group.clone()], &small[group.clone()]);
            self.languages.spend(group.len() + large.len() * small.len())?;
            let mut fits = Vec::new();
            for &small in &small {
                let fit = large.iter().map(|&large| self.languages.is_included(small, large));
                fits.push(fit.collect::<Result<Vec<bool>, _>>()?);
            }
            if !can_be_matched(&fits) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Condition (iii).
    fn is_safe(&mut self) -> Result<(), Rejected> {
        for (number, row) in self.rows.iter().enumerate() {
            for pattern in &self.problem.property().bad {
                self.languages.spend(row.len())?;
                if self.has(row, pattern) {
                    let pattern = self.problem.system().text(pattern);
                    let message = format!("tuples[{number}] has a bad state, one that fits {pattern}");
                    return Err(Rejected::Violated(Condition::Bad, message));
                }
            }
        }
        Ok(())
    }

    /// Whether a tuple has a state that fits a pattern.
    fn has(&self, row: &[u32], pattern: &Pattern) -> bool {
        let fits = |thread: ThreadId, language: u32| match pattern.tops[thread.index()] {
            Wild::Any => true,
            Wild::Is(None) => self.languages.is_accepting(language),
            Wild::Is(Some(symbol)) => self.languages.step(language, symbol).is_some(),
        };
        let fits_shared = pattern.shared == Wild::Any || pattern.shared == Wild::Is(SharedState(row[0]));
        fits_shared
            && self.places.groups.iter().all(|group| {
                let threads = &self.places.threads[group.start - 1..group.end - 1];
                let of =
                    |&thread: &ThreadId| row[group.clone()].iter().map(|&language| fits(thread, language)).collect();
                can_be_matched(&threads.iter().map(of).collect::<Vec<_>>())
            })
    }
}

/// Two sorted lists without what both have. A language may as well be matched with itself: if L ⊆ M
/// and K ⊆ L, then K ⊆ M.
fn without_common(a: &[u32], b: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let (mut rest_a, mut rest_b) = (Vec::new(), b.to_vec());
    for language in a {
        match rest_b.iter().position(|other| other == language) {
            Some(place) => drop(rest_b.remove(place)),
            None => rest_a.push(*language),
        }
    }
    (rest_a, rest_b)
}

/// Whether there is a way to give each row of a square of bits a column of its own in which it has
/// a bit.
fn can_be_matched(fits: &[Vec<bool>]) -> bool {
    fn place(row: usize, fits: &[Vec<bool>], tried: &mut [bool], taken: &mut [Option<usize>]) -> bool {
        for column in 0..fits.len() {
            if fits[row][column] && !std::mem::replace(&mut tried[column], true) {
                let is_free = taken[column].is_none_or(|other| place(other, fits, tried, taken));
                if is_free {
                    taken[column] = Some(row);
                    return true;
                }
            }
        }
        false
    }
    let mut taken = vec![None; fits.len()];
    (0..fits.len()).all(|row| place(row, fits, &mut vec![false; fits.len()], &mut taken))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpds::Automaton;

    /// Where all marks are the same, every tuple may be the one that is looked for, and none is
    /// taken for another.
    #[test]
    fn marks_decide_nothing() {
        let model = "shared 0 1; init 0|a,x\nthread A { symbols a b; (0,a) -> (1,b) }\nthread B { symbols x y }";
        let problem: Problem = model.parse().unwrap();
        let symbols = problem.system().symbol_names();
        let mut automaton = Automaton::default();
        automaton.push(true, []);
        for name in ["a", "b", "x", "y"] {
            automaton.push(false, [(Symbol(symbols.get(name).unwrap()), 0)]);
        }
        let [a, b, x, y] = [1, 2, 3, 4];
        let checked = |second: [u32; 3], factor: u64| {
            let tuples = [[0, a, x], second].concat();
            let groups = vec![vec![ThreadId(0)], vec![ThreadId(1)]];
            let certificate = Certificate { groups, automaton: automaton.clone(), tuples, visible: None };
            check_marked(&problem, &certificate, false, Effort { steps: 0, next: 0, go_on: &|_| true }, factor)
        };
        for factor in [0, 1, u64::MAX] {
            assert_eq!(checked([1, b, x], factor), Ok(()));
            for other in [[1, b, y], [1, a, x], [0, b, x], [1, x, b]] {
                let rejected = checked(other, factor);
                assert!(matches!(rejected, Err(Rejected::Violated(Condition::Step, _))), "{other:?}: {rejected:?}");
            }
        }
    }
}
