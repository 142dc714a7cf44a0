//! Whole runs of many processes: the output of each, and the loss of a process.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use cpds_testing::skipped::has_faults;
use cuba_cluster::Hosts;
use tempfile::TempDir;

/// A time limit that no test reaches, even on a busy machine.
const LONG: Duration = Duration::from_secs(120);

/// Eleven levels, with 93,484 states.
const MODEL: [&str; 3] = ["models/table2/bluetooth-1.bp", "--instances=adder=2,stopper=1", "--engine=explicit"];

/// Returns the command `cuba-cluster` with these arguments, in the root of the repository.
fn cuba(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuba-cluster"));
    command.args(arguments).current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs `cuba-cluster` to its end.
fn run(arguments: &[&str]) -> Output {
    end(cuba(arguments).spawn().expect("the process starts"))
}

/// Waits for the end of a process with little output, with a time limit.
fn end(mut child: Child) -> Output {
    let start = Instant::now();
    while child.try_wait().expect("the child has a status").is_none() {
        if start.elapsed() > LONG {
            child.kill().expect("it exists");
            panic!("the process does not end: {:?}", child.wait_with_output());
        }
        thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().expect("the process has ended")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Writes a hosts file for this number of processes on this machine. Returns its folder, its
/// content, and its path.
fn hosts_file(processes: usize) -> (TempDir, Hosts, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    let hosts = Hosts::local(processes).expect("there are free ports");
    let file = folder.path().join("hosts.txt");
    fs::write(&file, format!("# three machines\n{hosts}")).expect("the file is written");
    (folder, hosts, file)
}

/// The hosts file is never overwritten, whatever its name.
#[cfg(unix)]
#[test]
fn the_hosts_file_is_never_an_output() {
    let (folder, _, file) = hosts_file(2);
    let path = |name: &str| folder.path().join(name);
    let before = fs::read(&file).expect("it exists");
    std::os::unix::fs::symlink("hosts.txt", path("soft")).expect("a link");
    std::os::unix::fs::symlink(".", path("here")).expect("a link");
    fs::hard_link(&file, path("hard.html")).expect("a link");
    for (option, name) in [
        ("--certificate", "hosts.txt"),
        ("--trace", "soft"),
        ("--certificate", "here/hosts.txt"),
        ("--report", "hard.html"),
        ("--checkpoint", "hard.html"),
    ] {
        let [output, hosts] = [path(name), file.clone()].map(|path| path.to_str().expect("UTF-8").to_owned());
        // With a hosts file, a checkpoint is a folder.
        let refused = run(&["verify", MODEL[0], MODEL[1], "--process=0", "--hosts", &hosts, option, &output]);
        assert_eq!((refused.status.code(), stdout(&refused)), (Some(1), String::new()), "{option} {name}");
        let is_input = stderr(&refused).contains(" is an input; write to another file");
        assert!(is_input || option == "--checkpoint", "{option} {name}: {}", stderr(&refused));
    }
    assert_eq!(fs::read(&file).expect("it exists"), before);
}

/// Starts each process of a hosts file.
fn start(file: &Path, processes: usize, verb: &str, more: &[&str]) -> Vec<Child> {
    let one = |process: usize| {
        let process = process.to_string();
        let mut arguments = vec![verb];
        arguments.extend(MODEL);
        arguments.extend(["--jobs=1", "--process", &process, "--hosts", file.to_str().expect("UTF-8")]);
        arguments.extend(more);
        let mut command = cuba(&arguments);
        if more.contains(&CHECKPOINT_EACH_LEVEL) {
            command.env("CUBA_FAULT", "hang:MakingEvidence");
        }
        command.spawn().expect("the process starts")
    };
    (0..processes).map(one).collect()
}

/// Saves a checkpoint after each level. Tests use it with `CUBA_FAULT=hang:MakingEvidence`: process
/// 0 hangs after the search, so it does not end, and the checkpoints stay.
const CHECKPOINT_EACH_LEVEL: &str = "--checkpoint-every=0s";

/// Returns the exit code.
fn code(status: ExitStatus) -> i32 {
    status.code().expect("the process was not killed")
}

/// Process 0 prints the answer. The others print nothing and end with the same exit code.
#[test]
fn only_process_0_prints_the_answer() {
    for verb in ["reach", "verify"] {
        let one = run(&[&[verb], &MODEL[..]].concat());
        let (_folder, _, file) = hosts_file(3);
        let ended: Vec<Output> = start(&file, 3, verb, &[]).into_iter().map(end).collect();
        assert_eq!(stdout(&ended[0]), stdout(&one));
        assert!(ended.iter().all(|ended| ended.status == one.status), "{ended:?}");
        assert!(ended[1..].iter().all(|ended| ended.stdout.is_empty() && ended.stderr.is_empty()), "{ended:?}");
    }
}

/// Processes with different models, or different numbers of jobs, refuse to start.
#[test]
fn processes_with_different_models_do_not_start() {
    let (_folder, _, file) = hosts_file(2);
    let file = file.to_str().expect("UTF-8");
    let both = [("models/paper/fig1.cpds", "0"), ("models/paper/fig2.cpds", "1")];
    let both = both.map(|(model, process)| {
        cuba(&["verify", model, "--jobs=1", "--hosts", file, "--process", process]).spawn().expect("the process starts")
    });
    for (process, ended) in both.map(end).into_iter().enumerate() {
        let message =
            format!("error: process {} has another model; use the same model and options everywhere\n", 1 - process);
        assert_eq!((code(ended.status), stderr(&ended)), (1, message));
    }
}

#[test]
fn wrong_arguments_are_reported() {
    let exit_and_message = |arguments: &[&str]| {
        let output = run(&[&["verify", "models/paper/fig1.cpds"], arguments].concat());
        (code(output.status), stderr(&output))
    };
    let (folder, _, file) = hosts_file(2);
    let file = file.to_str().expect("UTF-8");
    let (status, text) = exit_and_message(&["--hosts", file, "--process=2"]);
    assert_eq!((status, &*text), (1, "error: there is no process 2: the hosts are those of the processes 0 to 1\n"));
    let (status, text) = exit_and_message(&["--process=1"]);
    assert!(status == 1 && text.contains("--hosts"), "{text}");
    let (status, text) = exit_and_message(&["--hosts", file]);
    assert!(status == 1 && text.contains("--process"), "{text}");
    let wrong = folder.path().join("wrong.txt");
    fs::write(&wrong, "one:4000\ntwo\n").expect("the file is written");
    let (status, text) = exit_and_message(&["--hosts", wrong.to_str().expect("UTF-8"), "--process=0"]);
    assert!(status == 1 && text.contains("wrong.txt:2: "), "{text}");
}

/// If a process is killed, all others report its number within seconds, and none prints a verdict.
#[cfg(unix)]
#[test]
fn a_killed_process_ends_the_others() {
    if !has_faults() {
        return;
    }
    for gone in [0, 1, 2] {
        let (folder, hosts, file) = hosts_file(3);
        let checkpoint = format!("--checkpoint={}", folder.path().join("checkpoint").display());
        let mut all = start(&file, 3, "reach", &[&checkpoint, CHECKPOINT_EACH_LEVEL]);
        wait_for_level(&folder.path().join("checkpoint"), 2, 0);
        all[gone].kill().expect("it exists");
        let killed = Instant::now();
        let ended: Vec<Output> = all.into_iter().map(end).collect();
        assert!(killed.elapsed() < LONG / 2, "{:?}", killed.elapsed());
        for (process, ended) in ended.iter().enumerate().filter(|(process, _)| *process != gone) {
            assert_eq!(code(ended.status), 5, "{ended:?}");
            let output = if process == 0 { stdout(ended) } else { stderr(ended) };
            let message = format!("process {gone} ({}) is gone", hosts.address(gone));
            assert!(output.contains(&message) && output.contains("unknown: "), "{ended:?}");
            assert!(!output.contains("converged:") && !output.contains("panicked"), "{ended:?}");
        }
    }
}

/// Process 0 also detects a loss while it works alone, on tuples or on evidence.
#[test]
fn a_killed_process_ends_process_0_on_tuples() {
    let (_folder, hosts, file) = hosts_file(2);
    let file = file.to_str().expect("UTF-8");
    let mut both = ["0", "1"].map(|process| {
        let arguments = ["reach", "models/squeeze/mirror.cpds", "--engine=symbolic", "--max-contexts=100000"];
        let arguments = [&arguments[..], &["--jobs=1", "--hosts", file, "--process", process]].concat();
        cuba(&arguments).spawn().expect("the process starts")
    });
    thread::sleep(Duration::from_secs(2));
    both[1].kill().expect("it exists");
    let ended = both.map(end);
    let message = format!("process 1 ({}) is gone", hosts.address(1));
    assert_eq!(code(ended[0].status), 5, "{ended:?}");
    assert!(stdout(&ended[0]).contains(&message), "{ended:?}");
}

/// If process 0 is killed, the processes that it has started end too.
#[cfg(target_os = "linux")]
#[test]
fn started_processes_end_with_process_0() {
    let mut first = cuba(&[&["reach"], &MODEL[..], &["--processes=3", "--jobs=1", "--partition=424242"]].concat());
    let mut first = first.spawn().expect("the process starts");
    let others = || {
        let all = fs::read_dir("/proc").expect("Linux").flatten();
        let lines = all.filter_map(|entry| fs::read_to_string(entry.path().join("cmdline")).ok());
        lines.filter(|line| line.contains("--partition=424242") && line.contains("--started=")).count()
    };
    let start = Instant::now();
    while others() < 2 {
        assert!(start.elapsed() < LONG, "the processes do not start");
    }
    first.kill().expect("it exists");
    first.wait().expect("the process ends");
    while others() > 0 {
        assert!(start.elapsed() < LONG, "the processes do not end");
    }
}

/// Waits until a process hangs by a fault. After the search, no process writes a checkpoint.
fn wait_until_it_hangs(child: &mut Child) {
    let stderr = BufReader::new(child.stderr.take().expect("it is piped"));
    let is_held = |line: std::io::Result<String>| line.is_ok_and(|line| line.contains("held"));
    assert!(stderr.lines().any(is_held), "the process does not hang");
}

/// Waits until a complete checkpoint of this level or a later one exists. A part keeps its last
/// complete checkpoint until the next one is complete on all parts. So the earliest one is
/// complete, unless it is that of level 0 and no other one exists.
fn wait_for_level(folder: &Path, part: usize, level: usize) {
    let (start, prefix) = (Instant::now(), format!("part-{part}-level-"));
    loop {
        let names = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
        let names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
        let levels = names.iter().filter_map(|name| name.strip_prefix(&prefix)?.parse::<usize>().ok());
        let levels: Vec<usize> = levels.collect();
        let earliest = levels.iter().copied().min().filter(|&earliest| earliest > 0 || levels.len() > 1);
        if earliest >= Some(level) {
            return;
        }
        assert!(start.elapsed() < LONG, "{names:?}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// A resumed run with the same number of processes gives the same answer.
#[test]
fn a_resumed_run_gives_the_same_answer() {
    if !has_faults() {
        return;
    }
    let one = run(&[&["reach"], &MODEL[..]].concat());
    for level in [0, 3] {
        let folder = tempfile::tempdir().expect("a folder");
        let checkpoint = folder.path().join("checkpoint");
        let name = checkpoint.to_str().expect("UTF-8");
        let arguments =
            [&["reach"], &MODEL[..], &["--processes=2", "--jobs=1", "--checkpoint", name, CHECKPOINT_EACH_LEVEL]]
                .concat();
        let mut first = cuba(&arguments).env("CUBA_FAULT", "hang:MakingEvidence").spawn().expect("the process starts");
        wait_for_level(&checkpoint, 1, level);
        first.kill().expect("it exists");
        first.wait().expect("the process ends");
        let again = run(&arguments);
        assert!(stderr(&again).contains("continue from it with `cuba resume"), "{again:?}");
        let resumed = run(&["resume", name]);
        assert_eq!((stdout(&resumed), resumed.status), (stdout(&one), one.status), "{}", stderr(&resumed));
        assert!(!checkpoint.exists(), "the answer is printed, so the checkpoint is removed");
    }
}

/// If the checkpoint of one part is missing, no process resumes.
#[test]
fn a_missing_checkpoint_of_a_part_is_reported() {
    if !has_faults() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let checkpoint = folder.path().join("checkpoint");
    let name = checkpoint.to_str().expect("UTF-8");
    let arguments =
        [&["reach"], &MODEL[..], &["--processes=2", "--jobs=1", "--checkpoint", name, CHECKPOINT_EACH_LEVEL]].concat();
    let mut first = cuba(&arguments).env("CUBA_FAULT", "hang:MakingEvidence").spawn().expect("the process starts");
    wait_until_it_hangs(&mut first);
    first.kill().expect("it exists");
    first.wait().expect("the process ends");
    for entry in fs::read_dir(&checkpoint).expect("a folder").flatten() {
        if entry.file_name().to_string_lossy().starts_with("part-1-") {
            fs::remove_file(entry.path()).expect("the file is removed");
        }
    }
    let resumed = run(&["resume", name]);
    assert_eq!(code(resumed.status), 5, "{resumed:?}");
    assert!(stdout(&resumed).contains("part 1 cannot go on: "), "{resumed:?}");
}
