//! The explicit engine on the paper's programs and on systems that grow: `cargo bench`.
//!
//! Counters are exact, and the same in each run. Times are the best and the median of several runs.
//! A time is for the whole analysis, until R_k has collapsed, or for 50 contexts. For large systems
//! see `--bench scale`.

use comfy_table::{CellAlignment, Table, presets};
use cpds::Problem;
use cpds_testing::artifact::SYSTEMS;
use cpds_testing::corpus::artifact;
use cpds_testing::families::Recursion;
use cuba::{Ladder, Options, Question, search_unchecked};
use std::time::{Duration, Instant};

fn main() {
    let family = |threads, depth, shared| Recursion { threads, depth, shared };
    let heading = ["", "threads are", "k", "|R|", "states kept", "expansions"];
    let figures = ["best ms", "median ms", "expansions/µs", "states/µs", "bytes/state"];
    let mut table = Table::new();
    table.load_style(presets::NOTHING).add_row(heading.into_iter().chain(figures));
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    if let Some(folder) = artifact("the paper's programs") {
        for system in SYSTEMS.iter().filter(|system| system.fcr) {
            let problem = system.read(&folder);
            let name = system.file.rsplit('/').next().expect("a name");
            measure(&mut table, name, &problem, true);
            if problem.system().symmetric_groups().len() < problem.system().thread_count() {
                measure(&mut table, name, &problem, false);
            }
        }
    }
    let threads = [family(1, 3, 2), family(2, 3, 2), family(3, 3, 2), family(4, 3, 2)];
    let shared = [family(2, 3, 10), family(2, 3, 100), family(2, 3, 1000)];
    let depth = [family(2, 2, 1), family(2, 4, 1), family(2, 6, 1), family(2, 8, 1)];
    for (direction, families) in [("threads", &threads[..]), ("shared states", &shared), ("stack depth", &depth)] {
        for family @ Recursion { threads, depth, shared } in families {
            let name = format!("{direction}: {threads} threads, depth {depth}, {shared} shared");
            measure(&mut table, &name, &family.problem(), true);
            measure(&mut table, &name, &family.problem(), false);
        }
    }
    println!("{table}");
}

/// Repeats the analysis for a while, and adds a row with its counters and times.
fn measure(table: &mut Table, name: &str, problem: &Problem, symmetry: bool) {
    let options = Options { symmetry, max_contexts: Some(50), ladder: Ladder::None, jobs: 1, ..Options::default() };
    let begin = Instant::now();
    let mut times = Vec::new();
    let mut counters = None;
    while times.len() < 3 || (begin.elapsed() < Duration::from_millis(300) && times.len() < 200) {
        let start = Instant::now();
        let analysis = search_unchecked(problem, Question::Reachable, &options, |_| ());
        times.push(start.elapsed().as_secs_f64());
        let snapshot = analysis.level_store.snapshot();
        let size = analysis.levels.last().expect("R_0 at least").reachable.expect("states are counted");
        let new = (snapshot.k, size, snapshot.kept, snapshot.expansions, snapshot.bytes);
        assert!(counters.is_none_or(|counters| counters == new), "counters are the same in each run");
        counters = Some(new);
    }
    times.sort_by(f64::total_cmp);
    let (best, median) = (times[0], times[times.len() / 2]);
    let (k, size, kept, expansions, bytes) = counters.expect("at least one run");
    let kind = if symmetry { "interchangeable" } else { "all different" };
    #[expect(clippy::cast_precision_loss, reason = "for humans")]
    let [expansions_per_us, kept_per_us, bytes_per_state] =
        [expansions as f64 / best / 1e6, kept as f64 / best / 1e6, bytes as f64 / kept as f64];
    table.add_row([
        name.to_owned(),
        kind.to_owned(),
        k.to_string(),
        size.to_string(),
        kept.to_string(),
        expansions.to_string(),
        format!("{:.2}", best * 1e3),
        format!("{:.2}", median * 1e3),
        format!("{expansions_per_us:.1}"),
        format!("{kept_per_us:.1}"),
        format!("{bytes_per_state:.1}"),
    ]);
}
