//! Conclusions from both searches, in orders and with rungs that no run produces.

use super::*;
use crate::limits::Cancel;
use crate::overapproximation::ladder::Ladder;
use crate::squeeze::question::Options;
use crate::squeeze::race::Race;
use crate::squeeze::rung_outcome::Bound;
use crate::squeeze::search::search;
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
use std::sync::mpsc::channel;

const FIG_1: &str = include_str!("../../../../../models/paper/fig1.cpds");

fn to_u32() -> Options {
    Options { tuning: Tuning::SMALL, ..Options::default() }
}

/// A rung that has ruled out so many states, and left so many.
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
    Timestamped { time, what: RungResult { rung, outcome: Outcome::Bound(bound) } }
}

/// A rung without any state is noticed, whichever search is first.
#[test]
fn a_rung_that_is_wrong_is_found_out() {
    let problem: Problem = FIG_1.parse().unwrap();
    for question in [Question::Verify, Question::Visible] {
        let options = Options { max_contexts: Some(6), max_depth: Some(1), ..to_u32() };
        let race = Race::new(2, &Cancel::default());
        let squeeze = Squeeze::new(&problem, question, options, Engine::Explicit, race, None);
        let (events, _) = channel();
        let lower = squeeze.run_lower_search(None, &events);
        let mut upper = squeeze.run_upper_search(None, None, &events);
        let nothing = PackedSet::new(VisibleLevels::layout(problem.system()));
        for _ in 0..2 {
            upper.ceiling.lower(upper.rungs.len(), Arc::new(PackedSet::new(nothing.layout().clone())));
            upper.rungs.push(bound(0, Rung::CutOff(7), 0, 0));
        }
        let found = conclude(&squeeze, None, upper, lower);
        let Conclusion::Contradiction(Contradiction::RuledOut { rung, trace, .. }) = found.conclusion else {
            panic!("{:?}", found.conclusion)
        };
        assert_eq!((rung, trace.is_some()), (Rung::CutOff(7), question == Question::Verify));
    }
}

/// What was left above when a level was finished is told with the rung that last ruled something
/// out; a rung of the same time was there.
#[test]
fn a_level_knows_what_was_left_at_its_time() {
    let problem: Problem = FIG_1.parse().unwrap();
    let race = Race::new(2, &Cancel::default());
    let options = Options { max_contexts: Some(0), ..to_u32() };
    let squeeze = Squeeze::new(&problem, Question::Visible, options, Engine::Explicit, race, None);
    let mut level = squeeze.run_lower_search(None, &channel().0).levels.remove(0);
    let too_large = RungResult { rung: Rung::Abstract(0), outcome: Outcome::TooLarge };
    let rungs = [
        Timestamped { time: 1, what: too_large },
        bound(2, Rung::Z, 0, 10),
        bound(5, Rung::MatchedZ, 0, 10),
        bound(9, Rung::CutOff(2), 4, 6),
        bound(9, Rung::CutOff(3), 0, 6),
    ];
    let ceiling = Ceiling::new(Symmetry::new(problem.system(), true));
    let found = Findings { squeeze: &squeeze, rungs: &rungs, ceiling: &ceiling, safe: None, first: None, met: None };
    let told = [1, 2, 5, 8, 9].map(|time| {
        level.time = time;
        found.level(&level).upper.map(|(left, rung)| (left.to_string(), rung))
    });
    let [ten, six] = [("10", Rung::Z), ("6", Rung::CutOff(2))].map(|(left, rung)| Some((left.to_owned(), rung)));
    assert_eq!(told, [None, ten.clone(), ten.clone(), ten, six]);
}

/// A proof names the rung that does it alone; or else those that ruled something out, and the first
/// one, unless that is Z.
#[test]
fn a_proof_names_the_rungs_that_it_takes() {
    let problem: Problem = "shared 0; init 0|a; bad 0|b; bad 0|d; thread P { symbols a b c d e }".parse().unwrap();
    let (system, race) = (problem.system(), Race::new(2, &Cancel::default()));
    let squeeze = Squeeze::new(&problem, Question::Verify, to_u32(), Engine::Explicit, race, None);
    let symmetry = Symmetry::new(system, true);
    let mut ceiling = Ceiling::new(symmetry.clone());
    // The second rung came to nothing, and what comes after the fourth one came too late.
    for (number, tops) in [(0, "abcd"), (2, "abce"), (3, "acde"), (4, "a")] {
        let mut visible = VisibleLevels::new(system, &symmetry);
        for top in tops.chars() {
            visible.insert(0, &mut [system.symbol_names().get(&top.to_string()).unwrap() + 1]);
        }
        ceiling.lower(number, Arc::new(visible.into_set()));
    }
    let proofs = |first: Rung, is_safe: bool| {
        let too_large =
            Timestamped { time: 0, what: RungResult { rung: Rung::Abstract(0), outcome: Outcome::TooLarge } };
        let mut rungs =
            [bound(0, first, 0, 4), too_large, bound(0, Rung::CutOff(2), 1, 4), bound(0, Rung::CutOff(3), 1, 4)];
        for rung in &mut rungs {
            if let Outcome::Bound(bound) = &mut rung.what.outcome {
                bound.is_safe = is_safe;
            }
        }
        let found =
            Findings { squeeze: &squeeze, rungs: &rungs, ceiling: &ceiling, safe: None, first: None, met: None };
        [found.bounded_without_bad(3), found.bounded_by(2), found.bounded_by(4)]
    };
    let [both, alone] = [vec![Rung::CutOff(2), Rung::CutOff(3)], vec![Rung::CutOff(3)]].map(Proof::Bounded);
    let all = Proof::Bounded(vec![Rung::MatchedZ, Rung::CutOff(2), Rung::CutOff(3)]);
    let [z, matched] = [Rung::Z, Rung::MatchedZ].map(|rung| Proof::Bounded(vec![rung]));
    assert_eq!(proofs(Rung::Z, false), [both.clone(), both.clone(), z.clone()]);
    assert_eq!(proofs(Rung::MatchedZ, false), [all.clone(), all, matched]);
    assert_eq!(proofs(Rung::Z, true), [alone, both, z]);
}

/// Where states one by one are too many and tuples come after, what is told is that of whoever got
/// further: of the states in Fig. 1, of the tuples where two threads have 2^8 stacks each.
#[test]
fn whoever_got_further_is_told() {
    let push = |i: usize| format!("(0,a{i}) -> (0,a{} b)\n(0,a{i}) -> (0,a{} c)", i + 1, i + 1);
    let (symbols, steps): (Vec<_>, Vec<_>) = (0..8).map(|i| (format!("a{i}"), push(i))).unzip();
    let (symbols, steps) = (symbols.join(" "), steps.join("\n"));
    let pushing = format!("shared 0; init 0|a0,a0\nthread A * 2 {{ symbols {symbols} a8 b c\n{steps}\n}}");
    for (text, engine, step) in [(FIG_1, Engine::Explicit, 2000), (&pushing, Engine::Symbolic, 16_000)] {
        let problem: Problem = text.parse().unwrap();
        let mut told = 0;
        for memory in (1..20).map(|i| step * i) {
            let options = Options { memory, ladder: Ladder::None, max_contexts: Some(200), ..to_u32() };
            let found = search(&problem, Question::Reachable, &options, |_| ());
            let is_symbolic = found.level_store.engine() == Engine::Symbolic;
            assert!(found.level_store.k() >= found.k(), "{memory}");
            assert!(found.levels.iter().all(|level| level.tuples.is_some() == is_symbolic), "{memory}");
            told += usize::from(found.level_store.engine() == engine);
        }
        assert!(told > 3, "{engine:?}: {told}");
    }
}

/// Both ends one after the other, in one order or the other: each has done all it can before the
/// other one begins, as the slowest and the quickest of threads would.
fn one_after_the_other(problem: &Problem, question: Question, options: &Options, upper_first: bool) -> String {
    let fcr = Fcr::new(problem.system());
    let engine = if fcr.holds() == Some(true) { Engine::Explicit } else { Engine::Symbolic };
    let race = Race::new(2, &Cancel::default());
    let squeeze = Squeeze::new(problem, question, *options, engine, race, None);
    let (events, _) = channel();
    let above = || squeeze.race.run(Side::Upper, || squeeze.run_upper_search(None, None, &events));
    let below = || squeeze.race.run(Side::Lower, || squeeze.run_lower_search(None, &events));
    let (upper, lower) = if upper_first {
        let upper = above();
        (upper, below())
    } else {
        let lower = below();
        (above(), lower)
    };
    let found = conclude(&squeeze, Some(fcr), upper, lower);
    let engine = found.level_store.engine();
    let Analysis { levels, statistics, rungs, visible_sequence, between, conclusion, .. } = found;
    format!("{conclusion:?}\n{engine:?} {levels:?}\n{statistics:?}\n{rungs:?}\n{visible_sequence:?}\n{between:?}")
}

fn either_order_is_the_same(problem: &Problem, options: &Options) {
    for question in [Question::Verify, Question::Visible, Question::Reachable] {
        let told = one_after_the_other(problem, question, options, true);
        assert_eq!(told, one_after_the_other(problem, question, options, false), "{question:?}");
    }
}

proptest! {
    #[test]
    fn it_does_not_matter_who_is_quicker(
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
            ..to_u32()
        };
        either_order_is_the_same(&problem, &options);
    }
}

/// Z decides before any level but the first is finished; that one takes no time, however many
/// states it has.
#[test]
fn many_initial_states() {
    let text = "shared 0..4\ninit 0|a\ninit 1|a\ninit 2|a\ninit 3|a\nbad 4|a\nthread A { symbols a; (0,a) -> (0,a a) }";
    let problem: Problem = text.parse().unwrap();
    either_order_is_the_same(&problem, &Options { max_contexts: Some(3), ..to_u32() });
    let found = search(&problem, Question::Verify, &Options::default(), |_| ());
    assert_eq!(found.conclusion, Conclusion::Safe(Proof::Bounded(vec![Rung::Z])));
}
