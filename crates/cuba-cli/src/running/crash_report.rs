//! What somebody needs to find out what is wrong with cuba itself: the command, the files that it has read, and what went wrong, in one file.

use crate::arguments::model::shown;
use crate::json::{self, TraceJson};
use crate::running::limits;
use crate::running::output_files;
use crate::verbs::exploration::Explored;
use cpds::{Trace, print_cpds};
use serde::Serialize;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::{env, io};

/// So much of the files that were read is in a bundle, of all of them together.
const MOST_BYTES: u64 = 8 << 20;

/// What is known of this run, in case it has to be reported.
struct Run {
    options: String,
    inputs: Vec<PathBuf>,
}

static RUN: Mutex<Run> = Mutex::new(Run { options: String::new(), inputs: Vec::new() });

fn this_run() -> MutexGuard<'static, Run> {
    RUN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// These are the options, with their defaults.
pub(crate) fn has_options(options: String) {
    this_run().options = options;
}

/// These files are read, as far as they are there.
pub(crate) fn reads<'p>(files: impl IntoIterator<Item = &'p PathBuf>) {
    this_run().inputs.extend(files.into_iter().filter(|file| file.is_file()).cloned());
}

/// What every bundle has.
#[derive(Serialize)]
struct Told {
    cuba: &'static str,
    /// What it runs on.
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
    /// How long it is.
    bytes: u64,
    /// Its text, or the beginning of it.
    text: String,
    is_cut: bool,
}

impl Told {
    fn new() -> Self {
        let Run { options, inputs } = &*this_run();
        let mut left = MOST_BYTES;
        let mut read = |path: &PathBuf| {
            let mut text = Vec::new();
            let bytes = fs::metadata(path).ok()?.len();
            File::open(path).ok()?.take(left).read_to_end(&mut text).ok()?;
            left -= text.len() as u64;
            let is_cut = (text.len() as u64) < bytes;
            Some(Input { file: shown(path), bytes, text: String::from_utf8_lossy(&text).into_owned(), is_cut })
        };
        Told {
            cuba: env!("CARGO_PKG_VERSION"),
            system: format!("{} {}", env::consts::OS, env::consts::ARCH),
            command: env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
            options: options.clone(),
            phase: limits::phase().words(),
            files: inputs.iter().filter_map(&mut read).collect(),
        }
    }
}

/// Two engines contradict each other, or the checker.
#[derive(Serialize)]
struct Disagreement<'a> {
    #[serde(flatten)]
    told: Told,
    contradiction: &'a str,
    /// The model, with the property.
    model: String,
    /// The options of the analysis.
    analysis: String,
    /// |T(R_k)| for each k.
    levels: Vec<String>,
    /// The overapproximations, and what came of them.
    rungs: Vec<String>,
    /// The way to the state, if it is a bad one.
    trace: Option<TraceJson>,
}

/// Writes a bundle on a contradiction to a folder; says where it is.
pub(crate) fn contradiction(
    folder: &Path,
    explored: &Explored<'_>,
    what: &str,
    trace: Option<&(Trace, usize)>,
) -> String {
    let analysis = &explored.analysis;
    let bundle = Disagreement {
        told: Told::new(),
        contradiction: what,
        model: print_cpds(explored.problem),
        analysis: format!("{:?}", explored.options),
        levels: analysis.levels.iter().map(|level| format!("k = {}: {}", level.k, level.visible)).collect(),
        rungs: analysis.rungs.iter().map(|climbed| format!("{}: {:?}", climbed.rung, climbed.outcome)).collect(),
        trace: trace.map(|(trace, pattern)| json::trace(explored.problem, trace, *pattern, None)),
    };
    write(folder, "contradiction", &json::print(&bundle))
}

/// Something panicked.
#[derive(Serialize)]
pub(crate) struct Panic {
    #[serde(rename = "panic")]
    pub(crate) message: String,
    /// The place in cuba, or in something that it uses.
    pub(crate) location: String,
    pub(crate) thread: String,
    /// Line by line.
    pub(crate) backtrace: Vec<String>,
}

/// Writes a bundle on a panic to the current folder; says where it is.
pub(crate) fn panic(panic: &Panic) -> String {
    #[derive(Serialize)]
    struct Bundle<'a> {
        #[serde(flatten)]
        told: Told,
        #[serde(flatten)]
        panic: &'a Panic,
    }
    write(Path::new(""), "panic", &json::print(&Bundle { told: Told::new(), panic }))
}

/// Writes a bundle to a new file in the folder or, where that cannot be, in the one for what is temporary.
fn write(folder: &Path, kind: &str, text: &str) -> String {
    let in_folder = |folder: &Path| -> Result<PathBuf, String> {
        for number in 1..1000 {
            let path = folder.join(format!("cuba-{kind}-{number}.json"));
            match File::create_new(&path) {
                // Now the name is ours.
                Ok(_) => {
                    let written = output_files::write(&path, |out| out.write_all(text.as_bytes()));
                    let remove = |_: &String| fs::remove_file(&path).unwrap_or_default();
                    return written.inspect_err(remove).map(|()| path);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        Err("there are a thousand reports already".to_owned())
    };
    match in_folder(folder).or_else(|_| in_folder(&env::temp_dir())) {
        Ok(path) => {
            format!("note: everything that is needed for a report is in `{}`: please attach this file\n", shown(&path))
        }
        Err(error) => format!("error: cannot write the report: {error}\n"),
    }
}
