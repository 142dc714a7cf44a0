//! Both searches on the command line: engines by name, jobs, and interrupts.

use crate::common::{cuba, in_repository, kill};
use cpds_testing::corpus::repository;
use insta::assert_snapshot;
use serde_json::Value;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

const ENDLESS: &str = "models/squeeze/mirror.cpds";

/// Text and JSON without time and memory.
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

/// Two threads that pass a token, with this many initial states.
fn many_initial(states: usize) -> String {
    let of_one = (1..=states).find(|of_one| of_one * of_one >= states).unwrap();
    let pairs = (0..of_one).flat_map(|a| (0..of_one).map(move |b| format!("init 0|{a},{b}\n")));
    let initial: String = pairs.take(states).collect();
    format!(
        "shared 0 1\nbad 1|last,seen\n{initial}thread A {{ symbols 0..{of_one} last\n(0,1) -> (1,last) }}
        thread B {{ symbols 0..{of_one} seen\n(1,1) -> (1,seen) }}\n"
    )
}

/// If the initial states alone exceed the limit of tuples, the upper search ends. The lower search
/// still finds the bad state, or all of T(R). The timeout is for a search that does not end.
#[test]
fn more_initial_states_than_tuples() {
    let folder = tempfile::tempdir().unwrap();
    let fig_1 = std::fs::read_to_string(repository().join("models/paper/fig1.cpds")).unwrap();
    for (model, tuples) in [(fig_1, "0"), (many_initial(4), "3"), (many_initial(11_600), "10000")] {
        std::fs::write(folder.path().join("m.cpds"), model).unwrap();
        for (verb, verdict) in [("verify", "unsafe"), ("reach", "converged")] {
            let told = ["1", "2"].map(|jobs| {
                let args = [verb, "m.cpds", "--max-tuples", tuples, "--jobs", jobs, "--timeout", "5m", "--json"];
                let object: Value = serde_json::from_str(&cuba(folder.path(), &args).stdout).unwrap();
                assert_eq!(object["verdict"], verdict, "{verb} --max-tuples {tuples} --jobs {jobs}");
                assert!(object["upper"].as_array().unwrap().len() <= 4, "{}", object["upper"]);
                [&object["contexts"], &object["proved_by"], &object["sequence"], &object["upper"]].map(Value::clone)
            });
            assert_eq!(told[0], told[1]);
        }
    }
    std::fs::write(folder.path().join("m.cpds"), many_initial(4)).unwrap();
    let ran = cuba(folder.path(), &["verify", "m.cpds", "--max-tuples=3", "--max-contexts=0", "--max-depth=9"]);
    assert_snapshot!(ran.stdout, @r"
    4 visible states reached: T(R_0)
    overapproximations of what is reachable, in visible states:
      Z, matched-Z  7
      A_0, Z_2      –  given up, the initial states alone are more than 3 tuples or states
    3 visible states neither reached nor ruled out, 1 of them bad:
      ⟨1|last,seen⟩
    to try: more contexts (--max-contexts), more tuples (--max-tuples)
    unknown: safe up to 0 contexts, open beyond; --max-contexts ends the search there
    ");
}

/// The list of overapproximations in the output is limited.
#[test]
fn a_long_ladder_is_cut() {
    let options = ["verify", ENDLESS, "--max-contexts=2", "--max-depth=2000", "--max-tuples=1"];
    let ran = in_repository(&options);
    assert!(ran.stdout.lines().count() < 60, "{}", ran.stdout);
    let json = in_repository(&[&options[..], &["--json"]].concat());
    let object: Value = serde_json::from_str(&json.stdout).unwrap();
    let (upper, left_out) = (object["upper"].as_array().unwrap(), &object["upper_left_out"]);
    assert!(upper.len() == 2000 && left_out.as_u64().unwrap() > 1000, "{} {left_out}", upper.len());
    assert_eq!((&upper[0]["abstraction"], &upper[1999]["abstraction"]), (&"Z".into(), &"Z_2001".into()));
}

/// With the name of one overapproximation, only that one is tried.
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
fn a_very_short_timeout() {
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
        // The states that are neither reached nor ruled out are printed if there was time to
        // compute them.
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
    assert_snapshot!(error("--jobs", "0"), @"error: invalid value '0' for '--jobs <N>': expected a number of at least 1");
    assert_snapshot!(error("--timeout", "soon"), @"error: invalid value 'soon' for '--timeout <TIME>': expected a number with the unit ms, s, m, h or d");
    assert_snapshot!(error("--engine", "Z_1"), @"error: invalid value 'Z_1' for '--engine <ENGINE>': expected one of auto, explicit, symbolic, abstract, Z, matched-Z, Z_2, Z_3, …, A_0, A_1, …");
    assert_snapshot!(error("--max-depth", "-1"), @"error: unexpected argument '-1' found");
}
