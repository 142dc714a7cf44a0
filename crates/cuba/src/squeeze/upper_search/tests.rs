//! Tests of the upper search: limits, memory, and the end of the ladder.

use super::*;
use crate::cancel::Cancel;
use crate::overapproximation::ladder::Ladder;
use crate::squeeze::event::dropped_events;
use crate::squeeze::race::Race;
use crate::squeeze::rung_order::DEFAULT_MAX_TUPLES;
use crate::squeeze::work_clock::WORK_PER_RUNG;
use crate::statistics::Engine;
use crate::tuning::Tuning;
use cpds::Problem;

fn fig_1() -> Problem {
    include_str!("../../../../../models/paper/fig1.cpds").parse().unwrap()
}

fn squeeze(problem: &Problem, question: Question, options: Options) -> Squeeze<'_, 'static> {
    let options = Options { tuning: Tuning::SMALL, ..options };
    Squeeze::new(problem, question, options, Engine::Explicit, Race::new(2, &Cancel::default()), None)
}

fn run<'a>(squeeze: &Squeeze<'a, '_>) -> UpperSearch<'a> {
    squeeze.run_upper_search(None, None, &dropped_events())
}

fn outcomes(search: &UpperSearch<'_>) -> Vec<(String, Outcome)> {
    search.rungs.iter().map(|rung| (rung.value.rung.to_string(), rung.value.outcome.clone())).collect()
}

/// After the lower search has given up, only Z and matched-Z may continue, and only for `Verify`.
/// After both searches have met, no rung may continue.
#[test]
fn rungs_stop_when_they_are_of_no_use() {
    let problem = fig_1();
    let may_continue = |squeeze: &Squeeze<'_, '_>, rung, time| squeeze.tick(rung, time).is_continue();
    for question in [Question::Verify, Question::Visible, Question::Reachable] {
        let squeeze = squeeze(&problem, question, Options::default());
        assert!(may_continue(&squeeze, Rung::Abstract(0), 1 << 40));
        let deadline = squeeze.race.report_giving_up(100, squeeze.options.tuning.upper_grace);
        assert!(
            may_continue(&squeeze, Rung::Abstract(0), deadline)
                && !may_continue(&squeeze, Rung::Abstract(0), deadline + 1)
        );
        assert!(!may_continue(&squeeze, Rung::CutOff(2), 1 << 40));
        for rung in [Rung::Z, Rung::MatchedZ] {
            assert_eq!(may_continue(&squeeze, rung, deadline + 1), question == Question::Verify);
        }
    }
    let squeeze = squeeze(&problem, Question::Reachable, Options::default());
    for (side, time, states) in [(Side::Upper, 5, 9), (Side::Lower, 7, 6), (Side::Upper, 6, 8), (Side::Lower, 9, 8)] {
        assert_eq!(squeeze.meeting_time(), None);
        squeeze.report(side, time, states);
    }
    // Equal numbers later do not change the time at which both met.
    squeeze.report(Side::Lower, 11, 8);
    squeeze.report(Side::Upper, 12, 8);
    assert_eq!(squeeze.meeting_time(), Some(9));
    assert!(may_continue(&squeeze, Rung::Z, 9) && !may_continue(&squeeze, Rung::Z, 10));
    // More states are reached than remain. This is a contradiction, so both searches stop at once.
    squeeze.report(Side::Lower, 13, 9);
    assert!([Side::Upper, Side::Lower].iter().all(|&side| squeeze.race.cancel(side).why() == Some(Halt::Superseded)));
}

/// Z and matched-Z have no limit on states; the rungs after them have one. The only initial state
/// is one state of Z_2, and more than one node of a diagram.
#[test]
fn too_many_tuples() {
    let problem = fig_1();
    let squeeze = |tuples| {
        let options = Options { max_depth: Some(1), max_tuples: Some(tuples), ..Options::default() };
        squeeze(&problem, Question::Visible, options)
    };
    for most in [0, 1] {
        let outcomes = outcomes(&run(&squeeze(most)));
        let names: Vec<&str> = outcomes.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["Z", "matched-Z", "A_0", "Z_2"]);
        let generators = outcomes.iter().map(|(_, outcome)| match outcome {
            Outcome::Bound(bound) => bound.generators.map(|(g, popped)| (g.to_string(), popped.to_string())),
            other => panic!("{other:?}"),
        });
        assert_eq!(generators.take(2).collect::<Vec<_>>(), [Some(("2".to_owned(), "2".to_owned())), None]);
        let cut_off = if most == 0 { Outcome::TooManyInitial(0) } else { Outcome::TooManyTuples(1) };
        assert_eq!([&outcomes[2].1, &outcomes[3].1], [&Outcome::TooManyInitial(most), &cut_off]);
    }
}

/// If the initial states exceed the limit, no deeper rung begins, although the ladder has no end.
/// Each rung still counts some work.
#[test]
fn initial_states_beyond_the_limit_end_the_search() {
    let problem = fig_1();
    for ladder in [Ladder::All, Ladder::Abstract] {
        let options = Options { max_tuples: Some(0), ladder, ..Options::default() };
        let search = run(&squeeze(&problem, Question::Visible, options));
        let deep: Vec<String> = search.rungs.iter().map(|rung| rung.value.rung.to_string()).collect();
        let expected = if ladder == Ladder::All { &["Z", "matched-Z", "A_0", "Z_2"][..] } else { &["A_0"] };
        assert_eq!((deep, search.halted), (expected.iter().map(ToString::to_string).collect(), None));
        let times: Vec<u64> = search.rungs.iter().map(|rung| rung.time).collect();
        assert!(times[times.len() - 1] >= WORK_PER_RUNG && times.is_sorted(), "{times:?}");
    }
}

/// The four initial states differ only in their lowest symbols. With stacks cut off, they are
/// equal.
#[test]
fn each_kind_of_rung_begins_with_its_own_number() {
    let problem: Problem = "shared 0; init 0|a a a a; init 0|a a a b; init 0|a a a c; init 0|a a a d
        thread A { symbols a b c d; (0,a) -> (0,-) }"
        .parse()
        .unwrap();
    let options = Options { max_tuples: Some(3), max_depth: Some(5), ..Options::default() };
    let deep = outcomes(&run(&squeeze(&problem, Question::Visible, options))).split_off(2);
    let deep: Vec<String> = deep
        .iter()
        .map(|(name, outcome)| format!("{name} {}", matches!(outcome, Outcome::TooManyInitial(3))))
        .collect();
    assert_eq!(deep, ["A_0 true", "Z_2 false", "Z_3 false", "Z_4 true"]);
}

/// Without a limit from the caller, the default limit grows until the initial states are within it.
#[test]
fn the_default_limit_admits_all_initial_states() {
    let problem = many_initial_states();
    let search = run(&squeeze(&problem, Question::Visible, Options { ladder: Ladder::Abstract, ..Options::default() }));
    let bound = |outcome: &Outcome| matches!(outcome, Outcome::Bound(bound) if bound.is_exact);
    assert!(search.rungs.len() == 1 && bound(&search.rungs[0].value.outcome), "{:?}", outcomes(&search));
    let options = Options { max_tuples: Some(DEFAULT_MAX_TUPLES), ladder: Ladder::Abstract, ..Options::default() };
    let search = run(&squeeze(&problem, Question::Visible, options));
    assert_eq!(outcomes(&search), [("A_0".to_owned(), Outcome::TooManyInitial(DEFAULT_MAX_TUPLES))]);
}

/// Returns a system with more initial states than the default limit on tuples; no action is
/// enabled.
fn many_initial_states() -> Problem {
    let states = (0..450).flat_map(|a| (0..450).map(move |b| format!("init 0|{a},{b}\n")));
    ("shared 0; thread A * 2 { symbols 0..449 }\n".to_owned() + &states.collect::<String>()).parse().unwrap()
}

/// A bad state ends the race for both searches. The upper search does not begin another rung,
/// although the ladder has no end.
#[test]
fn no_rung_is_begun_when_the_race_is_over() {
    let problem = fig_1();
    let squeeze = squeeze(&problem, Question::Verify, Options { max_tuples: Some(1), ..Options::default() });
    squeeze.race.cancel_both();
    let search = run(&squeeze);
    assert_eq!((outcomes(&search), search.halted), (Vec::new(), Some(Halt::Superseded)));
}

/// A limit from the caller is never exceeded: no rung is tried again with more tuples.
#[test]
fn a_limit_from_the_caller_is_final() {
    let problem = fig_1();
    let options = Options { max_tuples: Some(7), ladder: Ladder::Abstract, ..Options::default() };
    let squeeze = squeeze(&problem, Question::Visible, options);
    squeeze.race.report_answer(20 * WORK_PER_RUNG);
    let search = run(&squeeze);
    assert_eq!(search.halted, Some(Halt::Superseded));
    let deep = outcomes(&search);
    assert!(deep.len() > 5 && deep.iter().all(|(_, it)| *it == Outcome::TooManyTuples(7)), "{deep:?}");
}

/// Without memory no rung can be computed. After two deep rungs have failed, no other is tried.
#[test]
fn no_memory() {
    let problem = fig_1();
    let options = Options { memory: 0, max_depth: Some(4), ..Options::default() };
    let search = run(&squeeze(&problem, Question::Verify, options));
    let too_large = ["Z", "matched-Z", "A_0", "A_1"].map(|name| (name.to_owned(), Outcome::TooLarge));
    assert_eq!(outcomes(&search), too_large);
}

/// The ladder has a quarter of the memory. Memory of completed rungs counts as in use.
#[test]
fn the_memory_in_use() {
    let problem = fig_1();
    let options = Options { max_depth: Some(1), memory: 1 << 24, ..Options::default() };
    let squeeze = squeeze(&problem, Question::Visible, options);
    let search = run(&squeeze);
    let proofs: Vec<usize> = search.invariants.iter().flatten().map(Invariant::bytes).collect();
    assert!(proofs.len() > 2 && proofs.iter().all(|&bytes| bytes > 16), "{proofs:?}");
    assert_eq!(search.bytes(), search.ceiling.bytes() + proofs.iter().sum::<usize>());
    let limits = AbstractionLimits { tuples: 1, memory: (1 << 22) - 1000 };
    assert_eq!(squeeze.in_use(limits, 24), 1024);
}
