//! Limits: in every phase, a limit leads to a complete answer with exit code 5. In debug builds,
//! `CUBA_FAULT` makes a phase hang, and perhaps allocate more and more memory.

#![cfg(all(unix, debug_assertions))]

use crate::common::{Ran, at_once, cuba, fits, in_repository, kill};
use cpds_testing::corpus::repository;
use insta::assert_snapshot;
use serde_json::Value;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

const ENDLESS: &str = "models/squeeze/mirror.cpds";
const PROGRAM: &str = "models/table2/turns.bp";

/// Every phase of an analysis, with a model that reaches it, and its name in the verdict.
const PHASES: [(&str, &str, &str); 6] = [
    ("Reading", ENDLESS, "reading the model"),
    ("Lowering", PROGRAM, "translating the program into a system"),
    ("Searching", ENDLESS, ""),
    ("MakingEvidence", PROGRAM, "making the evidence"),
    ("CheckingEvidence", PROGRAM, "checking the evidence"),
    ("Writing", PROGRAM, "writing the results"),
];

/// Starts `cuba` and waits until it hangs in this phase.
fn held(phase: &str, grow: bool, args: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuba"));
    command.args(args);
    started(phase, grow, command)
}

fn started(phase: &str, grow: bool, mut command: Command) -> Child {
    command.env_remove("CLICOLOR_FORCE").env("CUBA_FAULT", format!("{}:{phase}", if grow { "grow" } else { "hang" }));
    command.current_dir(repository()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut line = String::new();
    let stderr = BufReader::with_capacity(1, child.stderr.as_mut().unwrap()).read_line(&mut line);
    assert_eq!((stderr.unwrap(), &*line), (5, "held\n"), "{phase}");
    child
}

fn ran(mut child: Child) -> Ran {
    let (mut stdout, mut stderr) = (String::new(), String::new());
    child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
    Ran { code: child.wait().unwrap().code().expect("cuba ends by itself"), stdout, stderr }
}

/// Ends such a process by signals.
fn ended_by(signals: &[&str], phase: &str, args: &[&str]) -> Ran {
    signalled(signals, held(phase, false, args))
}

fn signalled(signals: &[&str], child: Child) -> Ran {
    kill(signals, &child);
    ran(child)
}

/// The output of `--json`, which must be complete.
fn object(schema: &str, ran: &Ran) -> Value {
    assert_eq!((ran.code, &*ran.stderr), (5, ""), "{}", ran.stdout);
    let object: Value = serde_json::from_str(&ran.stdout).unwrap();
    fits(schema, &object, &ran.stdout);
    object
}

#[test]
fn an_interrupt_in_every_phase() {
    for verb in ["verify", "reach"] {
        for (phase, model, doing) in PHASES {
            let told = ended_by(&["INT"], phase, &[verb, model]);
            assert_eq!((told.code, &*told.stderr), (5, ""), "{phase}");
            let last = told.stdout.lines().last().unwrap();
            let why =
                if doing.is_empty() { "it was interrupted" } else { &format!("it was interrupted while {doing}") };
            let is_early = ["Reading", "Lowering"].contains(&phase);
            assert_eq!(last.contains("nothing is known yet"), is_early, "{last}");
            let evidence = if verb == "verify" { "trace" } else { "proof" };
            if let Some(told) = &unconfirmed(phase, why, evidence) {
                let start = format!("unknown: a {evidence} was found ");
                assert!(last.starts_with(&start) && last.ends_with(told), "{phase}: {last}");
            } else {
                assert!(last.starts_with("unknown: ") && last.ends_with(why), "{phase}: {last}");
            }
            // The open states are printed only if there are any.
            let is_open = last.contains("open beyond") || last.contains("not converged");
            assert_eq!((told.stdout.contains(" reached: T("), is_open), (phase == "Searching", phase == "Searching"));
        }
    }
}

/// Returns the end of the verdict if an answer was found, but not checked or not written.
fn unconfirmed(phase: &str, why: &str, evidence: &str) -> Option<String> {
    let advice = "rerun without an interrupt";
    let unchecked = format!("to accept the unchecked {evidence}");
    match phase {
        "MakingEvidence" | "CheckingEvidence" => {
            Some(format!(", but it was not checked: {why}; {advice}, or with `--no-check` {unchecked}"))
        }
        "Writing" => Some(format!(", and it was checked, but {why}; {advice}")),
        _ => None,
    }
}

/// A question with a proof or a trace is not called open.
#[test]
fn an_answer_that_was_found() {
    let told = |phase, args: &[&str]| ended_by(&["INT"], phase, args).stdout;
    assert_snapshot!(told("MakingEvidence", &["verify", "docs/guide/programs/mirror-3.cpds"]), @"unknown: a proof was found (R_8 = R_9) that no bad state is reachable, but it was not checked: it was interrupted while making the evidence; rerun without an interrupt, or with `--no-check` to accept the unchecked proof");
    assert_snapshot!(told("CheckingEvidence", &["verify", "models/squeeze/get-and-put.cpds"]), @"unknown: a proof was found (matched-Z ∩ A_0 has no bad state) that no bad state is reachable, but it was not checked: it was interrupted while checking the evidence; rerun without an interrupt, or with `--no-check` to accept the unchecked proof");
    assert_snapshot!(told("CheckingEvidence", &["verify", "models/paper/fig1.cpds"]), @"unknown: a trace was found to a bad state with 4 contexts, and with no fewer, but it was not checked: it was interrupted while checking the evidence; rerun without an interrupt, or with `--no-check` to accept the unchecked trace");
    assert_snapshot!(told("Writing", &["verify", "models/paper/fig1.cpds"]), @"unknown: a trace was found to a bad state with 4 contexts, and with no fewer, and it was checked, but it was interrupted while writing the results; rerun without an interrupt");
    assert_snapshot!(told("Writing", &["verify", "models/paper/fig1.cpds", "--no-check"]), @"unknown: a trace was found to a bad state with 4 contexts, and with no fewer, but it was interrupted while writing the results; rerun without an interrupt");
    assert_snapshot!(told("CheckingEvidence", &["reach", "models/paper/fig1.cpds"]), @r"
    k  |R_k|  new  |T(R_k)|  new  |T(R)| ≤
    0      1    1         1    1         8  by Z
    1      3    2         3    2         8
    2      6    3         6    3         8  T(R_k) stutters at 2
    3      8    2         6    0         8
    4     11    3         7    1         8
    5     14    3         8    1         8  T(R_k) collapses at 5

    unknown: a proof was found (Z has no other visible state) that T(R) has 8 visible states and collapses at k = 5, but it was not checked: it was interrupted while checking the evidence; rerun without an interrupt, or with `--no-check` to accept the unchecked proof
    ");
    assert_snapshot!(told("CheckingEvidence", &["reach", "models/paper/fig2.cpds", "--full"]), @r"
    k  |S_k|  |T(S_k)|  new  |T(R)| ≤
    0      1         1    1        37  by Z
    1      5        15   14        37
    2      5        37   22        37  T(S_k) collapses at 2
    3      5        37    0        37  S_k collapses at 3
    4      5        37    0        37

    unknown: a proof was found (S_3 = S_4) that R = γ(S_3), and T(R) has 37 visible states and collapses at k = 2, but it was not checked: it was interrupted while checking the evidence; rerun without an interrupt, or with `--no-check` to accept the unchecked proof
    ");
    assert_snapshot!(told("Writing", &["verify", ENDLESS, "--max-contexts=2", "--max-depth=1"]), @r"
    5 visible states reached: T(R_2)
    overapproximations of what is reachable, in visible states:
      Z                 13
      matched-Z to A_1  10  rules out 3 more
    unknown: safe up to 2 contexts, open beyond; it was interrupted while writing the results
    ");
}

/// The same in JSON.
#[test]
fn an_answer_that_was_found_as_json() {
    let told = |phase, args: &[&str]| {
        let object = object("analysis", &ended_by(&["INT"], phase, &[args, &["--json"]].concat()));
        assert_eq!((&object["verdict"], &object["proved_by"]), (&"unknown".into(), &Value::Null));
        let collapse = &object["collapse"]["visible"];
        format!("{} {} {collapse}", object["unconfirmed"], object["contexts"])
    };
    let fig_1 = "models/paper/fig1.cpds";
    assert_snapshot!(told("MakingEvidence", &["verify", "docs/guide/programs/mirror-3.cpds"]), @r#"{"checked":false,"contexts":null,"ended_by":"interrupt","phase":"making-evidence","proved_by":"R_k","verdict":"safe"} 9 8"#);
    assert_snapshot!(told("CheckingEvidence", &["verify", fig_1]), @r#"{"checked":false,"contexts":4,"ended_by":"interrupt","phase":"checking-evidence","proved_by":null,"verdict":"unsafe"} 3 null"#);
    assert_snapshot!(told("Writing", &["reach", fig_1]), @r#"{"checked":true,"contexts":null,"ended_by":"interrupt","phase":"writing","proved_by":"Z","verdict":"converged"} 5 5"#);
    assert_snapshot!(told("Searching", &["verify", ENDLESS]).split_whitespace().next().unwrap(), @"null");
}

#[test]
fn an_interrupt_in_every_phase_as_json() {
    for (phase, model, _) in PHASES {
        let object = object("analysis", &ended_by(&["TERM"], phase, &["verify", model, "--json"]));
        assert_eq!(object["verdict"], "unknown");
        let levels = object["sequence"].as_array().unwrap().len();
        match phase {
            "Reading" | "Lowering" => {
                assert!(levels == 0 && object["contexts"].is_null() && object["threads"].is_null());
            }
            _ => assert_eq!(object["contexts"].as_u64().unwrap() + 1, levels as u64),
        }
    }
    let searched = object("analysis", &ended_by(&["INT"], "Searching", &["reach", ENDLESS, "--json"]));
    assert!(searched["contexts"].as_u64().unwrap() >= 2 && searched["threads"] == 2, "{searched}");
    assert_eq!(searched["engine"], "explicit");
}

/// The text between the table and the verdict depends on the progress of both searches.
#[test]
fn the_table_so_far() {
    let ran = ended_by(&["INT"], "Searching", &["reach", ENDLESS]);
    let columns = |line: &str| line.split_whitespace().take(5).collect::<Vec<_>>().join(" ") + "\n";
    let table: String = ran.stdout.lines().take(4).map(columns).collect();
    assert_snapshot!(table, @r"
    k |R_k| new |T(R_k)| new
    0 1 1 1 1
    1 4 3 4 3
    2 6 2 5 1
    ");
}

#[test]
fn the_time_ends_in_every_phase() {
    at_once(&PHASES, |&(phase, model, doing)| {
        let object = object("analysis", &ran(held(phase, false, &["verify", model, "--timeout=1500ms", "--json"])));
        let reason = object["reason"].as_str().unwrap();
        let why = if doing.is_empty() {
            "--timeout ends the search there"
        } else {
            &format!("--timeout ends it while {doing}")
        };
        if ["MakingEvidence", "CheckingEvidence", "Writing"].contains(&phase) {
            assert!(reason.contains(why) && reason.contains("; rerun with a longer `--timeout`"), "{reason}");
            assert_eq!(object["unconfirmed"]["ended_by"], "timeout");
        } else {
            assert!(reason.ends_with(why), "{reason}");
        }
    });
}

/// The limit holds up to a tenth, if the guard runs in time. On a busy machine it may be late.
#[cfg(target_os = "linux")]
#[test]
fn the_memory_ends_in_every_phase() {
    at_once(&PHASES, |&(phase, model, doing)| {
        let object = object("analysis", &ran(held(phase, true, &["verify", model, "--memory=100M", "--json"])));
        let reason = object["reason"].as_str().unwrap();
        let what = if doing.is_empty() { "does not fit" } else { &format!("{doing} does not fit") };
        assert!(reason.contains(what) && reason.contains("into the memory of 100.00 MiB, see --memory"), "{reason}");
        let is_found = ["MakingEvidence", "CheckingEvidence", "Writing"].contains(&phase);
        assert_eq!(
            (is_found, object["unconfirmed"].is_null()),
            (reason.contains("; rerun with a larger `--memory`"), !is_found)
        );
        assert_eq!(object["memory_limit_bytes"], 100 << 20);
        let peak = object["peak_memory_bytes"].as_u64().unwrap();
        assert!(peak > 100 << 20 && peak < 200 << 20, "{phase}: {peak}");
    });
}

/// The second signal ends the process without an answer.
#[test]
fn a_second_signal_ends_at_once() {
    let ran = ended_by(&["INT", "TERM"], "Searching", &["verify", ENDLESS]);
    assert_eq!((ran.code, &*ran.stdout, &*ran.stderr), (5, "", ""));
}

#[test]
fn the_other_verbs() {
    let fcr = ["fcr", "models/paper/fig2.cpds"];
    for (phase, doing) in [("Reading", "reading the model"), ("Searching", "searching")] {
        let told = ended_by(&["INT"], phase, &fcr);
        assert_eq!((told.code, told.stdout), (5, format!("unknown: it was interrupted while {doing}\n")));
        let object = object("fcr", &ended_by(&["TERM"], phase, &[fcr[0], fcr[1], "--json"]));
        assert_eq!((&object["fcr"], &object["programs"]), (&Value::Null, &Value::Array(Vec::new())));
    }
    let shows: [(&str, &[&str]); 4] = [
        ("Searching", &["show", "models/paper/fig1.cpds", "--svg"]),
        ("Searching", &["show", "models/paper/fig2.cpds", "--psa", "foo", "--json"]),
        ("Lowering", &["show", PROGRAM]),
        ("Lowering", &["convert", PROGRAM, "--to=cpds", "--json"]),
    ];
    at_once(&shows, |&(phase, args)| {
        let told = ended_by(&["INT"], phase, args);
        let doing = if phase == "Lowering" { "translating the program into a system" } else { "searching" };
        assert_eq!((told.code, &*told.stdout), (5, ""));
        assert_eq!(told.stderr, format!("unknown: it was interrupted while {doing}\n"));
        let limited = [args, &["--timeout=1s"]].concat();
        assert_eq!(ran(held(phase, false, &limited)).stderr, format!("unknown: --timeout ends it while {doing}\n"));
        let limited = [args, &["--memory=64M"]].concat();
        let told = ran(held(phase, true, &limited));
        assert_eq!((told.code, &*told.stdout), (5, ""));
        assert!(told.stderr.ends_with("does not fit into the memory of 64.00 MiB, see --memory\n"), "{}", told.stderr);
    });
}

/// With `nohup`, the end of the terminal is ignored.
#[test]
fn nohup_ignores_the_end_of_the_terminal() {
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_cuba"), "verify", ENDLESS]);
    let told = signalled(&["HUP", "INT"], started("Searching", false, command));
    let last = told.stdout.lines().last().expect("the first signal that is not ignored ends the search");
    assert!(told.code == 5 && last.ends_with("it was interrupted"), "{last}");
}

/// A second signal ends what `cuba bench` has started, too.
#[cfg(target_os = "linux")]
#[test]
fn no_process_continues_after_bench() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuba"));
    command.args(["bench", "models/tiny", "--jobs=2"]).env("CUBA_FAULT", "hang:Reading").current_dir(repository());
    let bench = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let parent = bench.id().to_string();
    // `4711 (cuba) S 4710 …`: the parent is the second field after the name.
    let children = || -> Vec<PathBuf> {
        let processes = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
        let is_child = |process: &PathBuf| {
            let stat = fs::read_to_string(process.join("stat")).unwrap_or_default();
            stat.rsplit(')').next().and_then(|fields| fields.split_whitespace().nth(1)) == Some(&parent)
        };
        processes.filter(is_child).collect()
    };
    let mut started = children();
    while started.len() < 2 {
        sleep(Duration::from_millis(5));
        started = children();
    }
    assert_eq!(signalled(&["INT", "TERM"], bench).code, 5);
    assert!(started.iter().all(|process| !process.exists()), "{started:?}");
}

/// A second signal ends a process even if its answer is not read.
#[test]
fn an_answer_that_is_not_read() {
    let args = ["verify", ENDLESS, "--engine", "explicit", "--timeout", "1s", "--json"];
    let mut command = Command::new(env!("CARGO_BIN_EXE_cuba"));
    let child = command.args(args).current_dir(repository()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.unwrap();
    sleep(Duration::from_millis(2500));
    if child.try_wait().unwrap().is_none() {
        kill(&["TERM"], &child);
    }
    assert_eq!(child.wait().unwrap().code(), Some(5));
}

/// No temporary file is left.
#[test]
fn nothing_is_half_written() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("turns.cpds");
    let told = ended_by(&["INT"], "Writing", &["convert", PROGRAM, "--to=cpds", "-o", output.to_str().unwrap()]);
    let why = "unknown: it was interrupted while writing the results\n";
    let missing = format!("warning: `{}` was not written, because the run ended first\n", output.display());
    assert_eq!((told.code, told.stderr), (5, missing + why));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Every missing output is named, in whatever phase the run ends. The warning tells whether there
/// is an older file of this name.
#[test]
fn missing_outputs_are_named() {
    at_once(&PHASES, |&(phase, model, _)| {
        let folder = tempfile::tempdir().unwrap();
        let outputs = ["r.html", "p.svg", "t.json", "c.json", "kept"].map(|name| folder.path().join(name));
        fs::write(&outputs[0], "old").unwrap();
        let [report, plot, trace, certificate, checkpoint] = outputs.each_ref().map(|path| path.to_str().unwrap());
        let args = [
            &["verify", model, "--report", report, "--plot", plot, "--trace", trace][..],
            &["--certificate", certificate, "--checkpoint", checkpoint],
        ]
        .concat();
        let expected = |missing: &[&str]| {
            let line = |path: &&str| {
                let old = if *path == report { " (the file there is an older one)" } else { "" };
                format!("warning: `{path}` was not written{old}, because the run ended first\n")
            };
            missing.iter().map(line).collect::<String>()
        };
        let is_early = ["Reading", "Lowering"].contains(&phase);
        let missing = &[trace, certificate, report, plot, checkpoint][..if is_early { 5 } else { 4 }];
        let named = |stderr: &str| {
            stderr.split_inclusive('\n').filter(|line| line.contains("was not written")).collect::<String>()
        };
        let once = ended_by(&["INT"], phase, &args);
        assert_eq!((once.code, named(&once.stderr)), (5, expected(missing)), "{phase}");
        assert_eq!(fs::read_to_string(report).unwrap(), "old");
        let _ = fs::remove_file(checkpoint);
        let timed = ran(held(phase, false, &[&args[..], &["--timeout=1s", "--json"]].concat()));
        assert_eq!((timed.code, named(&timed.stderr)), (5, expected(missing)), "{phase}");
        let _ = fs::remove_file(checkpoint);
        let twice = ended_by(&["INT", "TERM"], phase, &args);
        assert_eq!((twice.code, &*twice.stdout, named(&twice.stderr)), (5, "", expected(missing)), "{phase}");
        let _ = fs::remove_file(checkpoint);
        let quiet = ended_by(&["INT", "TERM"], phase, &[&args[..], &["--quiet"]].concat());
        assert_eq!((quiet.code, &*quiet.stderr), (5, ""), "{phase}");
    });
}

/// After a limit has ended the search, the outputs are still written.
#[test]
fn outputs_after_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.html");
    let told = in_repository(&["verify", ENDLESS, "--timeout=300ms", "--report", path.to_str().unwrap()]);
    assert_eq!((told.code, &*told.stderr), (5, ""));
    assert!(fs::read_to_string(path).unwrap().contains("--timeout ends the search there"));
}

#[test]
fn the_default_memory_limit() {
    let of = |args: &[&str]| -> Value { serde_json::from_str(&in_repository(args).stdout).unwrap() };
    let all = of(&["verify", "models/paper/fig1.cpds", "--json"])["memory_limit_bytes"].as_u64().unwrap();
    assert!(all > 64 << 20, "{all}");
    let ran = in_repository(&["verify", "models/paper/fig1.cpds", "--memory", "9000T"]);
    assert_eq!(ran.code, 10);
    let warned = ran.stderr.starts_with("warning: --memory: 9000.00 TiB is more than the ");
    assert!(warned && ran.stderr.ends_with(" that this machine allows\n"), "{}", ran.stderr);
    let quiet = in_repository(&["--quiet", "verify", "models/paper/fig1.cpds", "--memory", "9000T"]);
    assert_eq!((quiet.code, &*quiet.stderr), (10, ""));
    let stats = in_repository(&["verify", "models/paper/fig1.cpds", "--stats"]).stderr;
    assert!(
        stats.contains("\nmemory: at most ") && stats.contains("three quarters of the memory of this machine"),
        "{stats}"
    );
    let folder = tempfile::tempdir().unwrap();
    let help = cuba(folder.path(), &["verify", "--help"]).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(help.contains("three quarters of the memory that the machine"), "{help}");
}
