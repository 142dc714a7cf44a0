//! `campaign N SEED`: compares the answers of all engines on N random systems and N/10 random
//! programs.

use clap::{Parser, Subcommand};
use cpds_campaign::case::{Case, CaseKind, Finding, Kinds};
use cpds_campaign::tally::Tally;
use cpds_campaign::{regression, suite};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Compare all engines on random systems and programs with the oracle and with each other
///
/// Exit codes: 0 no disagreement, 1 a disagreement (which is stored as a regression), 2 usage.
#[derive(Parser, Debug)]
#[command(name = "campaign", args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// The number of systems
    #[arg(default_value_t = 1000)]
    systems: u64,
    /// The seed of the random numbers
    #[arg(default_value_t = 0)]
    seed: u64,
    /// The number of programs [default: a tenth of the systems]
    #[arg(long)]
    programs: Option<u64>,
    /// The number of parallel workers
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// Start no further case after this number of seconds
    #[arg(long)]
    seconds: Option<u64>,
    /// Run only this case: SEED:NUMBER, or SEED:pNUMBER for a program
    #[arg(long)]
    case: Option<Case>,
    /// The folder for findings
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/regressions"))]
    regressions: PathBuf,
}

/// A case that runs longer than this is reported. On an idle machine a case takes less than a tenth
/// of it.
const TOO_LONG: Duration = Duration::from_secs(120);

#[derive(Subcommand, Debug)]
enum Command {
    /// Write models with known answers, for `cuba bench`
    Suite {
        /// The folder to write to
        folder: PathBuf,
        /// The number of models
        models: u64,
        /// The seed of the random numbers
        seed: u64,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(Command::Suite { folder, models, seed }) = &arguments.command {
        return match suite::write(folder, *models, *seed) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: `{}`: {error}", folder.display());
                ExitCode::from(2)
            }
        };
    }
    // A panic in a case is reported as a finding.
    std::panic::set_hook(Box::new(|_| ()));
    let cases = match arguments.case {
        Some(case) => vec![case],
        None => arguments.cases(),
    };
    if let Some(case) = arguments.case {
        println!("{}", Kinds::default().text(case));
    }
    let start = Instant::now();
    let (tally, mut findings) = arguments.run(&cases, start);
    findings.sort_by_key(|finding| (finding.case.kind == CaseKind::Program, finding.case.number));
    print!("{tally}");
    eprintln!("{:.1} s", start.elapsed().as_secs_f64());
    println!("{} of {} cases disagree", findings.len(), tally.of("cases", "done"));
    if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

impl Arguments {
    /// Returns the names of all cases: systems, then programs.
    fn cases(&self) -> Vec<Case> {
        let programs = self.programs.unwrap_or(self.systems / 10);
        let case = |kind| move |number| Case { seed: self.seed, number, kind };
        let systems = (0..self.systems).map(case(CaseKind::System));
        systems.chain((0..programs).map(case(CaseKind::Program))).collect()
    }

    fn run(&self, cases: &[Case], start: Instant) -> (Tally, Vec<Finding>) {
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let total = Mutex::new((Tally::default(), Vec::new()));
        let workers: Vec<Mutex<Option<(Case, Instant)>>> = (0..self.jobs.max(1)).map(|_| Mutex::new(None)).collect();
        let is_over = || self.seconds.is_some_and(|seconds| start.elapsed() > Duration::from_secs(seconds));
        let work = |at: &Mutex<Option<(Case, Instant)>>| {
            let (kinds, mut tally) = (Kinds::default(), Tally::default());
            while let Some(&case) = cases.get(next.fetch_add(1, Ordering::Relaxed)).filter(|_| !is_over()) {
                *at.lock().expect("no worker panics") = Some((case, Instant::now()));
                if let Err(finding) = kinds.run(case, &mut tally) {
                    self.report(&finding);
                    total.lock().expect("no worker panics").1.push(*finding);
                }
                let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                if done.is_multiple_of(1000) {
                    eprintln!("{done} cases, {:.0} s", start.elapsed().as_secs_f64());
                }
            }
            *at.lock().expect("no worker panics") = None;
            total.lock().expect("no worker panics").0.merge(tally);
        };
        thread::scope(|scope| {
            let running: Vec<_> = workers.iter().map(|at| scope.spawn(|| work(at))).collect();
            let mut reported: Option<Case> = None;
            while running.iter().any(|worker| !worker.is_finished()) {
                thread::sleep(Duration::from_millis(20));
                // The work of each case is limited. A case that runs for too long anyway is
                // reported, but cannot be stopped.
                for (case, since) in workers.iter().filter_map(|at| *at.lock().expect("no worker panics")) {
                    if since.elapsed() > TOO_LONG && reported != Some(case) {
                        eprintln!("case {case} has not ended after {} s", TOO_LONG.as_secs());
                        reported = Some(case);
                    }
                }
            }
        });
        let (mut tally, findings) = total.into_inner().expect("no worker panics");
        tally.add("cases", "done", done.into_inner());
        (tally, findings)
    }

    fn report(&self, finding: &Finding) {
        let Finding { case, disagreement, text } = finding;
        eprintln!("case {case}: {}\n{}\n{text}", disagreement.law, disagreement.detail);
        match regression::save(&self.regressions, finding) {
            Ok(path) => eprintln!("stored in {}", path.display()),
            Err(error) => eprintln!("cannot be stored: {error}"),
        }
    }
}
