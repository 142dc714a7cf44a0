//! Laws of families: a member is the system with all threads written out, and edited texts are read
//! or refused.

use cpds::{Family, FamilyPattern, FamilyState, GroupStacks, Problem, Reader, Replicated, Source, Stack, Wild};
use cpds_testing::oracle::levels;
use cpds_testing::random::{Shape, problem};
use proptest::prelude::*;

/// Returns the ranges of the threads of each program.
fn groups(problem: &Problem) -> Vec<std::ops::Range<usize>> {
    let mut end = 0;
    let ranges = problem.system().programs().iter().map(|program| {
        let start = end;
        end += program.copies() as usize;
        start..end
    });
    ranges.collect()
}

/// Makes a family with this program as a template. All threads of the system are particular.
fn family(problem: &Problem, template: usize) -> Family {
    let (system, groups) = (problem.system(), groups(problem));
    let replicated =
        |(i, program): (usize, &cpds::Program)| Replicated { program: program.clone(), is_template: i == template };
    let programs = system.programs().iter().enumerate().map(replicated).collect();
    let initial = system.initial().iter().map(|state| {
        let group = |(i, range): (usize, &std::ops::Range<usize>)| GroupStacks {
            particular: state.stacks[range.clone()].to_vec(),
            others: (i == template).then(|| Stack::from_top([])),
        };
        FamilyState { shared: state.shared, stacks: groups.iter().enumerate().map(group).collect() }
    });
    let bad = problem.property().bad.iter().map(|pattern| {
        let tops = groups.iter().map(|range| pattern.tops[range.clone()].to_vec()).collect();
        FamilyPattern { shared: pattern.shared, tops }
    });
    let (shared, symbols) = (system.shared_names().clone(), system.symbol_names().clone());
    Family::new(shared, symbols, programs, initial.collect(), bad.collect()).expect("the groups fit")
}

/// Returns all orders of some items.
fn permutations<T: Clone>(items: &[T]) -> Vec<Vec<T>> {
    if items.is_empty() {
        return vec![Vec::new()];
    }
    let with_first = |first: usize| {
        let others = [&items[..first], &items[first + 1..]].concat();
        permutations(&others).into_iter().map(move |rest| [&[items[first].clone()], &rest[..]].concat())
    };
    (0..items.len()).flat_map(with_first).collect()
}

proptest! {
    /// With as many threads as the system has, the member is the system. A state is bad if a
    /// permutation of the template's threads fits a pattern.
    #[test]
    fn a_member_with_all_threads_is_the_system(problem in problem(&Shape { copies: 1..=3, ..Shape::default() }), at in any::<prop::sample::Index>()) {
        let template = at.index(problem.system().programs().len());
        let group = groups(&problem)[template].clone();
        let threads = u32::try_from(group.len()).expect("few");
        let member = family(&problem, template).member(&[threads]).expect("it has all threads");
        prop_assert_eq!(member.system(), problem.system());
        for state in levels(problem.system(), 2, 3).reachable.last().expect("R_0") {
            let visible = state.visible();
            let fits = |tops: &Vec<Option<cpds::Symbol>>| {
                let mut permuted = visible.clone();
                permuted.tops[group.clone()].clone_from_slice(tops);
                problem.property().violation(&permuted).is_some()
            };
            let expected = permutations(&visible.tops[group.clone()]).iter().any(fits);
            prop_assert_eq!(member.property().violation(&visible).is_some(), expected);
        }
        let others = family(&problem, template).member(&[threads + 1]).expect("a thread more");
        prop_assert_eq!(others.system().thread_count(), problem.system().thread_count() + 1);
        let demands = |pattern: &cpds::Pattern| pattern.tops.iter().filter(|top| **top != Wild::Any).count();
        let most = |problem: &Problem| problem.property().bad.iter().map(demands).max();
        prop_assert_eq!(most(&others), most(&problem), "a further thread is not constrained");
    }

    #[test]
    fn edited_families_are_read_or_refused(
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<char>(), 0..3), 0..4),
        threads in 0_u32..4,
    ) {
        const TEXT: &str = "shared 0 1\ninit 0|a,b,c*any,-*2\nbad *|*,b,c,* * any,*,-\n
            thread P { symbols a }\nthread Q * any { symbols b c; (0,c) -> (1,b) }\nthread S * 2 { }";
        let mut text: Vec<char> = TEXT.chars().collect();
        for (place, c, edit) in edits {
            let at = place.index(text.len());
            match edit {
                0 => text[at] = c,
                1 => text.insert(at, c),
                _ => drop(text.remove(at)),
            }
        }
        let mut reader = Reader::cpds(Source::new("edited", text.into_iter().collect::<String>()));
        reader.instances([("Q".to_owned(), threads)]);
        if let Ok(reading) = reader.finish() {
            prop_assert_eq!(cpds::print_cpds(&reading.problem).parse(), Ok(reading.problem));
        }
    }
}
