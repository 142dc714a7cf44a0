//! The certificate's conditions. A set I of tuples ⟨q|L₁,…,Lₙ⟩ proves that no bad state is
//! reachable if
//!
//! - **(i)** each initial state is in a tuple of I,
//! - **(ii)** I is closed under every action of every thread,
//! - **(iii)** no tuple of I contains a bad state.
//!
//! For `Claim::Exact`, condition (iii) is replaced: the visible states of I are exactly those that
//! the certificate lists (`visible_list.rs`). `docs/evidence.md` has the same conditions for
//! authors of other checkers.
//!
//! In: a problem and a certificate. Out: acceptance if every condition is met, and otherwise a
//! condition that is not met.
//!
//! # How (ii) is checked, and why that is sufficient
//! The image of a tuple under an action of thread i is ⟨q'|L₁,…,L',…,Lₙ⟩. Take all tuples with
//! shared state q' in which each language, except for the i-th one, includes that of the image. If
//! L' is a subset of the union of their i-th languages, then each state of the image is in one of
//! these tuples.
//!
//! # Groups
//! A listed tuple stands for all tuples that result from permuting languages within groups of
//! threads. All threads of a group have the same actions. So a permutation of a tuple permutes its
//! images too, and it is sufficient to check the images of the tuples that are listed. A tuple is
//! stored with its languages sorted within each group. It includes another tuple if the languages
//! can be matched within each group.

mod covering;
mod layout;
mod matching;
mod visible_list;

use crate::languages::{Languages, WorkMeter};
use crate::step::Effect;
use crate::{Condition, Rejected};
use covering::TupleSet;
use cpds::{Action, Certificate, Pattern, Problem, Rule, SharedState, Symbol, ThreadId, Wild};
use layout::{Layout, thread_label};
use matching::can_be_matched;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};

/// Checks a certificate. With `exact`, checks its list of visible states instead of condition
/// (iii).
pub(crate) fn check(
    problem: &Problem,
    certificate: &Certificate,
    exact: bool,
    meter: WorkMeter<'_>,
) -> Result<(), Rejected> {
    check_with_factor(problem, certificate, exact, meter, RandomState::new().hash_one(0) | 1)
}

/// Like [`check`], with the factor for the hashes of rows. No result depends on the factor.
fn check_with_factor(
    problem: &Problem,
    certificate: &Certificate,
    exact: bool,
    meter: WorkMeter<'_>,
    factor: u64,
) -> Result<(), Rejected> {
    let layout = Layout::new(problem.system(), &certificate.groups)?;
    let (shared, states) = (problem.system().shared_names().len(), certificate.automaton.len());
    let mut rows = Vec::new();
    for (number, (q, languages)) in certificate.tuples().enumerate() {
        if q.0 as usize >= shared || languages.iter().any(|&state| state as usize >= states) {
            let message = format!("tuples[{number}]: a number without a shared state or a language");
            return Err(Rejected::Malformed(message));
        }
        rows.extend(layout.row(q, |thread| languages[thread]));
    }
    let rows: Vec<&[u32]> = rows.chunks_exact(1 + layout.threads.len()).collect();
    let languages = Languages::new(&certificate.automaton, meter)?;
    let mut checker =
        CertificateChecker { problem, certificate, tuples: TupleSet::new(&rows, &layout, languages, factor) };
    checker.check_initial_states()?;
    checker.check_steps()?;
    if exact { checker.check_visible_list() } else { checker.check_bad_states() }
}

struct CertificateChecker<'c> {
    problem: &'c Problem,
    certificate: &'c Certificate,
    tuples: TupleSet<'c>,
}

impl CertificateChecker<'_> {
    /// Condition (i).
    fn check_initial_states(&mut self) -> Result<(), Rejected> {
        for state in self.problem.system().initial() {
            let languages = &mut self.tuples.languages;
            let empty = languages.empty_stack;
            let stacks: Vec<u32> = state.stacks.iter().map(|stack| languages.prepend(stack.iter(), empty)).collect();
            let row = self.tuples.layout.row(state.shared, |thread| stacks[thread]);
            if !self.tuples.is_listed(&row) && !self.tuples.is_in_one(&row)? {
                let message = format!("no tuple contains the initial state {}", self.problem.system().paper(state));
                return Err(Rejected::Violated(Condition::Initial, message));
            }
        }
        Ok(())
    }

    /// Condition (ii).
    fn check_steps(&mut self) -> Result<(), Rejected> {
        let system = self.problem.system();
        // By program, shared state and top: the actions.
        let mut actions: HashMap<(usize, u32, Option<Symbol>), Vec<&Rule>> = HashMap::new();
        for (number, program) in system.programs().iter().enumerate() {
            for rule in program.rules() {
                let effect = Effect::of(&rule.action);
                actions.entry((number, effect.q.0, effect.read)).or_default().push(rule);
            }
        }
        let layout = self.tuples.layout;
        for (number, row) in self.tuples.rows.iter().enumerate() {
            for place in layout.distinct_places(row) {
                let thread = layout.threads[place - 1];
                let languages = &self.tuples.languages;
                let mut heads = vec![(None, languages.empty_stack)];
                heads.retain(|_| languages.is_accepting(row[place]));
                heads.extend(languages.out(row[place]).iter().map(|&(symbol, rest)| (Some(symbol), rest)));
                for (top, rest) in heads {
                    for rule in actions.get(&(system.program_index(thread), row[0], top)).into_iter().flatten() {
                        self.tuples.languages.add_work(1)?;
                        let effect = Effect::of(&rule.action);
                        let image = self.tuples.languages.prepend(effect.written.into_iter().flatten(), rest);
                        if !self.tuples.covers_image(row, place, (effect.to.0, image))? {
                            return Err(self.not_covered(number, place, &rule.action));
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn not_covered(&self, number: usize, place: usize, action: &Action) -> Rejected {
        // Rows are sorted. The message names the thread that has the language in the listed tuple.
        let (system, layout) = (self.problem.system(), self.tuples.layout);
        let language = self.tuples.rows[number][place];
        let (_, listed) = self.certificate.tuples().nth(number).expect("as many as rows");
        let mut threads = self.certificate.groups[layout.group_of[place - 1]].iter();
        let thread = *threads.find(|thread| listed[thread.index()] == language).expect("one of its group");
        let (thread, action) = (thread_label(system, thread), system.paper(action));
        let message = format!("tuples[{number}], {thread}, action {action}: the image is not covered");
        Rejected::Violated(Condition::Step, message)
    }

    /// Condition (iii).
    fn check_bad_states(&mut self) -> Result<(), Rejected> {
        for (number, row) in self.tuples.rows.iter().enumerate() {
            for pattern in &self.problem.property().bad {
                self.tuples.languages.add_work(row.len())?;
                if self.has_match(row, pattern) {
                    let pattern = self.problem.system().text(pattern);
                    let message = format!("tuples[{number}] contains a bad state, which fits {pattern}");
                    return Err(Rejected::Violated(Condition::Bad, message));
                }
            }
        }
        Ok(())
    }

    /// Whether a tuple, or a permutation of it, contains a state that fits a pattern.
    fn has_match(&self, row: &[u32], pattern: &Pattern) -> bool {
        let (layout, languages) = (self.tuples.layout, &self.tuples.languages);
        let fits = |thread: ThreadId, language: u32| match pattern.tops[thread.index()] {
            Wild::Any => true,
            Wild::Is(None) => languages.is_accepting(language),
            Wild::Is(Some(symbol)) => languages.step(language, symbol).is_some(),
        };
        let fits_shared = pattern.shared == Wild::Any || pattern.shared == Wild::Is(SharedState(row[0]));
        fits_shared
            && layout.groups.iter().all(|group| {
                let threads = &layout.threads[group.start - 1..group.end - 1];
                let of =
                    |&thread: &ThreadId| row[group.clone()].iter().map(|&language| fits(thread, language)).collect();
                can_be_matched(&threads.iter().map(of).collect::<Vec<_>>())
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cpds::Automaton;

    /// If all rows have the same hash, every tuple is a candidate for each lookup. The lookup still
    /// distinguishes them.
    #[test]
    fn hashes_decide_nothing() {
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
            check_with_factor(&problem, &certificate, false, WorkMeter::new(&|_| true), factor)
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
