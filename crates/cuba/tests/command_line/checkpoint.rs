//! Checkpoints: a run that was killed goes on, and comes to the same; what is no checkpoint is refused.

use crate::common::{Ran, cuba};
use cpds_testing::corpus::repository;
use insta::assert_snapshot;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// Runs that go on for a while: explicit, symbolic, and from above.
const LONG: [&[&str]; 3] = [
    &["verify", "mirror.cpds", "--max-contexts", "8000", "--json"],
    &["reach", "mirror.cpds", "--engine", "symbolic", "--max-contexts", "80", "--json"],
    &["verify", "mirror.cpds", "--engine", "abstract", "--max-contexts", "10", "--max-depth", "7", "--json"],
];

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(repository().join("models/squeeze/mirror.cpds"), folder.path().join("mirror.cpds")).unwrap();
    folder
}

/// Everything but times, and what depends on the machine.
fn without_times(text: &str) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.retain(|name, _| !name.ends_with("_s") && name != "peak_memory_bytes");
                members.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut value = serde_json::from_str(text).unwrap();
    strip(&mut value);
    value
}

/// Runs it with checkpoints, and kills it some time after the first one; then goes on until there is an answer.
fn killed_and_resumed(folder: &Path, args: &[&str], after: Duration) -> Ran {
    let file = folder.join("c.checkpoint");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuba"));
    command.args(args).args(["--checkpoint", "c.checkpoint", "--checkpoint-every", "20ms"]);
    let mut child = command.current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // The first one has nothing but a header.
    let is_there = || fs::metadata(&file).is_ok_and(|file| file.len() > 1000);
    while !is_there() && child.try_wait().unwrap().is_none() {
        sleep(Duration::from_millis(1));
    }
    sleep(after);
    let _ = child.kill();
    child.wait().unwrap();
    if file.exists() { cuba(folder, &["resume", "c.checkpoint"]) } else { cuba(folder, args) }
}

#[test]
fn a_run_that_was_killed_goes_on() {
    for args in LONG {
        let folder = folder();
        let whole = without_times(&cuba(folder.path(), args).stdout);
        for after in [0, 100, 400] {
            let resumed = killed_and_resumed(folder.path(), args, Duration::from_millis(after));
            assert_eq!((resumed.code, &*resumed.stderr), (5, ""), "{args:?}");
            assert_eq!(without_times(&resumed.stdout), whole, "{args:?} after {after} ms");
            assert!(!folder.path().join("c.checkpoint").exists(), "there is nothing left to do");
        }
    }
}

/// A file of a run that was stopped, with something in it.
fn checkpoint(folder: &Path) -> Vec<u8> {
    let options = ["verify", "mirror.cpds", "--checkpoint", "c", "--checkpoint-every", "0s", "--timeout", "400ms"];
    let stopped = cuba(folder, &options);
    assert_eq!((stopped.code, &*stopped.stderr), (5, "note: `cuba resume c` goes on from the last checkpoint\n"));
    fs::read(folder.join("c")).unwrap()
}

#[test]
fn a_run_that_was_stopped_goes_on_from_anywhere() {
    let (folder, elsewhere) = (folder(), tempfile::tempdir().unwrap());
    checkpoint(folder.path());
    let moved = elsewhere.path().join("moved");
    fs::rename(folder.path().join("c"), &moved).unwrap();
    let resumed = cuba(elsewhere.path(), &["resume", "moved", "--timeout", "1s"]);
    assert_eq!(resumed.code, 5, "{}", resumed.stderr);
    assert!(resumed.stdout.contains("unknown: safe up to"), "{}", resumed.stdout);
    assert!(resumed.stderr.contains("moved` goes on from the last checkpoint"), "{}", resumed.stderr);
    assert!(moved.exists() && !folder.path().join("c").exists(), "it is kept where it was found");
}

/// What `cuba resume` says of a file with this content.
fn refused(folder: &Path, content: &[u8]) -> String {
    fs::write(folder.join("c"), content).unwrap();
    let Ran { code, stdout, stderr } = cuba(folder, &["resume", "c"]);
    assert_eq!((code, &*stdout), (1, ""), "{stderr}");
    stderr.replace(&*fs::canonicalize(folder).unwrap().to_string_lossy(), "").replace(&*folder.to_string_lossy(), "")
}

#[test]
fn what_is_no_checkpoint_is_refused() {
    let folder = folder();
    let whole = checkpoint(folder.path());
    assert_snapshot!(refused(folder.path(), b""), @"error: `/c` is no checkpoint");
    assert_snapshot!(refused(folder.path(), b"shared 0\ninit 0|a\nthread A { symbols a }\n"), @"error: `/c` is no checkpoint");
    let other = [b"cuba checkpoint 0\n", &whole[18..]].concat();
    assert_snapshot!(refused(folder.path(), &other), @"error: `/c` is a checkpoint of another version of cuba; go on with that one");
    for at in (0..whole.len()).step_by(whole.len() / 40 + 1) {
        let mut damaged = whole.clone();
        damaged[at] ^= 4;
        let said = refused(folder.path(), &damaged);
        assert!(said.contains("damaged") || (at < 18 && said.contains("checkpoint")), "{at}: {said}");
        let said = refused(folder.path(), &whole[..at]);
        assert!(said.contains("damaged") || (at < 18 && said.contains("no checkpoint")), "{at}: {said}");
    }
    let text = fs::read_to_string(folder.path().join("mirror.cpds")).unwrap();
    fs::write(folder.path().join("mirror.cpds"), format!("{text}\nbad *|-,-\n")).unwrap();
    assert_snapshot!(refused(folder.path(), &whole), @"error: `/c` is a checkpoint for a model that has been changed since");
    fs::remove_file(folder.path().join("mirror.cpds")).unwrap();
    fs::write(folder.path().join("c"), &whole).unwrap();
    let gone = cuba(folder.path(), &["resume", "c"]);
    assert!(gone.code == 2 && gone.stderr.contains("mirror.cpds"), "{}", gone.stderr);
    assert_snapshot!(cuba(folder.path(), &["resume", "nowhere"]).stderr.lines().next().unwrap().split("nowhere").last().unwrap(), @"` cannot be read: No such file or directory (os error 2)");
}

#[test]
fn a_checkpoint_replaces_nothing() {
    let folder = folder();
    let run = |name: &str| {
        let ran = cuba(folder.path(), &["verify", "mirror.cpds", "--max-contexts", "3", "--checkpoint", name]);
        assert_eq!((ran.code, &*ran.stdout), (1, ""));
        ran.stderr
    };
    fs::write(folder.path().join("there"), "something").unwrap();
    assert_snapshot!(run("there"), @"error: `there` is there already; go on from it with `cuba resume there`, or remove it");
    assert_snapshot!(run("mirror.cpds"), @"error: `mirror.cpds` is an input; write to another file");
    assert_snapshot!(run("c.gz"), @"error: `c.gz`: a checkpoint is compressed anyway; give it another name");
    assert_snapshot!(run("no/where"), @"error: cannot write `no/where`: there is no folder `no`");
    assert_eq!(fs::read_to_string(folder.path().join("there")).unwrap(), "something");
    // With an answer there is nothing to go on with.
    let answered = cuba(folder.path(), &["verify", "mirror.cpds", "--max-contexts", "3", "--checkpoint", "c"]);
    assert_eq!((answered.code, &*answered.stderr), (5, ""));
    assert!(!folder.path().join("c").exists());
}
