//! The strength of each method, alone and together, on random systems: `cargo bench -p cuba --bench
//! strength`.
//!
//! For each system, (S_k) is explored until it collapses, for at most 30 contexts and 10,000
//! tuples; each A_d may have as many tuples. Nothing depends on time, so the table is the same in
//! each run.
//!
//! `-- --systems 100` analyses fewer systems. `-- --tuples 100000` gives up later; then the methods
//! decide at least as much, and the benchmark takes an hour.

use cpds::{Cpds, Problem, Property, VisibleState, print_cpds};
use cpds_testing::families::random_system;
use cuba::{Abstraction, AbstractionLimits, Cut, Overapproximation, Rung, Symbolic, SymbolicOptions, Tuning};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

const CONTEXTS: usize = 30;
const MEMORY: usize = 2 << 30;

/// Threads, shared states, symbols, and actions of each thread.
const SHAPES: [(u32, u32, u32, usize); 3] = [(2, 4, 4, 9), (2, 4, 4, 12), (3, 4, 5, 10)];

const RUNGS: [Rung; 8] = [
    Rung::Z,
    Rung::MatchedZ,
    Rung::CutOff(2),
    Rung::CutOff(3),
    Rung::Abstract(0),
    Rung::Abstract(1),
    Rung::Abstract(2),
    Rung::Abstract(3),
];

/// The results for one system.
struct SystemResult {
    seed: u64,
    /// The visible states that were reached.
    visible: BTreeSet<VisibleState>,
    /// Whether T(S_k) has not grown at the last three levels, or (S_k) has collapsed.
    flat: bool,
    /// Whether (S_k) has collapsed.
    collapsed: bool,
    /// Whether Alg. 3 converges.
    alg_3: bool,
    /// The visible states of each rung; `None` if it has too many tuples.
    rungs: Vec<Option<BTreeSet<VisibleState>>>,
}

impl SystemResult {
    /// Returns the number of states that are neither reached nor ruled out by these rungs.
    fn open(&self, rungs: impl IntoIterator<Item = usize>, everything: usize) -> usize {
        let sets = rungs.into_iter().filter_map(|rung| self.rungs[rung].as_ref());
        let left = sets.fold(None, |left: Option<BTreeSet<VisibleState>>, set| {
            Some(left.map_or_else(|| set.clone(), |left| &left & set))
        });
        left.map_or(everything, |left| left.len()) - self.visible.len()
    }
}

/// Analyses one system by each method.
fn analyse(system: &Cpds, seed: u64, tuples: usize) -> SystemResult {
    let options = SymbolicOptions::exact(true, MEMORY, Tuning::SHIPPED);
    let mut lower = Symbolic::new(system, options);
    let mut collapsed = false;
    while lower.k() < CONTEXTS && !collapsed {
        let limit = |lower: &Symbolic<'_>| {
            if lower.kept() > tuples { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        if lower.advance(&mut |lower| limit(lower)).is_err() || limit(&lower).is_break() {
            break;
        }
        collapsed = !lower.grew(lower.k());
    }
    let k = lower.k();
    let visible: BTreeSet<VisibleState> = (0..=k).flat_map(|k| lower.visible().states(k)).collect();
    let flat = collapsed || (k >= 3 && (k - 2..=k).all(|k| !lower.visible().grew(k)));
    drop(lower);
    let z = Overapproximation::new(system, true);
    // Alg. 3 converges if all generators are reached at a plateau.
    let alg_3 = flat && z.generators().is_subset(&visible);
    let cut = |cut| Some(Overapproximation::cut_off(system, cut, true).states());
    let rungs = RUNGS.map(|rung| match rung {
        Rung::Z => Some(z.states()),
        Rung::MatchedZ => cut(Cut::matched(1)),
        Rung::CutOff(height) => cut(Cut::matched(height)),
        Rung::Abstract(depth) => {
            let limits = AbstractionLimits { tuples, memory: MEMORY };
            Abstraction::new(system, depth, true, limits).ok().map(|abstraction| abstraction.states())
        }
    });
    for set in rungs.iter().flatten() {
        assert!(visible.is_subset(set), "an overapproximation has all reachable states");
    }
    SystemResult { seed, visible, flat, collapsed, alg_3, rungs: rungs.into() }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let number = |name: &str, default: usize| {
        let at = arguments.iter().position(|argument| argument == name);
        at.map_or(default, |at| arguments[at + 1].parse().expect("a number"))
    };
    let (systems, tuples) = (number("--systems", 1000), number("--tuples", 10_000));
    let mut rows: Vec<Vec<String>> = vec![vec![String::new()], vec!["systems".to_owned()]];
    let methods = ["Alg. 3", "(S_k) collapses"].map(str::to_owned).into_iter();
    let methods: Vec<String> = methods.chain(RUNGS.map(|rung| rung.to_string())).collect();
    rows.push(vec!["flat for 3 levels".to_owned()]);
    rows.extend(methods.iter().map(|method| vec![format!("exact by {method}")]));
    rows.push(vec!["exact, all together".to_owned()]);
    rows.push(vec!["of those that are flat".to_owned()]);
    rows.push(vec!["(system, visible state) pairs".to_owned()]);
    rows.extend(methods.iter().map(|method| vec![format!("decided by {method}")]));
    rows.push(vec!["decided, all together".to_owned()]);
    rows.push(vec!["of those in Z".to_owned()]);
    let mut undecided = String::new();
    for shape @ (threads, shared, symbols, actions) in SHAPES {
        let results = results(shape, systems, tuples);
        eprintln!("{threads} threads, {actions} actions: done");
        let everything = (shared * (symbols + 1).pow(threads)) as usize;
        let count = |holds: &dyn Fn(&SystemResult) -> bool| results.iter().filter(|result| holds(result)).count();
        let open = |result: &SystemResult, method: usize| match method {
            0 if result.alg_3 => 0,
            1 if result.collapsed => 0,
            0 | 1 => everything - result.visible.len(),
            rung => result.open([rung - 2], everything),
        };
        let together =
            |result: &SystemResult| if result.collapsed { 0 } else { result.open(0..RUNGS.len(), everything) };
        let (flat, exact) = (count(&|result| result.flat), count(&|result| result.flat && together(result) == 0));
        let pairs = everything * systems;
        // Rounded down.
        let percent = |part: usize, of: usize| {
            let thousandths = part * 100_000 / of.max(1);
            format!("{}.{:03} %", thousandths / 1000, thousandths % 1000)
        };
        let mut column = vec![
            format!("{threads} threads × {shared} shared × {symbols} symbols × {actions} actions"),
            systems.to_string(),
            flat.to_string(),
        ];
        column.extend((0..methods.len()).map(|method| count(&|result| open(result, method) == 0).to_string()));
        column.push(count(&|result| together(result) == 0).to_string());
        column.push(percent(exact, flat));
        column.push(pairs.to_string());
        let all_open = |open: &dyn Fn(&SystemResult) -> usize| results.iter().map(open).sum::<usize>();
        column
            .extend((0..methods.len()).map(|method| percent(pairs - all_open(&|result| open(result, method)), pairs)));
        column.push(percent(pairs - all_open(&together), pairs));
        let in_z: usize = results.iter().map(|result| result.rungs[0].as_ref().map_or(0, BTreeSet::len)).sum();
        column.push(percent(in_z - all_open(&together), in_z));
        for (row, cell) in rows.iter_mut().zip(column) {
            row.push(cell);
        }
        let smallest = results.iter().filter(|result| together(result) > 0).min_by_key(|result| together(result));
        if let Some(result) = smallest {
            undecided += &show(shape, result, together(result));
        }
    }
    for (i, row) in rows.iter().enumerate() {
        println!("| {} |", row.join(" | "));
        if i == 0 {
            println!("|---|{}", "--:|".repeat(row.len() - 1));
        }
    }
    println!("{undecided}");
}

/// Analyses every system of a shape, two at a time.
fn results(shape: (u32, u32, u32, usize), systems: usize, tuples: usize) -> Vec<SystemResult> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut results = Vec::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= systems {
                return results;
            }
            results.push(analyse(&system(shape, seed as u64), seed as u64, tuples));
        }
    };
    let mut results: Vec<SystemResult> = thread::scope(|scope| {
        let workers = [scope.spawn(work), scope.spawn(work)];
        workers.into_iter().flat_map(|worker| worker.join().expect("no panic")).collect()
    });
    results.sort_by_key(|result| result.seed);
    results
}

/// Returns the random system with this shape and seed.
fn system((threads, shared, symbols, actions): (u32, u32, u32, usize), seed: u64) -> Cpds {
    random_system(threads, actions, shared, symbols, seed)
}

/// Returns the text of a system with the fewest undecided states.
fn show(shape: (u32, u32, u32, usize), result: &SystemResult, open: usize) -> String {
    let problem = Problem::new(system(shape, result.seed), Property::default()).expect("a property without patterns");
    let (seed, model) = (result.seed, print_cpds(&problem));
    format!("\nThe fewest undecided states, {open}, has the system with seed {seed}:\n\n```\n{model}```\n")
}
