//! The model collection: every model of `models/` with the answers expected of it.
//!
//! An engine's test is one call: [`run`] hands it each model and compares its [`Answers`] with what is expected. What an
//! engine does not answer is printed as skipped, by name.

use boolprog::Options;
use cpds::{Problem, Reader, Reading, Source};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// A model and what is known about it.
pub struct Model {
    /// Its path below `models/`, without the extension: `paper/fig1`; of a Boolean program, also what it is started with.
    pub name: String,
    /// What `cuba` needs to be told to read it: the file, from the root of the repository, and for a Boolean program the options.
    pub arguments: Vec<String>,
    /// The system and its property.
    pub problem: Problem,
    /// The expected answers.
    pub expected: Expected,
}

/// The answers beside a model, in a TOML file of the same name.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// What the model shows.
    pub shows: String,
    /// Where it comes from.
    pub source: String,
    /// How the answers were found.
    pub found_by: String,
    /// Safe or unsafe.
    pub verdict: Verdict,
    /// For safe: what proves it if nothing is asked for by name, `Z` or `matched-Z ∩ A_0`, or `R_k` or `S_k` (Scheme 1).
    pub proved_by: Option<String>,
    /// Why no engine can decide it, where none can. The verdict is the truth all the same, found by hand.
    pub undecided: Option<String>,
    /// For unsafe: the least number of contexts that reaches a bad state.
    pub contexts: Option<usize>,
    /// Whether finite context reachability holds (§5).
    pub fcr: bool,
    /// |R_k| for k = 0, 1, …, where it is finite.
    pub reachable: Option<Vec<usize>>,
    /// |T(R_k)| for k = 0, 1, …, until it has collapsed.
    pub visible: Vec<usize>,
    /// For models without FCR: explored up to this stack height, all of `visible` is seen.
    pub height: Option<usize>,
    /// Where the oracle should stop in a test, because it takes too long to see everything.
    pub oracle_up_to: Option<usize>,
    /// Where the sequences collapse, by Table 1.
    pub collapse: Collapse,
    /// |T(R)|.
    pub visible_total: usize,
}

/// Where the sequences collapse.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Collapse {
    /// (R_k); nothing if it diverges.
    pub reachable: Option<usize>,
    /// (T(R_k)), which always converges.
    pub visible: usize,
}

/// The answer to the property.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the words say it")]
pub enum Verdict {
    Safe,
    Unsafe,
}

impl Expected {
    /// What is wrong with these answers as they stand, whatever the model is.
    pub fn contradiction(&self) -> Option<&'static str> {
        let collapses = |counts: &[usize], k: usize| counts[k..].iter().all(|&n| n == counts[k]);
        let least = |counts: &[usize], k: usize| {
            k + 1 < counts.len() && collapses(counts, k) && (k == 0 || !collapses(counts, k - 1))
        };
        let grows = |counts: &[usize]| counts.windows(2).all(|pair| pair[0] < pair[1]);
        let checks = [
            ((self.verdict == Verdict::Unsafe) == self.contexts.is_some(), "contexts are for unsafe, and only for it"),
            (
                (self.verdict == Verdict::Safe) == (self.proved_by.is_some() || self.undecided.is_some()),
                "what is safe is proved by something, or undecided, and nothing else is",
            ),
            (self.proved_by.is_none() || self.undecided.is_none(), "what is undecided is not proved by anything"),
            (self.fcr == self.reachable.is_some(), "|R_k| is for models with FCR, and only for them"),
            (self.fcr == self.height.is_none(), "a height is for models without FCR, and only for them"),
            (self.contexts.is_none_or(|k| k < self.visible.len()), "|T(R_k)| is listed up to the bad state at least"),
            (self.visible.is_sorted(), "T(R_k) does not shrink"),
            (
                self.reachable.as_ref().is_none_or(|counts| {
                    counts.len() == self.visible.len() && counts.iter().zip(&self.visible).all(|(r, t)| t <= r)
                }),
                "|R_k| is listed as far as |T(R_k)|, and is at least as large",
            ),
            (self.collapse.reachable.is_none_or(|k| k >= self.collapse.visible), "T(R_k) collapses no later than R_k"),
            (least(&self.visible, self.collapse.visible), "T(R_k) does not collapse there"),
            (self.visible.last() == Some(&self.visible_total), "|T(R)| is not the last |T(R_k)|"),
            (
                self.reachable.as_ref().is_none_or(|counts| match self.collapse.reachable {
                    Some(k) => least(counts, k),
                    None => grows(counts),
                }),
                "R_k does not collapse there, or does not diverge",
            ),
        ];
        checks.into_iter().find(|(fine, _)| !fine).map(|(_, message)| message)
    }
}

/// What an engine found out about a model; `None` is what it does not answer.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// Whether finite context reachability holds.
    pub fcr: Option<bool>,
    /// |R_k| for k = 0, 1, …, as far as it went.
    pub reachable: Option<Vec<usize>>,
    /// |T(R_k)|, likewise.
    pub visible: Option<Vec<usize>>,
    /// |T(R)|.
    pub visible_total: Option<usize>,
    /// Where (R_k) collapses.
    pub collapse_reachable: Option<usize>,
    /// Where (T(R_k)) collapses.
    pub collapse_visible: Option<usize>,
    /// Safe, or unsafe with the least number of contexts.
    pub verdict: Option<(Verdict, Option<usize>)>,
    /// What proves that it is safe.
    pub proved_by: Option<String>,
    /// Whether everything was tried, so that no verdict means that the model is undecided.
    pub is_final: bool,
}

/// Asks an engine about every model and compares its answers with the expected ones.
///
/// # Panics
/// If an answer is not the expected one.
pub fn run(engine: &str, mut answer: impl FnMut(&Model) -> Answers) {
    let mut skipped = Skipped::default();
    for model in models() {
        compare(engine, &model, &answer(&model), &mut skipped);
    }
}

/// Compares an engine's answers with the expected ones.
///
/// # Panics
/// If one is not the expected one.
pub fn compare(engine: &str, Model { name, expected, .. }: &Model, found: &Answers, skipped: &mut Skipped) {
    let mut check = |what: &str, found: Option<String>, expected: Option<String>| match (found, expected) {
        (Some(found), Some(expected)) => assert_eq!(found, expected, "{engine} on {name}: {what}"),
        (Some(found), None) => panic!("{engine} on {name}: {what} is {found}, but there is none"),
        (None, Some(_)) => skipped.add(name, &format!("{engine} does not say {what}")),
        (None, None) => {}
    };
    // What comes after the list is known too: T(R_k) has collapsed, and R_k has, or goes on growing.
    let tail =
        |counts: &Option<Vec<usize>>, from: usize| counts.iter().flatten().skip(from).copied().collect::<Vec<_>>();
    let after = tail(&found.visible, expected.visible.len());
    assert!(after.iter().all(|&n| n == expected.visible_total), "{engine} on {name}: |T(R_k)| goes on with {after:?}");
    if let Some(reachable) = &expected.reachable {
        let after = tail(&found.reachable, reachable.len() - 1);
        let goes_on = after.windows(2).all(|pair| match expected.collapse.reachable {
            Some(_) => pair[0] == pair[1],
            None => pair[0] < pair[1],
        });
        assert!(goes_on, "{engine} on {name}: |R_k| goes on with {after:?}");
    }
    // The list itself is compared as far as both go.
    let mut sequence = |what: &str, found: &Option<Vec<usize>>, expected: Option<&Vec<usize>>| {
        let both = found.as_ref().zip(expected).map_or(0, |(a, b)| a.len().min(b.len()));
        let shown = |counts: &Vec<usize>| format!("{:?}", &counts[..both.min(counts.len())]);
        check(what, found.as_ref().map(shown), expected.map(shown));
        if let (Some(found), Some(expected)) = (found, expected)
            && found.len() < expected.len()
        {
            check(&format!("{what} for k ≥ {both}"), None, Some(String::new()));
        }
    };
    sequence("|R_k|", &found.reachable, expected.reachable.as_ref());
    sequence("|T(R_k)|", &found.visible, Some(&expected.visible));
    let shown = |n: usize| n.to_string();
    check("FCR", found.fcr.map(|fcr| fcr.to_string()), Some(expected.fcr.to_string()));
    check("|T(R)|", found.visible_total.map(shown), Some(expected.visible_total.to_string()));
    check("collapse of R_k", found.collapse_reachable.map(shown), expected.collapse.reachable.map(shown));
    check("collapse of T(R_k)", found.collapse_visible.map(shown), Some(expected.collapse.visible.to_string()));
    let verdict = (expected.verdict, expected.contexts);
    check("verdict", found.verdict.map(|found| format!("{found:?}")), Some(format!("{verdict:?}")));
    check("proof", found.proved_by.clone(), expected.proved_by.clone());
    if found.is_final {
        let undecided = found.verdict.is_none();
        assert_eq!(undecided, expected.undecided.is_some(), "{engine} on {name}: whether it is undecided");
    }
}

/// What a test did not look at, and why; printed, so that nobody takes silence for success.
#[derive(Default)]
pub struct Skipped(BTreeMap<String, Vec<String>>);

impl Skipped {
    /// Notes something left out.
    pub fn add(&mut self, what: &str, why: &str) {
        self.0.entry(why.to_owned()).or_default().push(what.to_owned());
    }
}

impl Drop for Skipped {
    fn drop(&mut self) {
        for (why, what) in &self.0 {
            // Not `eprintln!`, which the test runner keeps to itself when the test passes.
            let _ = writeln!(std::io::stderr(), "skipped, because {why}: {}", what.join(", "));
        }
    }
}

/// All models, in the order of their names.
///
/// # Panics
/// If a model does not load without warnings, or has no TOML beside it, or one that contradicts itself, or a TOML has
/// no model.
pub fn models() -> Vec<Model> {
    let root = repository().join("models");
    let mut tomls = files(&root, "toml");
    let mut models: Vec<_> = files(&root, "cpds").iter().map(|path| model(&root, path)).collect();
    models.extend(files(&root, "bp").iter().flat_map(|path| runs(&root, path)));
    tomls.retain(|path| !path.with_extension("cpds").exists() && !path.with_extension("bp").exists());
    assert!(tomls.is_empty(), "answers without a model: {tomls:?}");
    models
}

fn name_of(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).expect("found below it").with_extension("").display().to_string()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn model(root: &Path, path: &Path) -> Model {
    let name = name_of(root, path);
    let reading = Reader::cpds(Source::new(&name, read(path))).finish().unwrap_or_else(|e| panic!("{e}"));
    let answers = toml::from_str(&read(&path.with_extension("toml")));
    let expected = answers.unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let arguments = vec![format!("models/{name}.cpds")];
    made(name, arguments, reading, expected)
}

fn made(name: String, arguments: Vec<String>, reading: Reading, expected: Expected) -> Model {
    assert_eq!(reading.diagnostics.kept(), [], "{name}");
    assert_eq!(expected.contradiction(), None, "{name}");
    Model { name, arguments, problem: reading.problem, expected }
}

/// A Boolean program, once for each `[[run]]` of its answers. What stands before the runs is said of all.
fn runs(root: &Path, path: &Path) -> Vec<Model> {
    let name = name_of(root, path);
    let fail = |error: &dyn std::fmt::Display| -> ! { panic!("{name}.toml: {error}") };
    let mut answers: toml::Table = read(&path.with_extension("toml")).parse().unwrap_or_else(|e| fail(&e));
    let Some(toml::Value::Array(runs)) = answers.remove("run") else { fail(&"no [[run]]") };
    let source = read(path);
    let model = |run: toml::Value| {
        let run: Run = run.try_into().unwrap_or_else(|e| fail(&e));
        let mut table = answers.clone();
        table.extend(run.answers);
        let expected: Expected = table.try_into().unwrap_or_else(|e| fail(&e));
        let instances = run.instances.iter().flat_map(|text| text.split(','));
        let instance = |text: &str| {
            let (function, copies) = text.split_once('=').unwrap_or_else(|| fail(&"instances = \"f=1,g=2\""));
            (function.to_owned(), copies.parse().unwrap_or_else(|e| fail(&e)))
        };
        let options =
            Options { instances: instances.map(instance).collect(), threads: run.threads, ..Options::default() };
        let mut arguments = vec![format!("models/{name}.bp")];
        arguments.extend(run.instances.iter().map(|instances| format!("--instances={instances}")));
        arguments.extend(run.threads.iter().map(|threads| format!("--threads={threads}")));
        let name = run.instances.as_ref().map_or(name.clone(), |instances| format!("{name} {instances}"));
        let lowered = boolprog::read(Source::new(&name, source.clone()), &options).unwrap_or_else(|e| fail(&e));
        made(name, arguments, lowered.reading, expected)
    };
    runs.into_iter().map(model).collect()
}

/// One run of a Boolean program: what it is started with, and the answers then.
#[derive(Deserialize)]
struct Run {
    /// `--instances`.
    instances: Option<String>,
    /// `--threads`.
    threads: Option<u32>,
    /// Where the paper says something else, and why.
    #[serde(rename = "note")]
    _note: Option<String>,
    #[serde(flatten)]
    answers: toml::Table,
}

/// Every file below `folder` with this extension, sorted.
pub fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = all_files(folder);
    found.retain(|path| path.extension().is_some_and(|found| found == extension));
    found
}

/// All files in a folder and below it, sorted.
///
/// # Panics
/// If the folder cannot be read.
pub fn all_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        for path in entries.map(|entry| entry.expect("readable").path()) {
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

/// The paper's benchmark systems, which are not part of this repository: the folder beside it, if it is there.
/// Otherwise `what`, which needs them, is noted as skipped.
pub fn artifact(what: &str) -> Option<PathBuf> {
    let folder = repository().join("../shared/data/cuba-artifact");
    if !folder.is_dir() {
        Skipped::default().add(what, "../shared/data/cuba-artifact is not there");
    }
    folder.is_dir().then_some(folder)
}

/// The root of this repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
