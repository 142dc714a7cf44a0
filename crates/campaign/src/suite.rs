//! A collection of models for `cuba bench`, with the answers that are expected of them.
//!
//! What is expected comes from the oracle, from the interpreter, or from how a model is built;
//! never from an engine. Where none of them knows, nothing is expected. A few models take more time
//! or memory than anybody has: then there is no answer, but never a wrong one.

use crate::case::{Case, Kinds, Of};
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

/// How far the oracle goes here.
const BOUNDS: Bounds = Bounds { contexts: 16, height: 12, states: 3000 };

/// Writes so many models; the same seed gives the same ones.
pub fn write(folder: &Path, models: u64, seed: u64) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let kinds = Kinds::default();
    // Programs of which nothing is known are passed over.
    let mut programs = (0..).filter_map(|number| program(&kinds, Case { seed, number, of: Of::Program }));
    for number in 0..models {
        let name = folder.join(format!("m{number:05}"));
        let (text, expected, extension) = match number % 40 {
            // Every 40th is large.
            39 => large(number / 40),
            30..39 => family(number / 40 * 9 + number % 40 - 30),
            20..30 => programs.next().expect("there are always more"),
            _ => system(&kinds, Case { seed, number, of: Of::System }),
        };
        fs::write(name.with_extension(extension), text)?;
        if let Some(expected) = expected {
            fs::write(name.with_extension("toml"), expected)?;
        }
    }
    Ok(())
}

/// A text, what is expected of it, and the end of its name.
type Model = (String, Option<String>, &'static str);

/// A verdict as it stands beside a model.
fn verdict(found_by: &str, verdict: &str, contexts: Option<usize>) -> String {
    let mut text = format!("found_by = \"{found_by}\"\nverdict = \"{verdict}\"\n");
    if let Some(contexts) = contexts {
        let _ = writeln!(text, "contexts = {contexts}");
    }
    text
}

/// What the oracle knows.
fn known(problem: &Problem) -> Option<String> {
    let truth = Truth::within(problem, BOUNDS);
    let is_left = |state| problem.property().violation(state).is_some();
    match truth.bad {
        Some(k) => Some(verdict("the oracle", "unsafe", truth.levels.is_exact(k).then_some(k))),
        None if truth.levels.collapse().is_some() => Some(verdict("the oracle, which has all of R", "safe", None)),
        None if !truth.z.iter().any(is_left) => Some(verdict("Z by its definition", "safe", None)),
        None => None,
    }
}

fn system(kinds: &Kinds, case: Case) -> Model {
    let problem = with_something_bad(kinds.system(case));
    (print_cpds(&problem), known(&problem), "cpds")
}

/// BadStates for the empty stack of the first thread, if nothing is bad.
fn with_something_bad(problem: Problem) -> Problem {
    if !problem.property().bad.is_empty() {
        return problem;
    }
    let mut tops = vec![Wild::Any; problem.system().thread_count()];
    tops[0] = Wild::Is(None);
    asked(&problem, tops)
}

fn asked(problem: &Problem, tops: Vec<Wild<Option<cpds::Symbol>>>) -> Problem {
    let bad = vec![Pattern { shared: Wild::Any, tops }];
    Problem::new(problem.system().clone(), Property { bad }).expect("it fits")
}

/// A program, if something is known of it.
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
    let expected = by_run.or_else(|| known(problem))?;
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

/// A family with a known answer: all stacks of all threads can be emptied, each in a context of its
/// own, and not with fewer.
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
    let problem = asked(problem, vec![Wild::Is(None); threads]);
    (print_cpds(&problem), Some(verdict("by construction", "unsafe", Some(threads))), "cpds")
}

/// Too large for a few seconds, or for a few hundred megabytes; or without an end.
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
