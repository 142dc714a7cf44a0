//! The kinds of random systems and programs.

use crate::mutated;
use boolprog::syntax::{Dialect, Program};
use cpds::Problem;
use cpds_testing::programs;
use cpds_testing::random::{Shape, problem};
use proptest::collection::vec;
use proptest::prelude::*;
use std::fmt::Write as _;

/// A kind of systems or programs.
pub struct Kind<T> {
    /// The name, for the tally.
    pub name: &'static str,
    /// The weight, compared with other kinds.
    pub weight: u32,
    /// The strategy that generates the systems or programs.
    pub strategy: BoxedStrategy<T>,
}

/// Returns the kinds of systems.
pub fn systems() -> Vec<Kind<Problem>> {
    let kind = |name, weight, shape: Shape| {
        let strategy = problem(&shape).prop_map(|problem| mutated::good_at_first(&problem)).boxed();
        Kind { name, weight, strategy }
    };
    let alone = Shape { copies: 1..=1, bad: 1..=3, ..Shape::default() };
    let tiny = Shape { shared: 1..=3, symbols: 1..=2, actions: 3..=8, height: 0..=2, initial: 1..=1, ..alone.clone() };
    let alike = Shape { copies_start_alike: true, bad: 1..=2, initial: 1..=1, ..Shape::default() };
    vec![
        kind("tiny and dense", 24, Shape { programs: 1..=2, ..tiny.clone() }),
        kind("tiny and dense, three threads", 6, Shape { programs: 3..=3, actions: 2..=6, ..tiny.clone() }),
        kind("all kinds of actions", 8, Shape::default()),
        kind(
            "many actions",
            6,
            Shape { programs: 2..=2, actions: 6..=14, symbols: 2..=5, bad: 1..=1, ..alone.clone() },
        ),
        kind("no pushes", 6, Shape { written: 0..=1, height: 2..=6, actions: 3..=10, symbols: 1..=4, ..alone.clone() }),
        kind("no pops", 5, Shape { written: 1..=2, symbols: 1..=3, actions: 2..=6, ..alone.clone() }),
        kind("recursive", 6, Shape { shared: 1..=2, symbols: 2..=3, actions: 5..=10, programs: 1..=2, ..tiny.clone() }),
        kind("tall initial stacks", 4, Shape { height: 4..=6, initial: 1..=2, ..tiny.clone() }),
        kind(
            "interchangeable threads",
            8,
            Shape { programs: 1..=1, copies: 2..=4, shared: 1..=3, symbols: 1..=3, actions: 2..=6, ..alike.clone() },
        ),
        kind(
            "two programs, two copies",
            5,
            Shape { programs: 2..=2, copies: 2..=2, shared: 1..=3, symbols: 1..=2, actions: 1..=5, ..alike.clone() },
        ),
        kind(
            "five threads",
            2,
            Shape { programs: 1..=1, copies: 5..=5, shared: 1..=2, symbols: 1..=2, actions: 1..=3, ..alike },
        ),
        kind("several initial states", 4, Shape { initial: 3..=6, programs: 1..=2, ..tiny.clone() }),
        kind("many bad patterns", 3, Shape { bad: 3..=6, copies: 1..=2, programs: 1..=2, ..tiny }),
        Kind { name: "initial states may be bad", weight: 2, strategy: problem(&Shape::default()).boxed() },
        Kind { name: "in turns", weight: 8, strategy: turns().boxed() },
        Kind { name: "changed models", weight: 12, strategy: mutated::models().boxed() },
    ]
}

/// Generates threads that take turns, so that every step is a context. R_k grows for many k, and
/// T(R_k) has plateaus.
fn turns() -> impl Strategy<Value = Problem> {
    let action = (0_u32..9, 0_u32..3, vec(0_u32..3, 0..=2), 0_u32..8);
    (2_u32..=3, 3_u32..=8, vec(action, 4..=14), vec(vec(0_u32..3, 1..=4), 3), vec(0_u32..8, 1..=2)).prop_map(
        |(threads, shared, actions, stacks, bad)| {
            let word = |word: &[u32]| match word {
                [] => "-".to_owned(),
                word => word.iter().map(|s| format!("s{s}")).collect::<Vec<_>>().join(" "),
            };
            let stacks: Vec<String> = stacks.iter().take(threads as usize).map(|stack| word(stack)).collect();
            let mut text = format!("shared 0..{}\ninit 0|{}\n", shared - 1, stacks.join(","));
            for q in bad {
                let tops: Vec<String> = (0..threads)
                    .map(|i| if i == q % threads { format!("s{}", q % 3) } else { "*".to_owned() })
                    .collect();
                let _ = writeln!(text, "bad {}|{}", q % shared, tops.join(","));
            }
            for thread in 0..threads {
                let _ = writeln!(text, "thread T{thread} {{\n  symbols s0 s1 s2");
                let mut known = Vec::new();
                for (q, top, written, jump) in &actions {
                    let from = q % shared;
                    // Most actions lead to the next shared state, in which another thread acts.
                    let to = if *jump == 0 { q / 2 % shared } else { (from + 1) % shared };
                    let action = format!("  ({from},s{top}) -> ({to},{})", word(written));
                    if from % threads == thread && !known.contains(&action) {
                        let _ = writeln!(text, "{action}");
                        known.push(action);
                    }
                }
                text += "}\n";
            }
            text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"))
        },
    )
}

/// Returns the kinds of programs.
pub fn programs() -> Vec<Kind<Program>> {
    let kind = |name, weight, shape: programs::ProgramShape| Kind {
        name,
        weight,
        strategy: programs::program(&shape).boxed(),
    };
    let all = programs::ProgramShape::default();
    let calls = programs::ProgramShape { creation: false, locks: false, atomic: false, statements: 7, ..all.clone() };
    vec![
        kind("all constructs", 5, all.clone()),
        kind("the paper's dialect", 2, programs::ProgramShape { dialect: Some(Dialect::Paper), ..all.clone() }),
        kind("SLAM's dialect", 2, programs::ProgramShape { dialect: Some(Dialect::Slam), ..all.clone() }),
        kind("few statements", 6, programs::ProgramShape { statements: 5, functions: 1..=1, ..all.clone() }),
        kind("calls", 4, calls.clone()),
        kind("calls with results", 2, programs::ProgramShape { results: 1..=2, parameters: 1..=1, ..calls }),
        kind(
            "locks and sections",
            3,
            programs::ProgramShape { calls: false, gotos: false, shared: 1..=1, ..all.clone() },
        ),
        kind("no locks", 2, programs::ProgramShape { locks: false, atomic: false, ..all }),
    ]
}
