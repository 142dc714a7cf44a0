//! Measures the same exploration in one process and in several: the additional cost, and the data
//! sent.
//!
//! All processes run on this machine, so more processes than cores do not save time. The table
//! compares the CPU time of all processes with that of one job in one process. It also has the data
//! sent for each new state.

use crate::states::{family, figures, table};
use cuba::Ladder;
use cuba::checkpoint::StartPoint;
use cuba::distributed::{Elsewhere, PartId, Sent, Share};
use cuba::{Control, Options, Question, Tuning, search_unchecked, search_unchecked_with};
use cuba_cli::running::cluster::{ClusterEnd, JoinOutcome, JoinRequest, ProcessLocation, Transport};
use cuba_cli::running::console::Console;
use cuba_cli::running::run::Run;
use cuba_cluster::transport::ClusterTransport;
use std::ffi::OsString;
use std::fs;
use std::sync::Arc;
use std::time::Instant;

/// The argument for a single run.
pub(crate) const ONE: &str = "shared";

/// The number of runs of each kind.
const TIMES: usize = 3;

/// The number of shared states. It gives 20 million states.
const SHARED: u64 = 77;

/// Runs all kinds and prints a table.
pub(crate) fn compare() {
    let heading = ["states", "processes", "s", "CPU s", "CPU/one job", "supersteps", "sent/state", "bytes/state"];
    let mut table = table(heading.into_iter().chain(["blocks/level", "bytes/state in tables"]));
    let mut cpu_of_one_job = f64::INFINITY;
    // `None`: one job in one process, without supersteps.
    for processes in [0, 1, 2, 4] {
        let mut best = [f64::INFINITY; 8];
        for _ in 0..TIMES {
            let figures: [f64; 8] = figures(&[ONE, &SHARED.to_string(), &processes.to_string()]);
            if figures[0] < best[0] {
                best = figures;
            }
        }
        let [seconds, cpu, supersteps, sent, bytes, blocks, levels, tables] = best;
        if processes == 0 {
            cpu_of_one_job = cpu;
        }
        #[expect(clippy::cast_precision_loss, reason = "a rounded figure is enough")]
        let states = family(SHARED).states() as f64;
        let name = if processes == 0 { "one job".to_owned() } else { processes.to_string() };
        table.add_row([
            states.to_string(),
            name,
            format!("{seconds:.2}"),
            format!("{cpu:.2}"),
            format!("{:.2}", cpu / cpu_of_one_job),
            format!("{supersteps}"),
            format!("{:.2}", sent / states),
            format!("{:.1}", bytes / states),
            format!("{:.0}", blocks / levels),
            format!("{:.1}", tables / states),
        ]);
    }
    println!("{}", table.lines(" "));
}

/// Returns the request to join a run.
fn request(shared: u64, location: ProcessLocation) -> JoinRequest {
    let system = Arc::new(family(shared).problem().system().clone());
    let share =
        move |part, parts| Share::new(Arc::clone(&system), false, PartId { part, parts, seed: 0 }, Tuning::SHIPPED);
    let run = Run::new(Vec::new(), Console::process(), None);
    JoinRequest { location, jobs: 1, question: Vec::new(), share: Box::new(share), quiet: true, run }
}

/// Runs process 0 once, and prints the figures.
pub(crate) fn one(shared: u64, processes: usize) {
    let problem = family(shared).problem();
    let options = Options { symmetry: false, memory: 64 << 30, jobs: 1, ladder: Ladder::None, ..Options::default() };
    let others = (processes > 0).then(|| {
        let arguments =
            |process: usize| [ONE, &shared.to_string(), "as", &process.to_string()].map(OsString::from).to_vec();
        let arguments = (1..processes).map(arguments).collect();
        match ClusterTransport.join(request(shared, ProcessLocation::Here { arguments, folder: None })) {
            Ok(JoinOutcome::Coordinator(others)) => others,
            Ok(JoinOutcome::Ended(_)) => unreachable!("this is process 0"),
            Err(why) => panic!("{why}"),
        }
    });
    let start = Instant::now();
    let analysis = match &others {
        None => search_unchecked(&problem, Question::Reachable, &options, |_| ()),
        Some(others) => {
            let elsewhere: Elsewhere = others.clone();
            let mut start = StartPoint::default();
            start.elsewhere = Some(elsewhere);
            let control = Control { start, ..Control::default() };
            search_unchecked_with(control, &problem, Question::Reachable, &options, |_| ())
        }
    };
    let seconds = start.elapsed().as_secs_f64();
    let snapshot = analysis.level_store.snapshot();
    let closed_form = (family(shared).states(), family(shared).steps());
    assert_eq!((snapshot.kept as u64, snapshot.expansions), closed_form, "the counters equal the closed form");
    let (bytes, levels) = (snapshot.bytes, analysis.levels.len());
    let (_, supersteps, sent) = analysis.level_store.sent().unwrap_or((1, 0, Sent::default()));
    if let Some(others) = others {
        others.finish(ClusterEnd { code: 0, is_done: true });
    }
    println!(
        "{seconds} {} {supersteps} {} {} {} {levels} {bytes}",
        processor_seconds(),
        sent.states,
        sent.bytes,
        sent.blocks
    );
}

/// Runs another process of such a run.
pub(crate) fn other(shared: u64, process: usize) {
    if let Err(why) = ClusterTransport.join(request(shared, ProcessLocation::Started { process })) {
        panic!("{why}");
    }
}

/// Returns the CPU time of this process and of its children that have ended, in seconds. Returns
/// zero if there is no `/proc`.
fn processor_seconds() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    // The user time and the system time of this process and of its children, in hundredths of a
    // second.
    let ticks = fields.get(11..15).unwrap_or_default().iter().filter_map(|field| field.parse::<f64>().ok());
    ticks.sum::<f64>() / 100.0
}
