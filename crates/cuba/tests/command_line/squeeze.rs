//! Both ends on the command line: engines by name, threads, and being stopped.

use crate::common::{in_repository, kill};
use cpds_testing::corpus::repository;
use insta::assert_snapshot;
use serde_json::Value;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

const ENDLESS: &str = "models/squeeze/mirror.cpds";

/// Text and JSON, except for time and memory.
fn both(args: &[&str], jobs: &str) -> (String, Value) {
    let text = in_repository(&[args, &["--jobs", jobs]].concat());
    let json = in_repository(&[args, &["--jobs", jobs, "--json"]].concat());
    assert_eq!(text.code, json.code);
    let mut object: Value = serde_json::from_str(&json.stdout).unwrap();
    for key in ["time_s", "peak_memory_bytes"] {
        object[key].take();
    }
    if object["evidence"].is_object() {
        for key in ["time_s", "check_time_s"] {
            object["evidence"][key].take();
        }
    }
    (text.stdout, object)
}

#[test]
fn jobs_do_not_matter() {
    let models = ["paper/fig1", "paper/fig2", "paper/stefan4", "tiny/stutter", "tiny/diverge", "tiny/late-return"];
    for file in models.map(|model| format!("models/{model}.cpds")) {
        for args in [&["reach", &*file][..], &["verify", &*file, "--max-contexts", "2"][..]] {
            let one = both(args, "1");
            for jobs in ["2", "2", "8"] {
                assert_eq!(both(args, jobs), one, "{args:?} --jobs {jobs}");
            }
        }
    }
}

/// One overapproximation by name: it is the only one that is tried.
#[test]
fn one_rung_by_name() {
    let told = |engine: &str| {
        let ran = in_repository(&["verify", ENDLESS, "--engine", engine, "--max-contexts", "3", "--json"]);
        let object: Value = serde_json::from_str(&ran.stdout).unwrap();
        let rungs =
            object["upper"].as_array().unwrap().iter().map(|rung| rung["abstraction"].as_str().unwrap().to_owned());
        format!("{}: {}", object["verdict"].as_str().unwrap(), rungs.collect::<Vec<_>>().join(" "))
    };
    for engine in ["Z", "matched-Z", "Z_2", "A_0", "A_1"] {
        assert!(told(engine).ends_with(&format!(": {engine}")), "{engine}");
    }
    assert_snapshot!(told("abstract"), @"unknown: A_0 A_1 A_2 A_3 A_4");
    assert_snapshot!(told("auto"), @"unknown: Z matched-Z A_0 A_1 A_2 A_3 A_4");
}

#[test]
fn there_may_be_no_time() {
    let ran = in_repository(&["verify", ENDLESS, "--timeout", "1s"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (5, ""));
    let last = ran.stdout.lines().last().unwrap();
    assert!(last.starts_with("unknown: safe up to ") && last.ends_with("; --timeout ends the search there"), "{last}");
}

/// Ctrl-C prints what is known.
#[cfg(unix)]
#[test]
fn interrupted() {
    for verb in ["verify", "reach"] {
        let child = Command::new(env!("CARGO_BIN_EXE_cuba"))
            .args([verb, ENDLESS])
            .current_dir(repository())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        sleep(Duration::from_secs(1));
        kill(&["INT"], &child);
        let ran = child.wait_with_output().unwrap();
        let text = String::from_utf8(ran.stdout).unwrap();
        assert_eq!(ran.status.code(), Some(5), "{text}");
        // What is neither reached nor ruled out is told if there was time to find out.
        let told = [" reached: T(R_", "overapproximations", "unknown: "];
        for told in told {
            assert!(text.contains(told), "{told}: {text}");
        }
        assert!(text.ends_with("it was interrupted\n"), "{text}");
    }
}

#[test]
fn bad_limits() {
    let error = |option: &str, value: &str| {
        let ran = in_repository(&["verify", ENDLESS, option, value]);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""));
        ran.stderr.lines().next().unwrap().to_owned()
    };
    assert_snapshot!(error("--jobs", "0"), @"error: invalid value '0' for '--jobs <N>': a number from 1 on");
    assert_snapshot!(error("--timeout", "soon"), @"error: invalid value 'soon' for '--timeout <TIME>': a number with ms, s, m, h or d behind it");
    assert_snapshot!(error("--engine", "Z_1"), @"error: invalid value 'Z_1' for '--engine <ENGINE>': one of auto, explicit, symbolic, abstract, Z, matched-Z, Z_2, Z_3, …, A_0, A_1, …");
    assert_snapshot!(error("--max-depth", "-1"), @"error: unexpected argument '-1' found");
}
