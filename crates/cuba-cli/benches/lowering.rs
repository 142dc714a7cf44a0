//! The cost of lowering programs to systems: `cargo bench -p cuba-cli --bench lowering`.
//!
//! For programs with more and more variables: the size of the system, and the time for making it.
//! The product of all values and places would be 2^(shared + local) times the number of statements.
//! Counters are equal in each run; times are the best of three. The memory is the peak of the
//! process so far.

use boolprog::{Options, read};
use cpds::Source;
use cpds_testing::families::{Style, Variables};
use cuba_cli::running::machine::peak_memory_bytes;
use cuba_cli::text::table::Table;
use std::time::{Duration, Instant};

fn main() {
    let mut table = Table::new();
    let heading =
        ["style", "shared", "local", "statements", "|Q|", "symbols", "actions", "of the product", "ms", "peak MB"];
    table.add_row(heading);
    table.align_right(1..10);
    for style in [Style::Claims, Style::Late] {
        for (shared, locals, statements) in
            [(2, 2, 300), (4, 4, 300), (6, 6, 300), (8, 8, 300), (10, 8, 300), (12, 8, 100), (12, 8, 300)]
        {
            measure(&mut table, Variables { shared, locals, statements, style });
        }
    }
    print!("{}", table.lines(" "));
}

fn measure(table: &mut Table, program: Variables) {
    let Variables { shared, locals, statements, style } = program;
    let mut row = vec![format!("{style:?}"), shared.to_string(), locals.to_string(), statements.to_string()];
    let mut best = Duration::MAX;
    let mut figures = Vec::new();
    for _ in 0..3 {
        let source = Source::new("family.bp", program.text());
        let start = Instant::now();
        let lowered = read(source, &Options::default());
        best = best.min(start.elapsed());
        figures = match lowered {
            Err(error) => vec!["–".to_owned(), "–".to_owned(), "–".to_owned(), error.to_string()],
            Ok(lowered) => {
                let system = lowered.reading.problem.system();
                let [worker] = system.programs() else { panic!("one program") };
                let (symbols, actions) = (worker.alphabet().len(), worker.rules().len());
                let pairs = (symbols * system.shared_names().len()) as u64;
                let product = (statements as u64) << (shared + locals);
                let tenths = 10 * product / pairs;
                let share = format!("1/{}.{}", tenths / 10, tenths % 10);
                vec![system.shared_names().len().to_string(), symbols.to_string(), actions.to_string(), share]
            }
        };
    }
    row.extend(figures);
    row.push(format!("{:.0}", best.as_secs_f64() * 1000.0));
    row.push(peak_memory_bytes().map_or("–".to_owned(), |bytes| (bytes >> 20).to_string()));
    table.add_row(row);
}
