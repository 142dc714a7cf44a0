//! The cost of evidence: `cargo bench -p cuba-cli --bench evidence`.
//!
//! For the paper's programs and for growing families: the size of the certificate in tuples,
//! languages and bytes of JSON, and the times for making it, for checking it, and for the analysis.
//! Counters are equal in each run; times are the best of several runs.

use cpds::Problem;
use cpds_check::{Claim, Evidence, check};
use cpds_testing::artifact::SYSTEMS;
use cpds_testing::corpus::artifact;
use cpds_testing::families::{Pile, Recursion, stefan};
use cuba::{Cancel, Engine, Ladder};
use cuba::{Conclusion, Options, Question, search_unchecked};
use cuba_cli::json;
use cuba_cli::text::table::Table;
use std::time::{Duration, Instant};

fn main() {
    let heading = ["", "question", "proof", "states kept", "tuples", "languages", "bytes"];
    let figures = ["analysis ms", "make ms", "check ms", "(make + check) / analysis"];
    let mut table = Table::new();
    table.add_row(heading.into_iter().chain(figures));
    table.align_right(3..11);
    if let Some(folder) = artifact("the paper's programs") {
        for system in &SYSTEMS {
            let problem = system.read(&folder);
            let name = system.file.rsplit('/').next().expect("a name");
            for question in [Question::Verify, Question::Visible] {
                measure(&mut table, name, &problem, question, Options::default());
            }
        }
    }
    let levels = Options { ladder: Ladder::None, ..Options::default() };
    let different = Options { symmetry: false, ..levels };
    for (threads, depth, shared) in [(2, 3, 2), (2, 3, 100), (2, 3, 1000), (2, 6, 1), (2, 8, 1), (3, 3, 2), (4, 3, 2)] {
        let problem = Recursion { threads, depth, shared }.problem();
        let name = format!("recursion: {threads} threads, depth {depth}, {shared} shared");
        measure(&mut table, &name, &problem, Question::Visible, Options::default());
        measure(&mut table, &format!("{name}, R_k"), &problem, Question::Reachable, different);
    }
    for threads in [2, 4, 8, 16, 32] {
        let name = format!("stefan: {threads} threads");
        measure(&mut table, &name, &stefan(threads), Question::Visible, Options::default());
    }
    let symbolic = Options { engine: Some(Engine::Symbolic), ..levels };
    for threads in [4, 8] {
        let name = format!("stefan: {threads} threads, S_k");
        measure(&mut table, &name, &stefan(threads), Question::Reachable, symbolic);
        let name = format!("pile: {threads} threads, S_k");
        measure(&mut table, &name, &Pile { threads, symbols: 3 }.problem(), Question::Reachable, symbolic);
    }
    print!("{}", table.lines(" "));
}

fn measure(table: &mut Table, name: &str, problem: &Problem, question: Question, options: Options) {
    let begin = Instant::now();
    let mut best = [f64::INFINITY; 3];
    let mut counters = None;
    for run in 0..100 {
        if run >= 3 && begin.elapsed() > Duration::from_millis(500) {
            break;
        }
        let mut times = [0.0; 3];
        let mut clock = Instant::now();
        let mut lap = |place: usize| {
            times[place] = clock.elapsed().as_secs_f64();
            clock = Instant::now();
        };
        let analysis = search_unchecked(problem, question, &options, |_| ());
        lap(0);
        let (proof, claim) = match &analysis.conclusion {
            Conclusion::Safe(proof) => (proof, Claim::Verdict),
            Conclusion::Converged(proof) => (proof, Claim::Exact),
            _ => return,
        };
        let proved_by = analysis.proved_by().expect("there is a proof");
        let evidence =
            Evidence::Certificate(analysis.certificate(proof, options.memory, &Cancel::default()).expect("it fits"));
        lap(1);
        check(problem, &evidence, claim, &|_| true).expect("accepted");
        lap(2);
        for (best, time) in best.iter_mut().zip(times) {
            *best = best.min(time);
        }
        let Evidence::Certificate(certificate) = &evidence else { unreachable!("made above") };
        let bytes =
            serde_json::to_vec(&json::certificate(problem, proved_by.clone(), certificate)).expect("plain data");
        let kept = analysis.level_store.snapshot().kept;
        let new = (proved_by, kept, certificate.tuples().len(), certificate.automaton.len(), bytes.len());
        assert!(counters.is_none_or(|counters| counters == new) || question != Question::Reachable, "exact");
        counters = Some(new);
    }
    let (proved_by, kept, tuples, languages, bytes) = counters.expect("at least one run");
    let [analysis, make, check] = best;
    table.add_row([
        name.to_owned(),
        if question == Question::Verify { "verify" } else { "reach" }.to_owned(),
        proved_by,
        kept.to_string(),
        tuples.to_string(),
        languages.to_string(),
        bytes.to_string(),
        format!("{:.2}", analysis * 1e3),
        format!("{:.2}", make * 1e3),
        format!("{:.2}", check * 1e3),
        format!("{:.1}", (make + check) / analysis),
    ]);
}
