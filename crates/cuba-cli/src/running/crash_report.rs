//! The file for a report about a mistake in cuba itself: the command, the files that it has read,
//! and the mistake.

use crate::analysis::exploration::Exploration;
use crate::json::{self, TraceJson};
use crate::running::answer::{Answer, exit};
use crate::running::lock::lock;
use crate::running::output_files;
use crate::running::run::Run;
use crate::text::file_names::printable_path;
use cpds::{Trace, print_cpds};
use cpds_check::Rejected;
use cuba::{Conclusion, Contradiction};
use serde::Serialize;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::{env, io};

/// The total number of bytes of the input files in a report.
const MOST_BYTES: u64 = 8 << 20;

/// The facts about the run for a report.
#[derive(Default)]
pub(crate) struct ReportContext {
    options: Mutex<String>,
    inputs: Mutex<Vec<PathBuf>>,
}

impl Run {
    /// Records the options, with their defaults.
    pub(crate) fn record_options(&self, options: String) {
        *lock(&self.report.options) = options;
    }

    /// Records the files that the run reads, if they exist.
    pub(crate) fn record_inputs<'p>(&self, files: impl IntoIterator<Item = &'p PathBuf>) {
        let files = files.into_iter().filter(|file| self.files.resolve(file).is_file());
        lock(&self.report.inputs).extend(files.cloned());
    }
}

/// The part that every report has.
#[derive(Serialize)]
struct RunFacts {
    cuba: &'static str,
    /// The operating system and the architecture.
    system: String,
    command: Vec<String>,
    options: String,
    phase: &'static str,
    files: Vec<Input>,
}

/// A file that was read.
#[derive(Serialize)]
struct Input {
    file: String,
    /// The length of the file.
    bytes: u64,
    /// The text, or the beginning of it.
    text: String,
    is_cut: bool,
}

impl RunFacts {
    fn new(run: &Run) -> Self {
        let mut left = MOST_BYTES;
        let mut read = |path: &PathBuf| {
            let mut text = Vec::new();
            let file = run.files.resolve(path);
            let bytes = fs::metadata(&file).ok()?.len();
            File::open(&file).ok()?.take(left).read_to_end(&mut text).ok()?;
            left -= text.len() as u64;
            let is_cut = (text.len() as u64) < bytes;
            Some(Input { file: printable_path(path), bytes, text: String::from_utf8_lossy(&text).into_owned(), is_cut })
        };
        RunFacts {
            cuba: env!("CARGO_PKG_VERSION"),
            system: format!("{} {}", env::consts::OS, env::consts::ARCH),
            command: run.arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
            options: lock(&run.report.options).clone(),
            phase: run.phase().words(),
            files: lock(&run.report.inputs).iter().filter_map(&mut read).collect(),
        }
    }
}

/// The report of a contradiction between two engines, or between an engine and the checker.
#[derive(Serialize)]
struct Disagreement<'a> {
    #[serde(flatten)]
    facts: RunFacts,
    contradiction: &'a str,
    /// The model, with the property.
    model: String,
    /// The options of the analysis.
    analysis: String,
    /// |T(R_k)| for each k.
    levels: Vec<String>,
    /// The overapproximations and their results.
    rungs: Vec<String>,
    /// The trace to the state, if it is a bad one.
    trace: Option<TraceJson>,
}

/// Writes a report about a contradiction. Returns a note with its file.
fn disagreement(run: &Run, explored: &Exploration<'_>, what: &str, trace: Option<&(Trace, usize)>) -> String {
    let analysis = &explored.analysis;
    let report = Disagreement {
        facts: RunFacts::new(run),
        contradiction: what,
        model: print_cpds(explored.problem),
        analysis: format!("{:?}", explored.options),
        levels: analysis.levels.iter().map(|level| format!("k = {}: {}", level.k, level.visible)).collect(),
        rungs: analysis.rungs.iter().map(|climbed| format!("{}: {:?}", climbed.rung, climbed.outcome)).collect(),
        trace: trace.map(|(trace, pattern)| json::trace(explored.problem, trace, *pattern, None)),
    };
    write(run, "contradiction", &json::print(&report))
}

/// The report of a panic.
#[derive(Serialize)]
pub(crate) struct Panic {
    #[serde(rename = "panic")]
    pub(crate) message: String,
    /// The place in the source of cuba or of a library.
    pub(crate) location: String,
    pub(crate) thread: String,
    /// Line by line.
    pub(crate) backtrace: Vec<String>,
}

/// Writes a report about a panic. Returns a note with its file.
pub(crate) fn panic(run: &Run, panic: &Panic) -> String {
    #[derive(Serialize)]
    struct Report<'a> {
        #[serde(flatten)]
        facts: RunFacts,
        #[serde(flatten)]
        panic: &'a Panic,
    }
    write(run, "panic", &json::print(&Report { facts: RunFacts::new(run), panic }))
}

/// Writes a report to a new file in the run's folder or, if that fails, in the folder for temporary
/// files.
fn write(run: &Run, kind: &str, text: &str) -> String {
    let in_folder = |folder: &Path| -> Result<PathBuf, String> {
        for number in 1..1000 {
            let path = folder.join(format!("cuba-{kind}-{number}.json"));
            match File::create_new(run.files.resolve(&path)) {
                // No other process can take this name now.
                Ok(_) => {
                    let written = output_files::write(run, &path, |out| out.write_all(text.as_bytes()));
                    let remove = |_: &String| fs::remove_file(run.files.resolve(&path)).unwrap_or_default();
                    return written.inspect_err(remove).map(|()| path);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        Err("there are already a thousand reports".to_owned())
    };
    match in_folder(Path::new("")).or_else(|_| in_folder(&env::temp_dir())) {
        Ok(path) => {
            format!("note: the file `{}` has everything that a report needs; please attach it\n", printable_path(&path))
        }
        Err(error) => format!("error: cannot write the report: {error}\n"),
    }
}

impl Exploration<'_> {
    /// Builds the answer if two engines contradict each other. Also writes a report.
    pub(crate) fn contradiction(&self, run: &Run, contradiction: &Contradiction, remarks: String) -> Answer {
        let what = match contradiction {
            Contradiction::RuledOut { state, rung, .. } => {
                let (state, s) = (self.system().paper(state), self.level_letter());
                format!("{state} is in T({s}_k), and {rung} rules it out")
            }
            Contradiction::Levels { k } => format!("R_{k} and S_{k} have different visible states"),
        };
        let trace = match contradiction {
            Contradiction::RuledOut { trace, .. } => trace.as_ref(),
            Contradiction::Levels { .. } => None,
        };
        let errors =
            format!("error: two engines contradict each other, so at least one is wrong: {what}; please report it\n");
        self.mistake(run, (&what, errors), trace, remarks)
    }

    /// Builds the answer if the evidence is rejected. Also writes a report.
    pub(crate) fn rejected(&self, run: &Run, rejected: &Rejected, remarks: String) -> Answer {
        let trace = match &self.analysis.conclusion {
            Conclusion::Unsafe { trace, pattern } => Some((trace.clone(), *pattern)),
            _ => None,
        };
        let what = format!("the evidence for the answer does not pass the check: {rejected}");
        let errors = format!("error: {what}; please report it\n");
        self.mistake(run, (&what, errors), trace.as_ref(), remarks)
    }

    /// Builds the answer about a mistake in cuba itself.
    fn mistake(
        &self,
        run: &Run,
        (what, mut errors): (&str, String),
        trace: Option<&(Trace, usize)>,
        remarks: String,
    ) -> Answer {
        errors += &disagreement(run, self, what, trace);
        Answer { stdout: format!("error: {what}\n"), remarks, errors, code: exit::INTERNAL }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::running::console::Console;
    use cuba::{Options, Question, Rung, search_unchecked};
    use std::sync::Arc;
    use std::time::Duration;

    const SAFE: &str = include_str!("../../../../models/squeeze/get-and-put.cpds");

    fn explored(problem: &cpds::Problem) -> Exploration<'_> {
        let analysis = search_unchecked(problem, Question::Verify, &Options::default(), |_| ());
        Exploration::new((problem, Question::Verify), analysis, Options::default(), Duration::ZERO)
    }

    /// A run with its files in this folder.
    fn run_in(folder: &Path) -> Arc<Run> {
        let run = Run::new(Vec::new(), Console::captured().0, None);
        run.files.set_folder(folder);
        run
    }

    /// The contradiction is made up, because the engines have none.
    #[test]
    fn a_contradiction_makes_a_report() {
        let problem: cpds::Problem = include_str!("../../../../models/paper/fig1.cpds").parse().unwrap();
        let options = Options::default();
        let analysis = search_unchecked(&problem, Question::Verify, &options, |_| ());
        let Conclusion::Unsafe { trace, pattern } = analysis.conclusion.clone() else { panic!("unsafe") };
        let contradiction = Contradiction::RuledOut {
            state: trace.last().visible(),
            rung: Rung::Abstract(1),
            trace: Some((trace, pattern)),
        };
        let explored = Exploration::new((&problem, Question::Verify), analysis, options, Duration::ZERO);
        let folder = tempfile::tempdir().unwrap();
        let run = run_in(folder.path());
        for number in 1..=2 {
            let answer = explored.contradiction(&run, &contradiction, String::new());
            assert_eq!((answer.code, &*answer.stdout), (6, "error: ⟨0|1,6⟩ is in T(R_k), and A_1 rules it out\n"));
            let text =
                std::fs::read_to_string(folder.path().join(format!("cuba-contradiction-{number}.json"))).unwrap();
            let report: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(
                report["model"].as_str().unwrap().parse::<cpds::Problem>().unwrap(),
                problem,
                "it can be run again"
            );
            assert_eq!(report["trace"]["contexts"].as_array().unwrap().len(), 4);
        }
        let run = run_in(&folder.path().join("nowhere"));
        let answer = explored.contradiction(&run, &Contradiction::Levels { k: 3 }, String::new());
        let elsewhere = answer.errors.split('`').nth(1).expect("a name");
        assert!(answer.code == 6 && Path::new(elsewhere).starts_with(std::env::temp_dir()), "{}", answer.errors);
        std::fs::remove_file(elsewhere).unwrap();
    }

    /// The rejection is made up, because the checker accepts the evidence.
    #[test]
    fn a_wrong_answer_is_not_printed() {
        let problem: cpds::Problem = SAFE.parse().unwrap();
        let rejected = Rejected::Violated(cpds_check::Condition::Bad, "it has bad states".to_owned());
        let folder = tempfile::tempdir().unwrap();
        let answer = explored(&problem).rejected(&run_in(folder.path()), &rejected, String::new());
        assert_eq!(answer.code, exit::INTERNAL);
        assert!(answer.stdout.starts_with("error: the evidence for the answer does not pass the check: rejected: "));
        assert!(answer.errors.contains("please report it"), "{}", answer.errors);
        assert!(folder.path().join("cuba-contradiction-1.json").exists());
    }
}
