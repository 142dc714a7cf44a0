//! The model collection: every model of `models/` with the answers expected of it.
//!
//! An engine's test takes [`models`] and compares what it finds with each [`Expected`] field it knows about. What
//! it cannot handle it names: see [`Skipped`].

use cpds::{Problem, Reader, Source};
use serde::Deserialize;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// A model and what is known about it.
pub struct Model {
    /// Its path below `models/`, without the extension: `paper/fig1`.
    pub name: String,
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

/// What a test did not look at, and why; printed, so that nobody takes silence for success.
#[derive(Default)]
pub struct Skipped(Vec<String>);

impl Skipped {
    /// Notes something left out.
    pub fn add(&mut self, what: &str, why: &str) {
        self.0.push(format!("skipped {what}: {why}"));
    }
}

impl Drop for Skipped {
    fn drop(&mut self) {
        for line in &self.0 {
            // Not `eprintln!`, which the test runner keeps to itself when the test passes.
            let _ = writeln!(std::io::stderr(), "{line}");
        }
    }
}

/// All models, in the order of their names.
///
/// # Panics
/// If a model does not load without warnings, or has no TOML beside it, or a TOML has no model.
pub fn models() -> Vec<Model> {
    let root = repository().join("models");
    let mut tomls = files(&root, "toml");
    let models: Vec<_> = files(&root, "cpds").iter().map(|path| model(&root, path)).collect();
    tomls.retain(|path| !path.with_extension("cpds").exists());
    assert!(tomls.is_empty(), "answers without a model: {tomls:?}");
    models
}

fn model(root: &Path, path: &Path) -> Model {
    let name = path.strip_prefix(root).expect("found below it").with_extension("").display().to_string();
    let read = |path: &Path| fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let reading = Reader::cpds(Source::new(&name, read(path))).finish();
    assert_eq!(reading.diagnostics.kept(), [], "{name}");
    let answers = read(&path.with_extension("toml"));
    let expected = toml::from_str(&answers).unwrap_or_else(|e| panic!("{name}.toml: {e}"));
    Model { name, problem: reading.problem.expect("no diagnostics"), expected }
}

/// Every file below `folder` with this extension, sorted.
pub fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
        for path in entries.map(|entry| entry.expect("readable").path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The paper's benchmark systems, which are not part of this repository: the folder beside it, if it is there.
/// Otherwise `what` needs them is noted as skipped.
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
