//! `campaign N SEED`: so many random systems, and a tenth as many programs, through everything that
//! can answer.

use clap::{Parser, Subcommand};
use cpds_campaign::case::{Case, Finding, Kinds, Of};
use cpds_campaign::tally::Tally;
use cpds_campaign::{regression, suite};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Random systems and programs through every engine, against the oracle and against each other
///
/// Exit codes: 0 nothing was found, 1 something disagrees (and is kept as a regression), 2 usage.
#[derive(Parser, Debug)]
#[command(name = "campaign", args_conflicts_with_subcommands = true)]
struct Arguments {
    #[command(subcommand)]
    command: Option<Other>,
    /// How many systems
    #[arg(default_value_t = 1000)]
    systems: u64,
    /// Where the random numbers start
    #[arg(default_value_t = 0)]
    seed: u64,
    /// How many programs [default: a tenth as many]
    #[arg(long)]
    programs: Option<u64>,
    /// How many cases at a time
    #[arg(long, default_value_t = 1)]
    jobs: usize,
    /// Start no further case after so many seconds
    #[arg(long)]
    seconds: Option<u64>,
    /// This one case alone, as it was named: SEED:NUMBER, or SEED:pNUMBER for a program
    #[arg(long)]
    case: Option<Case>,
    /// Where findings are kept
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR"), "/regressions"))]
    regressions: PathBuf,
}

/// No case takes a tenth of this, on a machine that has time for it.
const TOO_LONG: Duration = Duration::from_secs(120);

#[derive(Subcommand, Debug)]
enum Other {
    /// Write models with known answers, for `cuba bench`
    Suite {
        /// Where to
        folder: PathBuf,
        /// How many
        models: u64,
        /// Where the random numbers start
        seed: u64,
    },
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(Other::Suite { folder, models, seed }) = &arguments.command {
        return match suite::write(folder, *models, *seed) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: `{}`: {error}", folder.display());
                ExitCode::from(2)
            }
        };
    }
    // A panic is a finding, and told as such.
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
    findings.sort_by_key(|finding| (finding.case.of == Of::Program, finding.case.number));
    print!("{tally}");
    eprintln!("{:.1} s", start.elapsed().as_secs_f64());
    println!("{} of {} cases disagree", findings.len(), tally.of("cases", "done"));
    if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

impl Arguments {
    /// The cases, programs among systems.
    fn cases(&self) -> Vec<Case> {
        let programs = self.programs.unwrap_or(self.systems / 10);
        let case = |of| move |number| Case { seed: self.seed, number, of };
        let systems = (0..self.systems).map(case(Of::System));
        systems.chain((0..programs).map(case(Of::Program))).collect()
    }

    fn run(&self, cases: &[Case], start: Instant) -> (Tally, Vec<Finding>) {
        let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let total = Mutex::new((Tally::default(), Vec::new()));
        let workers: Vec<Mutex<Option<(Case, Instant)>>> = (0..self.jobs.max(1)).map(|_| Mutex::new(None)).collect();
        let is_over = || self.seconds.is_some_and(|seconds| start.elapsed() > Duration::from_secs(seconds));
        let work = |at: &Mutex<Option<(Case, Instant)>>| {
            let (kinds, mut tally) = (Kinds::default(), Tally::default());
            while let Some(&case) = cases.get(next.fetch_add(1, Ordering::Relaxed)).filter(|_| !is_over()) {
                *at.lock().expect("nobody panics") = Some((case, Instant::now()));
                if let Err(finding) = kinds.run(case, &mut tally) {
                    self.tell(&finding);
                    total.lock().expect("nobody panics").1.push(*finding);
                }
                let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                if done.is_multiple_of(1000) {
                    eprintln!("{done} cases, {:.0} s", start.elapsed().as_secs_f64());
                }
            }
            *at.lock().expect("nobody panics") = None;
            total.lock().expect("nobody panics").0.merge(tally);
        };
        thread::scope(|scope| {
            let running: Vec<_> = workers.iter().map(|at| scope.spawn(|| work(at))).collect();
            let mut told: Option<Case> = None;
            while running.iter().any(|worker| !worker.is_finished()) {
                thread::sleep(Duration::from_millis(20));
                // Whatever a case does is limited in work. One that goes on all the same cannot be
                // stopped, but named.
                for (case, since) in workers.iter().filter_map(|at| *at.lock().expect("nobody panics")) {
                    if since.elapsed() > TOO_LONG && told != Some(case) {
                        eprintln!("case {case} has not ended after {} s", TOO_LONG.as_secs());
                        told = Some(case);
                    }
                }
            }
        });
        let (mut tally, findings) = total.into_inner().expect("nobody panics");
        tally.add("cases", "done", done.into_inner());
        (tally, findings)
    }

    fn tell(&self, finding: &Finding) {
        let Finding { case, disagreement, text } = finding;
        eprintln!("case {case}: {}\n{}\n{text}", disagreement.law, disagreement.detail);
        match regression::save(&self.regressions, finding) {
            Ok(path) => eprintln!("kept in {}", path.display()),
            Err(error) => eprintln!("cannot be kept: {error}"),
        }
    }
}
