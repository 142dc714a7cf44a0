//! The symbolic engine on the paper's programs and on systems that grow, and post* on large random
//! programs: `cargo bench -p cuba --bench symbolic`.
//!
//! Counters are exact, and the same in each run. Times are the best and the median of several runs.
//! A time is for the whole analysis, until T(S_k) = T(R) is proved by Z or by the collapse of
//! (S_k), or until the limit on contexts.

use comfy_table::{CellAlignment, Table, presets};
use cpds::Problem;
use cpds_testing::artifact::SYSTEMS;
use cpds_testing::corpus::{artifact, models};
use cpds_testing::families::{Pile, random_system, stefan};
use cuba::{
    ActionIndex, Cancel, Engine, Ladder, Languages, Options, Psa, PumpingHeads, Question, Rung, Statistics,
    search_unchecked,
};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

fn main() {
    let mut table = new_table(
        &["", "k", "|S_k|", "|T(S_k)|", "tuples kept", "expansions", "languages", "post*", "transitions"],
        &["best ms", "median ms", "KiB"],
    );
    if let Some(folder) = artifact("the paper's programs") {
        for system in &SYSTEMS {
            let name = system.file.rsplit('/').next().expect("a name");
            measure(&mut table, name, &system.read(&folder), Question::Visible, 100);
        }
    }
    for threads in [2, 4, 8, 16, 32, 64] {
        measure(&mut table, &format!("threads: Stefan-1, {threads}"), &stefan(threads), Question::Visible, 100);
    }
    for symbols in [4, 16, 64, 256, 1024] {
        let problem = Pile { threads: 2, symbols }.problem();
        measure(&mut table, &format!("alphabet: Pile, 2 threads, {symbols} symbols"), &problem, Question::Visible, 100);
    }
    let fig_1 = models().into_iter().find(|model| model.name == "paper/fig1").expect("the collection has it").problem;
    for k in [25, 50, 100, 200, 400] {
        measure(&mut table, &format!("contexts: Fig. 1, {k}"), &fig_1, Question::Reachable, k);
    }
    println!("{table}\n");

    let mut table = new_table(
        &["post* of a random program", "actions", "|Q|", "|Σ|", "transitions"],
        &["best ms", "actions/µs", "transitions/µs", "languages", "their ms", "FCR", "its ms"],
    );
    for (actions, symbols) in [(10_000, 100), (100_000, 1000), (100_000, 200), (100_000, 100), (1_000_000, 1000)] {
        post_star(&mut table, actions, 1000, symbols);
    }
    println!("{table}");
}

fn new_table(counters: &[&str], figures: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).add_row(counters.iter().chain(figures));
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// Repeats the analysis for a while, and adds a row with its counters and times.
fn measure(table: &mut Table, name: &str, problem: &Problem, question: Question, contexts: usize) {
    let ladder = Ladder::Only(Rung::Z);
    let engine = Some(Engine::Symbolic);
    let options = Options { engine, ladder, max_contexts: Some(contexts), ..Options::default() };
    let begin = Instant::now();
    let mut times = Vec::new();
    let mut counters = None;
    while times.len() < 3 || (begin.elapsed() < Duration::from_millis(300) && times.len() < 200) {
        let start = Instant::now();
        let analysis = search_unchecked(problem, question, &options, |_| ());
        times.push(start.elapsed().as_secs_f64());
        let last = analysis.levels.last().expect("S_0 at least");
        let Statistics::Symbolic { tuples_kept, expansions, languages, posts, transitions, table_bytes, .. } =
            analysis.statistics
        else {
            unreachable!("the engine is symbolic")
        };
        let new = [
            last.k.to_string(),
            last.tuples.expect("tuples are counted").to_string(),
            last.visible.to_string(),
            tuples_kept.to_string(),
            expansions.to_string(),
            languages.to_string(),
            posts.to_string(),
            transitions.to_string(),
            (table_bytes / 1024).to_string(),
        ];
        assert!(counters.is_none_or(|counters| counters == new), "counters are the same in each run");
        counters = Some(new);
    }
    times.sort_by(f64::total_cmp);
    let [counters @ .., bytes] = counters.expect("at least one run");
    let figures = [times[0], times[times.len() / 2]].map(|seconds| format!("{:.2}", seconds * 1e3));
    table.add_row(std::iter::once(name.to_owned()).chain(counters).chain(figures).chain([bytes]));
}

/// Measures post* from all heads with an enabled action, as for finite context reachability; then
/// the languages of all shared states; then the decision of finite context reachability.
fn post_star(table: &mut Table, actions: usize, shared: u32, symbols: u32) {
    let system = random_system(1, actions, shared, symbols, 1);
    let program = &system.programs()[0];
    let heads = ActionIndex::new(program);
    let sources: BTreeSet<_> = program.rules().iter().map(|rule| rule.action.source()).collect();
    let best = |work: &mut dyn FnMut()| {
        let time = |_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        };
        (0..5).map(time).min_by(f64::total_cmp).expect("five")
    };
    let saturated = || Psa::of_heads(sources.iter().copied()).saturated(&heads, usize::MAX).expect("there is no limit");
    let psa = saturated();
    let seconds = best(&mut || assert_eq!(saturated().transition_count(), psa.transition_count()));
    let mut count = 0;
    let languages = best(&mut || {
        let mut languages = Languages::default();
        languages.of_psa(&psa, usize::MAX).expect("there is no limit");
        count = languages.len();
    });
    let mut holds = false;
    let fcr = best(&mut || {
        holds = PumpingHeads::within(&system, usize::MAX, 1 << 10, &Cancel::default())
            .is_ok_and(|pumping| pumping.is_empty());
    });
    #[expect(clippy::cast_precision_loss, reason = "for humans")]
    let rate = |count: usize| format!("{:.2}", count as f64 / seconds / 1e6);
    let ms = |seconds: f64| format!("{:.1}", seconds * 1e3);
    table.add_row([
        String::new(),
        actions.to_string(),
        shared.to_string(),
        symbols.to_string(),
        psa.transition_count().to_string(),
        ms(seconds),
        rate(actions),
        rate(psa.transition_count()),
        count.to_string(),
        ms(languages),
        if holds { "holds" } else { "refuted" }.to_owned(),
        ms(fcr),
    ]);
}
