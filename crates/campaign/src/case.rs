//! A case: a system or a program that a seed and a number stand for.
//!
//! Each has its own random numbers, drawn from the seed and its number alone. So one can be
//! repeated without the others.

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

/// How often something smaller is tried.
const SHRINKS: usize = 1500;

/// What a case is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Of {
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
    /// Which of them.
    pub number: u64,
    /// System or program.
    pub of: Of,
}

impl Display for Case {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let p = if self.of == Of::Program { "p" } else { "" };
        write!(f, "{}:{p}{}", self.seed, self.number)
    }
}

impl FromStr for Case {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "a case is SEED:NUMBER, or SEED:pNUMBER for a program".to_owned();
        let (seed, number) = text.split_once(':').ok_or_else(wrong)?;
        let (of, number) = number.strip_prefix('p').map_or((Of::System, number), |number| (Of::Program, number));
        Ok(Case { seed: seed.parse().map_err(|_| wrong())?, number: number.parse().map_err(|_| wrong())?, of })
    }
}

/// Something that failed, made small.
#[derive(Clone, Debug)]
pub struct Finding {
    /// Which case.
    pub case: Case,
    /// What does not hold.
    pub disagreement: Disagreement,
    /// The smallest model that was found to have it.
    pub text: String,
}

/// Everything that cases are drawn from.
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
    /// Draws a case and checks it; if it fails, makes it small.
    pub fn run(&self, case: Case, tally: &mut Tally) -> Result<(), Box<Finding>> {
        let (mut runner, turn) = random(case);
        let oracle: Oracle<'_> = &Truth::of;
        match case.of {
            Of::System => {
                let kind = pick(&self.systems, turn);
                tally.count("systems", kind.name);
                run_system(case, &kind.strategy, &mut runner, oracle, turn, tally)
            }
            Of::Program => {
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
    /// The system that a case stands for.
    pub fn system(&self, case: Case) -> Problem {
        let (mut runner, turn) = random(case);
        drawn(&pick(&self.systems, turn).strategy, &mut runner)
    }

    /// The program that a case stands for, and how it is started.
    pub fn program(&self, case: Case) -> (Program, boolprog::Options) {
        let (mut runner, turn) = random(case);
        let program = drawn(&pick(&self.programs, turn).strategy, &mut runner);
        let options = start(&program, turn);
        (program, options)
    }

    /// What a case stands for, as text.
    pub fn text(&self, case: Case) -> String {
        match case.of {
            Of::System => print_cpds(&self.system(case)),
            Of::Program => with_start(&self.program(case)),
        }
    }
}

/// A program, with a remark on how it is started.
fn with_start((program, options): &(Program, boolprog::Options)) -> String {
    format!("// {:?}\n{}", options, print(program))
}

fn drawn<S: Strategy>(strategy: &S, runner: &mut TestRunner) -> S::Value {
    strategy.new_tree(runner).expect("nothing is refused").current()
}

/// One of the ways to start a program.
fn start(program: &Program, turn: u64) -> boolprog::Options {
    let starts = program::starts(program);
    let number = usize::try_from((turn >> 8) % starts.len() as u64).expect("below their number");
    starts[number].clone()
}

/// Draws a system and checks it against a truth; if it fails, makes it small.
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
    // What the generator cannot take away.
    while let Some((smaller, found)) = mutated::smaller(&small).into_iter().find_map(|smaller| {
        let found = caught(|| check(&smaller, &mut Tally::default())).err()?;
        (found.law == disagreement.law).then_some((smaller, found))
    }) {
        (small, disagreement) = (smaller, found);
    }
    Err(Box::new(Finding { case, disagreement, text: print_cpds(&small) }))
}

/// The random numbers of a case, and a number for what is chosen in turns.
pub fn random(case: Case) -> (TestRunner, u64) {
    let mut seed = [0; 32];
    let words = [case.seed, case.number, u64::from(case.of == Of::Program), 0x0063_616d_7061_6967];
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
    let mut left = u32::try_from((turn >> 32) % u64::from(all)).expect("below the sum");
    let is_it = |kind: &&Kind<T>| {
        let is_it = left < kind.weight;
        left = left.saturating_sub(kind.weight);
        is_it
    };
    kinds.iter().find(is_it).expect("below the sum")
}

/// Draws something and checks it. If that fails, the smallest value that fails in the same way.
fn fails<S: Strategy>(
    strategy: &S,
    runner: &mut TestRunner,
    check: impl Fn(&S::Value, &mut Tally) -> Checked,
    tally: &mut Tally,
) -> Option<(S::Value, Disagreement)> {
    let mut tree = strategy.new_tree(runner).expect("nothing is refused");
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

/// A panic is a disagreement, too.
fn caught(check: impl FnOnce() -> Checked) -> Checked {
    let said = |panic: Box<dyn Any + Send>| {
        let text = panic.downcast_ref::<String>().cloned();
        text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string)).unwrap_or_else(|| "a panic".to_owned())
    };
    catch_unwind(AssertUnwindSafe(check))
        .unwrap_or_else(|panic| Err(Disagreement { law: "panic", detail: said(panic) }))
}
