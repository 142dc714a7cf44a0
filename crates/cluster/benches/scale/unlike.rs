//! Measures the largest number of different threads that each engine can analyse.
//!
//! Each engine has the same memory limit. Listed tuples also have a limit on expansions. There is
//! no time limit, so all figures except the last column are the same in each run. For diagrams, the
//! stored nodes are those of the complete levels. The memory is the largest one at a check of a
//! limit. A row says whether the engine finished, or with how many contexts it stopped.

use cpds::Problem;
use cpds_testing::unlike::{Permits, Strangers, Token, Transactions};
use cuba::{Conclusion, Options, Question, search_unchecked};
use cuba::{Count, Engine, Fcr, Ladder, Statistics, Symbolic, SymbolicOptions, Tuning};
use cuba_cli::text::table::Table;
use std::ops::ControlFlow;
use std::time::Instant;

/// The memory limit of each engine, in bytes.
const MEMORY: usize = 256 << 20;
/// The limit on expansions of tuples.
const EXPANSIONS: u64 = 1_000_000;

/// Runs all families and prints a table for each.
pub(crate) fn compare() {
    for threads in [4, 6, 8, 10] {
        let families = [
            ("permits", Permits { threads, permits: 20 }.problem()),
            ("transactions", Transactions { threads, versions: 4 }.problem()),
            ("token", Token { threads, turns: 4 }.problem()),
            ("strangers", Strangers { threads }.problem()),
        ];
        compare_all(threads, &families);
    }
}

/// Runs all engines on these systems and prints a table.
pub(crate) fn compare_all(threads: u32, families: &[(&str, Problem)]) {
    let mut table = Table::new();
    let columns = ["engine", "came to", "states or tuples", "kept", "visible", "expansions", "KiB", "ms"];
    table.align_right(2..=columns.len());
    table.add_row(std::iter::once("").chain(columns));
    for (name, problem) in families {
        measure(&mut table, &format!("{name}, {threads}"), problem);
    }
    println!("{}", table.lines(" "));
}

/// Adds the rows of one system.
fn measure(table: &mut Table, name: &str, problem: &Problem) {
    let mut row = |engine: &str, cells: Vec<String>| {
        table.add_row([name.to_owned(), engine.to_owned()].into_iter().chain(cells));
    };
    if Fcr::new(problem.system()).holds() == Some(true) {
        row("R_k, states", explicit(problem));
    } else {
        row("R_k, states", vec!["infinite contexts".to_owned()]);
    }
    for (levels, widening) in [("S_k", None), ("A_1", Some(1))] {
        for (storage, diagram_groups) in [("tuples", usize::MAX), ("diagrams", 1)] {
            let tuning = Tuning { diagram_groups, ..Tuning::SHIPPED };
            let options = SymbolicOptions { widening, ..SymbolicOptions::exact(true, MEMORY, tuning) };
            row(&format!("{levels}, {storage}"), symbolic(problem, options));
        }
    }
}

/// Measures the search through states.
fn explicit(problem: &Problem) -> Vec<String> {
    let start = Instant::now();
    // The search reserves a quarter of the memory for the ladder, even if there is no ladder.
    let (memory, ladder) = (MEMORY / 3 * 4, Ladder::None);
    let options = Options { engine: Some(Engine::Explicit), ladder, memory, ..Options::default() };
    let analysis = search_unchecked(problem, Question::Reachable, &options, |_| ());
    let Statistics::Explicit { states_kept, visible_states_kept, expansions, table_bytes, .. } = analysis.statistics
    else {
        unreachable!("the options select this engine")
    };
    let last = analysis.levels.last().expect("there is R_0 at least");
    let came_to = came_to(matches!(analysis.conclusion, Conclusion::Converged(_)), last.k);
    let reachable = last.reachable.expect("states are counted");
    cells(came_to, reachable, [states_kept, visible_states_kept], expansions, table_bytes, start)
}

/// Measures the search through tuples.
fn symbolic(problem: &Problem, options: SymbolicOptions) -> Vec<String> {
    let start = Instant::now();
    let mut tuples = Symbolic::new(problem.system(), options);
    let mut most = 0;
    let mut watch = |tuples: &Symbolic<'_>| {
        most = tuples.bytes().max(most);
        let is_enough = tuples.expansions() > EXPANSIONS || tuples.bytes() > MEMORY;
        if is_enough { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let mut is_done = false;
    while !is_done && tuples.advance(&mut watch).is_ok() {
        is_done = !tuples.grew(tuples.k());
    }
    let kept = [tuples.kept(), tuples.visible().kept()];
    let came_to = came_to(is_done, tuples.k());
    cells(came_to, tuples.count(tuples.k()), kept, tuples.expansions(), most.max(tuples.bytes()), start)
}

/// Returns how far an engine came.
fn came_to(is_done: bool, k: usize) -> String {
    if is_done { format!("the end, k = {}", k - 1) } else { format!("k = {k}, stopped") }
}

/// Returns the cells of a row.
fn cells(
    came_to: String,
    size: Count,
    [kept, visible]: [usize; 2],
    expansions: u64,
    bytes: usize,
    start: Instant,
) -> Vec<String> {
    let ms = format!("{:.0}", start.elapsed().as_secs_f64() * 1e3);
    let numbers = [kept.to_string(), visible.to_string(), expansions.to_string(), (bytes / 1024).to_string(), ms];
    [came_to, size.to_string()].into_iter().chain(numbers).collect()
}
