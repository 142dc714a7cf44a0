//! A case: a random system or program, made from a seed and a number.
//!
//! The random numbers of a case depend only on the seed and on the number of the case. So a case
//! can be repeated without the others.

use crate::shapes::{self, Kind};
use crate::system::Oracle;
use crate::tally::Tally;
use crate::truth::Truth;
use crate::{Checked, Disagreement, mutated, program, system};
use boolprog::print;
use boolprog::syntax::Program;
use cpds::{Problem, print_cpds};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use std::any::Any;
use std::fmt::{self, Display, Formatter};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::str::FromStr;

/// The largest number of attempts to shrink a case.
const SHRINKS: usize = 1500;

/// The kind of a case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CaseKind {
    /// A system.
    System,
    /// A Boolean program.
    Program,
}

/// The name of a case: `7:123` is system 123 of seed 7, `7:p123` is program 123.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Case {
    /// The seed of the campaign.
    pub seed: u64,
    /// The number of the case.
    pub number: u64,
    /// System or program.
    pub kind: CaseKind,
}

impl Display for Case {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let p = if self.kind == CaseKind::Program { "p" } else { "" };
        write!(f, "{}:{p}{}", self.seed, self.number)
    }
}

impl FromStr for Case {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "a case is SEED:NUMBER, or SEED:pNUMBER for a program".to_owned();
        let (seed, number) = text.split_once(':').ok_or_else(wrong)?;
        let (kind, number) =
            number.strip_prefix('p').map_or((CaseKind::System, number), |number| (CaseKind::Program, number));
        Ok(Case { seed: seed.parse().map_err(|_| wrong())?, number: number.parse().map_err(|_| wrong())?, kind })
    }
}

/// A case that violates a law, shrunk.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The case.
    pub case: Case,
    /// The violated law.
    pub disagreement: Disagreement,
    /// The smallest model that violates the same law, as text.
    pub text: String,
}

/// The kinds of systems and programs from which cases are generated.
pub struct Kinds {
    systems: Vec<Kind<Problem>>,
    programs: Vec<Kind<Program>>,
}

impl Default for Kinds {
    fn default() -> Self {
        Kinds { systems: shapes::systems(), programs: shapes::programs() }
    }
}

impl Kinds {
    /// Generates a case and checks it. If it violates a law, shrinks it.
    pub fn run(&self, case: Case, tally: &mut Tally) -> Result<(), Box<Finding>> {
        let (mut runner, turn) = random(case);
        let oracle: Oracle<'_> = &Truth::of;
        match case.kind {
            CaseKind::System => {
                let kind = pick(&self.systems, turn);
                tally.count("systems", kind.name);
                run_system(case, &kind.strategy, &mut runner, oracle, turn, tally)
            }
            CaseKind::Program => {
                let kind = pick(&self.programs, turn);
                tally.count("programs, by kind", kind.name);
                let check = |program: &Program, tally: &mut Tally| {
                    program::check(program, &start(program, turn), oracle, turn, tally)
                };
                let Some((small, disagreement)) = fails(&kind.strategy, &mut runner, check, tally) else {
                    return Ok(());
                };
                let options = start(&small, turn);
                let text = with_start(&(small, options));
                Err(Box::new(Finding { case, disagreement, text }))
            }
        }
    }
}

impl Kinds {
    /// Generates the system of a case.
    pub fn system(&self, case: Case) -> Problem {
        let (mut runner, turn) = random(case);
        generated(&pick(&self.systems, turn).strategy, &mut runner)
    }

    /// Generates the program of a case, with the options that start it.
    pub fn program(&self, case: Case) -> (Program, boolprog::Options) {
        let (mut runner, turn) = random(case);
        let program = generated(&pick(&self.programs, turn).strategy, &mut runner);
        let options = start(&program, turn);
        (program, options)
    }

    /// Returns the system or program of a case as text.
    pub fn text(&self, case: Case) -> String {
        match case.kind {
            CaseKind::System => print_cpds(&self.system(case)),
            CaseKind::Program => with_start(&self.program(case)),
        }
    }
}

/// Returns the text of a program, with its options as a comment.
fn with_start((program, options): &(Program, boolprog::Options)) -> String {
    format!("// {:?}\n{}", options, print(program))
}

fn generated<S: Strategy>(strategy: &S, runner: &mut TestRunner) -> S::Value {
    strategy.new_tree(runner).expect("the strategy rejects no value").current()
}

/// Selects one of the ways to start a program.
fn start(program: &Program, turn: u64) -> boolprog::Options {
    let starts = program::starts(program);
    let number = usize::try_from((turn >> 8) % starts.len() as u64).expect("less than their number");
    starts[number].clone()
}

/// Generates a system and checks it against an oracle. If it violates a law, shrinks it.
pub fn run_system(
    case: Case,
    strategy: &impl Strategy<Value = Problem>,
    runner: &mut TestRunner,
    oracle: Oracle<'_>,
    turn: u64,
    tally: &mut Tally,
) -> Result<(), Box<Finding>> {
    let check = |problem: &Problem, tally: &mut Tally| system::check(problem, oracle, turn, tally);
    let Some((mut small, mut disagreement)) = fails(strategy, runner, check, tally) else { return Ok(()) };
    // Parts that the generator cannot remove.
    while let Some((smaller, found)) = mutated::smaller(&small).into_iter().find_map(|smaller| {
        let found = caught(|| check(&smaller, &mut Tally::default())).err()?;
        (found.law == disagreement.law).then_some((smaller, found))
    }) {
        (small, disagreement) = (smaller, found);
    }
    Err(Box::new(Finding { case, disagreement, text: print_cpds(&small) }))
}

/// Returns the random numbers of a case, and its turn: a number that selects among configurations.
pub fn random(case: Case) -> (TestRunner, u64) {
    let mut seed = [0; 32];
    let words = [case.seed, case.number, u64::from(case.kind == CaseKind::Program), 0x0063_616d_7061_6967];
    for (bytes, word) in seed.chunks_exact_mut(8).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    let config = Config { failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seed));
    let turn = proptest::num::u64::ANY.new_tree(&mut runner).expect("any number").current();
    (runner, turn)
}

fn pick<T>(kinds: &[Kind<T>], turn: u64) -> &Kind<T> {
    let all: u32 = kinds.iter().map(|kind| kind.weight).sum();
    let mut left = u32::try_from((turn >> 32) % u64::from(all)).expect("less than the sum");
    let is_it = |kind: &&Kind<T>| {
        let is_it = left < kind.weight;
        left = left.saturating_sub(kind.weight);
        is_it
    };
    kinds.iter().find(is_it).expect("the number is less than the sum of the weights")
}

/// Generates a value and checks it. If it violates a law, returns the smallest value found that
/// violates the same law.
fn fails<S: Strategy>(
    strategy: &S,
    runner: &mut TestRunner,
    check: impl Fn(&S::Value, &mut Tally) -> Checked,
    tally: &mut Tally,
) -> Option<(S::Value, Disagreement)> {
    let mut tree = strategy.new_tree(runner).expect("the strategy rejects no value");
    let first = tree.current();
    let disagreement = caught(|| check(&first, tally)).err()?;
    let mut smallest = (first, disagreement);
    let mut is_simpler = tree.simplify();
    for _ in 0..SHRINKS {
        if !is_simpler {
            break;
        }
        let value = tree.current();
        is_simpler = match caught(|| check(&value, &mut Tally::default())) {
            Err(found) if found.law == smallest.1.law => {
                smallest = (value, found);
                tree.simplify()
            }
            _ => tree.complicate(),
        };
    }
    Some(smallest)
}

/// Runs a check, and turns a panic into a disagreement.
fn caught(check: impl FnOnce() -> Checked) -> Checked {
    let message = |panic: Box<dyn Any + Send>| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_else(|| "a panic".to_owned())
    };
    catch_unwind(AssertUnwindSafe(check))
        .unwrap_or_else(|panic| Err(Disagreement { law: "panic", detail: message(panic) }))
}
