//! Checkpoints: a killed run continues and gives the same answer; files that are not checkpoints
//! are refused.

use crate::common::{Ran, at_once, cuba};
use cpds_testing::corpus::repository;
use insta::assert_snapshot;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// Runs that take some time, and the evidence that they write: explicit, symbolic, and a rung.
const LONG: [(&[&str], Option<&str>); 5] = [
    (&["verify", "mirror.cpds", "--max-contexts", "8000", "--json"], None),
    (&["reach", "mirror.cpds", "--engine", "symbolic", "--max-contexts", "80", "--json"], None),
    (&["verify", "mirror.cpds", "--engine", "abstract", "--max-contexts", "10", "--max-depth", "7", "--json"], None),
    (&["verify", "turns.cpds", "--trace", "t.json", "--json"], Some("t.json")),
    (
        &["reach", "bluetooth-3.bp", "--instances", "adder=2,stopper=1", "--certificate", "c.json", "--json"],
        Some("c.json"),
    ),
];

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for model in ["squeeze/mirror.cpds", "squeeze/reentrant-lock.cpds", "table2/bluetooth-3.bp"] {
        let name = Path::new(model).file_name().unwrap();
        fs::copy(repository().join("models").join(model), folder.path().join(name)).unwrap();
    }
    fs::write(folder.path().join("turns.cpds"), turns(6000)).unwrap();
    folder
}

/// Two threads alternate this many times, then the bad state is reached.
fn turns(count: usize) -> String {
    let actions = |thread: usize, symbol: &str| -> String {
        let turns = (0..count).filter(|turn| turn % 2 == thread);
        turns.fold(String::new(), |text, turn| text + &format!("  ({turn},{symbol}) -> ({},{symbol})\n", turn + 1))
    };
    let (first, second) = (actions(0, "a"), actions(1, "b"));
    let threads = format!("thread A {{\n  symbols a\n{first}}}\nthread B {{\n  symbols b\n{second}}}\n");
    format!("shared 0..{count}\ninit 0|a,b\nbad {count}|*,*\n{threads}")
}

/// The output without times and other values that depend on the machine.
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

/// Runs a command with checkpoints, kills it some time after the first one, and continues it until
/// there is an answer. `None` if the answer came first.
fn killed_and_resumed(folder: &Path, args: &[&str], after: Duration) -> Option<Ran> {
    let file = folder.join("c.checkpoint");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuba"));
    command.args(args).args(["--checkpoint", "c.checkpoint", "--checkpoint-every", "20ms"]);
    let mut child = command.current_dir(folder).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // The first checkpoint has only a header.
    let is_there = || fs::metadata(&file).is_ok_and(|file| file.len() > 1000);
    while !is_there() && child.try_wait().unwrap().is_none() {
        sleep(Duration::from_millis(1));
    }
    sleep(after);
    let _ = child.kill();
    child.wait().unwrap();
    file.exists().then(|| cuba(folder, &["resume", "c.checkpoint"]))
}

#[test]
fn a_killed_run_continues() {
    at_once(&LONG, |&(args, evidence)| {
        let folder = folder();
        let whole = cuba(folder.path(), args);
        let written = || evidence.map(|name| fs::read(folder.path().join(name)).unwrap());
        let evidence = written();
        let mut goes_on = 0;
        for after in [0, 0, 100, 400] {
            let after = Duration::from_millis(after);
            let Some(resumed) = killed_and_resumed(folder.path(), args, after) else { continue };
            assert_eq!((resumed.code, &*resumed.stderr), (whole.code, ""), "{args:?}");
            assert_eq!(without_times(&resumed.stdout), without_times(&whole.stdout), "{args:?} after {after:?}");
            assert!(written() == evidence, "{args:?} after {after:?}");
            assert!(!folder.path().join("c.checkpoint").exists(), "there is nothing left to do");
            goes_on += 1;
        }
        assert!(goes_on > 0, "{args:?} was always quicker than we are");
    });
}

/// The checkpoint exists until the answer is printed and all outputs are written.
#[cfg(target_os = "linux")]
#[test]
fn an_answer_that_cannot_be_written() {
    let folder = folder();
    let verify = ["verify", "reentrant-lock.cpds", "--checkpoint", "c", "--certificate", "/dev/full"];
    for args in [&verify[..], &["resume", "c"]] {
        let ran = cuba(folder.path(), args);
        assert_eq!(ran.code, 1, "{}", ran.stderr);
        assert!(ran.stderr.contains("cannot write `/dev/full`: No space left on device"), "{}", ran.stderr);
        assert!(folder.path().join("c").exists());
    }
}

/// Two runs cannot continue from one file, because each would overwrite the other's checkpoint.
#[cfg(debug_assertions)]
#[test]
fn only_one_run_continues_from_a_checkpoint() {
    use std::io::{BufRead as _, BufReader};
    let folder = folder();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuba"));
    command.args(["verify", "mirror.cpds", "--checkpoint", "c", "--checkpoint-every", "20ms"]);
    command.env("CUBA_FAULT", "hang:checkpoint").current_dir(folder.path()).stderr(Stdio::piped());
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    let refused = cuba(folder.path(), &["resume", "c"]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!((&*line, refused.code), ("held\n", 1));
    assert!(refused.stderr.ends_with("c` is the checkpoint of a run that has not ended\n"), "{}", refused.stderr);
    assert_eq!(cuba(folder.path(), &["resume", "c", "--timeout", "100ms"]).code, 5);
}

/// A run that did not fit into the memory continues with more.
#[test]
fn more_memory() {
    let folder = folder();
    let limits = ["--engine=explicit", "--memory=1M", "--max-contexts=2000", "--timeout=1500ms"];
    let verify = ["verify", "mirror.cpds", "--json", "--checkpoint=c", "--checkpoint-every=20ms"];
    let contexts = |args: &[&str]| {
        let told = cuba(folder.path(), args);
        assert_eq!(told.code, 5, "{}", told.stderr);
        serde_json::from_str::<Value>(&told.stdout).unwrap()["contexts"].as_u64().unwrap()
    };
    let [little, more] = [[&verify[..], &limits].concat(), vec!["resume", "c", "--memory=200M", "--timeout=4s"]]
        .map(|args| contexts(&args));
    assert!(little < 2000 && little < more, "{little}, {more}");
}

/// A checkpoint that cannot be written gives a warning immediately.
#[cfg(target_os = "linux")]
#[test]
fn a_checkpoint_that_cannot_be_written() {
    let folder = folder();
    let run = "ulimit -f 20; trap '' XFSZ; exec \"$@\"";
    let mut command = Command::new("sh");
    command.args(["-c", run, "sh", env!("CARGO_BIN_EXE_cuba"), "verify", "mirror.cpds", "--timeout=2s"]);
    let ran = command.args(["--checkpoint=c", "--checkpoint-every=20ms"]).current_dir(folder.path()).output().unwrap();
    let stderr = String::from_utf8(ran.stderr).unwrap();
    assert_eq!(ran.status.code(), Some(5), "{stderr}");
    assert!(stderr.starts_with("warning: the checkpoint `c` cannot be written: File too large"), "{stderr}");
    assert!(stderr.contains("warning: the checkpoint `c` is incomplete: File too large"), "{stderr}");
}

/// The checkpoint of a stopped run, with at least one part.
fn checkpoint(folder: &Path) -> Vec<u8> {
    let options = ["verify", "mirror.cpds", "--checkpoint", "c", "--checkpoint-every", "0s", "--timeout", "400ms"];
    let stopped = cuba(folder, &options);
    assert_eq!((stopped.code, &*stopped.stderr), (5, "note: `cuba resume c` continues from the last checkpoint\n"));
    fs::read(folder.join("c")).unwrap()
}

/// The note says that a checkpoint is empty. A run can still start from it.
#[test]
fn an_empty_checkpoint() {
    let folder = folder();
    let verify = ["verify", "mirror.cpds", "--max-contexts", "3"];
    let stopped = cuba(folder.path(), &[&verify[..], &["--checkpoint", "c", "--timeout", "0s"]].concat());
    let note = "note: the checkpoint `c` is still empty; `cuba resume c` starts from the beginning\n";
    assert_eq!((stopped.code, &*stopped.stderr), (5, note));
    let (resumed, whole) = (cuba(folder.path(), &["resume", "c", "--timeout", "1h"]), cuba(folder.path(), &verify));
    assert_eq!((resumed.code, resumed.stdout, resumed.stderr), (whole.code, whole.stdout, whole.stderr));
}

#[test]
fn a_stopped_run_continues_from_any_folder() {
    let (folder, elsewhere) = (folder(), tempfile::tempdir().unwrap());
    checkpoint(folder.path());
    let moved = elsewhere.path().join("moved");
    fs::rename(folder.path().join("c"), &moved).unwrap();
    let resumed = cuba(elsewhere.path(), &["resume", "moved", "--timeout", "1s"]);
    assert_eq!(resumed.code, 5, "{}", resumed.stderr);
    assert!(resumed.stdout.contains("unknown: safe up to"), "{}", resumed.stdout);
    assert!(resumed.stderr.contains("moved` continues from the last checkpoint"), "{}", resumed.stderr);
    assert!(moved.exists() && !folder.path().join("c").exists(), "the checkpoint stays in its folder");
}

/// The error of `cuba resume` for a file with this content.
fn refused(folder: &Path, content: &[u8]) -> String {
    fs::write(folder.join("c"), content).unwrap();
    let Ran { code, stdout, stderr } = cuba(folder, &["resume", "c"]);
    assert_eq!((code, &*stdout), (1, ""), "{stderr}");
    stderr.replace(&*fs::canonicalize(folder).unwrap().to_string_lossy(), "").replace(&*folder.to_string_lossy(), "")
}

#[test]
fn files_that_are_not_checkpoints_are_refused() {
    let folder = folder();
    let whole = checkpoint(folder.path());
    assert_snapshot!(refused(folder.path(), b""), @"error: `/c` is not a checkpoint");
    assert_snapshot!(refused(folder.path(), b"shared 0\ninit 0|a\nthread A { symbols a }\n"), @"error: `/c` is not a checkpoint");
    let and_more = [&whole[..], b"!"].concat();
    assert_snapshot!(refused(folder.path(), &and_more), @"error: `/c` is damaged: its checksum is wrong");
    let other = [b"cuba checkpoint 0\n", &whole[18..]].concat();
    assert_snapshot!(refused(folder.path(), &other), @"error: `/c` is a checkpoint of another version of cuba; continue it with that version");
    for at in (0..whole.len()).step_by(whole.len() / 40 + 1) {
        let mut damaged = whole.clone();
        damaged[at] ^= 4;
        let said = refused(folder.path(), &damaged);
        assert!(said.contains("damaged") || (at < 18 && said.contains("checkpoint")), "{at}: {said}");
        let said = refused(folder.path(), &whole[..at]);
        assert!(said.contains("damaged") || (at < 18 && said.contains("not a checkpoint")), "{at}: {said}");
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
    assert_snapshot!(run("there"), @"error: `there` already exists; continue from it with `cuba resume there`, or remove it");
    assert_snapshot!(run("mirror.cpds"), @"error: `mirror.cpds` is an input; write to another file");
    assert_snapshot!(run("."), @"error: cannot write `.`: it is a folder; name a file in it");
    assert_snapshot!(run("no/where"), @"error: cannot write `no/where`: there is no folder `no`; create it, or name another file");
    assert_eq!(fs::read_to_string(folder.path().join("there")).unwrap(), "something");
    // After an answer, the checkpoint is removed.
    let answered = cuba(folder.path(), &["verify", "mirror.cpds", "--max-contexts", "3", "--checkpoint", "c"]);
    assert_eq!((answered.code, &*answered.stderr), (5, ""));
    assert!(!folder.path().join("c").exists());
}
