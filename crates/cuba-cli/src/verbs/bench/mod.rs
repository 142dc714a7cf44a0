//! `cuba bench`: runs many models, each in its own process, and prints one table.
//!
//! In: models with their expected answers (`cpds_models`). Each run is a child process
//! (`child.rs`), whose answer is compared with the expected one (`compare.rs`). Out: a table,
//! Markdown, CSV or JSON (`formats.rs`).

mod child;
mod compare;
mod formats;

use crate::arguments::heading;
use crate::arguments::search::EngineChoice;
use crate::arguments::values::{duration, positive, size};
use crate::json::{self, BenchJson, BenchRunJson, Outcome};
use crate::running::answer::{Answer, VerbError, exit};
use crate::running::progress::Progress;
use crate::running::run::Run;
use crate::running::{machine, output_files, signals};
use crate::text::file_names::printable_path;
use crate::text::{style, terminal};
use child::ChildEnd;
use clap::{Args, ValueEnum};
use cpds::diagnostic::{printable, printable_lines};
use cpds_models::Run as ModelRun;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use std::{env, thread};

#[derive(Args, Debug)]
#[command(after_long_help = "\
Examples:
  cuba bench models/tiny
  cuba bench models/tiny models/paper/fig1.cpds --reach --jobs 2
  cuba bench models/tiny --format csv
  cuba bench models/table2 --format markdown -o docs/table2.md

Exit codes: 0 all as expected, 6 an answer is wrong, or cuba failed,
2 a model or its expected answers cannot be read, 5 an answer is unknown, 1 usage")]
pub(crate) struct Bench {
    /// Models or folders with models
    ///
    /// In a folder and its subfolders, every .bp file, every .cpds file, and every .pds file with a
    /// .init file beside it is a model. The expected answers of a model are in the .toml file of
    /// the same name.
    #[arg(required = true, value_name = "DIR|FILE")]
    paths: Vec<PathBuf>,
    /// Run `cuba reach` instead of `cuba verify`
    ///
    /// The runs then compute the reachable visible states and do not look for bad states.
    #[arg(long)]
    reach: bool,
    /// Stop a run after this time
    ///
    /// E.g. 500ms, 90s, 30m or 2h.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration, help_heading = heading::LIMITS)]
    timeout: Duration,
    /// Stop a run when it needs more memory than this
    ///
    /// E.g. 512M or 16G.
    #[arg(long, value_name = "SIZE", default_value = "2G", value_parser = size, help_heading = heading::LIMITS)]
    memory: usize,
    /// Stop a run after K contexts
    #[arg(long, value_name = "K", help_heading = heading::LIMITS)]
    max_contexts: Option<usize>,
    /// Choose the engine, as for `cuba verify`
    #[arg(long, value_name = "ENGINE", default_value = "auto", value_parser = engine, help_heading = heading::SEARCH)]
    engine: String,
    /// Disable symmetry reduction
    ///
    /// The answers are the same.
    #[arg(long, help_heading = heading::SEARCH)]
    no_symmetry: bool,
    /// Make N runs at a time
    ///
    /// The runs share the cores, so their times mean little if N is more than 1.
    #[arg(long, short, value_name = "N", default_value_t = 1, value_parser = positive, help_heading = heading::SEARCH)]
    jobs: usize,
    /// Choose the format: table, markdown, csv or json
    #[arg(long, value_name = "FORMAT", default_value = "table", hide_possible_values = true)]
    format: TableFormat,
    /// Write to this file [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum TableFormat {
    /// Aligned columns
    Table,
    /// A page with a table that also has the published values
    Markdown,
    /// Values separated by commas, with a header
    Csv,
    /// One object
    Json,
}

/// Checks the value of `--engine`, which is passed on as it is.
fn engine(text: &str) -> Result<String, String> {
    text.parse::<EngineChoice>().map(|_| text.to_owned())
}

/// The options that are passed on by default.
const DEFAULTS: [&str; 3] = ["--timeout=60s", "--memory=2147483648", "--engine=auto"];

/// A model to run, with its options.
struct Task {
    file: PathBuf,
    run: ModelRun,
}

/// The result of a run, and its exit code.
struct RunResult {
    row: BenchRunJson,
    code: u8,
}

pub(crate) fn answer(args: &Bench, run: &Arc<Run>, quiet: bool) -> Result<Answer, VerbError> {
    let tasks = args.tasks(run)?;
    if let Some(output) = &args.output {
        let beside = |file: &PathBuf| ["toml", "init", "spec"].map(|extension| file.with_extension(extension));
        let inputs = tasks.iter().flat_map(|task| beside(&task.file).into_iter().chain([task.file.clone()]));
        run.files.check_writable(&inputs.collect::<Vec<_>>(), [output]).map_err(VerbError::Usage)?;
        run.files.expect([output], quiet);
    }
    let results = args.run_all(run, &tasks, quiet)?;
    let mut code = worst_code(results.iter().map(|results| results.code));
    if results.len() < tasks.len() {
        code = worst_code([code, exit::UNKNOWN]);
    }
    let failures = results.iter().filter(|results| results.row.outcome == Outcome::Failed);
    let errors = failures.map(|RunResult { row, .. }| failure_report(row)).collect();
    let runs: Vec<BenchRunJson> = results.into_iter().map(|results| results.row).collect();
    let bench = BenchJson {
        question: args.verb(),
        complete: runs.len() == tasks.len(),
        summary: compare::summary(tasks.len(), &runs),
        runs,
    };
    // In a file, lines are not shortened and have no colour.
    let width = run.console.width().filter(|_| args.output.is_none());
    let text = match args.format {
        TableFormat::Table => terminal::fitted(&formats::table(&bench), width),
        TableFormat::Markdown => formats::markdown(&bench, args.folder().as_deref(), &args.command_line()),
        TableFormat::Csv => formats::csv(&bench),
        TableFormat::Json => json::print(&bench),
    };
    let mut answer = Answer { stdout: text, remarks: String::new(), errors, code };
    if let Some(output) = &args.output {
        let text = style::plain(&answer.stdout);
        match output_files::write(run, output, |out| out.write_all(text.as_bytes())) {
            Ok(()) => {
                answer.stdout = formats::last_line(&bench);
                let _ = writeln!(answer.remarks, "wrote {}", printable_path(output));
            }
            // The results are printed instead, so that no work is lost.
            Err(error) => answer.wrote(run, output, Err(error)),
        }
    }
    Ok(answer)
}

/// Computes the exit code for all runs: an internal error comes first, then bad input, then an
/// unknown answer.
fn worst_code(codes: impl IntoIterator<Item = u8>) -> u8 {
    let order = [exit::OK, exit::UNKNOWN, exit::BAD_INPUT, exit::INTERNAL];
    codes.into_iter().max_by_key(|code| order.iter().position(|known| known == code)).unwrap_or(exit::OK)
}

/// Formats the report of a failed run for standard error.
fn failure_report(row: &BenchRunJson) -> String {
    let instances = row.instances.as_ref().map_or(String::new(), |instances| format!(" {instances}"));
    format!("{}{instances} has no answer:\n{}\n\n", row.file, row.reason)
}

impl Bench {
    fn verb(&self) -> &'static str {
        if self.reach { "reach" } else { "verify" }
    }

    /// Lists all runs of all models. A model that occurs twice is run once.
    fn tasks(&self, run: &Run) -> Result<Vec<Task>, VerbError> {
        let mut tasks = Vec::new();
        let mut seen = HashSet::new();
        for path in &self.paths {
            for file in cpds_models::find(path)? {
                if seen.insert(file.clone()) {
                    run.record_inputs([&file.with_extension("toml")]);
                    let runs = cpds_models::runs(&file)?;
                    tasks.extend(runs.into_iter().map(|run| Task { file: file.clone(), run }));
                }
            }
        }
        Ok(tasks)
    }

    /// Builds the options that are passed on to every run.
    fn options(&self) -> Vec<String> {
        let mut options = vec![
            match self.timeout.subsec_millis() {
                0 => format!("--timeout={}s", self.timeout.as_secs()),
                _ => format!("--timeout={}ms", self.timeout.as_millis()),
            },
            format!("--memory={}", self.memory),
            format!("--engine={}", self.engine),
        ];
        options.extend(self.max_contexts.map(|contexts| format!("--max-contexts={contexts}")));
        options.extend(self.no_symmetry.then(|| "--no-symmetry".to_owned()));
        options
    }

    fn command(&self, cuba: &Path, Task { file, run }: &Task) -> Command {
        let mut command = Command::new(cuba);
        command.args([self.verb(), "--json", "--quiet"]).args(self.options());
        command.arg(format!("--jobs={}", (machine::cores() / self.jobs).max(1)));
        command.args(run.instances.iter().map(|instances| format!("--instances={instances}")));
        command.args(run.threads.iter().map(|threads| format!("--threads={threads}")));
        command.arg("--").arg(file);
        command
    }

    /// Returns the time after which a run is killed. It is longer than the timeout, because the run
    /// prints its results after the timeout.
    fn limit(&self) -> Duration {
        self.timeout.saturating_add(Duration::from_secs(10)).saturating_add(self.timeout / 4)
    }

    /// Makes the runs, `jobs` of them at a time. After Ctrl-C, returns those that are complete.
    fn run_all(&self, run: &Arc<Run>, tasks: &[Task], quiet: bool) -> Result<Vec<RunResult>, VerbError> {
        let cuba = env::current_exe().map_err(|error| VerbError::Usage(format!("cannot find cuba itself: {error}")))?;
        signals::listen(run);
        let progress = Progress::start_unless(quiet, run, "starting", self.memory);
        let done = AtomicUsize::new(0);
        let next = AtomicUsize::new(0);
        let take = || {
            let number = next.fetch_add(1, Ordering::Relaxed);
            tasks.get(number).map(|task| (number, task))
        };
        let work = || {
            let mut results = Vec::new();
            while let Some((number, task)) = take() {
                if let Some(progress) = &progress {
                    let before = done.load(Ordering::Relaxed);
                    progress.show(&format!("{before} of {} runs, {}", tasks.len(), printable_path(&task.file)));
                }
                run.fault("bench");
                let (ended, time) = child::run(run, &mut self.command(&cuba, task), self.limit());
                let Some(row) = task.result(ended, time) else { break };
                results.push((number, row));
                done.fetch_add(1, Ordering::Relaxed);
            }
            results
        };
        let workers = self.jobs.min(tasks.len());
        let mut results: Vec<(usize, RunResult)> = thread::scope(|scope| {
            let workers: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
            workers.into_iter().flat_map(|worker| worker.join().expect("no panic")).collect()
        });
        drop(progress);
        results.sort_by_key(|&(number, _)| number);
        Ok(results.into_iter().map(|(_, result)| result).collect())
    }

    /// Returns the folder, if a folder is the only argument.
    fn folder(&self) -> Option<String> {
        match &self.paths[..] {
            [folder] if folder.is_dir() => Some(printable_path(folder)),
            _ => None,
        }
    }

    /// Formats the command that makes this page, without options that change nothing.
    fn command_line(&self) -> String {
        let mut words = vec!["cuba bench".to_owned()];
        words.extend(self.paths.iter().map(|path| printable_path(path)));
        words.extend(self.reach.then(|| "--reach".to_owned()));
        words.extend(self.options().into_iter().filter(|option| !DEFAULTS.contains(&&**option)));
        words.join(" ") + " --format markdown"
    }
}

impl Task {
    /// Builds the result of the run. Returns nothing for an interrupted run.
    fn result(&self, ended: ChildEnd, time: Duration) -> Option<RunResult> {
        let ModelRun { instances, threads, note, published, expected } = &self.run;
        let mut row = BenchRunJson {
            file: printable_path(&self.file),
            instances: instances.as_deref().map(printable),
            max_threads: *threads,
            outcome: Outcome::Failed,
            verdict: None,
            reason: String::new(),
            expected: expected.as_ref().map(compare::expected),
            answer: None,
            time_s: time.as_secs_f64(),
            peak_memory_bytes: None,
            note: note.clone(),
            published: published.clone(),
        };
        let code = match ended {
            ChildEnd::Interrupted => return None,
            ChildEnd::Failed { why, code } => {
                row.reason = printable_lines(&why);
                code
            }
            ChildEnd::Answered(found) => {
                let answer = found.answer();
                row.outcome = match &answer {
                    Some(answer) => compare::outcome(&found.verdict, answer, row.expected.as_ref()),
                    None => Outcome::Unknown,
                };
                row.answer = answer;
                row.peak_memory_bytes = found.peak_memory_bytes;
                (row.verdict, row.reason) = (Some(found.verdict), found.reason);
                match row.outcome {
                    Outcome::Wrong => exit::INTERNAL,
                    Outcome::Unknown => exit::UNKNOWN,
                    Outcome::AsExpected | Outcome::Failed | Outcome::NotCompared => exit::OK,
                }
            }
        };
        Some(RunResult { row, code })
    }
}
