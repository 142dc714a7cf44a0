//! `cuba bench`. These tests ignore the times and the memory in its output.

use crate::common::{Ran, cuba, done, fits, in_repository, kill};
use cpds_testing::corpus::repository;
use insta::assert_snapshot;
use serde_json::Value;
use std::fs;
use tempfile::TempDir;

/// The cells of a table, without the columns that depend on the machine.
fn cells<'a>(lines: impl Iterator<Item = &'a str>, split: fn(&str) -> Vec<String>) -> String {
    let mut rows = lines.map(split);
    let heading = rows.next().expect("a heading");
    let varies: Vec<bool> = heading.iter().map(|name| ["time, s", "memory, MB"].contains(&&**name)).collect();
    assert_eq!(varies.iter().filter(|varies| **varies).count(), 2, "time and memory are there: {heading:?}");
    let shown = |row: Vec<String>| {
        let cells = row.into_iter().enumerate().filter(|(i, _)| varies.get(*i) != Some(&true));
        cells.map(|(_, cell)| cell).collect::<Vec<_>>().join(" | ") + "\n"
    };
    std::iter::once(heading).chain(rows).map(shown).collect()
}

/// The output of `--format table`.
fn table(stdout: &str) -> String {
    let words =
        |line: &str| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).map(str::to_owned).collect();
    let (table, summary) = stdout.split_once("\n\n").expect("a table, and a summary");
    cells(table.lines(), words) + summary
}

/// The output of `--format markdown`.
fn markdown(text: &str) -> String {
    let split = |line: &str| {
        let line = line.strip_prefix("| ").and_then(|line| line.strip_suffix(" |")).expect("a row");
        line.split(" | ").map(str::to_owned).collect()
    };
    let is_row = |line: &&str| line.starts_with('|');
    let before: Vec<&str> = text.lines().take_while(|line| !is_row(line)).collect();
    let after: Vec<&str> = text.lines().skip(before.len()).skip_while(is_row).collect();
    let table = cells(text.lines().filter(is_row), split);
    [before.join("\n"), table, after.join("\n")].join("\n")
}

/// A folder with a few files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn model(name: &str) -> String {
    fs::read_to_string(repository().join("models").join(name)).unwrap()
}

fn json(ran: &Ran) -> Value {
    let object = serde_json::from_str(&ran.stdout).unwrap();
    fits("bench", &object, "cuba bench");
    object
}

/// The runs, without the values that depend on the machine.
fn runs(bench: &Value) -> Vec<Value> {
    let mut runs = bench["runs"].as_array().unwrap().clone();
    for run in &mut runs {
        assert!(run["time_s"].as_f64().is_some_and(|time| time > 0.0));
        run.as_object_mut().unwrap().retain(|key, _| key != "time_s" && key != "peak_memory_bytes");
    }
    runs
}

#[test]
fn the_table() {
    assert_snapshot!(table(&done(&["bench", "models/tiny"])), @"
    model | threads | verdict | expected | k | proved by | last |T(R_k)|
    models/tiny/diverge.cpds | 2 | safe | safe | 0 | Z | 1 | ✓
    models/tiny/empty-stack.cpds | 2 | unsafe | unsafe (3) | 3 | – | 4 | ✓
    models/tiny/late-return.cpds | 2 | unsafe | unsafe (3) | 3 | – | 4 | ✓
    models/tiny/non-fcr.cpds | 1 | safe | safe | 0 | Z | 1 | ✓
    models/tiny/several-initial-states.cpds | 1 | safe | safe | 0 | Z | 2 | ✓
    models/tiny/spurious-loop.cpds | 1 | safe | safe | 0 | matched-Z | 1 | ✓
    models/tiny/stutter.cpds | 2 | unsafe | unsafe (5) | 5 | – | 2 | ✓
    models/tiny/symmetric.cpds | 4 | safe | safe | 0 | Z | 1 | ✓
    models/tiny/tall-initial-stack.cpds | 1 | unsafe | unsafe (1) | 1 | – | 1 | ✓
    models/tiny/unreachable-loop.cpds | 2 | safe | safe | 0 | Z | 1 | ✓
    10 runs: 10 as expected, 0 wrong, 0 unknown, 0 failed
    ");
    assert_snapshot!(table(&done(&["bench", "models/tiny", "--reach"])), @"
    model | threads | verdict | expected | k | proved by | |T(R)|
    models/tiny/diverge.cpds | 2 | converged | 2 | 1 | Z | 2 | ✓
    models/tiny/empty-stack.cpds | 2 | converged | 5 | 4 | R_k | 5 | ✓
    models/tiny/late-return.cpds | 2 | converged | 6 | 3 | matched-Z | 6 | ✓
    models/tiny/non-fcr.cpds | 1 | converged | 1 | 0 | Z | 1 | ✓
    models/tiny/several-initial-states.cpds | 1 | converged | 4 | 2 | R_k | 4 | ✓
    models/tiny/spurious-loop.cpds | 1 | converged | 5 | 2 | S_k | 5 | ✓
    models/tiny/stutter.cpds | 2 | converged | 4 | 7 | R_k | 4 | ✓
    models/tiny/symmetric.cpds | 4 | converged | 5 | 2 | R_k | 5 | ✓
    models/tiny/tall-initial-stack.cpds | 1 | converged | 3 | 2 | R_k | 3 | ✓
    models/tiny/unreachable-loop.cpds | 2 | converged | 4 | 4 | R_k | 4 | ✓
    10 runs: 10 as expected, 0 wrong, 0 unknown, 0 failed
    ");
    let again = ["bench", "models/tiny/stutter.cpds", "models/tiny", "models/tiny/stutter.cpds"];
    let twice = table(&done(&again));
    assert!(twice.ends_with("10 runs: 10 as expected, 0 wrong, 0 unknown, 0 failed\n"), "each model once: {twice}");
}

#[test]
fn a_wrong_answer_is_reported() {
    let (fig1, answers) = (model("paper/fig1.cpds"), model("paper/fig1.toml"));
    for (right, wrong) in [("contexts = 4", "contexts = 3"), ("\"unsafe\"\ncontexts = 4", "\"safe\"")] {
        assert!(answers.contains(right));
        let folder = folder(&[("fig1.cpds", &fig1), ("fig1.toml", &answers.replace(right, wrong))]);
        let ran = cuba(folder.path(), &["bench", "."]);
        assert_eq!((ran.code, &*ran.stderr), (6, ""), "{}", ran.stdout);
        assert!(ran.stdout.contains("✗ WRONG\n"), "{}", ran.stdout);
        assert!(ran.stdout.ends_with("\n1 run: 0 as expected, 1 wrong, 0 unknown, 0 failed\n"), "{}", ran.stdout);
        assert_eq!(cuba(folder.path(), &["bench", ".", "--reach"]).code, 0, "that was not the question");
    }
    for (right, wrong) in [("visible_total = 8", "visible_total = 9"), ("{ visible = 5 }", "{ visible = 2 }")] {
        assert!(answers.contains(right));
        let folder = folder(&[("fig1.cpds", &fig1), ("fig1.toml", &answers.replace(right, wrong))]);
        assert_eq!(cuba(folder.path(), &["bench", ".", "--reach"]).code, 6);
        assert_eq!(cuba(folder.path(), &["bench", "."]).code, 0, "that was not the question");
    }
}

/// Every kind of failed run gives a row. The exit code is that of the worst run.
#[test]
fn failed_runs_are_rows() {
    let (fig1, mirror) = (model("paper/fig1.cpds"), model("squeeze/mirror.cpds"));
    let files = [
        ("bad.cpds", "nonsense"),
        ("fine.cpds", &fig1),
        ("none.cpds", "shared 0\ninit 0|a\nthread P { symbols a }\n"),
        ("open.cpds", &mirror),
        ("open.toml", "verdict = 'safe'"),
        ("undecided.cpds", &mirror),
        ("undecided.toml", "verdict = 'safe'\nundecided = 'why'"),
        ("wrong.cpds", &fig1),
        ("wrong.toml", "verdict = 'safe'"),
    ];
    let folder = folder(&files);
    let bench = |args: &[&str]| cuba(folder.path(), &[&["bench", "--max-contexts=9"], args].concat());
    let ran = bench(&["."]);
    assert_snapshot!(table(&ran.stdout), @"
    model | threads | verdict | expected | k | proved by | last |T(R_k)|
    ./bad.cpds | – | failed | – | – | – | – | –
    ./fine.cpds | 2 | unsafe | – | 4 | – | 6 | –
    ./none.cpds | – | failed | – | – | – | – | –
    ./open.cpds | 2 | unknown | safe | 9 | – | 8 | –
    ./undecided.cpds | 2 | unknown | undecided | 9 | – | 8 | ✓
    ./wrong.cpds | 2 | unsafe | safe | 4 | – | 6 | ✗ WRONG
    6 runs: 1 as expected, 1 wrong, 1 unknown, 2 failed, 1 with nothing to compare
    ");
    assert_snapshot!(ran.stderr, @"
    ./bad.cpds has no answer:
    error: expected `shared`, `init`, `bad` or `thread`, found `nonsense`
     --> ./bad.cpds:1:1
      |
    1 | nonsense
      | ^^^^^^^^ expected `shared`, `init`, `bad` or `thread`
      |
      = help: a system is made of these statements; see docs/formats.md

    ./none.cpds has no answer:
    error: `./none.cpds` names no bad state, so there is nothing to verify; name bad states with `--target`, or print all reachable ones with `cuba reach`
    ");
    assert_eq!(ran.code, 6);
    let codes = [
        (0, &["fine.cpds", "undecided.cpds"][..]),
        (5, &["open.cpds", "undecided.cpds"]),
        (2, &["bad.cpds", "open.cpds"]),
        (2, &["none.cpds"]),
        (0, &["none.cpds", "--reach"]),
        (6, &["wrong.cpds", "bad.cpds", "open.cpds"]),
    ];
    for (code, args) in codes {
        assert_eq!(bench(args).code, code, "{args:?}");
    }
    let ran = cuba(folder.path(), &["bench", "open.cpds", "--timeout=1s", "--format=json"]);
    let bench = json(&ran);
    assert_eq!((ran.code, &bench["summary"]["unknown"]), (5, &1.into()));
    let reason = bench["runs"][0]["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("unknown: safe up to") && reason.ends_with("--timeout ends the search there"),
        "{reason}"
    );
}

#[test]
fn inputs_that_cannot_be_run() {
    let fig1 = model("paper/fig1.cpds");
    let folder =
        folder(&[("m.cpds", &fig1), ("m.toml", "verdict = 'unsafe'\n\ncontxts = 4\n"), ("empty/readme.txt", "")]);
    let refused = |args: &[&str], code: i32| {
        let ran = cuba(folder.path(), &[&["bench"], args].concat());
        assert_eq!((ran.code, &*ran.stdout), (code, ""), "{args:?}");
        ran.stderr
    };
    assert_snapshot!(refused(&["."], 2), @r#"
    error: unknown field `contxts`, expected one of `shows`, `source`, `found_by`, `verdict`, `proved_by`, `undecided`, `too_large`, `contexts`, `fcr`, `reachable`, `visible`, `height`, `oracle_up_to`, `collapse`, `visible_total`
     --> ./m.toml:3:1
      |
    3 | contxts = 4
      | ^^^^^^^
      |
      = help: the expected answers of a model need only a `verdict`, "safe" or "unsafe"
    "#);
    assert_snapshot!(refused(&["empty"], 2), @"
    error: there is no model below `empty`
     |
     = help: models are .bp files, .cpds files, and .pds files with a .init beside them
    ");
    assert_snapshot!(refused(&["empty/readme.txt"], 2), @"
    error: `empty/readme.txt` has no known format
     |
     = help: the name of a model ends in .bp, .cpds or .pds
    ");
    assert_snapshot!(refused(&["n.cpds"], 2), @"
    error: there is no file `n.cpds`
     |
     = help: did you mean `m.cpds`?
    ");
    assert!(refused(&[], 1).contains("required arguments were not provided"));
    assert!(refused(&["empty", "--engine=Y"], 1).contains("one of auto, explicit, symbolic, abstract, Z"));
    assert!(refused(&["empty", "--jobs=0"], 1).contains("expected a number of at least 1"));
}

#[test]
fn the_runs_of_a_program() {
    let program = "
        decl x = 0;
        void worker() { assert(!x); x := 1; }
        void main() { while (*) { thread_create(&worker); } }
    ";
    let answers = "
        shows = 'what is said of all'
        [[run]]
        threads = 2
        verdict = 'unsafe'
        contexts = 2
        [[run]]
        instances = 'worker=1'
        verdict = 'safe'
        [[run]]
        instances = 'wrker=1'
        verdict = 'safe'
    ";
    let folder = folder(&[("spawn.bp", program), ("spawn.toml", answers)]);
    let ran = cuba(folder.path(), &["bench", "spawn.bp"]);
    assert_snapshot!(table(&ran.stdout), @"
    model | threads | verdict | expected | k | proved by | last |T(R_k)|
    spawn.bp | ≤ 2 created | unsafe | unsafe (2) | 2 | – | 12 | ✓
    spawn.bp | worker=1 | safe | safe | 0 | Z | 1 | ✓
    spawn.bp | wrker=1 | failed | safe | – | – | – | –
    3 runs: 2 as expected, 0 wrong, 0 unknown, 1 failed
    ");
    assert!(ran.code == 2 && ran.stderr.starts_with("spawn.bp wrker=1 has no answer:\nerror: "), "{}", ran.stderr);
    assert!(ran.stderr.contains("did you mean `worker`?"), "{}", ran.stderr);
}

#[test]
fn every_format_is_found() {
    let folder = folder(&[("b/fig1.cpds", &model("paper/fig1.cpds"))]);
    let convert = |to: &str| cuba(folder.path(), &["convert", "b/fig1.cpds", "--to=pds", "-o", to]).code;
    assert_eq!((convert("fig1.pds"), convert("b/left-out.pds")), (0, 0));
    fs::remove_file(folder.path().join("b/left-out.init")).unwrap();
    fs::write(folder.path().join("fig1.toml"), "verdict = 'unsafe'\ncontexts = 4").unwrap();
    fs::write(folder.path().join("turns.bp"), model("table2/turns.bp")).unwrap();
    let ran = cuba(folder.path(), &["bench", "."]);
    assert_eq!((ran.code, &*ran.stderr), (0, ""));
    assert_snapshot!(table(&ran.stdout), @"
    model | threads | verdict | expected | k | proved by | last |T(R_k)|
    ./b/fig1.cpds | 2 | unsafe | – | 4 | – | 6 | –
    ./fig1.pds | 2 | unsafe | unsafe (4) | 4 | – | 6 | ✓
    ./turns.bp | 2 | unsafe | – | 3 | – | 56 | –
    3 runs: 1 as expected, 0 wrong, 0 unknown, 0 failed, 2 with nothing to compare
    ");
}

#[test]
fn options_are_passed_on() {
    let lock = "models/squeeze/reentrant-lock.cpds";
    let answer = |args: &[&str]| {
        let ran = in_repository(&[&["bench", lock, "--format=json"], args].concat());
        json(&ran)["runs"][0]["answer"].take()
    };
    assert_eq!(answer(&["--engine=abstract"])["proved_by"], "A_1");
    assert_eq!(answer(&["--engine=A_2", "--no-symmetry"])["proved_by"], "A_2");
    assert_eq!(answer(&["--engine=Z", "--max-contexts=3"])["contexts"], 3);
    let ran = in_repository(&["bench", lock, "--engine=explicit", "--reach", "--memory=1M", "--format=json"]);
    let bench = json(&ran);
    assert_eq!((&bench["question"], ran.code), (&"reach".into(), 5));
    assert!(bench["runs"][0]["reason"].as_str().unwrap().contains("the memory of 1.00 MiB"), "{bench}");
}

#[test]
fn rows_do_not_depend_on_the_number_of_parallel_runs() {
    let bench = |jobs: &str| {
        let args = ["bench", "models/paper", "models/tiny", "models/table2/turns.bp", "--format=json", "--jobs", jobs];
        let bench = json(&in_repository(&args));
        assert_eq!((&bench["complete"], &bench["summary"]["runs"]), (&true.into(), &18.into()));
        runs(&bench)
    };
    let alone = bench("1");
    assert_eq!(alone, bench("2"));
    assert_eq!(alone, bench("7"));
    let files: Vec<&str> = alone.iter().map(|run| run["file"].as_str().unwrap()).collect();
    assert_eq!((files[0], files[17]), ("models/paper/fig1.cpds", "models/table2/turns.bp"));
}

#[test]
fn json_has_everything() {
    let ran = in_repository(&["bench", "models/table2/bluetooth-1.bp", "--format=json"]);
    let bench = json(&ran);
    assert_snapshot!(serde_json::to_string_pretty(&runs(&bench)[1]).unwrap(), @r#"
    {
      "answer": {
        "collapse": {
          "reachable": null,
          "visible": null
        },
        "contexts": 5,
        "fcr": true,
        "proved_by": null,
        "threads": 6,
        "visible": 26990
      },
      "expected": {
        "collapse": {
          "reachable": 9,
          "visible": 9
        },
        "contexts": 5,
        "undecided": false,
        "verdict": "unsafe",
        "visible": 48692
      },
      "file": "models/table2/bluetooth-1.bp",
      "instances": "adder=1,stopper=2",
      "max_threads": null,
      "note": "Table 2 has 3: the published system sets its shared variables to any values when the counter has to count down, so it reaches its error state before any stopper has taken a step; for the same reason T(R_k) collapses at another k",
      "outcome": "as-expected",
      "published": {
        "fcr": "●",
        "memory": "136.26",
        "program": "1/Bluetooth-1",
        "reachable": "≥ 7",
        "safe": "✗",
        "threads": "1 + 2",
        "time": "2.32",
        "visible": "6 (3)"
      },
      "reason": "unsafe: `assert(!stopped)` at models/table2/bluetooth-1.bp:39 in adder fails with 5 contexts, and with no fewer",
      "verdict": "unsafe"
    }
    "#);
    assert_snapshot!(bench["summary"].to_string(), @r#"{"as_expected":3,"failed":0,"not_compared":0,"runs":3,"unknown":0,"wrong":0}"#);
    let memory = bench["runs"][1]["peak_memory_bytes"].as_u64();
    assert!(cfg!(not(target_os = "linux")) || memory.is_some_and(|bytes| bytes > 1 << 20), "{memory:?}");
}

#[test]
fn csv() {
    let stutter = model("tiny/stutter.cpds");
    let folder = folder(&[
        ("a,b \"c\".cpds", &stutter),
        ("bad.cpds", "nonsense"),
        ("m.cpds", &stutter),
        ("m.toml", "verdict = 'unsafe'"),
    ]);
    let ran = cuba(folder.path(), &["bench", ".", "--format=csv"]);
    let lines: Vec<&str> = ran.stdout.split('\n').collect();
    assert_eq!(
        lines[0],
        "file,instances,max_threads,threads,outcome,verdict,expected_verdict,contexts,expected_contexts,proved_by,fcr,visible,time_s,peak_memory_bytes,reason"
    );
    assert!(lines[1].starts_with("\"./a,b \"\"c\"\".cpds\",,,2,not-compared,unsafe,,5,,,true,2,"), "{}", lines[1]);
    assert!(
        lines[1].ends_with(",\"unsafe: the bad state ⟨1|end,b⟩ is reachable with 5 contexts, and with no fewer\""),
        "{}",
        lines[1]
    );
    // A value of several lines.
    assert!(lines[2].starts_with("./bad.cpds,,,,failed,,,,,,,,"), "{}", lines[2]);
    assert!(
        lines[2].ends_with(",,\"error: expected `shared`, `init`, `bad` or `thread`, found `nonsense`"),
        "{}",
        lines[2]
    );
    assert_eq!(lines[3], " --> ./bad.cpds:1:1");
    let last = lines.iter().find(|line| line.starts_with("./m.cpds")).unwrap();
    assert!(last.starts_with("./m.cpds,,,2,as-expected,unsafe,unsafe,5,,,true,2,"), "{last}");
}

#[test]
fn markdown_without_published_values() {
    let folder = folder(&[
        ("m|n.cpds", &model("tiny/stutter.cpds")),
        ("m|n.toml", "verdict = 'unsafe'\nnote = '''what\nis odd'''"),
    ]);
    let ran = cuba(folder.path(), &["bench", ".", "--format=markdown", "--timeout=90"]);
    assert_eq!((ran.code, &*ran.stderr), (0, ""));
    assert_snapshot!(markdown(&ran.stdout), @r"
    # Results: .

    This page has the answers of `cuba verify`. Each run is a process of its own. The page is written by
    `cuba bench . --timeout=90s --format markdown`.

    For `unsafe`, k is the least number of contexts with which a bad state is reachable. Otherwise, k is
    the last k for which R_k was computed before the answer, which may come from an overapproximation.
    Time and memory are those of the whole process. They were measured once, on a machine with other
    load. Everything else is the same in each run, unless a run reaches its time limit.

    model | threads | verdict | expected | k | proved by | last \|T(R_k)\| |  | note
    --- | --- | --- | --- | --: | --- | --: | --- | --:
    `m\|n.cpds` | 2 | unsafe | unsafe | 5 | – | 2 | ✓ | 1


    1. `m|n.cpds`: what is odd.

    1 run: 1 as expected, 0 wrong, 0 unknown, 0 failed
    ");
}

#[test]
fn output_to_a_file() {
    let folder = folder(&[("m.cpds", &model("tiny/stutter.cpds")), ("m.toml", "verdict = 'unsafe'")]);
    let bench = |output: &str| cuba(folder.path(), &["bench", "m.cpds", "-o", output]);
    let (ran, summary) = (bench("out.txt"), "1 run: 1 as expected, 0 wrong, 0 unknown, 0 failed\n");
    assert_eq!((ran.code, &*ran.stderr, &*ran.stdout), (0, "wrote out.txt\n", summary));
    let written = fs::read_to_string(folder.path().join("out.txt")).unwrap();
    assert!(written.starts_with("model ") && written.ends_with(summary), "{written}");
    for input in ["m.cpds", "m.toml"] {
        let ran = bench(input);
        let refusal = format!("error: `{input}` is an input; write to another file\n");
        assert_eq!((ran.code, &*ran.stdout, &*ran.stderr), (1, "", &*refusal));
    }
    let ran = bench("nowhere/out.txt");
    let refusal =
        "error: cannot write `nowhere/out.txt`: there is no folder `nowhere`; create it, or name another file\n";
    assert_eq!((ran.code, &*ran.stdout, &*ran.stderr), (1, "", refusal));
    if cfg!(target_os = "linux") {
        let ran = bench("/dev/full");
        assert!(ran.code == 1 && ran.stderr.starts_with("error: cannot write `/dev/full`: "), "{}", ran.stderr);
        assert!(
            ran.stdout.starts_with("model ") && ran.stdout.ends_with(summary),
            "the output is not lost: {}",
            ran.stdout
        );
    }
}

/// The processes with this file in their command line.
#[cfg(target_os = "linux")]
fn processes(file: &std::path::Path) -> usize {
    let commands = fs::read_dir("/proc").unwrap().flatten().map(|entry| fs::read(entry.path().join("cmdline")));
    let name = file.to_str().unwrap();
    commands.flatten().filter(|command| String::from_utf8_lossy(command).split('\0').any(|word| word == name)).count()
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupt_ends_the_current_runs_and_reports_the_finished_ones() {
    use std::process::{Command, Stdio};
    use std::time::Duration;
    let folder = folder(&[("a.cpds", &model("tiny/stutter.cpds")), ("b.cpds", &model("squeeze/mirror.cpds"))]);
    let endless = folder.path().join("b.cpds");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuba"));
    command.arg("bench").arg(folder.path()).arg("--timeout=1h").stdout(Stdio::piped()).stderr(Stdio::piped());
    let bench = command.spawn().unwrap();
    while processes(&endless) == 0 {
        std::thread::sleep(Duration::from_millis(10));
    }
    kill(&["INT"], &bench);
    let output = bench.wait_with_output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    assert_eq!((output.status.code(), &*output.stderr), (Some(5), &b""[..]));
    let summary = "\nincomplete, 1 of 2 runs: 0 as expected, 0 wrong, 0 unknown, 0 failed, 1 with nothing to compare\n";
    assert!(stdout.contains("a.cpds") && stdout.ends_with(summary) && !stdout.contains("b.cpds"), "{stdout}");
    assert_eq!(processes(&endless), 0, "the run has ended too");
}

/// To update the page: `cuba bench models/table2 --format markdown -o docs/table2.md`, with a
/// release build.
#[test]
fn the_page_on_table_2_is_up_to_date() {
    let written = fs::read_to_string(repository().join("docs/table2.md")).unwrap();
    let made = done(&["bench", "models/table2", "--format=markdown", "--jobs=2"]);
    assert_eq!(markdown(&made), markdown(&written), "docs/table2.md");
    assert!(made.contains("| 8/Stefan-1 | 8 | – | ○ | ≥ 8 | ≥ 8 | – | OOM |"), "{made}");
}
