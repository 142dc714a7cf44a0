//! Tests of conclusions, with results of both searches that no run produces.

use super::*;
use crate::cancel::Cancel;
use crate::overapproximation::ladder::Ladder;
use crate::squeeze::event::dropped_events;
use crate::squeeze::question::Options;
use crate::squeeze::race::Race;
use crate::squeeze::rung_outcome::Bound;
use crate::squeeze::search::search_unchecked;
use crate::statistics::Engine;
use crate::tables::packed_rows::PackedSet;
use crate::tuning::Tuning;
use crate::visible::count::Count;
use crate::visible::levels::VisibleLevels;
use crate::visible::symmetry::Symmetry;
use cpds::Problem;
use cpds_testing::random::{Shape, problem};
use proptest::prelude::*;
use std::sync::Arc;

const FIG_1: &str = include_str!("../../../../../models/paper/fig1.cpds");

fn small_options() -> Options {
    Options { tuning: Tuning::SMALL, ..Options::default() }
}

/// Returns a rung that has ruled out `ruled_out` states, so that `left` states remain.
fn bound(time: u64, rung: Rung, ruled_out: usize, left: usize) -> Timestamped<RungResult> {
    let bound = Bound {
        visible: Count::ZERO,
        ruled_out: Count::from(ruled_out),
        left: Count::from(left),
        generators: None,
        is_exact: false,
        sorted: left,
        sorted_left: left,
        is_safe: true,
    };
    Timestamped { time, value: RungResult { rung, outcome: Outcome::Bound(bound) } }
}

/// A wrong rung without states is detected as a contradiction.
#[test]
fn a_wrong_rung_is_a_contradiction() {
    let problem: Problem = FIG_1.parse().unwrap();
    for question in [Question::Verify, Question::Visible] {
        let options = Options { max_contexts: Some(6), max_depth: Some(1), ..small_options() };
        let race = Race::new(2, &Cancel::default());
        let squeeze = Squeeze::new(&problem, question, options, Engine::Explicit, race, None);
        let events = dropped_events();
        let lower = squeeze.run_lower_search(None, &events);
        let mut upper = squeeze.run_upper_search(None, None, &events);
        let empty = PackedSet::new(VisibleLevels::layout(problem.system()));
        for _ in 0..2 {
            upper.ceiling.lower(upper.rungs.len(), Arc::new(PackedSet::new(empty.layout().clone())));
            upper.rungs.push(bound(0, Rung::CutOff(7), 0, 0));
        }
        let analysis = conclude(&squeeze, None, upper, lower);
        let Conclusion::Contradiction(Contradiction::RuledOut { rung, trace, .. }) = analysis.conclusion else {
            panic!("{:?}", analysis.conclusion)
        };
        assert_eq!((rung, trace.is_some()), (Rung::CutOff(7), question == Question::Verify));
    }
}

/// A level has the number of states that remained at its time, and the last rung that had ruled out
/// a state. A rung of the same time counts.
#[test]
fn a_level_has_the_upper_bound_of_its_time() {
    let problem: Problem = FIG_1.parse().unwrap();
    let race = Race::new(2, &Cancel::default());
    let options = Options { max_contexts: Some(0), ..small_options() };
    let squeeze = Squeeze::new(&problem, Question::Visible, options, Engine::Explicit, race, None);
    let mut level = squeeze.run_lower_search(None, &dropped_events()).levels.remove(0);
    let too_large = RungResult { rung: Rung::Abstract(0), outcome: Outcome::TooLarge };
    let rungs = [
        Timestamped { time: 1, value: too_large },
        bound(2, Rung::Z, 0, 10),
        bound(5, Rung::MatchedZ, 0, 10),
        bound(9, Rung::CutOff(2), 4, 6),
        bound(9, Rung::CutOff(3), 0, 6),
    ];
    let ceiling = Ceiling::new(Symmetry::new(problem.system(), true));
    let findings = Findings {
        squeeze: &squeeze,
        rungs: &rungs,
        ceiling: &ceiling,
        safe_after: None,
        first_answer: None,
        meeting_time: None,
    };
    let upper_bounds = [1, 2, 5, 8, 9].map(|time| {
        level.time = time;
        findings.level(&level).upper.map(|(left, rung)| (left.to_string(), rung))
    });
    let [ten, six] = [("10", Rung::Z), ("6", Rung::CutOff(2))].map(|(left, rung)| Some((left.to_owned(), rung)));
    assert_eq!(upper_bounds, [None, ten.clone(), ten.clone(), ten, six]);
}

/// A proof names one rung if that rung alone is enough. Otherwise it names the rungs that ruled out
/// a state, and the first rung unless that is Z.
#[test]
fn a_proof_names_the_rungs_that_it_needs() {
    let problem: Problem = "shared 0; init 0|a; bad 0|b; bad 0|d; thread P { symbols a b c d e }".parse().unwrap();
    let (system, race) = (problem.system(), Race::new(2, &Cancel::default()));
    let squeeze = Squeeze::new(&problem, Question::Verify, small_options(), Engine::Explicit, race, None);
    let symmetry = Symmetry::new(system, true);
    let mut ceiling = Ceiling::new(symmetry.clone());
    // The second rung was given up. The rung with number 4 is not among the results.
    for (number, tops) in [(0, "abcd"), (2, "abce"), (3, "acde"), (4, "a")] {
        let mut visible = VisibleLevels::new(system, &symmetry);
        for top in tops.chars() {
            visible.insert(0, &mut [system.symbol_names().get(&top.to_string()).unwrap() + 1]);
        }
        ceiling.lower(number, Arc::new(visible.into_set()));
    }
    let proofs = |first: Rung, is_safe: bool| {
        let too_large =
            Timestamped { time: 0, value: RungResult { rung: Rung::Abstract(0), outcome: Outcome::TooLarge } };
        let mut rungs =
            [bound(0, first, 0, 4), too_large, bound(0, Rung::CutOff(2), 1, 4), bound(0, Rung::CutOff(3), 1, 4)];
        for rung in &mut rungs {
            if let Outcome::Bound(bound) = &mut rung.value.outcome {
                bound.is_safe = is_safe;
            }
        }
        let findings = Findings {
            squeeze: &squeeze,
            rungs: &rungs,
            ceiling: &ceiling,
            safe_after: None,
            first_answer: None,
            meeting_time: None,
        };
        [findings.proof_without_bad(3), findings.proof_with_size(2), findings.proof_with_size(4)]
    };
    let [both, alone] = [vec![Rung::CutOff(2), Rung::CutOff(3)], vec![Rung::CutOff(3)]].map(Proof::Bounded);
    let all = Proof::Bounded(vec![Rung::MatchedZ, Rung::CutOff(2), Rung::CutOff(3)]);
    let [z, matched] = [Rung::Z, Rung::MatchedZ].map(|rung| Proof::Bounded(vec![rung]));
    assert_eq!(proofs(Rung::Z, false), [both.clone(), both.clone(), z.clone()]);
    assert_eq!(proofs(Rung::MatchedZ, false), [all.clone(), all, matched]);
    assert_eq!(proofs(Rung::Z, true), [alone, both, z]);
}

/// If tuples follow states, the results are those with more levels: the states for Fig. 1, and the
/// tuples for two threads with 2^8 stacks each.
#[test]
fn the_engine_with_more_levels_is_reported() {
    let push = |i: usize| format!("(0,a{i}) -> (0,a{} b)\n(0,a{i}) -> (0,a{} c)", i + 1, i + 1);
    let (symbols, steps): (Vec<_>, Vec<_>) = (0..8).map(|i| (format!("a{i}"), push(i))).unzip();
    let (symbols, steps) = (symbols.join(" "), steps.join("\n"));
    let pushing = format!("shared 0; init 0|a0,a0\nthread A * 2 {{ symbols {symbols} a8 b c\n{steps}\n}}");
    for (text, engine, step) in [(FIG_1, Engine::Explicit, 2000), (&pushing, Engine::Symbolic, 16_000)] {
        let problem: Problem = text.parse().unwrap();
        let mut count = 0;
        for memory in (1..20).map(|i| step * i) {
            let options = Options { memory, ladder: Ladder::None, max_contexts: Some(200), ..small_options() };
            let analysis = search_unchecked(&problem, Question::Reachable, &options, |_| ());
            let is_symbolic = analysis.level_store.engine() == Engine::Symbolic;
            assert!(analysis.level_store.k() >= analysis.k(), "{memory}");
            assert!(analysis.levels.iter().all(|level| level.tuples.is_some() == is_symbolic), "{memory}");
            count += usize::from(analysis.level_store.engine() == engine);
        }
        assert!(count > 3, "{engine:?}: {count}");
    }
}

/// Runs both searches one after the other, each to its end, and returns the report. No schedule of
/// two threads is more extreme.
fn report_in_sequence(problem: &Problem, question: Question, options: &Options, upper_first: bool) -> String {
    let fcr = Fcr::new(problem.system());
    let engine = if fcr.holds() == Some(true) { Engine::Explicit } else { Engine::Symbolic };
    let race = Race::new(2, &Cancel::default());
    let squeeze = Squeeze::new(problem, question, *options, engine, race, None);
    let events = dropped_events();
    let run_upper = || squeeze.race.run(Side::Upper, || squeeze.run_upper_search(None, None, &events));
    let run_lower = || squeeze.race.run(Side::Lower, || squeeze.run_lower_search(None, &events));
    let (upper, lower) = if upper_first {
        let upper = run_upper();
        (upper, run_lower())
    } else {
        let lower = run_lower();
        (run_upper(), lower)
    };
    let analysis = conclude(&squeeze, Some(fcr), upper, lower);
    let engine = analysis.level_store.engine();
    let Analysis { levels, statistics, rungs, visible_sequence, between, conclusion, .. } = analysis;
    format!("{conclusion:?}\n{engine:?} {levels:?}\n{statistics:?}\n{rungs:?}\n{visible_sequence:?}\n{between:?}")
}

fn assert_both_orders_report_the_same(problem: &Problem, options: &Options) {
    for question in [Question::Verify, Question::Visible, Question::Reachable] {
        let report = report_in_sequence(problem, question, options, true);
        assert_eq!(report, report_in_sequence(problem, question, options, false), "{question:?}");
    }
}

proptest! {
    #[test]
    fn the_schedule_of_the_searches_does_not_change_the_report(
        problem in problem(&Shape { initial: 1..=5, bad: 1..=2, ..Shape::default() }),
        contexts in 0_usize..6,
        memory in prop_oneof![Just(1_usize << 26), 1_usize << 10..1 << 17],
        depth in prop_oneof![Just(None), Just(Some(1))],
    ) {
        let options = Options {
            max_contexts: Some(contexts),
            max_depth: depth,
            max_tuples: Some(100),
            memory,
            ..small_options()
        };
        assert_both_orders_report_the_same(&problem, &options);
    }
}

/// Level 0 takes no time, for any number of initial states. Z decides before level 1 is complete.
#[test]
fn many_initial_states_take_no_time() {
    let text = "shared 0..4\ninit 0|a\ninit 1|a\ninit 2|a\ninit 3|a\nbad 4|a\nthread A { symbols a; (0,a) -> (0,a a) }";
    let problem: Problem = text.parse().unwrap();
    assert_both_orders_report_the_same(&problem, &Options { max_contexts: Some(3), ..small_options() });
    let analysis = search_unchecked(&problem, Question::Verify, &Options::default(), |_| ());
    assert_eq!(analysis.conclusion, Conclusion::Safe(Proof::Bounded(vec![Rung::Z])));
}
