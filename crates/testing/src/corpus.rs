//! The model collection: every model of `models/` with its expected answers.
//!
//! An engine's test is one call: [`run`] gives each model to the engine and compares its
//! [`Answers`] with the expected ones. An answer that the engine does not give is listed as
//! skipped.

use crate::skipped::{Skipped, skip};
use boolprog::Options;
use cpds::{Problem, Reader, Source};
pub use cpds_models::{Collapse, Expected, Verdict};
use cpds_models::{Run, below};
use std::fs;
use std::path::{Path, PathBuf};

/// A model with its expected answers.
pub struct Model {
    /// The path below `models/`, without the extension: `paper/fig1`. For a Boolean program, the
    /// name also has the instances, if there are several choices.
    pub name: String,
    /// The arguments with which `cuba` reads the model: the file, from the root of the repository,
    /// and the options of a Boolean program.
    pub arguments: Vec<String>,
    /// The system and its property.
    pub problem: Problem,
    /// The expected answers.
    pub expected: Expected,
}

/// The answers of an engine about a model; `None` where the engine gives no answer.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    /// Whether finite context reachability holds.
    pub fcr: Option<bool>,
    /// |R_k| for k = 0, 1, …, up to the last computed level.
    pub reachable: Option<Vec<usize>>,
    /// |T(R_k)| for k = 0, 1, …, up to the last computed level.
    pub visible: Option<Vec<usize>>,
    /// |T(R)|.
    pub visible_total: Option<usize>,
    /// The k at which (R_k) collapses.
    pub collapse_reachable: Option<usize>,
    /// The k at which (T(R_k)) collapses.
    pub collapse_visible: Option<usize>,
    /// Safe; or unsafe, with the least number of contexts.
    pub verdict: Option<(Verdict, Option<usize>)>,
    /// The set that proves safety.
    pub proved_by: Option<String>,
    /// Whether the engine has tried everything. Then a missing verdict means that the model is
    /// undecided.
    pub is_final: bool,
}

/// Gives every model to an engine and compares its answers with the expected ones.
///
/// # Panics
/// If an answer differs from the expected one.
pub fn run(engine: &str, mut answer: impl FnMut(&Model) -> Answers) {
    let mut skipped = Skipped::default();
    for model in models() {
        compare(engine, &model, &answer(&model), &mut skipped);
    }
}

/// Compares an engine's answers about a model with the expected ones.
///
/// # Panics
/// If an answer differs from the expected one.
pub fn compare(engine: &str, Model { name, expected, .. }: &Model, found: &Answers, skipped: &mut Skipped) {
    let (collapse, total) = (expected.collapse.expect("complete"), expected.visible_total.expect("complete"));
    let mut check = |what: &str, found: Option<String>, expected: Option<String>| match (found, expected) {
        (Some(found), Some(expected)) => assert_eq!(found, expected, "{engine} on {name}: {what}"),
        (Some(found), None) => panic!("{engine} on {name}: {what} is {found}, but expected is no value"),
        (None, Some(_)) => skipped.add(name, &format!("{engine} does not compute {what}")),
        (None, None) => {}
    };
    // After the end of the expected lists, T(R_k) has collapsed. R_k has collapsed too, or grows at
    // each level.
    let tail =
        |counts: &Option<Vec<usize>>, from: usize| counts.iter().flatten().skip(from).copied().collect::<Vec<_>>();
    let after = tail(&found.visible, expected.visible.len());
    assert!(after.iter().all(|&n| n == total), "{engine} on {name}: |T(R_k)| goes on with {after:?}");
    if let Some(reachable) = &expected.reachable {
        let after = tail(&found.reachable, reachable.len() - 1);
        let goes_on = after.windows(2).all(|pair| match collapse.reachable {
            Some(_) => pair[0] == pair[1],
            None => pair[0] < pair[1],
        });
        assert!(goes_on, "{engine} on {name}: |R_k| goes on with {after:?}");
    }
    // The lists are compared up to the end of the shorter one.
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
    check("FCR", found.fcr.map(|fcr| fcr.to_string()), expected.fcr.map(|fcr| fcr.to_string()));
    check("|T(R)|", found.visible_total.map(shown), Some(total.to_string()));
    check("collapse of R_k", found.collapse_reachable.map(shown), collapse.reachable.map(shown));
    check("collapse of T(R_k)", found.collapse_visible.map(shown), Some(collapse.visible.to_string()));
    let verdict = (expected.verdict, expected.contexts);
    check("verdict", found.verdict.map(|found| format!("{found:?}")), Some(format!("{verdict:?}")));
    check("proof", found.proved_by.clone(), expected.proved_by.clone());
    if found.is_final {
        let undecided = found.verdict.is_none();
        assert_eq!(undecided, expected.undecided.is_some(), "{engine} on {name}: is the model undecided");
    }
}

/// Reads all models, in the order of their names, except those that are too large for tests.
///
/// # Panics
/// If a model has errors or warnings, if a model has no TOML or a TOML has no model, or if the
/// answers in a TOML contradict each other.
pub fn models() -> Vec<Model> {
    let root = repository().join("models");
    let mut tomls = files(&root, "toml");
    let mut skipped = Skipped::default();
    let found = [files(&root, "cpds"), files(&root, "bp")].concat();
    let models = found.iter().flat_map(|path| runs(&root, path, &mut skipped)).collect();
    tomls.retain(|path| !path.with_extension("cpds").exists() && !path.with_extension("bp").exists());
    assert!(tomls.is_empty(), "TOML files without a model: {tomls:?}");
    models
}

/// Reads the runs of a model: one for each choice of instances in its TOML.
fn runs(root: &Path, path: &Path, skipped: &mut Skipped) -> Vec<Model> {
    let file = path.strip_prefix(root).expect("found below it");
    let name = file.with_extension("").display().to_string();
    let fail = |error: &dyn std::fmt::Display| -> ! { panic!("{name}: {error}") };
    let text = fs::read_to_string(path).unwrap_or_else(|e| fail(&e));
    let model = |Run { instances, threads, expected, .. }: Run| {
        let expected = expected.unwrap_or_else(|| fail(&"the model has no TOML with expected answers"));
        let mut arguments = vec![format!("models/{}", file.display())];
        arguments.extend(instances.iter().map(|instances| format!("--instances={instances}")));
        arguments.extend(threads.iter().map(|threads| format!("--threads={threads}")));
        let name = instances.as_ref().map_or(name.clone(), |instances| format!("{name} {instances}"));
        if let Some(why) = &expected.too_large {
            skipped.add(&name, why);
            return None;
        }
        let source = Source::new(&name, text.clone());
        let reading = if cpds::is_program(path) {
            let instance = |text: &str| {
                let (function, copies) = text.split_once('=').unwrap_or_else(|| fail(&"instances = \"f=1,g=2\""));
                (function.to_owned(), copies.parse().unwrap_or_else(|e| fail(&e)))
            };
            let instances = instances.iter().flat_map(|text| text.split(',')).map(instance).collect();
            boolprog::read(source, &Options { instances, threads, ..Options::default() }).map(|lowered| lowered.reading)
        } else {
            Reader::cpds(source).finish()
        };
        let reading = reading.unwrap_or_else(|e| fail(&e));
        assert_eq!(reading.diagnostics.kept(), [], "{name}");
        assert_eq!(expected.contradiction(), None, "{name}");
        Some(Model { name, arguments, problem: reading.problem, expected })
    };
    cpds_models::runs(path).unwrap_or_else(|e| fail(&e)).into_iter().filter_map(model).collect()
}

/// Returns all files in a folder and its subfolders with this extension, sorted.
///
/// # Panics
/// If the folder cannot be read.
pub fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    found(folder, |path| path.extension().is_some_and(|found| found == extension))
}

/// Returns all files in a folder and its subfolders, sorted.
///
/// # Panics
/// If the folder cannot be read.
pub fn all_files(folder: &Path) -> Vec<PathBuf> {
    found(folder, |_| true)
}

fn found(folder: &Path, wanted: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    below(folder, wanted).unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
}

/// Returns the folder with the paper's benchmark systems, which is next to this repository. If it
/// does not exist, the test of `what` is listed as skipped.
pub fn artifact(what: &str) -> Option<PathBuf> {
    let folder = repository().join("../shared/data/cuba-artifact");
    if !folder.is_dir() {
        skip(&format!("../shared/data/cuba-artifact does not exist, so not tested: {what}"));
    }
    folder.is_dir().then_some(folder)
}

/// Returns the root folder of this repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
