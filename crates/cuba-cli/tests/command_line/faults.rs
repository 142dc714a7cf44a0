//! Injected panics: a panic at any place gives exit code 6 and a crash report, and leaves no
//! incomplete file.

use crate::common::{Ran, cuba, cuba_with};
use crate::outputs::names;
use cpds_testing::skipped::has_faults;
use insta::assert_snapshot;
use serde_json::Value;
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// The paper's Figs. 1 (unsafe) and 2 (safe).
pub(crate) fn models() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [
        ("fig1.cpds", include_str!("../../../../models/paper/fig1.cpds")),
        ("fig2.cpds", include_str!("../../../../models/paper/fig2.cpds")),
    ] {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

/// Runs `cuba` with a panic at a place. `None` in a release build, which cannot inject faults.
fn with_fault(place: &str, folder: &Path, args: &[&str]) -> Option<Ran> {
    if !has_faults() {
        return None;
    }
    Some(cuba_with(folder, &[("CUBA_FAULT", &format!("panic:{place}"))], args))
}

fn bundle(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn a_panic_anywhere() {
    let verify = ["verify", "fig2.cpds", "--certificate", "c.json"];
    let report = ["verify", "fig1.cpds", "--report", "c.html", "--quiet"];
    let bench = ["bench", "fig1.cpds", "--quiet", "-o", "c.json"];
    for (place, args) in [
        ("reading", &verify[..]),
        ("upper search", &verify),
        ("lower search", &[&verify[..], &["--jobs", "1"]].concat()),
        ("upper search", &[&verify[..], &["--jobs", "1"]].concat()),
        ("lower search", &report),
        ("evidence", &verify),
        ("writing", &verify),
        ("writing", &report),
        ("writing", &["convert", "fig1.cpds", "--to", "pds", "-o", "c.pds"]),
        ("writing", &["man", "-o", "."]),
        ("bench", &bench),
        ("writing", &bench),
    ] {
        let folder = models();
        fs::write(folder.path().join("c.json"), "old").unwrap();
        fs::write(folder.path().join("c.html"), "old").unwrap();
        let Some(ran) = with_fault(place, folder.path(), args) else { return };
        assert_eq!((ran.code, &*ran.stdout), (6, ""), "{place} {args:?}: {}", ran.stderr);
        let lines: Vec<&str> = ran.stderr.lines().collect();
        let mistake = "error: this is a mistake in cuba itself, not in your input: a fault on purpose: ";
        assert!(lines[0].starts_with(&format!("{mistake}{place} (")), "{}", ran.stderr);
        assert_eq!(lines[1], "note: the file `cuba-panic-1.json` has everything that a report needs; please attach it");
        let missing: &[&str] = match *args.last().unwrap() {
            "c.json" if !args.contains(&"--quiet") => &["`c.json` was not written (the file there is an older one)"],
            "1" => &["`c.json` was not written (the file there is an older one)"],
            "c.pds" => &["`c.pds` was not written", "`c.init` was not written", "`c.spec` was not written"],
            _ => &[],
        };
        let missing: Vec<String> =
            missing.iter().map(|it| format!("warning: {it}, because the run ended first")).collect();
        assert_eq!(lines[2..], missing, "{place} {args:?}");
        let expected = ["c.html", "c.json", "cuba-panic-1.json", "fig1.cpds", "fig2.cpds"];
        assert_eq!(names(folder.path()), expected, "{place} {args:?}");
        for name in ["c.html", "c.json"] {
            assert_eq!(fs::read_to_string(folder.path().join(name)).unwrap(), "old", "{place} {args:?}");
        }
        let told = bundle(&folder.path().join("cuba-panic-1.json"));
        assert_eq!(told["panic"], format!("a fault on purpose: {place}"));
        let command: Vec<&str> =
            told["command"].as_array().unwrap().iter().map(|word| word.as_str().unwrap()).collect();
        assert_eq!(command[1..], *args);
        assert!(told["location"].as_str().unwrap().contains("faults.rs:"), "{told:#}");
        let backtrace = told["backtrace"].as_array().unwrap();
        assert!(backtrace.iter().any(|line| line.as_str().unwrap().contains("running/faults.rs:")), "{told:#}");
    }
}

#[test]
fn the_content_of_a_bundle_can_be_run_again() {
    let folder = models();
    let args = ["verify", "fig1.cpds", "--target", "2|1,*", "--max-contexts", "7"];
    let Some(ran) = with_fault("evidence", folder.path(), &args) else { return };
    assert_eq!(ran.code, 6);
    let told = bundle(&folder.path().join("cuba-panic-1.json"));
    assert_eq!(told["phase"], "making the evidence");
    assert!(told["options"].as_str().unwrap().contains("max_contexts: Some(7)"), "{told:#}");
    assert_eq!(told["cuba"], env!("CARGO_PKG_VERSION"));
    let again = tempfile::tempdir().unwrap();
    for file in told["files"].as_array().unwrap() {
        fs::write(again.path().join(file["file"].as_str().unwrap()), file["text"].as_str().unwrap()).unwrap();
    }
    let command = told["command"].as_array().unwrap().iter().skip(1).map(|word| word.as_str().unwrap());
    let [first, second] =
        [folder.path(), again.path()].map(|folder| cuba(folder, &command.clone().collect::<Vec<_>>()));
    assert_eq!((first.code, first.stdout), (second.code, second.stdout));
    assert_eq!(first.code, 0, "{}", first.stderr);
}

#[test]
fn files_that_belong_together_and_files_that_are_long() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("m.pds"), "1\nPDA 0 0\n").unwrap();
    fs::write(folder.path().join("m.init"), "0|0\n").unwrap();
    fs::write(folder.path().join("long.cpds"), "#".repeat(9 << 20)).unwrap();
    let Some(_) = with_fault("reading", folder.path(), &["show", "m.pds"]) else { return };
    with_fault("reading", folder.path(), &["fcr", "long.cpds"]);
    let told = bundle(&folder.path().join("cuba-panic-1.json"));
    assert_snapshot!(told["files"], @r#"[{"bytes":10,"file":"m.pds","is_cut":false,"text":"1\nPDA 0 0\n"},{"bytes":4,"file":"m.init","is_cut":false,"text":"0|0\n"}]"#);
    let long = &bundle(&folder.path().join("cuba-panic-2.json"))["files"][0];
    assert_eq!((&long["bytes"], &long["is_cut"]), (&(9 << 20).into(), &true.into()));
    assert_eq!(long["text"].as_str().unwrap().len(), 8 << 20);
}

/// A failed run of `bench` is a row with its message. Its crash report stays.
#[test]
fn a_run_of_bench_panics() {
    let folder = models();
    let Some(ran) = with_fault("upper search", folder.path(), &["bench", "fig1.cpds", "fig2.cpds"]) else { return };
    assert_eq!(ran.code, 6, "{}", ran.stderr);
    assert!(ran.stdout.ends_with("2 runs: 0 as expected, 0 wrong, 0 unknown, 2 failed\n"), "{}", ran.stdout);
    assert!(
        ran.stderr.starts_with("fig1.cpds has no answer:\nerror: this is a mistake in cuba itself"),
        "{}",
        ran.stderr
    );
    assert!(ran.stderr.contains("the file `cuba-panic-2.json` has everything"), "{}", ran.stderr);
    assert_eq!(bundle(&folder.path().join("cuba-panic-2.json"))["files"][0]["file"], "fig2.cpds");
}

/// A bundle that cannot be written in the current folder goes to the folder for temporary files.
#[cfg(target_os = "linux")]
#[test]
fn a_bundle_in_the_temporary_folder() {
    let folder = models();
    let (path, model) = (folder.path().to_str().unwrap(), folder.path().join("fig1.cpds"));
    let args = ["verify", model.to_str().unwrap()];
    let run = |to: &str| cuba_with("/proc".as_ref(), &[("CUBA_FAULT", "panic:reading"), ("TMPDIR", to)], &args);
    if !has_faults() {
        return;
    }
    let ran = run(path);
    assert!(
        ran.code == 6 && ran.stderr.contains(&format!("the file `{path}/cuba-panic-1.json` has everything")),
        "{}",
        ran.stderr
    );
    assert_eq!(bundle(&folder.path().join("cuba-panic-1.json"))["panic"], "a fault on purpose: reading");
    let ran = run("/proc/self");
    assert!(ran.code == 6 && ran.stderr.contains("error: cannot write the report: "), "{}", ran.stderr);
    assert_eq!(names(folder.path()), ["cuba-panic-1.json", "fig1.cpds", "fig2.cpds"]);
}
