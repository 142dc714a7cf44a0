//! Families of systems with known sizes: every count of the engines is that of the closed formula.

use cpds::{Problem, print_cpds};
use cpds_testing::families::{Pile, Recursion, stefan};
use cpds_testing::oracle::levels;
use cuba::{Conclusion, Options, Proof, Question, search_unchecked};
use cuba::{Count, Engine, Ladder};

#[test]
fn counts_are_those_of_the_closed_formula() {
    for (threads, depth, shared) in
        [(1, 1, 1), (1, 5, 3), (2, 1, 1), (2, 3, 4), (3, 2, 2), (4, 1, 5), (2, 5, 1), (5, 1, 1)]
    {
        let family = Recursion { threads, depth, shared };
        let problem = family.problem();
        let count = |n: u64| Count::from(usize::try_from(n).unwrap());
        for symmetry in [true, false] {
            let options = Options { symmetry, ..Options::default() };
            let found = search_unchecked(&problem, Question::Reachable, &options, |_| ());
            assert_eq!(found.conclusion, Conclusion::Converged(Proof::LowerCollapsed), "{family:?}");
            let last = found.levels.last().unwrap();
            assert_eq!(
                (last.reachable, last.visible),
                (Some(count(family.states())), count(family.visible())),
                "{family:?}"
            );
            if symmetry {
                assert_eq!(found.level_store.snapshot().kept as u64, family.sorted_states(), "{family:?}");
            } else {
                assert_eq!(found.level_store.snapshot().kept as u64, family.states(), "{family:?}");
                assert_eq!(found.level_store.snapshot().expansions, family.steps(), "{family:?}");
            }
        }
    }
}

/// With twenty threads, first three bits for each stack are enough. Then rows need another word, in
/// the middle of a level. The table is large enough for lookups of many states at a time. With k
/// contexts, at most k threads have left their initial stack.
#[test]
fn rows_that_need_another_word() {
    let problem = Recursion { threads: 20, depth: 3, shared: 1 }.problem();
    for symmetry in [true, false] {
        let options = Options { symmetry, max_contexts: Some(2), memory: 1 << 28, ..Options::default() };
        let found = search_unchecked(&problem, Question::Reachable, &options, |_| ());
        let counts: Vec<_> = found.levels.iter().map(|level| (level.reachable, level.visible)).collect();
        let (one, two) = (20 * 29, 190 * 29 * 29);
        let (one_visible, two_visible) = (20 * 6, 190 * 6 * 6);
        let expected = [(1, 1), (1 + one, 1 + one_visible), (1 + one + two, 1 + one_visible + two_visible)];
        assert_eq!(counts, expected.map(|(reachable, visible)| (Some(Count::from(reachable)), Count::from(visible))));
    }
}

#[test]
fn results_are_the_same_with_every_number_of_jobs() {
    results_are_the_same_with(&[2]);
}

#[test]
#[ignore = "a long version: `just long`"]
fn results_are_the_same_with_every_number_of_jobs_long() {
    results_are_the_same_with(&[2, 3, 8]);
}

/// The system is large enough to employ several cores. The results are the same with each of these
/// numbers of jobs: levels, counts, the trace to a bad state, and the last level before the memory
/// is full.
fn results_are_the_same_with(numbers_of_jobs: &[usize]) {
    let family = Recursion { threads: 3, depth: 4, shared: 3 };
    let text = format!("{}bad 2|l,r,-\n", print_cpds(&family.problem()));
    let problem: Problem = text.parse().unwrap();
    let results = |question: Question, memory: usize, symmetry: bool, jobs: usize| {
        let options = Options { symmetry, memory, jobs, ladder: Ladder::None, ..Options::default() };
        let found =
            search_unchecked(&problem, question, &Options { engine: Some(Engine::Explicit), ..options }, |_| ());
        (found.conclusion, found.levels, found.statistics)
    };
    for symmetry in [true, false] {
        for (question, memory) in
            [(Question::Reachable, 1 << 28), (Question::Verify, 1 << 28), (Question::Reachable, 8 << 20)]
        {
            let alone = results(question, memory, symmetry, 1);
            assert_eq!(matches!(alone.0, Conclusion::Unsafe { .. }), question == Question::Verify);
            assert_eq!(
                matches!(alone.0, Conclusion::Unknown(_)),
                memory < 1 << 28 && !symmetry,
                "{symmetry} {:?}",
                alone.2
            );
            for &jobs in numbers_of_jobs {
                assert_eq!(results(question, memory, symmetry, jobs), alone, "{question:?}, {symmetry}, {jobs} jobs");
            }
        }
    }
}

#[test]
fn piles_have_the_sizes_of_the_closed_formula() {
    for (threads, symbols) in [(1, 1), (2, 1), (2, 3), (3, 2), (5, 4), (8, 3)] {
        let family = Pile { threads, symbols };
        let problem = family.problem();
        for symmetry in [true, false] {
            let options = Options { symmetry, ..Options::default() };
            let found = search_unchecked(&problem, Question::Reachable, &options, |_| ());
            assert_eq!(found.conclusion, Conclusion::Converged(Proof::LowerCollapsed), "{family:?}");
            assert_eq!(found.collapse_of_states, Some(threads as usize), "{family:?}");
            for (k, level) in (0..).zip(&found.levels) {
                let count = |n: u64| Count::from(usize::try_from(n).unwrap());
                assert_eq!(level.tuples, Some(count(family.tuples(k))), "{family:?}, k = {k}");
                assert_eq!(level.visible, count(family.visible(k)), "{family:?}, k = {k}");
            }
        }
    }
}

#[test]
fn stefan_of_any_size() {
    for (threads, visible) in [(2, 20), (4, 254), (8, 30_362), (16, 315_610_418)] {
        let problem = stefan(threads);
        let found = search_unchecked(&problem, Question::Visible, &Options::default(), |_| ());
        assert_eq!(found.visible_sequence.collapse(), Some(threads as usize));
        assert_eq!(found.levels.last().unwrap().visible, Count::from(visible));
    }
}

#[test]
fn the_oracle_has_the_sizes_of_the_closed_formula() {
    for (threads, depth, shared) in [(1, 1, 1), (2, 1, 2), (1, 3, 3), (2, 2, 1)] {
        let family = Recursion { threads, depth, shared };
        let problem = family.problem();
        let found = levels(problem.system(), 6, 20);
        assert!(found.exact && found.reachable[5] == found.reachable[6], "{family:?}");
        assert_eq!(found.reachable[6].len() as u64, family.states(), "{family:?}");
        assert_eq!(found.visible(6).len() as u64, family.visible(), "{family:?}");
        let steps: usize = found.reachable[6].iter().map(|state| problem.system().steps(state).count()).sum();
        assert_eq!(steps as u64, family.steps(), "{family:?}");
    }
}
