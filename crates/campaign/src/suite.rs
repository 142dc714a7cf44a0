//! Writes a collection of models for `cuba bench`, with their expected answers.
//!
//! The expected answers come from the oracle, from the interpreter, or from the construction of a
//! model; never from an engine. If none of these gives an answer, the model has no expected answer.
//! A few models are too large: for them `cuba` may give no answer, but never a wrong one.

use crate::case::{Case, CaseKind, Kinds};
use crate::program::{self, LIMITS};
use crate::truth::Truth;
use boolprog::{Options, print, read};
use cpds::{Pattern, Problem, Property, Source, Wild, print_cpds};
use cpds_testing::bounded::Bounds;
use cpds_testing::corpus::repository;
use cpds_testing::families::{Pile, Recursion};
use cpds_testing::lowering::compare;
use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

/// The limits of the oracle.
const BOUNDS: Bounds = Bounds { contexts: 16, height: 12, states: 3000 };

/// Writes this number of models. The same seed gives the same models.
pub fn write(folder: &Path, models: u64, seed: u64) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let kinds = Kinds::default();
    // Programs without an expected answer are skipped.
    let mut programs = (0..).filter_map(|number| program(&kinds, Case { seed, number, kind: CaseKind::Program }));
    for number in 0..models {
        let name = folder.join(format!("m{number:05}"));
        let (text, expected, extension) = match number % 40 {
            // Every 40th model is large.
            39 => large(number / 40),
            30..39 => family(number / 40 * 9 + number % 40 - 30),
            20..30 => programs.next().expect("the iterator is infinite"),
            _ => system(&kinds, Case { seed, number, kind: CaseKind::System }),
        };
        fs::write(name.with_extension(extension), text)?;
        if let Some(expected) = expected {
            fs::write(name.with_extension("toml"), expected)?;
        }
    }
    Ok(())
}

/// The text of a model, its expected answers, and its file extension.
type Model = (String, Option<String>, &'static str);

/// Returns a verdict in the format of the TOML file beside a model.
fn verdict(found_by: &str, verdict: &str, contexts: Option<usize>) -> String {
    let mut text = format!("found_by = \"{found_by}\"\nverdict = \"{verdict}\"\n");
    if let Some(contexts) = contexts {
        let _ = writeln!(text, "contexts = {contexts}");
    }
    text
}

/// Returns the expected answers by the oracle, if it decides the problem.
fn expected_by_oracle(problem: &Problem) -> Option<String> {
    let truth = Truth::within(problem, BOUNDS);
    let is_bad = |state| problem.property().violation(state).is_some();
    match truth.bad {
        Some(k) => Some(verdict("the oracle", "unsafe", truth.levels.is_exact(k).then_some(k))),
        None if truth.levels.collapse().is_some() => Some(verdict("the oracle, which has all of R", "safe", None)),
        None if !truth.z.iter().any(is_bad) => Some(verdict("Z by its definition", "safe", None)),
        None => None,
    }
}

fn system(kinds: &Kinds, case: Case) -> Model {
    let problem = with_something_bad(kinds.system(case));
    (print_cpds(&problem), expected_by_oracle(&problem), "cpds")
}

/// Adds a bad pattern, the empty stack of the first thread, if the problem has no bad pattern.
fn with_something_bad(problem: Problem) -> Problem {
    if !problem.property().bad.is_empty() {
        return problem;
    }
    let mut tops = vec![Wild::Any; problem.system().thread_count()];
    tops[0] = Wild::Is(None);
    with_bad_tops(&problem, tops)
}

fn with_bad_tops(problem: &Problem, tops: Vec<Wild<Option<cpds::Symbol>>>) -> Problem {
    let bad = vec![Pattern { shared: Wild::Any, tops }];
    Problem::new(problem.system().clone(), Property { bad }).expect("it fits")
}

/// Generates a program, if it has an expected answer.
fn program(kinds: &Kinds, case: Case) -> Option<Model> {
    let (program, options) = kinds.program(case);
    let text = print(&program);
    let lowered = read(Source::new("random.bp", text.clone()), &options).ok()?;
    let problem = &lowered.reading.problem;
    if problem.property().bad.is_empty() {
        return None;
    }
    let run = compare(&lowered, LIMITS).ok().flatten();
    let by_run = run.and_then(|run| {
        let fails = program::first_error(&run);
        let is_all = run.exact && run.reachable[LIMITS.contexts] == run.reachable[LIMITS.contexts - 1];
        match fails {
            Some(k) => Some(verdict("the interpreter", "unsafe", run.exact.then_some(k))),
            None => is_all.then(|| verdict("the interpreter, which has all states", "safe", None)),
        }
    });
    let expected = by_run.or_else(|| expected_by_oracle(problem))?;
    Some((text, Some(format!("{}{expected}", started(&options))), "bp"))
}

fn started(options: &Options) -> String {
    let instances: Vec<String> = options.instances.iter().map(|(name, count)| format!("{name}={count}")).collect();
    let mut text = String::new();
    if !instances.is_empty() {
        let _ = writeln!(text, "instances = \"{}\"", instances.join(","));
    }
    if let Some(threads) = options.threads {
        let _ = writeln!(text, "threads = {threads}");
    }
    text
}

/// Makes a member of a family with a known answer. The state in which all stacks are empty is bad.
/// Each thread needs one context to empty its stack.
fn family(number: u64) -> Model {
    let size = u32::try_from(number % 7).expect("small");
    let problem = match number % 3 {
        0 => Recursion { threads: 1 + size % 3, depth: 1 + size % 4, shared: 1 + number % 4 }.problem(),
        1 => Pile { threads: 1 + size, symbols: 1 + size % 3 }.problem(),
        _ => Pile { threads: 2 + size, symbols: 4 }.problem(),
    };
    emptied(&problem)
}

fn emptied(problem: &Problem) -> Model {
    let threads = problem.system().thread_count();
    let problem = with_bad_tops(problem, vec![Wild::Is(None); threads]);
    (print_cpds(&problem), Some(verdict("by construction", "unsafe", Some(threads))), "cpds")
}

/// Makes a model that needs more than a few seconds or more than a few hundred megabytes, or for
/// which no analysis ends.
fn large(number: u64) -> Model {
    let model = |name: &str| fs::read_to_string(repository().join("models").join(name)).expect("a model");
    let size = u32::try_from(number % 4).expect("small");
    match number % 4 {
        0 => (model("squeeze/mirror.cpds"), Some(model("squeeze/mirror.toml")), "cpds"),
        1 => (model("squeeze/lockstep.cpds"), Some(model("squeeze/lockstep.toml")), "cpds"),
        2 => emptied(&Recursion { threads: 8 + size, depth: 4, shared: 3 + number % 5 }.problem()),
        _ => emptied(&Recursion { threads: 5 + size, depth: 6, shared: 1 + number % 9 }.problem()),
    }
}
