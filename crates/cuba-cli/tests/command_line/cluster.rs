//! With many processes, `cuba` starts `cuba-cluster`.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use tempfile::TempDir;

const ASKED: [&str; 4] = ["verify", "m.cpds", "--processes", "2"];

/// Runs the `cuba` in one folder, with another folder as the PATH.
fn run(folder: &Path, path: &Path, args: &[&str]) -> Output {
    Command::new(folder.join("cuba")).args(args).env("PATH", path).output().expect("it runs")
}

/// A folder with nothing but `cuba`.
fn folder() -> TempDir {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::hard_link(env!("CARGO_BIN_EXE_cuba"), folder.path().join("cuba")).unwrap();
    folder
}

#[test]
fn without_cuba_cluster_there_is_a_hint() {
    let folder = folder();
    let output = run(folder.path(), Path::new("/nowhere"), &ASKED);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("`cuba-cluster`, which is neither beside this program nor on the PATH"), "{text}");
    assert!(text.ends_with("install it with `cargo install --locked --path crates/cluster`\n"), "{text}");
}

/// `cuba-cluster` is found beside `cuba` or on the PATH. It gets the arguments unchanged, and its
/// output and exit code are unchanged.
#[cfg(unix)]
#[test]
fn cuba_cluster_is_started() {
    let (here, there) = (folder(), folder());
    // A shell writes the file: a child that this process starts at the same time would have the
    // file open, and then it could not be executed.
    let write = |folder: &Path, name: &str| {
        let text = format!("#!/bin/sh\necho {name}: \"$@\"\nexit 10\n");
        let write = "printf %s \"$0\" > cuba-cluster && chmod +x cuba-cluster";
        assert!(Command::new("sh").args(["-c", write, &text]).current_dir(folder).status().unwrap().success());
    };
    for (folder, name) in [(there.path(), "there"), (here.path(), "here")] {
        write(folder, name);
        let output = run(here.path(), there.path(), &ASKED);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!((output.status.code(), text), (Some(10), format!("{name}: {}\n", ASKED.join(" "))));
    }
}
