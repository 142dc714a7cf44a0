//! Changed systems: models of the collection with an action removed, added or changed, and any
//! system with one part removed.

use cpds::{Action, Cpds, GlobalState, Problem, Program, Property, Rule, SharedState, Symbol};
use cpds_testing::corpus::{files, repository};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use std::fs;

/// Reads the systems of the collection that are small enough for the oracle.
fn small_models() -> Vec<Problem> {
    let texts =
        files(&repository().join("models"), "cpds").into_iter().map(|path| fs::read_to_string(path).expect("a model"));
    let problems = texts.map(|text| text.parse::<Problem>().expect("a model"));
    problems.filter(|problem| problem.system().thread_count() <= 4).collect()
}

/// A change: the program, the action, the kind of change, and the new numbers.
type Edit = (Index, Index, u8, [Index; 5]);

/// Generates a model of the collection with a few changes.
pub fn models() -> impl Strategy<Value = Problem> {
    let edit = (any::<Index>(), any::<Index>(), 0_u8..6, any::<[Index; 5]>());
    (select(small_models()), vec(edit, 1..=3)).prop_map(|(problem, edits)| {
        edits.iter().fold(problem, |problem, edit| changed(&problem, edit).unwrap_or(problem))
    })
}

fn changed(problem: &Problem, (program, at, how, numbers): &Edit) -> Option<Problem> {
    let system = problem.system();
    let program = program.index(system.programs().len());
    let mut programs: Vec<Vec<Rule>> = system.programs().iter().map(|program| program.rules().to_vec()).collect();
    let rules = &mut programs[program];
    let symbols: Vec<Symbol> = system.programs()[program].alphabet().iter().collect();
    let shared = |index: Index| SharedState(u32::try_from(index.index(system.shared_names().len())).expect("few"));
    let symbol = |index: Index| symbols.get(index.index(symbols.len().max(1))).copied();
    let old = (!rules.is_empty()).then(|| rules[at.index(rules.len())].action);
    let [a, b, c, d, e] = *numbers;
    let (from, top) = old.map_or((shared(a), symbol(b)), |action| action.source());
    let (to, written): (_, Vec<Symbol>) =
        old.map_or((shared(c), Vec::new()), |action| (action.target().0, action.target().1.collect()));
    let any = || symbol(d).into_iter().chain(symbol(e)).take(a.index(3)).collect::<Vec<_>>();
    let action = |from: SharedState, read: Option<Symbol>, to: SharedState, written: &[Symbol]| {
        Action::new((from, read.as_slice()), (to, written)).ok()
    };
    let new = match how {
        0 => None,
        1 => Some(action(shared(a), symbol(b), shared(c), &any())?),
        2 => Some(action(from, top, shared(c), &written)?),
        3 => Some(action(from, top, to, &any())?),
        4 => Some(action(shared(a), top, to, &written)?),
        _ => Some(action(from, symbol(b), to, &written)?),
    };
    // 0 removes an action, 1 adds one, and the others change one.
    if *how != 1 && !rules.is_empty() {
        rules.remove(at.index(rules.len()));
    }
    let is_new = |action: &Action| !rules.iter().any(|rule| rule.action == *action);
    rules.extend(new.filter(is_new).map(|action| Rule { label: None, action }));
    with(problem, programs, system.initial().to_vec(), problem.property().clone())
}

/// Returns the problem with these actions, initial states and bad patterns, if it is well-formed.
fn with(problem: &Problem, rules: Vec<Vec<Rule>>, initial: Vec<GlobalState>, property: Property) -> Option<Problem> {
    let system = problem.system();
    let program = |(program, rules): (&Program, Vec<Rule>)| {
        Program::new(program.name(), program.copies(), program.alphabet().clone(), rules).ok()
    };
    let programs = system.programs().iter().zip(rules).map(program).collect::<Option<Vec<_>>>()?;
    let system = Cpds::new(system.shared_names().clone(), system.symbol_names().clone(), programs, initial).ok()?;
    Problem::new(system, property).ok()
}

/// Removes the bad patterns that fit an initial state, because with them the answer is trivial.
pub fn good_at_first(problem: &Problem) -> Problem {
    let (system, mut property) = (problem.system(), problem.property().clone());
    property.bad.retain(|pattern| !system.initial().iter().any(|state| pattern.matches(&state.visible())));
    Problem::new(system.clone(), property).expect("fewer patterns")
}

/// Returns all problems that have one action, one initial state or one bad pattern less.
pub fn smaller(problem: &Problem) -> Vec<Problem> {
    let system = problem.system();
    let rules: Vec<Vec<Rule>> = system.programs().iter().map(|program| program.rules().to_vec()).collect();
    let (initial, bad) = (system.initial().to_vec(), problem.property().bad.clone());
    let actions =
        rules.iter().enumerate().flat_map(|(program, rules)| (0..rules.len()).map(move |rule| (program, rule)));
    let without = |list: &[GlobalState], at: usize| [&list[..at], &list[at + 1..]].concat();
    let fewer_actions = actions.filter_map(|(program, rule)| {
        let mut rules = rules.clone();
        rules[program].remove(rule);
        with(problem, rules, initial.clone(), problem.property().clone())
    });
    let fewer_initial = (0..initial.len())
        .filter_map(|at| with(problem, rules.clone(), without(&initial, at), problem.property().clone()));
    let fewer_bad = (0..bad.len()).filter_map(|at| {
        let bad = [&bad[..at], &bad[at + 1..]].concat();
        with(problem, rules.clone(), initial.clone(), Property { bad })
    });
    fewer_actions.chain(fewer_initial).chain(fewer_bad).collect()
}
