//! Families of systems: programs that any number of threads may run.
//!
//! A *template* is a program without a number of threads. An initial state of a family names some
//! threads of a template one by one; they are always there. All other threads of the template start
//! with one common stack. A bad pattern names some threads of a template, in any order, and says
//! nothing about the others. So a bad state stays bad if threads are added.
//!
//! A family and a number of threads for each template give a system: a *member* of the family.

use crate::system::limits;
use crate::{
    Action, Alphabet, Cpds, GlobalState, ModelError, Names, Pattern, Problem, Program, Property, Rule, SharedState,
    Stack, Symbol, Wild,
};
use std::collections::HashMap;

/// A family of systems, with its property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Family {
    shared: Names,
    symbols: Names,
    programs: Vec<Replicated>,
    initial: Vec<FamilyState>,
    bad: Vec<FamilyPattern>,
}

/// A program of a family.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Replicated {
    /// The program. If it is a template, its number of copies has no meaning.
    pub program: Program,
    /// Whether any number of threads may run the program.
    pub is_template: bool,
}

/// An initial state of the members of a family.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FamilyState {
    /// The shared state.
    pub shared: SharedState,
    /// For each program, the stacks of its threads.
    pub stacks: Vec<GroupStacks>,
}

/// The stacks of the threads of one program in an initial state.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct GroupStacks {
    /// The threads that are always there. If the program is no template, these are all its threads.
    pub particular: Vec<Stack>,
    /// The stack of all other threads, if the program is a template.
    pub others: Option<Stack>,
}

/// A bad pattern of the members of a family.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FamilyPattern {
    /// The shared state.
    pub shared: Wild<SharedState>,
    /// For each program, the tops of some of its threads: for a template, those of different
    /// threads in any order; otherwise one for each thread.
    pub tops: Vec<Vec<Wild<Option<Symbol>>>>,
}

impl Family {
    /// Makes a family of its parts. Checks that each state and each pattern has a group for each
    /// program, and that each group fits its program. [`member`](Self::member) checks the rest.
    ///
    /// # Errors
    /// If a group does not fit its program, or if no program is a template.
    pub fn new(
        shared: Names,
        symbols: Names,
        programs: Vec<Replicated>,
        initial: Vec<FamilyState>,
        bad: Vec<FamilyPattern>,
    ) -> Result<Family, ModelError> {
        if !programs.iter().any(|program| program.is_template) || initial.is_empty() {
            return Err(ModelError::Incomplete);
        }
        let copies = |program: &Replicated| program.program.copies() as usize;
        for state in &initial {
            let (found, expected) = (state.stacks.len(), programs.len());
            let fits = |(stacks, program): (&GroupStacks, &Replicated)| {
                let is_complete = program.is_template || stacks.particular.len() == copies(program);
                stacks.others.is_some() == program.is_template && is_complete
            };
            if found != expected || !state.stacks.iter().zip(&programs).all(fits) {
                return Err(ModelError::WrongNumberOfStacks { found, expected });
            }
        }
        let fits = |pattern: &FamilyPattern| {
            let of_one = |(tops, program): (&Vec<_>, &Replicated)| program.is_template || tops.len() == copies(program);
            pattern.tops.len() == programs.len() && pattern.tops.iter().zip(&programs).all(of_one)
        };
        if !bad.iter().all(fits) {
            return Err(ModelError::PatternDoesNotFit);
        }
        Ok(Family { shared, symbols, programs, initial, bad })
    }

    /// Returns the names of the templates, in the order of their declaration.
    pub fn templates(&self) -> impl Iterator<Item = &str> {
        self.programs.iter().filter(|program| program.is_template).map(|program| program.program.name())
    }

    /// Makes the system in which each template has this number of threads, in the order of
    /// [`templates`](Self::templates). A template with zero threads is left out, with its symbols.
    /// An initial state that names more threads than there are is left out. So is a bad pattern,
    /// since no state can fit it.
    ///
    /// # Errors
    /// If no initial state is left, or if the system exceeds a limit.
    ///
    /// # Panics
    /// If there is not one number for each template.
    pub fn member(&self, threads: &[u32]) -> Result<Problem, ModelError> {
        assert_eq!(threads.len(), self.templates().count(), "one number for each template");
        let mut of_templates = threads.iter().copied();
        let copies: Vec<u32> = (self.programs.iter())
            .map(|it| if it.is_template { of_templates.next().expect("counted") } else { it.program.copies() })
            .collect();
        let total = copies.iter().map(|&copies| u64::from(copies)).sum::<u64>();
        if total > limits::THREADS {
            return Err(ModelError::TooLarge { what: "threads", limit: limits::THREADS });
        }
        let has_room = |named: usize, copies: u32| named <= copies as usize;
        let initial = self.initial.iter().filter(|state| {
            state.stacks.iter().zip(&copies).all(|(stacks, &copies)| has_room(stacks.particular.len(), copies))
        });
        let initial: Vec<&FamilyState> = initial.collect();
        if initial.is_empty() {
            return Err(ModelError::TooFewThreads);
        }
        let numbers = Renumbered::new(&self.symbols, &self.programs, &copies);
        let initial = initial.into_iter().map(|state| GlobalState {
            shared: state.shared,
            stacks: (state.stacks.iter().zip(&copies))
                .flat_map(|(stacks, &copies)| {
                    let others = copies as usize - stacks.particular.len();
                    stacks.particular.iter().chain(std::iter::repeat_n(&stacks.others, others).flatten())
                })
                .map(|stack| Stack::from_top(stack.iter().map(|symbol| numbers.of(symbol))))
                .collect(),
        });
        let initial = initial.collect();
        let mut bad = Vec::new();
        let mut cells = 0_u64;
        for pattern in &self.bad {
            cells = cells.saturating_add(self.arrangement_count(pattern, &copies).saturating_mul(total + 1));
            if cells > limits::STACK_CELLS {
                let what = "stacks in the bad patterns of this many threads";
                return Err(ModelError::TooLarge { what, limit: limits::STACK_CELLS });
            }
            for tops in self.arrangements(pattern, &copies) {
                let tops = tops.into_iter().map(|top| match top {
                    Wild::Is(Some(symbol)) => Wild::Is(Some(numbers.of(symbol))),
                    other => other,
                });
                bad.push(Pattern { shared: pattern.shared, tops: tops.collect() });
            }
        }
        let programs = (self.programs.iter().zip(&copies))
            .filter(|&(_, &copies)| copies > 0)
            .map(|(it, &copies)| numbers.program(&it.program, copies))
            .collect::<Result<Vec<_>, _>>()?;
        let symbols = numbers.names(&self.symbols);
        Problem::new(Cpds::new(self.shared.clone(), symbols, programs, initial)?, Property { bad })
    }

    /// Returns the number of [`arrangements`](Self::arrangements).
    fn arrangement_count(&self, pattern: &FamilyPattern, copies: &[u32]) -> u64 {
        let groups = pattern.tops.iter().zip(&self.programs).zip(copies);
        let counts =
            groups.map(
                |((tops, program), &copies)| {
                    if program.is_template { arrangement_count(&demanded(tops), copies.into()) } else { 1 }
                },
            );
        counts.fold(1, u64::saturating_mul)
    }

    /// Returns all ways to give the tops of a pattern to different threads: for each way, the tops
    /// of all threads.
    fn arrangements(&self, pattern: &FamilyPattern, copies: &[u32]) -> Vec<Vec<Wild<Option<Symbol>>>> {
        let groups = pattern.tops.iter().zip(&self.programs).zip(copies);
        groups.fold(vec![Vec::new()], |before, ((tops, program), &copies)| {
            let of_group = if program.is_template {
                let mut rows = Vec::new();
                arrange(&demanded(tops), 0, &mut vec![Wild::Any; copies as usize], &mut rows);
                rows
            } else {
                vec![tops.clone()]
            };
            let both = |first: &Vec<_>| of_group.iter().map(|group| [&first[..], group].concat()).collect::<Vec<_>>();
            before.iter().flat_map(both).collect()
        })
    }
}

/// Returns the tops that demand a thread, in order. `*` demands none.
fn demanded(tops: &[Wild<Option<Symbol>>]) -> Vec<Wild<Option<Symbol>>> {
    let mut tops: Vec<_> = tops.iter().filter(|top| **top != Wild::Any).copied().collect();
    tops.sort_unstable();
    tops
}

/// Returns the number of ways to give these tops to different threads; equal tops make no
/// difference.
fn arrangement_count(sorted: &[Wild<Option<Symbol>>], threads: u64) -> u64 {
    let (mut count, mut free) = (1_u64, threads);
    for equal in sorted.chunk_by(|a, b| a == b) {
        // The binomial coefficient of `free` over the number of equal tops.
        for taken in 0..equal.len() as u64 {
            count = count.saturating_mul(free.saturating_sub(taken)) / (taken + 1);
        }
        free = free.saturating_sub(equal.len() as u64);
    }
    count
}

/// Adds to `rows` all ways to give the tops to threads that are free in `row`. Equal tops get
/// threads from number `from` on, so that each way comes once.
fn arrange(
    sorted: &[Wild<Option<Symbol>>],
    from: usize,
    row: &mut Vec<Wild<Option<Symbol>>>,
    rows: &mut Vec<Vec<Wild<Option<Symbol>>>>,
) {
    let Some((top, rest)) = sorted.split_first() else {
        rows.push(row.clone());
        return;
    };
    for thread in from..row.len() {
        if row[thread] == Wild::Any {
            row[thread] = *top;
            arrange(rest, if rest.first() == Some(top) { thread + 1 } else { 0 }, row, rows);
            row[thread] = Wild::Any;
        }
    }
}

/// New numbers for the symbols: in the order in which the alphabets of the remaining programs first
/// mention them.
struct Renumbered(HashMap<Symbol, Symbol>);

impl Renumbered {
    fn new(symbols: &Names, programs: &[Replicated], copies: &[u32]) -> Self {
        let mut numbers = HashMap::with_capacity(symbols.len());
        let remaining = programs.iter().zip(copies).filter(|&(_, &copies)| copies > 0);
        for symbol in remaining.flat_map(|(it, _)| it.program.alphabet().iter()) {
            let next = Symbol(u32::try_from(numbers.len()).expect("fewer than before"));
            numbers.entry(symbol).or_insert(next);
        }
        Renumbered(numbers)
    }

    fn of(&self, symbol: Symbol) -> Symbol {
        // A symbol that is not declared has no number; `Cpds::new` reports it.
        self.0.get(&symbol).copied().unwrap_or(Symbol(u32::MAX))
    }

    fn names(&self, symbols: &Names) -> Names {
        let mut ordered: Vec<(Symbol, Symbol)> = self.0.iter().map(|(&old, &new)| (new, old)).collect();
        ordered.sort_unstable();
        ordered.into_iter().map(|(_, old)| symbols.name(old.0)).collect()
    }

    fn program(&self, program: &Program, copies: u32) -> Result<Program, ModelError> {
        let alphabet = Alphabet::new(program.alphabet().iter().map(|symbol| self.of(symbol)));
        let rule = |Rule { label, action }: &Rule| {
            let (from, read) = action.source();
            let (to, written) = action.target();
            let read: Vec<Symbol> = read.into_iter().map(|symbol| self.of(symbol)).collect();
            let written: Vec<Symbol> = written.map(|symbol| self.of(symbol)).collect();
            let action = Action::new((from, &read), (to, &written)).expect("it was an action before");
            Rule { label: label.clone(), action }
        };
        Program::new(program.name(), copies, alphabet, program.rules().iter().map(rule).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ReadError, Reader, Source, print_cpds};

    /// Reads a family and makes a member of it.
    fn member(text: &str, instances: &[(&str, u32)]) -> Result<Problem, ReadError> {
        let mut reader = Reader::cpds(Source::new("text", text));
        reader.instances(instances.iter().map(|&(name, threads)| (name.to_owned(), threads)));
        Ok(reader.finish()?.problem)
    }

    const FAMILY: &str = "
        shared 0 1
        init 0|a,boss,out*any,-,-
        init 1|a,out * any,-*2
        bad *|*,in,out,* * any,*,-
        thread first { symbols a }
        thread worker * any { symbols boss out in; enter: (0,out) -> (1,in) }
        thread last * 2 { symbols out b }";

    #[test]
    fn a_member_has_the_particular_threads_and_the_others() {
        let text = "
            shared 0 1
            init 0|a,boss,out,out,-,-
            init 1|a,out,out,out,-,-
            bad *|*,in,out,*,*,-
            bad *|*,in,*,out,*,-
            bad *|*,out,in,*,*,-
            bad *|*,*,in,out,*,-
            bad *|*,out,*,in,*,-
            bad *|*,*,out,in,*,-
            thread first { symbols a }
            thread worker * 3 { symbols boss out in; enter: (0,out) -> (1,in) }
            thread last * 2 { symbols out b }";
        let (found, expected) = (member(FAMILY, &[("worker", 3)]).unwrap(), member(text, &[]).unwrap());
        assert_eq!(found.system(), expected.system());
        let sorted = |problem: &Problem| {
            let mut bad = problem.property().bad.clone();
            bad.sort_unstable();
            bad
        };
        assert_eq!(sorted(&found), sorted(&expected));
        assert_eq!(print_cpds(&found).parse(), Ok(found));
    }

    #[test]
    fn a_template_without_threads_is_left_out() {
        // The initial state with the boss needs a thread, and so does the bad pattern.
        let text = "shared 0 1; init 1|a,-,-; thread first { symbols a }\n thread last * 2 { symbols out b }";
        assert_eq!(member(FAMILY, &[("worker", 0)]).unwrap(), text.parse().unwrap());
        let bosses = "shared 0; init 0|boss,out*any; thread worker * any { symbols boss out }";
        let error = member(bosses, &[("worker", 0)]).unwrap_err().to_string();
        assert!(error.contains("each initial state names more threads than there are"), "{error}");
        let none = "shared 0; init 0|out*any; thread worker * any { symbols out }";
        assert!(member(none, &[("worker", 0)]).is_err());
        assert_eq!(member(none, &[("worker", 1)]).unwrap().system().thread_count(), 1);
    }

    /// Compares the ways to give tops to threads with all maps from threads to tops.
    #[test]
    fn each_arrangement_comes_once() {
        let is = |symbol| Wild::Is(Some(Symbol(symbol)));
        for tops in [&[][..], &[is(0)], &[is(0), is(0)], &[is(1), is(0)], &[is(0), is(1), is(0)], &[Wild::Is(None)]] {
            for threads in 0..=4_usize {
                let tops = demanded(tops);
                let mut found = Vec::new();
                arrange(&tops, 0, &mut vec![Wild::Any; threads], &mut found);
                assert_eq!(found.len() as u64, arrangement_count(&tops, threads as u64), "{tops:?} {threads}");
                let values = [Wild::Any, is(0), is(1), Wild::Is(None)];
                let all = (0..threads).fold(vec![Vec::new()], |rows, _| {
                    rows.iter().flat_map(|row| values.iter().map(move |&value| [&row[..], &[value]].concat())).collect()
                });
                let mut expected: Vec<_> = all.into_iter().filter(|row| demanded(row) == tops).collect();
                expected.sort_unstable();
                found.sort_unstable();
                assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn many_threads_are_refused_before_they_need_memory() {
        let text = "shared 0; init 0|a*any; bad 0|a*5,* * any; thread P * any { symbols a }";
        let too_large = |threads| member(text, &[("P", threads)]).unwrap_err().to_string();
        assert!(too_large(1000).contains("more than 1048576 stacks in the bad patterns"), "{}", too_large(1000));
        assert!(too_large(u32::MAX).contains("more than 1024 threads"));
        assert_eq!(member(text, &[("P", 10)]).unwrap().property().bad.len(), 252);
    }

    #[test]
    fn mistakes_are_reported() {
        let first = |text: &str, instances: &[(&str, u32)]| {
            let error = member(text, instances).unwrap_err();
            error.diagnostics.kept().first().map(|first| first.message.clone()).unwrap_or_default()
        };
        let with = |init: &str, bad: &str| {
            format!("shared 0; init {init}; bad {bad}; thread P {{ symbols a }}\n thread Q * any {{ symbols b c }}")
        };
        let good = with("0|a,b*any", "0|a,b,c,* * any");
        assert_eq!(member(&good, &[("Q", 2)]).unwrap().property().bad.len(), 2);
        for (text, instances, message) in [
            (good.clone(), &[][..], "`Q` has no number of threads"),
            (good.clone(), &[("Q", 1), ("Q", 2)], "`Q` has two numbers of threads"),
            (good.clone(), &[("Q", 1), ("P", 2)], "`P` has a fixed number of threads"),
            (good.clone(), &[("Q", 1), ("R", 2)], "no thread is named `R`"),
            (with("0|a,b", "0|a,* * any"), &[("Q", 1)], "no stack for all other threads of `Q`"),
            (with("0|a*any,b*any", "0|a,* * any"), &[("Q", 1)], "`* any` for `P`, which has a fixed number of threads"),
            (with("0|a,b*any,b", "0|a,* * any"), &[("Q", 1)], "more stacks than threads"),
            (with("0|a,b*9999999999,b*any", "0|a,* * any"), &[("Q", 1)], "too many threads"),
            (with("0|a,b*any", "0|a,b*1025,* * any"), &[("Q", 1)], "too many threads"),
            (with("0|a,b*any", "0|a,b*any"), &[("Q", 1)], "a bad pattern cannot be about all threads of a template"),
            (with("0|a,a*any", "0|a,* * any"), &[("Q", 1)], "unknown stack symbol `a`"),
            (
                "shared 0; init 0|a*any; thread P { symbols a }".to_owned(),
                &[],
                "`* any` in a system with a fixed number of threads",
            ),
            ("shared 0; init 0|a; thread P { symbols a }".to_owned(), &[("P", 1)], "`P` has a fixed number of threads"),
        ] {
            assert_eq!(first(&text, instances), message, "{text}");
        }
    }
}
