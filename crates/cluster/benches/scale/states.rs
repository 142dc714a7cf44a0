//! Measures large systems. Each runs in a separate process, because the system measures the peak
//! memory of a process.
//!
//! Two threads with 510 stacks each, and a few hundred shared states. Counters are exact and equal
//! to the closed form. Runs with one and with two jobs alternate; the table has the fastest of
//! each.

use cpds_testing::families::Recursion;
use cuba::Ladder;
use cuba::{Options, Question, search_unchecked};
use cuba_cli::running::machine::peak_memory_bytes;
use cuba_cli::text::table::Table;
use std::process::Command;
use std::time::Instant;

/// The argument for a single run.
pub(crate) const ONE: &str = "one";

/// The number of runs of each kind.
const TIMES: usize = 9;

/// The figures of a run: seconds, bytes in tables, and the peak memory of the process.
type Figures = [f64; 3];

/// Returns the system with this number of shared states.
pub(crate) fn family(shared: u64) -> Recursion {
    Recursion { threads: 2, depth: 7, shared }
}

/// Runs all systems and prints a table.
pub(crate) fn compare() {
    let heading = ["states", "expansions", "jobs", "s", "expansions/µs", "states/µs", "speed-up"];
    let mut table = table(heading.into_iter().chain(["bytes/state in tables", "at the peak"]));
    for shared in [77, 193] {
        let mut best = [[f64::INFINITY; 3]; 2];
        for _ in 0..TIMES {
            for (best, jobs) in best.iter_mut().zip([1, 2]) {
                let figures: Figures = figures(&[ONE, &shared.to_string(), &jobs.to_string()]);
                if figures[0] < best[0] {
                    *best = figures;
                }
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "a rounded figure is enough")]
        let [states, expansions] = [family(shared).states(), family(shared).steps()].map(|number| number as f64);
        for ([seconds, tables, peak], jobs) in best.into_iter().zip([1, 2]) {
            table.add_row([
                states.to_string(),
                expansions.to_string(),
                jobs.to_string(),
                format!("{seconds:.2}"),
                format!("{:.2}", expansions / seconds / 1e6),
                format!("{:.2}", states / seconds / 1e6),
                format!("{:.2}", best[0][0] / seconds),
                format!("{:.1}", tables / states),
                format!("{:.1}", peak / states),
            ]);
        }
    }
    println!("{}", table.lines(" "));
}

/// Returns a table with this heading.
pub(crate) fn table(heading: impl IntoIterator<Item = &'static str>) -> Table {
    let mut table = Table::new();
    let heading: Vec<&str> = heading.into_iter().collect();
    table.align_right(0..heading.len());
    table.add_row(heading);
    table
}

/// Starts a run with these arguments and returns its figures.
pub(crate) fn figures<const N: usize>(arguments: &[&str]) -> [f64; N] {
    let this = std::env::current_exe().expect("the path of this program");
    let output = Command::new(this).args(arguments).output().expect("the program runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("numbers");
    let figures: Vec<f64> = text.split_whitespace().map(|figure| figure.parse().expect("a number")).collect();
    figures.try_into().expect("all figures are printed")
}

/// Runs one exploration, and prints the figures.
pub(crate) fn one(shared: u64, jobs: usize) {
    let problem = family(shared).problem();
    let before = peak_memory_bytes();
    let options = Options { symmetry: false, memory: 64 << 30, jobs, ladder: Ladder::None, ..Options::default() };
    let start = Instant::now();
    let analysis = search_unchecked(&problem, Question::Reachable, &options, |_| ());
    let seconds = start.elapsed().as_secs_f64();
    let snapshot = analysis.level_store.snapshot();
    let closed_form = (family(shared).states(), family(shared).steps());
    assert_eq!((snapshot.kept as u64, snapshot.expansions), closed_form, "the counters equal the closed form");
    let peak = peak_memory_bytes().zip(before).map_or(0, |(after, before)| after - before);
    println!("{seconds} {} {peak}", snapshot.bytes);
}
